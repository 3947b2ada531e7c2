# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's timeline (tf.compat.v1's RunMetadata as Chrome JSON): a process for each stream of a
device, and two that hold the rows of all streams again."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402

# name, begin and duration in µs, by stream
WORK = {13: [("Conv2D", 10, 30), ("Relu", 50, 5)], 14: [("MEMCPYHtoD", 0, 8), ("MEMSET", 70, 2)]}


def timeline(device, streams, summaries=True):
    """One device's processes, as the file has them."""
    processes = {}
    if summaries:
        rows = [row for rows in streams.values() for row in rows]
        processes["stream:all"] = [row for row in rows if not row[0].startswith("MEMCPY")]
        processes["memcpy"] = [row for row in rows if row[0].startswith("MEMCPY")]
    return {f"{device}/{name} Compute": rows for name, rows in processes.items()} | \
           {f"{device}/stream:{number} Compute": rows for number, rows in streams.items()}


def write(path, *parts):
    events, pid = [], 1
    for part in parts:
        for name, rows in part.items():
            events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})
            events += [{"ph": "X", "cat": "Op", "name": row[0], "pid": pid, "tid": 0, "ts": row[1],
                        "dur": row[2], "args": {"name": f"block/{row[0]}", "op": row[0]}}
                       for row in rows]
            pid += 2
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def of(varve, path, name):
    return table_reader.tables(varve, "report", "--no-cache", "--table", name, path)[name]


def devices(varve, path):
    return [(row["device"], row["computation_ns"], row["memcpy_ns"], row["memset_ns"],
             row["events"]) for row in of(varve, path, "devices") if row["row"] == "device"]


@pytest.mark.parametrize("prefix", ["/device:GPU", "/gpu"])
def test_work_of_a_stream_counts_once_on_its_device(varve, tmp_path, prefix):
    host = {"/job:localhost/replica:0/task:0/device:GPU:0 Compute": [("Conv2D", 1, 3)]}
    path = write(tmp_path / "timeline.json", host, timeline(f"{prefix}:0", WORK),
                 timeline(f"{prefix}:1", {7: [("MatMul", 20, 11)]}))
    assert devices(varve, path) == [("cuda:0", 37000, 8000, 2000, 4), ("cuda:1", 11000, 0, 0, 1)]
    assert {(row["name"], row["calls"], row["total_ns"])
            for row in table_reader.tables(varve, "report", "--no-cache", "--table", "kernels",
                                           "--by", "stream", path)["kernels"]
            if row["row"] == "group"} == {("stream 13", 2, 35000), ("stream 14", 2, 10000),
                                               ("stream 7", 1, 11000)}
    assert [(row["name"], row["total_ns"]) for row in of(varve, path, "operators")
            if row["row"] == "operator"] == [("Conv2D", 3000)]


def test_without_its_streams_a_summary_is_the_work(varve, tmp_path):
    only = {name: rows for name, rows in timeline("/device:GPU:0", WORK).items()
            if "all" in name or "memcpy" in name}
    other = timeline("/device:GPU:1", {7: [("MatMul", 20, 11)]}, summaries=False)
    path = write(tmp_path / "timeline.json", only, other)
    assert devices(varve, path) == [("cuda:0", 37000, 8000, 2000, 4), ("cuda:1", 11000, 0, 0, 1)]


def test_no_row_of_a_summary_is_lost(varve, tmp_path):
    path = write(tmp_path / "timeline.json", timeline("/device:GPU:0", WORK))
    info = table_reader.tables(varve, "info", "--no-cache", path)["trace"][0]
    assert info["slices"] == 8

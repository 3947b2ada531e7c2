# SPDX-License-Identifier: Apache-2.0
"""Table "collective_kinds": by hand, and beside the records of real traces."""
import collections
import gzip
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import table_reader
from kineto_writer import launched, span, work, write

SAID = {"Collective name": "allreduce", "dtype": "Float", "Group size": 2, "In msg nelems": 256,
        "Out msg nelems": 256, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}


def kinds(varve, *paths):
    rows = table_reader.tables(varve, "report", "--no-cache", "--warm-up", "--table",
                               "collective_kinds", *paths)["collective_kinds"]
    return [row for row in rows if row["row"] == "collective"], rows


def rank(folder, number):
    """Three all-reduces of two sizes on the device, one of them half behind a kernel; and one that
    a library of the host runs."""
    events = [span("aten::mm", 0, 100)]
    for call, elements in enumerate([256, 256, 1024]):
        at = 10_000 * (call + 1)
        said = SAID | {"In msg nelems": elements, "Out msg nelems": elements}
        events.append(span("record_param_comms", at, at + 500, **said))
        pair = launched("ncclDevKernel_AllReduce_Sum_f32", call + 1, (at + 100, at + 200),
                        (at + 1000, at + 1000 + 1000 * (call + 1) + number))
        pair[1]["args"] |= said
        events += pair
    events.append(work("gemm", 32_500, 40_000, stream=9))  # behind it: 31,000 … 34,000
    events.append(span("gloo:broadcast", 50_000, 50_700, "user_annotation", tid=2,
                       **{"Input Dims": [[8, 4]], "Input type": ["float"]}))
    return write(folder / f"rank{number}.json", events,
                 {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": number,
                                                          "world_size": 2}})


def test_kinds_by_hand(varve, tmp_path):
    found, rows = kinds(varve, rank(tmp_path, 0), rank(tmp_path, 7))
    assert {(row["rank"], row["place"], row["name"], row["in_elements"]):
            (row["calls"], row["total_ns"], row["median_ns"], row["max_ns"], row["exposed_ns"])
            for row in found} == {
        (number, *key): values for number in (0, 7) for key, values in {
            ("device", "allreduce", 256): (2, 3000 + 2 * number, 1500 + number, 2000 + number,
                                           3000 + 2 * number),
            ("device", "allreduce", 1024): (1, 3000 + number, 3000 + number, 3000 + number, 1500),
            ("host", "broadcast", 32): (1, 700, 700, 700, None)}.items()}
    said = next(row for row in found if row["place"] == "device")
    assert (said["dtype"], said["group"], said["ranks"], said["group_size"]) == ("Float", "0",
                                                                                 "[0, 1]", 2)
    assert rows[-1]["calls"] == 8 and rows[-1]["row"] == "total"
    one, _ = kinds(varve, "--rank", "7", rank(tmp_path, 0), rank(tmp_path, 7))
    assert {row["rank"] for row in one} == {7} and len(one) == 3


@pytest.mark.parametrize("name", ["dlrm8/rank0.json.gz", "hta/sampled_rank0.json.gz"])
def test_devices_add_up_to_overlap(varve, traces, name):
    found, _ = kinds(varve, traces / name)
    overlap = table_reader.tables(varve, "report", "--no-cache", "--warm-up", "--table", "overlap",
                                  traces / name)["overlap"]
    devices = [row for row in overlap if row["row"] == "device"]
    assert sum(row["calls"] for row in found) == sum(row["calls"] for row in devices) > 5
    assert sum(row["total_ns"] for row in found) == sum(row["sum_ns"] for row in devices)
    # one stream: no two collectives run at once
    assert sum(row["exposed_ns"] for row in found) == sum(row["exposed_ns"] for row in devices)


def test_what_gloo_took_on_the_host(varve, traces):
    path = traces / "hta" / "cpu_only_rank34.json.gz"
    with gzip.open(path) as file:
        events = json.load(file, parse_float=str)["traceEvents"]
    wanted = collections.Counter(event["args"]["Input Dims"][0][0] for event in events
                                 if event.get("name") == "gloo:all_reduce")
    found, _ = kinds(varve, path)
    assert {row["in_elements"]: row["calls"] for row in found} == wanted
    assert {(row["name"], row["place"], row["rank"]) for row in found} == {("all_reduce", "host",
                                                                            34)}

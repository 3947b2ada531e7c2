# SPDX-License-Identifier: Apache-2.0
"""Table "collective_kinds": by hand, and beside the records of real traces."""
import collections
import gzip
import json
import pathlib
import sys

import hypothesis
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
            ("host", "broadcast", 32): (1, 700, 700, 700, 700)}.items()}
    said = next(row for row in found if row["place"] == "device")
    assert (said["dtype"], said["group"], said["ranks"], said["group_size"]) == ("Float", "0",
                                                                                 "[0, 1]", 2)
    assert rows[-1]["calls"] == 8 and rows[-1]["row"] == "total"
    one, _ = kinds(varve, "--rank", "7", rank(tmp_path, 0), rank(tmp_path, 7))
    assert {row["rank"] for row in one} == {7} and len(one) == 3


def gloo(begin_ns, end_ns, tid):
    return span("gloo:all_reduce", begin_ns, end_ns, "user_annotation", tid,
                **{"Input Dims": [[8]], "Input type": ["float"]})


def test_a_host_collective_is_exposed_while_nothing_else_of_its_rank_works(varve, tmp_path):
    trainer = [span("aten::mm", 0, 400), gloo(100, 300, 1),        # a wait inside work is none
               span("aten::mul", 1100, 1250), span("ProfilerStep#1", 1000, 2000, "user_annotation"),
               span("cudaDeviceSynchronize", 1300, 1800, "cuda_runtime"),
               span("model.py(3): forward", 1000, 2000, "python_function"),
               span("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 2000, 2500)]
    events = trainer + [gloo(50, 350, 2), gloo(1000, 2000, 2), gloo(2100, 2300, 2),
                        span("aten::copy_", 1500, 1600, tid=3), gloo(1550, 1650, 3)]
    events += launched("gemm", 1, (1260, 1280), (1700, 1900))
    events += launched("ncclDevKernel_AllReduce_Sum_f32", 2, (1280, 1290), (1900, 1990))
    path = write(tmp_path / "one.json", events, {"schemaVersion": 1})
    found, rows = kinds(varve, path)
    host = [row for row in found if row["place"] == "host"]
    # thread 1: 200 - 0 of thread 2 in its own collective. Thread 2: 300 - 100 of mm; 1000 - 150 of
    # mul - 20 - 10 of launches - 50 of copy_ - 200 of gemm; 200. Thread 3: 100 - 0.
    assert sum(row["exposed_ns"] for row in host) == 200 + 200 + 570 + 200 + 100
    assert sum(row["total_ns"] for row in host) == 200 + 300 + 1000 + 200 + 100
    assert rows[-1]["exposed_ns"] == sum(row["exposed_ns"] for row in found)


WORK = {"aten::mm": True, "gloo:all_reduce": False, "cudaLaunchKernel": True,
        "cudaStreamSynchronize": False}


@hypothesis.settings(max_examples=40, deadline=None,
                     suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(hypothesis.strategies.lists(
    hypothesis.strategies.tuples(hypothesis.strategies.sampled_from(sorted(WORK)),
                                 hypothesis.strategies.integers(0, 60),
                                 hypothesis.strategies.integers(1, 30),
                                 hypothesis.strategies.integers(1, 3)), min_size=1, max_size=12))
def test_exposed_time_instant_by_instant(varve, tmp_path, spans):
    events, calls, state = [], [], {tid: {} for tid in (1, 2, 3)}
    for name, begin, length, tid in spans:
        if any(instant in state[tid] for instant in range(begin, begin + length)):
            continue  # of a thread, no two overlap
        state[tid] |= dict.fromkeys(range(begin, begin + length), name)
        if name == "gloo:all_reduce":
            calls.append((begin, begin + length, tid))
            events.append(gloo(begin, begin + length, tid))
        else:
            events.append(span(name, begin, begin + length,
                               "cpu_op" if name[0] == "a" else "cuda_runtime", tid))
    wanted = sum(not any(WORK.get(state[other].get(instant)) for other in state if other != tid)
                 for begin, end, tid in calls for instant in range(begin, end))
    _, rows = kinds(varve, write(tmp_path / "one.json", events, {"schemaVersion": 1}))
    assert sum(row["exposed_ns"] for row in rows if row["row"] == "total") == wanted


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


def test_a_host_collective_in_the_background_is_exposed_less_than_it_lasts(varve, traces):
    found, _ = kinds(varve, traces / "hta" / "cpu_only_rank34.json.gz")
    total, exposed = (sum(row[name] for row in found) for name in ("total_ns", "exposed_ns"))
    assert 0 < exposed < total

# SPDX-License-Identifier: Apache-2.0
"""What Kineto wrote of a program on a GPU, done again by the stand-ins: our recording of it has the
same kernels, copies and sets, equal in number, name, stream, bytes and correlation, and the same
calls. Kineto read the same kind of records from CUPTI, so both readings of it agree."""
import collections
import gzip
import json
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

from cuda_recording import record, work_of  # noqa: E402
from table_reader import tables  # noqa: E402

CALLS = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync",
         "cudaDeviceSynchronize", "cudaStreamSynchronize", "cuLaunchKernel"}
KERNEL, COPY, SET = 1, 2, 4  # enum standin_work
COPIES = ["HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH"]
MEMORIES = ["Unknown", "Pageable", "Pinned", "Device"]
WORK = {"kernel": KERNEL, "Kernel": KERNEL, "gpu_memcpy": COPY, "Memcpy": COPY, "gpu_memset": SET,
        "Memset": SET}


def events_of(path):
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    return [event for event in events if event.get("ph") == "X" and "args" in event]


def line_of(call, work):
    if work is None:
        return [call["name"], call["args"]["correlation"], 0, 0, 0, 0, 0, 0, "-"]
    args, kind, name = work["args"], WORK[work["cat"]], work["name"]
    sort = source = target = 0
    if kind == COPY:  # "Memcpy HtoD (Pageable -> Device)"
        _, direction, source, _, target = name.replace("(", "").replace(")", "").split()
        sort, source, target = (COPIES.index(direction) + 1, MEMORIES.index(source),
                                MEMORIES.index(target))
    return [call["name"], args["correlation"], kind, args["stream"], args.get("bytes", 0), sort,
            source, target, name]


def work_in(events):
    return [(event["name"], event["args"]["correlation"], event["args"]["stream"],
             event["args"].get("bytes", 0)) for event in events if event.get("cat") in WORK]


@pytest.mark.parametrize("name, kernels", [("kineto/resnet50_workers0", 8772),
                                           ("tracelens/h100_gaunernst", 60)])
def test_a_recording_has_what_kineto_wrote_of_the_same_work(varve, traces, tmp_path, name,
                                                            kernels):
    events = events_of(traces / f"{name}.json.gz")
    work = {event["args"]["correlation"]: event for event in events if event.get("cat") in WORK}
    calls = sorted((event for event in events if event.get("cat") in (
        "cuda_runtime", "cuda_driver", "Runtime") and event["name"] in CALLS),
        key=lambda event: event["ts"])
    lines = [line_of(call, work.get(call["args"]["correlation"])) for call in calls]
    (tmp_path / "replay").write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
    trace, _ = record(varve, tmp_path, "replay", REPLAY=str(tmp_path / "replay"))
    rows = work_of(trace)
    tracks, activities = rows["tracks"], rows["activities"]
    device = [row for row in rows["slices"] if row["activity"] is not None
              and tracks[row["track"]]["kind"] == 2]
    ours = [(row["name"], activities[row["activity"]]["correlation"],
             activities[row["activity"]]["stream"], activities[row["activity"]]["bytes"])
            for row in device]
    assert sorted(ours) == sorted(work_in(work.values()))
    assert sum(1 for event in work.values() if WORK[event["cat"]] == KERNEL) == kernels
    assert collections.Counter(row["name"] for row in rows["slices"] if row["name"] in CALLS) == (
        collections.Counter(call["name"] for call in calls))
    health = tables(varve, "info", "--table", "health", trace)["health"]
    assert not {"lost", "unlinked", "unplaced"} & {row["finding"] for row in health}

# SPDX-License-Identifier: Apache-2.0
"""Each process numbers its devices, and the memory on them, anew: the first GPU of two processes in
one recording is two devices, with the ranks of both."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import trace_writer  # noqa: E402
from table_reader import tables  # noqa: E402

GPU = 1 << 16
ADDRESS = 0x7f0000000000


@pytest.fixture(name="path")
def two_processes(tmp_path):
    """The first has 1 kernel and the second 3, which overlap it. Both take memory at one address,
    and the first gives its own back."""
    trace = trace_writer.Trace(tmp_path / "t.varve")
    for rank in (0, 1):
        process = trace.process(pid=100 + rank, rank=rank, world_size=2)
        launch = process.site("begin", "launch", layer="RUNTIME")
        thread = process.thread(tid=100 + rank)
        thread.begin(launch, at=1000)
        thread.launch(7, at=1001)
        thread.alloc(ADDRESS, 1000 + rank, at=1002 + rank, device=GPU)
        if rank == 0:
            thread.free(ADDRESS, at=1008, device=GPU)
        thread.end(at=1010)
        process.track(1, "stream 7", "ticks", GPU, at=1020)
        for i in range(1 + 2 * rank):
            thread.activity(1, "gemm", (2000 + 200 * i, 2100 + 200 * i), at=4000, correlation=7)
    return trace.write()


def test_work(varve, path):
    rows = tables(varve, "report", "--table", "devices", path)["devices"]
    assert [(row["device"], row["rank"], row["events"], row["busy_ns"], row["span_ns"])
            for row in rows if row["row"] != "total"] == [
        ("cuda:0", 0, 1, 100, 100), ("cuda:0", 1, 3, 300, 500)]
    only = tables(varve, "report", "--table", "devices", "--rank", "1", path)["devices"]
    assert [(row["rank"], row["events"]) for row in only] == [(1, 3)]


def test_memory(varve, path):
    rows = tables(varve, "report", "--table", "memory", path)["memory"]
    assert [(row["device"], row["rank"], row["peak_bytes"], row["end_bytes"]) for row in rows] == [
        ("cuda:0", 0, 1000, 0), ("cuda:0", 1, 1001, 1001)]


def test_memory_of_processes_without_device_work(varve, tmp_path):
    """Each process has addresses of its own: a block that one frees is not the other's."""
    trace = trace_writer.Trace(tmp_path / "t.varve")
    for rank in (0, 1):
        thread = trace.process(pid=100 + rank, rank=rank, world_size=2).thread(tid=100 + rank)
        thread.alloc(ADDRESS, 1000 + rank, at=1002 + rank)
        if rank == 0:
            thread.free(ADDRESS, at=1008)
    rows = tables(varve, "report", "--table", "memory", trace.write())["memory"]
    assert [(row["device"], row["rank"], row["peak_bytes"], row["end_bytes"]) for row in rows] == [
        ("cpu:0", 0, 1000, 0), ("cpu:0", 1, 1001, 1001)]

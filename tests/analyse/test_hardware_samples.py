# SPDX-License-Identifier: Apache-2.0
"""Hardware counters by kernel (`kernels`: sm_active … samples): a sample counts for a kernel that
it lies within, while nothing else runs on the device."""
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle")]

import trace_writer  # noqa: E402
from table_reader import tables  # noqa: E402

GPU = [1 << 16, 1 << 16 | 1]
US = 1000
NAMES = ["SM active (%)", "SM issue (%)", "warps in flight (%)", "tensor cores active (%)",
         "DRAM read (%)", "DRAM write (%)"]


def tell(process, uuids):
    for device, uuid in enumerate(uuids):
        process.collector(f"fact.device.cuda.{device}", "note", f"uuid={uuid};name=H100")


def write(path, kernels, samples, uuids=(), sampled_uuids=()):
    """`kernels` is [(name, device, stream, begin us, end us)], `samples` [(device, us, values)];
    `uuids` are those of the program's devices, `sampled_uuids` of the process that samples."""
    trace = trace_writer.Trace(path)
    program = trace.process(pid=100)
    thread = program.thread(tid=100)
    rows = {}
    tell(program, uuids)
    for name, device, stream, begin, end in kernels:
        if (device, stream) not in rows:
            rows[device, stream] = len(rows) + 1
            program.track(rows[device, stream], f"stream {stream}", "ticks",
                          (GPU[device], 1, stream))
        thread.activity(rows[device, stream], name, (begin * US, end * US), at=end * US)
    reader = trace.process(pid=200)
    tell(reader, sampled_uuids)
    thread = reader.thread(tid=200)
    for number, device in enumerate(GPU, start=1):
        reader.track(number, "device", "ticks", device)
    for device, at, values in samples:
        for name, value in zip(NAMES, values):
            thread.device_counter(device + 1, name, at * US, value, at=at * US)
    return trace.write()


def kernels_of(varve, trace):
    rows = tables(varve, "report", "--no-cache", "--table", "kernels", trace)["kernels"]
    return {row["name"]: row for row in rows if row["row"] == "group"}


def test_a_kernel_has_the_samples_within_it(varve, tmp_path):
    values = {20: (90, 50, 60, 70, 20, 10), 200: (10, 5, 20, 0, 80, 15)}
    samples = [(0, at, values[20] if at < 100 else values[200]) for at in range(0, 300, 10)]
    samples += [(1, at, (99, 99, 99, 99, 99, 99)) for at in range(0, 300, 10)]
    rows = kernels_of(varve, write(tmp_path / "t.varve", [
        ("gemm", 0, 7, 15, 85),     # samples at 20, 30 … 70
        ("relu", 0, 7, 200, 230),   # 200, 210, 220
        ("short", 0, 7, 241, 249)], samples))
    gemm, relu = rows["gemm"], rows["relu"]
    assert (gemm["samples"], relu["samples"], rows["short"]["samples"]) == (6, 3, 0)
    columns = "sm_active", "sm_issue", "warps_active", "tensor_active", "dram_active"
    assert [gemm[name] for name in columns] == pytest.approx([.9, .5, .6, .7, .3])
    assert [relu[name] for name in columns] == pytest.approx([.1, .05, .2, 0, .95])
    assert [rows["short"][name] for name in columns] == [None] * 5


def test_time_with_other_work_on_the_device_counts_for_none(varve, tmp_path):
    samples = [(0, at, (50, 50, 50, 50, 50, 50)) for at in range(0, 300, 10)]
    rows = kernels_of(varve, write(tmp_path / "t.varve", [
        ("long", 0, 7, 0, 200), ("beside", 0, 8, 52, 78), ("elsewhere", 1, 9, 0, 200)], samples))
    assert rows["long"]["samples"] == 20 - 3  # not those at 50, 60, 70
    assert rows["beside"]["samples"] == rows["elsewhere"]["samples"] == 0


def test_a_gap_between_samples_is_of_no_sample(varve, tmp_path):
    at = [0, 10, 20, 30, 90, 100, 110]
    rows = kernels_of(varve, write(tmp_path / "t.varve", [
        ("first", 0, 7, 0, 40), ("second", 0, 7, 40, 90), ("third", 0, 7, 90, 130)],
        [(0, time, (5, 5, 5, 5, 5, 5)) for time in at]))
    assert [rows[name]["samples"] for name in ("first", "second", "third")] == [4, 0, 3]


def test_without_samples_the_columns_are_empty(varve, tmp_path):
    row = kernels_of(varve, write(tmp_path / "t.varve", [("gemm", 0, 7, 0, 40)], []))["gemm"]
    assert row["samples"] is None and row["sm_active"] is None


@pytest.mark.parametrize("uuids, sampled, joined", [
    (["GPU-1"], ["GPU-0", "GPU-1"], 1),            # CUDA_VISIBLE_DEVICES=1, set by the program
    (["GPU-1", "GPU-0"], ["GPU-0", "GPU-1"], 1),   # another order
    (["MIG-7"], ["GPU-0", "MIG-7"], 1),            # a part of a GPU
    (["GPU-9"], ["GPU-0", "GPU-1"], None),         # a GPU that nobody sampled
    ([], ["GPU-0", "GPU-1"], 0), (["GPU-0"], [], 0), (["", "GPU-0"], ["GPU-1", "GPU-0"], 0),
])
def test_samples_find_their_gpu_by_its_uuid(varve, tmp_path, uuids, sampled, joined):
    samples = [(device, at, (10 + 80 * device,) * 6) for at in range(0, 200, 10)
               for device in (0, 1)]
    row = kernels_of(varve, write(tmp_path / "t.varve", [("gemm", 0, 7, 0, 200)], samples,
                                  uuids, sampled))["gemm"]
    if joined is None:
        assert row["samples"] == 0 and row["sm_active"] is None
    else:
        assert row["samples"] == 20 and row["sm_active"] == pytest.approx(0.1 + 0.8 * joined)


def test_processes_that_share_a_gpu_take_each_others_samples_away(varve, tmp_path):
    """Two ranks call their GPUs `cuda:0`. With equal uuids their work overlaps on one GPU; with
    different ones each has its own samples."""
    for shared in (True, False):
        path = tmp_path / f"{shared}.varve"
        trace = trace_writer.Trace(path)
        for rank, name in enumerate(("first", "second")):
            process = trace.process(pid=100 + rank)
            tell(process, ["GPU-0" if shared else f"GPU-{rank}"])
            process.track(1, "stream 7", "ticks", (GPU[0], 1, 7))
            process.thread(tid=100 + rank).activity(1, name, (0, 200 * US), at=200 * US)
        reader = trace.process(pid=200)
        tell(reader, ["GPU-0", "GPU-1"])
        thread = reader.thread(tid=200)
        for number, device in enumerate(GPU, start=1):
            reader.track(number, "device", "ticks", device)
        for at in range(0, 200, 10):
            for number in (1, 2):
                thread.device_counter(number, "SM active (%)", at * US, 30.0 * number, at=at * US)
        rows = kernels_of(varve, trace.write())
        said = {name: (rows[name]["samples"], rows[name]["sm_active"]) for name in rows}
        assert said == ({"first": (0, None), "second": (0, None)} if shared else
                        {"first": (20, 0.3), "second": (20, 0.6)})

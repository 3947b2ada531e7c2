# SPDX-License-Identifier: Apache-2.0
"""Tables roofline and mfu: TraceLens' own figures on the shared traces, and laws on made ones."""
import ast
import csv
import json
import math
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

# doc/truth.md: moving elements is no floating-point operation; a mean has as many results as
# dimensions leave.
MOVES = {"aten::copy_", "aten::upsample_nearest1d"}


def table(varve, name, *arguments):
    return table_reader.tables(varve, "report", "--table", name, *arguments)[name]


TYPES = {"c10::BFloat16": "bf16", "c10::Half": "f16", "float": "f32", "double": "f64", "int": "i32",
         "long int": "i64"}


def shapes_text(row):
    """As we write shapes, from two columns of TraceLens: "[2,3] bf16, []"."""
    parts = []
    for dims, kind in zip(ast.literal_eval(row["Input Dims"]), ast.literal_eval(row["Input type"])):
        parts.append(f"[{','.join(map(str, dims))}] {TYPES.get(kind, '')}".strip())
    return ", ".join(parts)


FIGURES = ("calls", "flop", "bytes", "time_ns")


def add(sums, key, figures):
    sums[key] = [one + other for one, other in zip(sums.get(key, [0] * len(figures)), figures)]


def expected_figures(folder):
    """{(name, shapes): figures of all calls}: the file has rows for each stride besides."""
    csv.field_size_limit(sys.maxsize)
    sums = {}
    with open(folder / "unified_perf_summary.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            # inside aten::layer_norm, which counts
            if not row["GFLOPS"] or row["name"] == "aten::native_layer_norm":
                continue
            calls = int(row["operation_count"])
            add(sums, (row["name"], shapes_text(row)), [
                calls, calls * float(row["GFLOPS"]) * 1e9,
                calls * float(row["Data Moved (MB)"] or "nan") * 2**20,
                float(row["Kernel Time (µs)_sum"]) * 1000])
    return sums


@pytest.mark.parametrize("trace", ["h100_Falconsai", "h100_gaunernst", "h100_timesformer",
                                   "mi300_Falconsai", "mi300_gaunernst"])
def test_figures_are_those_of_tracelens(varve, traces, trace):
    rows = table(varve, "roofline", traces / f"tracelens/{trace}.json.gz")
    ours = {}
    for row in rows:
        if row["row"] == "operator":
            add(ours, (row["name"], row["shapes"]), [row[figure] for figure in FIGURES])
    expected = expected_figures(traces / f"tracelens/{trace}_expected")
    assert len(expected) >= 5
    for (name, shapes), (calls, flop, size, time) in expected.items():
        own = dict(zip(FIGURES, ours[name, shapes]))
        assert own["calls"] == calls
        assert own["time_ns"] == pytest.approx(time, abs=calls)
        # TraceLens leaves out the bias: one addition a result, one number a channel
        if name == "aten::convolution":
            channels, *window = map(int, re.findall(r"[0-9]+", shapes.split("[")[2].split("]")[0]))
            each = 2 * math.prod(window)
            flop, size = flop + flop / each, size + calls * 2 * channels
        assert own["flop"] == (0 if name in MOVES else pytest.approx(flop, rel=1e-12))
        if name != "aten::mean":
            assert own["bytes"] == pytest.approx(size, rel=1e-12)
    assert rows[-1]["time_ns"] == sum(row["time_ns"] for row in rows[:-1])


def op(name, dims, kinds=None, concrete=None, **fields):
    kinds = kinds or ["float" if dim else "Scalar" for dim in dims]
    args = {"Input Dims": dims, "Input type": kinds}
    if concrete:
        args["Concrete Inputs"] = concrete
    return {"ph": "X", "cat": "cpu_op", "name": name, "ts": 0, "dur": 100, "pid": 1, "tid": 1,
            "args": args, **fields}


def write(path, events, **fields):
    path.write_text(json.dumps({"traceEvents": events, **fields}))
    return path


CONVOLUTION = ["", "", "", "[2, 2]", "[1]", "[1, 1]", "False", "[0, 0]", "2"]
CASES = [
    # 8x16x16 results of 4 channels, in 2 groups: each 2 * 3 * 3 * 3
    (op("aten::convolution", [[8, 6, 32, 32], [4, 3, 3, 3], [], [], [], [], [], [], []],
        concrete=CONVOLUTION),
     8 * 4 * 16 * 16 * 54, 4 * (8 * 6 * 1024 + 108 + 8 * 4 * 256)),
    # transposed: each of the 8x6x5 inputs is spread over 2 * 4 * 3
    (op("aten::convolution", [[8, 6, 5], [6, 4, 3], [4], [], [], [], [], [], []],
        concrete=["", "", "", "[2]", "[0]", "[1]", "True", "[1]", "1"]),
     8 * 6 * 5 * 24 + 8 * 4 * 12, 4 * (240 + 72 + 4 + 8 * 4 * 12)),
    (op("aten::convolution_backward", [[2, 4, 8, 8], [2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [],
                                       [], [], []],
        concrete=["", "", "", "[4]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1",
                  "[True, True, True]"]),
     2 * 54 * 512 + 512, 4 * (2 * (512 + 108 + 384) + 512 + 4)),
    (op("aten::convolution_backward", [[2, 4, 8, 8], [2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [],
                                       [], [], []],
        concrete=["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1",
                  "[False, True, False]"]),
     54 * 512, 4 * (512 + 108 + 384)),
    (op("aten::_scaled_dot_product_flash_attention", [[2, 4, 16, 8], [2, 4, 16, 8], [2, 4, 16, 8],
                                                      [], [], []],
        concrete=["", "", "", "0.", "True", "False"]), 4 * 2 * 4 * 16 * 16 * 8 // 2, 4 * 4 * 1024),
    (op("aten::baddbmm", [[5, 2, 3], [5, 2, 7], [5, 7, 3]]), 5 * (2 * 2 * 3 * 7 + 6),
     4 * 5 * (6 + 14 + 21 + 6)),
    (op("aten::sum", [[4, 5, 6], [], [], []], concrete=["", "[1, -1]", "False", ""]), 120,
     4 * (120 + 4)),
    (op("aten::add", [[4, 1, 6], [5, 1], []]), 120, 4 * (24 + 5 + 120)),
    (op("aten::embedding", [[100, 16], [2, 3]], ["float", "long int"]), 0, 48 + 2 * 6 * 16 * 4),
    (op("aten::add", [[4], [4]], ["long int", "long int"]), 0, 3 * 32),
    # without weights the normalised shape says how many channels there are
    (op("aten::layer_norm", [[8, 3, 5], [], [], [], []], concrete=["", "[3, 5]", "", "", "1"]),
     5 * 120 + 6 * 15, 4 * (240 + 4 * 15)),
    (op("aten::layer_norm", [[8, 3, 5], [], [3, 5], [3, 5], []],
        concrete=["", "[3, 5]", "", "", "1"]), 5 * 120 + 6 * 15, 4 * (240 + 6 * 15)),
    (op("aten::native_layer_norm_backward", [[8, 3, 5], [8, 3, 5], [], [8, 1, 1], [8, 1, 1], [], [],
                                             []],
        concrete=["", "", "[3, 5]", "", "", "", "", "[True, False, False]"]), 9 * 120,
     4 * (360 + 2 * 15)),
    (op("aten::rms_norm", [[8, 3, 5], [], [3, 5], []], concrete=["", "[3, 5]", "", "1"]),
     4 * 120 + 2 * 8, 4 * (240 + 15)),
    (op("aten::_fused_rms_norm", [[8, 3, 5], [], [], []], concrete=["", "[3, 5]", "", ""]),
     3 * 120 + 2 * 8, 4 * 240),
    (op("aten::_fused_rms_norm_backward", [[8, 15], [8, 15], [], [8, 1], [15], []],
        concrete=["", "", "[15]", "", "", "[True, True]"]), 10 * 120, 4 * (360 + 30)),
    (op("aten::_fused_rms_norm_backward", [[8, 15], [8, 15], [], [8, 1], [], []],
        concrete=["", "", "[15]", "", "", "[True, False]"]), 7 * 120, 4 * 360),
    (op("_C::rms_norm", [[8, 15], [8, 15], [15], []]), 4 * 120 + 16, 4 * (240 + 15)),
    (op("_C::fused_add_rms_norm", [[8, 15], [8, 15], [15], []]), 5 * 120 + 16, 4 * (480 + 15)),
    (op("aiter::add_rmsnorm", [[8, 15], [8, 15], [8, 15], [8, 15], [15], []]), 5 * 120 + 16,
     4 * (480 + 15)),
    (op("sgl_kernel::silu_and_mul", [[8, 16], [8, 32]]), 2 * 128, 4 * (128 + 256)),
    (op("_C::rotary_embedding", [[7], [7, 64], [7, 16], [], [4096, 8], []],
        ["long int", "float", "float", "Scalar", "float", "Scalar"]), 3 * 7 * 80,
     4 * (2 * 7 * 80 + 7 * 8) + 7 * 8),
    (op("_C_cache_ops::reshape_and_cache_flash",
        [[7, 2, 8], [7, 2, 8], [99, 4, 2, 8], [99, 4, 2, 8], [7], [], [], []],
        ["float", "float", "float", "float", "long int", "", "float", "float"]), 0,
     4 * 2 * 224 + 56),
    (op("aiter::mha_fwd", [[2, 16, 4, 8], [2, 16, 4, 8], [2, 16, 4, 8], [], [], []],
        concrete=["", "", "", "0.", "1.", "False"]), 4 * 2 * 4 * 16 * 16 * 8, 4 * 4 * 1024),
    (op("aten::linalg_vector_norm", [[4, 5], [], [], [], []],
        concrete=["", "2", "[-1]", "True", ""]), 2 * 20, 4 * (20 + 4)),
    (op("aten::cumsum", [[4, 5], [], []], concrete=["", "0", ""]), 20, 4 * 40),
    (op("aten::max", [[4, 5]]), 20, 4 * 21),
    (op("aten::max", [[4, 5], [], []], concrete=["", "-1", "False"]), 20, 4 * (20 + 4) + 8 * 4),
    (op("aten::min", [[4, 5], [5]]), 20, 4 * (20 + 5 + 20)),
    (op("aten::argmax", [[4, 5], [], []], concrete=["", "0", "False"]), 20, 4 * 20 + 8 * 5),
    (op("aten::argmax", [[4, 5], [], []], concrete=["", "", "False"]), 20, 4 * 20 + 8),
    (op("aten::fill_", [[4, 5], []], concrete=["", "0"]), 0, 80),
]


@pytest.mark.parametrize("event, flop, size", CASES)
def test_formulas(varve, tmp_path, event, flop, size):
    row = table(varve, "roofline", write(tmp_path / "made.json", [event]))[0]
    assert (row["flop"], row["bytes"], row["time_ns"], row["device"]) == (flop, size, 100000,
                                                                          "host")


@pytest.mark.parametrize("event", [
    op("aten::mm", []), op("aten::mm", [[3], [3]]), op("aten::mm", [[], [2, 2]]),
    op("aten::convolution", [[1, 1, 4], [1, 1, 4]]),
    op("aten::convolution", [[1, 1, 4], [1, 1, 4]], concrete=["", "", "", "[0]", "["]),
    op("aten::_unknown", [[2, 2]]), op("aten::max", [[2, 2], [], []], concrete=["", "2", "False"]),
    op("vllm::unified_attention_with_output", [[9, 4, 8], [9, 4, 8], [9, 4, 8], [9, 4, 8]]),
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 1, "pid": 1, "tid": 1}])
def test_what_cannot_be_told_has_no_row(varve, tmp_path, event):
    assert table(varve, "roofline", write(tmp_path / "made.json", [event])) == []


def test_the_first_from_the_outside_counts(varve, tmp_path):
    events = [op("aten::layer_norm", [[4, 8], [], [8], [8]], dur=100),
              op("aten::native_layer_norm", [[4, 8], [], [8], [8]], ts=10, dur=80),
              op("aten::relu", [[4, 8]], ts=200, dur=10), op("aten::none", [[4]], ts=300, dur=7)]
    rows = table(varve, "roofline", write(tmp_path / "made.json", events))
    assert [(row["name"], row["row"], row["time_ns"]) for row in rows] == [
        ("aten::layer_norm", "operator", 100000), ("aten::relu", "operator", 10000),
        ("(no formula)", "rest", 7000), ("total", "total", 117000)]


def test_a_filter_leaves_the_time_of_others_to_the_rest(varve, traces):
    path = traces / "tracelens/h100_gaunernst.json.gz"
    whole, some = table(varve, "roofline", path), table(varve, "roofline", "--filter",
                                                        "name=='aten::addmm'", path)
    assert [row for row in some if row["row"] == "operator"] == [row for row in whole
                                                                 if row["name"] == "aten::addmm"]
    assert some[-1]["time_ns"] == whole[-1]["time_ns"] == sum(row["time_ns"] for row in some[:-1])


def test_utilisation_of_steps(varve, tmp_path):
    """Two steps on one H100: a product of 2e9 FLOP at 16 bits each, in the second computed again in
    a checkpoint's backward."""
    matrix, kinds = [[1000, 1000], [1000, 1000]], ["c10::BFloat16", "c10::BFloat16"]
    events = []
    for step in range(2):
        at = 1000 * step
        events += [{**op("ProfilerStep#%d" % step, []), "ts": at, "dur": 1000,
                    "cat": "user_annotation"},
                   op("aten::mm", matrix, kinds, ts=at + 10, dur=20)]
        if step == 1:
            checkpoint = "autograd::engine::evaluate_function: CheckpointFunctionBackward"
            events += [op(checkpoint, [], ts=at + 100, dur=200),
                       op("CheckpointFunctionBackward", [], ts=at + 101, dur=198),
                       op("aten::mm", matrix, kinds, ts=at + 110, dur=20),
                       op("autograd::engine::evaluate_function: MmBackward0", [], ts=at + 150,
                          dur=100),
                       op("aten::mm", matrix, kinds, ts=at + 160, dur=20)]
    for number, event in enumerate([event for event in events if event["name"] == "aten::mm"]):
        correlation = {"correlation": number + 1}
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
                    "ts": event["ts"] + 1, "dur": 2, "pid": 1, "tid": 1, "args": correlation},
                   {"ph": "X", "cat": "kernel", "name": "gemm", "ts": event["ts"] + 5, "dur": 10,
                    "pid": 0, "tid": 7, "args": {"device": 0, "stream": 7, **correlation}}]
    path = write(tmp_path / "made.json", events,
                 deviceProperties=[{"id": 0, "name": "NVIDIA H100 80GB HBM3"}])
    rows = table(varve, "mfu", path)
    assert [(row["model_flop"], row["recomputed_flop"], row["devices"]) for row in rows] == [
        (2e9, 0, 1), (4e9, 2e9, 1), (6e9, 2e9, 1)]
    peak = 989.4e12
    assert [row["mfu"] for row in rows] == pytest.approx([2e9 / peak / 1e-3, 4e9 / peak / 1e-3,
                                                          6e9 / peak / 2e-3])
    assert [row["hfu"] for row in rows] == pytest.approx([2e9 / peak / 1e-3, 6e9 / peak / 1e-3,
                                                          8e9 / peak / 2e-3])
    row = table(varve, "roofline", path)[0]
    assert (row["calls"], row["time_ns"], row["device"], row["bound"]) == (4, 40000, "cuda:0",
                                                                           "compute")
    assert row["efficiency"] == pytest.approx(8e9 / 40e-6 / peak)
    assert row["roof_flop_per_s"] == pytest.approx(peak)


BF16 = ["c10::BFloat16", "c10::BFloat16"]


def product(number, at_us, work_at_us, work_us, device=0, kinds=None):
    """aten::mm of 2e9 FLOP, its call of 3 µs, and its kernel."""
    correlation = {"correlation": number + 1}
    return [op("aten::mm", [[1000, 1000], [1000, 1000]], kinds or BF16, ts=at_us, dur=5),
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at_us + 1,
             "dur": 3, "pid": 1, "tid": 1, "args": correlation},
            {"ph": "X", "cat": "kernel", "name": "gemm", "ts": work_at_us, "dur": work_us,
             "pid": device, "tid": 7, "args": {"device": device, "stream": 7, **correlation}}]


def step(number, at_us, lasts_us):
    return {**op(f"ProfilerStep#{number}", []), "ts": at_us, "dur": lasts_us,
            "cat": "user_annotation"}


def mfu_of(varve, path):
    told = subprocess.run([varve, "report", "--no-cache", "--table", "mfu", path],
                          capture_output=True, text=True, check=True).stdout
    return table(varve, "mfu", path), " ".join(told.split())


def test_a_step_lasts_until_its_device_work_ends(varve, tmp_path):
    """A host that only launches: its steps last 30 µs each, their work 400 and 500. Each product
    takes 2.02 µs at the peak."""
    events = [step(0, 0, 30), step(1, 30, 30),
              *product(0, 5, 20, 200), *product(1, 12, 220, 200),
              *product(2, 35, 420, 250), *product(3, 45, 670, 250)]
    path = write(tmp_path / "made.json", events,
                 deviceProperties=[{"id": 0, "name": "NVIDIA H100 80GB HBM3"}])
    rows, told = mfu_of(varve, path)
    assert [(row["duration_ns"], row["host_duration_ns"]) for row in rows] == [
        (420000, 30000), (500000, 30000), (920000, 60000)]
    assert [row["mfu"] for row in rows] == pytest.approx(
        [4e9 / 989.4e12 / 420e-6, 4e9 / 989.4e12 / 500e-6, 8e9 / 989.4e12 / 920e-6])
    assert "each step until its device work ends" in told
    assert "above 100 %" not in told


def test_a_step_whose_work_is_not_in_the_trace_is_left_out(varve, tmp_path):
    events = [step(0, 0, 30), step(1, 30, 30), *product(0, 5, 20, 200),
              *product(1, 12, 220, 200), *product(2, 35, 420, 250),
              *product(3, 45, 670, 250)[:2]]
    path = write(tmp_path / "made.json", events,
                 deviceProperties=[{"id": 0, "name": "NVIDIA H100 80GB HBM3"}])
    rows, told = mfu_of(varve, path)
    assert [row["step"] for row in rows] == [0, None]
    assert "FLOP of 2 operators" in told
    assert "step 1 is left out: recording ended before its device work" in told


@pytest.mark.parametrize("events, mfu, reason", [
    # 30 µs at the peak of 32 bits, done in 10
    ([step(0, 0, 20), *product(0, 2, 6, 10, kinds=["float", "float"])],
     2e9 / 66.9e12 / 20e-6, "above 100 %: aten::mm is faster than this peak of its type"),
    # the call ends after the step, so its work is not the step's
    ([step(0, 0, 1), *product(0, 0.5, 6, 10)], 2e9 / 989.4e12 / 1e-6,
     "above 100 %: these operators take 10.0 µs of their devices, the steps 1.00 µs")])
def test_more_than_the_peak_is_never_said_without_the_reason(varve, tmp_path, events, mfu, reason):
    path = write(tmp_path / "made.json", events,
                 deviceProperties=[{"id": 0, "name": "NVIDIA H100 80GB HBM3"}])
    rows, told = mfu_of(varve, path)
    assert rows[0]["mfu"] == pytest.approx(mfu)
    assert mfu > 1 and reason in told


@pytest.mark.parametrize("names, known", [
    ({0: "AMD Instinct MI300X"}, True),
    ({0: "AMD Instinct MI300X", 1: "AMD Instinct MI300X"}, True),
    ({0: "AMD Instinct MI300X", 1: "AMD Instinct MI210"}, False),
    ({0: "AMD Instinct MI210", 9: "AMD Instinct MI300X"}, True), ({}, False)])
def test_a_device_of_another_number_has_the_name_that_all_have(varve, tmp_path, names, known):
    """ROCm numbers devices by agent in its events, from 0 in its list of devices."""
    path = write(tmp_path / "made.json", [step(0, 0, 30), *product(0, 5, 20, 200, device=9)],
                 deviceProperties=[{"id": id, "name": name} for id, name in names.items()])
    rows, told = mfu_of(varve, path)
    assert rows[0]["mfu"] == (pytest.approx(2e9 / 1307.4e12 / 220e-6) if known else None)
    assert ("no peaks known of this device" in told) == (not known)


@pytest.mark.parametrize("unknown_us, is_told", [(2, True), (10, True), (11, False), (30, False)])
def test_where_most_work_has_no_formula_no_utilisation_is_told(varve, tmp_path, unknown_us,
                                                               is_told):
    """10 µs of the device's work have a formula."""
    correlation = {"correlation": 9}
    events = [step(0, 0, 100), *product(0, 5, 20, 10), op("my::own", [], ts=40, dur=9),
              {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 41, "dur": 2,
               "pid": 1, "tid": 1, "args": correlation},
              {"ph": "X", "cat": "kernel", "name": "own", "ts": 50, "dur": unknown_us, "pid": 0,
               "tid": 7, "args": {"device": 0, "stream": 7, **correlation}}]
    path = write(tmp_path / "made.json", events,
                 deviceProperties=[{"id": 0, "name": "NVIDIA H100 80GB HBM3"}])
    rows, told = mfu_of(varve, path)
    share = round(100 * unknown_us / (unknown_us + 10))
    assert f"; {share} % of the time is of work without a formula" in told
    assert ("too much to tell the utilisation" in told) == (not is_told)
    for row in rows:
        assert row["model_flop"] == 2e9
        assert [row[name] is not None for name in ("mfu", "hfu", "model_flop_per_s")] == (
            [is_told] * 3)


def test_what_is_not_counted_and_whose_peaks_are_meant_is_said(varve, tmp_path):
    """A quarter of the device's work has a formula; one operator that has one ran on the host,
    beside the device."""
    events = [{**op("ProfilerStep#0", []), "ts": 0, "dur": 1000, "cat": "user_annotation"}]
    kinds = ["c10::BFloat16", "c10::BFloat16"]
    for number, (name, dims) in enumerate([("aten::mm", [[1000, 1000], [1000, 1000]]),
                                           ("my::own", []), ("aten::mm", [[8, 8], [8, 8]])]):
        events.append(op(name, dims, kinds[:len(dims)], ts=10 + 100 * number, dur=50))
        if number < 2:
            events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 11 +
                        100 * number, "dur": 2, "pid": 1, "tid": 1,
                        "args": {"correlation": number + 1}},
                       {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 20 + 100 * number,
                        "dur": 10 + 20 * number, "pid": 0, "tid": 7,
                        "args": {"device": 0, "stream": 7, "correlation": number + 1}}]
    path = write(tmp_path / "made.json", events,
                 deviceProperties=[{"id": 0, "name": "NVIDIA H100 80GB HBM3"}])
    told = {name: subprocess.run([varve, "report", "--table", name, path], capture_output=True,
                                 text=True, check=True).stdout
            for name in ("roofline", "mfu")}
    assert "2 operators by the formulas" in told["roofline"]
    assert "; those without any ran on the host: peaks " in told["roofline"]
    assert "FLOP of 1 operators of table roofline" in told["mfu"]
    assert ("; 75 % of the time is of work without a formula: too much to tell the utilisation; "
            "peaks by data sheet of 1 of 1 device" in told["mfu"])
    assert "host:" not in told["mfu"]

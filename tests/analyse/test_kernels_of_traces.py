# SPDX-License-Identifier: Apache-2.0
"""Kernels, annotations and counters of real traces, against what HTA and TraceLens publish about
them."""
import collections
import csv
import gzip
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

MODELS = ["h100_Falconsai", "h100_gaunernst", "h100_timesformer", "mi300_Falconsai",
          "mi300_gaunernst"]


def table(varve, path, name, *arguments):
    return table_reader.tables(varve, "report", "--no-cache", "--table", name, *arguments,
                               path)[name]


def expected(traces, model, name):
    with open(traces / "tracelens" / f"{model}_expected" / f"{name}.csv", encoding="utf-8",
              newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("model", MODELS)
def test_kernels_by_operator_are_those_of_tracelens(varve, traces, model):
    """Its kernel_summary leaves out work whose launch it does not know, and tells streams apart."""
    rows = table(varve, traces / "tracelens" / f"{model}.json.gz", "kernel_ops")
    ours = {(row["op"], row["name"]): row for row in rows if row["row"] == "group"}
    theirs = collections.defaultdict(list)
    for row in expected(traces, model, "kernel_summary"):
        theirs[row["Parent cpu_op"] or None, row["Kernel name"]].append(row)
    assert len(theirs) > 10
    for key, streams in theirs.items():
        row = ours.pop(key)
        assert row["calls"] == sum(int(stream["Kernel duration (µs)_count"])
                                   for stream in streams), key
        for column, figure, join in (("total_ns", "sum", sum), ("min_ns", "min", min),
                                     ("max_ns", "max", max)):
            value = join(float(stream[f"Kernel duration (µs)_{figure}"]) for stream in streams)
            assert row[column] / 1000 == pytest.approx(value, rel=1e-12), (key, column)
    # memcpy and memset are no kernels there
    assert {row['name'].split()[0] for row in ours.values()} <= {'Memcpy', 'Memset'}


@pytest.mark.parametrize("model", MODELS)
def test_operators_are_those_of_tracelens(varve, traces, model):
    """Its operators are those that launch; its times are doubles of microseconds since 1970, in
    steps of 0.25."""
    rows = table(varve, traces / "tracelens" / f"{model}.json.gz", "operators")
    ours = {row["name"]: row for row in rows if row["row"] == "operator"}
    theirs = expected(traces, model, "ops_summary")
    assert len(theirs) > 5
    for row in theirs:
        mine, count = ours[row["name"]], int(row["Count"])
        assert mine["device_self_ns"] / 1000 == pytest.approx(
            float(row["total_direct_kernel_time_sum"]), abs=0.25 * count)
        assert mine["device_total_ns"] / 1000 == pytest.approx(
            float(row["total_subtree_kernel_time_sum"]), abs=0.25 * count)
        assert mine["calls"] >= count


def launch_of(event):
    """((grid, block, registers, shared bytes), occupancy or None) of a kernel, by Kineto's words;
    None = no kernel."""
    args = event.get("args", {})
    if "grid" not in args:
        return None
    occupancy = args.get("est. achieved occupancy %")
    return ((tuple(args["grid"]), tuple(args["block"]), args.get("registers per thread"),
             args.get("shared memory")),
            None if occupancy is None else occupancy / 100)


def trimmed(size):
    kept = 3 if size[2] > 1 else 2 if size[1] > 1 else 1
    return "×".join(map(str, size[:kept]))


@pytest.mark.parametrize("name", ["tracelens/h100_Falconsai", "tracelens/mi300_gaunernst",
                                  "kineto/resnet50_workers0"])
def test_how_kernels_were_launched(varve, traces, name):
    path = traces / f"{name}.json.gz"
    times, occupied = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        launch = launch_of(event) if event.get("cat", "").lower() == "kernel" else None
        if launch is not None:
            times[event["name"]][launch[0]] += event["dur"]
            if launch[1] is not None:
                occupied[event["name"]].append((launch[1], event["dur"]))
    assert len(times) > 5
    rows = {row["name"]: row for row in table(varve, path, "kernels") if row["row"] == "group"}
    for kernel, shapes in times.items():
        row = rows.pop(kernel)
        assert row["launch_shapes"] == len(shapes)
        found = (row["grid"], row["block"], row["registers"], row["shared_bytes"])
        most = max(shapes.values())
        assert found in {(trimmed(grid), trimmed(block), registers, shared)
                         for (grid, block, registers, shared), time in shapes.items()
                         if time > most - 0.01}
        told = occupied[kernel]
        assert row["occupancy"] == (pytest.approx(
            sum(share * time for share, time in told) / sum(time
                                                            for _, time in told)) if told else None)
        if len(shapes) == 1 and row["occupancy"] and row["most_occupancy"] is not None:
            # PyTorch's estimate is lower where the grid does not fill the device
            assert row["occupancy"] <= row["most_occupancy"] + 0.006
    # copies and sets
    assert all(row["grid"] is None and row["occupancy"] is None for row in rows.values())


def test_how_kernels_of_other_profilers_were_launched(varve, traces):
    row, = (row for row in table(varve, traces / "nsys" / "saxpy_mpi_cuda.sqlite", "kernels")
            if "saxpy" in row["name"])
    assert (row["grid"], row["block"], row["registers"], row["shared_bytes"],
            row["occupancy"]) == ("2", "512", 26, 0, None)
    rows = table(varve, traces / "xplane" / "jax_mi300_conv.xplane.pb", "kernels")
    shapes = {(row["grid"], row["block"], row["shared_bytes"]) for row in rows
              if row["row"] == "group"}
    assert {("69840", "256", 8192), ("219×40", "256", 49280)} <= shapes
    path = traces / "tracelens" / "rocprofv3_results.json.gz"
    with gzip.open(path) as file:
        process, = json.load(file)["rocprofiler-sdk-tool"]
    symbols = {symbol["kernel_id"]: symbol for symbol in process["kernel_symbols"]}
    shapes = collections.defaultdict(set)
    for record in process["buffer_records"]["kernel_dispatch"]:
        info, symbol = record["dispatch_info"], symbols[record["dispatch_info"]["kernel_id"]]
        block = tuple(info["workgroup_size"].values())
        grid = tuple(-(-threads // size) for threads, size in zip(info["grid_size"].values(),
                                                                  block))
        shapes[symbol["formatted_kernel_name"]].add((trimmed(grid), trimmed(block),
                                                     symbol["arch_vgpr_count"],
                                                     info["group_segment_size"]))
    for row in table(varve, path, "kernels"):
        if row["row"] == "group":
            assert row["launch_shapes"] == len(shapes[row["name"]])
            assert (row["grid"], row["block"], row["registers"],
                    row["shared_bytes"]) in shapes[row["name"]]


def test_the_most_that_a_shape_lets_in(varve, tmp_path):
    """An H100 holds 64 warps of 128 registers only in part; an unknown device tells nothing."""
    def rows_of(device, **args):
        path = tmp_path / "made.json"
        path.write_text(json.dumps({
            "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}],
            "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 0,
                             "dur": 5, "args": {"device": 0, "stream": 7, "grid": [999, 1, 1],
                                                **args}}]}))
        row = table(varve, path, "kernels")[0]
        return row["most_occupancy"], row["limited_by"]

    told = {"block": [128, 2, 1], "registers per thread": 128, "shared memory": 0}
    assert rows_of("NVIDIA H100 80GB HBM3", **told) == (0.25, "registers")
    assert rows_of("NVIDIA H100 80GB HBM3", **{**told, "shared memory": 150 << 10}) == (
        0.125, "shared memory")
    assert rows_of("NVIDIA H1000", **told) == (None, None)
    assert rows_of("NVIDIA H100 80GB HBM3", block=[128, 1, 1]) == (None, None)


def test_odd_shapes_of_launches(varve, tmp_path):
    """What cannot be read is not known; XLA's words; the one that takes most time is shown."""
    def kernel(at_us, dur_us, **args):
        return {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": at_us,
                "dur": dur_us, "args": {"device": 0, "stream": 7, **args}}

    def row_of(*events):
        path = tmp_path / "made.json"
        path.write_text(json.dumps({"traceEvents": list(events)}))
        row = table(varve, path, "kernels")[0]
        return tuple(row[column] for column in ("grid", "block", "registers", "shared_bytes",
                                                "occupancy", "launch_shapes"))
    assert row_of(kernel(0, 5)) == (None, None, None, None, None, None)
    assert row_of(kernel(0, 5, grid="none", block=[],
                         **{"est. achieved occupancy %": 250})) == (None,) * 6
    assert row_of(kernel(0, 5, grid=[2, 1, 3], block=[64, 1, 1]),
                  kernel(10, 4, grid=[9, 1, 1], block=[64, 1, 1]),
                  kernel(20, 3, grid=[9, 1, 1], block=[64, 1, 1])) == ("9", "64", None, None, None,
                                                                       2)
    assert row_of(kernel(0, 5, grid=[10 ** 30, 1, 1], block=[64, 1, 1])) == (None, "64", None, None,
                                                                             None, 1)
    assert row_of(kernel(0, 1, **{"est. achieved occupancy %": 50}),
                  kernel(2, 3, **{"est. achieved occupancy %": 10}),
                  kernel(9, 3))[4] == pytest.approx((0.5 + 0.3) / 4)
    assert row_of(
        kernel(
            0, 5, kernel_details=
            " regs:32 static_shared:16 dynamic_shared:8 grid:4,2,1 block:128,1,1 occ_pct:12.5")
    ) == ("4×2", "128", 32, 24, 0.125, 1)
    assert row_of(kernel(0, 5, kernel_details="grid:4 block:128 occ_pct:0")) == ("4", "128", None,
                                                                                 None, None, 1)


def test_annotations_of_hta(varve, traces):
    path = traces / "hta" / "ns_resolution.json.gz"

    def annotations(*arguments):
        return {row["annotation"]: row["calls"] for row in table(varve, path, "annotations",
                                                                 *arguments)}
    before_the_last_step = annotations("--steps", "..104")
    assert before_the_last_step.pop("total") == 4876
    assert before_the_last_step.keys() == {"(no annotation)", "DistributedDataParallel.forward",
                                           "Optimizer.step#SGD.step", "## backward ##"}
    # HTA loses the last annotation of the last step that it keeps: doc/truth.md.
    assert annotations("--steps", "..103")["Optimizer.step#SGD.step"] == 27
    assert before_the_last_step["Optimizer.step#SGD.step"] == 4 * 9


def test_counters_of_hta(varve, traces):
    rows = table(varve, traces / "hta" / "cupti_counters.json.gz", "kernel_counters")
    kernels = [row for row in rows if row["row"] == "kernel"]
    assert len(kernels) == 77
    sixth = kernels[5]
    assert "fft2d_r2c_32x32" in sixth["name"]
    assert sixth["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] == 86114304
    assert (sixth["top_op"], sixth["bottom_op"]) == ("aten::conv2d", "aten::cudnn_convolution")


@pytest.mark.parametrize("name", ["hta/ns_resolution", "dlrm8/rank0", "tracelens/b200_eager",
                                  "ascend/trace_view", "hta/cpu_only_rank34",
                                  "tracelens/sglang_decode"])
def test_every_grouping_sums_to_all_work(varve, traces, name):
    path = traces / f"{name}.json.gz"
    totals = set()
    for arguments in (("kernels",), ("kernel_ops",), ("annotations",),
                      ("kernels", "--by", "stream"), ("kernels", "--by", "module", "--top", "3"),
                      ("kernels", "--by", "phase")):
        rows = table(varve, path, *arguments)
        for column in ("total_ns", "calls"):
            assert sum(row[column] for row in rows if row["row"] != "total") == (rows[-1][column]
                                                                                 if rows else 0)
        totals.add((rows[-1]["total_ns"], rows[-1]["calls"]) if rows else (0, 0))
    tree = table(varve, path, "call_tree", "--top", "5")
    device = [row["device_self_ns"] or 0 for row in tree]
    assert sum(device[:-1]) == device[-1] == totals.pop()[0]
    assert totals == set()
    assert sum(row["self_ns"] for row in tree[:-1]) == tree[-1]["self_ns"]

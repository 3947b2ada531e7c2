# SPDX-License-Identifier: Apache-2.0
"""Kernels, annotations and counters of real traces, against what HTA and TraceLens publish about them."""
import collections
import csv
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

MODELS = ["h100_Falconsai", "h100_gaunernst", "h100_timesformer", "mi300_Falconsai", "mi300_gaunernst"]


def table(varve, path, name, *arguments):
    return table_reader.tables(varve, "report", "--no-cache", "--table", name, *arguments, path)[name]


def expected(traces, model, name):
    with open(traces / "tracelens" / f"{model}_expected" / f"{name}.csv", encoding="utf-8", newline="") as file:
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
        assert row["calls"] == sum(int(stream["Kernel duration (µs)_count"]) for stream in streams), key
        for column, figure, join in (("total_ns", "sum", sum), ("min_ns", "min", min), ("max_ns", "max", max)):
            value = join(float(stream[f"Kernel duration (µs)_{figure}"]) for stream in streams)
            assert row[column] / 1000 == pytest.approx(value, rel=1e-12), (key, column)
    # memcpy and memset are no kernels there
    assert {row['name'].split()[0] for row in ours.values()} <= {'Memcpy', 'Memset'}


@pytest.mark.parametrize("model", MODELS)
def test_operators_are_those_of_tracelens(varve, traces, model):
    """Its operators are those that launch; its times are doubles of microseconds since 1970, in steps of 0.25."""
    rows = table(varve, traces / "tracelens" / f"{model}.json.gz", "operators")
    ours = {row["name"]: row for row in rows if row["row"] == "operator"}
    theirs = expected(traces, model, "ops_summary")
    assert len(theirs) > 5
    for row in theirs:
        mine, count = ours[row["name"]], int(row["Count"])
        assert mine["device_self_ns"] / 1000 == pytest.approx(float(row["total_direct_kernel_time_sum"]), abs=0.25 * count)
        assert mine["device_total_ns"] / 1000 == pytest.approx(float(row["total_subtree_kernel_time_sum"]), abs=0.25 * count)
        assert mine["calls"] >= count


def test_annotations_of_hta(varve, traces):
    path = traces / "hta" / "ns_resolution.json.gz"

    def annotations(*arguments):
        return {row["annotation"]: row["calls"] for row in table(varve, path, "annotations", *arguments)}
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


@pytest.mark.parametrize("name", ["hta/ns_resolution", "dlrm8/rank0", "tracelens/b200_eager", "ascend/trace_view",
                                  "hta/cpu_only_rank34", "tracelens/sglang_decode"])
def test_every_grouping_sums_to_all_work(varve, traces, name):
    path = traces / f"{name}.json.gz"
    totals = set()
    for arguments in (("kernels",), ("kernel_ops",), ("annotations",), ("kernels", "--by", "stream"),
                      ("kernels", "--by", "module", "--top", "3"), ("kernels", "--by", "phase")):
        rows = table(varve, path, *arguments)
        for column in ("total_ns", "calls"):
            assert sum(row[column] for row in rows if row["row"] != "total") == (rows[-1][column] if rows else 0)
        totals.add((rows[-1]["total_ns"], rows[-1]["calls"]) if rows else (0, 0))
    tree = table(varve, path, "call_tree", "--top", "5")
    device = [row["device_self_ns"] or 0 for row in tree]
    assert sum(device[:-1]) == device[-1] == totals.pop()[0]
    assert totals == set()
    assert sum(row["self_ns"] for row in tree[:-1]) == tree[-1]["self_ns"]

# SPDX-License-Identifier: Apache-2.0
"""HTA itself, run on every shared trace that it reads, beside our tables with --compat hta.

Three of its rules are not ours in any mode (doc/truth.md): work shorter than a microsecond may last
less than nothing to it, rows of the host that name a stream are device work, and work without a
call was called by the file's first event. Here the first two are taken out of its rows, and then
every figure is equal: so they explain the whole difference.
"""
import collections
import math
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import all_tables  # pylint: disable=wrong-import-position

NAMES = [f"dlrm8/rank{rank}" for rank in range(8)] + [f"hta/{name}" for name in (
    "backward_thread", "compare_base", "compare_test", "cpu_only_rank34", "cupti_counters",
    "event_sync", "event_sync_multi_stream", "mi250_minitoy", "mtia_inference", "ns_resolution",
    "rank_non_gpu", "sampled_rank0", "sampled_rank1", "simple_add",
    "triton_example")] + ["kineto/gpu_metrics_input",
                          "kineto/resnet50_workers0"] + [f"tracelens/{name}" for name in (
        "b200_eager", "h100_Falconsai", "h100_gaunernst", "h100_timesformer", "mi210_gpu_only",
        "mi300_Falconsai", "mi300_gaunernst", "sglang_decode", "torch_compile_triton")]
# to HTA: the kernels of the second have no stream
NO_DEVICE = {"hta/cpu_only_rank34", "hta/cupti_counters", "hta/rank_non_gpu"}
CLASSES = {"COMPUTATION": "computation_ns", "COMMUNICATION": "communication_ns",
           "MEMORY": "memcpy_ns"}


@pytest.fixture(scope="module", params=NAMES)
def both(request, build, traces, hta):
    """HTA's analysis of a trace and all our tables of it."""
    found = list((traces / request.param).parent.glob((traces / request.param).name + ".json*"))
    path = next(path for path in found if path.suffix in (".gz", ".json"))
    analysis = hta(trace_files={0: str(path)})
    frame = analysis.t.get_trace(0)
    categories = analysis.t.symbol_table.get_sym_table()
    frame.loc[[categories[number] == "cpu_op" for number in frame["cat"]], "stream"] = -1
    frame["dur"] = frame["dur"].clip(lower=0)
    return request.param, analysis, all_tables.read(build, "--compat", "hta", path)


def of_devices(tables, name):
    return [row for row in tables[name].rows if row["row"] == "device"]


def test_without_a_device_there_is_no_answer(both):
    name, analysis, tables = both
    if name in NO_DEVICE:
        assert not tables["devices"].rows and not tables["idle_streams"].rows and not tables[
            "queue"].rows
        with pytest.raises((IndexError, ValueError)):
            analysis.get_temporal_breakdown(visualize=False)


def test_temporal_breakdown_and_overlap(both):
    name, analysis, tables = both
    if name in NO_DEVICE:
        return
    theirs = analysis.get_temporal_breakdown(visualize=False).iloc[0]
    row, = of_devices(tables, "devices")
    assert ([row["idle_ns"], row["computation_ns"], row["busy_ns"] - row["computation_ns"],
             row["span_ns"]] ==
        [theirs[f"{word}_time(us)"] * 1000 for word in ("idle", "compute", "non_compute",
                                                        "kernel")])
    percent = analysis.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"]
    share = of_devices(tables, "overlap")[0]["overlap_share"] if tables["overlap"].rows else None
    assert math.isnan(percent) if share is None else round(100 * share, 2) == percent


def test_idle_time_by_stream(both):
    name, analysis, tables = both
    if name in NO_DEVICE:
        return
    theirs = collections.defaultdict(collections.Counter)
    for row in analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0].itertuples():
        theirs[row.stream][row.idle_category] = row.idle_time * 1000
    unlinked = of_devices(tables, "devices")[0]["unlinked"]
    for row in tables["idle_streams"].rows:
        if row["row"] != "stream":
            continue
        causes = theirs.pop(row["stream"], {})
        ours = {"host_wait": row["host_wait_ns"], "kernel_wait": row["kernel_wait_ns"],
                "other": row["other_wait_ns"]}
        assert sum(causes.values()) == row["idle_ns"]
        assert unlinked or {cause: ns for cause, ns in ours.items()
                            if ns} == {cause: ns for cause, ns in causes.items() if ns}
    assert not theirs


def test_kernels_and_their_kinds(both):
    name, analysis, tables = both
    if name in NO_DEVICE:
        return
    kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=10**6,
                                                       duration_ratio=1.0)
    row, = of_devices(tables, "devices")
    # of no kind to this one
    waits = [kernel["name"] for kernel in tables["kernels"].rows if "Sync" in kernel["name"]]
    for kind, column in CLASSES.items():
        sum_us = sum(other.sum for other in kinds.itertuples() if kind in other.kernel_type)
        assert sum_us * 1000 == row[column] or (kind == "MEMORY" and waits)
    theirs = {kernel["name"]: [1000 * kernel[f"{word} (us)"] for word in ("sum", "max", "min")]
              for _, kernel in kernels.iterrows()}
    ours = {kernel["name"]: [kernel["total_ns"], kernel["max_ns"], kernel["min_ns"]]
            for kernel in tables["kernels"].rows
            if kernel["row"] == "group" and kernel["name"] not in waits}
    assert ours == theirs
    copies = {copy["name"]: [copy["total_ns"], copy["longest_ns"]]
              for copy in tables["copies"].rows if copy["row"] == "copy"}
    assert copies == {name: figures[:2] for name, figures in theirs.items()
                      if name.startswith(("Memcpy", "Memset", "dma"))}


def test_queue_lengths(both):
    _, analysis, tables = both
    summary = analysis.get_queue_length_summary(ranks=[0])
    theirs = {} if summary is None else {int(index[1]): [row.iloc[0], row.iloc[3], row.iloc[7]]
                                         for index, row in summary.iterrows()}
    assert {row["stream"]: [row["points"], 0, row["max_length"]]
            for row in tables["queue"].rows} == theirs


def test_launch_statistics(both):
    _, analysis, tables = both
    theirs = analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]
    rows = [row for row in tables["launches"].rows if row["row"] == "call"]
    ours = [sum(row[column] for row in rows) for column in ("works", "call_ns", "work_ns")]
    ours.append(sum(row["delay_ns"] + row["queueing_ns"] for row in rows))
    assert ours == [len(theirs)] + [1000 * theirs[column].sum()
                                    for column in ("cpu_duration", "gpu_duration", "launch_delay")]

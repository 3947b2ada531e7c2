# SPDX-License-Identifier: Apache-2.0
"""What findings promise, over all real traces: no more than a step takes, and no more than their
share of it."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import all_tables  # pylint: disable=wrong-import-position

# hta/memory_timeline is no trace, and xplane/bad_utf8_mangled is one that is refused
FILES = ["ascend/trace_view.json.gz", "chrome/catapult_demo.json", "nsys/saxpy_mpi_cuda.sqlite"] + [
    f"hta/{name}" for name in (
        "backward_thread.json", "compare_base.json.gz", "compare_test.json.gz",
        "cpu_only_rank34.json.gz", "cupti_counters.json.gz", "event_sync.json.gz",
        "event_sync_multi_stream.json.gz", "mi250_minitoy.json.gz", "mtia_inference.json.gz",
        "ns_resolution.json.gz", "rank_non_gpu.json.gz", "simple_add.json.gz",
        "triton_example.json.gz", "sampled_rank?.json.gz")] + [
    "kineto/gpu_metrics_input.json", "kineto/resnet50_workers0.json.gz",
    "mlirgraph/profiler_ops.pb", "dlrm8/rank0.json.gz", "dlrm8/rank?.json.gz",
    "onnxruntime/ort_parallel.json.gz", "onnxruntime/ort_sequential.json.gz",
    "xplane/jax_mi300_conv.xplane.pb", "xplane/jax_tpu_inference.xplane.pb"] + [
    f"tracelens/{name}.json.gz" for name in (
        "b200_eager", "h100_Falconsai", "h100_gaunernst", "h100_timesformer", "mi210_gpu_only",
        "mi300_Falconsai", "mi300_gaunernst", "rocprofv3_results", "sglang_decode",
        "torch_compile_triton")]
# rules whose share is of something else than steps
OF_OTHER = {"one_kernel", "float64", "full_precision", "full_precision_volta",
            "layout_conversions", "elementwise", "copies_among_kernels", "memory_sets",
            "exposed_communication", "exposed_copies", "slow_step", "small_collectives"}


@pytest.mark.parametrize("name", FILES)
def test_no_promise_is_larger_than_the_step_or_the_share(build, traces, name):
    tables = all_tables.read(build, *sorted(traces.glob(name)))
    step = tables["step"].rows[0]
    # steps last until their device is done, too
    whole_ns = max([step["total_ns"]] + [row["duration_ns"] for row in tables["step_split"].rows
                                         if row["row"] == "total"])
    for row in tables["advice"].rows:
        if row["saves_ns"] is None:
            continue
        assert 0 < row["saves_ns"] <= step["total_ns"] / step["steps"], row["rule"]
        if row["rule"] == "late_rank":
            assert row["saves_ns"] <= row["share"] * step["max_ns"] + 1
        elif row["rule"] not in OF_OTHER:
            assert row["saves_ns"] <= row["share"] * whole_ns / step["steps"] + 1, row

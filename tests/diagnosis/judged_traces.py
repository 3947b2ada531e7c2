# SPDX-License-Identifier: Apache-2.0
"""judged_traces.py: the real traces of others, and which rule must be first on each, with the
reason; None: no rule may speak. A person read each trace."""
import dataclasses
import json
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable-next=wrong-import-position
import table_reader  # noqa: E402


def advice(varve, *arguments):
    """All findings, the first one first."""
    return table_reader.tables(varve, "report", "--no-cache", "--table", "advice", "--top", "0",
                               *arguments)["advice"]


def rows_of(document, name):
    table = document["tables"][name]
    columns = [column["name"] for column in table["columns"]]
    return [dict(zip(columns, row)) for row in table["rows"]]


def assert_command_tells(varve, row, names):
    """What the finding names to look at, as printed: there is something, and what the finding is
    about is in it. `names`: of the trace's operators."""
    words = shlex.split(row["see"])
    assert words[0] == "varve"
    done = subprocess.run([varve, *words[1:], "--json"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, (row["see"], done.stderr)
    document = json.loads(done.stdout)
    document["tables"].pop("advice", None)
    rows = [line for name in document["tables"] for line in rows_of(document, name)]
    assert rows, row["see"]
    if "--by" in words:
        by = {"shape": "shapes"}.get(words[words.index("--by") + 1], words[words.index("--by") + 1])
        assert any(line[by] for line in rows_of(document, "operators")), row["see"]
    step = re.match(r"Step (\d+)", row["finding"])
    assert step is None or any(line.get("step") == int(step[1]) for line in rows), row["see"]
    named = [name for name in names if name in row["finding"]]
    texts = {text for line in rows for text in line.values() if isinstance(text, str)}
    assert texts.issuperset(named) or "source" in words, (row["see"], named)


@dataclasses.dataclass(frozen=True)
class Judged:
    files: str             # of ../shared/traces, may have ?
    rule: str | None       # of the first finding
    place: str             # in the finding or its evidence
    why: str               # why that rule must be first
    also: tuple = ()       # rules that must speak, too
    not_these: tuple = ()  # rules that must not


JUDGED = (
    Judged("kineto/resnet50_workers0.json.gz", "data_wait", "_SingleProcessDataLoaderIter",
           "a loader without workers takes a third of each step (torch-tb-profiler: 33.4 %)",
           ("device_waits",), ("workers_too_slow", "slow_step", "drained_queue")),
    Judged("dlrm8/rank?.json.gz", "late_rank", "for rank 7",
           "eight ranks meet in eight collectives, and rank 7 comes last (HTA's stragglers: 2, 7)",
           ("exposed_communication",), ("float64", "full_precision")),
    Judged("dlrm8/rank0.json.gz", "exposed_communication", "SendRecv",
           "of one rank alone nobody knows why it waits: 5.6 of 13 ms communicate alone (HTA)",
           (), ("late_rank",)),
    Judged("hta/ns_resolution.json.gz", "full_precision_volta", "sgemm",
           "the GPU works 98 % of the step, half of it in products in float32",
           (), ("device_idle", "device_waits", "data_wait", "drained_queue")),
    Judged("hta/cpu_only_rank34.json.gz", "exposed_collectives", "all_reduce",
           "gloo's all-reduces take 82 % of the steps while nothing else runs",
           ("slow_step",), ("device_idle", "data_wait")),
    Judged("hta/sampled_rank?.json.gz", "outside_operators", "nothing ran",
           "most of the steps is not recorded on the host, and the GPUs are idle for half of them",
           ("exposed_communication",), ("data_wait",)),
    Judged("tracelens/h100_timesformer.json.gz", "python_itself", "normalize",
           "images are normalized in Python for 59 % of the step, before the GPU begins",
           (), ("drained_queue", "data_wait")),
    Judged("tracelens/h100_gaunernst.json.gz", "python_itself", "_call_impl",
           "a small BERT in eager mode: Python takes half of the step, the GPU 7 %",
           ("device_waits", "tiny_kernels"), ("full_precision",)),
    Judged("tracelens/mi300_gaunernst.json.gz", "python_itself", "_call_impl",
           "the same on another vendor's GPU", ("device_waits", "tiny_kernels"),
           ("full_precision",)),
    Judged("tracelens/h100_Falconsai.json.gz", "device_waits", "No kernel computes in 84.5 %",
           "a small ViT in eager mode: the host launches, and no single cause holds most of it",
           ("tiny_kernels",), ("data_wait",)),
    Judged("tracelens/rocprofv3_results.json.gz", "exposed_communication", "nccl",
           "RCCL's kernels run 4.2 of 15 s, and computation 0.3 s", ("device_idle",),
           ("late_rank",)),
    Judged("xplane/jax_tpu_inference.xplane.pb", "exposed_copies", "async-copy: 600 copies.",
           "waits for asynchronous copies are 304 of 315 s of the four cores (xprof's op_profile)",
           (), ("exposed_communication",)),
    Judged("nsys/saxpy_mpi_cuda.sqlite", "exposed_copies", "HtoD",
           "saxpy copies 2.6 GB and computes 89 ms", ("device_idle",), ("full_precision",)),
    Judged("ascend/trace_view.json.gz", "tiny_kernels", "aclopCompileAndExecute",
           "276 pieces of work of 6 µs, each compiled and launched by a call; its own rows say "
           "Free 84 %", ("device_waits",), ("one_kernel",)),
    Judged("hta/mi250_minitoy.json.gz", "tiny_kernels", "hipLaunchKernel",
           "12 launches take 6.6 of 9.3 ms, of which the first loads the code",
           ("warm_up_counted",)),
    Judged("tracelens/torch_compile_triton.json.gz", None, "",
           "compiled, busy all the time, in half precision", (), ()),
    Judged("tracelens/mi210_gpu_only.json.gz", None, "",
           "a GPU that works 89 % of its span, in half precision and with its layout", (), ()),
    Judged("mlirgraph/profiler_ops.pb", None, "", "twenty operators on a host, once"),
    Judged("chrome/catapult_demo.json", None, "", "an example with four ranges"),
)

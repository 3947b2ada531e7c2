# SPDX-License-Identifier: Apache-2.0
"""Table unseen: of each thing that may not have been recorded, a trace that lacks it, and one that
has it or does not want it."""
import json
import pathlib
import struct
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position

NOTE, OFF, ATTACHED, REFUSED = "note", "off", "attached", "refused"
PYTHON_OFF = ("python", OFF, "3.11.7: calls not traced: --collect +python")
TORCH = ("torch", ATTACHED, "2.15.0: names")


def fact(key, value):
    return (f"fact.{key}", NOTE, str(value))


def own_trace(path, notes, operators=(("conv", "OP", 100, 200),), **manifest):
    """A trace of varve record: notes (name, state, text), operators (name, layer, begin, end)."""
    written = trace_writer.Trace(path, trace_writer.manifest(**manifest))
    process = written.process(pid=100)
    thread = process.thread(tid=100)
    for note in notes:
        process.collector(*note)
    for name, layer, begin, end in operators:
        thread.begin(process.site("begin", name, layer=layer), begin)
        thread.end(end)
    return written.write()


def kineto_trace(path, events):
    path.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "cat": "cpu_op", "name": "aten::mm",
         "args": {"External id": 1}}, *events]}))
    return path


def call(name="cudaLaunchKernel", correlation=7):
    return {"ph": "X", "pid": 1, "tid": 1, "ts": 11, "dur": 1, "cat": "cuda_runtime", "name": name,
            "args": {"correlation": correlation}}


def kernel(correlation=7):
    return {"ph": "X", "pid": 0, "tid": 7, "ts": 13, "dur": 4, "cat": "kernel", "name": "gemm",
            "args": {"correlation": correlation, "device": 0, "stream": 7}}


def unseen(varve, trace):
    return {row["what"]: row for row in table_reader.tables(varve, "report", "--table", "unseen",
                                                            trace)["unseen"]}


OWN = [  # what, notes that make it so, notes (and operators) that do not, what records it
    ("gpu", [fact("loaded", "cuda,openmp")], [fact("loaded", "openmp")], " "),
    ("gpu", [fact("loaded", "rocm")], [], "varve record --collect +rocm -- ./train"),
    ("gpu", [fact("loaded", "rocm"), ("rocm", REFUSED, "no rocprofiler-sdk")],
     [fact("loaded", "rocm"), ("rocm", ATTACHED, "1.0.0")], "rocprofv3"),
    ("gpu", [fact("loaded", "cuda"), ("cuda", REFUSED, "another profiler has it")],
     [fact("loaded", "cuda"), ("cuda", ATTACHED, "13.0")], "nsys profile"),
    ("gpu", [fact("loaded", "ascend")], [], "msprof"),
    ("communication", [fact("loaded", "mpi")], [], "varve_collective"),
    ("communication", [fact("loaded", "nccl"), fact("world_size", 2)],
     [fact("loaded", "nccl"), fact("world_size", 1)], "torch.profiler on every rank"),
    ("framework", [("torch", REFUSED, "1.12.0: older than 1.13")], [TORCH],
     "PyTorch from 1.13 on"),
    ("openmp", [fact("loaded", "openmp"), fact("cpu_ns", 4 * 10**9),
                fact("recorded_cpu_ns", 10**9)],
     [fact("loaded", "openmp"), fact("cpu_ns", 4 * 10**9), fact("recorded_cpu_ns", 4 * 10**9)],
     "perf script"),
    ("threads", [fact("cpu_ns", 4 * 10**9), fact("recorded_cpu_ns", 3 * 10**9)],
     [fact("cpu_ns", 4 * 10**9), fact("recorded_cpu_ns", 39 * 10**8)], "varve/varve.h"),
    ("memory", [TORCH, ("memory", OFF, "")], [], "--collect +memory -- ./train"),
    ("shapes", [TORCH], [], "--collect +shapes -- ./train"),
]


THREADS = next(row[1] for row in OWN if row[0] == "threads")


@pytest.mark.parametrize("what, lacking, complete, remedy", OWN,
                         ids=[f"{row[0]} {row[1][0][2]}" for row in OWN])
def test_what_the_recorder_noted_says_what_is_missing(varve, tmp_path, what, lacking, complete,
                                                      remedy):
    found = unseen(varve, own_trace(tmp_path / "lacks.varve", lacking))
    assert remedy in found[what]["record"], found
    assert what not in unseen(varve, own_trace(tmp_path / "has.varve", complete))


def test_a_thread_without_records_has_its_share_of_the_time(varve, tmp_path):
    row = unseen(varve, own_trace(tmp_path / "t.varve", THREADS))["threads"]
    assert (row["time_ns"], row["share"], row["matters"]) == (10**9, 0.25, 1)
    assert row["finding"] == "threads without records took 1.00 s of CPU time, 25 % of all"


def test_amounts_that_no_process_has_do_not_overflow(varve, tmp_path):
    notes = [fact("cpu_ns", 2**63 - 1), fact("recorded_cpu_ns", -2**63 + 1)]
    row = unseen(varve, own_trace(tmp_path / "t.varve", notes, cpu_ns=2**62))["threads"]
    assert (row["time_ns"], row["share"]) == (2**63 - 1, 1)


def test_a_pool_of_a_library_is_told_and_does_not_matter(varve, tmp_path):
    row = unseen(varve, own_trace(tmp_path / "t.varve",
                                  [*THREADS, fact("loaded", "blas")]))["threads"]
    assert row["matters"] == 0 and "pool" in row["finding"]


def test_processes_without_records_by_the_cpu_time_of_all(varve, tmp_path):
    notes = [fact("cpu_ns", 10**9), fact("recorded_cpu_ns", 10**9)]
    row = unseen(varve, own_trace(tmp_path / "lacks.varve", notes, cpu_ns=4 * 10**9))["processes"]
    assert (row["time_ns"], row["share"]) == (3 * 10**9, 0.75)
    assert "processes" not in unseen(varve, own_trace(tmp_path / "has.varve", notes,
                                                      cpu_ns=102 * 10**7))


def test_a_process_with_records_that_did_not_say_its_cpu_time_may_have_taken_it(varve, tmp_path):
    """As the workers of a data loader, which end by _exit."""
    written = trace_writer.Trace(tmp_path / "w.varve", trace_writer.manifest(cpu_ns=4 * 10**9))
    for pid in (100, 200):
        process = written.process(pid=pid)
        thread = process.thread(tid=pid)
        thread.begin(process.site("begin", "aten::ones"), at=100)
        thread.end(at=200)
    written.processes[0].collector("fact.cpu_ns", "note", str(10**9))
    assert "processes" not in unseen(varve, written.write())
    written.processes[1].collector("fact.cpu_ns", "note", str(10**9))
    row = unseen(varve, written.write())["processes"]
    assert (row["time_ns"], row["share"]) == (2 * 10**9, 0.5)


def test_a_program_that_recorded_nothing(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "t.varve", trace_writer.manifest(
        cpu_ns=2 * 10**9, command=["/usr/bin/python3", "np.py"])).write()
    assert unseen(varve, trace)["processes"]["record"] == (
        "varve record --collect +python -- /usr/bin/python3 np.py")


def test_python_by_the_time_between_operators(varve, tmp_path):
    far = [("conv", "OP", 100, 200), ("conv", "OP", 900, 1000)]
    near = [("conv", "OP", 100, 500), ("conv", "OP", 510, 1000)]
    row = unseen(varve, own_trace(tmp_path / "far.varve", [PYTHON_OFF], far))["python"]
    assert (row["time_ns"], row["matters"]) == (700, 1) and abs(row["share"] - 7 / 9) < 1e-9
    assert unseen(varve, own_trace(tmp_path / "near.varve", [PYTHON_OFF],
                                   near))["python"]["matters"] == 0
    assert "python" not in unseen(varve, own_trace(tmp_path / "c.varve", [], far))
    frames = [*far, ("train.py(1): step", "PYTHON", 1100, 1200)]
    assert "python" not in unseen(varve, own_trace(tmp_path / "with.varve", [PYTHON_OFF], frames))


def test_python_in_steps_has_the_number_of_the_operators(varve, tmp_path):
    """The first step, which imports, is warm-up. What is before the steps does not count."""
    written = trace_writer.Trace(tmp_path / "t.varve", trace_writer.manifest())
    process = written.process(pid=100)
    process.collector(*PYTHON_OFF)
    thread, site = process.thread(tid=100), process.site("begin", "conv")
    phase = process.site("begin", "forward", layer="STEP")
    thread.begin(site, 0)
    thread.end(10)
    for step in range(8):
        begin, end = 10000 * step + 5000, 10000 * step + (9000 if step == 0 else 5100)
        thread.step_begin(step, begin)
        thread.begin(phase, begin + 10)
        thread.begin(site, begin + 20)
        thread.end(begin + 80)
        thread.end(begin + 90)
        thread.step_end(end)
    path = written.write()
    row = unseen(varve, path)["python"]
    outside = next(row for row in table_reader.tables(varve, "report", path)["operators"]
                   if row["name"] == "(outside operators)")
    assert row["time_ns"] == outside["step_self_ns"] == 7 * 40
    assert row["finding"] == ("Python's own calls were not recorded, and 40.0 % of the steps, "
                              "280 ns, passes between operators")


def test_device_work_that_is_there_is_not_missed(varve, tmp_path):
    written = trace_writer.Trace(tmp_path / "t.varve", trace_writer.manifest())
    process = written.process(pid=100)
    process.collector(*fact("loaded", "cuda"))
    process.device_clock(16, "device")
    process.clock_pair(16, 0, 0)
    process.track(1, "stream 7", 16, (1, 0, 7))
    thread = process.thread(tid=100)
    thread.begin(process.site("begin", "conv"), 100)
    thread.end(200)
    thread.record(20, 210, struct.pack("<IIQqqQQ", 1, process.string("gemm"), 1, 120, 190, 0, 0))
    assert "gpu" not in unseen(varve, written.write())


def test_communication_that_is_there_is_not_missed(varve, tmp_path):
    trace = own_trace(tmp_path / "t.varve", [fact("loaded", "mpi")],
                      [("MPI_Allreduce", "COMM", 100, 200)])
    assert "communication" not in unseen(varve, trace)


@pytest.mark.parametrize("what, lacking, complete, remedy", [
    ("gpu", [call()], [call(), kernel()], "ProfilerActivity.CUDA"),
    ("launches", [kernel()], [call(), kernel()], "ProfilerActivity.CPU"),
    ("memory", [], [{"ph": "i", "pid": 1, "tid": 1, "ts": 12, "s": "t", "cat": "cpu_instant_event",
                     "name": "[memory]", "args": {"Bytes": 64, "Addr": 16, "Device Type": 0,
                                                  "Device Id": -1, "Total Allocated": 64}}],
     "profile_memory=True"),
    ("shapes", [], [{"ph": "X", "pid": 1, "tid": 1, "ts": 20, "dur": 5, "cat": "cpu_op",
                     "name": "aten::add", "args": {"Input Dims": [[2, 3]],
                                                   "Input type": ["float"]}}],
     "record_shapes=True"),
    ("stacks", [], [{"ph": "X", "pid": 1, "tid": 1, "ts": 9, "dur": 8, "cat": "python_function",
                     "name": "train.py(3): step", "args": {"Python id": 1}}], "with_stack=True"),
])
def test_what_a_trace_of_torch_profiler_lacks(varve, tmp_path, what, lacking, complete, remedy):
    found = unseen(varve, kineto_trace(tmp_path / "lacks.json", lacking))
    assert remedy in found[what]["record"], found
    assert what not in unseen(varve, kineto_trace(tmp_path / "has.json", complete))


def test_a_python_call_of_that_name_launches_nothing(varve, tmp_path):
    frame = {"ph": "X", "pid": 1, "tid": 1, "ts": 9, "dur": 8, "cat": "python_function",
             "name": "torch/_inductor/runtime/triton_heuristics.py(9): CannotLaunchKernel",
             "args": {"Python id": 1}}
    assert "gpu" not in unseen(varve, kineto_trace(tmp_path / "frame.json", [frame]))
    found = unseen(varve, kineto_trace(tmp_path / "call.json", [call(), frame]))["gpu"]
    assert found["finding"].startswith("1 call launches work (cudaLaunchKernel)"), found


def test_a_trace_that_was_cut_says_so(varve, tmp_path):
    path = kineto_trace(tmp_path / "cut.json", [call(), kernel()])
    assert "end" not in unseen(varve, path)
    path.write_text(path.read_text()[:-20])
    assert unseen(varve, path)["end"]["matters"] == 1


def test_what_matters_is_on_the_first_screen_and_runs_as_printed(varve, tmp_path):
    trace = own_trace(tmp_path / "t.varve", [fact("loaded", "cuda"), TORCH])
    text = subprocess.run([varve, "report", trace], capture_output=True, text=True,
                          check=True).stdout
    line = next(line for line in text.splitlines() if line.startswith("  unseen "))
    assert "CUDA is loaded in 1 process, and no work of a device was recorded" in line
    assert "shapes" not in line  # told by the table alone
    assert "  unseen " not in subprocess.run(
        [varve, "report", own_trace(tmp_path / "u.varve", [])], capture_output=True, text=True,
        check=True).stdout

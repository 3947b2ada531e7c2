# SPDX-License-Identifier: Apache-2.0
"""The collector `rocm`, with stand-ins for AMD's HIP and rocprofiler-sdk (tests/drivers): what they
say that a GPU did is in the trace, under the operator that started it, and what is missing is
counted. No GPU takes part."""
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

from cuda_recording import collector, kernels, work_by_operator, work_of  # noqa: E402
from recording import binary  # noqa: E402
from rocm_recording import record, run  # noqa: E402
from table_reader import tables  # noqa: E402

# rocprofiler-sdk's numbers: ROCm 6.2, 6.3, 6.4, 7.0, and a later one of the same kind.
VERSIONS = {400: "0.4.0", 500: "0.5.0", 600: "0.6.0", 10000: "1.0.0", 10204: "1.2.4"}
GEMM, RELU, IN = "_Z4gemmPfS_S_i", "relu", "Memcpy HtoD (Host -> Device)"
STEPS = {GEMM: 2, RELU: 2, IN: 2}


def losses(varve, trace):
    rows = tables(varve, "info", "--table", "health", trace)["health"]
    return {row["finding"]: row["count"] for row in rows}


def launcher_of(trace, kernel):
    """Names of the ranges that say the number of this work."""
    rows, names = work_of(trace), {False: {}, True: {}}
    for row in rows["slices"]:
        if row["activity"] is not None:
            number = rows["activities"][row["activity"]]["correlation"]
            names[rows["tracks"][row["track"]]["kind"] == 2].setdefault(number, set()).add(
                row["name"])
    return {name for number, work in names[True].items() if kernel in work
            for name in names[False].get(number, ())}


# ---- what is recorded ----


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_gives_the_same(varve, tmp_path, version):
    trace, said = record(varve, tmp_path, "plain", STANDIN_VERSION=str(version))
    assert kernels(varve, trace) == {GEMM: 10, RELU: 10, IN: 10}
    assert f"rocm attached (rocprofiler-sdk {VERSIONS[version]})" in said
    under = work_by_operator(trace)
    assert {name: len(work) for name, work in under.items()} == {"copy_in": 10, "forward": 20}
    assert not {"lost", "unlinked", "workless", "unplaced"} & set(losses(varve, trace))


def test_a_launch_says_its_shape_and_no_kernel_begins_before_it(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "plain")
    rows = tables(varve, "report", "--table", "kernels", "--top", "0", trace)["kernels"]
    said = {row["name"]: row for row in rows if row["row"] == "group"}[RELU]
    assert (said["grid"], said["block"], said["registers"], said["shared_bytes"]) == (
        "8×4", "128", 40, 2048)
    rows, begins = work_of(trace), {}
    for row in rows["slices"]:
        if row["activity"] is not None:
            is_device = rows["tracks"][row["track"]]["kind"] == 2
            number = rows["activities"][row["activity"]]["correlation"]
            begins.setdefault(number, {})[is_device] = row["begin_ns"]
    clocks = tables(varve, "info", "--table", "clocks", trace)["clocks"]
    uncertainty = max(row["uncertainty_ns"] for row in clocks)
    pairs = [both for both in begins.values() if len(both) == 2]
    assert len(pairs) == 30
    assert all(both[True] >= both[False] - uncertainty for both in pairs)
    assert "rocprofiler-sdk" in {row["clock"] for row in clocks}


def test_kinds_of_work(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "kinds")
    assert kernels(varve, trace) == {RELU: 1, "graph_kernel": 3, "alone": 1,
                                     "Memcpy DtoH (Device -> Host)": 1,
                                     "Memcpy PtoP (Device -> Device)": 1}
    copies = tables(varve, "report", "--table", "copies", trace)["copies"]
    assert {row["name"]: row["bytes"] for row in copies if row["row"] == "copy"} == {
        "Memcpy DtoH (Device -> Host)": 8192, "Memcpy PtoP (Device -> Device)": 256}
    values = tables(varve, "info", "--table", "counter_values", trace)["counter_values"]
    assert [row["value"] for row in values if row["name"] == "device memory (bytes)"] == [
        1 << 20, 3 << 20, 2 << 20]
    under = work_by_operator(trace)["forward"]
    assert {"graph_kernel", "Scratch memory taken"} <= set(under)
    assert under.count("graph_kernel") == 3
    assert launcher_of(trace, "alone") == {"forward"}  # by HSA, in no call of HIP
    assert launcher_of(trace, "graph_kernel") == {"hipGraphLaunch"}
    devices = tables(varve, "report", "--table", "devices", trace)["devices"]
    assert {row["device"] for row in devices} == {"cuda:0", "cuda:1", "total"}


def test_the_sum_of_memory_is_the_programs_own(varve, tmp_path):
    done = run(tmp_path, "memory", varve, "record", "-o", "t.varve", "--")
    values = tables(varve, "info", "--table", "counter_values", tmp_path / "t.varve")[
        "counter_values"]
    said = [row["value"] for row in values if row["name"] == "device memory (bytes)"]
    assert (len(said), said[-1]) == (12000, int(done.stdout))


def test_memory_is_not_told_of_before_6_4(varve, tmp_path):
    trace, said = record(varve, tmp_path, "kinds", STANDIN_VERSION="500")
    values = tables(varve, "info", "--table", "counter_values", trace)["counter_values"]
    assert not [row for row in values if row["name"] == "device memory (bytes)"]
    assert "rocm attached (rocprofiler-sdk 0.5.0)" in said
    assert "Scratch memory taken" in work_by_operator(trace)["forward"]


@pytest.mark.parametrize("version,tracks", [
    (600, {"queue 1", "queue 2", "copies"}), (10000, {"stream 1", "stream 2"})])
def test_work_lies_on_its_stream_or_queue(varve, tmp_path, version, tracks):
    trace, _ = record(varve, tmp_path, "plain", STANDIN_VERSION=str(version))
    assert {row["name"] for row in work_of(trace)["tracks"] if row["kind"] == 2} == tracks


def test_every_call_where_asked(varve, tmp_path):
    every, _ = record(varve, tmp_path, "kinds", "--collect", "+rocm_calls")
    assert {"hipGetDevice", "hipMemcpy"} <= {row["name"] for row in work_of(every)["slices"]}
    some, _ = record(varve, tmp_path, "kinds")
    names = {row["name"] for row in work_of(some)["slices"]}
    assert "hipMemcpy" in names
    assert not {"hipGetDevice", "hipMemcpyAsync"} & names  # the latter is within the former


def test_threads(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "threads")
    assert kernels(varve, trace) == {RELU: 32 * 200}
    assert {name: len(work) for name, work in work_by_operator(trace).items()} == {
        "forward": 32 * 200}
    assert not {"lost", "unlinked", "workless", "unplaced"} & set(losses(varve, trace))


@pytest.mark.parametrize("variables,first", [
    ({}, "cuda:0"), ({"HIP_VISIBLE_DEVICES": "1,0"}, "cuda:1"),
    ({"ROCR_VISIBLE_DEVICES": "GPU-abc2,0"}, "cuda:1"), ({"CUDA_VISIBLE_DEVICES": "1"}, "cuda:1"),
    ({"HIP_VISIBLE_DEVICES": "5,1"}, "cuda:0")])
def test_devices_are_numbered_as_hip_numbers_them(varve, tmp_path, variables, first):
    trace, said = record(varve, tmp_path, "plain", **variables)
    devices = tables(varve, "report", "--table", "devices", trace)["devices"]
    assert {row["device"] for row in devices} == {first}
    assert (f"rocm device {first[-1]}: AMD Instinct MI300X, gfx942, 304 compute units at 2100 MHz, "
            "192000 MB") in said


def test_its_peaks_are_those_of_the_data_sheet(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "product")
    done = subprocess.run([varve, "report", "--table", "roofline", trace], capture_output=True,
                          text=True, check=True)
    assert ("peaks by data sheet of 1 of 1 device: 1.31 PFLOP/s of 16 bits, 5.30 TB/s"
            in " ".join(done.stdout.split()))


# ---- what ends, pauses, and is not asked for ----


def test_a_forked_child(varve, tmp_path):
    trace, said = record(varve, tmp_path, "fork")
    assert kernels(varve, trace) == STEPS
    assert "a forked child cannot use its parent's ROCm" in said


def test_a_child_forked_while_another_thread_begins_waits_for_nobody(varve, tmp_path):
    done = run(tmp_path, "fork_early", wrong="slow")
    assert (done.returncode, done.stdout) == (0, "child 0\n"), done.stderr
    assert kernels(varve, tmp_path / "own.varve") == {GEMM: 1, RELU: 1, IN: 1}


def test_while_nothing_is_recorded(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "pause")
    assert kernels(varve, trace) == STEPS


def test_a_program_that_ends_quickly_hands_over_its_work(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "quick")
    assert kernels(varve, trace) == {GEMM: 1, RELU: 1, IN: 1}


def test_work_inside_the_library_when_the_program_is_killed_is_counted(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "kill")
    assert losses(varve, trace)["workless"] == 3


def test_a_program_asks_for_the_source_and_does_not_ask(varve, tmp_path):
    done = run(tmp_path, "own")
    assert (done.returncode, done.stdout) == (0, "own\n"), done.stderr
    assert kernels(varve, tmp_path / "own.varve") == STEPS


@pytest.mark.parametrize("others", [{}, {"ROCP_TOOL_LIBRARIES": "/none/libtool.so"}])
def test_a_program_that_asks_too_late_is_told(varve, tmp_path, others):
    done = run(tmp_path, "late", **others)
    assert (done.returncode, done.stdout) == (0, "late\n"), done.stderr
    assert collector(varve, tmp_path / "own.varve", "rocm") == [
        ("not attached", "the program's ROCm had begun before: ask for rocm before HIP is used, or "
         "start the program with varve record")]
    assert not kernels(varve, tmp_path / "own.varve")


def test_a_program_that_does_not_use_hip_loads_nothing(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "idle")
    assert collector(varve, trace, "rocm") == []


@pytest.mark.parametrize("others", [
    {}, {"ROCP_TOOL_LIBRARIES": "/none/libtool.so"},
    {"LD_PRELOAD": str(binary("tests/drivers/rocprofiler/librocprofiler-sdk.so.1"))}])
def test_it_is_not_asked_for(varve, tmp_path, others):
    trace, said = record(varve, tmp_path, "plain", "--collect", "-rocm", **others)
    assert not kernels(varve, trace)
    assert "rocm attached" not in said


# ---- what is refused, and what is damaged ----


@pytest.mark.parametrize("options", [(), ("--collect", "-rocm")])
def test_a_rocm_without_the_library_runs_as_without_varve(varve, tmp_path, options):
    trace, said = record(varve, tmp_path, "plain", *options, has_sdk=False)
    assert not kernels(varve, trace)
    is_asked = options == ()
    assert ("install the package rocprofiler-sdk" in said) == is_asked


@pytest.mark.parametrize("version,text", [(300, "0.3.0"), (700, "0.7.0"), (20000, "2.0.0")])
def test_an_unknown_version_is_refused_in_a_sentence(varve, tmp_path, version, text):
    trace, said = record(varve, tmp_path, "plain", STANDIN_VERSION=str(version))
    assert not kernels(varve, trace)
    assert (f"rocprofiler-sdk {text}: its records are known of ROCm 6.2 to 6.4 (0.4 to 0.6) and 7 "
            "(1)") in said


def test_a_library_that_refuses(varve, tmp_path):
    _, said = record(varve, tmp_path, "plain", wrong="refuse")
    assert "rocprofiler-sdk records no kernels here: Generalized error (1)" in said


def test_another_tool_is_named(varve, tmp_path):
    trace, said = record(varve, tmp_path, "plain", ROCP_TOOL_LIBRARIES="/none/libtool.so")
    assert "rocm attached (rocprofiler-sdk 1.0.0, beside another tool)" in said
    assert kernels(varve, trace)[GEMM] == 10


@pytest.mark.parametrize("wrong,note,lost", [
    ("short", "30 records not readable", 30), ("zeros", "30 records not readable", 30),
    ("null", "30 records not readable", 30), ("drop", "60 records dropped by rocprofiler-sdk", 60),
    ("unknown", "30 records of unknown kinds left out", 0),
    ("category", "30 records of unknown kinds left out", 0)])
def test_damaged_records_are_counted(varve, tmp_path, wrong, note, lost):
    trace, _ = record(varve, tmp_path, "plain", wrong=wrong)
    state, text = collector(varve, trace, "rocm")[0]
    assert (state, note in text) == ("partly attached" if lost else "attached", True), text
    assert losses(varve, trace).get("lost", 0) == lost


def test_longer_records_are_read_as_far_as_they_are_known(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "plain", wrong="long")
    assert kernels(varve, trace) == {GEMM: 10, RELU: 10, IN: 10}


def test_the_path_in_a_variable_goes_first(varve, tmp_path):
    library = binary("tests/drivers/rocprofiler/librocprofiler-sdk.so.1")
    trace, _ = record(varve, tmp_path, "plain", has_sdk=False, VARVE_ROCPROFILER=str(library))
    assert kernels(varve, trace)[RELU] == 10
    _, said = record(varve, tmp_path, "plain", VARVE_ROCPROFILER="/none/lib.so")
    assert "install the package rocprofiler-sdk" in said


def test_memory_stays_flat_over_many_launches(varve, tmp_path):
    done = run(tmp_path, "many", varve, "record", "-q", "--keep", "4MB", "-o",
               tmp_path / "t.varve", "--")
    early, late = (int(line.split()[1]) for line in done.stdout.splitlines())
    assert late - early < 4096, "kB between launch 10,000 and the last one, 100,000"
    assert not {"lost", "unplaced"} & set(losses(varve, tmp_path / "t.varve"))

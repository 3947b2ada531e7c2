# SPDX-License-Identifier: Apache-2.0
"""The collector `cuda`, with stand-ins for NVIDIA's driver and CUPTI (tests/drivers): what they say
that a GPU did is in the trace, under the operator that started it, and what is missing is counted.
No GPU takes part."""
import collections
import ctypes.util
import json
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

import varve_decode  # noqa: E402
from cuda_recording import collector, kernels, record, run, work_by_operator, work_of  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402

# CUPTI's numbers of its interface: CUDA 11.8, 12.1, 12.4, 12.6, 12.9, 13.0, 13.2, 13.5.
VERSIONS = {18: "11.8 or 12.0", 19: "12.1", 22: "12.4", 24: "12.6", 28: "12.9", 130000: "13.0",
            130200: "13.2", 130500: "13.5"}
MODES = ["plain", "kinds", "threads", "fork", "reset", "aside", "pause", "idle", "exec", "closes",
         "finalized", "ended", "wraps"]
GEMM, RELU, IN = "_Z4gemmPfS_S_i", "relu", "Memcpy HtoD (Pageable -> Device)"


# ---- what is recorded ----


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_gives_the_same(varve, tmp_path, version):
    trace, said = record(varve, tmp_path, "plain", STANDIN_VERSION=str(version),
                         STANDIN_DRIVER="13050")
    assert kernels(varve, trace) == {GEMM: 10, RELU: 10, IN: 10}
    assert f"cuda attached (CUPTI {VERSIONS[version]})" in said


def test_work_belongs_to_its_operator_by_number(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "plain")
    under = work_by_operator(trace)
    assert {name: len(work) for name, work in under.items()} == {"copy_in": 10, "forward": 20}
    assert set(under["copy_in"]) == {IN}
    totals = tables(varve, "report", "--table", "devices", trace)["devices"]
    assert [row["device"] for row in totals] == ["cuda:0"]
    assert totals[0]["events"] == 30


def test_no_kernel_begins_before_its_call(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "plain")
    rows = work_of(trace)
    begins = collections.defaultdict(dict)
    for row in rows["slices"]:
        if row["activity"] is not None:
            kind = rows["tracks"][row["track"]]["kind"] == 2
            number = rows["activities"][row["activity"]]["correlation"]
            begins[number][kind] = row["begin_ns"]
    pairs = [both for both in begins.values() if len(both) == 2]
    uncertainty = tables(varve, "info", "--table", "clocks", trace)["clocks"][0]["uncertainty_ns"]
    assert len(pairs) == 30
    assert all(both[True] >= both[False] - uncertainty for both in pairs)


def test_kinds_of_work(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "kinds")
    rows = tables(varve, "report", "--table", "kernels", "--top", "0", trace)["kernels"]
    said = {row["name"]: row for row in rows if row["row"] == "group"}
    assert {name: row["total_ns"] for name, row in said.items()} == pytest.approx({
        RELU: 2500, "add": 2500, "CUDA graph 3": 9000, "Memset (Device)": 300,
        "Memcpy PtoP (Device -> Device)": 800, "Memcpy DtoH (Device -> Pageable)": 700}, abs=1)
    assert (said["add"]["grid"], said["add"]["block"], said["add"]["registers"],
            said["add"]["shared_bytes"]) == ("8×4", "128", 40, 3072)
    copies = tables(varve, "report", "--table", "copies", trace)["copies"]
    assert {row["name"]: row["bytes"] for row in copies if row["row"] == "copy"} == {
        "Memset (Device)": 512, "Memcpy PtoP (Device -> Device)": 256,
        "Memcpy DtoH (Device -> Pageable)": 8192}
    counters = tables(varve, "info", "--table", "counter_values", trace)["counter_values"]
    assert [row["value"] for row in counters if row["name"] == "device memory (bytes)"] == [
        1 << 20, 3 << 20, 2 << 20]


def test_a_wait_says_what_it_waits_for(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "kinds")
    rows = work_of(trace)
    waits = [row for row in rows["waits"] if row["stream"] == 7]
    assert len(waits) == 1
    calls = {rows["activities"][row["activity"]]["correlation"]: row["name"]
             for row in rows["slices"] if row["activity"] is not None}
    assert [calls[row["correlation"]] for row in waits] == ["cuEventRecord"]
    assert {"Stream Wait Event", "Stream Sync"} <= {row["name"] for row in rows["slices"]}


def test_nodes_of_graphs_and_every_call_where_asked(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "kinds", "--collect", "+cuda_nodes,+cuda_calls")
    assert kernels(varve, trace)["graph_kernel"] == 4
    assert "CUDA graph 3" not in kernels(varve, trace)
    names = {row["name"] for row in work_of(trace)["slices"]}
    assert "cuCtxGetDevice" in names
    plain, _ = record(varve, tmp_path, "kinds")
    assert "cuCtxGetDevice" not in {row["name"] for row in work_of(plain)["slices"]}


def test_threads(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "threads")
    assert kernels(varve, trace) == {RELU: 64 * 200}
    assert {name: len(work) for name, work in work_by_operator(trace).items()} == {
        "forward": 64 * 200}
    health = tables(varve, "info", "--table", "health", trace)["health"]
    assert not {"lost", "unlinked", "workless", "unplaced"} & {row["finding"] for row in health}


def test_a_forked_child_and_a_reset(varve, tmp_path):
    trace, said = record(varve, tmp_path, "fork")
    assert kernels(varve, trace) == {GEMM: 2, RELU: 2, IN: 2}
    assert "a forked child cannot use its parent's CUDA" in said
    trace, _ = record(varve, tmp_path, "reset")
    assert kernels(varve, trace) == {GEMM: 2, RELU: 2, IN: 2}
    contexts = {row["context"] for row in work_of(trace)["activities"] if row["kind"] == 1}
    assert contexts == {1, 2}


def test_more_streams_than_have_a_track_share_one(varve, tmp_path):
    trace, said = record(varve, tmp_path, "streams")
    assert kernels(varve, trace) == {RELU: 3000}
    assert "lost" not in said.replace("none lost", "")
    rows = work_of(trace)
    on = collections.Counter(rows["tracks"][row["track"]]["name"] for row in rows["slices"]
                             if row["activity"] is not None and
                             rows["tracks"][row["track"]]["kind"] == 2)
    assert (on["more streams"], len(on)) == (3000 - 1792, 1793)


def test_contexts_come_and_go(varve, tmp_path):
    """A wait says its context alone: whose device that is, its creation has said."""
    trace, _ = record(varve, tmp_path, "contexts")
    assert kernels(varve, trace) == {RELU: 1500}
    assert collector(varve, trace) == [("attached", "CUPTI 12.9")]
    waits = [row for row in work_of(trace)["slices"] if row["name"] == "Stream Sync"]
    assert len(waits) == 1500


def test_a_child_forked_while_another_thread_begins_waits_for_nobody(build, varve, tmp_path):
    done = run(tmp_path, "fork_early", cupti="slow",
               CUDA_INJECTION64_PATH=str(build / "libvarve.so.0"))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "child 0"), done
    assert kernels(varve, tmp_path / "own.varve") == {GEMM: 1, RELU: 1, IN: 1}


@pytest.mark.parametrize("before", range(2**32 - 16, 2**32, 3))
def test_while_nothing_is_recorded(varve, tmp_path, before):
    """Numbers of calls begin anew after 2^32."""
    trace, _ = record(varve, tmp_path, "pause", STANDIN_CORRELATION=str(before))
    assert kernels(varve, trace) == {GEMM: 2, RELU: 2, IN: 2}


def test_it_attaches_to_a_driver_that_is_initialised(varve, tmp_path):
    done = run(tmp_path, "own")
    assert (done.returncode, done.stdout) == (0, "own\n"), done.stdout
    assert kernels(varve, tmp_path / "own.varve") == {GEMM: 1, RELU: 1, IN: 1}


def test_the_export_has_the_words_of_pytorchs_traces(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "plain")
    subprocess.run([varve, "export", "-o", tmp_path / "t.json", trace], check=True,
                   capture_output=True)
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    categories = collections.Counter(event.get("cat") for event in events
                                     if event.get("ph") == "X")
    assert (categories["kernel"], categories["gpu_memcpy"]) == (20, 10)
    again = kernels(varve, tmp_path / "t.json")
    assert again == kernels(varve, trace)


def test_names_are_as_cpp_writes_them_in_a_program_with_its_library(varve, tmp_path):
    library = ctypes.util.find_library("stdc++")
    if library is None:
        pytest.skip("needs libstdc++: tools/setup check")
    trace, _ = record(varve, tmp_path, "plain", LOADS=library)
    assert kernels(varve, trace) == {"gemm(float*, float*, float*, int)": 10, RELU: 10, IN: 10}


# ---- what is missing ----


@pytest.mark.parametrize("fault, lost, state, text, left", [
    ("drops", 3, "partly attached", "3 records dropped by CUPTI", {GEMM: 10, RELU: 10, IN: 10}),
    ("unknown", 0, "attached", "31 records of unknown kinds left out",
     {GEMM: 10, RELU: 10, IN: 10}),
    ("larger", 0, "attached", "", {GEMM: 10, RELU: 10, IN: 10}),
    ("short", 20, "partly attached", "20 records not readable", {IN: 10}),
    ("untimed", 20, "partly attached", "20 records not readable", {IN: 10}),
    ("disorder", 0, "attached", "", {GEMM: 10, RELU: 10, IN: 10}),
    ("late", 0, "attached", "", {GEMM: 10, RELU: 10, IN: 10, "late_kernel": 1}),
    ("zeros", 1, "partly attached", "1 records not readable", {}),
    ("cut", 1, "partly attached", "1 records not readable", {GEMM: 10, RELU: 9, IN: 10}),
    ("stuck", 1, "partly attached", "1 records not readable", {}),
    ("beyond", 1, "partly attached", "1 records not readable", {}),
    ("nobuffer", 31, "partly attached", "31 records dropped by CUPTI", {}),
    ("noclock", 0, "attached", "by its own clock", {GEMM: 10, RELU: 10, IN: 10}),
])
def test_what_cupti_does_wrong_is_counted(varve, tmp_path, fault, lost, state, text, left):
    trace, _ = record(varve, tmp_path, "plain", cupti=fault)
    assert kernels(varve, trace) == left
    ((is_state, said),) = collector(varve, trace)
    assert (is_state, text in said) == (state, True), said
    assert sum(stream.packets[-1].discarded if stream.packets else 0
               for process in varve_decode.open_trace(str(trace)).processes
               for stream in process.streams) == lost


@pytest.mark.parametrize("cupti, kernel_ns, duration_ns", [
    ("", 1, 1), ("", 2**32 - 1, 2**32 - 1), ("", 2**32, 2**32), ("", 10**12, 10**12),
    ("backward", 0, 0)])
def test_a_kernel_of_any_length_has_its_launch(varve, tmp_path, cupti, kernel_ns, duration_ns):
    """Those that do not fit into the short record of a kernel, too."""
    trace, _ = record(varve, tmp_path, "reset", cupti=cupti, STANDIN_KERNEL_NS=str(kernel_ns))
    found = [row for row in work_of(trace)["slices"] if row["name"] in (GEMM, RELU)]
    assert [row["args"] for row in found] == 4 * [[
        ["grid", "[8, 4, 1]"], ["block", "[128, 1, 1]"], ["registers per thread", 40],
        ["shared memory", 3072]]]
    assert [row["duration_ns"] for row in found] == 4 * [pytest.approx(duration_ns, rel=1e-4)]
    health = tables(varve, "info", "--table", "health", trace)["health"]
    assert sum(row["count"] for row in health if row["finding"] == "negative") == (
        4 if cupti else 0)


@pytest.mark.parametrize("fault, why", [
    ("taken", "CUPTI for Other Profiler has CUPTI, which has one user"),
    ("nodevice", "CUPTI records no kernels here: CUPTI_ERROR_UNKNOWN (999)"),
    ("denied", "CUPTI records no kernels here: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35): only root "
     "may profile: NVreg_RestrictProfilingToAdminUsers=0 for the driver's module"),
    ("nomemory", "CUPTI records no kernels here: CUPTI_ERROR_OUT_OF_MEMORY (8): no memory for it: "
     "leave more of the device or of the machine free"),
    ("future", "CUPTI 14.0: its records are known from 11.8 to 13"),
])
def test_what_cannot_be_recorded_is_said_and_the_rest_is_there(varve, tmp_path, fault, why):
    trace, said = record(varve, tmp_path, "plain", cupti=fault)
    assert f"cuda not attached ({why}" in said
    rows = tables(varve, "report", "--table", "operators", "--top", "0", trace)["operators"]
    assert {row["name"]: row["calls"] for row in rows if row["row"] == "operator"
            and row["calls"]} == {"copy_in": 10, "forward": 10}


@pytest.mark.parametrize("driver, package", [
    ("11080", "nvidia-cuda-cupti-cu11"), ("12090", "nvidia-cuda-cupti-cu12"),
    ("13050", "nvidia-cuda-cupti")])
def test_where_there_is_no_cupti_the_package_is_named(varve, tmp_path, driver, package):
    alone = tmp_path / "driver"
    alone.mkdir()
    (alone / "libcuda.so.1").symlink_to(binary("tests/drivers/recorded/libcuda.so.1"))
    said = run(tmp_path, "plain", "env", f"LD_LIBRARY_PATH={alone}", varve, "record", "-o",
               "none.varve", "--", STANDIN_DRIVER=driver).stderr
    assert f"pip install {package}, or VARVE_CUPTI=/path/libcupti.so" in said
    _, said = record(varve, tmp_path, "plain", STANDIN_DRIVER=driver, VARVE_CUPTI="/nowhere")
    assert ("cuda not attached (VARVE_CUPTI=/nowhere cannot be loaded: unset it, or name a "
            f"libcupti.so, as of pip install {package})") in said


def test_another_tool_keeps_the_drivers_variable(varve, tmp_path):
    trace, said = record(varve, tmp_path, "plain", CUDA_INJECTION64_PATH="/nowhere/libtool.so")
    assert "another tool may have looked on, and was let: CUDA_INJECTION64_PATH" in said
    assert kernels(varve, trace) == {}


def test_it_steps_aside_for_pytorchs_profiler(varve, tmp_path):
    trace, said = record(varve, tmp_path, "aside")
    assert kernels(varve, trace) == {GEMM: 2, RELU: 2, IN: 2}
    assert "cuda aside: device work is missing while torch.profiler ran: 1 times" in said
    (missing,) = [row for row in work_of(trace)["slices"]
                  if row["name"] == "device work not recorded: torch.profiler has CUPTI"]
    assert missing["duration_ns"] > 0


def test_a_killed_program_keeps_its_calls(varve, tmp_path):
    """… whose work was still in CUPTI's buffers, and is named as missing."""
    trace, _ = record(varve, tmp_path, "kill")
    health = tables(varve, "info", "--table", "health", trace)["health"]
    assert {row["finding"]: row["count"] for row in health} == {"workless": 3}
    names = collections.Counter(row["name"] for row in work_of(trace)["slices"])
    assert (names["cudaLaunchKernel"], names["cuLaunchKernel"], names["cuMemcpyHtoDAsync"]) == (
        1, 1, 1)


def test_a_program_that_becomes_another_keeps_its_calls(varve, tmp_path):
    """… and the other is recorded whole."""
    trace, _ = record(varve, tmp_path, "exec")
    health = tables(varve, "info", "--table", "health", trace)["health"]
    assert {row["finding"]: row["count"] for row in health} == {"workless": 3}
    assert kernels(varve, trace) == {GEMM: 10, RELU: 10, IN: 10}


def test_a_driver_that_the_program_closes_is_handed_over(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "closes")
    assert kernels(varve, trace) == {GEMM: 1, RELU: 1, IN: 1}


def test_another_tool_that_ends_cupti_is_told(varve, tmp_path):
    """CUPTI says nothing to those whom cuptiFinalize has ended."""
    trace, said = record(varve, tmp_path, "finalized")
    why = "another tool ended CUPTI (cuptiFinalize): no device work from then on; record without it"
    assert kernels(varve, trace) == {GEMM: 1, RELU: 1, IN: 1}
    assert collector(varve, trace) == [("partly attached", why)] and why in said
    (missing,) = [row for row in work_of(trace)["slices"]
                  if row["name"] == "device work not recorded: another tool ended CUPTI"]
    assert missing["duration_ns"] > 0


# ---- what it leaves alone ----


@pytest.mark.parametrize("mode", MODES)
def test_the_program_runs_as_without(varve, tmp_path, mode):
    alone = run(tmp_path, mode)
    under = run(tmp_path, mode, varve, "record", "-q", "-o", "t.varve", "--")
    assert (under.returncode, under.stdout) == (alone.returncode, alone.stdout)


def test_a_program_that_never_initialises_cuda_loads_nothing(varve, tmp_path):
    done = run(tmp_path, "idle", varve, "record", "-o", "t.varve", "--", LD_DEBUG="files")
    assert "libcuda.so.1" in done.stderr
    assert "libcupti" not in done.stderr
    done = run(tmp_path, "plain", varve, "record", "--collect", "-cuda", "-o", "t.varve", "--",
               LD_DEBUG="files")
    assert "libcuda.so.1" in done.stderr
    assert "libcupti" not in done.stderr


# ---- what is run where there is a GPU ----


def run_gpu_script(folder, *options, **environment):
    folders = binary("tests/drivers/recorded/libcuda.so.1").parent
    binary("tests/gpu/ptx_program")
    return subprocess.run([TESTS / "gpu/run", "--build", folders.parents[2], "--rounds", "1",
                           "--python", "false", *options, folder],
                          env=quiet_environment(LD_LIBRARY_PATH=str(folders), **environment),
                          capture_output=True, text=True, check=False)


def test_in_the_script_for_a_gpu_a_part_that_breaks_is_one_failure(tmp_path):
    (tmp_path / "work.varve").write_text("in the way")
    done = run_gpu_script(tmp_path, "--only", "driver", "--only", "cost")
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[-1].split(" ")[0]) == (1, "1"), done.stdout + done.stderr
    assert [line.split(":")[0] for line in lines[:2]] == ["FAIL  driver",
                                                          "      a launch takes the host {'bare'"]
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert "work.varve" in figures["driver"]["said"] and figures["launch_ns"]["bare"] > 0


def test_the_script_for_a_gpu_skips_what_needs_cupti_where_there_is_none(tmp_path):
    done = run_gpu_script(tmp_path, "--only", "driver", STANDIN_CUPTI="nodevice")
    assert done.returncode == 0 and done.stdout.startswith(
        "SKIP  driver, cost, counters, buffers: "), done.stdout + done.stderr
    assert "CUPTI_ERROR_UNKNOWN (999)" in done.stdout


def test_the_script_for_a_gpu_holds_on_the_stand_ins(tmp_path):
    """… so that it fails for reasons of the GPU alone. PyTorch's part is left out."""
    folders = binary("tests/drivers/recorded/libcuda.so.1").parent
    binary("tests/gpu/ptx_program")
    command = [TESTS / "gpu/run", "--build", folders.parents[2], "--rounds", "1", "--python",
               "false", tmp_path / "figures"]
    without = subprocess.run(command, env=quiet_environment(), capture_output=True, text=True,
                             check=False)
    assert (without.returncode, without.stdout[:16]) == (77, "no NVIDIA driver")
    metrics = binary("tests/drivers/metrics/libnvidia-ml.so.1").parent
    done = subprocess.run(command, env=quiet_environment(
        LD_LIBRARY_PATH=str(folders), VARVE_GPU_METRICS_LIBRARIES=str(metrics),
        STANDIN_KERNEL_NS="2000000", STANDIN_GPUS="0"),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 claims did not hold" in done.stdout
    words = [line.split()[0] for line in done.stdout.splitlines()[:-1]]
    assert (words.count("PASS"), words.count("FAIL")) == (20, 0), done.stdout
    assert "SKIP  pytorch, ddp: no PyTorch with a GPU in false" in done.stdout
    figures = json.loads((tmp_path / "figures/figures.json").read_text())
    assert set(figures["launch_ns"]) == {"bare", "recorded", "without cuda"}
    buffers = list((tmp_path / "figures/buffers").glob("buffer.*"))
    assert sum(path.stat().st_size for path in buffers) > 0

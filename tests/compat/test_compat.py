# SPDX-License-Identifier: Apache-2.0
"""libprofapi.so and libmsprofiler.so: a program of C++ against their headers, a client written from
the binary interface alone, bad input, and a vendor's library beside them."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("VARVE_BUILD", "build")
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("support", "oracle", "import")]

from recording import quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402
from test_device_records import dump  # noqa: E402

LIBRARIES = BUILD / "compat"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SANITIZE = ["-fsanitize=address,undefined"] if BUILD.name == "sanitize" else []


def run(*command, cwd, returns=0, **environment):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True,
                          check=False, env={**quiet_environment(), **environment}, timeout=120)
    assert done.returncode == returns and done.stderr == "", done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def programs(varve, tmp_path_factory):
    """{name: path} of the programs of this folder, compiled as a user would."""
    if not (LIBRARIES / "libprofapi.so").exists():
        pytest.skip("needs libprofapi.so: make")
    folder = tmp_path_factory.mktemp("programs")
    link = ["-L", LIBRARIES, "-lmsprofiler", "-lprofapi",
            f"-Wl,-rpath,{LIBRARIES}:{BUILD},-rpath-link,{BUILD}"]
    include = ["-I", ROOT / "include" / "compat"]
    made = {}
    for compiler, source, name, more in (
            (["c++", "-std=c++11"], "sequence.cpp", "sequence", [*include, *link]),
            (["cc", "-std=c99"], "marks.c", "marks", [*include, *link]),
            (["cc", "-std=gnu11"], "client.c", "client", ["-ldl"]),
            (["cc", "-std=gnu11", "-shared", "-fPIC"], "vendor.c", "vendor.so", [])):
        made[name] = folder / name
        subprocess.run([str(word) for word in [*compiler, *WARNINGS, *SANITIZE, "-o",
                                               made[name], HERE / source, *more]], check=True)
    return made


def client(programs, folder, what, **environment):
    return run(programs["client"], LIBRARIES / "libprofapi.so", what, cwd=folder,
               **environment).splitlines()


def health(varve, path):
    return {row["finding"]: row["count"] for row in tables(varve, "info", path)["health"]}


def arguments(row):
    return dict(map(tuple, row["args"]))


# ---- the libraries

def test_they_need_libvarve_and_libc_alone(programs):
    for name in ("profapi", "msprofiler"):
        needed = run("readelf", "-d", LIBRARIES / f"lib{name}.so", cwd="/")
        found = {line.split("[")[1].rstrip("]") for line in needed.splitlines()
                 if "(NEEDED)" in line}
        assert "libvarve.so.0" in found
        assert found <= {"libvarve.so.0", "libc.so.6", "ld-linux-x86-64.so.2",
                         "ld-linux-aarch64.so.1", *(["libasan.so.8", "libubsan.so.1"] if SANITIZE
                                                    else [])}


def test_the_symbols_of_graphs_are_those_of_cplusplus(programs):
    told = run("sh", "-c", f"nm -D --defined-only {LIBRARIES}/libmsprofiler.so | c++filt", cwd="/")
    names = {line.split(" ", 2)[2] for line in told.splitlines() if "ge::" in line}
    assert names == {
        "ge::aclgrphProfInit(char const*, unsigned int)", "ge::aclgrphProfFinalize()",
        "ge::aclgrphProfCreateConfig(unsigned int*, unsigned int, ge::ProfilingAicoreMetrics, "
        "ge::ProfAicoreEvents*, unsigned long)",
        "ge::aclgrphProfDestroyConfig(ge::aclgrphProfConfig*)",
        "ge::aclgrphProfStart(ge::aclgrphProfConfig*)",
        "ge::aclgrphProfStop(ge::aclgrphProfConfig*)"}


def declared(header):
    """The functions that a header of C declares, as the compiler sees them."""
    path = ROOT / "include" / "compat" / header
    said = run("gcc", "-x", "c", "-fsyntax-only", "-aux-info", "/dev/stdout", path, cwd="/")
    return {line.split("(")[0].split()[-1].lstrip("*") for line in
            (row.split("*/ ", 1)[1] for row in said.splitlines() if f"{header}:" in row)}


def exported(name):
    said = run("nm", "-D", "--defined-only", LIBRARIES / f"lib{name}.so", cwd="/")
    return {line.split()[2] for line in said.splitlines()}


def test_they_export_what_the_headers_declare(programs):
    assert exported("profapi") == declared("profiling/aprof_pub.h")
    text = (ROOT / "include" / "compat" / "ge" / "ge_prof.h").read_text()
    symbols = {"".join(re.findall(r'"(\w+)"', words))
               for words in re.findall(r"GE_PROF_SYMBOL\(((?:\"\w+\"\s*)+)\)", text)}
    assert len(symbols) == 6
    assert exported("msprofiler") == declared("acl/acl_prof.h") | symbols


# ---- the sequence of the documentation

@pytest.mark.parametrize("order", ["destroy-first", "finalize-first"])
def test_the_sequence_runs_and_its_records_arrive(varve, programs, tmp_path, order):
    said = run(programs["sequence"], "out", order, cwd=tmp_path).splitlines()
    results = [line for line in said if "control" not in line]
    last = ["destroy 0", "finalize 0"]
    assert results == ["registered 0", "init 0", "config 1", "start 0", "reported conv1: 0",
                       "reported fc: 0", "stop 0", "reported unrecorded: 6",
                       *(last if order == "destroy-first" else reversed(last))]
    commands = [line.split(" ") for line in said if "control" in line]
    start, stop = ["RUNTIME", "ASCENDCL", "GE", "other"], ["GE", "ASCENDCL", "RUNTIME", "other"]
    assert [(line[0], line[6]) for line in commands] == [
        *((name, "0") for name in start), *((name, "1") for name in start),
        *((name, "2") for name in stop), *((name, "3") for name in stop)]
    assert {tuple(line[1:5]) for line in commands} == {("control", "1", "length", "5424")}
    assert commands[4][7:] == ["devices", "3", "mask", "0x4000000000000842"]

    (path,) = (tmp_path / "out").glob("sequence_*.varve")
    model = dump(path)
    found = {row["name"]: row for row in model["slices"]}
    assert list(found) == ["step", "Conv2D", "MatMul"]
    assert all(row["parent"] == 0 for name, row in found.items() if name != "step")
    assert arguments(found["Conv2D"]) == {
        "subject": "conv1", "op_name": "conv1", "task_type": "AI_CORE", "block_dim": 24,
        "mix_block_dim": 2, "op_flag": 0}
    assert model["ops"][found["MatMul"]["op"]]["shapes"] == "[4,16] f16 -> [4] f32"
    assert [row["index"] for row in model["steps"]] == [0]
    operators = {row["name"]: row for row in tables(varve, "report", path)["operators"]
                 if row["row"] == "operator"}
    assert {name: row["total_ns"] for name, row in operators.items() if name != "step"} == {
        name: row["duration_ns"] for name, row in found.items() if name != "step"}
    assert health(varve, path) == {}


# ---- from the binary interface alone

def test_each_kind_of_record_arrives(varve, programs, tmp_path):
    said = client(programs, tmp_path, "records")
    assert said == ["init 0", "own type 0", "api 0 0 0", "basic 0 batch 0 most 131072",
                    "fusion 0 contexts 0 memory 0", "graph 0 plan 0 load 0 loaded 0",
                    "type 0 track 0 hccl 0 any 0", "finalize 0"]
    path = tmp_path / "records.varve"
    model = dump(path)
    found = {row["name"]: row for row in model["slices"]}
    layers = {name: row["layer"] for name, row in found.items()}
    assert layers == {"step": 0x100, "Conv2D": 4, "InferShape": 2, "CalcArgs": 16, "ModelLoad": 8}
    told = arguments(found["Conv2D"])
    assert (told["subject"], told["task_type"], told["block_dim"]) == ("conv1", "HCCL", 24)
    assert (told["origins"], told["total_bytes"]) == ('["relu", "bias"]', 4096)
    assert (told["context_ids"], told["allocated_bytes"]) == ("[7, 9]", 65536)
    assert (told["stream"], told["task"], told["kernel"]) == (11, 42, "conv1_kernel")
    assert (told["elements"], told["group"]) == (1024, "world")
    assert (told["raw"], told["raw_bytes"]) == ('["0x102030405060708", "0x0"]', 12)
    assert arguments(found["InferShape"]) == {"subject": "conv1"}
    marks = {row["name"]: arguments(row) for row in model["marks"]}
    assert (marks["graph_id_map"]["graph"], marks["graph_id_map"]["model_name"]) == (5, "resnet")
    assert (marks["static_op_mem"]["bytes"], marks["static_op_mem"]["last_use"]) == (128, 2**32 - 1)
    assert [(row["address"], row["bytes"]) for row in model["memory"]] == [(0x1000, 65536)]
    # (begin, end]: what a launch's own begin says belongs to none
    assert health(varve, path) == {"unattached": 1, "kept_raw": 1}


def test_what_modules_say_has_its_place_in_the_model(varve, programs, tmp_path):
    """The client tells two executions of a model: an operator whose task a device tells with its
    times, and an all-reduce; and a static plan with one impossible buffer."""
    assert {word for line in client(programs, tmp_path, "placed") for word in line.split()
            if word.lstrip("-").isdigit()} == {"0"}
    path = tmp_path / "placed.varve"
    model = dump(path)
    found = {name: tables(varve, "report", path, "--table", name)[name] for name in (
        "tasks", "models", "registered_graphs", "static_plan", "plan_conflicts",
        "collective_kinds")}

    unlaunched, *tasks = [row for row in found["tasks"] if row["row"] == "task"]
    assert (unlaunched["name"], unlaunched["stream"], unlaunched["device"], unlaunched["op"]) == (
        "MIX_AIC", 12, "device:0", None)
    assert [(row["op"], row["op_type"], row["task_type"], row["block_dim"], row["context_ids"],
             row["original_ops"], row["name"], row["stream"], row["device"], row["model"],
             row["model_id"], row["step"]) for row in tasks] == [
        ("conv1", "Conv2D", "AI_CPU", 24, "7,9", "relu;bias", "conv1_kernel", 11, "device:1",
         "resnet", 7, step) for step in (3, 4)]
    assert {tuple(row[f"{side}_{what}"] for side in ("input", "output")
                  for what in ("shapes", "dtypes", "formats")) for row in tasks} == {
        ("8,3,32,32", "f16", "NCHW", "8,10", "f32", "ND")}
    # The client says 2000 ticks of the counter; begins and ends are rounded to ns.
    conv, launch = [[row for row in model["slices"] if row["name"] == name][0]
                    for name in ("conv1_kernel", "Conv2D")]
    ratio = (conv["begin_ns"] - launch["begin_ns"] - launch["duration_ns"]) / conv["duration_ns"]
    assert abs(ratio - 1000 / 2000) < 0.05

    (loaded,) = found["models"]
    assert (loaded["name"], loaded["model_id"], loaded["loads"], loaded["executions"],
            loaded["unfinished"]) == ("resnet", 7, 1, 2, 0)
    times = {name: [row["duration_ns"] for row in model["slices"] if row["name"] == name]
             for name in ("ModelLoad", "ModelExecute")}
    assert [loaded["load_ns"]] == times["ModelLoad"]
    assert loaded["total_ns"] == sum(times["ModelExecute"]) and len(times["ModelExecute"]) == 2
    (graph,) = found["registered_graphs"]
    assert (graph["name"], graph["graph_id"], graph["nodes"]) == ("resnet", 5, 0)

    (plan,) = found["static_plan"]
    assert (plan["graph"], plan["buffers"], plan["peak_bytes"], plan["peak_at_use"]) == (
        5, 2, 192, 2)
    assert plan["planned_bytes"] is None and found["plan_conflicts"] == []  # no offsets are told

    assert [(row["name"], row["first_use"], row["last_use"]) for row in model["placements"]] == [
        ("conv1", 0, 3), ("fc", 2, 2**63 - 1)]

    (kind,) = [row for row in found["collective_kinds"] if row["row"] == "collective"]
    assert (kind["name"], kind["calls"], kind["in_elements"], kind["dtype"], kind["group"],
            kind["group_size"], kind["place"]) == (
        "hcom_allReduce_", 2, 1024, "f32", "world", 4, "host")
    assert {row["rank"] for row in model["collectives"]} == {1}
    assert health(varve, path) == {"unknown_nodes": 1, "unlinked": 1}


def test_bad_input_is_a_code_and_what_was_recorded_stays(varve, programs, tmp_path):
    assert client(programs, tmp_path, "bad") == [
        "before 6", "init 5 -1 5 3 3", "too long 3", "json 4 0 3", "begin 0",
        "null -1 -1 -1 -1 -1", "sizes 5 5 5 5 5 5", "length in record 5",
        "too short for its type 5", "six tensors 5", "magic 5", "unknown level 0",
        "names -1 -1 3 0", "config -1 5 5", "callback -1 command 5", "kept 0", "finalize 0 0"]
    path = tmp_path / "bad.varve"
    (kept,) = dump(path)["slices"]
    assert kept["args"] == [["subject", "kept"]]
    # their times are from before the recording
    assert health(varve, path) == {"unattached": 4, "kept_raw": 3, "unplaced": 4}


def test_a_scope_that_was_open_before_is_counted(varve, programs, tmp_path):
    assert client(programs, tmp_path, "open") == ["init 0", "api 0 0", "finalize 0"]
    path = tmp_path / "open.varve"
    model = dump(path)
    assert [row["name"] for row in model["slices"]] == ["launch"]
    assert [row["name"] for row in model["marks"]] == ["BuildGraph"]
    assert health(varve, path) == {"begun_before": 1}


def test_hashes_are_those_of_the_rule(programs, tmp_path):
    assert client(programs, tmp_path, "hashes") == [
        "a 0x0000006100000061 a", "conv1 0x045734abd8ca31f9 conv1",
        "MatMul 0x626628205d1c5684 MatMul", "hcom_allReduce_0 0x7a72af1e7ff11d9a hcom_allReduce_0",
        "none 0xffffffffffffffff 0xffffffffffffffff ''", "length decides 0x6100000061"]


def test_who_registers_late_is_told_what_holds(programs, tmp_path):
    assert client(programs, tmp_path, "late") == [
        "add 0", "early type 0 devices 0 first 0", "early type 1 devices 1 first 1", "start 0",
        "late type 0 devices 0 first 0", "inside 5", "late type 1 devices 1 first 1", "inside 5",
        "add 0", "again 5", "early control 3 length 24", "late control 3 length 24", "inside 5",
        "early type 2 devices 1 first 1", "late type 2 devices 1 first 1", "inside 5", "stop 0",
        "early type 3 devices 0 first 0", "late type 3 devices 0 first 0", "inside 5",
        "finalize 0"]
    assert [path.suffix for path in tmp_path.iterdir()] == [".varve"]


def test_the_c_runtime_finds_its_seven(programs, tmp_path):
    said = client(programs, tmp_path, "runtime")
    assert [line.split() for line in said[:7]] == [[name, "1"] for name in (
        "MsprofInit", "MsprofRegisterCallback", "MsprofGetHashId", "MsprofSysCycleTime",
        "MsprofReportAdditionalInfo", "MsprofFinalize", "MsprofNotifySetDevice")]
    assert said[7:] == ["init 0", "runtime type 0 devices 0 first 0",
                        "runtime type 1 devices 1 first 0", "device 0",
                        "runtime type 2 devices 1 first 0",
                        "runtime type 3 devices 0 first 0", "finalize 0"]


# ---- switched by others

def test_recording_from_outside_switches_the_modules_on(varve, programs, tmp_path):
    done = subprocess.run([str(varve), "record", "-o", "r.varve", "--", programs["client"],
                           LIBRARIES / "libprofapi.so", "quiet"], cwd=tmp_path, text=True,
                          capture_output=True, check=True, env=quiet_environment())
    said = done.stdout.splitlines()
    assert said[:2] == ["quiet type 0 devices 0 first 0", "quiet type 1 devices 1 first 5"]
    assert "quiet type 2 devices 1 first 5" in done.stdout
    (row,) = dump(tmp_path / "r.varve")["slices"]
    assert (row["name"], arguments(row)) == ("launch", {"subject": "outside"})


class Told:
    """The client, which does a step and a launch for each line that it is told."""

    def __init__(self, *command, cwd):
        # Its end is looked for, and not waited for by time.
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [str(word) for word in command], cwd=cwd, env=quiet_environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def until(self, last):
        """The lines up to one that begins so."""
        lines = [self.process.stdout.readline().rstrip()]
        while not lines[-1].startswith(last):
            assert self.process.poll() is None or lines[-1], lines
            lines.append(self.process.stdout.readline().rstrip())
        return lines

    def step(self):
        """The commands and results of one step."""
        self.process.stdin.write("node\n")
        self.process.stdin.flush()
        said = self.until("api 0")
        return [line for line in said + self.until("module control 3 length 24")[:-1]
                if "control" not in line]

    def finish(self):
        rest, errors = self.process.communicate(timeout=120)
        assert self.process.returncode == 0 and "none lost" in errors, errors
        return rest.splitlines()


def test_start_and_stop_from_outside_reach_the_modules(varve, programs, tmp_path):
    told = Told(varve, "record", "--paused", "-o", "r.varve", "--", programs["client"],
                LIBRARIES / "libprofapi.so", "commanded", cwd=tmp_path)
    pid, *said = told.until("init")
    pid = pid.split()[1]
    assert said == ["add 0", "module type 0 devices 0 first 0", "init 0"]
    assert told.step() == ["api 0"]
    run(varve, "start", "--quiet", pid, cwd=tmp_path)
    assert told.step() == ["module type 1 devices 1 first 0", "api 0"]
    assert told.step() == ["api 0"]
    run(varve, "stop", "--quiet", pid, cwd=tmp_path)
    assert "module type 2 devices 1 first 0" in told.step()
    assert told.finish() == ["module type 3 devices 0 first 0", "finalize 0"]
    names = [row["name"] for row in dump(tmp_path / "r.varve")["slices"]]
    assert names.count("launch") == 2


def test_a_schedule_reaches_the_modules(varve, programs, tmp_path):
    told = Told(varve, "record", "--schedule", "skip=1,active=2,repeat=1", "-o", "s.varve", "--",
                programs["client"], LIBRARIES / "libprofapi.so", "commanded", cwd=tmp_path)
    told.until("init")
    steps = [told.step() for _ in range(4)]
    assert [sum("type 1" in line for line in said) for said in steps] == [0, 1, 0, 0]
    assert sum("type 2" in line for said in steps for line in said) == 1
    assert told.finish() == ["module type 3 devices 0 first 0", "finalize 0"]
    names = [row["name"] for row in dump(tmp_path / "s.varve")["slices"]]
    assert names.count("step") == names.count("launch") == 2


def test_unrecorded_nothing_is_switched_and_nothing_is_left(programs, tmp_path):
    assert client(programs, tmp_path, "quiet") == [
        "add 0", "quiet type 0 devices 0 first 0", "init 0", "api 0",
        "quiet type 3 devices 0 first 0", "finalize 0"]
    assert list(tmp_path.iterdir()) == []


def test_the_sequence_runs_under_varve_record(varve, programs, tmp_path):
    done = subprocess.run([str(varve), "record", "-o", "r.varve", "--", programs["sequence"], "out",
                           "finalize-first"], cwd=tmp_path, text=True, capture_output=True,
                          check=True, env=quiet_environment())
    for line in ("init 0", "start 0", "stop 0", "finalize 0", "destroy 0"):
        assert line in done.stdout.splitlines()
    assert not (tmp_path / "out").exists()
    names = [row["name"] for row in dump(tmp_path / "r.varve")["slices"]]
    assert names == ["step", "Conv2D", "MatMul", "Relu"]


# ---- the older masks

def test_a_program_of_2019_gives_and_gets_its_own_bits(programs, tmp_path):
    said = run(programs["sequence"], "out", "destroy-first", cwd=tmp_path,
               VARVE_ASCEND_MASK="2019").splitlines()
    (start,) = [line for line in said if line.startswith("GE") and " type 1 " in line]
    assert start.endswith("mask 0x42")  # task time, and what was the runtime's trace then


# ---- marks of the program's own

def test_stamps_ranges_and_steps(varve, programs, tmp_path):
    assert run(programs["marks"], cwd=tmp_path).splitlines() == [
        "init 0 again 100002 start 0 the same 0 another 100010 stop another 100010",
        "step 0 twice 100000message 0 push 0 mark 0 pop 0 start 0 stop 0 again 100000 mark ex 0",
        "push ex 0 pop 0 wrong version 100000", "end 0 null 100000",
        "stop 0 finalize 0 destroy 0 0"]
    model = dump(tmp_path / "marks.varve")
    rows = [(row["name"], model["tracks"][row["track"]]["kind"]) for row in model["slices"]]
    assert sorted(rows) == [("MatMul", 0), ("load", 0), ("load", 1), ("step", 0)]
    assert [row["name"] for row in model["marks"]] == ["load", "here"]
    (matmul,) = [row for row in model["slices"] if row["name"] == "MatMul"]
    assert model["ops"][matmul["op"]]["shapes"] == "[8,4] f16"


def test_wrong_arguments_are_codes(programs, tmp_path):
    assert run(programs["marks"], "wrong", cwd=tmp_path).splitlines() == [
        "init 100000 100000 100000 100003", "config 0 0 0 0 0", "start 100000 100000 200007 0",
        "graph 405091711 405091711 0", "set 0 100000 100000",
        "stamps 100000 100000 100000 100000 100000 100000 100000 200006"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", ["dynamic", "delay_or_duration"])
def test_modes_that_others_start_forbid_it(programs, tmp_path, mode):
    said = run(programs["sequence"], "out", "destroy-first", cwd=tmp_path, PROFILING_MODE=mode)
    assert "init 200006" in said.splitlines()


# ---- the vendor's library

def test_calls_are_passed_on_and_the_vendor_s_results_returned(programs, tmp_path):
    said = client(programs, tmp_path, "records", VARVE_PROFAPI_VENDOR=str(programs["vendor.so"]))
    assert "vendor MsprofInit 2 1 4096" in said and "vendor MsprofReportApi 1 1" in said
    assert "vendor MsprofGetHashId conv1" in said
    assert sum(line.count("4711") for line in said) == 3
    names = {row["name"] for row in dump(tmp_path / "records.varve")["slices"]}
    assert {"Conv2D", "InferShape", "CalcArgs"} <= names  # by the vendor's ids


def test_configurations_and_stamps_have_two_halves(programs, tmp_path):
    vendor = str(programs["vendor.so"])
    said = run(programs["sequence"], "out", "destroy-first", cwd=tmp_path,
               VARVE_MSPROFILER_VENDOR=vendor)
    lines = said.splitlines()
    assert "vendor create 3 1 1 0 0x42" in lines and "vendor start 1" in lines
    assert "start 4714" in lines and "destroy 0" in lines
    said = run(programs["marks"], cwd=tmp_path, VARVE_MSPROFILER_VENDOR=vendor)
    assert "vendor aclprofPush 1" in said and "push 4713" in said
    assert {row["name"] for row in dump(tmp_path / "marks.varve")["slices"]} >= {"load"}


def preloaded(*libraries):
    """LD_PRELOAD of these; the sanitizers' own library must come first."""
    first = [run("gcc", "-print-file-name=libasan.so", cwd="/").strip()] if SANITIZE else []
    return " ".join(map(str, [*first, *libraries]))


def test_a_vendor_s_library_later_in_the_loader_s_order_does_as_well(programs, tmp_path):
    vendor = programs["vendor.so"]
    said = run(programs["client"], "", "records", cwd=tmp_path,
               LD_PRELOAD=preloaded(LIBRARIES / "libprofapi.so", vendor)).splitlines()
    assert "vendor MsprofInit 2 1 4096" in said and "vendor MsprofReportApi 1 1" in said
    assert sum(line.count("4711") for line in said) == 3
    assert {"Conv2D", "InferShape", "CalcArgs"} <= {
        row["name"] for row in dump(tmp_path / "records.varve")["slices"]}
    said = run(programs["marks"], cwd=tmp_path,
               LD_PRELOAD=preloaded(LIBRARIES / "libmsprofiler.so", vendor))
    assert "vendor aclprofPush 1" in said and "push 4713" in said


def test_a_vendor_that_is_not_there_changes_nothing(programs, tmp_path):
    said = client(programs, tmp_path, "hashes", VARVE_PROFAPI_VENDOR="/nowhere/libprofapi.so")
    assert said[0] == "a 0x0000006100000061 a"


# ---- after the trace

def test_the_export_has_the_arguments(varve, programs, tmp_path):
    client(programs, tmp_path, "records")
    run(varve, "export", "--quiet", "-o", "out.json", "records.varve", cwd=tmp_path)
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    (conv,) = [event for event in events if event.get("name") == "Conv2D"]
    assert conv["args"]["origins"] == ["relu", "bias"] and conv["args"]["subject"] == "conv1"

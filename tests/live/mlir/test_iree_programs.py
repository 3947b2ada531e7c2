# SPDX-License-Identifier: Apache-2.0
"""IREE itself: its profiles read as its own tools read them, its dispatches joined to the module's
operations, and varve tune around the real compiler."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

from environments import python_of, run_in

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from model_tables import dump, health  # noqa: E402

ALLOCATIONS = {"queue_alloca": 1, "buffer_allocate": 1, "queue_dealloca": -1, "buffer_free": -1}
WORK = ("dispatch", "copy", "fill", "update", "read", "write")
TILES = re.compile(r"distribution = \[.*?\], vector_common_parallel = \[.*?\]")
DISPATCH = re.compile(r"= flow\.dispatch @\w+::@(\S+?)\(|^ *flow\.dispatch @\w+::@(\S+?)\(", re.M)


@pytest.fixture(scope="module", name="folder", params=["gpt", "resnet"])
def fixture_folder(produce, request):
    return produce("mlir", "mlir/iree_profile.py", request.param, "small")


def exported(folder, device):
    return [json.loads(line) for line in (folder / f"{device}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("device", ["task", "sync"])
def test_events_are_those_of_iree_profile(build, folder, device):
    """Every execution with its name, begin, end and tiles."""
    tables = dump(build, folder / f"{device}.ireeprof")
    rows = [(row["begin_ns"], row["begin_ns"] + row["duration_ns"], row["name"],
             dict(row["args"]).get("tiles", 0)) for row in tables["slices"]
            if row["category"] in (*WORK, "queue operation")]
    theirs = [(event["start_host_time_ns"], event["end_host_time_ns"],
               event["key"] if event["op"] == "dispatch" else event["op"], event["tile_count"])
              for event in exported(folder, device)
              if event["record_type"] == "host_execution_event"]
    assert sorted(rows) == sorted(theirs) and len(rows) > 60
    assert set(health(tables)) <= {"ignored", "zero_length"}


def test_memory_is_that_of_iree_profile(build, folder):
    rows = [(row["time_ns"], row["address"], row["bytes"], row["allocated_bytes"])
            for row in dump(build, folder / "task.ireeprof")["memory"]]
    theirs = [(event["host_time_ns"], event["allocation_id"],
               event["length"] * ALLOCATIONS[event["event_type"]],
               event["pool_bytes_reserved"] if event["pool_stats_available"] else -1)
              for event in exported(folder, "task")
              if event["record_type"] == "memory_event" and event["event_type"] in ALLOCATIONS]
    assert sorted(rows) == sorted(theirs) and len(rows) > 4


def test_submissions_are_those_of_iree_profile(build, folder):
    rows = [(row["begin_ns"], row["begin_ns"] + row["duration_ns"], row["name"])
            for row in dump(build, folder / "task.ireeprof")["slices"]
            if row["category"] == "queue submission"]
    theirs = [(event["host_time_ns"], max(event["ready_host_time_ns"], event["host_time_ns"]),
               f"submit {event['op']}") for event in exported(folder, "task")
              if event["record_type"] == "queue_event"]
    assert sorted(rows) == sorted(theirs) and len(rows) > 4


@pytest.mark.parametrize("device", ["task", "sync"])
def test_each_dispatch_is_an_operation_of_the_module(build, folder, device):
    """The dispatch numbered k is the k-th flow.dispatch, on both devices, in each run."""
    operations = [one or other for one, other in
                  DISPATCH.findall((folder / "flow.mlir").read_text())]
    runs = {}
    for row in dump(build, folder / f"{device}.ireeprof")["slices"]:
        if row["category"] == "dispatch":
            index = dict(row["args"])["dispatch_index"]
            runs.setdefault(index, []).append(row["name"])
    assert sorted(runs) == list(range(len(operations)))
    for index, names in runs.items():
        assert set(names) == {operations[index]}, index
        assert len(names) >= 3
    assert len(set(operations)) < len(operations) or "resnet" in str(folder)


def test_statistics_are_read(build, folder):
    """The same functions as in the profile."""
    profile = {row["name"] for row in dump(build, folder / "task.ireeprof")["slices"]
               if row["category"] == "dispatch"}
    rows = dump(build, folder / "statistics.json")["slices"]
    assert {row["name"] for row in rows if row["category"] == "dispatch"} == profile
    written = json.loads((folder / "statistics.json").read_text())["benchmarks"]
    assert sum(row["duration_ns"] for row in rows) == pytest.approx(
        sum(row["real_time"] * row["iterations"] * 1e6 for row in written), rel=1e-6)


def outputs_of(folder, program):
    run_in(folder, python_of("mlir").with_name("iree-run-module"), "--device=local-sync",
           f"--module={program}", "--function=main", f"--input=@{folder}/input.npy",
           f"--output=@{program}.npy")
    return pathlib.Path(f"{program}.npy").read_bytes()


@pytest.mark.parametrize("net, top, way, flag", [
    ("gpt", "80%", "--substitutes", "--iree-hal-substitute-executable-configurations-from"),
    ("gpt", "80%", "--tuning-spec", "--iree-codegen-tuning-spec-path"),
    ("resnet", "100%", "--tuning-spec", "--iree-codegen-tuning-spec-path")])
def test_iree_takes_the_files_of_hot(varve, produce, tmp_path, net, top, way, flag):
    """The compiler then has our tiles in what it dumps, and the program computes the same. A
    convolution is a linalg.generic, and the compiler makes it anew."""
    folder = produce("mlir", "mlir/iree_profile.py", net, "small")

    def compiled(name, *flags):
        said = run_in(tmp_path, python_of("mlir").with_name("iree-compile"),
                      "--iree-hal-target-device=local",
                      "--iree-hal-local-target-device-backends=llvm-cpu",
                      "--iree-llvmcpu-target-cpu=host", folder / "linalg.mlir", "-o",
                      f"{name}.vmfb",
                      f"--iree-hal-dump-executable-configurations-to={tmp_path / name}", *flags)
        return said.stderr, {path.name: TILES.findall(path.read_text())
                             for path in (tmp_path / name).glob("*.mlir")}

    _, before = compiled("before")
    run_in(tmp_path, varve, "hot", folder / "flow.mlir", folder / "task.ireeprof",
           "--top", top, "--configurations", "before", way, "hot")
    said, after = compiled("after", f"{flag}={tmp_path}/hot")
    changed = {tiles[0] for name, tiles in after.items() if tiles != before[name]}
    if way == "--tuning-spec":
        assert changed and changed == {*TILES.findall((tmp_path / "hot").read_text())}
    else:  # it dumps what it chooses itself, and says what it takes instead
        names = [path.stem for path in (tmp_path / "hot").iterdir()]
        assert names and not changed
        assert all(f"NOTE: hal.executable `{name}` substituted with" in said for name in names)
    (tmp_path / "input.npy").write_bytes((folder / "input.npy").read_bytes())
    assert (tmp_path / "before.vmfb").read_bytes() != (tmp_path / "after.vmfb").read_bytes()
    assert outputs_of(tmp_path, tmp_path / "after.vmfb") == outputs_of(tmp_path,
                                                                       tmp_path / "before.vmfb")


def test_tune_compares_and_compiles(varve, produce, tmp_path):
    """Around the real compiler: outputs compared, and the answer's line compiles."""
    folder = produce("mlir", "mlir/iree_profile.py", "resnet", "small")
    tools = python_of("mlir").parent
    done = subprocess.run(
        [varve, "tune", folder / "linalg.mlir", "--iree", tools, "--input",
         f"@{folder}/input.npy", "--tiles", "1", "--turns", "3", "--work", tmp_path / "work",
         "--json"], cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    tables = json.loads(done.stdout)["tables"]
    answer, = tables["tune_answer"]["rows"]
    names = [column["name"] for column in tables["tune"]["columns"]]
    rows = [dict(zip(names, row)) for row in tables["tune"]["rows"]]
    assert rows[0]["candidate"] == "no change" and rows[0]["max_abs"] == 0
    assert {row["candidate"] for row in rows} >= {"im2col", "data tiling", "O2", "O3"}
    for row in rows:
        assert row["max_rel"] is None or row["max_rel"] <= 1e-4, row
    words = answer[-1].split()
    run_in(tmp_path, tools / words[0], *words[1:])
    assert (tmp_path / "tuned.vmfb").stat().st_size > 10_000

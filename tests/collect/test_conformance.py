# SPDX-License-Identifier: Apache-2.0
"""What every collector survives, and how much it then keeps: each unit of work that
programs/situations.py tells of.

Those of PyTorch (its operators, its memory, its modules) run on the newest that is there, Python's
on the Python of these tests.
"""
import collections
import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from model_tables import dump  # noqa: E402
from torch_pythons import DEBIAN, NEWEST, WHEELS, BUILD, environment, has_debians, python_of  # noqa: E402

BLOCK_BYTES, UNITS, THREADS = 49380, 50, 64
PROGRAM = HERE / "programs" / "situations.py"
# which program has units of which collector
SOURCES = {"torch": "torch", "memory": "torch", "modules": "torch", "python": "python"}

Outcome = collections.namedtuple("Outcome", "done told kept facts lost unfinished")


def interpreter(work, situation):
    if work == "python":
        return sys.executable
    # it is the quicker
    prefers_debians = situation == "starved" or not (BUILD / WHEELS[NEWEST] / "ready").exists()
    return DEBIAN if prefers_debians and has_debians() else python_of(NEWEST)


class Laboratory:
    """Runs each situation once; the collectors of one program look at the same run."""

    def __init__(self, varve, build, folder):
        self.varve, self.build, self.folder, self.runs = varve, build, folder, {}

    def run(self, collector, situation, library=None, before=()):
        """`before`: a command that runs the program."""
        work = SOURCES[collector]
        key = (work, situation, before)
        if key not in self.runs:
            self.runs[key] = self.record(work, situation, library or self.build / "libvarve.so",
                                         before)
        return self.runs[key]

    def bare(self, work, situation, told):
        return subprocess.run([interpreter(work, situation), PROGRAM, work, situation, told,
                               self.build / "libvarve.so"],
                              env=environment(), capture_output=True, text=True, timeout=240,
                              check=False)

    def record(self, work, situation, library, before):
        python = interpreter(work, situation)  # or a skip, which leaves no folder
        folder = self.folder / f"{work} {situation} {len(self.runs)}"
        folder.mkdir()
        done = subprocess.run([self.varve, "record", "-q", "-o", "run.varve", "--collect",
                               f"auto,modules,{work}", "--", *before, python, PROGRAM, work,
                               situation, "told", library],
                              cwd=folder, env=environment(), capture_output=True, text=True,
                              timeout=240, check=False)
        told = (folder / "told").read_bytes()
        shutil.rmtree(folder / "run.varve.old", ignore_errors=True)
        if not any(path.is_dir() for path in (folder / "run.varve").iterdir()):
            return Outcome(done, len(told), collections.Counter(), {}, 0, 0)
        tables = dump(self.build, folder / "run.varve")
        shutil.rmtree(folder / "run.varve")
        names = collections.Counter(row["name"] for row in tables["slices"])
        kept = collections.Counter({
            "torch": names["aten::trunc_"],
            "modules": names["nn.Module: Unit_0"],
            "memory": sum(row["bytes"] == BLOCK_BYTES for row in tables["memory"]),
            "python": sum(count for name, count in names.items() if name.endswith("unit_of_work"))})
        facts = {fact["key"].removeprefix("collector "): fact["value"] for fact in tables["facts"]
                 if fact["key"].startswith("collector ")}
        return Outcome(done, len(told), kept, facts, tables["run"][0]["lost"],
                       tables["health"][0].get("unfinished", 0))


@pytest.fixture(scope="module", name="laboratory")
def fixture_laboratory(varve, build, tmp_path_factory):
    return Laboratory(varve, build, tmp_path_factory.mktemp("situations"))


@pytest.fixture(name="run", params=SOURCES)
def fixture_run(request, laboratory):
    """run(SITUATION): what came of it for one collector; it ended as it should and said nothing of
    its own."""
    def run(situation, status=0, **more):
        if request.param == "python" and "python" not in laboratory.run("python", "plain").facts:
            pytest.skip("this build traces no calls of Python")
        outcome = laboratory.run(request.param, situation, **more)
        assert (outcome.done.returncode, outcome.done.stderr) == (status, ""), outcome.done
        return outcome._replace(kept=outcome.kept[request.param]), request.param
    return run


def is_complete(outcome, collector=None):
    assert outcome.lost == 0
    assert (outcome.kept[collector] if collector else outcome.kept) == outcome.told
    return True


@pytest.mark.parametrize("program", ["/bin/true", sys.executable])
def test_what_is_absent_is_not_spoken_of(varve, build, tmp_path, program):
    words = [program] if program == "/bin/true" else [program, "-c", "import json, threading"]
    done = subprocess.run([varve, "record", "-o", tmp_path / "x.varve", "--", *words],
                          env=environment(),
                          capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0 and "attached" not in done.stderr
    assert os.listdir(tmp_path / "x.varve") == ["manifest.json"]


def collectors_of(varve, build, folder, *words):
    """{collector: what its row says} for programs that tell of so many, and what varve record said
    of them."""
    done = subprocess.run([varve, "record", "-o", "x.varve", "--",
                           build / "tests" / "tools" / "many_collectors", *words],
                          cwd=folder, env=environment(), capture_output=True, text=True,
                          timeout=240, check=True)
    table = json.loads(subprocess.run([varve, "info", "--json", "--table", "collectors", "x.varve"],
                                      cwd=folder,
                                      capture_output=True, text=True,
                                      check=True).stdout)["tables"]["collectors"]
    said = [line.removeprefix("varve: ") for line in done.stderr.splitlines()
            if re.match("varve: (source|collectors)", line)]
    return {row[0]: row[1:] for row in table["rows"]}, said


def test_forty_of_which_some_fail(varve, build, tmp_path):
    """And two that only the child has: each is told of, by varve info and at the end of varve
    record."""
    rows, said = collectors_of(varve, build, tmp_path, "40")
    clauses = {}
    for number in range(42):
        processes = 2 if number < 40 else 1
        own = ["not attached", processes, "too old"] if number % 3 == 0 else ["attached", processes,
                                                                              None]
        assert rows.pop(f"source{number}") == own
        clauses[
            number] = f"source{number} {own[0]} in {processes} of 2 processes" + " (too old)" * (
                number % 3 == 0)
    assert rows == {}
    assert said == list(clauses.values())


def test_forty_without_memory(varve, build, tmp_path):
    """What cannot be remembered until there is a trace is counted there."""
    rows, said = collectors_of(varve, build, tmp_path, "40", "starved")
    lost = 40 - sum(f"source{number}" in rows for number in range(40))
    text = f"{lost} notes of other collectors lost: no memory"
    assert 1 < lost < 40
    assert rows["collectors"] == ["note", 2, text] and f"collectors: {text}" in said
    assert {"source40", "source41"} <= rows.keys()


def test_plainly(run):
    outcome, _ = run("plain")
    assert is_complete(outcome) and outcome.told == UNITS


def test_attached_twice(run):
    """By `varve record` and by the program; libraries that come later make nobody look again in
    vain."""
    outcome, _ = run("twice")
    assert is_complete(outcome) and outcome.told == UNITS


def test_a_second_copy_of_the_library(run, build, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy") / "libvarve.so"
    shutil.copy(build / "libvarve.so", copy)
    outcome, _ = run("copied", library=copy)
    assert is_complete(outcome) and outcome.told == UNITS


def test_stopped_and_started(run):
    """What is done between is not kept."""
    outcome, _ = run("stopped")
    assert is_complete(outcome) and outcome.told == 4 * UNITS


def test_a_crowd_of_threads(run):
    outcome, _ = run("crowd")
    assert is_complete(outcome) and outcome.told == THREADS * UNITS


def test_children_and_theirs(run):
    outcome, _ = run("fork")
    assert is_complete(outcome) and outcome.told == 5 * UNITS


def test_while_the_interpreter_ends(run):
    outcome, _ = run("exit")
    assert is_complete(outcome) and outcome.told == 2 * UNITS


def test_threads_that_are_cut_short(run):
    """Four, each inside one unit at most that it had not told of."""
    outcome, _ = run("daemons", status=3)
    assert outcome.lost == 0 and outcome.told > 100
    assert outcome.told <= outcome.kept <= outcome.told + 4


def test_its_libraries_are_closed(run):
    outcome, _ = run("closed")
    assert is_complete(outcome) and outcome.told == UNITS


def test_a_storm_of_signals(run):
    outcome, _ = run("interrupted")
    assert is_complete(outcome)


def test_exceptions_go_through(run, laboratory, tmp_path):
    outcome, collector = run("thrown")
    bare = laboratory.bare(SOURCES[collector], "thrown", tmp_path / "told")
    assert outcome.done.stdout == bare.stdout != ""
    assert is_complete(outcome) and outcome.unfinished == 0


def test_files_are_full(run):
    """One is followed by another; where none can be, nothing is kept, and the program goes on."""
    assert is_complete(run("full")[0])
    outcome, _ = run("no room")
    assert (outcome.told, outcome.kept) == (UNITS, 0)


def test_each_of_its_reservations_fails(laboratory, build, tmp_path):
    """Once, or from then on, in turns: what cannot be kept is not, and the program does not
    notice. `make check` takes each third, VARVE_SOAK=1 all."""
    seen, module = tmp_path / "seen", build / "tests" / "programs" / "failing_calls.so"

    def run(first, count):
        outcome = laboratory.run("torch", "starved", before=(
            "env", f"LD_PRELOAD={build / 'libvarve.so'}:{module}", f"FAILING_CALL_SEEN={seen}",
            f"FAILING_CALL=mmap:{first}:{count}:{errno.ENOMEM}"))
        assert (outcome.done.returncode, outcome.done.stdout,
                outcome.done.stderr) == (0, "", ""), (first, outcome)
        assert outcome.told == UNITS
        return outcome
    assert is_complete(run(10**9, 1), "torch")
    calls = int(seen.read_text())
    assert calls > 8
    for number in range(0, calls, 1 if os.environ.get("VARVE_SOAK") else 3):
        outcome = run(number, (1, 10**9)[number % 2])
        assert max(outcome.kept["torch"], outcome.kept["memory"]) <= UNITS


def test_a_sandbox_without_process_vm_readv(run):
    outcome, collector = run("sandbox")
    assert is_complete(outcome)
    if collector != "python":
        assert outcome.facts["torch"].startswith("attached: ") and outcome.facts["torch"].endswith(
            "shapes, lists")

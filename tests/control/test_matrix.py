# SPDX-License-Identifier: Apache-2.0
"""Every way to begin a recording × every state of the process × every call that switches it: a
success, or a code with a sentence, as the pages say it; never a signal; and what was recorded lies
where it belongs, in whole traces."""
import collections
import os
import re
import subprocess

import pytest
import varve_decode
from control_model import BEGINNINGS, CALLS, STATES, run_cell
from recording import quiet_environment, without_handlers

SOAK = os.environ.get("VARVE_SOAK")


@pytest.fixture(scope="module")
def matrix(build, varve):
    """matrix(folder, [(BEGINNING, STATE, FIRST, SECOND)]) runs those cells, each in a folder of its
    own."""
    programs = build / "tests" / "programs"
    paths = [programs / "control_matrix", (build / "libvarve.so").resolve(),
             programs / "control_cell.so"]
    if not all(path.exists() for path in paths):
        pytest.skip("needs tests/programs/control_matrix: make tests")
    assert varve.exists()

    def run(folder, cells):
        lines = "".join(f"{folder}/{number} {' '.join(cell)}\n"
                        for number, cell in enumerate(cells))
        # A cell ends with a configuration in hand; to look for it costs more than all the rest.
        environment = quiet_environment(**without_handlers("detect_leaks=0"))
        return subprocess.run(paths, input=lines, cwd=folder, env=environment, text=True,
                              check=True, capture_output=True)
    run.paths = paths
    return run


def ranges_of(folder):
    """{(trace, name): ranges} of the whole traces below the folder. One in which nobody recorded
    has nothing in it."""
    counted = collections.Counter()
    for path in sorted(folder.iterdir()):
        # a process that has recorded nothing does nothing at its end
        if {inner.name for inner in path.iterdir()} <= {"lost"}:
            assert all(not any(page.read_bytes()[16:]) for page in path.iterdir())
            continue
        trace = varve_decode.open_trace(str(path))
        assert trace.problems == []
        assert len(trace.processes) == len([inner for inner in path.iterdir() if inner.is_dir()])
        for process in trace.processes:
            ranges, unmatched = varve_decode.ranges(process)
            assert (unmatched, [item for item in ranges if item.unfinished]) == (0, [])
            counted.update((path.name, item.name) for item in ranges if not item.is_step)
        assert varve_decode.counts(trace)["lost"] == 0
    return counted


def check(done, folder, cells):
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == len(cells)
    wrong = []
    for number, (cell, line) in enumerate(zip(cells, lines)):
        _, *said, end = line.split("\t")
        codes, ranges = run_cell(*cell)
        seen = [int(one.split()[0]) for one in said]
        if end != "ok" or "FLAW" in line or seen != codes:
            wrong.append((" ".join(cell), end, codes, said))
        elif (found := ranges_of(folder / str(number))) != ranges:
            wrong.append((" ".join(cell), dict(found - ranges), dict(ranges - found)))
    assert wrong == []


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_each_call_keeps_its_promise_in_each_state(matrix, varve, tmp_path, beginning):
    seconds = CALLS if SOAK else [None]
    cells = [(beginning, state, first, second or first) for state in STATES for first in CALLS
             for second in seconds]
    check(matrix(tmp_path, cells), tmp_path, cells)
    if SOAK:
        return
    made = [path for path in tmp_path.glob("*/*.varve")
            if any(inner.is_dir() for inner in path.iterdir())]
    assert len(made) > 20
    info = subprocess.run([varve, "info", "--strict", *made], capture_output=True, text=True,
                          check=False)
    assert (info.returncode, info.stderr) == (0, "")


@pytest.mark.parametrize("cell, message", [
    (("environment", "fresh", "option", "session-start"),
     "a session runs already, into '{folder}/0/began.varve'"),
    (("environment", "fresh", "option", "session-stop"),
     "the session belongs to the environment's options: it ends with the process"),
    (("environment", "fresh", "options-environment", "session-stop"),
     "the session belongs to varve_profiling_init_options: varve_profiling_finalize ends it"),
    (("environment", "fresh", "options", "session-stop"),
     "the session belongs to varve_profiling_init_options: varve_profiling_finalize ends it"),
    (("environment", "recorded", "finalize", "session-stop"),
     "the session belongs to the environment's options: it ends with the process"),
    (("environment", "child", "init", "session-stop"), "no session runs"),
    (("record", "fresh", "stop", "options"),
     "varve_profiling_init_options: this process is recorded already, into "
     "'{folder}/0/began.varve', by `varve record`: it "
     "ends with the process"),
    (("session", "paused", "stop", "init"),
     "varve_profiling_init: this process is recorded already, into '{folder}/0/began.varve', by "
     "varve_session_start"),
    (("nothing", "fresh", "session-start", "in-order"),
     "varve_profiling_init: this process is recorded already, into '{folder}/0/session.varve', by "
     "varve_session_start"),
    (("nothing", "fresh", "layers-all", "dump"), "cannot dump to 'dump.varve': no session runs"),
    (("environment", "fresh", "dump-default", "dump-default"),
     "cannot dump: the session has recorded nothing yet"),
])
def test_a_refusal_says_who_records_already(matrix, tmp_path, cell, message):
    *_, first, second, end = matrix(tmp_path, [cell]).stdout.rstrip("\n").split("\t")
    refused = second if not second.startswith("0") else first
    assert (refused.partition(" ")[2], end) == (message.format(folder=tmp_path), "ok")


def test_the_words_are_those_of_the_programs(root):
    programs = root / "tests" / "programs"
    row = re.compile(r'^    \{ "([a-z-]+)",\s', re.M)
    assert row.findall((programs / "control_matrix.c").read_text()) == BEGINNINGS
    assert row.findall((programs / "modules" / "control_cell.c").read_text()) == CALLS
    control = set(re.findall(r"\b(varve_\w+)\(", (root / "include/varve/control.h").read_text()))
    cell = (programs / "modules" / "control_cell.c").read_text()
    inner = {"varve_emit_told", "varve_steps_"}  # what varve_profiling_poll calls
    assert {name for name in control - inner if name not in cell} == set()
    assert all(name in cell for name in ("varve_session_start", "varve_session_stop",
                                         "varve_session_dump", "varve_layers_set"))


def test_varve_record_sets_what_the_programs_set(run):
    for words, setting in ((["--paused"], "VARVE_PAUSED=1"), (["--schedule", "skip=1,active=1"],
                                                              "VARVE_SCHEDULE=skip=1,active=1")):
        lines = run("record", "--dry-run", *words, "--", "true").stdout.splitlines()
        assert [lines[0].partition("=")[0], lines[1]] == ["VARVE_OUTPUT", "VARVE_LAYERS=all"]
        assert [line for line in lines if line.startswith("VARVE_")
                and line not in lines[:2]] == [setting]


def test_a_trace_that_was_taken_over_is_whole_to_babeltrace(matrix, babeltrace2, tmp_path):
    cells = [(beginning, state, call, call) for beginning in ("environment", "keep")
             for state in ("recorded", "recorded-child")
             for call in ("init", "options", "in-order")]
    matrix(tmp_path, cells)
    made = [path for path in sorted(tmp_path.glob("*/*.varve")) if any(path.iterdir())]
    printed = subprocess.run([babeltrace2, *made], capture_output=True, text=True, check=True)
    events = sum(varve_decode.counts(varve_decode.open_trace(str(path)))["events"] for path in made)
    assert (len(printed.stdout.splitlines()), printed.stderr) == (events, "")


def test_sessions_dumps_and_switches_of_several_threads_do_not_disturb_each_other(matrix, tmp_path):
    rounds = 500 if SOAK else 50
    done = subprocess.run([*matrix.paths, str(rounds)], cwd=tmp_path, env=quiet_environment(),
                          text=True, check=False, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for path in tmp_path.iterdir():
        if any(path.iterdir()):
            assert varve_decode.open_trace(str(path)).problems == []

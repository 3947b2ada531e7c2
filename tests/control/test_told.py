# SPDX-License-Identifier: Apache-2.0
"""Control callbacks are told of the switches that other processes and schedules make: each once, in
order, with the layers, the instant and who asked, on a thread of the program."""
import collections
import itertools
import os
import signal
import subprocess
import time

import pytest
import varve_decode
from recording import quiet_environment, without_handlers

# Sanitized builds are slow to begin, and each switch is a command.
SWITCHES = 250 if os.environ.get("VARVE_BUILD") and not os.environ.get("VARVE_SOAK") else 1000
INIT, START, STOP = 1, 2, 3
BY_PROGRAM, BY_SCHEDULE, BY_OUTSIDE = 1, 2, 3
ALL, OP, STEP = 0x7ff, 0x4, 0x100
SLACK_NS = 200_000  # the records' clock is converted
Call = collections.namedtuple("Call", "event layers time_ns asked_by pid missed where")


@pytest.fixture(name="listener")
def fixture_listener(told, varve, build, tmp_path):
    """listener(MODE, *OPTIONS) starts tests/programs/told under varve record."""
    program = build / "tests" / "programs" / "told"
    if not program.exists():
        pytest.skip("needs tests/programs/told: make tests")

    def start(mode, *options, **environment):
        command = [varve, "record", "-o", "t.varve", *options, "--"] if options else []
        process = told(*command, program, mode, tmp_path / "log", **without_handlers(),
                       **environment)
        assert process.answer() == "ready"
        return process
    return start


@pytest.fixture(name="calls")
def fixture_calls(tmp_path):
    """calls() reads what the callback wrote down."""
    def read():
        rows = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
        return [Call(*map(int, row[:-1]), row[-1]) for row in rows]
    return read


@pytest.fixture(name="switch")
def fixture_switch(varve, tmp_path):
    """switch("stop", PID) does so from another process and returns its number and the instants
    between which it was."""
    environment = quiet_environment()

    def command(*words):
        before_ns = time.monotonic_ns()
        with subprocess.Popen([varve, *map(str, words)], cwd=tmp_path, env=environment,
                              stderr=subprocess.DEVNULL) as process:
            assert process.wait() == 0
        return process.pid, before_ns, time.monotonic_ns()
    return command


def make_switches(pid, switch, count):
    """Makes that many switches and returns [(event, layers, PID, before, after)]."""
    rounds = itertools.cycle([(("start", pid), ALL), (("start", "--layers", "OP", pid), OP),
                              (("stop", pid), 0),
                              (("start", "--layers", "STEP,OP", pid), STEP | OP),
                              (("stop", pid), 0)])
    made = []
    for words, layers in itertools.islice(rounds, count):
        made.append((START if layers else STOP, layers, *switch(*words)))
    return made


def check(called, made):
    assert [(call.event, call.layers, call.pid) for call in called] == [one[:3] for one in made]
    assert {(call.asked_by, call.missed) for call in called} == {(BY_OUTSIDE, 0)}
    wrong = [(call, before_ns, after_ns)
             for call, (_, _, _, before_ns, after_ns) in zip(called, made)
             if not before_ns - SLACK_NS <= call.time_ns <= after_ns + SLACK_NS]
    assert wrong == []
    assert [call.time_ns for call in called] == sorted(call.time_ns for call in called)


@pytest.mark.parametrize("mode, where", [("steps", {"thread"}), ("polls", {"thread"}),
                                         ("neither", {"main"})])
def test_many_switches_from_outside_are_told_once_each_and_in_order(
        listener, calls, switch, pid_of, tmp_path, mode, where):
    program = listener(mode, "--paused")
    pid = pid_of()
    threads = os.listdir(f"/proc/{pid}/task")
    made = make_switches(pid, switch, SWITCHES)
    assert os.listdir(f"/proc/{pid}/task") == threads  # none of ours
    deadline = time.monotonic() + 120
    while where != {"main"} and len(calls()) < SWITCHES and time.monotonic() < deadline:
        time.sleep(0.01)
    assert program.finish() == 0
    check(calls(), made)
    assert {call.where for call in calls()} <= where | {"main"}
    assert sum(call.where in where for call in calls()) >= SWITCHES - 2
    trace = varve_decode.open_trace(str(tmp_path / "t.varve"))
    assert trace.problems == []
    (process,) = trace.processes
    layers = [record.fields["layers"] for stream in process.streams for record in stream.records
              if record.name == "varve.layers"]
    layers = [mask for mask, _ in itertools.groupby(layers)]  # one may be noted as it is made
    assert layers[-SWITCHES:] == [one[1] for one in made]


def test_a_program_that_neither_steps_nor_polls_is_told_at_its_end(listener, calls, switch, pid_of):
    program = listener("neither", "--paused")
    made = make_switches(pid_of(), switch, 7)
    time.sleep(0.1)
    assert calls() == []
    assert program.finish() == 0
    check(calls(), made)


def test_the_slow_path_of_records_tells(listener, calls, switch, pid_of):
    program = listener("records", "--paused")
    made = [(START, ALL, *switch("start", pid_of()))]
    deadline = time.monotonic() + 120
    while not calls() and time.monotonic() < deadline:
        time.sleep(0.01)
    check(calls(), made)
    assert calls()[0].where == "thread"
    program.finish()


def test_threads_that_step_poll_and_record_tell_each_switch_once(listener, calls, switch, pid_of):
    program = listener("all", "--paused")
    made = make_switches(pid_of(), switch, 100)
    assert program.finish() == 0
    assert program.stderr.count("ThreadSanitizer") == 0
    check(calls(), made)


def test_nothing_is_told_in_a_signal_handler(listener, calls, switch, pid_of):
    program = listener("handler", "--paused")
    made = make_switches(pid_of(), switch, 50)
    time.sleep(0.1)
    assert program.finish() == 0
    check(calls(), made)
    assert {call.where for call in calls()} == {"main"}


def test_ges_dynamic_mode_tells_of_the_start_that_it_waits_for(listener, calls, switch):
    program = listener("steps", PROFILING_MODE="dynamic",
                       PROFILING_OPTIONS='{"output": "t.varve", "layers": "OP"}')
    made = [(START, OP, *switch("start", program.process.pid)),
            (STOP, 0, *switch("stop", program.process.pid))]
    program.finish()
    first, *others = calls()
    assert first[:2] == (INIT, 0)
    check(others, made)


def test_a_schedule_is_told(listener, calls):
    program = listener("steps", "--schedule", "skip=3,active=2,repeat=4")
    deadline = time.monotonic() + 120
    while len(calls()) < 8 and time.monotonic() < deadline:
        time.sleep(0.01)
    program.finish()
    assert [(call.event, call.layers, call.asked_by, call.pid, call.missed, call.where)
            for call in calls()] == [(START, ALL, BY_SCHEDULE, 0, 0, "thread"),
                                     (STOP, 0, BY_SCHEDULE, 0, 0, "thread")] * 4


def test_what_is_recorded_already_is_told_at_once(listener, calls, switch, pid_of):
    program = listener("steps", "--layers", "OP,STEP")
    (call,) = calls()
    assert call[:2] == (START, OP | STEP) and call.asked_by == BY_OUTSIDE and call.where == "main"
    made = [(STOP, 0, *switch("stop", pid_of()))]
    program.finish()
    check(calls()[1:], made)


def test_a_killed_program_tells_nobody(listener, calls, switch, pid_of):
    program = listener("neither", "--paused")
    switch("start", pid_of())
    os.kill(pid_of(), signal.SIGKILL)
    program.finish()
    assert calls() == []

# SPDX-License-Identifier: Apache-2.0
"""varve record --pid: a running process is switched on, for a time, and then back to what it
was."""
import os
import re
import signal
import subprocess
import time

import pytest
import varve_decode
from recording import quiet_environment, switches


@pytest.fixture
def attach(tmp_path, varve):
    """attach(PID, …) starts varve record --pid; whatever still runs at the end is killed."""
    started = []

    def start(pid, *words):
        started.append(subprocess.Popen([varve, "record", "--pid", str(pid), *words], cwd=tmp_path,
                                        text=True, env=quiet_environment(), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE))
        return started[-1]
    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait_for(program, layers):
    """Until the program says that it records these layers."""
    end = time.monotonic() + 120
    while program.do("layers") != str(layers):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_happens_meanwhile_is_recorded_and_nothing_else(record, attach, pid_of, counts):
    program = record("--paused")
    program.do("pairs 1000")
    attached = attach(pid_of())
    wait_for(program, 0x7FF)
    program.do("pairs 50")
    attached.send_signal(signal.SIGINT)
    _, said = attached.communicate(timeout=120)
    assert attached.returncode == 0
    assert program.do("layers") == "0"
    program.do("pairs 1000")
    program.finish()
    assert counts()["work"] == 50
    first, second = said.splitlines()
    # 100 of ranges, and the process's own: the switch, a clock, a thread's name
    match = re.fullmatch(
        rf"varve: recorded {pid_of()} \(on_command\) for [\d.]+ .?s: (\d+) events, none lost",
        first)
    assert match and 100 <= int(match[1]) <= 110
    assert second == "varve: next: varve report t.varve"


def test_after_its_duration_it_ends_by_itself_and_sleeps_till_then(record, attach, pid_of,
                                                                   tmp_path):
    program = record("--paused")
    program.do("layers")
    begin = time.monotonic()
    attached = attach(pid_of(), "--duration", "700ms")
    _, said = attached.communicate(timeout=120)
    number, milli = re.search(r" for ([\d.]+) (m?)s: ", said).groups()
    # it has three digits
    assert 0.7 <= float(number) / (1000 if milli else 1) <= 1.01 * (time.monotonic() - begin)
    assert program.do("layers") == "0"
    program.finish()
    (process,) = varve_decode.open_trace(str(tmp_path / "t.varve")).processes
    (_, off), (started_ns, on), (stopped_ns, off_again) = switches(process)
    assert (off, on, off_again) == (0, 0x7FF, 0) and stopped_ns - started_ns >= 700_000_000


def test_it_waits_without_working(record, attach, pid_of):
    program = record("--paused")
    program.do("layers")
    attached = attach(pid_of())
    wait_for(program, 0x7FF)
    def done_so_far():
        return re.findall(r"^(?:State|.*ctxt_switches):.*$",
                          open(f"/proc/{attached.pid}/status", encoding="ascii").read(), re.M)
    before, end = [], time.monotonic() + 120
    while done_so_far() != before:  # it may still be about to wait
        assert time.monotonic() < end
        before = done_so_far()
        time.sleep(0.6)
    assert before[0] == "State:\tS (sleeping)"
    attached.terminate()
    assert attached.wait(timeout=120) == 0
    assert program.do("layers") == "0"


def test_it_goes_back_to_what_it_was(record, attach, pid_of):
    program = record("--layers", "OP")
    program.do("pairs 1")
    attached = attach(pid_of(), "--layers", "STEP,MEMORY")
    wait_for(program, 0x180)
    attached.send_signal(signal.SIGTERM)
    assert attached.wait(timeout=120) == 0
    assert program.do("layers") == str(0x4)


def test_a_switch_by_somebody_else_meanwhile_stands(record, run, attach, pid_of):
    program = record("--paused")
    program.do("layers")
    attached = attach(pid_of())
    wait_for(program, 0x7FF)
    # the page is not locked meanwhile
    assert run("start", "--layers", "OP", pid_of()).returncode == 0
    attached.send_signal(signal.SIGINT)
    _, said = attached.communicate(timeout=120)
    assert said.splitlines(
    )[1] == f"varve: somebody else switched {pid_of()} meanwhile: it is left as it is"
    assert program.do("layers") == "4"


@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_the_end_of_the_process_ends_it(record, attach, pid_of, counts, how):
    program = record("--paused")
    program.do("layers")
    pid = pid_of()
    attached = attach(pid)
    wait_for(program, 0x7FF)
    program.do("pairs 20")
    if how == "ends":
        program.finish()
    else:
        program.send("kill")
    _, said = attached.communicate(timeout=120)
    assert attached.returncode == 0
    assert re.match(rf"varve: recorded {pid} \(on_command\) for [\d.]+ .?s, to its end: \d+ "
                    rf"events, none lost\n", said)
    if how == "is killed":
        program.finish()
    assert counts()["work"] == 20


def test_ges_dynamic_mode_is_recorded_too(told, attach, on_command, counts):
    program = told(on_command, PROFILING_MODE="dynamic",
                   PROFILING_OPTIONS='{"output": "t.varve", "layers": "OP"}')
    program.do("pairs 5")
    attached = attach(program.process.pid)
    wait_for(program, 4)
    program.do("pairs 2")
    attached.send_signal(signal.SIGINT)
    attached.wait(timeout=120)
    program.do("pairs 5")
    program.finish()
    assert counts()["work"] == 2


def test_quiet_says_nothing(record, attach, pid_of):
    program = record("--paused")
    program.do("layers")
    assert attach(pid_of(), "-q", "--duration", "10ms").communicate(timeout=120) == ("", "")


def test_a_flight_recorder_says_what_is_there(record, attach, pid_of):
    program = record("--paused", "--keep", "64MB")
    program.do("layers")
    attached = attach(pid_of(), "--duration", "10ms")
    assert re.search(r"s: the last 64 MB are kept, none lost\n",
                     attached.communicate(timeout=120)[1])


def test_a_schedule_is_not_ended_unasked(record, run, pid_of):
    program = record("--schedule", "skip=2,active=1")
    program.do("steps 3")
    done = run("record", "--pid", pid_of(), "--duration", "1s")
    assert (done.returncode, done.stderr) == (
        3, f"varve: process {pid_of()} (on_command) counts steps by a schedule, which this would "
           f"end: to end it,  "
           f"varve stop {pid_of()}\n")
    program.finish()


def test_a_process_without_a_page_is_told_how_to_begin_it(told, run, on_command):
    alone = told(on_command)
    alone.do("layers")
    done = run("record", "--pid", alone.process.pid)
    assert (done.returncode, done.stderr) == (
        3, f"varve: process {alone.process.pid} (on_command) has recorded nothing yet. To wait "
           f"for a start from its "
           "beginning on:  varve record --paused -- PROGRAM\n")
    with subprocess.Popen(["sleep", "1000"]) as bare:
        done = run("record", "--pid", bare.pid)
        bare.kill()
    assert done.returncode == 3
    assert done.stderr.endswith("is not recorded. Begin it with:  varve record -- PROGRAM\n")
    done = run("record", "--pid", "4194305")
    assert (done.returncode,
            done.stderr) == (3, "varve: no process 4194305. Those being recorded:  varve status\n")


@pytest.mark.parametrize("words, message", [
    (["--pid", "1", "true"],
     "--pid records a process that runs already: 'true' is one word too many"),
    (["--pid", "on_command"],
     "--pid 'on_command' is no process number. Those being recorded:  varve status"),
    (["--pid", "1", "--keep", "1s"],
     "--keep is for a program that varve record begins: it does not go with --pid"),
    (["--pid", "1", "--paused"],
     "--paused is for a program that varve record begins: it does not go with --pid"),
    (["--pid", "1", "--dry-run"],
     "--dry-run is for a program that varve record begins: it does not go with --pid"),
    (["--pid", "1", "--duration", "5"],
     "--duration: '5' is no time: write a whole number and a unit, such as 500ms, "
                                        "10s or 2min"),
    (["--pid", "1", "--duration", "0s"], "--duration 0 records nothing: write a time such as 5s"),
    (["--pid", "1", "-o", ""], "-o wants the trace's name:  varve record --pid 1 -o NAME.varve"),
    (["--pid", "1", "--layers", "OPS"],
     "--layers: no such layer 'OPS'; nearest: OP. Write all, or some of API, HOST, OP, RUNTIME, "
                                        "RUNTIME_L1, DEVICE, COMM, MEMORY, STEP, PYTHON, METRIC "
                                        "with commas between"),
])
def test_a_wrong_command_line_exits_with_2(run, words, message):
    done = run("record", *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"varve: {message}\n")


@pytest.mark.parametrize("how", ["goes on", "ends"])
def test_with_o_what_is_recorded_is_copied(record, run, attach, pid_of, counts, tmp_path, how):
    program = record("--paused")
    program.do("layers")
    pid = pid_of()
    attached = attach(pid, "-o", "five.varve")
    wait_for(program, 0x7FF)
    program.do("pairs 50")
    if how == "ends":
        program.finish()
    else:
        attached.send_signal(signal.SIGINT)
    _, said = attached.communicate(timeout=120)
    assert attached.returncode == 0, said
    assert said.splitlines()[-1] == "varve: next: varve report five.varve"
    assert counts("five.varve")["work"] == 50
    assert os.listdir(tmp_path / "five.varve") and pid_of("five.varve") == pid
    if how == "goes on":
        program.do("layers")
        program.finish()
    assert counts()["work"] == 50
    assert run("info", "--strict", "five.varve").returncode == 0


def test_a_copy_that_cannot_be_written_is_said_and_the_recording_stands(record, attach, pid_of,
                                                                        counts, tmp_path):
    program = record("--paused")
    program.do("layers")
    (tmp_path / "taken").write_text("")
    attached = attach(pid_of(), "-o", "taken")
    wait_for(program, 0x7FF)
    program.do("pairs 5")
    attached.send_signal(signal.SIGINT)
    _, said = attached.communicate(timeout=120)
    lines = said.splitlines()
    assert attached.returncode == 4, said
    assert lines[1].startswith("varve: 'taken' exists and is not a trace")
    assert lines[2] == "varve: next: varve report t.varve"
    program.finish()
    assert counts()["work"] == 5

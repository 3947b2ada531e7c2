# SPDX-License-Identifier: Apache-2.0
"""Options from the environment and the command line: who goes before whom, and what is recorded."""
import json
import subprocess

import pytest
import varve_decode


def indices(tmp_path, trace="t.varve"):
    """The recorded steps."""
    (process,) = varve_decode.open_trace(str(tmp_path / trace)).processes
    return [record.fields["index"] for stream in process.streams for record in stream.records
            if record.id == 9]


@pytest.mark.parametrize("schedule, wanted", [
    ("skip=1,warmup=1,active=3,repeat=2", [2, 3, 4, 7, 8, 9]),
    ("active=2,repeat=1", [0, 1]),
    ("skip=3,active=1", [3, 7, 11, 15, 19]),
    ("warmup=18,active=5", [18, 19]),
])
def test_record_keeps_the_active_steps_alone(record, tmp_path, schedule, wanted):
    program = record("--schedule", schedule)
    program.do("steps 20")
    program.finish()
    assert indices(tmp_path) == wanted
    assert "none lost" in program.stderr


def test_a_start_or_stop_by_hand_ends_the_schedule(record, run, pid_of, tmp_path):
    program = record("--schedule", "skip=2,active=1")
    program.do("steps 3")
    assert json.loads(run("status", "--json",
                          pid_of()).stdout)["tables"]["processes"]["rows"][0][3] == "counting steps"
    run("start", pid_of())
    program.do("steps 4")
    run("stop", pid_of())
    program.do("steps 4")
    program.finish()
    assert indices(tmp_path) == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("words, message", [
    (["--schedule", "activ=3"],
     "--schedule: the schedule has no word 'activ'. Nearest: active: write "
                                "skip=1,warmup=1,active=3,repeat=2, of which active is a must"),
    (["--schedule", "active=3", "--paused"],
     "--paused waits for varve start, --schedule for steps: one of the two"),
])
def test_a_schedule_that_makes_no_sense_is_refused(run, tmp_path, words, message):
    done = run("record", *words, "--", "touch", "was-run")
    assert (done.returncode, done.stderr) == (125, f"varve: {message}\n")
    assert list(tmp_path.iterdir()) == []


def test_dry_run_shows_when(run):
    lines = run("record", "--dry-run", "--paused", "--", "true").stdout.splitlines()
    assert lines[6:] == ["VARVE_PAUSED=1", "true"]
    lines = run("record", "--dry-run", "--schedule", "active=1", "--", "true").stdout.splitlines()
    assert lines[6:] == ["VARVE_SCHEDULE=active=1", "true"]
    lines = run("record", "--dry-run", "--", "true", env={"VARVE_PAUSED": "1"}).stdout.splitlines()
    assert lines[6:] == ["VARVE_PAUSED=''", "true"]  # of a varve record around this one


def test_the_environment_records_a_program_that_links_the_library(told, tmp_path, on_command,
                                                                  counts):
    text = '{"output": "t.varve", "layers": "OP", "aicpu": "on"}'
    program = told(on_command, VARVE_OPTIONS=text)
    program.do("pairs 9")
    program.do("steps 1")
    assert program.finish() == 0
    assert (counts()["work"], counts()["varve.step_begin"]) == (10, 0)
    (kept,) = (tmp_path / "t.varve").glob("*/.options.json")
    assert json.loads(kept.read_text()) == {
        "source": "VARVE_OPTIONS", "options": json.loads(text),
        "no_effect": {"aicpu": "accepted, no effect here: it needs an Ascend device"}}
    assert program.stderr == ""


@pytest.mark.parametrize("prefix", ["", "GE_"])
def test_ges_variables_do_as_well(told, on_command, counts, prefix):
    program = told(
        on_command, **{
            f"{prefix}PROFILING_MODE": "true",
            f"{prefix}PROFILING_OPTIONS": '{"output": "t.varve", "training_trace": "on"}'
        })
    program.do("steps 3")
    program.finish()
    assert (counts()["work"], counts()["varve.step_begin"]) == (3, 3)


def test_ges_dynamic_mode_waits(told, run, on_command, counts):
    program = told(on_command, PROFILING_MODE="dynamic",
                   PROFILING_OPTIONS='{"output": "t.varve", "layers": "OP"}')
    program.do("pairs 5")
    assert run("start", program.process.pid).returncode == 0
    program.do("pairs 2")
    program.finish()
    assert counts()["work"] == 2


@pytest.mark.parametrize("debug, stderr", [
    ({}, ""),
    ({"VARVE_DEBUG": "1"},
     "varve: not recorded: VARVE_OPTIONS: the options have no key 'ouput'; nearest: output, "
                           "at byte 1\n")])
def test_wrong_options_in_the_environment_record_nothing(told, tmp_path, on_command, debug, stderr):
    program = told(on_command, VARVE_OPTIONS='{"ouput": "t.varve"}', **debug)
    program.do("pairs 5")
    assert program.do("layers") == "0"
    assert program.finish() == 0
    assert (list(tmp_path.iterdir()), program.stderr) == ([], stderr)


def test_record_goes_before_the_environment_and_says_so(record, tmp_path, counts):
    program = record(VARVE_OPTIONS='{"output": "other.varve"}')
    program.do("pairs 4")
    program.finish()
    assert counts()["work"] == 4
    assert not (tmp_path / "other.varve").exists()
    assert program.stderr.startswith("varve: VARVE_OPTIONS is set, and not used: ")


@pytest.mark.parametrize("verb, words", [("start", []), ("stop", []), ("dump", []), ("status", []),
                                         ("record", ["--pid"])])
def test_bash_completes_processes_that_are_being_recorded(record, run, pid_of, varve, verb, words):
    process = record()
    process.do("pairs 10")
    pid = str(pid_of())
    script = run("completions", "bash").stdout
    script += f'COMP_WORDS=({varve} {verb} {" ".join(words)} ""); '
    script += f"COMP_CWORD={len(words) + 2}; _varve; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True,
                          check=True, timeout=120)
    assert pid in done.stdout.split() and "on_command" in done.stdout, done

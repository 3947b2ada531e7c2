# SPDX-License-Identifier: Apache-2.0
"""Programs that record themselves, and programs that nobody records."""
import os
import subprocess

import pytest

import babeltrace_text
import every_record_journal as journal
import varve_decode
from recording import BUILD, quiet_environment

OK, STATE = 0, 12  # enum varve_code


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("sessions", [1, 3])
def test_sessions_hold_what_was_made_inside(tmp_path, program, decode, babeltrace2, sessions):
    trace_path = tmp_path / "own.varve"
    stdout, stderr, exit_code = run([program("self_record"), trace_path, str(sessions)], tmp_path,
                                    quiet_environment())
    expected = f"start {OK}\nstart {STATE}\nstop {OK}\n" * sessions + f"stop {STATE}\n"
    assert (stdout.decode(), stderr, exit_code) == (expected, b"", 0)
    assert os.listdir(tmp_path) == ["own.varve"]
    assert decode("--check", trace_path).stderr == ""
    trace = varve_decode.open_trace(trace_path)
    counts = varve_decode.counts(trace)
    made = sum(range(1, sessions + 1))
    assert counts["by_name"]["inside"] == counts["by_name"]["instant"] == made
    assert counts["by_name"]["left open"] == sessions
    assert "outside" not in counts["by_name"]
    assert babeltrace_text.event_count(babeltrace2, trace_path) == counts["events"]
    built = [item for process in trace.processes for item in varve_decode.ranges(process)[0]]
    # a stop ends what is open
    assert [item.unfinished for item in built] == [False] * (made + sessions)


def test_a_session_under_record_is_refused(tmp_path, record):
    done = record(tmp_path, "self_record", tmp_path / "own.varve", "1")
    assert done.stdout.decode() == f"start {STATE}\nstart {STATE}\nstop {STATE}\nstop {STATE}\n"
    assert not (tmp_path / "own.varve").exists()
    by_name = varve_decode.counts(varve_decode.open_trace(done.trace))["by_name"]
    # begin and mark, before and after
    assert [by_name[name] for name in ("inside", "left open", "outside")] == [1, 1, 4]


@pytest.mark.parametrize("more", [
    {},
    {"LD_LIBRARY_PATH": str(BUILD)},
    {"LD_PRELOAD": str(BUILD / "libvarve.so")},
    {"VARVE_LAYERS": "all"},
], ids=["bare", "library path", "preloaded", "layers without output"])
def test_unrecorded_program_is_unchanged(tmp_path, program, every_record, more):
    stdout, stderr, exit_code = run([program("every_record"), "7", "20000"], tmp_path,
                                    quiet_environment(**more))
    assert stdout == every_record.stdout
    assert (stderr, exit_code) == (b"", 7)
    assert os.listdir(tmp_path) == []
    assert len(journal.expected(stdout)["main"]) > 60000


def test_unrecorded_example_is_unchanged(tmp_path, program, train):
    stdout, _, exit_code = run([program("examples/train"), "--steps", "5"], tmp_path,
                               quiet_environment())
    assert (stdout, exit_code) == (train.stdout, train.exit_code)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("output", ["/proc/no/such/place.varve", "/dev/null/x.varve"])
def test_unwritable_output_leaves_the_program_alone(tmp_path, program, every_record, output):
    environment = quiet_environment(LD_PRELOAD=str(BUILD / "libvarve.so"), VARVE_OUTPUT=output)
    stdout, stderr, exit_code = run([program("every_record"), "7", "20000"], tmp_path, environment)
    assert (stdout, stderr, exit_code) == (every_record.stdout, b"", 7)


@pytest.mark.parametrize("kibibytes", [0, 1, 2, 8, 64])
def test_file_size_limit_leaves_the_program_alone(tmp_path, program, record, kibibytes):
    limited = tmp_path / "limited.sh"
    # blocks of 512 bytes
    limited.write_text(f'ulimit -f {2 * kibibytes}\nexec "{program("every_record")}" 7\n')
    done = record(tmp_path, "/bin/sh", limited)
    stdout, _, exit_code = run([program("every_record"), "7"], tmp_path, quiet_environment())
    assert (done.stdout, done.exit_code) == (stdout, exit_code) == (stdout, 7)

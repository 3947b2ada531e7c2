# SPDX-License-Identifier: Apache-2.0
"""varve record --keep, --max-size, --when-full and --dump-on: what is refused, what reaches the
program, what is kept, and what the last lines say of it."""
import os
import re
import subprocess

import pytest
import varve_decode

EXAMPLES = "write a time such as 10s or 500ms, or a size such as 64MB"
REFUSED = [
    (["--keep", "10"], f"--keep: '10' has no unit: {EXAMPLES}"),
    (["--keep", "0s"], f"--keep: '0s' keeps nothing: {EXAMPLES}"),
    (["--keep", "ten"], f"--keep: 'ten' is neither a time nor a size: {EXAMPLES}"),
    (["--keep", "5m"], "--keep: '5m' may be minutes or megabytes: write 5min or 5MB"),
    (["--keep", "1s", "--max-size", "1MB"],
     "--keep keeps what comes last, --max-size what comes first: one of the two"),
    (["--keep", "1s", "--when-full", "grow"],
     "--keep drops what is oldest, and needs no --when-full: leave it out"),
    (["--when-full", "grow"], "--when-full wants --max-size, the size that it speaks of"),
    (["--when-full", "drop-oldest"], "--when-full wants --max-size, the size that it speaks of"),
    (["--when-full", "grow", "--max-size", "0"],
     "--max-size 0 is no limit, and --when-full has nothing to speak of"),
    (["--dump-on", "SIGFOO"], "--dump-on: 'SIGFOO' is no signal: write a name, such as SIGUSR2"),
    (["--dump-on", "SIGKILL"],
     "--dump-on: 'SIGKILL' stops a program, or says that it has failed: write a signal that "
                               "asks for something, such as SIGUSR2"),
    (["--duration", "5s"],
     "--duration goes with --pid: to record a part of a new program, --schedule counts steps"),
]


@pytest.mark.parametrize("words, message", REFUSED, ids=lambda value: " ".join(value)
                         if isinstance(value, list) else "")
def test_what_contradicts_itself_is_refused_before_the_program_runs(run, tmp_path, words, message):
    done = run("record", *words, "--", "touch", "was-run")
    assert (done.returncode, done.stderr) == (125, f"varve: {message}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_mistyped_policy_names_the_nearest(run):
    done = run("record", "--max-size", "1MB", "--when-full", "drop-oldst", "--", "true")
    assert (done.returncode,
            done.stderr) == (125,
                             "varve: --when-full is one of drop-newest, grow, drop-oldest; not "
                             "'drop-oldst'. Nearest: drop-oldest\n")


@pytest.mark.parametrize("words, settings", [
    (["--keep", "10s"], ["VARVE_KEEP=10s"]),
    (["--keep", "64 MiB", "--dump-on", "SIGUSR2"], ["VARVE_KEEP='64 MiB'",
                                                    "VARVE_DUMP_ON=SIGUSR2"]),
    (["--max-size", "2GB"], ["VARVE_MAX_SIZE=2GB"]),
    (["--max-size", "2GB", "--when-full", "grow"], ["VARVE_MAX_SIZE=2GB", "VARVE_WHEN_FULL=grow"]),
    (["--max-size", "2GB", "--when-full", "drop-newest"],
     ["VARVE_MAX_SIZE=2GB", "VARVE_WHEN_FULL=drop-newest"]),
    (["--max-size", "2GB", "--when-full", "drop-oldest"], ["VARVE_KEEP=2GB"]),
    (["--max-size", "2000000", "--when-full", "drop-oldest"], ["VARVE_KEEP=2000000B"]),
])
def test_dry_run_shows_what_the_program_gets(run, words, settings):
    lines = run("record", "--dry-run", *words, "--", "true").stdout.splitlines()
    assert lines[6:] == [*settings, "true"]


def test_what_a_record_around_it_has_set_is_undone(run):
    around = {name: "x" for name in ("VARVE_KEEP", "VARVE_WHEN_FULL", "VARVE_DUMP_ON")}
    lines = run("record", "--dry-run", "--", "true", env=around).stdout.splitlines()
    assert lines[6:] == ["VARVE_WHEN_FULL=''", "VARVE_KEEP=''", "VARVE_DUMP_ON=''", "true"]


def streams_bytes(trace):
    return sum(path.stat().st_blocks * 512 for path in trace.glob("*/thread.*"))


def check_whole(tmp_path, babeltrace2):
    """Both other readers find nothing wrong; the ranges of the only process."""
    trace = varve_decode.open_trace(str(tmp_path / "t.varve"))
    assert trace.problems == []
    printed = subprocess.run([babeltrace2, tmp_path / "t.varve"], capture_output=True, text=True,
                             check=True)
    assert printed.stderr == ""
    assert len(printed.stdout.splitlines()) == varve_decode.counts(trace)["events"]
    (process,) = trace.processes
    return process


@pytest.mark.parametrize("words", [["--keep", "1MB"], ["--max-size", "1MB", "--when-full",
                                                       "drop-oldest"]],
                         ids=["keep", "drop-oldest"])
def test_the_last_of_a_long_run_is_kept(record, run, tmp_path, babeltrace2, words):
    program = record(*words)
    program.do("pairs 300000")  # 4.8 MB
    program.do("steps 50")
    assert program.finish() == 0
    process = check_whole(tmp_path, babeltrace2)
    assert 500_000 < streams_bytes(tmp_path / "t.varve") <= 1_200_000
    indices = [record.fields["index"] for stream in process.streams for record in stream.records
               if record.id == 9]
    assert indices == list(range(50))
    last = program.stderr.splitlines()[-1]
    assert last == "varve: only the last 1 MB of each process were kept; next: varve report"
    assert "none lost" in program.stderr
    # with a range of 0 ns HEALTH has a row, and that is no loss
    done = run("info", "--strict", "t.varve")
    info = done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^ *lost +0$", info, re.M)
    assert re.search(r"^ *kept +flight recorder: the last 1 MB of each process were kept; \d+ "
                     r"ranges? began before$",
                     info, re.M)


def test_the_last_milliseconds_are_kept(record, tmp_path, babeltrace2):
    program = record("--keep", "300ms")
    program.do("pairs 300000")
    program.do("sleep 700")
    program.do("pairs 100000")
    program.do("sleep 100")
    program.do("pairs 100000")
    program.finish()
    process = check_whole(tmp_path, babeltrace2)
    ranges, _ = varve_decode.ranges(process)
    kept_ns = ranges[-1].end_ns - ranges[0].begin_ns
    assert len(ranges) >= 200000 or kept_ns >= 300_000_000  # all of the last 300 ms
    # nothing of before, but for a part of the stream
    assert len(ranges) < 400000
    assert program.stderr.splitlines(
    )[-1] == "varve: only the last 300 ms of each process were kept; next: varve report"


def test_a_short_run_is_kept_whole(record, run, counts):
    program = record("--keep", "64MB")
    program.do("pairs 1000")
    program.finish()
    assert counts()["work"] == 1000
    assert program.stderr.splitlines()[-1] == "varve: next: varve report"
    assert "the last 64 MB of each process were kept; 0 ranges began before" in run(
        "info", "t.varve").stdout


def test_a_range_that_began_before_is_counted(record, run, tmp_path):
    program = record("--keep", "1MB")
    program.do("open")
    program.do("pairs 300000")
    program.do("close")
    program.finish()
    (process,) = varve_decode.open_trace(str(tmp_path / "t.varve")).processes
    (thread,) = [stream for stream in process.streams if stream.kind == "thread"]
    # "left open", and a "work" that the oldest part split
    before = 2 if thread.records[0].id == 1 else 1
    assert varve_decode.ranges(process)[1] == 0
    assert process.begun_before == before
    assert re.search(rf"the last 1 MB of each process were kept; {before} ranges? began before$",
                     run("report", "t.varve").stdout, re.M)


def test_grown_past_the_size_nothing_is_lost_and_it_is_said(record, counts):
    program = record("--max-size", "1MB", "--when-full", "grow")
    program.do("pairs 300000")
    program.finish()
    assert counts()["work"] == 300000
    first, second, third = program.stderr.splitlines()
    assert "  none lost  " in first
    assert re.fullmatch(
        r"varve: 1 process grew past --max-size 1MB, to 4\.\d+ MB; nothing was dropped for it",
        second)
    assert third == "varve: next: varve report"


def test_within_the_size_nothing_is_said_of_it(record):
    program = record("--max-size", "100MB", "--when-full", "grow")
    program.do("pairs 1000")
    program.finish()
    assert len(program.stderr.splitlines()) == 2


def test_drop_newest_is_the_standard(record, counts):
    for words in ([], ["--when-full", "drop-newest"]):
        program = record("--max-size", "1MB", *words)
        program.do("pairs 300000")
        program.finish()
        assert 0 < counts()["work"] < 80000
        first, second, third = program.stderr.splitlines()
        assert re.search(r"  [\d ]+ lost  ", first)
        assert second == ("varve: --max-size 1MB was full: --when-full grow keeps all, "
                          "--when-full drop-oldest what "
                          "comes last")
        assert third == "varve: next: varve report"


def test_the_options_text_keeps_as_well(told, tmp_path, on_command, run):
    program = told(on_command, VARVE_OPTIONS='{"output": "t.varve", "keep": "1MB"}')
    program.do("pairs 300000")
    program.finish()
    assert streams_bytes(tmp_path / "t.varve") <= 1_200_000
    assert "flight recorder: the last 1 MB" in run("info", "t.varve").stdout


def test_a_flight_recorder_is_read_while_it_flies(record, run, pid_of):
    program = record("--keep", "2MB")
    program.do("pairs 200000")
    program.send("threads 1500000")
    for _ in range(8):
        for verb in ("info", "report", "status"):
            done = run(verb, pid_of() if verb == "status" else "t.varve")
            assert done.returncode == 0, done.stderr
            assert "CUT" not in done.stdout
    assert program.answer() == "ok"
    assert program.finish() == 0


def test_a_killed_one_is_whole(record, tmp_path, babeltrace2):
    program = record("--keep", "1MB")
    program.do("pairs 300000")
    program.send("kill")
    program.finish()
    process = check_whole(tmp_path, babeltrace2)
    assert len(varve_decode.ranges(process)[0]) > 30000
    assert not [name for name in os.listdir(tmp_path / "t.varve" / process.name)
                if name.startswith(".thread")]

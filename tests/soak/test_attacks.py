# SPDX-License-Identifier: Apache-2.0
"""The programs and files with which others broke an earlier tree (../shared/attack, beside the
checkout): they end as they do alone, their traces read whole, what they emitted is kept or counted,
and nothing is where it did not happen."""
import glob
import os
import re
import shutil
import subprocess

import pytest
from recording import ROOT, binary, quiet_environment
from streams import lost_by_process, thread_streams

SOAK = os.environ.get("VARVE_SOAK")
BABELTRACE_BYTES_MAX = 16 << 20
ATTACKS = ROOT.parent / "shared" / "attack"
BEGIN_NAMED, KINDS, FIRST_SITE = 7, 8, 64
pytestmark = pytest.mark.usefixtures("attacks")


@pytest.fixture(scope="session")
def attack(tmp_path_factory):
    """A program of that folder, built against this tree."""
    folder = tmp_path_factory.mktemp("attacks")

    def build(name, *options):
        out = folder / name
        if not out.exists():
            subprocess.run(["cc", "-std=gnu17", "-O1", "-w", f"-I{ROOT}/include",
                            f"{ATTACKS}/{name}.c", "-o", out, binary("libvarve.so"),
                            f"-Wl,-rpath,{binary('libvarve.so').parent}", "-pthread", *options],
                           check=True)
        return str(out)
    return build


def run(*command, folder, **environment):
    return subprocess.run(command, cwd=folder, env=quiet_environment(**environment),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=300, check=False)


def bytes_of(trace):
    return sum(os.path.getsize(path) for path in glob.glob(f"{trace}/**", recursive=True)
               if os.path.isfile(path))


def reads_whole(trace):
    """By varve and, unless it is large, by babeltrace2, which takes a second for each megabyte.
    Returns what varve info says."""
    info = run(binary("varve"), "info", "--json", trace, folder=".")
    assert info.returncode == 0, info.stderr
    if shutil.which("babeltrace2") and (SOAK or bytes_of(trace) < BABELTRACE_BYTES_MAX):
        counter = run("babeltrace2", trace, "-c", "sink.utils.counter", folder=".")
        assert counter.returncode == 0, counter.stderr
    return info.stdout


def ranges_kept(trace):
    """Records of begins and ends in the threads' streams, and records that are counted as lost in
    any stream. The words of other records are values, not ids: only for programs that have ranges
    alone."""
    kept = lost = 0
    for words, lost_here, _ in thread_streams(trace):
        at = 0
        while at < len(words):
            kept += 1
            at += 2 if words[at] & 0xFFFFF == BEGIN_NAMED else 1
        lost += lost_here
    return kept, lost + lost_by_process(trace)


def names_of(trace):
    """{name: calls} of what ran."""
    done = run(binary("varve"), "report", "--by", "name", "--csv", "--table", "operators", trace,
               folder=".")
    assert done.returncode == 0, done.stderr
    return done.stdout


# How an attack of odd.c is called, and whether the program is alone with its records (else only the
# exit is compared).
ODD = {
    "seccomp_idle": [], "seccomp_errno": [], "seccomp_kill_few": [], "seccomp_trap": [],
    "mlockall": ["100"], "vlimit": ["600", "750000"], "closeall": [], "nofile": [], "setuid": [],
    "umask": [], "umask_early": [], "context": [],
    "openexit": [], "cancel": [], "threads": ["160"], "detached": ["200"], "vfork": [], "spawn": [],
    "plain": [], "deep": ["600"], "mismatch": [], "manysites": ["3000"], "manynames": ["20000"],
    "execloop": ["5"], "_Fork": [], "rawfork": [], "jump": []}
# what a raw child, or a handler that jumps, may cost: doc/threading.md
NO_SUM = {"rawfork", "_Fork", "jump",
          # they do not say how much they emitted, all in all
          "mismatch", "spawn", "execloop", "context"}
KILLED = {"seccomp_kill_few", "seccomp_trap"}       # a filter after records stood: doc/threading.md
SAYS = re.compile(r"emitted (\d+)")


@pytest.mark.parametrize("what", ODD)
def test_an_odd_life_ends_as_it_does_alone_and_its_records_are_kept_or_counted(what, attack,
                                                                               tmp_path):
    program = attack("odd")
    alone = run(program, what, *ODD[what], folder=tmp_path)
    trace = tmp_path / "x.varve"
    recorded = run(binary("varve"), "record", "-q", "-o", trace, "--", program, what, *ODD[what],
                   folder=tmp_path)
    by_signal = 128 - alone.returncode if alone.returncode < 0 else alone.returncode
    assert recorded.returncode == by_signal or what in KILLED, recorded.stderr
    if what not in KILLED | {"mlockall"}:  # which prints its own memory
        assert SAYS.sub("", recorded.stdout) == SAYS.sub("", alone.stdout)
    if not glob.glob(f"{trace}/*/process.0"):
        return
    reads_whole(trace)
    emitted = SAYS.search(recorded.stdout)
    if emitted and what not in NO_SUM:
        kept, lost = ranges_kept(trace)
        assert kept + lost == int(emitted[1]), (kept, lost)


def test_mlockall_costs_less_than_64_mb(attack, tmp_path):
    program, resident = attack("odd"), []
    for prefix in ((), (binary("varve"), "record", "-q", "-o", tmp_path / "x.varve", "--")):
        done = run(*prefix, program, "mlockall", "100", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        resident.append(int(re.search(r"VmRSS:\s+(\d+) kB", done.stdout)[1]))
    assert resident[1] - resident[0] < 64 << 10, resident


def test_a_fork_in_a_second_session_leaves_the_first_trace_as_it_is(attack, tmp_path):
    done = run(attack("forkstale"), folder=tmp_path)
    parent, child = re.search(r"parent (\d+) child (\d+)", done.stdout).groups()
    assert done.returncode == 0
    for trace in ("A.varve", "B.varve"):
        reads_whole(tmp_path / trace)
    assert sorted(os.listdir(tmp_path / "A.varve")) == [parent]
    assert ranges_kept(tmp_path / "A.varve") == (20, 0)
    assert set(os.listdir(tmp_path / "B.varve")) == {parent, child}
    assert ranges_kept(tmp_path / "B.varve") == (220, 0)
    assert "child" not in names_of(tmp_path / "A.varve")


def test_a_name_used_again_costs_no_other_thread_its_records(attack, tmp_path):
    assert run(attack("reuse"), folder=tmp_path).returncode == 0
    assert (ranges_kept(tmp_path / "A.varve"), ranges_kept(tmp_path / "A.varve.old")) == ((3020, 0),
                                                                                          (20, 0))
    for trace in ("A.varve", "A.varve.old"):
        reads_whole(tmp_path / trace)


@pytest.mark.parametrize("how", ["F", "c"])
def test_a_child_by_raw_clone_does_not_end_its_parent(how, attack, tmp_path):
    trace = tmp_path / "x.varve"
    done = run(binary("varve"), "record", "-q", "-o", trace, "--", attack("rf2"), how,
               folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "parent done\n")
    reads_whole(trace)


def test_a_sandbox_that_kills_finds_nothing_to_kill_for(attack, tmp_path):
    program = attack("sec")
    alone = run(program, folder=tmp_path)
    recorded = run(binary("varve"), "record", "-q", "-o", tmp_path / "x.varve", "--", program,
                   folder=tmp_path)
    assert (recorded.returncode, recorded.stdout) == (alone.returncode,
                                                      alone.stdout) == (0, "sandboxed work done\n")


def test_what_is_written_to_a_closed_number_goes_nowhere(attack, tmp_path):
    trace = tmp_path / "x.varve"
    done = run(binary("varve"), "record", "-q", "-o", trace, "--", attack("fd2"), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "writes that succeeded: 0\n")
    reads_whole(trace)


def test_steps_end_the_ranges_of_layers_that_are_off(attack, tmp_path):
    trace = tmp_path / "x.varve"
    run(binary("varve"), "record", "-q", "--layers", "OP,STEP", "-o", trace, "--", attack("skip2"),
        folder=tmp_path)
    info = run(binary("varve"), "info", "--strict", trace, folder=tmp_path)
    assert info.returncode == 0 and re.search(r"unfinished slices +0$", info.stdout,
                                              re.MULTILINE), info.stdout


@pytest.mark.parametrize("how", ["0", "s"])
@pytest.mark.parametrize("seed", range(3))
def test_sessions_forks_signals_and_dumps_at_once(how, seed, attack, tmp_path):
    done = run(attack("stress"), tmp_path / f"x{seed}.varve", "1", how, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for trace in glob.glob(f"{tmp_path}/x{seed}.varve*"):
        if glob.glob(f"{trace}/*/process.0"):
            reads_whole(trace)


@pytest.mark.parametrize("script", ["pf.py", "pr.py"])
def test_windows_of_a_python_program_that_forks(script, attack, tmp_path):
    python = binary("varve").parent / "venv" / "bin" / "python"
    (tmp_path / "python").symlink_to(ROOT / "python")
    (tmp_path / "build").symlink_to(binary("varve").parent)
    done = run(python if python.exists() else "python3", ATTACKS / script, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for trace in tmp_path.glob("P*.varve"):
        reads_whole(trace)
    if script == "pf.py":
        assert len(os.listdir(tmp_path / "P1.varve")) == 1


# ---- files ----

VERBS = [("info",), ("report",), ("steps",), ("critical",), ("memory",), ("idle",), ("validate",)]
SECONDS = 20  # of processor time; each took a minute or for ever, or the reader's stack


@pytest.mark.parametrize("verb", VERBS, ids="".join)
@pytest.mark.parametrize("file", ["bracket.json", "bracket_write.json", "absurd3.json",
                                  "nulcat.json.gz", "view3.sqlite"])
def test_a_hostile_file_is_read_or_refused(verb, file, attack, tmp_path):
    copy = tmp_path / file
    shutil.copy(ATTACKS / file, copy)
    limited = f"ulimit -t {SECONDS}; exec \"$0\" \"$@\""
    done = run("sh", "-c", limited, binary("varve"), *verb,
               *(() if verb == ("validate",) else ("--no-cache",)), copy, folder=tmp_path)
    assert done.returncode in (0, 1, 2, 3), (done.returncode, done.stderr)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\x9b]", done.stderr + done.stdout)
    if done.returncode == 3:
        assert done.stderr.startswith("varve: ") and done.stderr.count("\n") <= 3


def test_sizes_that_do_not_add_up_are_recorded_and_read(attack, tmp_path):
    trace = tmp_path / "x.varve"
    assert run(binary("varve"), "record", "-q", "-o", trace, "--", attack("al"),
               folder=tmp_path).returncode == 0
    for verb in ("memory", "report"):
        assert run(binary("varve"), verb, trace, folder=tmp_path).returncode == 0

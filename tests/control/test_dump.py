# SPDX-License-Identifier: Apache-2.0
"""varve dump: what a process holds now becomes a trace, whatever the process does."""
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import pytest
import varve_decode
from recording import quiet_environment

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "soak"))

from streams import alternates, thread_streams  # pylint: disable=wrong-import-position


@pytest.fixture
def emitter(tmp_path, build):
    """emitter() starts four threads that record as fast as they can into t.varve; one at a time."""
    started = []

    def start(threads=4):
        trace = tmp_path / "t.varve"
        trace.mkdir()
        process = subprocess.Popen([build / "tests" / "programs" / "emitter", tmp_path / "counts",
                                    str(threads), "0"],
                                   env=quiet_environment(VARVE_OUTPUT=str(trace)))
        started.append(process)
        end = time.monotonic() + 120
        while len(list(trace.glob("*/thread.*.0"))) < threads:
            assert time.monotonic() < end
            time.sleep(0.001)
        return process
    yield start
    for process in started:
        process.kill()
        process.wait()


def wait_until(pid, state):
    end = time.monotonic() + 120
    while pathlib.Path(f"/proc/{pid}/stat").read_text(
            encoding="ascii").rpartition(")")[2].split()[0] != state:
        assert time.monotonic() < end
        time.sleep(0.001)


def acknowledged(tmp_path):
    return sorted(struct.unpack("<64Q", (tmp_path / "counts").read_bytes())[:4])


def whole(trace, before):
    """Each thread's records are an unbroken run, with all that it had acknowledged before."""
    streams = thread_streams(trace)
    kept = sorted(len(words) for words, _, _ in streams)
    assert len(streams) == len(before)
    assert all(lost == 0 and alternates(words) for words, lost, _ in streams)
    assert all(words >= 2 * pairs for words, pairs in zip(kept, before))
    return sum(kept)


def reads_everywhere(trace, babeltrace2, varve, events):
    done = subprocess.run([babeltrace2, trace, "--component=c:sink.utils.counter", "-p", "step=+0"],
                          capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert int(done.stdout.split()[0]) >= events
    done = subprocess.run([varve, "info", "--strict", "--csv", "--table", "trace", trace],
                          capture_output=True, text=True,
                          check=True)
    assert done.stderr == ""


def content(trace):
    return {str(path): path.read_bytes() for path in trace.rglob("*") if path.is_file()}


def test_a_busy_process_is_dumped_whole(tmp_path, emitter, run, babeltrace2, varve):
    for turn in range(20):
        process = emitter()
        before = acknowledged(tmp_path)
        done = run("dump", "-q", process.pid)
        process.kill()
        process.wait()
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), turn
        events = whole(tmp_path / "t.dump.varve", before)
        reads_everywhere(tmp_path / "t.dump.varve", babeltrace2, varve, events)
        assert sorted(os.listdir(tmp_path)) == ["counts", "t.dump.varve", "t.varve"]
        for path in tmp_path.glob("*.varve"):
            shutil.rmtree(path)


def test_a_dump_does_not_change_when_the_program_goes_on(tmp_path, emitter, run):
    process = emitter()
    assert run("dump", "-q", process.pid).returncode == 0
    first = content(tmp_path / "t.dump.varve")
    before, end = acknowledged(tmp_path), time.monotonic() + 120
    while not all(now > then for now, then in zip(acknowledged(tmp_path), before)):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert content(tmp_path / "t.dump.varve") == first


def test_a_stopped_and_a_killed_process_are_dumped(tmp_path, emitter, run, babeltrace2, varve):
    process = emitter()
    process.send_signal(signal.SIGSTOP)
    wait_until(process.pid, "T")
    before = acknowledged(tmp_path)
    assert run("dump", "-q", process.pid).returncode == 0
    events = whole(tmp_path / "t.dump.varve", before)
    reads_everywhere(tmp_path / "t.dump.varve", babeltrace2, varve, events)
    process.kill()
    process.wait()
    assert run("dump", "-q", "t.varve", "-o", "dead.varve").returncode == 0
    assert whole(tmp_path / "dead.varve", before) == events == whole(tmp_path / "t.varve", before)


def test_parts_that_vanish_meanwhile_leave_no_hole(tmp_path, emitter, run):
    """What a flight recorder does, by hand: the oldest parts go while the copy is made."""
    process = emitter(threads=1)
    while not list((tmp_path / "t.varve").glob("*/thread.1.2")):
        time.sleep(0.01)
    for part in range(2):
        next((tmp_path / "t.varve").glob(f"*/thread.1.{part}")).unlink()
        assert run("dump", "-q", process.pid).returncode == 0
    for name, parts in (("t.dump.varve", {1, 2}), ("t.dump.2.varve", {2})):
        kept = {int(path.suffix[1:]) for path in (tmp_path / name).glob("*/thread.1.*")}
        assert parts <= kept == set(range(min(parts), max(kept) + 1))


def test_the_line_says_what_there_is(record, run, own_name, pid_of, tmp_path, counts):
    program, begin = record(program=own_name), time.monotonic()
    program.do("pairs 500")
    program.do("sleep 120")
    program.do("pairs 1")
    done = run("dump", pid_of())
    found = re.fullmatch(
        r"varve: t\.dump\.varve  1 process  10\d\d events  none lost  covers ([\d.]+) (m?)s\n",
        done.stderr)
    assert (done.returncode, done.stdout) == (0, "") and found, done.stderr
    # it has three digits
    assert 0.12 <= float(found[1]) / (1000 if found[2] else 1) <= 1.01 * (time.monotonic() - begin)
    assert counts("t.dump.varve")["work"] == 501
    assert (tmp_path / "t.dump.varve" / "manifest.json").exists()
    program.do("pairs 10")
    done = run("dump", own_name.name, "-o", "mine.varve")
    assert done.stderr.startswith("varve: mine.varve  1 process  10")
    assert counts("mine.varve")["work"] == 511
    assert counts("t.dump.varve")["work"] == 501
    program.finish()
    assert counts()["work"] == 511


def test_the_next_name_is_free_and_o_keeps_the_former_trace(record, run, pid_of, tmp_path, counts):
    program = record()
    program.do("pairs 1")
    for name in ("t.dump.varve", "t.dump.2.varve", "t.dump.3.varve"):
        assert run("dump", pid_of()).stderr.startswith(f"varve: {name}  ")
    assert run("dump", pid_of(), "-o", "t.dump.varve").returncode == 0
    program.do("pairs 4")
    assert run("dump", pid_of(), "-o", "t.dump.varve").returncode == 0
    assert (counts("t.dump.varve")["work"], counts("t.dump.varve.old")["work"]) == (5, 1)
    assert sorted(os.listdir(tmp_path)) == ["t.dump.2.varve", "t.dump.3.varve", "t.dump.varve",
                                            "t.dump.varve.old", "t.varve"]


def test_a_trace_means_all_its_processes(record, run, own_name, pid_of, tmp_path, counts):
    program = record(program=own_name)
    program.do("pairs 2")
    parent = pid_of()
    program.send("fork 10")
    child = int(program.answer()[3:])
    assert "  2 processes  " in run("dump", "t.varve").stderr
    assert counts("t.dump.varve")["work"] == 12
    assert "  2 processes  " in run("dump", own_name.name, "-o", "by_name.varve").stderr
    for pid, work in ((parent, 2), (child, 10)):
        assert run("dump", pid, "-o", f"{pid}.varve").returncode == 0
        assert [path.name for path in (tmp_path / f"{pid}.varve").iterdir()
                if path.is_dir()] == [str(pid)]
        assert counts(f"{pid}.varve")["work"] == work
    program.send("go")
    program.answer()
    program.finish()


def test_names_in_the_dump_are_whole(record, run, tmp_path):
    program = record()
    program.do("steps 3")
    run("dump", "t.varve")
    (process,) = varve_decode.open_trace(str(tmp_path / "t.dump.varve")).processes
    (ranges, _) = varve_decode.ranges(process)[:2]
    assert [item.name for item in ranges].count("work") == 3


def test_the_target_does_not_notice(record, run, pid_of):
    program = record()
    program.do("pairs 100")
    pid = pid_of()

    def condition():
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        return (sorted(os.listdir(f"/proc/{pid}/fd")), sorted(os.listdir(f"/proc/{pid}/task")),
                re.findall(r"^(?:Sig(?:Cgt|Blk|Ign)|voluntary_ctxt_switches):.*$", status, re.M))
    wait_until(pid, "S")
    before = condition()
    assert run("dump", pid).returncode == 0
    assert condition() == before


def test_a_full_disk_is_an_error_and_nothing_stays(tmp_path, record, run, pid_of):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk],
                      capture_output=True,
                      check=False).returncode != 0:
        pytest.skip("only root may mount a small file system")
    try:
        program = record()
        program.do("threads 100000")
        done = run("dump", pid_of(), "-o", "disk/d.varve")
        assert done.returncode == 4
        assert re.fullmatch(
            r"varve: cannot dump '.*/t\.varve' to 'disk/d\.varve': No space left on device\n",
            done.stderr)
        assert os.listdir(disk) == []
        assert run("dump", "-q", pid_of()).returncode == 0
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_another_file_system_will_do(tmp_path, record, run, pid_of, counts):
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("there is no second file system")
    program = record()
    program.do("threads 1000")
    output = pathlib.Path("/dev/shm") / f"varve-test-{os.getpid()}.varve"
    try:
        assert run("dump", pid_of(), "-o", output).returncode == 0
        assert counts(output)["work"] == 4000
    finally:
        shutil.rmtree(output)


def test_what_cannot_be_dumped_is_said(record, run, pid_of, tmp_path):
    program = record()
    program.do("pairs 1")
    pid = pid_of()
    trace = os.path.realpath(tmp_path / "t.varve")
    (tmp_path / "notes").write_text("milk")
    for words, code, message in [
            (["dump"], 2, "dump wants a process or a trace: varve dump PID, or NAME.varve. Those "
                          "being recorded:  "
                          "varve status"),
            (["dump", "1", "2"], 2, "one at a time: after '1' came '2'"),
            (["dump", pid, "-o", "-"], 2, "a trace is a folder: -o OUT.varve"),
            (["dump", "4194305"], 3, "no process 4194305. Those being recorded:  varve status"),
            (["dump", pid, "-o", "t.varve"], 4,
             "'t.varve' is the trace that is to be dumped: name another with "
                                                "-o OUT.varve"),
            (["dump", pid, "-o", "notes"], 4,
             "'notes' exists and is not a trace: move it away, or name another with "
                                              "-o NAME.varve"),
            (["dump", pid, "-o", "no/d.varve"], 3,
             "cannot make the folder 'no/d.varve': No such file or directory"),
            (["dump", "nobody-has-this-name"], 3,
             "no process that is being recorded is called 'nobody-has-this-name'. "
                                                  "Those that are:  varve status")]:
        done = run(*words)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", f"varve: {message}\n")
    program.finish()
    run("pack", "-q", "t.varve")
    done = run("dump", "t.varve")
    assert done.returncode == 3
    assert done.stderr == (f"varve: '{trace}' holds a stream that is packed or damaged. Only a "
                           f"recording as it is written "
                           "can be dumped; copy a finished one as a folder\n")
    assert sorted(os.listdir(tmp_path)) == ["notes", "t.varve"]


def test_another_user_may_not(record, run_as_another, pid_of):
    program = record()
    program.do("pairs 1")
    done = run_as_another("dump", pid_of())
    assert (done.returncode, done.stderr) == (
        3, f"varve: the system does not let you look into process {pid_of()}: only the user whose "
           f"process it is "
           "may see or switch its recording\n")


def test_a_signal_dumps_and_the_program_goes_on(record, run, pid_of, tmp_path, counts):
    program = record("--dump-on", "SIGUSR2")
    program.do("pairs 10")
    for name in ("t.dump.varve", "t.dump.2.varve"):
        os.kill(pid_of(), signal.SIGUSR2)
        end = time.monotonic() + 120
        while not (tmp_path / name).exists():
            assert time.monotonic() < end
            time.sleep(0.001)
    program.do("pairs 5")
    assert program.finish() == 0
    assert [counts(name)["work"] for name in ("t.dump.varve", "t.dump.2.varve",
                                              "t.varve")] == [10, 10, 15]

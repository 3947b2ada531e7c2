# SPDX-License-Identifier: Apache-2.0
"""Other users' processes and folders: the command waits for none of them, and believes none."""
import fcntl
import os
import re
import resource
import shutil
import struct
import subprocess

import pytest

# What a recorded process looks like from outside: process.0 and .control mapped. Any user can run
# this.
IMPOSTOR = """
import ctypes, fcntl, mmap, os, struct, sys
folder = sys.argv[1] + '/1'
os.makedirs(folder)
maps = []
for name in 'process.0', '.control':
    with open(folder + '/' + name, 'w+b') as file:
        file.truncate(4096)
        maps.append(mmap.mmap(file.fileno(), 4096))
maps[1][12:16] = struct.pack('<I', 1)
maps[1][16:24] = struct.pack('<Q', 0x4c52544345565256)
lock = open(folder + '/.control', 'rb')
fcntl.flock(lock, fcntl.LOCK_EX)
ctypes.CDLL(None).prctl(15, b'a\\x1b[31;5mX\\xc2\\x9b', 0, 0, 0)
print(os.getpid(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def impostor():
    """impostor(FOLDER) runs it there as nobody, and returns its number; inside=: in a file system
    that only it sees."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    started = []

    def start(folder, inside=None):
        words = ["/usr/bin/python3", "-c", IMPOSTOR, folder]
        more = {"user": 65534, "group": 65534, "extra_groups": []}
        if inside is not None:
            words, more = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs x {inside} && exec \"$@\"",
                           "sh", *words], {}
        started.append(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        cwd="/", text=True, **more))
        pid = started[-1].stdout.readline()
        if inside is not None and pid == "":
            pytest.skip("only who may mount can hide a file system")
        return int(pid)
    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_lock_that_somebody_keeps_is_told_and_not_waited_for(record, run, pid_of, tmp_path):
    program = record()
    program.do("pairs 3")
    pid = pid_of()
    with open(tmp_path / f"t.varve/{pid}/.control", "rb") as page:
        fcntl.flock(page, fcntl.LOCK_EX)
        done = run("status", pid)
        assert done.returncode == 0 and re.search(r"on_command +all ",
                                                  done.stdout) and done.stderr == ""
        for verb in ("stop", "start"):
            done = run(verb, pid)
            assert done.returncode == 3
            assert re.search(rf"the control page of process {pid} is locked by process "
                             rf"{os.getpid()} \(.+\) of user "
                             rf"{os.geteuid()}, which keeps it", done.stderr)
        fcntl.flock(page, fcntl.LOCK_UN)
    assert run("stop", pid).returncode == 0
    assert program.finish() == 0


def test_root_waits_for_nobodys_lock(run, impostor, tmp_path):
    os.chmod(tmp_path, 0o777)
    for folder in tmp_path.parents:  # nobody must get here
        if folder != folder.parent and folder.stat().st_uid == os.geteuid():
            os.chmod(folder, folder.stat().st_mode | 0o111)
    pid = impostor(tmp_path / "x.varve")
    done = run("status", pid)
    assert done.returncode == 0 and f"{pid}" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr and "\x9b" not in done.stdout + done.stderr
    done = run("stop", pid)
    assert (done.returncode == 3 and f"is locked by process {pid} (" in done.stderr
            and "of user 65534" in done.stderr)
    assert "\x1b" not in done.stderr and "\x9b" not in done.stderr


def test_only_the_page_that_the_process_uses_is_written(impostor, run, tmp_path):
    """What maps tell of a file system that only the process sees is a path all the same: for
    others, of another page."""
    page = tmp_path / "inner/x.varve/1/.control"
    page.parent.mkdir(parents=True)
    page.write_bytes(bytes(12) + struct.pack("<IQ", 1, 0x4c52544345565256) + bytes(4072))
    before = page.read_bytes()
    pid = impostor(tmp_path / "inner/x.varve", inside=tmp_path / "inner")
    for verb in ("stop", "start"):
        done = run(verb, pid)
        assert done.returncode == 3
        assert f"'{page}' is not the control page that process {pid} uses" in done.stderr
    assert page.read_bytes() == before
    assert "is not the control page" in run("status", pid).stderr


def test_what_waits_to_be_opened_is_not_opened(record, run, pid_of, tmp_path):
    program = record()
    program.do("pairs 3")
    folder = tmp_path / f"t.varve/{pid_of()}"
    os.mkfifo(folder / "thread.7.0")
    done = run("status")
    assert done.returncode == 0 and "'thread.7.0'" in done.stderr
    done = run("dump", "t.varve")
    assert done.returncode == 0 and "none lost" in done.stderr
    (folder / "thread.7.0").unlink()
    assert program.finish() == 0


def test_a_number_in_a_name_costs_no_memory(record, run, pid_of, tmp_path):
    program = record()
    program.do("pairs 3")
    (tmp_path / f"t.varve/{pid_of()}/thread.4294967294.0").touch()
    limit = 4 << 30
    done = run("dump", "t.varve", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                        (limit, limit)))
    assert done.returncode == 0, done.stderr
    assert "none lost" in done.stderr
    assert program.finish() == 0


@pytest.mark.parametrize("verb", ["report", "info", "steps", "critical", "pack", "dump", "export",
                                  "diff", "validate"])
def test_a_pipe_in_the_place_of_a_manifest_is_no_trace(run, tmp_path, verb):
    (tmp_path / "x.varve").mkdir()
    os.mkfifo(tmp_path / "x.varve/manifest.json")
    for words in ((verb,), (verb, "x.varve")):
        assert run(*words).returncode in (2, 3, 4)


def test_streams_and_metadata_that_are_pipes_are_told(record, run, pid_of, tmp_path):
    program = record()
    program.do("pairs 3")
    assert program.finish() == 0
    for name in ("metadata", "process.0", "thread.1.0"):
        shutil.rmtree(tmp_path / "u.varve", ignore_errors=True)
        shutil.copytree(tmp_path / "t.varve", tmp_path / "u.varve")
        victim = tmp_path / f"u.varve/{pid_of()}/{name}"
        victim.unlink()
        os.mkfifo(victim)
        done = run("report", "u.varve")
        assert done.returncode == 3 and "is neither a file nor a folder" in done.stderr


def test_a_link_that_another_user_made_is_not_followed(record, run, pid_of, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    program = record()
    program.do("pairs 3")
    assert program.finish() == 0
    stream = tmp_path / f"t.varve/{pid_of()}/thread.1.0"
    stream.rename(tmp_path / "kept")
    stream.symlink_to(tmp_path / "kept")
    assert run("report", "t.varve").returncode == 0  # ours
    os.lchown(stream, 65534, 65534)
    done = run("report", "t.varve")
    assert done.returncode == 3 and "is a link that another user may have made" in done.stderr

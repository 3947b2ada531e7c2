# SPDX-License-Identifier: Apache-2.0
"""Nothing is lost, or it is counted: kills, full disks, many threads, many processes.

`make check` runs a tenth of each or less; `make soak` (VARVE_SOAK=1) all of it."""
import concurrent.futures
import os
import random
import re
import shutil
import struct
import subprocess
import time

import pytest

from streams import alternates, lost_by_process, thread_streams

SHARE = 10 if os.environ.get("VARVE_SOAK") else 1  # tenths


@pytest.fixture(scope="session")
def emitter(build):
    return str(build / "tests" / "programs" / "emitter")


@pytest.fixture
def trace(tmp_path):
    folder = tmp_path / "x.varve"
    folder.mkdir()
    return folder


def environment(trace):
    return {**os.environ, "VARVE_OUTPUT": str(trace)}


def made(path):
    return struct.unpack("<64Q", path.read_bytes())


def wait_until(is_so, pause_s=0.001):
    end = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < end
        time.sleep(pause_s)


def kill_once(folder, emitter, build, wait_s):
    """One process, killed; its counts and what the trace holds must agree, and two readers read it
    as it is."""
    trace, counts = folder / "x.varve", folder / "counts"
    trace.mkdir(parents=True)
    process = subprocess.Popen([emitter, counts, "4", "0"], env=environment(trace))
    wait_until(lambda: list(trace.glob("*/thread.4.0")) and sum(made(counts)) > 0)
    time.sleep(wait_s)
    process.kill()
    process.wait()
    acknowledged, streams = made(counts), thread_streams(trace)
    assert len(streams) == 4
    kept = sorted(len(words) for words, _, _ in streams)
    assert all(lost == 0 and alternates(words) for words, lost, _ in streams), folder
    assert all(words >= 2 * pairs for words, pairs in zip(kept, sorted(acknowledged[:4]))), folder
    done = subprocess.run(["babeltrace2", trace, "--component=c:sink.utils.counter", "-p",
                           "step=+0"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) >= sum(kept)
    info = subprocess.run([build / "varve", "info", "--strict", "--csv", "--table", "trace", trace],
                          capture_output=True, text=True)
    assert info.returncode == 0, info.stderr
    shutil.rmtree(folder)


def test_killed_at_any_instant(tmp_path, emitter, build):
    if shutil.which("babeltrace2") is None:
        pytest.skip("needs babeltrace2: apt-get install babeltrace2")
    chance = random.Random(20261121)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(kill_once, tmp_path / str(number), emitter, build,
                            chance.uniform(0, 0.004))
                for number in range(1000 if SHARE > 1 else 40)]
        for run in runs:
            run.result()


def test_short_lived_threads(tmp_path, emitter, trace):
    counts, rounds = tmp_path / "counts", 125 * SHARE
    subprocess.run([emitter, counts, "8", "1", str(rounds)], env=environment(trace), check=True)
    streams = thread_streams(trace)
    assert len(streams) == 8 * rounds == sum(made(counts))
    assert {(len(words), lost) for words, lost, _ in streams} == {(2, 0)}
    assert len({tid for _, _, tid in streams}) > 1


def test_many_processes_in_one_trace(tmp_path, emitter, build):
    number, trace = 10 * SHARE, tmp_path / "all.varve"
    script = "for i in $(seq %d); do %s counts.$i 2 20000 & done; wait" % (number, emitter)
    done = subprocess.run([build / "varve", "record", "-o", trace, "--", "sh", "-c", script],
                          cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    streams = thread_streams(trace)
    assert len(streams) == 2 * number
    assert {(len(words), lost) for words, lost, _ in streams} == {(40000, 0)}


@pytest.fixture
def small_disk(tmp_path):
    """Gives disk(size) → a folder on a file system of that size; needs the right to mount."""
    mounted = []

    def make(size):
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
                              capture_output=True)
        if done.returncode != 0:
            pytest.skip("only root may mount a small file system")
        mounted.append(folder)
        return folder
    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)


def test_full_disk_keeps_what_fits_and_counts_the_rest(tmp_path, emitter, small_disk):
    chance = random.Random(7)
    for number in range(10 * SHARE):
        trace = small_disk(f"{chance.randint(300, 6000)}k") / "x.varve"
        trace.mkdir()
        counts = tmp_path / "counts"
        subprocess.run([emitter, counts, "3", "300000"], env=environment(trace), check=True)
        streams = thread_streams(trace)
        kept = sum(len(words) for words, _, _ in streams)
        lost = sum(lost for _, lost, _ in streams) + lost_by_process(trace)
        if list(trace.glob("*/process.0")):
            assert kept + lost == 2 * sum(made(counts)) == 1800000, number
        assert 0 < lost


PLACE = r"-o NAME\.varve names another place"


@pytest.mark.parametrize("size, lost, why", [
    ("400k", r" lost .* exit 0",
     rf"varve: nothing was recorded while less than [\d.]+ k?B of the disk were free: --reserve "
     rf"SIZE leaves less to others, {PLACE}"),
    ("30k", r" 1800000 lost ",
     rf"varve: the disk is full, or was: [\d.]+ k?B are left where the trace lies; {PLACE}")])
def test_it_is_said_that_the_disk_was_full(tmp_path, varve, emitter, small_disk, size, lost, why):
    disk = small_disk(size)
    command = ["record", "-o", disk / "x.varve", "--", emitter, tmp_path / "counts", "3", "300000"]
    done = subprocess.run([varve, *command], capture_output=True, text=True, check=True)
    assert re.search(lost, done.stderr)
    assert re.search(why, done.stderr)
    assert "ways on" not in done.stderr


def test_room_that_comes_back_is_used(tmp_path, emitter, small_disk):
    disk = small_disk("2m")
    trace, counts = disk / "x.varve", tmp_path / "counts"
    trace.mkdir()
    process = subprocess.Popen([emitter, counts, "1", "0"], env=environment(trace))
    try:
        wait_until(lambda: any(lost for _, lost, _ in thread_streams(trace)), 0.05)
        before = thread_streams(trace)[0]
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        wait_until(lambda: len(thread_streams(trace)[0][0]) > len(before[0]) + 10000, 0.05)
    finally:
        process.kill()
        process.wait()
    words, lost, _ = thread_streams(trace)[0]
    assert len(words) + lost >= 2 * made(counts)[0]


@pytest.mark.parametrize("harm", ["removed", "emptied", "read-only"])
def test_a_trace_harmed_while_it_is_written(tmp_path, emitter, trace, harm):
    counts = tmp_path / "counts"
    process = subprocess.Popen([emitter, counts, "2", "2000000"], env=environment(trace),
                               stderr=subprocess.PIPE)
    wait_until(lambda: list(trace.glob("*/thread.2.0")))
    if harm == "read-only":
        trace.chmod(0o500)
    else:
        for path in trace.glob("*/*" if harm == "emptied" else "*"):
            while path.is_dir(): # new files appear while it is emptied
                shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)
    _, errors = process.communicate(timeout=240)
    assert (process.returncode, errors) == (0, b"")
    assert made(counts)[:2] == (2000000, 2000000)
    if harm == "read-only":
        assert sum(len(words) + lost for words, lost, _ in thread_streams(trace)) == 8000000
        trace.chmod(0o700)


def later_parts(trace, cut):
    return {path.name.split(".")[1] for path in trace.glob("*/thread.*") if path not in cut
            and path.stat().st_size > 0}


def test_a_trace_truncated_while_it_is_written(tmp_path, emitter, trace, varve):
    """No SIGBUS ends the program; later records go into other files; the reader says which files
    are damaged."""
    counts = tmp_path / "counts"
    process = subprocess.Popen([emitter, counts, "2", "0"], env=environment(trace))
    try:
        wait_until(lambda: list(trace.glob("*/thread.2.0")))
        cut = [path for path in trace.glob("*/*") if path.name.startswith(("thread", "process"))]
        for path in cut:
            os.truncate(path, 0)
        wait_until(lambda: process.poll() is not None or later_parts(trace, cut) == {"1", "2"})
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    told = subprocess.run([varve, "info", trace], capture_output=True, text=True)
    assert told.returncode == 0 or (told.returncode == 3
                                    and any(str(path) in told.stderr for path in cut)), told.stderr

# SPDX-License-Identifier: Apache-2.0
"""Without memory, descriptors, room or rights the program goes on; what could not be kept is
counted to the record."""
import errno
import os
import re
import resource
import shutil
import subprocess

import pytest

from streams import alternates, lost_by_process, thread_streams
from tally import SLOTS, acknowledged, is_unbroken, kept

COUNT = 5000
THREADS, PAIRS = 2, 20000
EMITTED = 2 * THREADS * PAIRS


def folders(trace):
    """Those of processes; none may be without its metadata and process stream, or hold a hidden
    file."""
    found = sorted(name for name in os.listdir(trace) if name not in ("manifest.json", "lost"))
    for name in found:
        files = os.listdir(trace / name)
        assert {"metadata", "process.0"} <= set(files), name
        assert [file for file in files if file.startswith(".")] == []
    return found


def kept_and_lost(trace):
    """(records of the emitter that are in the trace, records that are counted)"""
    streams = thread_streams(trace)
    lost = sum(lost for _, lost, _ in streams) + lost_by_process(trace)
    assert lost or all(alternates(words) for words, _, _ in streams)
    return sum(len(words) for words, _, _ in streams), lost


# A thread that has its files goes on; a new one finds a spare file, but its new site cannot be
# written down.
@pytest.mark.parametrize("what, lost", [
    ("descriptors", COUNT), ("memory", 0), ("start", 2 * COUNT)])
def test_what_comes_back_is_used(tmp_path, trace, recorded, program, what, lost):
    counts = tmp_path / "counts"
    subprocess.run([program("starved"), counts, what, str(COUNT)], env=recorded(), check=True,
                   timeout=240)
    told, in_trace = acknowledged(counts), kept(trace)
    assert told[:3] == ((2 if what == "start" else 3) * COUNT, 2 * COUNT, COUNT)
    assert len(folders(trace)) == 1
    assert in_trace.lost == lost == sum(told) - sum(len(values)
                                                    for values in in_trace.values.values())
    for slot in range(3):
        assert in_trace.values[slot] == list(range(told[slot] - len(in_trace.values[slot]),
                                                   told[slot])), slot


CALLS = {"mmap": errno.ENOMEM, "mprotect": errno.ENOMEM, "madvise": errno.ENOMEM,
         "openat": errno.EMFILE, "pwrite": errno.EIO, "ftruncate": errno.EFBIG,
         "renameat": errno.EACCES, "mkdirat": errno.EACCES, "unlinkat": errno.EACCES,
         "fstat": errno.EIO}


@pytest.fixture
def emit(tmp_path, trace, recorded, program):
    """Runs the emitter with a call that fails; gives the number of such calls that libvarve
    made."""
    def run(call, first, count):
        shutil.rmtree(trace)
        trace.mkdir()
        seen = tmp_path / "seen"
        more = {"LD_PRELOAD": program("failing_calls.so"), "FAILING_CALL_SEEN": str(seen),
                "FAILING_CALL": f"{call}:{first}:{count}:{CALLS[call]}"}
        done = subprocess.run([program("emitter"), tmp_path / "counts", str(THREADS), str(PAIRS)],
                              env=recorded(**more), capture_output=True, timeout=240, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert 2 * sum(acknowledged(tmp_path / "counts")) == EMITTED
        return int(seen.read_text())
    return run


@pytest.mark.parametrize("count", [1, 10**9], ids=["once", "from then on"])
@pytest.mark.parametrize("call", CALLS)
def test_each_system_call_fails(emit, trace, three_readers, share, call, count):
    calls = emit(call, 10**9, 1)
    assert kept_and_lost(trace) == (EMITTED, 0)
    assert calls > 0
    for number in range(calls):
        emit(call, number, count)
        if list(trace.glob("*/process.0")):
            assert sum(kept_and_lost(trace)) == EMITTED, (call, number)
            if number % (100 // share(100)) == 0:
                three_readers(trace, decode=False)


def test_overload_is_counted(tmp_path, trace, recorded, program, share, three_readers):
    counts, size = tmp_path / "counts", 400000
    for _ in range(share(100)):
        shutil.rmtree(trace)
        trace.mkdir()
        subprocess.run([program("emitter"), counts, "4", "50000"],
                       env=recorded(VARVE_MAX_SIZE=str(size)),
                       check=True, timeout=240)
        in_trace, lost = kept_and_lost(trace)
        assert in_trace + lost == 2 * sum(acknowledged(counts)) == 400000
        assert 65536 < 8 * in_trace <= size + 3 * 65536  # a thread's first packet is granted
    three_readers(trace)


def test_files_may_not_grow_beyond_a_limit(tmp_path, trace, recorded, program, share,
                                           three_readers):
    """Full files are followed by others. Where not even one packet fits, nothing is written."""
    for size in range(16384, 2**20, 2**20 // share(100)):
        shutil.rmtree(trace)
        trace.mkdir()

        def limit(size=size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        subprocess.run([program("emitter"), tmp_path / "counts", str(THREADS), str(PAIRS)],
                       env=recorded(),
                       preexec_fn=limit, check=True, timeout=240)
        assert 2 * sum(acknowledged(tmp_path / "counts")) == EMITTED
        if size < 65536:
            assert folders(trace) == []
            continue
        assert len(folders(trace)) == 1
        assert kept_and_lost(trace) == (EMITTED, 0)
        assert max(path.stat().st_size for path in trace.glob("*/*")) <= size
        three_readers(trace, decode=False)


def test_no_descriptor_and_no_thread_is_left(tmp_path, program):
    trace = tmp_path / "x.varve"
    done = subprocess.run([program("descriptors"), trace], capture_output=True, text=True,
                          check=True, timeout=240)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["before", "while", "child"] * 2 + ["after"]
    assert {tuple(line[1:]) for line in lines} == {(lines[0][1], "1")}


@pytest.mark.parametrize("numbers", ["0", "1", "2", "012"])
def test_closed_descriptors_stay_closed(tmp_path, trace, recorded, program, three_readers, numbers):
    """What a program writes to a number that it closed is refused as without us, and never comes
    into a trace."""
    counts = tmp_path / "counts"
    done = subprocess.run([program("closed"), counts, numbers, "100000"], env=recorded(),
                          timeout=240, check=False)
    assert done.returncode == 0
    told, in_trace = acknowledged(counts), kept(trace)
    assert told[0] == 100000 and in_trace.lost == 0
    assert is_unbroken(in_trace.values[0], told[0], told[0])
    assert len(in_trace.values[1]) == told[1] >= 8
    three_readers(trace, decode=False)
    assert three_readers(trace.with_name("x.dump.varve")) > 0


@pytest.mark.parametrize("way, processes", [("exit", 1), ("_exit", 1), ("kill", 1), ("exec", 2),
                                            ("fork", 17), ("vfork", 5)])
def test_no_file_is_left(tmp_path, varve, program, three_readers, way, processes):
    """However the recorded processes ended."""
    trace = tmp_path / "x.varve"
    subprocess.run([varve, "record", "-o", trace, "--", program("endings"), tmp_path / "counts",
                    way, "1000"],
                   capture_output=True, timeout=240, check=False)
    assert len(folders(trace)) == processes
    assert sorted(os.listdir(tmp_path)) == ["counts", "x.varve"]
    three_readers(trace)


def test_the_documented_stack_is_enough(tmp_path, trace, recorded, program, root):
    """doc/threading.md says how much a handler's alternate stack needs: the first record of a
    process is the most."""
    (number,) = re.findall(r"sysconf\(_SC_MINSIGSTKSZ\)` and ([0-9,]+) bytes",
                           (root / "doc/threading.md").read_text())
    counts = tmp_path / "counts"
    subprocess.run([program("stacks"), counts, number.replace(",", "")], env=recorded(), check=True,
                   timeout=240)
    told, in_trace = acknowledged(counts), kept(trace)
    assert told[0] == 10 and in_trace.lost == 0 and is_unbroken(in_trace.values[0], 10, 10)


def test_little_stack_is_enough(tmp_path, trace, recorded, program, three_readers):
    """The smallest stacks there are, and 64 threads whose first records come at one instant."""
    counts = tmp_path / "counts"
    done = subprocess.run([program("stacks"), counts], env=recorded(), check=True,
                          capture_output=True, text=True, timeout=240)
    told, in_trace = acknowledged(counts), kept(trace)
    assert told == (20, 20) + (10,) * (SLOTS - 2) and in_trace.lost == 0
    assert all(is_unbroken(in_trace.values[slot], told[slot], told[slot]) for slot in range(SLOTS))
    used = [int(number) for number in re.findall(r"^\w+ (\d+)$", done.stdout, re.M)]
    assert len(used) == 2 and max(used) <= 4096  # of the slow path, with all that libc does in it
    assert three_readers(trace) > sum(told)


@pytest.mark.parametrize("name", ["x.varve", None])
def test_a_session_fits_on_the_smallest_thread(tmp_path, program, three_readers, name):
    """From its start to its dump and its end, beside operators with all that they can say."""
    done = subprocess.run([program("small_thread"), *([name] if name else [])], cwd=tmp_path,
                          capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    # PTHREAD_STACK_MIN, of which the C library takes some 5 kB for itself
    assert int(done.stdout) <= 14 * 1024
    assert three_readers(tmp_path / (name or "small_thread.varve")) > 6 * 2000
    three_readers(tmp_path / "dump.varve")


@pytest.mark.parametrize("count", [100, 4_000_000])
def test_locked_memory_grows_little(trace, recorded, program, three_readers, count):
    """mlockall fills every later mapping at once: what we map ahead must not be."""
    done = subprocess.run([program("locked"), "resident", str(count)], env=recorded(),
                          capture_output=True, text=True, timeout=240, check=False)
    if done.returncode == 77:
        pytest.skip("needs the right to lock memory: ulimit -l unlimited")
    assert done.returncode == 0 and int(done.stdout) < 64_000
    in_trace, lost = words_of(trace)
    assert (in_trace, lost) == (2 * (count + (count + 999) // 1000) + (count + 999) // 1000, 0)
    three_readers(trace, decode=False)


def words_of(trace):
    """A range with a name is three words."""
    streams = thread_streams(trace)
    return sum(len(words)
               for words, _, _ in streams), sum(lost
                                                for _, lost, _ in streams) + lost_by_process(trace)


def test_a_limited_address_space_is_left_to_the_program(trace, recorded, program):
    """600 MB of it, 3 million ranges, and 100 MB for the program."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (600_000_000, 600_000_000))
    done = subprocess.run([program("locked"), "address", "3000000"], env=recorded(),
                          preexec_fn=limit, timeout=240, check=False)
    assert done.returncode == 0
    assert words_of(trace) == (2 * 3_003_000 + 3_000, 0)

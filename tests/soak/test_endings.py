# SPDX-License-Identifier: Apache-2.0
"""However a process or a thread ends, or becomes two: what it acknowledged is in the trace."""
import collections
import shutil
import signal
import subprocess

import pytest

from tally import acknowledged, is_unbroken, kept

COUNT = 1000
ENDED = {"abort": -signal.SIGABRT, "segv": -signal.SIGSEGV, "terminate": -signal.SIGTERM,
         "kill": -signal.SIGKILL}


@pytest.fixture
def end(tmp_path, trace, recorded, program):
    """end("endings", "fork", 1000) runs the program recorded: (its exit status, acknowledged,
    kept)."""
    def run(name, *arguments):
        counts = tmp_path / "counts"
        counts.unlink(missing_ok=True)
        done = subprocess.run([program(name), counts, *map(str, arguments)], env=recorded(),
                              cwd=tmp_path, capture_output=True, timeout=120, check=False)
        assert (done.stdout, done.stderr) == (b"", b"")
        return done.returncode, acknowledged(counts), kept(trace)
    return run


@pytest.fixture
def again(share, trace):
    """Each run of a loop over again(100) begins with an empty trace."""
    def rounds(count):
        for number in range(share(count)):
            shutil.rmtree(trace)
            trace.mkdir()
            yield number
    return rounds


def threads_kept_all(told, in_trace):
    """The four threads that were cut short: each as an unbroken prefix with all that it
    acknowledged."""
    assert in_trace.lost == 0
    for slot in range(4):
        assert told[slot] >= COUNT
        assert is_unbroken(in_trace.values[slot], told[slot], told[slot] + 1), slot
    return True


@pytest.mark.parametrize("way", ["abort", "_exit", "exit", "quick_exit", "segv", "terminate",
                                 "kill"])
def test_processes_end(end, again, trace, three_readers, way):
    for _ in again(100):
        status, told, in_trace = end("endings", way, COUNT)
        assert status == ENDED.get(way, 0)
        assert threads_kept_all(told, in_trace)
        assert len(in_trace.processes) == 1
    assert three_readers(trace) > 4 * COUNT


def test_the_main_thread_ends_first(end, again):
    for _ in again(100):
        status, told, in_trace = end("endings", "pthread_exit", COUNT)
        assert (status, told[:5], in_trace.lost) == (0, (COUNT,) * 5, 0)
        assert all(is_unbroken(in_trace.values[slot], COUNT, COUNT) for slot in range(5))


def test_exec(end, again, trace, three_readers):
    for _ in again(100):
        status, told, in_trace = end("endings", "exec", COUNT)
        assert status == 0 and threads_kept_all(told, in_trace)
        before, after = sorted(in_trace.processes)
        assert after == before + ".1"  # the process is the same, the program is not
        assert set(in_trace.processes[before]) == {0, 1, 2, 3,
                                                   4} and in_trace.processes[before][4] == COUNT
        assert in_trace.processes[after] == {7: COUNT}
    three_readers(trace)


def test_fork(end, again, trace, three_readers):
    for _ in again(100):
        status, told, in_trace = end("endings", "fork", COUNT)
        assert status == 0 and threads_kept_all(told, in_trace)
        assert is_unbroken(in_trace.values[4], 16 * COUNT, 16 * COUNT)
        parents = [slots for slots in in_trace.processes.values() if 4 in slots]
        others = [slots for slots in in_trace.processes.values() if 4 not in slots]
        assert len(parents) == 1 and set(parents[0]) == {0, 1, 2, 3, 4}
        assert collections.Counter(slot for slots in others
                                   for slot in slots) == dict.fromkeys(range(8, 16), 2)
        assert all(list(slots.values()) == [COUNT] for slots in others)
        assert all(sorted(in_trace.values[slot]) == list(range(2 * COUNT)) for slot in range(8, 16))
    three_readers(trace)


def test_vfork(end, again, trace, three_readers):
    for _ in again(100):
        status, told, in_trace = end("endings", "vfork", COUNT)
        assert status == 0 and threads_kept_all(told, in_trace)
        parents = [slots for slots in in_trace.processes.values() if 4 in slots]
        others = [slots for slots in in_trace.processes.values() if 4 not in slots]
        assert is_unbroken(in_trace.values[4], 16 * COUNT, 16 * COUNT)
        assert is_unbroken(in_trace.values[5], 8, 8)
        assert len(parents) == 1 and set(parents[0]) == {0, 1, 2, 3, 4, 5}
        assert sorted(others, key=list) == [{slot: COUNT} for slot in (9, 11, 13, 15)]
    three_readers(trace)


@pytest.mark.parametrize("way", ["return", "pthread_exit"])
def test_threads_end(end, again, way):
    for _ in again(100):
        status, told, in_trace = end("thread_ends", way, 50)
        assert (status, told[:50], in_trace.lost) == (0, (100,) * 50, 0)
        assert all(is_unbroken(in_trace.values[slot], 100, 100) for slot in range(50))


@pytest.mark.parametrize("way", ["deferred", "asynchronous"])
def test_threads_are_cancelled(end, again, trace, three_readers, way):
    """At a random instant, also inside the recorder; what they record while they are cleaned up is
    kept too."""
    for number in again(100):
        status, told, in_trace = end("thread_ends", way, 20, number)
        assert (status, told[62], in_trace.lost) == (0, 20, 0)
        for slot in range(20):
            at_most = told[slot] + (1 if way == "asynchronous" else 0)
            assert told[slot] > 0 and is_unbroken(in_trace.values[slot], told[slot],
                                                  at_most), (number, slot)
        assert is_unbroken(in_trace.values[62], 20, 20)
    three_readers(trace, decode=False)


def test_destructors_of_thread_local_data_record(end, again):
    for _ in again(100):
        status, told, in_trace = end("thread_ends", "destructors", 50)
        assert (status, in_trace.lost) == (0, 0)
        assert told[:50] == (10,) * 50 and told[60:62] == (500, 2000)
        assert all(is_unbroken(in_trace.values[slot], told[slot], told[slot])
                   for slot in [*range(50), 60, 61])


@pytest.mark.parametrize("way", ["seccomp", "tsc"])
@pytest.mark.parametrize("is_recorded", [False, True], ids=["linked", "recorded"])
def test_who_has_recorded_nothing_may_forbid_itself_everything(tmp_path, trace, recorded, program,
                                                               way, is_recorded):
    """No system call, and no look at the clock, when it ends."""
    environment = recorded() if is_recorded else None
    done = subprocess.run([program("sandboxed"), way], env=environment, cwd=tmp_path, check=False,
                          timeout=60)
    if done.returncode == 77:
        pytest.skip("this kernel or machine cannot forbid that")
    assert done.returncode == 7
    assert list(trace.iterdir()) == []


def test_what_has_recorded_needs_the_calls_of_the_document(varve, tmp_path, program, three_readers):
    """doc/threading.md lists them."""
    trace = tmp_path / "run.varve"
    done = subprocess.run([varve, "record", "-q", "-o", trace, "--", program("sandboxed"),
                           "recorded"], check=False, timeout=60)
    if done.returncode == 77:
        pytest.skip("this kernel cannot forbid that")
    assert done.returncode == 7
    three_readers(trace)


def test_nor_does_one_whose_session_is_over(trace, program, three_readers):
    done = subprocess.run([program("sandboxed"), "stopped", trace], check=False, timeout=60)
    if done.returncode == 77:
        pytest.skip("this kernel cannot forbid that")
    assert done.returncode == 7
    three_readers(trace)

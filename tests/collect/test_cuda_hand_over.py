# SPDX-License-Identifier: Apache-2.0
"""What CUPTI still holds comes into the trace: before a session stops, at each way out of the
program, before a dump, after `varve stop`, from a thread of CUPTI's own. With the stand-ins of
tests/drivers; each program that can is killed after what is tested, so that no exit helps."""
import pathlib
import re
import subprocess
import sys
import time

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

from cuda_recording import environment_of, kernels, record, run, work_of  # noqa: E402
from recording import binary  # noqa: E402
from table_reader import tables  # noqa: E402

GEMM, RELU, IN = "_Z4gemmPfS_S_i", "relu", "Memcpy HtoD (Pageable -> Device)"
STEP = {GEMM: 1, RELU: 1, IN: 1}


def test_a_session_that_stops_has_all(varve, tmp_path):
    done = run(tmp_path, "stops")
    assert (done.returncode, done.stdout) == (-9, "stopped\n")
    assert kernels(varve, tmp_path / "own.varve") == STEP


def test_quick_exit_hands_over(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "quick")
    assert kernels(varve, trace) == STEP


def test_a_dump_of_the_program_has_all(varve, tmp_path):
    record(varve, tmp_path, "dumps")
    assert kernels(varve, tmp_path / "own.varve") == STEP


def test_a_thread_of_cuptis_own_hands_over(varve, tmp_path):
    """… while 64 threads launch: all is there, once, under its operator."""
    trace, _ = record(varve, tmp_path, "threads", cupti="hands")
    assert kernels(varve, trace) == {RELU: 64 * 200}


def test_time_of_the_tools_is_on_the_thread_that_it_took(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "overhead")
    rows = work_of(trace)
    names = {"Runtime Triggered Module Loading", "Lazy Function Loading", "Driver Compiler"}
    found = {row["name"]: row for row in rows["slices"] if row["name"] in names}
    assert set(found) == names
    assert [row["duration_ns"] for row in found.values()] == pytest.approx([5000] * 3, abs=1)
    (operators,) = {row["track"] for row in rows["slices"] if row["name"] == "forward"}
    assert {row["track"] for row in found.values()} == {operators}


def test_memory_stays_flat_over_a_million_launches(varve, tmp_path):
    trace = tmp_path / "t.varve"
    done = run(tmp_path, "million", varve, "record", "-q", "--keep", "4MB", "-o", trace, "--",
               cupti="hands")
    early, late = (int(line.split()[1]) for line in done.stdout.splitlines())
    assert late - early < 8192, "kB between launch 100,000 and the last one"
    health = tables(varve, "info", "--table", "health", trace)["health"]
    assert not {"lost", "unplaced"} & {row["finding"] for row in health}


class Waiting:
    """A recorded program that launches a kernel each millisecond, until it is told to end."""

    def __init__(self, varve, folder, *options):
        command = [varve, "record", *options, "-o", "t.varve", "--",
                   binary("tests/programs/cuda_program"), "waits"]
        self.process = subprocess.Popen(command, cwd=folder, env=environment_of(), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        assert self.process.stdout.readline() == "ready\n"

    def __enter__(self):
        return self

    def child(self):
        pid = self.process.pid
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def wait_for_calls(self):
        """Between two pauses it calls."""
        status = pathlib.Path(f"/proc/{self.child()}/status")

        def pauses():
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read_text(),
                                 re.M)[1])

        deadline, wanted = time.monotonic() + 60, pauses() + 20
        while pauses() < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def __exit__(self, *_):
        self.process.communicate()


def test_varve_dump_asks_for_what_is_held(varve, tmp_path):
    """A program that runs for less than a second has handed over nothing by time."""
    with Waiting(varve, tmp_path):
        began = time.monotonic()
        subprocess.run([varve, "dump", "-q", "-o", "d.varve", "t.varve"], cwd=tmp_path, check=True)
        took_s = time.monotonic() - began
    found = kernels(varve, tmp_path / "d.varve")
    assert (found[GEMM], found[IN]) == (1, 1)
    assert found[RELU] >= 1
    assert took_s < 5


def test_after_varve_stop_the_work_before_it_is_there(varve, tmp_path):
    """… though the program is killed: the next call hands over."""
    with Waiting(varve, tmp_path) as waiting:
        subprocess.run([varve, "stop", "-q", "t.varve"], cwd=tmp_path, check=True)
        waiting.wait_for_calls()
    found = kernels(varve, tmp_path / "t.varve")
    assert (found[GEMM], found[IN]) == (1, 1)
    health = tables(varve, "info", "--table", "health", tmp_path / "t.varve")["health"]
    assert "workless" not in {row["finding"] for row in health}


def test_a_dump_signal_asks_and_the_next_dump_has_it(varve, tmp_path):
    """Nothing is handed over in a signal handler."""
    began = time.monotonic()
    with Waiting(varve, tmp_path, "--dump-on", "USR1") as waiting:
        for number in ("", ".2"):
            path = tmp_path / f"t.dump{number}.varve"
            subprocess.run(["kill", "-USR1", str(waiting.child())], check=True)
            deadline = time.monotonic() + 60
            while not path.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            assert path.exists()
            if number == "":
                first_s = time.monotonic() - began
            waiting.wait_for_calls()
    if first_s < 0.9:  # later CUPTI may have handed over by time
        assert kernels(varve, tmp_path / "t.dump.varve") == {}
    assert kernels(varve, tmp_path / "t.dump.2.varve")[GEMM] == 1


@pytest.mark.parametrize("mode", ["quick", "overhead"])
def test_the_program_ends_as_without(varve, tmp_path, mode):
    alone = run(tmp_path, mode)
    under = run(tmp_path, mode, varve, "record", "-q", "-o", "t.varve", "--")
    assert (under.returncode, under.stdout) == (alone.returncode, alone.stdout)

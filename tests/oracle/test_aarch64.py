# SPDX-License-Identifier: Apache-2.0
"""What the AArch64 build records is read alike by this machine's readers, and by its own.

`make cross` builds it; qemu-aarch64 runs it, with the library loaded by LD_PRELOAD as `varve
record` does."""
import json
import pathlib
import shutil
import signal
import struct
import subprocess

import pytest

import babeltrace_text
import every_record_journal as journal
import varve_decode
from recording import ROOT, Run, quiet_environment

CROSS = ROOT / "build" / "cross"
SOURCES = ("src", "include", "tests/programs", "tests/support")


@pytest.fixture(scope="session")
def emulated():
    """emulated(ENVIRONMENT, "PROGRAM", ARGUMENTS…) runs a program of the cross build; gives what
    subprocess.run gives."""
    if not (emulator := shutil.which("qemu-aarch64")) or not (CROSS / "ready").exists():
        pytest.skip("needs build/cross and qemu-aarch64: make cross")
    newest = max(path.stat().st_mtime for folder in SOURCES
                 for path in (ROOT / folder).rglob("*.[ch]"))
    if newest > (CROSS / "ready").stat().st_mtime:
        pytest.skip("needs a build/cross that is not older than the sources: make cross")

    def run(environment, name, *arguments):
        settings = [word for key, value in environment.items() for word in ("-E", f"{key}={value}")]
        command = [emulator, "-L", "/usr/aarch64-linux-gnu", *settings, CROSS / name, *arguments]
        return subprocess.run(command, env=quiet_environment(), stdout=subprocess.PIPE, check=False,
                              timeout=120)
    return run


def recorded(emulated, folder, name, *arguments):
    trace = folder / f"{pathlib.Path(name).name}.varve"
    trace.mkdir()
    done = emulated({"VARVE_OUTPUT": trace, "LD_PRELOAD": CROSS / "libvarve.so"}, name, *arguments)
    return Run(trace, done.stdout, done.returncode)


@pytest.fixture(scope="module")
def cross_run(emulated, tmp_path_factory):
    return recorded(emulated, tmp_path_factory.mktemp("cross"), "tests/programs/every_record", "7",
                    "20000")


def test_it_is_another_machine(emulated):
    header = (CROSS / "libvarve.so").read_bytes()[:20]
    assert struct.unpack("<H", header[18:])[0] == 183  # EM_AARCH64
    assert emulated({}, "varve", "--version").returncode == 0


def test_every_record_is_there_in_order(cross_run):
    expected = journal.expected(cross_run.stdout)
    assert cross_run.exit_code == 7
    (process,) = varve_decode.open_trace(cross_run.trace).processes
    seen = {process.names[stream.tid]: journal.seen(process, stream)
            for stream in process.streams if stream.kind == "thread"}
    assert sorted(seen) == sorted(expected) == ["main", "second"]
    for thread, rows in expected.items():
        assert rows == seen[thread]


def test_its_clock_is_the_system_counter(cross_run):
    (process,) = varve_decode.open_trace(cross_run.trace).processes
    assert process.env["clock_source"] == "cntvct"
    for stream in process.streams:
        times = [record.time_ns for record in stream.records]
        assert times == sorted(times)


def test_three_readers_count_the_same(cross_run, babeltrace2, varve_json, decode):
    assert decode("--check", cross_run.trace).stderr == ""
    counts = varve_decode.counts(varve_decode.open_trace(cross_run.trace))
    (info,) = varve_json("info", cross_run.trace)["trace"]
    assert counts["events"] > 120000
    assert babeltrace_text.event_count(babeltrace2,
                                       cross_run.trace) == counts["events"] == info["events"]
    assert (info["lost"], counts["lost"]) == (0, 0)


@pytest.mark.parametrize("verb", ["info", "report"])
def test_both_machines_tell_the_same(cross_run, emulated, varve_json, verb):
    tables = json.loads(emulated({}, "varve", verb, "--json", cross_run.trace).stdout)["tables"]
    told = {name: [dict(zip([column["name"] for column in table["columns"]], row))
                   for row in table["rows"]]
            for name, table in tables.items()}
    assert told == varve_json(verb, cross_run.trace)


def test_what_was_acknowledged_survives_sigkill(emulated, tmp_path, decode):
    counts = tmp_path / "counts"
    run = recorded(emulated, tmp_path, "tests/programs/kill_self", counts, "5000", "1000000")
    assert run.exit_code == -signal.SIGKILL
    assert decode("--check", run.trace).stderr == ""
    (process,) = varve_decode.open_trace(run.trace).processes
    writers = {process.names[stream.tid]: stream for stream in process.streams
               if stream.kind == "thread"}
    for number, made in enumerate(struct.unpack("<4Q", counts.read_bytes())):
        stream = writers[f"writer {number}"]
        values = [int(record.fields["value"]) for record in stream.records
                  if record.name == "count"]
        assert made >= 5000
        assert stream.lost == 0
        assert values == list(range(len(values))) and len(values) >= made

# SPDX-License-Identifier: Apache-2.0
"""A trace is whole at every instant: while it is written, and after a SIGKILL.

tests/programs/kill_self.c acknowledges in a shared file what each thread has recorded, and kills
itself."""
import contextlib
import os
import signal
import struct
import subprocess
import time

import pytest

import babeltrace_text
import varve_decode
from recording import binary, quiet_environment

THREADS = 4
UNPACED, PACED, SLOW = "0", "1000000", "20000000"  # ns of rest after 64 records


def acknowledged(path):
    return struct.unpack(f"<{THREADS}Q", path.read_bytes())


def counted(process):
    """{number of the writer: (its counter's values, records lost)}."""
    return {int(process.names[stream.tid].removeprefix("writer ")):
            ([int(record.fields["value"]) for record in stream.records if record.name == "count"],
             stream.lost)
            for stream in process.streams if process.names.get(stream.tid,
                                                               "").startswith("writer ")}


def same_count_in_three(trace_path, babeltrace2, varve_json):
    counts = varve_decode.counts(varve_decode.open_trace(trace_path))
    (info,) = varve_json("info", trace_path)["trace"]
    assert babeltrace_text.event_count(babeltrace2,
                                       trace_path) == counts["events"] == info["events"]
    assert info["lost"] == counts["lost"]


@pytest.mark.parametrize("pause_ns", [PACED, UNPACED])
def test_what_was_acknowledged_survives_sigkill(tmp_path, record, decode, babeltrace2, varve_json,
                                                pause_ns):
    counts = tmp_path / "counts"
    run = record(tmp_path, "kill_self", counts, "20000", pause_ns)
    assert run.exit_code == 128 + signal.SIGKILL
    assert decode("--check", run.trace).stderr == ""
    (process,) = varve_decode.open_trace(run.trace).processes
    writers = counted(process)
    assert sorted(writers) == list(range(THREADS))
    for number, made in enumerate(acknowledged(counts)):
        values, lost = writers[number]
        assert made >= 20000
        assert values == sorted(set(values))
        if pause_ns == PACED:
            assert lost == 0
        assert len(values) + lost >= made
        assert values[-1] + 1 - len(values) <= lost  # what is missing in between was counted
        if lost == 0:
            assert values == list(range(len(values)))
    same_count_in_three(run.trace, babeltrace2, varve_json)


def test_live_trace_reads(tmp_path, program, decode, babeltrace2, varve_json):
    counts, trace = tmp_path / "counts", tmp_path / "live.varve"
    recorder = subprocess.Popen([binary("varve"), "record", "-o", trace, "--", program("kill_self"),
                                 counts, str(10**15), SLOW], env=quiet_environment(),
                                 stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not counts.exists() or counts.stat().st_size < 8 * THREADS or min(
                acknowledged(counts)) < 1000:
            assert time.monotonic() < deadline and recorder.poll() is None
            time.sleep(0.02)
        for _ in range(3):
            made = acknowledged(counts)
            assert decode("--check", trace).stderr == ""
            writers = counted(varve_decode.open_trace(trace).processes[0])
            assert all(len(writers[i][0]) + writers[i][1] >= made[i] for i in range(THREADS))
            assert babeltrace_text.event_count(babeltrace2, trace) >= sum(made)
            assert varve_json("info", trace)["trace"][0]["events"] >= sum(made)
    finally:
        for folder in trace.glob("[0-9]*"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(folder.name), signal.SIGKILL)
        assert recorder.wait(120) == 128 + signal.SIGKILL
    same_count_in_three(trace, babeltrace2, varve_json)

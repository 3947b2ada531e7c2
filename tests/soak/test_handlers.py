# SPDX-License-Identifier: Apache-2.0
"""Signal handlers record too: nothing of theirs is lost, in the order in which it was made."""
import csv
import os
import subprocess

import pytest
import varve_decode

from streams import alternates, stream
from tally import END, MARK, acknowledged, is_unbroken, kept


@pytest.mark.parametrize("names", [0, 1], ids=["sites", "names too"])
def test_a_storm_of_signals(tmp_path, trace, recorded, program, share, three_readers, names):
    counts = tmp_path / "counts"
    subprocess.run([program("handlers"), counts, str(share(20000)), str(names)], env=recorded(),
                   check=True, timeout=250)
    told, in_trace = acknowledged(counts), kept(trace)
    assert min(told[:4]) > 0 and min(told[8:12]) >= share(20000) and sum(told[4:8]) > 0
    assert in_trace.lost == 0
    assert all(is_unbroken(in_trace.values[slot], told[slot], told[slot]) for slot in range(12)
               if told[slot])
    assert three_readers(trace, decode=False) > sum(told)


@pytest.mark.parametrize("count, one_processor", [(2000, False), (500, True)],
                         ids=["", "one processor"])
def test_sessions_come_and_go_in_a_storm_of_signals(tmp_path, program, share, three_readers, count,
                                                    one_processor):
    trace, sessions = tmp_path / "x.varve", share(count)
    pinned = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if one_processor else []
    subprocess.run([*pinned, program("sessions"), trace, str(sessions)], cwd=tmp_path, check=True,
                   timeout=250)
    folders = sorted(os.listdir(trace))
    assert len(folders) == sessions
    for folder in folders[::sessions // 10]:
        three_readers(trace / folder, decode=False)
    for base in {path.with_suffix("") for path in trace.glob("*/thread.*.0")}:
        words, lost, _ = stream(base)
        ranges = [word for word in words if (word & 0xFFFFF) % 8 != MARK]
        # The end of a range that began in the session before: a handler had found this one already.
        begun_before = len(ranges) > 0 and ranges[0] & 0xFFFFF == END
        assert lost or alternates(ranges[begun_before:]), (base, list(ranges[:8]))


def test_handlers_that_jump_away(tmp_path, trace, recorded, program, varve, share):
    """A record left in the middle hides what comes behind it in the packet: that is lost, and
    told."""
    counts = tmp_path / "counts"
    subprocess.run([program("jumps"), counts, str(share(1000))], env=recorded(), check=True,
                   timeout=250)
    told, in_trace = acknowledged(counts), kept(trace)
    info = subprocess.run([varve, "info", "--csv", "--table", "trace", trace], capture_output=True,
                          text=True, check=True)
    (row,) = csv.DictReader(info.stdout.splitlines())
    found = sum(len(in_trace.values[slot]) for slot in (0, 1))
    assert in_trace.lost == 0  # as far as the writer knows
    assert told[0] + told[1] <= found + int(row["lost"])
    assert varve_decode.counts(varve_decode.open_trace(trace))["lost"] == int(row["lost"])

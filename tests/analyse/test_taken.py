# SPDX-License-Identifier: Apache-2.0
"""A slow step whose thread was stopped for others is no fault of the program's: table "steps", and
rules slow_step and stopped_step."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import kineto_writer as kineto  # noqa: E402
import trace_writer  # noqa: E402
from table_reader import tables  # noqa: E402

MS, STEPS, SLOW, USUAL_MS, SLOW_MS = 10**6, 10, 4, 10, 30


def recorded(folder, stops, waits, cpu_ms=8, is_counted=True):
    """Steps of 10 ms with the processor for 8, one of 30 ms with it for `cpu_ms`. Each step waits
    twice, and the slow one `waits` times; there the thread is stopped `stops` times."""
    trace = trace_writer.Trace(folder / "s.varve", trace_writer.manifest(cpus=2))
    process = trace.process(pid=100)
    process.counter_names(["cpu_ns", "switches_to_wait", "switches_for_others"])
    work = process.site("begin", "work")
    thread = process.thread(tid=100)
    at, used = 0, [0, 0, 0]

    def count(time):
        if is_counted:
            thread.counts(used, at=time)
    for step in range(STEPS):
        end = at + (SLOW_MS if step == SLOW else USUAL_MS) * MS
        thread.step_begin(step, at=at)
        count(at)
        thread.begin(work, at=at)
        count(at + 1)
        more = (cpu_ms * MS, waits, stops) if step == SLOW else (8 * MS, 2, 0)
        used = [former + value for former, value in zip(used, more)]
        count(end - 3)
        thread.end(at=end - 3)
        count(end - 2)
        thread.step_end(at=end - 2)
        at = end
    return trace.write()


def findings(varve, path):
    rows = tables(varve, "report", "--warm-up", "--table", "advice", "--top", "0", path)["advice"]
    return {row["rule"]: row for row in rows}


def slow_row(varve, path):
    rows = tables(varve, "report", "--warm-up", "--table", "steps", path)["steps"]
    for row in rows:
        assert row["excess_ns"] == (row["taken_ns"] or 0) + row["own_excess_ns"]
        assert row["own_ns"] == row["duration_ns"] - (row["taken_ns"] or 0)
    return rows[SLOW]


def test_what_others_took_is_theirs(varve, tmp_path):
    """22 of 30 ms without the processor, where a usual step has 2."""
    path = recorded(tmp_path, stops=5, waits=2)
    assert round(slow_row(varve, path)["taken_ns"] / MS) == 20
    found = findings(varve, path)
    assert "slow_step" not in found
    row = found["stopped_step"]
    assert row["finding"] == ("Step 4 took 30.0 ms, the median 10.0 ms: for 20.0 ms others had the "
                              "processor of its thread.")
    assert row["why"] == "The thread was stopped for others 5 times there, and waited 2 times."
    assert "The machine was busy" in row["try"] and row["saves_ns"] is None


def test_a_thread_that_never_waits_was_stopped(varve, tmp_path):
    """Though no more often than in other steps."""
    path = recorded(tmp_path, stops=1, waits=0)
    assert round(slow_row(varve, path)["taken_ns"] / MS) == 20


@pytest.mark.parametrize("stops, waits, cpu_ms", [(0, 12, 8), (3, 12, 8), (1, 2, 28)])
def test_what_the_program_did_is_its_own(varve, tmp_path, stops, waits, cpu_ms):
    """It waited, or it worked."""
    path = recorded(tmp_path, stops, waits, cpu_ms)
    row = slow_row(varve, path)
    assert row["taken_ns"] == 0 and row["uncounted_ns"] is None
    found = findings(varve, path)
    assert "stopped_step" not in found and found["slow_step"]["try"] is None
    assert found["slow_step"]["saves_ns"] == pytest.approx(20 * MS / STEPS, rel=0.01)


def test_the_rest_of_a_step_of_which_others_took_a_part_is_its_own(varve, tmp_path):
    """It worked for 18 ms, and 10 ms others had the processor beyond the usual two."""
    path = recorded(tmp_path, stops=5, waits=2, cpu_ms=18)
    assert round(slow_row(varve, path)["taken_ns"] / MS) == 10
    assert {"slow_step", "stopped_step"} <= set(findings(varve, path))
    assert findings(varve, path)["slow_step"]["saves_ns"] == pytest.approx(MS, rel=0.01)


def test_where_nothing_was_counted_the_finding_says_so(varve, tmp_path):
    path = recorded(tmp_path, stops=5, waits=2, is_counted=False)
    assert round(slow_row(varve, path)["uncounted_ns"] / MS) == 20
    found = findings(varve, path)
    assert "stopped_step" not in found
    assert found["slow_step"]["try"] == (
        "Other programs may have taken up to 20.0 ms of it: varve record --metrics Memory counts "
        "how long a thread waits for a processor.")


def test_a_trace_of_another_producer_is_not_told_to_count(varve, tmp_path):
    path = tmp_path / "k.json"
    events, at = [], 0
    for step in range(STEPS):
        end = at + (SLOW_MS if step == SLOW else USUAL_MS) * MS
        events += [kineto.step(step, at, end), kineto.span("aten::mm", at + 1000, end - 1000)]
        at = end
    assert findings(varve, kineto.write(path, events, kineto.HEAD))["slow_step"]["try"] is None

# SPDX-License-Identifier: Apache-2.0
"""The CPU time of threads without records, in the steps alone: a pool that compiled or read before
them does not disturb them. Table "step_counters", and rule oversubscription."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import trace_writer  # noqa: E402
from table_reader import tables  # noqa: E402

MS, STEPS, FIRST = 10**6, 10, 100
COUNTER = "CPU time of threads without records (ns)"


def recorded(folder, used_ms):
    """Steps of 10 ms, of which their thread has the processor for 4, and waits. `used_ms`: {time:
    what threads without records had used by then}. Two processors, 16 threads."""
    trace = trace_writer.Trace(folder / "s.varve", trace_writer.manifest(cpus=2))
    process = trace.process(pid=100)
    for key, value in (("threads", 16), ("cpu_ns", 10**9), ("recorded_cpu_ns", 10**8)):
        process.collector(f"fact.{key}", "note", str(value))
    process.counter_names(["cpu_ns", "switches_to_wait", "switches_for_others"])
    begin, counter = process.site("begin", "work"), process.site("counter", COUNTER, layer="METRIC")
    thread = process.thread(tid=100)
    values = sorted(used_ms.items())
    for step in range(STEPS):
        at = FIRST + 10 * step
        while values and values[0][0] <= at:
            thread.counter(counter, values[0][1] * MS, at=values[0][0] * MS)
            values.pop(0)
        thread.step_begin(step, at=at * MS)
        thread.counts([4 * step * MS, 9 * step, step], at=at * MS)
        thread.begin(begin, at=at * MS)
        thread.counts([4 * step * MS, 9 * step, step], at=at * MS + 1)
        thread.counts([4 * (step + 1) * MS, 9 * (step + 1), step + 1], at=(at + 10) * MS - 2)
        thread.end(at=(at + 10) * MS - 2)
        thread.counts([4 * (step + 1) * MS, 9 * (step + 1), step + 1], at=(at + 10) * MS - 1)
        thread.step_end(at=(at + 10) * MS - 1)
    for time, value in values:
        thread.counter(counter, value * MS, at=time * MS)
    return trace.write()


def silent_of(varve, path, *options):
    rows = tables(varve, "report", "--warm-up", *options, "--table", "step_counters", path)
    return {row["step"]: row["silent_cpu_ns"] for row in rows["step_counters"]}


def rules_of(varve, path):
    rows = tables(varve, "report", "--warm-up", "--table", "advice", "--top", "0", path)
    return [row["rule"] for row in rows["advice"]]


def test_what_a_pool_did_before_the_steps_is_not_theirs(varve, tmp_path):
    path = recorded(tmp_path, {0: 0, 90: 800, 200: 800})
    assert silent_of(varve, path) == {**dict.fromkeys(range(STEPS), 0), None: 0}
    assert "oversubscription" not in rules_of(varve, path)


def test_what_a_pool_does_in_the_steps_is_divided_among_them(varve, tmp_path):
    """60 ms by the begin of step 4, and 20 ms more up to the end."""
    path = recorded(tmp_path, {0: 0, 100: 0, 140: 60, 200: 80})
    silent = silent_of(varve, path)
    assert [round(silent[step] / MS) for step in range(STEPS)] == [15] * 4 + [3] * 6
    assert silent[None] == sum(silent[step] for step in range(STEPS))
    assert "oversubscription" in rules_of(varve, path)
    assert round(silent_of(varve, path, "--steps", "3..4")[None] / MS) == 18


@pytest.mark.parametrize("used_ms", [{}, {100: 0}])
def test_one_value_says_nothing(varve, tmp_path, used_ms):
    path = recorded(tmp_path, used_ms)
    assert set(silent_of(varve, path).values()) == {None}
    assert "oversubscription" not in rules_of(varve, path)

# SPDX-License-Identifier: Apache-2.0
"""Why a step is slow, and what to try then: columns cause and cause_ns of table "steps", and rule
slow_step."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import kineto_writer as kineto  # noqa: E402
import trace_writer  # noqa: E402
from table_reader import tables  # noqa: E402

MS, USUAL_MS, SLOW_MS, SLOW = 10**6, 10, 30, 4
COMPILER = "torch/_inductor/compile_fx.py(12): compile"
SAVE = "torch/serialization.py(945): save"


def findings(varve, path):
    rows = tables(varve, "report", "--warm-up", "--table", "advice", "--top", "0", path)["advice"]
    return {row["rule"]: row for row in rows}


def slow_row(varve, path):
    return tables(varve, "report", "--warm-up", "--table", "steps", path)["steps"][SLOW]


def python(name, begin_ms, end_ms):
    return name, int(begin_ms * MS), int(end_ms * MS), "python_function"


def operator(name, begin_ms, end_ms):
    return name, int(begin_ms * MS), int(end_ms * MS), "cpu_op"


def trace(path, more, steps, usual=()):
    """Steps of 10 ms, each with an operator of 9; in the slow one, which lasts for 30, come `more`
    then, and in the others `usual`. Times are those since the step's begin."""
    events, at = [], 0
    for step in range(steps):
        end = at + (SLOW_MS if step == SLOW else USUAL_MS) * MS
        events += [kineto.step(step, at, end), kineto.span("aten::mm", at, at + 9 * MS)]
        events += [kineto.span(name, at + begin_ns, at + end_ns, *where)
                   for name, begin_ns, end_ns, *where in (more if step == SLOW else usual)]
        at = end
    return kineto.write(path, events, kineto.HEAD)


ONLY = "Look for what only this step does or waits for"
CAUSES = {  # what is in the step, the cause and its ms, what the finding says of it, what to try
    "compilation": (
        [python(COMPILER, 9, 27), python("torch/_dynamo/guards.py(7): build", 10, 20),
         operator("aten::add", 21, 26)], (), "compilation", 18,
        "Compiling took 18.0 ms more there than in the median step.", "Keep shapes fixed"),
    "saving": (
        [python(SAVE, 9, 25), python("<built-in method write_record>", 10, 24)], (), "saving", 16,
        "Saving took 16.0 ms more there than in the median step.", "Save every thousandth step"),
    "nothing": (
        [operator("aten::item", 28, 29)], (), "not recorded", 19,
        "Its thread was in nothing that was recorded after aten::mm and before aten::item: 19.0 ms "
        "there, of 19.0 ms in all steps.", "Record it: varve record --collect +python"),
    "another thread": (
        [operator("aten::item", 28, 29), (*operator("aten::sort", 10, 27), 2)], (), "not recorded",
        19, "Its thread was in nothing that was recorded after aten::mm and before aten::item: "
        "19.0 ms there, of 19.0 ms in all steps; meanwhile another thread was in aten::sort.",
        ONLY),
    "nothing beside Python's calls": (
        [operator("aten::item", 28, 29)], [python("train.py(3): log", 9, 9.5)], "no call", 19.5,
        "Its thread was in no call after aten::mm and before aten::item: 19.0 ms there, of 19.0 ms "
        "in all steps.", ONLY),
    "Python": (
        [python("train.py(3): log", 9, 29)], [python("train.py(3): log", 9, 9.5)], "Python", 19.5,
        "train.py(3): log took 19.5 ms more there than in other steps.", ONLY),
    "more calls": (
        [operator("aten::mm", 9 + 9 * n, 18 + 9 * n) for n in range(2)], (), "more calls", 18,
        "aten::mm took 18.0 ms more there than in other steps. Calls beyond their usual number: 2.",
        ONLY),
    "a range": (
        [("epoch", 9 * MS, 29 * MS, "user_annotation")],
        [("epoch", 9 * MS, 10 * MS, "user_annotation")], "not recorded", 19,
        "Its thread was in nothing that was recorded after aten::mm and before (end of the step): "
        "20.0 ms there, of 60.0 ms in all steps.", "Record it"),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_remedy_fits_the_cause(varve, tmp_path, case):
    more, usual, cause, cause_ms, why, remedy = CAUSES[case]
    path = trace(tmp_path / "c.json", more, 40, usual)
    row = slow_row(varve, path)
    assert (row["cause"], row["cause_ns"]) == (cause, cause_ms * MS)
    found = findings(varve, path)["slow_step"]
    assert found["why"] == why
    assert found["try"].startswith(remedy)


@pytest.mark.parametrize("case, other", [("compilation", "compilation"), ("saving", "saving")])
def test_a_cause_with_a_finding_of_its_own_is_told_once(varve, tmp_path, case, other):
    found = findings(varve, trace(tmp_path / "few.json", CAUSES[case][0], 10))
    assert other in found and "slow_step" not in found


def test_a_slow_step_beside_one_whose_cause_is_told(varve, tmp_path):
    """Step 4 compiles for 18 ms; step 6 has a pause of 12."""
    events, at = [], 0
    for step in range(10):
        end = at + {4: 30, 6: 22}.get(step, 10) * MS
        events += [kineto.step(step, at, end), kineto.span("aten::mm", at, at + 9 * MS)]
        if step == 4:
            events.append(kineto.span(COMPILER, at + 9 * MS, at + 29 * MS, "python_function"))
        at = end
    found = findings(varve, kineto.write(tmp_path / "two.json", events, kineto.HEAD))
    assert "compilation" in found
    assert found["slow_step"]["finding"].startswith("Step 6 took 22.0 ms, the median 10.0 ms.")


@pytest.mark.parametrize("calls, remedy", [(1, "Other programs may have taken up to 20.0 ms of it"),
                                           (3, ONLY)])
def test_others_may_have_taken_the_time_only_of_the_same_calls(varve, tmp_path, calls, remedy):
    """30 ms in one call, or in three."""
    written = trace_writer.Trace(tmp_path / "s.varve", trace_writer.manifest(cpus=2))
    process = written.process(pid=100)
    work, thread = process.site("begin", "work"), process.thread(tid=100)
    at = 0
    for step in range(10):
        took, parts = (SLOW_MS, calls) if step == SLOW else (USUAL_MS, 1)
        thread.step_begin(step, at=at)
        for part in range(parts):
            thread.begin(work, at=at + took * MS * part // parts)
            thread.end(at=at + took * MS * (part + 1) // parts - 3)
        thread.step_end(at=at + took * MS - 2)
        at += took * MS
    found = findings(varve, written.write())["slow_step"]
    assert found["try"].startswith(remedy)

# SPDX-License-Identifier: Apache-2.0
"""What recording took (doc/performance.md): the trace's sentence. Of the calls of Python, whose
time this is not: the split of steps, and rule python_itself."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import trace_writer  # noqa: E402
from table_reader import tables  # noqa: E402

US, STEPS, CALLS = 1000, 8, 20
STEP_US, PYTHON_US = 10_000, 3600


def recorded(folder, version):
    """Steps of 10 ms: a function of Python that calls another one, and an operator behind it."""
    trace = trace_writer.Trace(folder / "p.varve")
    process = trace.process(pid=100)
    if version:
        process.collector("python", "attached", f"{version}: calls of functions")
    frame = process.site("begin", "train.py(1): step", layer="PYTHON")
    inner = process.site("begin", "train.py(9): read", layer="PYTHON")
    work = process.site("begin", "aten::mm")
    thread = process.thread(tid=100)
    for step in range(STEPS):
        at = step * STEP_US * US
        thread.step_begin(step, at=at)
        thread.begin(frame, at=at)
        for call in range(CALLS - 1):
            thread.begin(inner, at=at + (10 + call) * US)
            thread.end(at=at + (10 + call) * US + 500)
        thread.end(at=at + PYTHON_US * US)
        thread.begin(work, at=at + PYTHON_US * US)
        thread.end(at=at + STEP_US * US - 2)
        thread.step_end(at=at + STEP_US * US - 1)
    return trace.write()


@pytest.mark.parametrize("version, left_us", [
    (None, PYTHON_US), ("3.9.18", PYTHON_US - CALLS * 0.05),
    ("3.11.7", (PYTHON_US - CALLS * 0.1) / 1.5), ("3.13.0", PYTHON_US - CALLS * 0.085)])
def test_what_recording_took_is_left_out(varve, tmp_path, version, left_us):
    path = recorded(tmp_path, version)
    row = tables(varve, "report", "--warm-up", "--table", "step_split", path)["step_split"][0]
    assert row["python_ns"] == PYTHON_US * US
    assert row["python_own_ns"] == pytest.approx(left_us * US, abs=1)
    assert row["python_own_ns"] + (row["tracing_ns"] or 0) == row["python_ns"]
    assert row["untraced_ns"] == row["duration_ns"] - (row["tracing_ns"] or 0)
    assert row["tracing_ns"] is not None or version is None


@pytest.mark.parametrize("version, speaks", [("3.11.7", False), ("3.13.0", True), (None, True)])
def test_a_third_that_is_recording_is_no_finding(varve, tmp_path, version, speaks):
    """36 % of the steps is in Python as it was recorded; of 3.11 it is 27 % without recording."""
    path = recorded(tmp_path, version)
    rows = tables(varve, "report", "--warm-up", "--table", "advice", "--top", "0", path)["advice"]
    found = {row["rule"]: row["finding"] for row in rows}
    assert ("python_itself" in found) == speaks
    if speaks and version:
        assert "; 13.6 µs more is what recording its calls takes" in found["python_itself"]
    elif speaks:
        assert "recording" not in found["python_itself"]


def traced(folder, name, self_us, version="3.11.7"):
    """One call of Python with a step around it, and nothing else."""
    trace = trace_writer.Trace(folder / "one.varve")
    process = trace.process(pid=100, record_cost_ps=10_000)
    process.collector("python", "attached", f"{version}: calls of functions")
    thread = process.thread(tid=100)
    thread.step_begin(0, at=0)
    thread.begin(process.site("begin", name, layer="PYTHON"), at=1)
    thread.end(at=1 + self_us * US)
    thread.step_end(at=2 + self_us * US)
    return trace.write()


@pytest.mark.parametrize("name, self_us, cost_us", [
    ("train.py(1): step", 9000, 0.1 + (9000 - 0.1) / 3),
    ("<built-in method read>", 9000, 0.1),      # C code is not slower
    ("compiler.py(292): compile", 10_000, 0.1)  # nor is a call so long that it runs C code
])
def test_only_the_interpreter_is_slower(varve, tmp_path, name, self_us, cost_us):
    path = traced(tmp_path, name, self_us)
    row = tables(varve, "report", "--warm-up", "--table", "step_split", path)["step_split"][0]
    assert row["tracing_ns"] == pytest.approx(cost_us * US, abs=1)
    # and some records of 10 ns: the step's two, names, the collector's
    row = tables(varve, "info", path)["trace"][0]
    assert row["record_cost_ns"] == pytest.approx(cost_us * US + 50, abs=30)


@pytest.mark.parametrize("says, operator_ns", [
    ("2.9.0: names, numbers, scalars, shapes", 500), ("2.9.0: names, numbers", 350), (None, 20)])
def test_an_operator_of_pytorch_costs_more_than_its_two_records(varve, tmp_path, says, operator_ns):
    trace = trace_writer.Trace(tmp_path / "o.varve")
    process = trace.process(pid=100, record_cost_ps=10_000)
    if says:
        process.collector("torch", "attached", says)
    thread = process.thread(tid=100)
    operator = process.site("begin", "aten::mm")
    for at in range(1000):
        thread.begin(operator, at=at * US)
        thread.end(at=at * US + 500)
    row = tables(varve, "info", trace.write())["trace"][0]
    assert row["record_cost_ns"] == pytest.approx(1000 * operator_ns, abs=50)
    assert f"recording took about {operator_ns:.3g}" in row["trust"]

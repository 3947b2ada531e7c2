# SPDX-License-Identifier: Apache-2.0
"""Steps that nobody recorded are exported as PyTorch's are, and say how they were found; read back,
the export has the same steps, and HTA has its step tables."""
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import table_reader
from kineto_writer import launched, span, write

SAME = ("step", "begin_ns", "duration_ns", "process")
LENGTH = 100_000


def loop(number):
    """One turn: two operators, a kernel, the optimizer."""
    at = LENGTH * number
    return [span("aten::mm", at + 1000, at + 30_000 + number),
            span("aten::relu", at + 40_000, at + 50_000),
            *launched("gemm", number + 1, (at + 2000, at + 2500), (at + 3000, at + 33_000)),
            span("Optimizer.step#SGD.step", at + 80_000, at + 99_000, "user_annotation")]


def anchored(crossing=()):
    """Six times Optimizer.step, in a range around all of them; each ends a step."""
    events = [event for number in range(6) for event in loop(number)]
    return [span("main", 500, 6 * LENGTH, "user_annotation"), *events, *crossing]


def ranges():
    return [event for number in range(4) for event in [
        *loop(number)[:2], span(f"train_step {number + 3}", LENGTH * number + 900,
                                LENGTH * number + 60_000, "user_annotation")]]


def repeats():
    """Ten times four operators that fill the time."""
    return [span(f"aten::{name}", LENGTH * number + 25_000 * place,
                 LENGTH * number + 25_000 * place + 24_000)
            for number in range(10) for place, name in enumerate(("mm", "relu", "mul", "sum"))]


def exported(varve, path):
    out = path.with_suffix(".out.json")
    subprocess.run([str(varve), "export", "--to", "chrome", "--no-cache", "-q", "-o", str(out),
                    str(path)], check=True)
    return out


def steps(varve, path, *columns):
    rows = table_reader.tables(varve, "steps", "--no-cache", "--table", "steps", path)["steps"]
    return [tuple(row[column] for column in columns or SAME) for row in rows]


def written(out):
    events = json.loads(out.read_text(encoding="utf-8"))["traceEvents"]
    return events, [event for event in events if event["name"].startswith("ProfilerStep#")]


def nest(events):
    """No two of one row overlap in part."""
    rows = {}
    for event in events:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            rows.setdefault((event["pid"], event["tid"]), []).append(
                (begin, -round(event["dur"] * 1000)))
    for spans in rows.values():
        ends = []
        for begin, negative in sorted(spans):
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or begin - negative <= ends[-1]
            ends.append(begin - negative)


@pytest.mark.parametrize("make, origin, by", [
    (anchored, "anchor", "Optimizer.step"), (ranges, "range", None),
    (repeats, "repeat", None)])
def test_found_steps_come_back(varve, tmp_path, make, origin, by):
    path = write(tmp_path / "made.json", make())
    found = steps(varve, path)
    assert len(found) >= 4 and {row[0] for row in steps(varve, path, "origin")} == {origin}
    out = exported(varve, path)
    events, marked = written(out)
    assert len(marked) == len(found)
    assert [int(event["name"].split("#")[1]) for event in marked] == [row[0] for row in found]
    assert {event["args"]["step found"] for event in marked} == {origin}
    assert by is None or {event["args"]["step found by"] for event in marked} == {by}
    assert {event["cat"] for event in marked} == {"user_annotation"}
    nest(events)
    assert steps(varve, out) == found
    assert {row[0] for row in steps(varve, out, "origin")} == {"recorded"}
    threads = steps(varve, path, "thread"), steps(varve, out, "thread")
    assert threads[0] == threads[1]
    again = exported(varve, out)  # what they were found by is kept
    assert [event["args"]["step found"] for event in written(again)[1]] == [origin] * len(found)


def test_the_same_operators_stand_in_them(varve, tmp_path):
    path = write(tmp_path / "made.json", anchored())
    out = exported(varve, path)

    def rows(trace):
        return {row["name"]: (row["step_calls"], row["step_self_ns"], row["calls"],
                              row["self_ns"])
                for row in table_reader.operators(varve, "--no-cache", trace)
                if row["name"] != "main"}  # the steps are inside it now, and take its self time
    assert rows(out) == rows(path)


def test_a_slice_that_crosses_a_step_keeps_its_row(varve, tmp_path):
    """Such steps get a row of their own, and begin and end as they did."""
    crossing = span("prefetch", 3 * LENGTH - 500, 3 * LENGTH + 700)
    path = write(tmp_path / "made.json", anchored([crossing]))
    out = exported(varve, path)
    events, marked = written(out)
    nest(events)
    assert steps(varve, out) == steps(varve, path)
    prefetch = next(event for event in events if event["name"] == "prefetch")
    assert prefetch["tid"] == 1 and 1 in {event["tid"] for event in marked}


def test_recorded_steps_say_nothing_of_being_found(varve, tmp_path):
    events = [span(f"ProfilerStep#{number}", 1000 * number, 1000 * number + 900, "user_annotation")
              for number in range(3)]
    _, marked = written(exported(varve, write(tmp_path / "made.json", events)))
    assert len(marked) == 3 and not any("step found" in event["args"] for event in marked)


def test_hta_has_its_step_tables(varve, tmp_path, hta):
    """Of several steps HTA leaves the last one out."""
    analysis = hta(trace_files={0: str(exported(varve, write(tmp_path / "made.json",
                                                             anchored())))})
    assert sorted(set(analysis.t.get_iterations(0))) == [
        row[0] for row in steps(varve, tmp_path / "made.json", "step")][:-1]
    table = analysis.get_temporal_breakdown(visualize=False)
    assert table["compute_time(us)"].iloc[0] > 0

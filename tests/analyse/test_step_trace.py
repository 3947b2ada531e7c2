# SPDX-License-Identifier: Apache-2.0
"""Tables step_trace, step_reduces and trace_plan: a program's two models, and made traces for each
thing that msprof's step_trace gets wrong (doc/trace-points.md)."""
import csv
import io
import json
import pathlib
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle")]

import trace_writer  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402

MODEL, FORWARD, BACKWARD, ITERATION, COLLECTIVE, FETCH, STEP = range(1, 8)
PARTS = ["before_forward_ns", "forward_backward_ns", "refresh_ns"]


@pytest.fixture(scope="module", name="varve")
def fixture_varve():
    return binary("varve")


def table(varve, name, path, *arguments):
    return tables(varve, "report", "--no-cache", "--table", name, *arguments, path)[name]


def tag(kind, index=0, end=0):
    return kind << 32 | index << 1 | end


def made(tmp_path, marks, device=False):
    """A trace with these marks: (time, tag, model, iteration). Its clock counts ns."""
    path = tmp_path / "made.varve"
    trace = trace_writer.Trace(path)
    process = trace.process(pid=7)
    thread = process.thread(tid=7)
    if device:
        process.track(1, "stream 3", 1, (3 << 16 | 2, -1, 3))
    for time, one, model, iteration in marks:
        if device:
            thread.trace_mark(one, at=max(mark[0] for mark in marks) + 1, track=1, value=time,
                              model=model, iteration=iteration)
        else:
            thread.trace_mark(one, at=time, model=model, iteration=iteration)
    trace.write()
    return path


# ---- a program ----

@pytest.fixture(scope="module", name="recorded")
def fixture_recorded(varve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced")
    subprocess.run([varve, "record", "-q", "-o", "t.varve", "--",
                    binary("tests/programs/traced_steps")], cwd=folder, env=quiet_environment(),
                   capture_output=True, check=True)
    return folder / "t.varve"


def near(value, wanted):
    return value is not None and abs(value - wanted) <= 3


def test_a_program_s_iterations_have_the_times_that_it_states(varve, recorded):
    rows = [row for row in table(varve, "step_trace", recorded) if row["model"] == "7"]
    assert [row["iteration"] for row in rows] == [100, 101, 102, 103, 104]
    for number, row in enumerate(rows):
        assert near(row["iteration_ns"], 200000) and row["begins"] == "model begin"
        assert [near(row[part], wanted) for part, wanted
                in zip(PARTS, (30000, 140000, 30000))] == [True] * 3
        assert near(row["fetch_ns"], 20000) and row["fetches"] == 1
        assert row["reduces"] == 2 and near(row["reduce_ns"], 70000 + 20000)
        assert row["number"] == "recorded" and row["device"] == "device:2"
        # The iteration before ends 50 µs after this one begins, so 20 µs after its forward start:
        # the last that has ended is the one before that.
        if number < 2:
            assert row["data_aug_ns"] is None
        else:
            assert near(row["data_aug_ns"], 300000 + 30000 - 200000)


def test_its_second_model_has_numbers_by_the_order(varve, recorded):
    rows = [row for row in table(varve, "step_trace", recorded) if row["model"] == "8"]
    assert [row["iteration"] for row in rows] == [1, 2, 3]
    assert {row["number"] for row in rows} == {"found"} and {row["device"] for row in rows} == {
        "host"}
    for row in rows:
        assert sum(row[part] for part in PARTS) == row["iteration_ns"] >= 0
    assert [row["data_aug_ns"] is None for row in rows] == [True, False, False]


def test_its_reduces_are_joined_by_number_and_named_by_the_plan(varve, recorded):
    rows = table(varve, "step_reduces", recorded)
    assert [(row["iteration"], row["reduce"], row["name"], row["operation"], row["stream"])
            for row in rows] == [(i, n, ("ar2", "ar1")[n], "all_reduce", 3)
                                 for i in range(100, 105) for n in (0, 1)]
    assert all(near(row["duration_ns"], (70000, 20000)[row["reduce"]]) for row in rows)


def test_its_plan_has_reasons(varve, recorded):
    rows = table(varve, "trace_plan", recorded)
    keys = ("point", "name", "state", "graph", "node")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("forward start", "conv", "found", 70, 1), ("backward end", "grad1", "found", 70, 3),
        ("iteration end", "out", "found", 70, 6), ("collective", "ar2", "found", 70, 4),
        ("collective", "ar1", "found", 70, 5), ("data fetch", "next", "found", 70, 0)]
    assert rows[1]["reason"] == ("found: the last of 1 node that 'ar1' (HcomAllReduce), the last "
                                 "collective that reduces, waits for")


def test_a_mark_of_no_kind_is_counted_as_lost(varve, recorded):
    assert table(varve, "trace", recorded)[0]["lost"] == 1


def test_steps_prints_the_tables_where_there_are_points(varve, recorded, tmp_path):
    text = subprocess.run([varve, "steps", "--no-cache", recorded], capture_output=True, text=True,
                          check=True).stdout
    assert "STEPS BY TRACE POINTS" in text and "REDUCES" in text
    trace = trace_writer.Trace(tmp_path / "plain.varve")
    trace.process(pid=7).thread(tid=7).step_begin(0, at=10)
    trace.write()
    text = subprocess.run([varve, "steps", "--no-cache", tmp_path / "plain.varve"],
                          capture_output=True, text=True, check=True).stdout
    assert "TRACE POINTS" not in text and "REDUCES" not in text


def test_layer_step_switches_marks(varve, tmp_path):
    for text, count in (("off", 0), ("on", 8)):
        environment = quiet_environment() | {"VARVE_OPTIONS": json.dumps(
            {"output": f"{text}.varve", "training_trace": text})}
        subprocess.run([binary("tests/programs/traced_steps")], cwd=tmp_path, env=environment,
                       capture_output=True, check=True)
        path = tmp_path / f"{text}.varve"
        if count == 0: # nothing is recorded at all
            assert not list(path.glob("*/metadata"))
        else:
            assert len(table(varve, "step_trace", path)) == count


# ---- made traces ----

def test_overlapping_iterations_without_numbers(varve, tmp_path):
    """Forward of the second begins before the first has ended."""
    path = made(tmp_path, [(100, tag(FORWARD), 1, -1), (200, tag(BACKWARD, 0, 1), 1, -1),
                           (210, tag(FORWARD), 1, -1), (220, tag(COLLECTIVE, 0), 1, -1),
                           (250, tag(ITERATION, 0, 1), 1, -1), (260, tag(COLLECTIVE, 0, 1), 1, -1),
                           (300, tag(BACKWARD, 0, 1), 1, -1), (350, tag(ITERATION, 0, 1), 1, -1)])
    rows = table(varve, "step_trace", path)
    assert [(row["iteration"], row["begins"], row["iteration_ns"], *(row[p] for p in PARTS),
             row["reduces"]) for row in rows] == [
                 (1, "first point", 150, 0, 100, 50, 1), (2, "first point", 140, 0, 90, 50, 0)]
    (reduce,) = table(varve, "step_reduces", path)
    assert (reduce["iteration"], reduce["duration_ns"]) == (1, 40)


def test_a_loop_on_the_device_begins_with_the_previous_end(varve, tmp_path):
    """One execution of the model, three iterations; msprof does not say that the first one's time
    has another meaning."""
    marks = [(100, 0, 1, -1)]
    for begin in (110, 200, 300):
        marks += [(begin, 2, 1, -1), (begin + 50, 3, 1, -1), (begin + 60, 4, 1, -1)]
    rows = table(varve, "step_trace", made(tmp_path, marks + [(400, 1, 1, -1)]))
    assert [(row["begins"], row["iteration_ns"], row["before_forward_ns"], row["data_aug_ns"])
            for row in rows] == [("model begin", 70, 10, None), ("previous end", 90, 30, 30),
                                 ("previous end", 100, 40, 40)]


def test_a_model_without_iteration_ends_has_a_step_an_execution(varve, tmp_path):
    path = made(tmp_path, [(100, 0, 1, -1), (150, 1, 1, -1), (200, 0, 1, -1), (290, 1, 1, -1)])
    rows = table(varve, "step_trace", path)
    assert [(row["iteration"], row["iteration_ns"], row["forward_backward_ns"], row["refresh_ns"])
            for row in rows] == [(1, 50, None, None), (2, 90, None, None)]


def test_one_bad_step_hides_no_others(varve, tmp_path):
    """msprof stops at a step without an end, or one whose end is its begin."""
    marks = []
    for number, end in ((1, 150), (2, None), (3, 300), (4, 450)):
        begin = number * 100
        marks += [(begin, tag(STEP), 1, number)]
        marks += [(end, tag(STEP, 0, 1), 1, number)] if end else []
    rows = table(varve, "step_trace", made(tmp_path, marks))
    assert [(row["iteration"], row["iteration_ns"], row["begins"]) for row in rows] == [
        (1, 50, "step begin"), (2, None, "step begin"), (3, 0, "step begin"),
        (4, 50, "step begin")]


def test_every_reduce_has_a_duration_with_a_sign_also_the_first(varve, tmp_path):
    """msprof computes the first one's as begin - end, which wraps."""
    path = made(tmp_path, [(100, 2, 1, 5), (110, 10000, 1, 5), (130, 10001, 1, 5),
                           (140, 10002, 1, 5), (190, 10003, 1, 5), (200, 3, 1, 5), (210, 4, 1, 5)])
    assert [row["duration_ns"] for row in table(varve, "step_reduces", path)] == [20, 50]
    rows = msprof(varve, path)
    assert (rows[0]["Reduce Duration(us)"], rows[0]["Reduce Duration(us).1"]) == ("0.020", "0.050")


def test_reduces_in_flight_are_joined_by_number(varve, tmp_path):
    """msprof joins them by the order: 10 and 90 would be both wrong; and two that begin at one
    instant have the same key."""
    path = made(tmp_path, [(100, tag(COLLECTIVE, 0), 1, 0), (100, tag(COLLECTIVE, 1), 1, 0),
                           (150, tag(COLLECTIVE, 2), 1, 0), (160, tag(COLLECTIVE, 2, 1), 1, 0),
                           (190, tag(COLLECTIVE, 1, 1), 1, 0), (195, tag(COLLECTIVE, 0, 1), 1, 0)])
    assert [row["duration_ns"] for row in table(varve, "step_reduces", path)] == [95, 90, 10]


def test_half_a_reduce_is_a_row_without_a_duration(varve, tmp_path):
    path = made(tmp_path, [(100, tag(COLLECTIVE, 0), 1, 0), (120, tag(COLLECTIVE, 1, 1), 1, 0),
                           (130, tag(COLLECTIVE, 1), 1, 0), (140, tag(COLLECTIVE, 1, 1), 1, 0)])
    assert [(row["reduce"], row["begin_ns"] is None, row["end_ns"] is None, row["duration_ns"])
            for row in table(varve, "step_reduces", path)] == [
                (0, False, True, None), (1, True, False, None), (1, False, False, 10)]


def test_data_augmentation_is_bound_by_the_same_model(varve, tmp_path):
    """msprof takes the latest end of any model."""
    path = made(tmp_path, [(100, 2, 1, 0), (150, 4, 1, 0), (160, 2, 2, 0), (190, 4, 2, 0),
                           (200, 2, 1, 1), (250, 4, 1, 1)])
    assert [(row["model"], row["data_aug_ns"]) for row in table(varve, "step_trace", path)] == [
        ("1", None), ("1", 50), ("2", None)]


def test_5000_reduces_and_more_have_numbers_of_their_own(varve, tmp_path):
    marks = [(time, tag(kind, 5000, end), 1, 0) for kind in (COLLECTIVE, FETCH)
             for time, end in ((100 + kind, 0), (200 + kind, 1))]
    path = made(tmp_path, sorted(marks))
    (row,) = table(varve, "step_trace", path)
    assert (row["reduces"], row["reduce_ns"], row["fetches"], row["fetch_ns"]) == (1, 100, 1, 100)


def test_a_model_s_own_marks_may_lack_the_number(varve, tmp_path):
    """Points with numbers, and executions of the model without."""
    path = made(tmp_path, [(100, 0, 1, -1), (120, 2, 1, 8), (150, 3, 1, 8), (180, 1, 1, -1),
                           (200, 0, 1, -1), (220, 2, 1, 9), (250, 3, 1, 9), (290, 1, 1, -1)])
    assert [(row["iteration"], row["begins"], row["iteration_ns"], *(row[part] for part in PARTS))
            for row in table(varve, "step_trace", path)] == [
                (8, "model begin", 80, 20, 30, 30), (9, "model begin", 90, 20, 30, 40)]


def test_iterations_can_be_chosen(varve, tmp_path):
    path = made(tmp_path, [(100 + i, 2, 1, i) for i in range(9)])
    assert [row["iteration"] for row in table(varve, "step_trace", path, "--steps", "3..5")] == [
        3, 4, 5]


# ---- msprof's columns ----

def msprof(varve, path):
    done = subprocess.run([varve, "report", "--no-cache", "--table", "step_trace", "--compat",
                           "msprof", "--csv", path], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_the_verb_steps_takes_msprofs_columns(varve, tmp_path):
    path = made(tmp_path, [(1000, 2, 1, 4), (3000, 3, 1, 4), (4000, 4, 1, 4)])
    done = subprocess.run([varve, "steps", "--no-cache", "--compat", "msprof", "--json", path],
                          capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)["tables"]["step_trace"]
    (row,) = [dict(zip((column["name"] for column in table["columns"]), row))
              for row in table["rows"]]
    assert {name: str(value) for name, value in row.items()} == msprof(varve, path)[0]


def test_msprofs_columns(varve, tmp_path):
    path = made(tmp_path, [(100000, 0, 1, 4), (110500, 2, 1, 4), (120000, 10000, 1, 4),
                           (125250, 10001, 1, 4), (130000, 3, 1, 4), (135001, 4, 1, 4),
                           (140000, 3, 9, 0)], device=True)
    rows = msprof(varve, path)
    assert list(rows[0]) == [
        "Device_id", "Iteration ID", "FP Start(us)", "BP End(us)", "Iteration End(us)",
        "Iteration Time(us)", "FP to BP Time(us)", "Iteration Refresh(us)", "Data Aug Bound(us)",
        "Model ID", "Reduce Start(us)", "Reduce Duration(us)", "Iteration Begin"]
    assert [rows[0][key] for key in ("Device_id", "Iteration ID", "Iteration Time(us)",
                                     "FP to BP Time(us)", "Iteration Refresh(us)",
                                     "Data Aug Bound(us)", "Model ID", "Reduce Duration(us)",
                                     "Iteration Begin")] == [
        "2", "4", "35.001", "19.500", "5.001", "N/A", "1", "5.250", "model begin"]
    assert [rows[1][key] for key in ("FP Start(us)", "Iteration Time(us)", "Reduce Start(us)")] == [
        "N/A"] * 3
    assert float(rows[0]["BP End(us)"]) - float(rows[0]["FP Start(us)"]) == pytest.approx(
        19.5, abs=1)


# ---- laws ----

@settings(max_examples=60, deadline=None)
@given(data=strategies.data())
def test_parts_sum_to_the_iteration(varve, tmp_path_factory, data):
    """Whatever comes in whatever order: known parts add up, each pair is counted once, and every
    point that has a number is in one iteration."""
    times = data.draw(strategies.lists(strategies.integers(10, 400), min_size=1, max_size=40))
    kinds = strategies.sampled_from([tag(MODEL), tag(MODEL, 0, 1), 2, 3, 4, 10000, 10001, 10002,
                                     10003, tag(FETCH), tag(FETCH, 0, 1)])
    numbered = data.draw(strategies.booleans())
    marks = [(time, data.draw(kinds), data.draw(strategies.integers(1, 2)),
              data.draw(strategies.integers(0, 3)) if numbered else -1) for time in sorted(times)]
    path = made(tmp_path_factory.mktemp("law"), marks)
    rows = table(varve, "step_trace", path)
    for row in rows:
        if None not in [row[part] for part in PARTS]:
            assert sum(row[part] for part in PARTS) == row["iteration_ns"]
        assert row["iteration_ns"] is None or row["iteration_ns"] >= 0
    keys = [(row["model"], row["iteration"]) for row in rows]
    assert len(keys) == len(set(keys))
    if numbered:
        assert set(keys) == {(str(model), number) for _, _, model, number in marks}
    reduces = table(varve, "step_reduces", path)
    begins = sum(one in (10000, 10002) for _, one, _, _ in marks)
    assert sum(row["begin_ns"] is not None for row in reduces) == begins
    assert all(row["duration_ns"] is None or row["duration_ns"] >= 0 for row in reduces)

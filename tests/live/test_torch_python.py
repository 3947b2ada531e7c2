# SPDX-License-Identifier: Apache-2.0
"""varve.profile beside torch.profiler.profile in one process: the same rows, the same windows, the
same schedules."""
import json
import pathlib
import statistics
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from table_reader import tables  # noqa: E402

OURS_ALONE = {"warm"}  # varve.record_function is no range of torch's
# by which the two times of one call differ in the median: one stands within the other
CLOCKS_US = 20


@pytest.fixture(scope="module", name="folder")
def fixture_folder(produce, varve):
    assert varve.exists()
    return produce("torch", "torch_and_varve.py")


@pytest.fixture(scope="module", name="rows")
def fixture_rows(folder):
    return json.loads((folder / "rows.json").read_text())


def by_key(rows):
    return {row["key"]: row for row in rows}


def test_the_names_and_calls_are_torch_s(rows):
    """In this model no operator stands within one of its own name, which torch counts twice."""
    ours, theirs = by_key(rows["ours"]), by_key(rows["theirs"])
    assert ours.keys() - theirs.keys() == OURS_ALONE
    assert theirs.keys() - ours.keys() == set()
    assert {name: ours[name]["count"] for name in theirs} == {name: row["count"]
                                                              for name, row in theirs.items()}
    assert len(theirs) > 80


def test_the_times_are_torch_s(rows):
    ours, theirs = by_key(rows["ours"]), by_key(rows["theirs"])
    for column in ("cpu_time_total", "self_cpu_time_total"):
        differences = [abs(ours[name][column] - row[column]) / row["count"]
                       for name, row in theirs.items()]
        assert statistics.median(differences) < CLOCKS_US
    # A stop of the process between the two readings of the clock falls on few names.
    most_alike = sorted(
        theirs, key=lambda name: abs(ours[name]["self_cpu_time_total"] - theirs[name][
            "self_cpu_time_total"]))
    own, other = (sum(side[name]["self_cpu_time_total"] for name in most_alike[:-3])
                  for side in (ours, theirs))
    assert own == pytest.approx(other, rel=0.2)


def test_the_table_has_the_largest_rows(rows):
    """Long names are cut."""
    lines = rows["table"].splitlines()
    for line, row in zip(lines[3:8], rows["ours"]):
        name = line.split("  ")[0].strip()
        assert name == row["key"] or (name.endswith("...") and row["key"].startswith(name[:-3]))
    assert [int(line.split()[-1]) for line in lines[3:8]] == [row["count"]
                                                              for row in rows["ours"][:5]]


def test_shapes_divide_the_rows(rows):
    """The calls of a name, over its shapes, are its calls; the convolution's are those of the
    model."""
    calls = {}
    for row in rows["by_shape"]:
        calls[row["key"]] = calls.get(row["key"], 0) + row["count"]
    assert calls == {row["key"]: row["count"] for row in rows["ours"]}
    shapes = {row["shapes"].split("]")[0] + "]" for row in rows["by_shape"]
              if row["key"] == "aten::conv2d"}
    assert shapes == {"[4,3,32,32]", "[4,8,16,16]"}


def test_a_schedule_s_windows_are_torch_s(folder):
    for window in json.loads((folder / "windows.json").read_text()):
        assert window["ours"] == window["ours_by_their_plan"] == window["theirs"], window["plan"]


def test_a_schedule_says_what_torch_s_says(folder):
    plans = json.loads((folder / "plans.json").read_text())
    assert plans["wrong"] == []
    assert plans["asked"] == 4 * 3 * 3 * 3 * 3 * 2 * 40


def test_hta_loads_the_export(folder, hta):
    # HTA leaves out the last step unless it is told not to.
    analysis = hta(trace_files={0: str(folder / "run.json.gz")}, include_last_profiler_step=True)
    frame = analysis.t.get_trace(0)
    names = analysis.t.symbol_table.get_sym_table()
    rows = json.loads((folder / "rows.json").read_text())["ours"]
    counted = frame["name"].map(lambda index: names[index]).value_counts()
    assert {row["key"]: counted.get(row["key"], 0) for row in rows} == {row["key"]: row["count"]
                                                                        for row in rows}


def test_memory_of_a_window(record):
    """Each operator's own bytes. torch does not count what it gives back if it was taken before the
    window."""
    numbers = json.loads((record("torch", "torch_and_varve.py",
                                 "memory") / "memory.json").read_text())
    ours = {name: row for name, row in numbers["ours"].items()
            if not name.startswith("ProfilerStep#")}
    theirs = {name: row for name, row in numbers["theirs"].items()
              if name not in ("ProfilerStep*", "[memory]")}
    assert ours.keys() == theirs.keys()
    assert {name: calls
            for name, (calls, _) in ours.items()
            } == {name: calls
                  for name, (calls, _) in theirs.items()}
    differ = {name for name in ours if ours[name] != theirs[name]}
    # gradients, and the former loss
    assert differ <= {"Optimizer.zero_grad#Adam.zero_grad", "forward pass"}
    assert all(ours[name][1] < theirs[name][1] < 0 for name in differ)
    assert sum(own_bytes != 0 for _, own_bytes in theirs.values()) > 25


def test_pytorch_is_left_alone_before_and_after(folder):
    assert json.loads((folder / "attached.json").read_text())["seen"] == [False, True, False]


def test_torch_s_handler_of_a_ready_trace_takes_it(folder):
    name, = json.loads((folder / "attached.json").read_text())["files"]
    assert name.startswith("worker.") and name.endswith(".pt.trace.json")
    assert json.loads((folder / "board" / name).read_text())["traceEvents"]


def test_what_is_collected_changes_while_threads_run(produce, varve):
    """What began while PyTorch was observed ends, and nothing else does: no end is without its
    begin, no range open."""
    folder = produce("torch", "torch_switched.py")
    counts = json.loads((folder / "counts.json").read_text())
    assert counts["changes"] > 100 and min(counts["rounds"]) > 10
    info = tables(varve, "info", folder / "run.varve")
    # a range may be shorter than a tick
    assert {row["finding"] for row in info["health"]} <= {"zero_length"}
    assert info["trace"][0]["slices"] > 1000 and info["trace"][0]["unfinished"] == 0

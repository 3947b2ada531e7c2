# SPDX-License-Identifier: Apache-2.0
"""Tables "marks", "counters", "counter_values", "async", "flows": each row counted again from the
model, for every format that has such records, and by hand for a small trace of ours."""
import collections
import json
import math
import pathlib
import statistics
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import nsys_writer
import perfetto_writer
import table_reader
import trace_writer
from kineto_writer import span, step, write
from model_tables import dump
from xspace_bytes import Plane, space

TABLES = ("marks", "counters", "counter_values", "async", "flows")
ASYNC, UNFINISHED = 1, 1


def tables_of(varve, path, *arguments):
    return {name: table_reader.tables(varve, "report", "--no-cache", "--table", name, *arguments,
                                      path)[name] for name in TABLES + ("trace",)}


def plain(rows):
    return [row for row in rows if row["row"] not in ("more", "total")]


# ---- small traces of each format ----

def chrome(folder):
    def at(phase, ns, name, tid=1, **more):
        return {"ph": phase, "name": name, "pid": 1000, "tid": tid, "ts": ns} | more
    events = [step(number, 10_000 * number, 10_000 * number + 9000) for number in range(3)]
    events += [span("work", 10_000 * number + 100, 10_000 * number + 200) for number in range(3)]
    for number in range(3):
        begin = 10_000 * number
        events += [at("C", begin + 500, "memory", args={"used": 100 * number, "free": 50}),
                   at("C", begin + 500, "loss", args={"value": 0.5 - 0.25 * number}),
                   at("i", begin + 600, "saved", tid=2, s="t", cat="io", args={"epoch": number}),
                   at("b", begin + 700, "fetch", id=number, cat="net"),
                   at("n", begin + 800, "first byte", id=number, cat="net"),
                   at("e", begin + 20_000, "fetch", id=number, cat="net"),
                   at("s", begin + 150, "hand", id=number, cat="to"),
                   at("t", begin + 400, "hand", 2, id=number, cat="to"),
                   at("f", begin + 900 + number, "hand", 2, id=number, cat="to", bp="e")]
    events += [at("b", 25_000, "never ended", id=77, cat="net"), at("I", 9500, "between", s="p"),
               at("C", 9600, "loss", args={"value": float("nan")})]
    return write(folder / "made.json", events)


def ours(folder):
    written = trace_writer.Trace(folder / "ours.varve")
    process = written.process(pid=100)
    thread, other = process.thread(tid=100), process.thread(tid=101)
    loss, saved = process.site("counter", "loss", "METRIC"), process.site("mark", "saved", "API")
    begin, end = process.site("async_begin", "copy"), process.site("async_end", "copy")
    out, into = process.site("flow_out", "batch"), process.site("flow_in", "batch")
    op = process.site("begin", "conv")
    for number in range(60):
        at = 1000 * number
        thread.step_begin(number, at)
        thread.begin(op, at + 10)
        thread.pair(out, number, at + 20)
        thread.pair(begin, number, at + 30)
        thread.end(at + 100)
        thread.counter(loss, 2.5 / (number + 1), at + 200)
        thread.step_end(at + 900)
        other.begin(op, at + 300)
        other.pair(into, number, at + 310 + number)
        other.pair(end, number, at + 400)
        other.mark(saved, at + 500)
        other.end(at + 600)
    return written.write()


def perfetto(folder):
    trace = perfetto_writer.Trace(folder / "trace.pftrace")
    trace.clear((87, 1))
    trace.track(10, process=(77, "program"))
    trace.track(11, parent=10, thread=(77, 77, "main"))
    trace.track(13, parent=10, name="requests")
    trace.track(14, parent=10, name="memory", counter=[(4, 1024)])
    trace.event(100, perfetto_writer.BEGIN, track=11, name="outer", flows=[99])
    trace.event(150, perfetto_writer.BEGIN, track=13, name="request")
    trace.event(200, perfetto_writer.INSTANT, track=11, name="tick", args={"n": 7})
    trace.event(300, perfetto_writer.END, track=11)
    trace.event(350, perfetto_writer.COUNTER, track=14, value=5)
    trace.event(360, perfetto_writer.COUNTER, track=14, value=2.5)
    trace.event(400, perfetto_writer.END, track=13)
    trace.event(500, perfetto_writer.BEGIN, track=11, name="inner", ends=[99])
    trace.event(600, perfetto_writer.END, track=11)
    return trace.write()


def xspace(folder):
    plane = Plane("/host:CPU")
    plane.line(5, [plane.event("produce", 0, 1_000, [plane.stat("_pt", 12), plane.stat("_p", 5)]),
                   plane.event("consume", 9_000, 1_000, [plane.stat("_ct", 12),
                                                         plane.stat("_c", 5)]),
                   plane.event("MemoryAllocation", 11_000, None,
                               [plane.stat("addr", 64), plane.stat("allocation_bytes", 100),
                                plane.stat("allocator_name", "GPU_0_bfc")])], "main")
    plane.line((1 << 63) - 1, [plane.event("power", 2_000, None,
                                           [plane.stat("watts", 1.5), plane.stat("mw", 3)])],
               "_counters_")
    path = folder / "host.xplane.pb"
    path.write_bytes(space(plane))
    return path


def nsys(folder):
    nsys_writer.write(folder / "made.sqlite")
    return folder / "made.sqlite"


# Of each format: what such records it has.
FORMATS = [(chrome, TABLES), (ours, TABLES), (perfetto, TABLES),
           (xspace, ("marks", "counters", "counter_values", "flows")), (nsys, ("marks", "async"))]
REAL = ["xplane/jax_tpu_inference.xplane.pb", "kineto/gpu_metrics_expected.json",
        "mlirgraph/profiler_ops.json", "ascend/trace_view.json.gz", "chrome/catapult_demo.json",
        "onnxruntime"]


# ---- the tables, made again from the model ----

def check_records(model, tables):
    """Each record has its row, in order of time."""
    begin_ns = min(process["begin_ns"] for process in model["processes"])
    marks = [(row["time_ns"] - begin_ns, row["name"], row["category"] or None)
             for row in model["marks"]]
    assert sorted(((row["at_ns"], row["name"], row["category"]) for row in plain(tables["marks"])),
                  key=str) == sorted(marks, key=str)
    values = [(row["time_ns"] - begin_ns, row["name"], row["series"] or None,
               row["value"]) for row in model["counters"]]
    assert sorted(((row["at_ns"], row["name"], row["series"], row["value"])
                   for row in plain(tables["counter_values"])), key=str) == sorted(values, key=str)
    for name in ("marks", "counter_values"):
        times = [row["at_ns"] for row in plain(tables[name])]
        assert times == sorted(times)
    for name, column in (("marks", "marks"), ("counters", "values"),
                         ("counter_values", "values"), ("flows", "flows")):
        total = "counter_values" if "counter" in name else name
        assert sum(row[column] for row in plain(tables[name])) == tables["trace"][0][total]


def check_counters(model, rows):
    series = collections.defaultdict(list)
    process = {track["row"]: track["process"] for track in model["tracks"]}
    for row in sorted(model["counters"], key=lambda row: row["time_ns"]):
        series[row["name"], row["series"] or None, process[row["track"]]].append(row["value"])
    found = [(row["name"], row["series"], row["values"], row["first"], row["last"], row["min"],
              row["max"], row["not_finite"]) for row in plain(rows)]
    wanted = []
    for (name, part, _), values in series.items():
        finite = [value for value in values if value is not None and math.isfinite(value)]
        wanted.append((name, part, len(values), values[0], values[-1], min(finite, default=None),
                       max(finite, default=None), len(values) - len(finite)))
    assert sorted(found, key=str) == sorted(wanted, key=str)
    for row in plain(rows):
        values = next(values for (name, part, _), values in series.items()
                      if (name, part) == (row["name"], row["series"]))
        finite = [value for value in values if value is not None]
        assert row["mean"] == pytest.approx(math.fsum(finite) / len(finite))


def check_async(model, rows):
    lanes = {track["row"]: track["process"] for track in model["tracks"] if track["kind"] == ASYNC}
    ranges = collections.defaultdict(list)
    for row in model["slices"]:
        if row["track"] in lanes:
            ranges[row["name"], row["category"] or None, lanes[row["track"]]].append(row)

    def most(held):
        return max(sum(other["begin_ns"] <= one["begin_ns"] < other["begin_ns"] +
                       max(other["duration_ns"], 1) for other in held) for one in held)
    wanted = [(name, category, len(held), sum(row["duration_ns"] for row in held),
               math.floor(statistics.median(row["duration_ns"] for row in held)), most(held),
               sum(row["flags"] & UNFINISHED for row in held))
              for (name, category, _), held in ranges.items()]
    assert sorted(((row["name"], row["category"], row["calls"], row["total_ns"], row["median_ns"],
                    row["most_at_once"], row["left_open"]) for row in plain(rows)),
                  key=str) == sorted(wanted, key=str)


def check_flows(model, rows):
    arrows = collections.defaultdict(list)
    for row in model["flows"]:
        name, category = row["name"], row["category"] or ""
        if category and name[:len(category)] == category and name[len(category):].isdigit():
            name = category  # numbered
        arrows[name, category or None].append(abs(row["to_ns"] - row["from_ns"]))
    assert sorted(((row["name"], row["category"], row["flows"], row["median_ns"],
                    row["longest_ns"]) for row in plain(rows)), key=str) == sorted(
        ((*key, len(times), math.floor(statistics.median(times)), max(times))
         for key, times in arrows.items()), key=str)


def check(build, varve, path):
    model, tables = dump(build, path), tables_of(varve, path)
    check_records(model, tables)
    check_counters(model, tables["counters"])
    check_async(model, tables["async"])
    check_flows(model, tables["flows"])
    return {name for name in TABLES if tables[name]}


@pytest.mark.parametrize("make, holds", FORMATS, ids=lambda value: getattr(value, "__name__", ""))
def test_each_format_fills_the_tables(build, varve, tmp_path, make, holds):
    assert check(build, varve, make(tmp_path)) == set(holds)


@pytest.mark.parametrize("name", REAL)
def test_real_traces_say_the_same(build, varve, traces, name):
    path = traces / name
    check(build, varve, next(path.iterdir()) if path.is_dir() else path)


# ---- by hand ----

def test_a_small_trace_by_hand(varve, tmp_path):
    tables = tables_of(varve, ours(tmp_path))
    loss = plain(tables["counters"])[0]
    assert (loss["values"], loss["first"], loss["last"], loss["min"], loss["max"]) == (
        60, 2.5, 2.5 / 60, 2.5 / 60, 2.5)
    values = plain(tables["counter_values"])
    assert [(row["step"], row["value"], row["thread"]) for row in values] == [
        (number, 2.5 / (number + 1), "thread 100") for number in range(60)]
    copies = plain(tables["async"])[0]
    assert (copies["calls"], copies["total_ns"], copies["median_ns"], copies["most_at_once"],
            copies["left_open"]) == (60, 60 * 370, 370, 1, 0)
    batches = plain(tables["flows"])[0]
    assert (batches["flows"], batches["median_ns"], batches["longest_ns"],
            batches["longest_at_ns"], batches["across"], batches["backwards"]) == (
        60, 290 + 29, 290 + 59, 59_020 - 0, 60, 0)
    saved = plain(tables["marks"])
    assert [(row["name"], row["step"], row["process"]) for row in saved] == [
        ("saved", number, 100) for number in range(60)]


def test_what_chrome_says_is_kept(varve, tmp_path):
    tables = tables_of(varve, chrome(tmp_path))
    assert {(row["name"], row["series"]): (row["first"], row["last"], row["mean"],
                                           row["not_finite"])
            for row in plain(tables["counters"])} == {
        ("memory", "used"): (0, 200, 100, 0), ("memory", "free"): (50, 50, 50, 0),
        ("loss", None): (0.5, 0, 0.25, 1)}
    fetch = next(row for row in tables["async"] if row["name"] == "fetch")
    assert (fetch["calls"], fetch["most_at_once"], fetch["left_open"]) == (3, 2, 0)
    assert next(row for row in tables["async"] if row["name"] == "never ended")["left_open"] == 1
    saved = [row for row in plain(tables["marks"]) if row["name"] == "saved"]
    assert [(row["arguments"], row["category"], row["step"]) for row in saved] == [
        (f"epoch={number}", "io", number) for number in range(3)]


def test_by_step(varve, tmp_path):
    path = ours(tmp_path)
    rows = plain(table_reader.tables(varve, "report", "--table", "counters", "--by", "step",
                                     path)["counters"])
    assert [(row["step"], row["values"], row["first"], row["mean"]) for row in rows] == [
        (number, 1, 2.5 / (number + 1), 2.5 / (number + 1)) for number in range(60)]
    few = {name: table_reader.tables(varve, "report", "--table", name, "--steps", "3..5",
                                     path)[name] for name in TABLES}
    assert [row["step"] for row in plain(few["counter_values"])] == [3, 4, 5]
    assert [row["step"] for row in plain(few["marks"])] == [3, 4, 5]
    assert [row["calls"] for row in plain(few["async"])] == [3]
    assert [row["flows"] for row in plain(few["flows"])] == [3]


def test_a_value_lies_in_the_step_that_began_last(varve, tmp_path):
    """A thread's own step comes first, then one of the process; after a step's end there is
    none."""
    def value(at_ns, tid):
        return {"ph": "C", "name": "n", "pid": 1000, "tid": tid, "ts": at_ns,
                "args": {"value": at_ns}}
    events = [step(1, 0, 10_000), step(2, 2000, 9000, tid=2), span("a", 1, 2), span("b", 1, 2,
                                                                                    tid=2)]
    events += [{"ph": "i", "name": f"{tid} {at}", "s": "t", "pid": 1000, "tid": tid, "ts": at}
               for tid in (1, 2, 3) for at in (1000, 5000, 9500, 10_000)]
    path = write(tmp_path / "steps.json", events + [value(100, 1)])
    rows = plain(table_reader.tables(varve, "report", "--no-cache", "--table", "marks",
                                     path)["marks"])
    assert {row["name"]: row["step"] for row in rows} == {
        "1 1000": 1, "1 5000": 1, "1 9500": 1, "1 10000": None,
        "2 1000": 1, "2 5000": 2, "2 9500": 1, "2 10000": None,
        "3 1000": 1, "3 5000": 2, "3 9500": 1, "3 10000": None}


def test_the_rest_is_summed_up(varve, tmp_path):
    path = ours(tmp_path)
    for name, column in (("marks", "marks"), ("counter_values", "values")):
        rows = table_reader.tables(varve, "report", "--table", name, "--top", "10", path)[name]
        assert [row[column] for row in rows[-2:]] == [50, 60] and len(rows) == 12
        assert rows[-2]["name"] == "50 more: --top 0"


@pytest.mark.parametrize("name", TABLES)
def test_none_is_an_answer(varve, tmp_path, name):
    path = write(tmp_path / "none.json", [span("aten::mm", 0, 10)])
    done = subprocess.run([str(varve), "report", "--no-cache", "--json", "--table", name,
                           str(path)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["tables"][name]["rows"] == []
    said = subprocess.run([str(varve), "report", "--no-cache", "--table", name, str(path)],
                          capture_output=True, text=True, check=True).stdout
    assert " no " in said


def test_the_losses_of_the_example_can_be_asked_for(build, varve, tmp_path):
    program, trace = build / "examples" / "train", tmp_path / "train.varve"
    if not program.exists():
        pytest.skip("needs examples/train: make")
    done = subprocess.run([varve, "record", "-q", "-o", trace, "--", program, "--steps", "60",
                           "--batch", "4"], capture_output=True, text=True, check=True)
    values = plain(table_reader.tables(varve, "report", "--table", "counter_values",
                                       trace)["counter_values"])
    losses = [(row["step"], row["value"]) for row in values if row["name"] == "loss"]
    assert len(losses) == 60
    printed = [line.split() for line in done.stdout.splitlines() if line.startswith("step ")]
    assert len(printed) == 6
    for _, number, _, loss in printed:
        assert f"{dict(losses)[int(number)]:.4f}" == loss

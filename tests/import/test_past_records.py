# SPDX-License-Identifier: Apache-2.0
"""Ranges that were told when they were over, and notes of what they were (doc/format.md §6): where
they lie, which range each note belongs to, and what is counted."""
import pathlib
import sys

import pytest
from hypothesis import given, settings, strategies

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS / "import"),
                str(TESTS.parent / "tools")]

import trace_writer  # noqa: E402
import varve_decode  # noqa: E402
from table_reader import tables  # noqa: E402
from test_device_records import dump  # noqa: E402
from test_varve_format import babeltrace_count  # noqa: E402

EPOCH = trace_writer.EPOCH_NS
NODE = [("type", "texts", ["Conv2D"]), ("block_dim", "integers", [24]),
        ("x", ("f16", 0, "NC1HWC0"), [8, 2, 4, 4, 16]), ("x", ("f32", 0, ""), [16]),
        ("y", ("f32", 1, "ND"), [8])]


@pytest.fixture
def made(tmp_path):
    """made() gives (trace, process, thread 100)."""
    def make():
        trace = trace_writer.Trace(tmp_path / "p.varve")
        process = trace.process(pid=100)
        return trace, process, process.thread(tid=100)
    return make


def slices(path):
    """{name: row} of the model's slices."""
    return {row["name"]: row for row in dump(path)["slices"]}


def health(varve, path):
    return {row["finding"]: row["count"] for row in tables(varve, "info", path)["health"]}


def test_every_reader_finds_them(varve, made):
    trace, _, thread = made()
    thread.past_range("aclnnConv", (1000, 2000), at=2000, layer="API")
    thread.past_range("launch", (1100, 1500), at=2001, subject="conv1")
    thread.past_note("node_basic_info", 1500, NODE, at=2002, layer="OP")
    path = trace.write()
    decoded = varve_decode.open_trace(str(path))
    assert decoded.problems == []
    names = varve_decode.counts(decoded)["by_name"]
    assert (names["varve.past_range"], names["varve.past_note"]) == (2, 1)
    if (count := babeltrace_count(path)) is not None:
        assert count == trace.records
    model = dump(path)
    outer, inner = model["slices"]
    assert (outer["name"], outer["begin_ns"] - EPOCH, outer["duration_ns"], outer["self_ns"],
            outer["depth"]) == ("aclnnConv", 1000, 1000, 600, 0)
    assert (inner["name"], inner["begin_ns"] - EPOCH, inner["duration_ns"], inner["parent"]) == (
        "Conv2D", 1100, 400, 0)
    assert inner["args"] == [["subject", "conv1"], ["block_dim", 24]]
    operator = model["ops"][inner["op"]]
    assert operator["shapes"] == "[8,2,4,4,16] f16, [16] f32 -> [8] f32"
    assert (operator["tensor_count"], operator["output_count"]) == (2, 1)
    assert [(row["side"], row["format"], row["rank"]) for row in model["tensors"]] == [
        (0, "NC1HWC0", 5), (0, "", 1), (1, "ND", 1)]
    assert [model["tracks"][row["track"]]["tid"] for row in (outer, inner)] == [100, 100]
    assert health(varve, path) == {}


def test_they_lie_among_ranges_that_were_told_in_time(made):
    trace, process, thread = made()
    step, conv = process.site("begin", "step", layer="OP"), process.site("begin", "x", layer="OP")
    thread.begin(step, at=1000)
    thread.begin(conv, at=1300)
    thread.end(at=1400)
    thread.past_range("launch", (1100, 1200), at=1500)
    thread.past_range("around", (1250, 1450), at=1501)
    thread.end(at=2000)
    found = dump(trace.write())["slices"]
    assert [(row["name"], row["parent"], row["self_ns"]) for row in found] == [
        ("step", None, 700), ("launch", 0, 100), ("around", 0, 100), ("x", 2, 100)]


def test_a_note_belongs_to_the_range_that_holds_its_instant(varve, made):
    trace, process, thread = made()
    notes = [1000, 1001, 1100, 1250, 1500, 1501, 2000, 2001]  # (begin, end] is the rule
    for time in notes:
        thread.past_note("n", time, [(f"at {time}", "integers", [1])], at=900, layer="OP")
    thread.past_range("one", (1000, 1500), at=3000)
    thread.past_range("two", (1200, 1300), at=3001)
    thread.past_range("three", (1500, 2000), at=3002)
    thread.past_range("host", (1000, 1400), at=3003, layer="HOST")
    path = trace.write()
    keys = {name: [key for key, _ in row["args"]] for name, row in slices(path).items()}
    assert keys == {"one": ["at 1001", "at 1100", "at 1500"], "two": ["at 1250"],
                    "three": ["at 1501", "at 2000"], "host": []}
    marks = [(row["name"], row["time_ns"] - EPOCH) for row in dump(path)["marks"]]
    assert marks == [("n", 1000), ("n", 2001)]
    assert health(varve, path) == {"unattached": 2}


def test_a_note_of_any_layer_belongs_to_the_innermost(made):
    trace, _, thread = made()
    thread.past_range("node", (1000, 2000), at=3000)
    thread.past_range("runtime", (1100, 1900), at=3001, layer="RUNTIME")
    thread.past_note("task", 1900, [("stream", "integers", [7])], at=3002, correlation=5)
    thread.past_note("task", 1950, [("stream", "integers", [8])], at=3003)
    model = slices(trace.write())
    assert model["runtime"]["args"] == [["stream", 7]] and model["node"]["args"] == [["stream", 8]]


def test_a_note_starts_device_work(made):
    trace, process, thread = made()
    thread.past_range("launch", (1000, 1100), at=2000)
    thread.past_note("task", 1100, [], at=2001, correlation=42)
    process.track(1, "stream 3", "ticks", 3 << 16)
    thread.activity(1, "kernel", (1200, 1300), at=2002, correlation=42)
    model = dump(trace.write())
    (kernel,) = [row for row in model["slices"] if row["name"] == "kernel"]
    (launch,) = [index for index, row in enumerate(model["slices"]) if row["name"] == "launch"]
    assert model["activities"][kernel["activity"]]["launch"] == launch


def test_threads_and_clocks_are_kept_apart(varve, made):
    trace, process, thread = made()
    process.sample(0, 5_000_000, EPOCH, 10)
    process.sample(100_000, 5_100_000, EPOCH + 100_000, 10)
    process.thread_name(300, "worker")
    thread.past_range("there", (1000, 2000), at=3000, tid=300)
    thread.past_range("here", (1000, 2000), at=3001)
    thread.past_range("monotonic", (5_001_000, 5_002_000), at=3002, tid=300, clock="monotonic")
    thread.past_range("of no pair", (1, 2), at=3003, clock="monotonic_raw")
    thread.past_note("n", 2000, [("k", "texts", ["there"])], at=3004, tid=300)
    thread.past_note("n", 5_002_000, [("k", "bools", [1])], at=3005, tid=300, clock="monotonic")
    path = trace.write()
    model, found = dump(path), slices(path)
    assert {name: model["tracks"][row["track"]]["tid"] for name, row in found.items()} == {
        "there": 300, "here": 100, "monotonic": 300}
    assert found["there"]["args"] == [["k", "there"]]
    assert found["monotonic"]["args"] == [["k", True]]
    assert found["monotonic"]["begin_ns"] == EPOCH + 1000
    assert {row["name"] for row in model["tracks"]} == {"", "worker"}
    counted = health(varve, path)
    assert counted.pop("overlaps", 0) == 0 and counted == {"unplaced": 1}


def test_what_is_odd_is_counted(varve, made):
    trace, _, thread = made()
    thread.past_range("before all", (0, 1500), at=3000)
    thread.past_range("backwards", (1800, 1700), at=3001)
    thread.past_note("of a later time", 1500, [("raw", "hex", [2**64 - 1, 5])], at=3002, flags=2)
    thread.past_note("alone", 1600, [("type", "texts", ["it"]), ("r", "reals", [0.5])], at=3003,
                     flags=1)
    thread.past_note("of tensors", 1600, NODE[2:], at=3003, flags=1)
    thread.past_note("twice", 1600, [("r", "integers", [1]), ("r", "integers", [1]),
                                     ("r", "integers", [2])], at=3004, flags=1)
    path = trace.write()
    model = dump(path)
    assert [(row["name"], row["duration_ns"]) for row in model["slices"]] == [("backwards", 0)]
    assert [(row["name"], row["args"]) for row in model["marks"]] == [
        ("before all", []), ("of a later time", [["raw", '["0xffffffffffffffff", "0x5"]']]),
        ("alone", [["r", 0.5], ["type", "it"]]),
        ("of tensors", [["tensors", "[8,2,4,4,16] f16, [16] f32 -> [8] f32"]]),
        ("twice", [["r", 1], ["r 2", 2]])]
    assert health(varve, path) == {"begun_before": 1, "negative": 1, "zero_length": 1,
                                   "unattached": 1, "kept_raw": 1}


@settings(max_examples=40, deadline=None)
@given(ranges=strategies.lists(strategies.tuples(
    strategies.integers(1, 60), strategies.integers(0, 30),
    strategies.sampled_from(["OP", "HOST"])), max_size=8), times=strategies.lists(strategies.tuples(
        strategies.integers(0, 90), strategies.sampled_from([None, "OP", "HOST"])), max_size=6))
def test_the_rule_of_the_page_says_whose_a_note_is(tmp_path_factory, ranges, times):
    """Against the page's rule, by trying every range: of those that hold the instant and are of the
    layer, the one that began last; of those that began together, the shortest."""
    trace = trace_writer.Trace(tmp_path_factory.mktemp("law") / "l.varve")
    thread = trace.process(pid=1).thread(tid=1)
    for index, (begin, length, layer) in enumerate(ranges):
        thread.past_range(f"r{index}", (begin, begin + length), at=100, layer=layer)
    for index, (time, layer) in enumerate(times):
        thread.past_note("n", time, [(f"n{index}", "integers", [0])], at=100,
                         **({"layer": layer} if layer else {}))
    path = trace.write()
    expected = {}
    for index, (time, layer) in enumerate(times):
        holding = [(begin, -length, number)
                   for number, (begin, length, of) in enumerate(ranges)
                   if begin < time <= begin + length and layer in (None, of)]
        if holding:
            begin, length, _ = max(holding)
            expected[f"n{index}"] = (EPOCH + begin, -length)
    found = {key: (row["begin_ns"], row["duration_ns"])
             for row in dump(path)["slices"] for key, _ in row["args"]}
    assert found == expected


KNOWN = ("graph_id_map", "model_exeom", "model_load", "model_execute", "static_op_mem",
         "hccl_op_info", "hccl_info")
KEYS = ("model", "model_name", "graph", "request", "op_name", "bytes", "first_use", "last_use",
        "group", "data_type", "elements", "local_rank", "ranks")


@pytest.mark.parametrize("kind, value", [
    ("integers", -(1 << 63)), ("integers", (1 << 63) - 1), ("integers", -1), ("texts", ""),
    ("texts", "x"), ("hex", (1 << 64) - 1), ("bools", 1)])
@pytest.mark.parametrize("alone", [0, 1])
def test_known_names_with_senseless_values_do_no_harm(varve, made, kind, value, alone):
    trace, _, thread = made()
    thread.past_range("launch", (1000, 2000), at=3000)
    thread.past_range("load", (1000, 2000), at=3000, layer="RUNTIME")
    for name in KNOWN:
        thread.past_note(name, 1500, [], at=3001, flags=alone)
        thread.past_note(name, 1500, [(key, kind, [value]) for key in KEYS], at=3002, flags=alone)
    path = trace.write()
    for name in ("models", "registered_graphs", "static_plan", "collective_kinds", "tasks"):
        tables(varve, "report", path, "--table", name)
    model = dump(path)
    assert all(row["bytes"] >= 0 and row["graph"] >= 0 for row in model["placements"])
    assert len(model["loaded_models"]) == (kind == "integers" and value > 0)
    assert len(model["executions"]) == (2 if kind == "integers" and value > 0 and not alone else 0)

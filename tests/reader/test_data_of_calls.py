# SPDX-License-Identifier: Apache-2.0
"""varve.identities and varve.outputs (doc/format.md §6): which data operators read and make, and
the edges that follow."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import trace_writer  # pylint: disable=wrong-import-position

INPUT, OUTPUT = 0, 1
F32 = ("tensor", [4], "f32")
LIST = ("list", [2, 2])
X, W, Y, Z, G, H = 0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000


def operator(thread, at, name, inputs, outputs, arguments=None):
    """Of 10 ns; `inputs` and `outputs` are identities."""
    thread.begin_name(name, "OP", at=at)
    thread.call(arguments or [F32] * len(inputs), at=at)
    thread.identities(inputs, at=at)
    if outputs is not None:
        thread.outputs([(identity, [4], "f32") for identity in outputs], at=at + 9)
    thread.end(at=at + 10)


@pytest.fixture(name="recorded")
def fixture_recorded(varve_module, tmp_path):
    """recorded(write): what write(thread) records, as (name: (inputs, outputs)), (edges)."""
    def record(write):
        trace = trace_writer.Trace(tmp_path / "data.varve")
        write(trace.process(pid=1).thread(tid=11))
        trace.write()
        with varve_module.Trace(tmp_path / "data.varve") as opened:
            tensors, ops = opened.recorded("tensors"), opened.recorded("ops")
            parts = opened.graph_tables(by="execution", edges="data")
            slices = opened.recorded("slices")
        told = {}
        for row in slices:
            op = ops[row["op"]]
            first, split = op["first_tensor"], op["first_tensor"] + op["tensor_count"]
            sides = tensors[first:split], tensors[split:split + op["output_count"]]
            assert [[tensor["side"] for tensor in side] for side in sides] == [
                [INPUT] * len(sides[0]), [OUTPUT] * len(sides[1])]
            told[row["name"]] = tuple([tensor["identity"] for tensor in side] for side in sides)
        names = [node["name"] for node in parts["nodes"]]
        return told, {(names[edge["from"]], names[edge["to"]]) for edge in parts["edges"]}
    return record


def test_what_operators_make(recorded):
    def write(thread):
        operator(thread, 100, "aten::mm", [X, W], [Y])
        operator(thread, 200, "aten::relu", [Y], [Z])
    told, edges = recorded(write)
    assert told == {"aten::mm": ([X, W], [Y]), "aten::relu": ([Y], [Z])}
    assert edges == {("aten::mm", "aten::relu")}


def test_a_view_makes_nothing(recorded):
    def write(thread):
        operator(thread, 100, "aten::mm", [X, W], [Y])
        operator(thread, 200, "aten::t", [Y], [Y])
        operator(thread, 300, "aten::relu", [Y], [Z])
    told, edges = recorded(write)
    assert told["aten::t"] == ([Y], [0])
    assert edges == {("aten::mm", "aten::t"), ("aten::mm", "aten::relu")}


def test_in_place_is_made(recorded):
    def write(thread):
        operator(thread, 100, "aten::add_", [W, G], [W])
        operator(thread, 200, "aten::_foreach_mul_", [X, Y, G], None, [LIST, F32, F32, F32])
        operator(thread, 300, "aten::mm", [X, W], [Z])
        operator(thread, 400, "aten::__and__", [Y, G], [Y])
        operator(thread, 500, "aten::relu", [G], [H])
    told, edges = recorded(write)
    assert told["aten::add_"] == ([W, G], [W])
    assert told["aten::_foreach_mul_"] == ([X, Y, G], [X, Y])
    assert told["aten::__and__"] == ([Y, G], [0])
    assert edges == {("aten::add_", "aten::mm"), ("aten::_foreach_mul_", "aten::mm"),
                     ("aten::_foreach_mul_", "aten::__and__")}


def test_members_and_other_arguments_are_counted(recorded):
    """A list of nothing but tensors has rows for them; another list has one row and they none."""
    def write(thread):
        arguments = [("int", [1]), LIST, F32, F32, ("list", [2, 2]), ("none", []), F32,
                     ("opaque_tensor", []), F32]
        operator(thread, 100, "aten::op", [1, 2, 3, 4, 5], [6], arguments)
    told, _ = recorded(write)
    assert told == {"aten::op": ([0, 1, 2, 0, 4, 5], [6])}


def test_rows_are_together_also_around_other_operators(recorded):
    def write(thread):
        thread.begin_name("aten::linear", "OP", at=100)
        thread.call([F32, F32], at=100)
        thread.identities([X, W], at=100)
        operator(thread, 200, "aten::mm", [X, W], [Y])
        thread.outputs([(Y, [4], "f32"), (Z, [], "i64")], at=300)
        thread.end(at=310)
        operator(thread, 400, "aten::relu", [Y], [H])
    told, edges = recorded(write)
    assert told["aten::linear"] == ([X, W], [Y, Z])
    assert ("aten::linear", "aten::relu") in edges


def test_memory_that_is_taken_again(recorded):
    def write(thread):
        operator(thread, 100, "aten::mm", [X, W], [Y])
        operator(thread, 200, "aten::ones", [], [Y], [("ints", [4])])
        operator(thread, 300, "aten::relu", [Y], [Z])
    _, edges = recorded(write)
    assert edges == {("aten::ones", "aten::relu")}


def test_what_does_not_belong_is_left_out(recorded):
    """Identities without a call or with too few tensors; outputs of no range; too many numbers."""
    def write(thread):
        thread.identities([1, 2], at=10)
        thread.outputs([(1, [4], "f32")], at=11)
        thread.begin_name("alone", "OP", at=20)
        thread.identities([3], at=21)
        thread.outputs([(9, [4], "f32")], at=22)
        thread.end(at=23)
        operator(thread, 100, "aten::mm", [X, W, Y, Z], [H], [F32, F32])
        operator(thread, 200, "aten::cat", list(range(1, 100)), [], [F32] * 64)
    told, _ = recorded(write)
    assert told == {"alone": ([], [9]), "aten::mm": ([X, W], [H]),
                    "aten::cat": (list(range(1, 65)), [])}


@pytest.mark.parametrize("moves, is_read", (
    ((), True),
    ((("free", Y),), False),
    ((("alloc", Y),), False),  # its release is not in the trace
    ((("free", Y), ("alloc", Y)), False),
    ((("free", Z), ("alloc", W)), True)))
def test_memory_that_moves_ends_what_was_there(recorded, moves, is_read):
    def write(thread):
        operator(thread, 100, "aten::mm", [X, W], [Y])
        for number, (what, address) in enumerate(moves):
            if what == "free":
                thread.free(address, at=150 + number)
            else:
                thread.alloc(address, 16, at=150 + number)
        operator(thread, 200, "aten::relu", [Y], [Z])
    _, edges = recorded(write)
    assert edges == ({("aten::mm", "aten::relu")} if is_read else set())


def test_what_an_operator_gives_back_outlives_what_it_frees(recorded):
    """The memory of its output is taken inside it, and was another operator's before."""
    def write(thread):
        operator(thread, 100, "aten::neg", [X], [Y])
        thread.free(Y, at=150)
        thread.begin_name("aten::mm", "OP", at=200)
        thread.call([F32], at=200)
        thread.identities([X], at=200)
        thread.alloc(Y, 16, at=202)
        operator(thread, 205, "aten::resolve", [Y], [])
        thread.outputs([(Y, [4], "f32")], at=229)
        thread.end(at=230)
        operator(thread, 300, "aten::relu", [Y], [Z])
    _, edges = recorded(write)
    assert edges == {("aten::mm", "aten::relu")}


def test_data_from_before_the_chosen_steps(varve_module, tmp_path):
    """Step 0, another thread and what ran before it make what step 1 reads. What another process
    makes at the same address is other data."""
    trace = trace_writer.Trace(tmp_path / "data.varve")
    process = trace.process(pid=1)
    thread, loader = process.thread(tid=11), process.thread(tid=12)
    operator(trace.process(pid=2).thread(tid=21), 90, "aten::elsewhere", [], [G])
    operator(thread, 50, "aten::empty", [], [W])
    operator(loader, 100, "aten::stack", [], [X])
    thread.step_begin(0, at=200)
    operator(thread, 210, "aten::add_", [W], [])
    thread.step_end(at=290)
    thread.step_begin(1, at=300)
    operator(thread, 310, "aten::mm", [X, W, G], [Y])
    operator(thread, 330, "aten::relu", [Y], [Z])
    thread.step_end(at=390)
    trace.write()
    with varve_module.Trace(tmp_path / "data.varve") as opened:
        parts = opened.graph_tables(by="execution", edges="data", steps="1")
    names = [node["name"] for node in parts["nodes"]]
    assert {(names[edge["from"]], names[edge["to"]], edge["bytes"]) for edge in parts["edges"]} == {
        ("(before)", "aten::mm", 32), ("aten::mm", "aten::relu", 16)}
    before, = (node for node in parts["nodes"] if node["kind"] == "before")
    assert (before["count"], before["self_ns"], before["level"]) == (0, 0, 0)
    notes = {row["key"]: row["text"] for row in parts["notes"]}
    assert notes["data from before"] == ("2 tensors were made outside of the chosen steps and "
                                         "threads")

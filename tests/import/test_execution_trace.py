# SPDX-License-Identifier: Apache-2.0
"""PyTorch's execution trace: alone it is a graph without times; beside the profiler's trace of the
run it says which data the operators read and make."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import execution_trace_writer as writer  # noqa: E402
from execution_trace_writer import node, scalar, tensor  # noqa: E402
from model_tables import dump, health, refusal  # noqa: E402

INPUT, OUTPUT = 0, 1


@pytest.fixture(name="alone")
def read_alone(varve_module, tmp_path):
    """The graph."""
    def read(content):
        path = writer.write(tmp_path / "execution.json", content)
        with varve_module.Trace(path) as trace:
            return trace.graph_tables()
    return read


@pytest.fixture(name="joined")
def read_joined(build, tmp_path):
    """The model of the profiler's trace and the execution trace, in this order or the other."""
    def read(nodes, profile=None, first=False, **more):
        kineto = writer.write(tmp_path / "trace.json", profile or writer.profile(nodes))
        execution = writer.write(tmp_path / "execution.json", writer.trace(nodes, **more))
        return dump(build, *((execution, kineto) if first else (kineto, execution)))
    return read


def edges(graph, kind):
    """{(from, to)} by the ids in the file."""
    ids = [row["id"] for row in graph["nodes"]]
    return {(ids[row["from"]], ids[row["to"]]) for row in graph["edges"] if row["kind"] == kind}


def test_alone_it_is_a_graph_without_times(build, tmp_path, alone):
    graph = alone(writer.trace(writer.layers()))
    assert [(row["id"], row["name"], row["where"], row["inputs"], row["outputs"])
            for row in graph["nodes"]] == [
        (10, "aten::linear", "thread 1", "[2,4] f32, [2,4] f32", "[2,8] f32"),
        (12, "aten::addmm", "thread 1", "[2,4] f32, [2,4] f32, []", "[2,8] f32"),
        (30, "aten::relu_", "thread 1", "[2,8] f32", "[2,8] f32"),
        (40, "aten::mm", "thread 2", "[2,8] f32, [2,4] f32", "[2,4] f32")]
    assert all(row["count"] == 0 for row in graph["nodes"])  # no time is known
    assert edges(graph, "nesting") == {(10, 12)}
    assert edges(graph, "data") == {(10, 30), (30, 40)}
    assert [row["bytes"] for row in graph["edges"] if row["kind"] == "data"] == [64, 64]
    notes = {row["key"]: row["text"] for row in graph["notes"]}
    assert notes["times"].startswith("an execution trace has none") and notes["data edges"] == "2"
    tables = dump(build, tmp_path / "execution.json")
    assert not tables["slices"] and health(tables)["unplaced"] == 4


def test_the_first_schema_says_the_same(alone):
    old = [writer.old(row) for row in writer.layers()]
    assert alone(writer.trace(writer.layers())) == alone(writer.trace(old, "1.0.1"))


@pytest.mark.parametrize("first", (False, True))
def test_beside_the_profile_its_operators_have_tensors(joined, first):
    tables = joined(writer.layers(), first=first)
    found = {}
    for row in tables["slices"]:
        op = tables["ops"][row["op"]]
        rows = tables["tensors"][op["first_tensor"]:][:op["tensor_count"] + op["output_count"]]
        found[row["name"]] = (op["shapes"], [(t["side"], t["identity"]) for t in rows])
    assert found == {
        "aten::linear": ("[2,4] f32, [2,4] f32 -> [2,8] f32",
                         [(INPUT, 6), (INPUT, 8), (OUTPUT, 21)]),
        "aten::addmm": ("[2,4] f32, [2,4] f32, [] -> [2,8] f32",
                        [(INPUT, 6), (INPUT, 8), (INPUT, 0), (OUTPUT, 21)]),
        "aten::relu_": ("[2,8] f32 -> [2,8] f32", [(INPUT, 21), (OUTPUT, 21)]),
        "aten::mm": ("[2,8] f32, [2,4] f32 -> [2,4] f32",
                     [(INPUT, 21), (INPUT, 50), (OUTPUT, 61)])}
    facts = {row["key"]: row["value"] for row in tables["facts"]}
    assert facts["execution trace"] == "4 of 4 operators are in the profiler's trace"
    assert [row["format"] for row in tables["inputs"]] == ["chrome", "execution_trace"]


def test_operators_that_the_profile_lacks_are_counted(joined):
    nodes = writer.layers()
    facts = joined(nodes, profile=writer.profile(nodes[1:]))["facts"]
    assert "3 of 4 operators are in the profiler's trace" in [row["value"] for row in facts]


@pytest.mark.parametrize("profile", (writer.profile(writer.layers(), pid=8),
                                     writer.profile(writer.layers(), key="Ev Idx")))
def test_another_process_or_no_ids_are_not_joined(joined, profile):
    tables = joined(writer.layers(), profile=profile)
    assert len(tables["slices"]) == 4 and not tables["tensors"]
    assert health(tables)["unplaced"] == 4


@pytest.mark.parametrize("odd, count", ((None, 3), ("aten::add_", 0)))
def test_without_ids_a_thread_is_known_by_its_names(joined, odd, count):
    """As PyTorch 2.2 writes them: both threads are there, or one of another name."""
    nodes = [row for row in writer.layers() if row["name"] != "aten::mm"]
    profile = writer.profile(nodes, key="Ev Idx")
    if odd:
        profile["traceEvents"][-1]["name"] = odd
    tables = joined(nodes, profile=profile)
    made = [row["identity"] for row in tables["tensors"] if row["side"] == OUTPUT]
    assert made == [21] * count and (health(tables).get("unplaced", 0) == 0) == bool(count)


def outputs_of(joined, *arguments, **more):
    """The identities that an operator makes."""
    tables = joined([node(9, *arguments, rf_id=1, **more)])
    op = tables["ops"][tables["slices"][0]["op"]]
    rows = tables["tensors"][op["first_tensor"]:][:op["tensor_count"] + op["output_count"]]
    return [row["identity"] for row in rows if row["side"] == OUTPUT]


def test_a_view_is_not_made(joined):
    assert outputs_of(joined, "aten::t", [tensor(3, 4)], [tensor(5, 4)]) == [0]
    assert outputs_of(joined, "aten::chunk", [tensor(3, 4)],
                      [writer.tensors(tensor(5, 4), tensor(6, 4))]) == [0, 0]


def test_what_is_written_is_made(joined):
    out = "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor"
    inputs = [tensor(3, 4), tensor(5, 6), scalar(1), tensor(7, 8)]
    assert outputs_of(joined, "aten::add", inputs, [tensor(7, 8)], schema=out) == [8]
    assert outputs_of(joined, "aten::add", inputs, [tensor(7, 8)]) == [0]  # nothing says it
    assert outputs_of(joined, "aten::add_", inputs, [tensor(3, 4)]) == [4]  # the name says it
    both = "aten::_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()"
    assert outputs_of(joined, "aten::_foreach_add_",
                      [writer.tensors(tensor(3, 4), tensor(5, 6)), scalar(1)],
                      schema=both) == [4, 6]


@pytest.mark.parametrize("odd", (tensor(5, 4, (0, 7)), tensor(5, 4, device="meta"),
                                 tensor(5, 0)))
def test_tensors_without_data_are_nobodys(joined, odd):
    assert outputs_of(joined, "aten::empty", [], [odd]) == [0]


def test_memory_that_is_taken_again_is_other_data(alone):
    """Node 20 makes in the memory of node 9 what its inner node reads."""
    nodes = [node(9, "aten::neg", [], [tensor(3, 4)]), node(12, "aten::sin", [tensor(3, 4)]),
             node(20, "aten::mm", [], [tensor(3, 4)]),
             node(21, "aten::resolve_conj", [tensor(3, 4)], [tensor(3, 4)], parent=20),
             node(30, "aten::cos", [tensor(3, 4)])]
    assert edges(alone(writer.trace(nodes)), "data") == {(9, 12), (20, 30)}


def test_a_type_that_no_output_had_is_other_data(alone):
    """PyTorch makes a number into a tensor without an operator, here in the memory of node 9."""
    number = tensor(11, 4, (), "double")
    nodes = [node(9, "aten::neg", [], [tensor(3, 4)]), node(10, "aten::mul", [number]),
             node(12, "aten::to", [number], [number]), node(13, "aten::sin", [number]),
             node(20, "aten::exp", [], [tensor(19, 4, dtype="double")]),
             node(21, "aten::view_as_complex", [tensor(19, 4, dtype="double")],
                  [tensor(22, 4, dtype="c10::complex<double>")]),
             node(30, "aten::cos", [tensor(22, 4, dtype="c10::complex<double>")]),
             node(31, "aten::abs", [tensor(29, 4, dtype="unheard of")])]
    assert edges(alone(writer.trace(nodes)), "data") == {(20, 21), (20, 30), (20, 31)}


def test_backward_operators_follow_their_forward_ones(alone):
    nodes = [node(9, "aten::linear", seq=4), node(10, "aten::t", seq=4, parent=9),
             node(20, "TBackward0", seq=4, scope=1)]
    assert edges(alone(writer.trace(nodes)), "flow") == {(10, 20)}


def test_ids_that_lie(build, tmp_path, alone):
    """A node twice, one that calls itself, and one that is called by what comes later."""
    nodes = [node(9, "a", parent=9), node(9, "again"), node(10, "b", parent=11),
             node(11, "c", parent=77)]
    graph = alone(writer.trace(nodes))
    assert [row["name"] for row in graph["nodes"]] == ["a", "b", "c"] and not graph["edges"]
    assert health(dump(build, tmp_path / "execution.json")) == {
        "ignored": 1, "unmatched_flows": 3, "unplaced": 3}


def test_a_file_cut_at_each_byte_gives_whole_nodes(build, tmp_path, alone):
    content = writer.trace(writer.layers())
    text = writer.json.dumps(content)
    ends = {row["id"]: text.index(f'{{"id": {row["id"]}') + len(writer.json.dumps(row))
            for row in content["nodes"] if row["id"] > writer.THREAD}
    for cut in range(text.index("start_ts") + 10, len(text)):
        nodes = alone(text[:cut])["nodes"]
        assert {row["id"] for row in nodes} == {row for row, end in ends.items() if end <= cut}, cut
    assert health(dump(build, tmp_path / "execution.json"))["truncated_files"] == 1


@pytest.mark.parametrize("text, why", (
    ('{"schema": "1", "start_ts": 1, "nodes": {}}', '"nodes" must be an array'),
    ('{"schema": "1", "start_ts": 1, "nodes": [7]}', "a node must be an object"),
    ('{"schema": "1", "start_ts": 1, "nodes": [{"name": "a"}]}', "a node without an id"),
    ('{"schema": "1", "start_ts": 1, "nodes": [{"id": "a"}]}', "must be a whole number"),
    ('{"schema": "1", "start_ts": 1, "nodes": [{"id": 3, "inputs": 7}]}', "must be arrays"),
    ('{"schema": "1", "start_ts": 1, "nodes": []} x', "text after the end")))
def test_wrong_types_are_refused_with_their_place(build, tmp_path, text, why):
    said = refusal(build, writer.write(tmp_path / "execution.json", text))
    assert why in said and "at byte" in said

# SPDX-License-Identifier: Apache-2.0
"""Records of graphs, models and executions (doc/format.md §6). What two writers put into a trace,
every reader finds, and the model has it. A program's own counts equal those of its trace, however
it ends."""
import collections
import json
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS / "import"),
                str(TESTS.parent / "tools")]

import trace_writer  # noqa: E402
import varve_decode  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from test_device_records import dump  # noqa: E402
from test_varve_format import babeltrace_count  # noqa: E402

EPOCH = trace_writer.EPOCH_NS
GPU = 2 << 16 | 1
NODES, THREADS, KINDS = 4, 3, ["load", "run", "unload"]


@pytest.fixture
def made(tmp_path):
    """(trace, process, thread): a graph of two nodes with a body, loaded as one model."""
    trace = trace_writer.Trace(tmp_path / "g.varve")
    process = trace.process(pid=100)
    process.graph(3, "net", 2, 1, graph_id=77)
    process.node(3, 0, "conv1", "Conv2D", task_type=5, blocks=(8, 2), stream=4, flop=100, size=200,
                 framework_type="Convolution", origins=["a", "b;c"], contexts="1,2",
                 tensors=[(0, "f32", [2, 3], "NCHW", 9), (1, "f16", [], None, 0)])
    process.node(3, 1, "loop")
    process.edge(3, (0, 0), (1, 2**32 - 1))
    process.graph(4, "body", 1, parent=(3, 1))
    process.node(4, 0, "arg", "Data", parent_input=0)
    process.placement(3, 0, 0, (0, 5), (GPU, 0, 64))
    process.placement(3, 1, 0, (1, 2**32 - 1), (GPU, 128, 256))
    process.placement(3, 0, 1, (0, 0), (GPU, 0, 8))
    process.model(1, "resnet", 3, (42, 7))
    process.track(1, "queue", 1, (GPU, 0, 9))
    return trace, process, process.thread(tid=100)


def run(thread):
    thread.model_event(1, "load", at=1000)
    thread.end(at=1400)
    thread.model_event(1, "run", at=2000, step=5)
    thread.execute(3, 0, at=2010)
    thread.launch(7, at=2020)
    thread.end(at=2110)
    thread.end(at=2300)
    thread.task(1, (2100, 2180), at=2400, correlation=7, name="kernel")
    thread.task(1, (2200, 2290), 2401, 4, 0, model=1, step=5)
    thread.model_event(1, "unload", at=3000)


def test_every_reader_finds_them(made):
    trace, process, thread = made
    run(thread)
    path = trace.write()
    decoded = varve_decode.open_trace(str(path))
    assert decoded.problems == []
    names = varve_decode.counts(decoded)["by_name"]
    assert {name: names["varve." + name] for name in (
        "graph", "node", "node_tensors", "node_text", "edge", "placement", "model", "model_event",
        "execute", "task")} == {"graph": 2, "node": 3, "node_tensors": 1, "node_text": 3, "edge": 1,
                                "placement": 3, "model": 1, "model_event": 3, "execute": 1,
                                "task": 2}
    if (count := babeltrace_count(path)) is not None:
        assert count == process.records


def test_the_model_has_graphs_nodes_and_edges(made):
    trace, _, thread = made
    run(thread)
    model = dump(trace.write())
    graphs, nodes = model["graphs"], model["nodes"]
    assert [(g["number"], g["name"], g["graph_id"], g["parent"], g["first_node"], g["node_count"],
             g["edge_count"], g["missing"]) for g in graphs] == [
                 (3, "net", 77, None, 0, 2, 1, 0), (4, "body", -1, 1, 2, 1, 0, 0)]
    assert [(n["graph"], n["number"], n["name"], n["type"]) for n in nodes] == [
        (0, 0, "conv1", "Conv2D"), (0, 1, "loop", "loop"), (1, 0, "arg", "Data")]
    assert {key: nodes[0][key] for key in (
        "framework_type", "origins", "contexts", "task_type", "block_dim", "mix_block_dim",
        "stream", "flop", "bytes", "tensor_count", "parent_input")} == {
            "framework_type": "Convolution", "origins": "a;b;c", "contexts": "1,2",
            "task_type": 5, "block_dim": 8, "mix_block_dim": 2, "stream": 4, "flop": 100,
            "bytes": 200, "tensor_count": 2, "parent_input": -1}
    first = nodes[0]["first_tensor"]
    assert [(t["side"], t["dtype"], t["rank"], t["format"], t["identity"])
            for t in model["tensors"][first:first + 2]] == [(0, 1, 2, "NCHW", 9), (1, 3, 0, "", 0)]
    assert [(e["from_node"], e["from_output"], e["to_node"], e["to_input"])
            for e in model["edges"]] == [(0, 0, 1, None)]


def test_the_model_has_executions_and_what_they_ran(made):
    trace, _, thread = made
    run(thread)
    model = dump(trace.write())
    assert [(m["number"], m["name"], m["graph"], m["model_id"], m["session_id"])
            for m in model["loaded_models"]] == [(1, "resnet", 0, 42, 7)]
    assert [(KINDS[e["kind"]], e["model"], e["begin_ns"] - EPOCH, e["duration_ns"], e["step"])
            for e in model["executions"]] == [
                ("load", 0, 1000, 400, -1), ("run", 0, 2000, 300, 5), ("unload", 0, 3000, 0, -1)]
    slices = {row["name"]: row for row in model["slices"]}
    op = model["ops"][slices["conv1"]["op"]]
    assert (slices["conv1"]["layer"], op["node"], op["flop"], op["shapes"]) == (
        4, 0, 100, "[2,3] f32 -> [] f16")
    assert model["slices"][slices["conv1"]["parent"]]["name"] == "resnet"
    kernel = model["activities"][slices["kernel"]["activity"]]
    assert model["slices"][kernel["caller"]]["name"] == "conv1"
    task = model["tasks"][model["activities"][slices["arg"]["activity"]]["task"]]
    assert (task["node"], task["model"], task["step"]) == (2, 0, 5)
    assert model["health"][0]["unknown_nodes"] == 0


def test_the_last_static_plan_counts(made, varve):
    trace, _, _ = made
    rows = dump(trace.write())["placements"]
    assert [(p["name"], p["offset_bytes"], p["bytes"], p["first_use"], p["last_use"], p["device"],
             p["graph"]) for p in rows] == [("loop", 128, 256, 1, 2**63 - 1, GPU, 3),
                                            ("conv1", 0, 8, 0, 0, GPU, 3)]


def test_unknown_numbers_are_counted_and_kept(made):
    trace, process, thread = made
    process.edge(4, (0, 0), (9, 0))
    thread.model_event(9, "run", at=1000)
    thread.execute(3, 2, at=1001)
    thread.execute(8, 1, at=1002)
    for at in range(1003, 1006):
        thread.end(at=at)
    thread.task(1, (1, 2), 2000, 3, 7, model=8)
    model = dump(trace.write())
    assert model["health"][0]["unknown_nodes"] == 6
    assert [row["name"] for row in model["slices"]] == [
        "model 9", "node 2 of graph 3", "node 1 of graph 8", "(unnamed)"]


def test_records_of_a_graph_may_come_twice(made):
    trace, process, _ = made
    for number, name in ((0, "conv1"), (1, "loop")):
        process.graph(3, "net", 2, 1)
        process.node(3, number, name, tensors=[(0, "f32", [], None, 0)])
    model = dump(trace.write())
    assert (len(model["graphs"]), len(model["nodes"])) == (2, 3)


# ---- a program's own counts ----

def recorded(tmp_path, *arguments):
    """(what it printed, the model)."""
    path = tmp_path / "p.varve"
    done = subprocess.run([binary("varve"), "record", "-q", "-o", path, "--",
                           binary("tests/programs/executor"), *map(str, arguments)],
                          capture_output=True, text=True, env=quiet_environment(), check=False)
    assert done.returncode == (137 if "kill" in arguments else 0), done.stderr
    return json.loads(done.stdout), dump(path)


def count_executions(model):
    return collections.Counter(KINDS[row["kind"]] for row in model["executions"])


@pytest.mark.parametrize("manner", ["", "kill"])
def test_a_trace_has_what_the_program_counted(tmp_path, manner):
    runs = 50
    said, model = recorded(tmp_path, runs, manner)
    total = THREADS * runs
    assert said == {"launches": 2 * total, "heard": [
        THREADS, THREADS, THREADS, total, total, NODES * total + 2 * THREADS,
        NODES * total + 2 * THREADS]}
    # the main thread's load comes after the subscriber is gone
    assert count_executions(model) == {"load": THREADS + 1, "run": total, "unload": THREADS + 1}
    nodes = collections.Counter(row["name"] for row in model["slices"] if row["layer"] == 4)
    assert nodes == dict.fromkeys(["conv1/Conv2D", "relu1", "loop", "NetOutput"], total) | {
        "node 3 of graph 4000000000": THREADS, "node 4 of graph 1": THREADS}
    assert model["health"][0]["unknown_nodes"] == 2 * THREADS
    by_model = collections.Counter(row["model"] for row in model["executions"] if row["kind"] == 1)
    assert sorted(by_model.values()) == [runs] * THREADS
    assert sorted((m["model_id"], m["session_id"], m["name"]) for m in model["loaded_models"]) == [
        (40, -1, "net"), (41, 101, "model 1"), (41, 101, "model 1"), (42, 102, "model 2")]
    nodes_of_tasks = collections.Counter(model["nodes"][row["node"]]["name"]
                                         for row in model["tasks"])
    assert nodes_of_tasks == {"arg0": total}
    callers = collections.Counter(
        model["slices"][row["caller"]]["name"] for row in model["activities"]
        if row["kind"] == 1 and row["caller"] is not None)
    assert callers == {"conv1/Conv2D": total, "relu1": total}
    assert [(p["name"], p["offset_bytes"], p["bytes"]) for p in model["placements"]] == [
        ("relu1", 512, 256)]


def test_a_forked_child_has_the_graph_too(tmp_path):
    said, model = recorded(tmp_path, 2, "fork")
    assert [p["name"] for p in model["processes"]] == ["executor"] * 2
    assert sorted((g["process"], g["name"]) for g in model["graphs"]) == [
        (0, "loop_body"), (0, "net"), (1, "loop_body"), (1, "net")]
    assert [e["step"] for e in model["executions"] if e["step"] >= 1000] == [1000]
    assert said["launches"] == 2 * 2 * THREADS


def test_each_session_has_the_graph(tmp_path):
    subprocess.run([binary("tests/programs/executor"), "3", "twice"], cwd=tmp_path,
                   env=quiet_environment(), check=True, capture_output=True)
    for session in range(2):
        model = dump(tmp_path / f"session{session}.varve")
        assert [g["name"] for g in model["graphs"]] == ["net", "loop_body"]
        assert [(n["name"], n["number"]) for n in model["nodes"]] == [
            ("conv1/Conv2D", 0), ("relu1", 1), ("loop", 2), ("NetOutput", 3), ("arg0", 0)]
        assert count_executions(model) == {"load": THREADS, "run": 3 * THREADS, "unload": THREADS}
        assert model["run"][0]["lost"] == 0

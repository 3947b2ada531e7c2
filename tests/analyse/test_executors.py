# SPDX-License-Identifier: Apache-2.0
"""Tables "models", "tasks" and "registered_graphs": numbers that a trace was written with."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import trace_writer  # pylint: disable=wrong-import-position
from table_reader import tables  # pylint: disable=wrong-import-position

GPU, RUNS = 2 << 16 | 1, 101


@pytest.fixture(scope="module", name="read")
def read_tables(varve, tmp_path_factory):
    """Two models of one graph: runs of 100, 200 … ns, and none. Each run launches its conv, and the
    device runs a relu by itself."""
    trace = trace_writer.Trace(tmp_path_factory.mktemp("executors") / "e.varve")
    process = trace.process(pid=100)
    process.graph(1, "net", 3, 1, graph_id=9)  # a node is lost
    process.node(1, 0, "conv1", "Conv2D", task_type=5, blocks=(8, 2), contexts="1,2",
                 origins=["a", "b"],
                 tensors=[(0, "f32", [2, 3], "NCHW", 0), (0, "i8", [], None, 0),
                          (1, "f16", [4], "ND", 0)])
    process.node(1, 1, "relu1", "Relu", task_type=3)
    process.edge(1, (0, 0), (1, 0))
    process.model(1, "served", 1, (40, 7))
    process.model(2, "spare")
    process.track(1, "queue", 1, (GPU, 0, 9))
    thread = process.thread(tid=100)
    thread.model_event(1, "load", at=1000)
    thread.end(at=1500)
    thread.model_event(2, "load", at=1600)
    thread.end(at=1601)
    now = 10_000
    for run in range(RUNS):
        thread.model_event(1, "run", at=now, step=run)
        thread.execute(1, 0, at=now + 10)
        thread.launch(run + 1, at=now + 11)
        thread.end(at=now + 20)
        thread.end(at=now + 100 * (run + 1))
        thread.activity(1, "gemm", (now + 30, now + 40), at=now + 20_000, correlation=run + 1)
        thread.task(1, (now + 45, now + 47), now + 20_001, 1, 1, model=1, step=run)
        now += 50_000
    thread.model_event(1, "unload", at=now)
    thread.model_event(1, "run", at=now + 1, step=1000)
    path = trace.write()
    return {name: tables(varve, "report", "--no-cache", "--table", name, path)[name]
            for name in ("models", "tasks", "registered_graphs")}


def test_models_have_loading_and_percentiles(read):
    served, spare = read["models"]
    assert {key: served[key] for key in (
        "name", "load_ns", "loads", "executions", "total_ns", "median_ns", "p90_ns", "p99_ns",
        "min_ns", "max_ns", "unfinished", "unloaded", "model_id", "session_id", "graph",
        "process")} == {
            "name": "served", "load_ns": 500, "loads": 1, "executions": RUNS + 1,
            "total_ns": 100 * RUNS * (RUNS + 1) // 2, "median_ns": 5100, "p90_ns": 9100,
            "p99_ns": 10000, "min_ns": 100, "max_ns": 10100, "unfinished": 1, "unloaded": 1,
            "model_id": 40, "session_id": 7, "graph": "net", "process": 100}
    assert (spare["load_ns"], spare["executions"], spare["median_ns"], spare["model_id"]) == (
        1, 0, None, None)


def test_tasks_know_their_nodes(read):
    rows = [row for row in read["tasks"] if row["row"] == "task"]
    assert len(rows) == 2 * RUNS
    launched, alone = rows[4], rows[5]
    assert {key: launched[key] for key in (
        "name", "op", "op_type", "task_type", "block_dim", "mix_block_dim", "context_ids",
        "original_ops", "graph", "model", "model_id", "step", "correlation", "duration_ns",
        "wait_ns", "device", "stream", "input_shapes", "input_dtypes", "input_formats",
        "output_shapes", "output_dtypes", "output_formats")} == {
            "name": "gemm", "op": "conv1", "op_type": "Conv2D", "task_type": "MIX_AIC",
            "block_dim": 8, "mix_block_dim": 2, "context_ids": "1,2", "original_ops": "a;b",
            "graph": "net", "model": "served", "model_id": 40, "step": 2, "correlation": 3,
            "duration_ns": 10, "wait_ns": 50_000 - 17, "device": "opencl:1", "stream": 9,
            "input_shapes": "2,3;", "input_dtypes": "f32;i8", "input_formats": "NCHW;",
            "output_shapes": "4", "output_dtypes": "f16", "output_formats": "ND"}
    assert {key: alone[key] for key in ("name", "op", "op_type", "task_type", "model", "step",
                                        "correlation", "wait_ns", "input_shapes")} == {
        "name": "relu1", "op": "relu1", "op_type": "Relu", "task_type": "AI_VECTOR_CORE",
        "model": "served", "step": 2, "correlation": None, "wait_ns": 5, "input_shapes": None}
    assert rows[0]["wait_ns"] == 0


def test_graphs_are_listed(read):
    (graph,) = read["registered_graphs"]
    assert (graph["name"], graph["nodes"], graph["edges"], graph["graph_id"], graph["missing"],
            graph["body_of"]) == ("net", 2, 1, 9, 1, None)

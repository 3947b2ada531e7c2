# SPDX-License-Identifier: Apache-2.0
"""What holds for the graph of every real trace."""
import collections
import functools
import sys
import pathlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import all_tables  # pylint: disable=wrong-import-position
import built_graph  # pylint: disable=wrong-import-position
import xspace_bytes  # pylint: disable=wrong-import-position

TRACES = ["kineto/resnet50_workers0.json.gz", "tracelens/h100_Falconsai.json.gz",
          "tracelens/sglang_decode.json.gz", "tracelens/mi210_gpu_only.json.gz",
          "xplane/jax_mi300_conv.xplane.pb", "xplane/jax_tpu_inference.xplane.pb",
          "ascend/trace_view.json.gz", "hta/mtia_inference.json.gz", "hta/backward_thread.json",
          "nsys/saxpy_mpi_cuda.sqlite", "onnxruntime/ort_parallel.json.gz",
          "mlirgraph/profiler_ops.pb"]


NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


@pytest.fixture(name="graph", scope="module", params=TRACES)
def a_graph(request, build, traces):
    return request.param, built_graph.read(build, traces / request.param)


@functools.lru_cache(maxsize=1)
def tables_of(build, path):
    """Tests of one trace follow each other."""
    return all_tables.read(build, path)


def own(nodes, key):
    sums = collections.Counter()
    for node in nodes:
        sums[key(node)] += node["self_ns"]
    return sums


def test_self_times_add_up_to_the_operators(graph, build, traces):
    """All rows of the table but those of the profiler itself."""
    name, graph = graph
    table = tables_of(build, traces / name)["operators"]
    want = {row["name"]: row["self_ns"] for row in table.rows if row["row"] == "operator"}
    got = own([node for node in graph.nodes if not node["device"] and node["kind"] != "outside"],
              lambda node: node["name"])
    assert got == {word: want[word] for word in got}
    on_devices = {word for word in set(want) - set(got) if want[word] == 0}  # of a TPU's programs
    assert set(got) == set(want) - on_devices or name.startswith("nsys/")
    assert not on_devices or name.startswith(("nsys/", "xplane/jax_tpu"))


def test_threads_add_up_to_their_steps(graph, build, traces):
    """To the nanosecond, but for what began in a step and ended after it, which a note says."""
    name, _ = graph
    steps = tables_of(build, traces / name)["steps"].rows
    if not steps:
        return
    graph = built_graph.read(build, "--steps", "0..", traces / name)
    threads = {node["where"] for node in graph.nodes if node["kind"] == "outside"}
    assert threads == {row["thread"] for row in steps}
    if name.startswith("ascend/"):  # the same thread once more, in the process of the runtime
        return
    beyond = sum(node["self_ns"] for node in graph.nodes if node["where"] in threads) \
        - sum(row["duration_ns"] for row in steps)
    value, unit = graph.notes.get("beyond steps", "0 ns").split()[:2]
    assert beyond == pytest.approx(float(value) * NS[unit], rel=0.01)


def test_levels_rise_along_edges(graph):
    _, graph = graph
    for edge in graph.edges:
        assert graph.nodes[edge["from"]]["level"] < graph.nodes[edge["to"]]["level"]
    assert "cycles" not in graph.notes


def test_a_level_is_the_longest_path(graph):
    _, graph = graph
    longest = [0] * len(graph.nodes)
    for edge in sorted(graph.edges, key=lambda edge: graph.nodes[edge["to"]]["level"]):
        longest[edge["to"]] = max(longest[edge["to"]], longest[edge["from"]] + 1)
    assert all(node["level"] == level for node, level in zip(graph.nodes, longest)
               if node["kind"] != "outside")


def test_each_node_is_within_its_total(graph):
    _, graph = graph
    for node in graph.nodes:
        assert 0 <= node["self_ns"] <= node["total_ns"]
        assert 0 <= node["critical_ns"]
        assert node["parent"] == -1


def test_known_numbers(build, traces):
    graph = built_graph.read(build, traces / "kineto/resnet50_workers0.json.gz")
    kinds = collections.Counter(node["kind"] for node in graph.nodes)
    edges = collections.Counter(edge["kind"] for edge in graph.edges)
    assert (kinds["kernel"], kinds["copy"]) == (8772, 324)
    assert edges["stream"] == kinds["kernel"] + kinds["copy"] - 1
    launched = sum(1 for edge in graph.edges if edge["name"] == "launch")
    assert launched == kinds["kernel"] + kinds["copy"]


def test_device_time_adds_up_to_the_kernels(graph, build, traces):
    """All work of the table has a node of its device."""
    name, graph = graph
    want = collections.Counter()
    for row in tables_of(build, traces / name)["kernels"].rows:
        if row["row"] == "group":
            want[row["name"]] += row["total_ns"]
    got = own([node for node in graph.nodes if node["device"] and node["kind"] != "wait"],
              lambda node: node["name"])
    assert got == want


def test_the_critical_path_is_that_of_the_table(graph, build, traces):
    """Nodes have what operators take on the path, but for time that is between them (and what the
    profiler of nsys took)."""
    name, graph = graph
    tables = tables_of(build, traces / name)
    want = sum(row["time_ns"] for row in tables["critical_ops"].rows
               if row["row"] == "operator" and row["name"] not in ("(launch)", "(between kernels)"))
    got = sum(node["critical_ns"] for node in graph.nodes)
    assert got == want or (got < want and name.startswith(("nsys/", "xplane/")))
    critical = [node for node in graph.nodes if node["flags"] & 1 and node["kind"] != "outside"]
    assert len(critical) > 0
    assert any(edge["flags"] & 1 for edge in graph.edges) or len(critical) == 1


def test_python_calls(build, traces):
    graph = built_graph.read(build, "--of", "python", traces / "tracelens/h100_Falconsai.json.gz")
    kinds = collections.Counter(node["kind"] for node in graph.nodes)
    assert kinds == {"python": 2117, "outside": 1}
    assert {edge["kind"] for edge in graph.edges} == {"nesting"}
    callers = collections.Counter(edge["to"] for edge in graph.edges)
    assert max(callers.values()) == 1


def test_python_of_a_tensorflow_profile(build, tmp_path):
    """Host level 0, Python level 1: figure 7 of the thesis. Other ranges leave no trace."""
    plane = xspace_bytes.Plane("/host:CPU", 1)
    plane.line(7, [plane.event(name, 1000 * begin, 1000 * (end - begin)) for name, begin, end in
                   [("$train.py:10 fit", 0, 100), ("TFE_Py_Execute", 5, 20),
                    ("$model.py:3 call", 10, 18), ("$model.py:3 call", 40, 90)]])
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(xspace_bytes.space(plane))
    graph = built_graph.read(build, "--of", "python", path)
    assert [(node["name"], node["self_ns"], node["level"]) for node in graph.nodes] == [
        ("$train.py:10 fit", 42, 0), ("$model.py:3 call", 8, 1), ("$model.py:3 call", 50, 1)]
    assert [(edge["from"], edge["to"]) for edge in graph.edges] == [(0, 1), (0, 2)]


def test_streams_that_wait(build, traces):
    """Three kernels: a call waits for each, and so do the device's records of these waits; the
    third stream waits for the first one."""
    path = traces / "hta/event_sync_multi_stream.json.gz"
    graph = built_graph.read(build, path)
    waits = [(graph.nodes[edge["from"]]["where"], graph.nodes[edge["to"]]["name"])
             for edge in graph.edges if edge["kind"] == "sync"]
    assert sorted(waits) == [
        ("stream 20", "Event Sync"), ("stream 20", "Memset (Device)"),
        ("stream 20", "cudaEventQuery"), ("stream 24", "Context Sync"),
        ("stream 24", "cudaDeviceSynchronize"), ("stream 28", "Event Sync"),
        ("stream 28", "cudaEventQuery")]
    kernels = built_graph.read(build, "--of", "kernels", path)
    assert collections.Counter(edge["kind"] for edge in kernels.edges) == {"stream": 7, "sync": 4}

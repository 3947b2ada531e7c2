# SPDX-License-Identifier: Apache-2.0
"""varve dag --form model-explorer: the graph, and a file of node data for each metric."""
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import trace_writer  # pylint: disable=wrong-import-position

NAMES = {"total": "total time (ns)", "self": "self time (ns)", "mean": "mean time (ns)",
         "share": "share of the time", "count": "executions", "memory": "memory (bytes)"}


@pytest.fixture(scope="module", name="trace")
def fixture_trace(tmp_path_factory):
    """Two calls of 100 ns with one of 40 and one of 60 ns inside; 512 bytes are taken."""
    path = tmp_path_factory.mktemp("explored") / "run.varve"
    trace = trace_writer.Trace(path)
    thread = trace.process(pid=1).thread(tid=11)
    for at, inside in ((1000, 40), (2000, 60)):
        thread.begin_name("outer", "OP", at=at)
        thread.begin_name("inner", "OP", at=at + 10)
        if inside == 40:
            thread.alloc(0x1000, 512, at=at + 11)
        thread.end(at=at + 10 + inside)
        thread.end(at=at + 100)
    trace.write()
    return path


def write(varve, folder, trace, *options):
    return subprocess.run([varve, "dag", "--by", "name", "--form", "model-explorer", "-o",
                           folder / "graph.json", *options, trace], capture_output=True, text=True,
                          check=False)


def values(path, ids):
    data = json.loads(path.read_text())["varve"]
    return data["name"], {ids[number]: cell["value"] for number, cell in data["results"].items()}


@pytest.mark.parametrize("chosen", NAMES)
def test_each_metric_has_a_file(varve, tmp_path, trace, chosen):
    assert write(varve, tmp_path, trace, "--metric", chosen).returncode == 0
    graph = json.loads((tmp_path / "graph.json").read_text())["graphs"][0]
    ids = {node["id"]: node["label"] for node in graph["nodes"]}
    found = {path.name: values(path, ids) for path in tmp_path.glob("graph_data*.json")}
    want = {"total": {"outer": 200, "inner": 100}, "self": {"outer": 100, "inner": 100},
            "mean": {"outer": 100, "inner": 50}, "share": {"outer": 1, "inner": 0.5},
            "count": {"outer": 2, "inner": 2}, "memory": {"inner": 512}}
    assert found == {
        "graph_data.json" if word == chosen else f"graph_data_{word}.json": (NAMES[word], cells)
        for word, cells in want.items()}


def test_memory_has_none_if_nothing_was_taken(varve, tmp_path, trace):
    assert write(varve, tmp_path, trace, "--filter", "name == 'nobody'").returncode == 0
    assert not (tmp_path / "graph_data_memory.json").exists()


def test_no_data_without_a_graph(varve, tmp_path, trace):
    (tmp_path / "graph.json").mkdir()
    assert write(varve, tmp_path, trace).returncode != 0
    assert [path.name for path in tmp_path.iterdir()] == ["graph.json"]


def test_several_files_need_a_name(varve, trace):
    done = subprocess.run([varve, "dag", "--form", "model-explorer", "-o", "-", trace],
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "it needs a name: -o graph.json" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("form", ("svg", "html", "dot"))
def test_executions_colour_every_picture(varve, tmp_path, trace, form):
    path = tmp_path / f"graph.{form}"
    subprocess.run([varve, "dag", "--by", "name", "--metric", "count", "-o", path, trace],
                   check=True, capture_output=True)
    assert "executions" in path.read_text()

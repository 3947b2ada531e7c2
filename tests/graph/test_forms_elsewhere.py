# SPDX-License-Identifier: Apache-2.0
"""Programs of others read the forms of a graph, and count what Varve wrote: Graphviz, NetworkX, and
Model Explorer's own types."""
import dataclasses
import io
import json
import shutil
import subprocess
import typing

import pytest

from test_forms import HOSTILE, hostile_graph, write_form, write_hostile # noqa: F401  fixtures


@pytest.fixture(name="graph")
def the_graph(form, hostile):
    return json.loads(form("json", hostile))


def run(*words, text):
    if shutil.which(words[0]) is None:
        pytest.skip(f"needs {words[0]}: apt-get install graphviz")
    done = subprocess.run(words, input=text, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_graphviz_counts_the_same(form, hostile, graph):
    words = [line.split(" ", 1)[0]
             for line in run("dot", "-Tplain", text=form("dot", hostile)).splitlines()]
    assert words.count("node") == len(graph["nodes"])
    assert words.count("edge") == len(graph["edges"])


def test_graphviz_has_each_name(form, hostile):
    """In an attribute that it does not know Graphviz leaves pairs with a backslash as they are."""
    names = run("gvpr", 'N { printf("%s\\n", aget($, "name")) }',
                text=form("dot", hostile)).split("\n")
    marked = [name.replace("\\\\", "\0").replace("\\n", "\n") for name in names[:-1]]
    assert sorted(name.replace("\0", "\\") for name in marked) == sorted(["group", *HOSTILE])


def same_as(found, graph, nodes_alike=lambda value: value):
    assert found.number_of_nodes() == len(graph["nodes"])
    assert found.number_of_edges() == len(graph["edges"])
    assert found.is_directed()
    for node, wanted in zip(found.nodes(data=True), graph["nodes"], strict=True):
        assert int(node[0]) == wanted["id"]
        for key in ("name", "total_ns", "flop", "where", "critical", "count", "kind"):
            assert node[1].get(key) == nodes_alike(wanted.get(key)), key
    assert sorted((int(a), int(b)) for a, b in found.edges()) == sorted(
        (edge["edgeFrom"], edge["edgeTo"]) for edge in graph["edges"])


def test_networkx_reads_node_link(form, hostile, graph):
    networkx = pytest.importorskip("networkx")
    same_as(networkx.node_link_graph(json.loads(form("node-link", hostile)), edges="edges"), graph)


def test_networkx_reads_graphml(form, hostile, graph):
    networkx = pytest.importorskip("networkx")
    def alike(value):
        return value.replace("\x01", "\ufffd").replace("\x1f", "\ufffd") if isinstance(
            value, str) else value
    same_as(networkx.read_graphml(io.BytesIO(form("graphml", hostile))), graph, alike)


@pytest.mark.parametrize("name", ["node-link", "graphml"])
def test_what_networkx_writes_is_read(form, hostile, graph, tmp_path, name):
    """The same graph, but for what NetworkX drops: the notes of GraphML."""
    networkx = pytest.importorskip("networkx")
    found = networkx.node_link_graph(json.loads(form("node-link", hostile)), edges="edges")
    path = tmp_path / "again"
    if name == "node-link":
        path.write_text(json.dumps(networkx.node_link_data(found, edges="links")))
    else:
        found.graph.clear()
        for _, node in found.nodes(data=True):
            node.pop("occurrences", None)
            node.update({key: value.replace("\x01", "").replace("\x1f", "")
                         for key, value in node.items() if isinstance(value, str)})
        for _, _, edge in found.edges(data=True):
            edge.pop("name", None)
        networkx.write_graphml(found, path)
    again = json.loads(form("json", path))
    assert [(node["id"], node["total_ns"] if node["count"] else 0, node.get("parent"))
            for node in again["nodes"]] == [
                (node["id"], node["total_ns"] if node["count"] else 0, node.get("parent"))
                for node in graph["nodes"]]
    assert sorted((edge["edgeFrom"], edge["edgeTo"], edge["kind"])
                  for edge in again["edges"]) == sorted(
                      (edge["edgeFrom"], edge["edgeTo"], edge["kind"]) for edge in graph["edges"])


def made(cls, data, module):
    """An object of Model Explorer's own type; a member that the type lacks is a TypeError."""
    hints = typing.get_type_hints(cls, vars(module))
    values = {}
    for key, value in data.items():
        inner = [part for part in (hints[key], *typing.get_args(hints[key]))
                 if dataclasses.is_dataclass(part)]
        if inner and isinstance(value, list):
            value = [made(inner[0], item, module) for item in value]
        elif inner and typing.get_origin(hints[key]) is dict:
            value = {name: made(inner[0], item, module) for name, item in value.items()}
        elif inner and isinstance(value, dict):
            value = made(inner[0], value, module)
        elif hints[key] is str:
            assert isinstance(value, str), (cls, key)
        values[key] = value
    return cls(**values)


def test_model_explorer_s_types_hold_the_pair(form, hostile, graph):
    builder = pytest.importorskip("model_explorer.graph_builder")
    data = pytest.importorskip("model_explorer.node_data_builder")
    found = made(builder.GraphCollection, json.loads(form("model-explorer", hostile)), builder)
    assert len(found.graphs[0].nodes) == len(graph["nodes"])
    assert sum(len(node.incomingEdges) for node in found.graphs[0].nodes) == len(graph["edges"])
    ids = {node.id for node in found.graphs[0].nodes}
    assert {edge.sourceNodeId for node in found.graphs[0].nodes
            for edge in node.incomingEdges} <= ids
    colours, = json.loads(form("model-explorer", "--second", hostile)).items()
    assert colours[0] == found.graphs[0].id
    results = made(data.GraphNodeData, colours[1], data).results
    assert results and set(results) <= ids
    assert all(result.value > 0 and result.bgColor[0] == result.textColor[0] == "#"
               for result in results.values())

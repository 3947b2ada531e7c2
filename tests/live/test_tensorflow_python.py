# SPDX-License-Identifier: Apache-2.0
"""TensorFlow profiles Python alone (host level 0, Python level 1, device level 0): its functions as
a call graph."""
import json
import re

import pytest

CALLS = {("step", "middle"): 6, ("step", "lonely"): 3, ("middle", "leaf"): 12}


def function(name):
    """The program's own functions: "$tf_python.py:43 step"."""
    found = re.fullmatch(r"\$tf_python\.py:\d+ (\w+)", name)
    return found and found[1]


@pytest.fixture(scope="module", name="folder")
def fixture_folder(produce):
    return produce("tensorflow", "tf_python.py")


def graph_of(varve_module, folder, **question):
    with varve_module.Trace(folder / "host.xplane.pb") as trace:
        return trace.graph_tables(of="python", **question)


def test_the_call_graph_is_that_of_the_program(varve_module, folder):
    graph = graph_of(varve_module, folder, by="name")
    names = [function(node["name"]) for node in graph["nodes"]]
    counts = {name: node["count"] for name, node in zip(names, graph["nodes"]) if name}
    assert counts == json.loads((folder / "calls.json").read_text())
    calls = {(names[edge["from"]], names[edge["to"]]): edge["count"] for edge in graph["edges"]
             if names[edge["from"]] and names[edge["to"]]}
    assert calls == CALLS
    assert {edge["kind"] for edge in graph["edges"]} == {"nesting"}


def test_nothing_but_python_was_recorded(varve_module, folder):
    nodes = graph_of(varve_module, folder, by="name")["nodes"]
    assert {node["kind"] for node in nodes} == {"python"} and len(nodes) > 20
    with varve_module.Trace(folder / "host.xplane.pb") as trace:
        every = trace.graph_tables(by="name")["nodes"]
    assert len(every) == len(nodes)


def test_a_filter_that_leaves_nothing_is_named(varve_module, folder):
    graph = graph_of(varve_module, folder, filter='name == "nobody"')
    notes = {row["key"]: row["text"] for row in graph["notes"]}
    assert notes["nodes"] == "nothing of what was recorded was chosen"

# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own execution trace of a program: joined with its profiler's trace, and alone, it has
the nodes and the edges of data that `varve record --collect +data` finds in the same program."""
import re

import pytest


def walk(varve_module, paths, **question):
    """The names of the operators in their order, and the edges of data between their numbers."""
    with varve_module.Trace(*paths) as trace:
        parts = trace.graph_tables(**question)
    nodes = parts["nodes"]
    rows = sorted((row for row, node in enumerate(nodes) if node["kind"] != "outside"),
                  key=lambda row: (nodes[row]["begin_ns"], -nodes[row]["total_ns"]))
    number = {row: i for i, row in enumerate(rows)}
    return ([nodes[row]["name"] for row in rows],
            {(number[edge["from"]], number[edge["to"]]) for edge in parts["edges"]
             if edge["kind"] == "data"})


@pytest.fixture(scope="module", name="release", params=("torch", "torch-2.2"))
def fixture_release(request):
    """Schema 1.1.1, and 1.0.2, whose profiler writes no ids of record functions."""
    return request.param


@pytest.fixture(scope="module", name="recorded")
def fixture_recorded(release, record, varve_module):
    folder = record(release, "torch_data.py", options=("--collect", "+data"))
    return walk(varve_module, [folder / "run.varve"], by="execution", edges="data", warm_up=True)


@pytest.fixture(scope="module", name="folder")
def fixture_folder(release, produce):
    return produce(release, "torch_observed.py")


def test_joined(varve_module, folder, recorded):
    names, edges = walk(varve_module, [folder / "trace.json", folder / "execution_trace.json"],
                        by="execution", edges="data", warm_up=True)
    assert names == recorded[0] and len(names) > 300
    assert edges == recorded[1] and len(edges) > 300


def test_alone(varve_module, folder, recorded):
    names, edges = walk(varve_module, [folder / "execution_trace.json"])
    assert (names, edges) == recorded


def test_the_inputs_are_those_of_the_profile(varve_module, folder):
    """The profiler was asked for shapes, too. It says no types of tensors in lists."""
    def inputs(*paths):
        with varve_module.Trace(*paths) as trace:
            nodes = trace.graph_tables(by="execution", warm_up=True)["nodes"]
        return sorted((node["name"], re.sub(r"\] \w+", "]", node["inputs"])) for node in nodes)

    assert inputs(folder / "trace.json") == inputs(folder / "trace.json",
                                                   folder / "execution_trace.json")

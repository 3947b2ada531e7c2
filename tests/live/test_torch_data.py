# SPDX-License-Identifier: Apache-2.0
"""Which data PyTorch's operators read and make (--collect +data): the edges are those of the
program, with each release of PyTorch that is here."""
import itertools

import pytest


class Graph:
    """The operators that the program itself calls: those inside no other one."""

    def __init__(self, parts):
        self.nodes = parts["nodes"]
        first = min(node["begin_ns"] for node in self.nodes if node["name"] == "aten::linear")
        self.imported = {row for row, node in enumerate(self.nodes) if node["begin_ns"] < first}
        self.edges = {(edge["from"], edge["to"]) for edge in parts["edges"]}

    def named(self, *names):
        return [row for row, node in enumerate(self.nodes)
                if node["name"] in names and row not in self.imported]

    def into(self, row, *names):
        """The names of those that made what the node reads; only these names if there are any."""
        found = {self.nodes[a]["name"] for a, b in self.edges if b == row}
        return found & set(names) if names else found


@pytest.fixture(scope="module", name="graph",
                params=("torch", "torch-2.9", "torch-2.6", "torch-2.2"))
def fixture_graph(request, record, varve_module):
    """Importing PyTorch 2.6 runs operators, too; they are left out."""
    folder = record(request.param, "torch_data.py", options=("--collect", "+data"))
    with varve_module.Trace(folder / "run.varve") as trace:
        assert any("data" in row["text"] for row in trace.table("collectors"))
        return Graph(trace.graph_tables(by="execution", edges="data", warm_up=True))


def test_forward(graph):
    """Each layer reads what the one before it made."""
    linears, relus = graph.named("aten::linear"), graph.named("aten::relu")
    assert (len(linears), len(relus)) == (6, 3)
    for first, relu, second in zip(linears[::2], relus, linears[1::2]):
        assert "aten::linear" in graph.into(relu) and (first, relu) in graph.edges
        assert (relu, second) in graph.edges and (first, second) not in graph.edges


def test_the_optimizer_feeds_the_next_step(graph):
    linears = graph.named("aten::linear")
    assert all("aten::add_" not in graph.into(row) for row in linears[:2])
    assert all("aten::add_" in graph.into(row) for row in linears[2:])


def test_backward(graph):
    """The gradient of the activation needs what it made, and feeds the layer before it."""
    relus, gradients = graph.named("aten::relu"), graph.named("aten::threshold_backward")
    assert len(gradients) == 3
    for relu, gradient in zip(relus, gradients):
        assert (relu, gradient) in graph.edges
        assert "aten::mm" in graph.into(gradient)
    updates = graph.named("aten::add_")
    assert all(graph.into(row, "aten::mm", "aten::sum") for row in updates)


def only(graph, name):
    (row,) = graph.named(name)
    return row


def test_a_write_through_a_view_is_one_of_the_base(graph):
    product, multiplied, read = (only(graph, f"aten::{name}")
                                 for name in ("mul_", "sigmoid", "tanh"))
    assert (product, multiplied) in graph.edges
    assert graph.into(multiplied) == {"aten::mul_"}
    assert graph.into(read) == {"aten::cat"}


def test_a_list_is_written_in_place(graph):
    assert graph.into(only(graph, "aten::_foreach_exp_")) == {"aten::cat"}
    assert graph.into(only(graph, "aten::cos")) == {"aten::_foreach_exp_"}


def test_memory_that_is_taken_again_is_other_data(graph):
    made, read = graph.named("aten::neg"), graph.named("aten::sin")
    assert len(made) == len(read) == 3
    for (i, a), (k, b) in itertools.product(enumerate(made), enumerate(read)):
        assert ((a, b) in graph.edges) == (i == k)

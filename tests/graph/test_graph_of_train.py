# SPDX-License-Identifier: Apache-2.0
"""examples/train: its data edges are those of the network that it prints, and its halves mirror
each other."""
import collections
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import built_graph  # pylint: disable=wrong-import-position

STEPS = 12
DRAWN_BEFORE = 5  # at most: LOADER_QUEUE, and one while the first is taken
PAIRS = 10  # of a forward and a backward operator, in a step


@pytest.fixture(name="graph", scope="module")
def a_graph(build, varve, tmp_path_factory):
    trace = tmp_path_factory.mktemp("train") / "train.varve"
    program = build / "examples" / "train"
    if not program.exists():
        pytest.skip("needs examples/train: make (with OpenBLAS)")
    subprocess.run([varve, "record", "-o", trace, "--", program, "--steps", str(STEPS)],
                   env=os.environ | {"OMP_NUM_THREADS": "1"}, check=True, capture_output=True)
    return built_graph.read(build, "--steps", "0..", trace)


@pytest.fixture(name="printed", scope="module")
def printed_edges(build):
    done = subprocess.run([build / "examples" / "train", "--graph"], check=True,
                          capture_output=True, text=True)
    return [line.split(" -> ") for line in done.stdout.splitlines()]


def edges(graph, kind):
    return collections.Counter(
        (graph.nodes[edge["from"]]["name"], graph.nodes[edge["to"]]["name"])
        for edge in graph.edges if edge["kind"] == kind)


def test_data_edges_are_those_of_the_network(graph, printed):
    """In each step as many between two names as are printed; what an operator reads of the step
    before, once less. What the loader drew before the first step comes from before."""
    want = collections.Counter(tuple(word.split(" ")[0] for word in pair) for pair in printed)
    got = edges(graph, "data")
    early = {pair: got.pop(("(before)", pair[1]), 0) for pair in want if pair[0] == "draw_batch"}
    assert set(got) == set(want)
    assert all(count <= want[pair] * DRAWN_BEFORE for pair, count in early.items())
    for pair, count in want.items():
        late = count * (pair[0] == "sgd_momentum")
        assert got[pair] + early.get(pair, 0) == count * STEPS - late, pair


def test_each_edge_says_what_it_carries(graph):
    """The gradient of the last layer, of 32 samples and 10 digits."""
    carried = {edge["name"]: edge["bytes"] for edge in graph.edges if edge["kind"] == "data"
               and graph.nodes[edge["from"]]["name"] == "cross_entropy_backward"}
    assert carried == {"[32,10] f32": 32 * 10 * 4}


def test_the_halves_mirror_each_other(graph):
    links = collections.Counter()
    for edge in graph.edges:
        if edge["name"] == "forward to backward":
            links[graph.nodes[edge["from"]]["name"], graph.nodes[edge["to"]]["name"]] += 1
    assert sum(links.values()) == PAIRS * STEPS
    assert all(back == f"{forward}_backward" for forward, back in links)

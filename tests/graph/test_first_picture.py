# SPDX-License-Identifier: Apache-2.0
"""What varve dag -o draws if nothing else is said: a picture that a person can look at."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import trace_writer  # pylint: disable=wrong-import-position

SAYS = "the 40 of 90 with most self time; --top 0 draws all"


@pytest.fixture(scope="module", name="trace")
def fixture_trace(tmp_path_factory):
    """90 operators of different names, one after the other; the last ones take most time."""
    path = tmp_path_factory.mktemp("first") / "run.varve"
    trace = trace_writer.Trace(path)
    thread = trace.process(pid=1).thread(tid=11)
    for number in range(90):
        thread.begin_name(f"op{number}", "OP", at=1000 * (number + 1))
        thread.end(at=1000 * (number + 1) + 100 + number)
    trace.write()
    return path


@pytest.fixture(name="draw")
def fixture_draw(varve, tmp_path):
    """The names in the file, its notes, and what was said of it."""
    def draw(path, name, *options):
        target = tmp_path / name
        done = subprocess.run([varve, "dag", "-o", target, *options, path], check=True,
                              capture_output=True, text=True)
        back = subprocess.run([varve, "dag", "--form", "json", "-o", "-", target], check=True,
                              capture_output=True, text=True)
        graph = json.loads(back.stdout)
        return ({node["name"] for node in graph["nodes"]}, dict(graph["varve"]["notes"]),
                done.stderr, target)
    return draw


@pytest.mark.parametrize("options", ((), ("--by", "name")))
def test_a_picture_has_the_heaviest_nodes(draw, trace, options):
    names, notes, said, _ = draw(trace, "graph.svg", *options)
    assert names == {f"op{number}" for number in range(50, 90)} | {"(50 others)"}
    assert notes["nodes"] == SAYS and SAYS in said


@pytest.mark.parametrize("name, options", (
    ("graph.svg", ("--top", "0")), ("graph.html", ()), ("graph.dot", ()), ("graph.json", ()),
    ("graph.svg", ("--around", "op3", "--hops", "90"))))
def test_all_is_drawn(draw, trace, name, options):
    names, notes, _, _ = draw(trace, name, *options)
    assert len(names) == 90 and "nodes" not in notes


def test_a_small_graph_and_one_of_a_file_are_drawn_whole(draw, trace):
    names, _, _, _ = draw(trace, "small.svg", "--filter", "name ~ 'op1*'")
    assert len(names) == 11
    _, _, _, whole = draw(trace, "graph.json")
    names, _, _, _ = draw(whole, "again.svg")
    assert len(names) == 90


def test_no_picture_is_a_strip(draw, trace):
    """Graphviz places a chain in one column. If the picture is drawn as it is, it is broken."""
    _, _, _, path = draw(trace, "graph.svg", "--top", "0")
    width, height = map(float, re.search(r'width="([\d.]+)" height="([\d.]+)"',
                                         path.read_text()).groups())
    assert max(width, height) < 3 * min(width, height)

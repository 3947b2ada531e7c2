# SPDX-License-Identifier: Apache-2.0
"""Operator graphs as JSON ("mlirgraph" 1.0.0): the published one node for node, and small ones by
hand."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health, refusal  # noqa: E402


def graph(nodes, edges=(), **more):
    return json.dumps({"version": "1.0.0", "nodes": nodes,
                       "edges": [{"edgeFrom": a, "edgeTo": b} for a, b in edges], **more})


def node(number, begin, duration, adjacent=(), **more):
    return {"name": f"n{number}", "ts": begin, "duration": duration, "id": number,
            "adj": list(adjacent), **more}


@pytest.fixture(name="read")
def read_text(build, tmp_path):
    def reader(text, name="graph.json"):
        path = tmp_path / name
        path.write_text(text)
        return dump(build, path)
    return reader


def arguments(row):
    """Arrays and objects are kept as their JSON text."""
    return {key: json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
            for key, value in row["args"]}


def test_the_published_graph(build, traces):
    path = traces / "mlirgraph" / "profiler_ops.json"
    with path.open() as file:
        published = json.load(file)
    tables = dump(build, path)
    assert (len(tables["slices"]), len(tables["flows"])) == (39, 35)
    found = {arguments(row)["id"]: row for row in tables["slices"]}
    for each in published["nodes"]:
        row = found[each["id"]]
        assert (row["name"], row["begin_ns"] * 1000, row["duration_ns"] * 1000) == (
            each["name"], each["ts"], each["duration"])
        assert arguments(row)["adj"] == each["adj"]
    begins = {each["id"]: each["ts"] // 1000 for each in published["nodes"]}
    assert sorted((row["from_ns"], row["to_ns"]) for row in tables["flows"]) == sorted(
        (begins[edge["edgeFrom"]], begins[edge["edgeTo"]]) for edge in published["edges"])
    assert [(row["key"], row["value"]) for row in tables["facts"]] == [("version", "1.0.0")]
    assert tables["processes"][0]["events"] == 39


def test_the_graph_and_the_xspace_it_was_made_from_agree(build, traces):
    """The .pb beside it holds the same operators: same names, begins and durations."""
    of = lambda name: sorted((row["name"], row["duration_ns"])
                             for row in dump(build, traces / "mlirgraph" / name)["slices"])
    assert of("profiler_ops.json") == of("profiler_ops.pb")


def test_edges_in_either_place_are_one_flow(read):
    both = read(graph([node(0, 0, 5000, [1]), node(1, 9000, 5000, [2]), node(2, 20000, 0)],
                      [(0, 1), (0, 2)]))
    assert [(row["from_ns"], row["to_ns"]) for row in both["flows"]] == [(0, 9), (0, 20), (9, 20)]


def test_what_nanoseconds_cannot_hold_is_kept(read):
    row, = read(graph([node(7, 1234567, 8900001, extra={"a": [1, None]})]))["slices"]
    assert (row["begin_ns"], row["duration_ns"]) == (1234, 8900)
    assert arguments(row) == {"id": 7, "ts": 1234567, "duration": 8900001, "adj": [],
                              "extra": {"a": [1, None]}}


def test_odd_nodes_are_kept_and_counted(read):
    tables = read(graph([node(0, 5000, -1), {"adj": [9], "name": "no time", "id": 1}]))
    assert len(tables["slices"]) == 2
    assert health(tables) == {"negative": 1, "unplaced": 1, "unmatched_flows": 1, "zero_length": 2}


def test_order_changes_nothing(read):
    nodes = [node(0, 0, 5000, [1, 2]), node(1, 9000, 5000), node(2, 9000, 7000)]
    key = lambda tables: sorted((row["name"], row["begin_ns"], row["duration_ns"])
                                for row in tables["slices"])
    one, other = read(graph(nodes)), read(graph(nodes[::-1]))
    assert key(one) == key(other)
    flows = [sorted((row["from_ns"], row["to_ns"]) for row in tables["flows"])
             for tables in (one, other)]
    assert flows[0] == flows[1]


def test_a_cut_file_gives_whole_nodes(read):
    text = graph([node(i, i * 1000, 500) for i in range(50)])
    for cut in range(text.index('adj') + 40, len(text), 37):
        tables = read(text[:cut])
        whole = text[:cut].count("}")
        assert len(tables["slices"]) == min(whole, 50)
        assert health(tables).get("truncated_files") == 1


def test_wrong_types_are_refused_with_their_place(build, tmp_path):
    path = tmp_path / "graph.json"
    text = '{"nodes": [{"adj": [], "ts": "soon"}]}'
    path.write_text(text)
    assert f"at byte {text.index('soon') - 1}" in refusal(build, path)

# SPDX-License-Identifier: Apache-2.0
"""--compat mlirgraph: the thesis' own sample, node for node, from both of its files; and events
that do not stand in order of time."""
import json
import random
import sys
import pathlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import built_graph  # pylint: disable=wrong-import-position
import xspace_bytes  # pylint: disable=wrong-import-position

SIZES = [4, 1, 2, 1, 1, 4, 1, 2, 4, 1, 2, 4, 1, 2, 1, 4, 1, 2, 1]


@pytest.mark.parametrize("name", ["profiler_ops.pb", "profiler_ops.json"])
def test_the_sample(build, traces, name):
    want = json.loads((traces / "mlirgraph" / "profiler_ops.json").read_text())
    graph = built_graph.read(build, "--compat", "mlirgraph", traces / "mlirgraph" / name)
    assert [(node["name"], 1000 * node["begin_ns"], 1000 * node["total_ns"])
            for node in graph.nodes] == [(node["name"], node["ts"], node["duration"])
                                         for node in want["nodes"]]
    assert sorted((edge["from"], edge["to"]) for edge in graph.edges) \
        == sorted((edge["edgeFrom"], edge["edgeTo"]) for edge in want["edges"])
    levels = [node["level"] for node in graph.nodes]
    assert [levels.count(level) for level in range(max(levels) + 1)] == SIZES
    assert (len(graph.nodes), len(graph.edges), len(SIZES)) == (39, 35, 19)


def thesis(events):
    """The rule, as traceReader.py has it: events (name, begin, end); levels of indices."""
    levels = []
    for index, (_, begin, end) in enumerate(events):
        for place, level in enumerate(levels):
            if all(begin <= events[i][2] and events[i][1] <= end for i in level):
                level.append(index)
                break
            if begin < events[level[0]][1]:
                levels.insert(place, [index])
                break
        else:
            levels.append([index])
    return levels


@pytest.mark.parametrize("seed", range(12))
def test_events_count_in_the_order_of_the_file(build, tmp_path, seed):
    """Lines whose events stand in any order, beside planes that do not count."""
    chance = random.Random(seed)
    plane, events = xspace_bytes.Plane("/host:CPU", 1), []
    for line in range(1, 4):
        own = [(f"e{chance.randrange(5)}", begin, begin + chance.choice([0, 5, 60]))
               for begin in (chance.randrange(200) for _ in range(chance.randrange(1, 40)))]
        if line == 2:
            own.sort(key=lambda event: (event[1], -event[2]))  # as most lines are
        plane.line(line, [plane.event(name, 1000 * begin, 1000 * (end - begin))
                          for name, begin, end in own])
        events += own
    other = xspace_bytes.Plane("/host:threads of mine", 2)
    other.line(9, [other.event("$train.py:1 step", 0, 500000)])
    start = 1_700_000_000_000_000_000
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(xspace_bytes.space(other, plane, xspace_bytes.environment(start, start + 9)))
    graph = built_graph.read(build, "--compat", "mlirgraph", path)
    assert [(node["name"], node["begin_ns"], node["begin_ns"] + node["total_ns"])
            for node in graph.nodes] == events
    levels = thesis(events)
    assert [node["level"] for node in graph.nodes] == [
        next(k for k, level in enumerate(levels) if i in level) for i in range(len(events))]
    assert sorted((edge["to"], edge["from"]) for edge in graph.edges) == sorted(
        (item, levels[k][min(i, len(levels[k]) - 1)])
        for k, level in enumerate(levels[1:]) for i, item in enumerate(level))


def test_a_node_has_the_whole_name_of_its_event(build, tmp_path):
    plane = xspace_bytes.Plane("/host:CPU", 1)
    plane.metadata("block0/attn/MatMul:MatMul", "MatMul")
    plane.line(1, [plane.event("block0/attn/MatMul:MatMul", 0, 1000), plane.event("b", 1, 1000)])
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(xspace_bytes.space(plane))
    graph = built_graph.read(build, "--compat", "mlirgraph", path)
    assert [node["name"] for node in graph.nodes] == ["block0/attn/MatMul:MatMul", "b"]


def test_times_without_a_start_count_as_they_are(build, tmp_path):
    plane = xspace_bytes.Plane("/host:CPU", 1)
    plane.line(1, [plane.event("a", 0, 1000)], timestamp_ns=1_700_000_000_000_000_000)
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(xspace_bytes.space(plane))
    graph = built_graph.read(build, "--compat", "mlirgraph", path)
    assert graph.nodes[0]["begin_ns"] == 1_700_000_000_000_000_000

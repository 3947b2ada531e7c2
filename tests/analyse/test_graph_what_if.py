# SPDX-License-Identifier: Apache-2.0
"""Table graph_what_if: sums and longest ways of graphs, against a search over all ways."""
import json
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402


def write(path, nodes, edges):
    """nodes: [(name, self ns)]; edges: [(from, to)], each to a later node."""
    path.write_text(json.dumps({
        "directed": True, "multigraph": False,
        "nodes": [{"id": i, "name": name, "duration_ns": ns} for i, (name, ns) in enumerate(nodes)],
        "links": [{"source": a, "target": b} for a, b in edges]}))
    return path


def longest(times, edges):
    best = list(times)
    for node in range(len(times)):
        before = [best[a] for a, b in edges if b == node]
        best[node] = times[node] + max(before, default=0)
    return max(best, default=0)


def divided(nodes, names, factor):
    return [0 if factor == 0 and name in names else
            int(ns / factor + 0.5) if name in names else ns for name, ns in nodes]


def rows_of(varve, path, *options):
    return table_reader.tables(varve, "dag", "--no-cache", "--table", "graph_what_if", *options,
                               path)["graph_what_if"]


@pytest.mark.parametrize("seed", range(6))
def test_every_row_is_what_a_search_finds(varve, tmp_path, seed):
    draw = random.Random(seed)
    nodes = [(draw.choice("abcde"), draw.choice([0, 10, 20, 75, 400])) for _ in range(24)]
    edges = [(a, b) for b in range(24) for a in range(b) if draw.random() < 0.12]
    rows = rows_of(varve, write(tmp_path / "g.json", nodes, edges), "--scale", "4")
    times = [ns for _, ns in nodes]
    total = rows.pop()
    assert (total["row"], total["total_ns"], total["path_ns"]) == ("total", sum(times),
                                                                   longest(times, edges))
    assert {row["name"] for row in rows} == {name for name, ns in nodes if ns > 0}
    assert sum(row["self_ns"] for row in rows) == sum(times)
    for row in rows:
        then = divided(nodes, {row["name"]}, 4)
        without = divided(nodes, {row["name"]}, 0)
        assert (row["total_ns"], row["path_ns"]) == (sum(then), longest(then, edges))
        assert (row["removed_total_ns"], row["removed_path_ns"]) == (
            sum(without), longest(without, edges))
        assert row["total_speedup"] == pytest.approx(sum(times) / sum(then))
        if sum(without):
            assert row["most_speedup"] == pytest.approx(sum(times) / sum(without))


def test_several_that_are_asked_for_are_answered_together_too(varve, tmp_path):
    nodes, edges = [("a", 100), ("b", 60), ("c", 40)], [(0, 2), (1, 2)]
    rows = rows_of(varve, write(tmp_path / "g.json", nodes, edges), "--scale", "a=2;c=4")
    assert [(row["row"], row["name"], row["total_ns"], row["path_ns"]) for row in rows] == [
        ("together", "(all that are asked for)", 120, 70), ("asked", "a", 150, 100),
        ("asked", "c", 170, 110), ("name", "a", 150, 100), ("name", "b", 170, 140),
        ("name", "c", 180, 120), ("total", "as it is", 200, 140)]


def test_a_loop_holds_what_is_in_it(varve, tmp_path):
    """Who takes a loop's result waits for all of the loop."""
    def op(name, ns):
        return f'"{name}"() {{varve.profile = {{count = 1 : i64, total = {ns} : i64}}}}'
    path = tmp_path / "loop.mlir"
    path.write_text(f"""func.func @f(%n: index) {{
  %0 = scf.for %i = %n to %n step %n iter_args(%x = %n) -> (index) {{
    %1 = {op("t.a", 30)} : () -> index
    %2 = {op("t.b", 50)} : () -> index
    scf.yield %2 : index
  }}
  {op("t.alone", 60)} : () -> ()
  "t.after"(%0) {{varve.profile = {{count = 1 : i64, total = 7 : i64}}}} : (index) -> ()
  return
}}
""")
    rows = {row["name"]: row for row in rows_of(varve, path)}
    assert (rows["as it is"]["total_ns"], rows["as it is"]["path_ns"]) == (147, 60)
    assert rows["t.b"]["removed_path_ns"] == 60 and rows["t.alone"]["removed_path_ns"] == 57
    assert rows["t.alone"]["path_ns"] == 57  # 30, not 60, beside 50 and then 7


def test_an_annotated_loop_takes_its_own_time_before_what_is_in_it(varve, tmp_path):
    path = tmp_path / "loop.mlir"
    path.write_text("""func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
    "t.a"() {varve.profile = {count = 2 : i64, total = 30 : i64}} : () -> ()
  } {varve.profile = {count = 1 : i64, self = 5 : i64, total = 35 : i64}}
  return
}
""")
    rows = {row["name"]: row for row in rows_of(varve, path)}
    assert (rows["as it is"]["total_ns"], rows["as it is"]["path_ns"]) == (35, 35)
    assert (rows["scf.for"]["self_ns"], rows["scf.for"]["removed_path_ns"]) == (5, 30)


def test_a_name_that_is_not_there_is_refused(varve, tmp_path):
    path = write(tmp_path / "g.json", [("a", 1)], [])
    with pytest.raises(AssertionError, match="no node with a time has the name"):
        rows_of(varve, path, "--scale", "b=2")

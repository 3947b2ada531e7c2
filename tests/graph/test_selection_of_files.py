# SPDX-License-Identifier: Apache-2.0
"""A selection of the graph of a file gives what the same selection gives when the graph is made."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import trace_writer  # pylint: disable=wrong-import-position


@pytest.fixture(scope="module", name="trace")
def fixture_trace(tmp_path_factory):
    """Three steps of two operators, one of which calls another, and a thread beside them."""
    path = tmp_path_factory.mktemp("selected") / "run.varve"
    trace = trace_writer.Trace(path)
    process = trace.process(pid=1)
    thread, loader = process.thread(tid=11), process.thread(tid=12)
    process.thread_name(11, "train")
    process.thread_name(12, "loader")
    for step in range(3):
        begin = 1000 * (step + 1)
        thread.step_begin(step, at=begin)
        for number, (name, inner) in enumerate((("linear", "mm"), ("relu", None))):
            at = begin + 100 + 300 * number
            thread.begin_name(name, "OP", at=at)
            if inner:
                thread.begin_name(inner, "OP", at=at + 10)
                thread.end(at=at + 60 + step)
            thread.end(at=at + 100 + 10 * step)
        thread.step_end(at=begin + 900)
        loader.begin_name("fetch", "OP", at=begin + 5)
        loader.end(at=begin + 50)
    trace.write()
    return path


@pytest.fixture(scope="module", name="file_of")
def fixture_file_of(varve, trace, tmp_path_factory):
    """The graph of all of the trace, folded so."""
    def write(by):
        path = tmp_path_factory.mktemp("file") / "graph.json"
        subprocess.run([varve, "dag", "--by", by, "--warm-up", "-o", path, trace], check=True,
                       capture_output=True)
        return path
    return write


def walk(varve_module, path, **question):
    with varve_module.Trace(path) as opened:
        parts = opened.graph_tables(**question)
    names = {row: node["name"] for row, node in enumerate(parts["nodes"])}
    nodes = sorted((node["name"], node["where"], node["count"], node["total_ns"], node["self_ns"])
                   for node in parts["nodes"] if node["kind"] not in ("outside", "group"))
    calls = sorted((names[edge["from"]], names[edge["to"]]) for edge in parts["edges"]
                   if edge["kind"] == "nesting")
    return nodes, calls, {row["key"]: row["text"] for row in parts["notes"]}


@pytest.mark.parametrize("question", (
    {"filter": "name ~ 'l*'"}, {"filter": "name == 'mm' || self > 95ns"}, {"thread": "train"},
    {"filter": "name != 'relu'", "thread": "train"}, {"filter": "!(duration < 100ns)"},
    {"filter": "step == 1", "thread": "train"}, {"filter": "arg.size > 3"}))
def test_each_execution(varve_module, trace, file_of, question):
    made = walk(varve_module, trace, by="execution", warm_up=True, **question)
    chosen = walk(varve_module, file_of("execution"), **question)
    assert chosen[:2] == made[:2]


@pytest.mark.parametrize("steps", ("1", "0..1", "2.."))
def test_steps_of_each_execution(varve_module, trace, file_of, steps):
    made = walk(varve_module, trace, by="execution", warm_up=True, steps=steps, thread="train")
    chosen = walk(varve_module, file_of("execution"), steps=steps, thread="train")
    assert chosen[:2] == made[:2] and chosen[0]
    assert "selection" not in chosen[2]


def test_steps_of_folded_nodes(varve_module, trace, file_of):
    """Totals and counts are known for each step. A self time that is not is a share, and said."""
    made, chosen = (walk(varve_module, path, by="name", steps="1", thread="train", **more)
                    for path, more in ((trace, {"warm_up": True}), (file_of("name"), {})))
    assert [row[:4] for row in chosen[0]] == [row[:4] for row in made[0]]
    own = {row[0]: row[4] for row in chosen[0]}
    assert own["relu"] == 110 and own["mm"] == 51 and own["linear"] == 110 * 177 // 330
    assert chosen[2]["selection"].startswith("3 nodes ran in other steps, too")


def test_groups_have_what_is_left_in_them(varve_module, file_of):
    with varve_module.Trace(file_of("phase,name")) as opened:
        parts = opened.graph_tables(filter="name == 'relu'")
    for row, node in enumerate(parts["nodes"]):
        inside = [other for other in parts["nodes"] if other["parent"] == row]
        assert (node["kind"] == "group") == bool(inside)
        if inside:
            assert node["total_ns"] == sum(other["self_ns"] for other in inside)


def test_what_is_not_there_is_said(varve_module, file_of):
    assert walk(varve_module, file_of("name"), filter="name == 'nobody'")[2]["nodes"] == (
        "nothing of what is in the file was chosen")
    assert walk(varve_module, file_of("name"), rank="0")[2]["selection"].startswith(
        "rank not applied")

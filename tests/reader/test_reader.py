# SPDX-License-Identifier: Apache-2.0
"""libvarve-reader.so as programs use it: the same tables as the command prints, and as the tools of
the tests see inside, whoever asks."""
import csv
import json
import math
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import all_tables  # pylint: disable=wrong-import-position
import golden_trace  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position


@pytest.fixture(scope="module", name="golden")
def fixture_golden(tmp_path_factory):
    path = tmp_path_factory.mktemp("golden") / "golden.varve"
    golden_trace.make(path).write()
    return path


@pytest.fixture(name="path", params=["golden", "kineto", "mlirgraph"])
def fixture_path(request, golden):
    if request.param == "golden":
        return golden
    return request.getfixturevalue("traces") / {
        "kineto": "kineto/resnet50_workers0.json.gz",
        "mlirgraph": "mlirgraph/profiler_ops.json"}[request.param]


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float)
                      and (math.isclose(a, b, rel_tol=1e-12) or math.isnan(a) and math.isnan(b)))


def test_every_answer_is_the_command_s(varve_module, build, path):
    inside = all_tables.read(build, path)
    assert len(inside) > 50
    with varve_module.Trace(path) as trace:
        for name, table in inside.items():
            if name == "trace":  # for a library it has all facts of the trace
                continue
            rows = trace.table(name)
            assert len(rows) == len(table.rows), name
            for ours, theirs in zip(rows, table.rows):
                assert ours.keys() == theirs.keys(), name
                wrong = {key: (ours[key], theirs[key]) for key in ours
                         if not same(ours[key], theirs[key])}
                assert wrong == {}, name


def test_a_question_is_the_command_s_line(varve_module, varve, path):
    done = subprocess.run([varve, "report", "--json", "--table", "operators", "--by", "thread",
                           "--sort", "total", "--top", "2", "--warm-up", path],
                          capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)["tables"]["operators"]
    names = [column["name"] for column in table["columns"]]
    rows = varve_module.table(path, "operators", by="thread", sort="total", top=2, warm_up=True)
    assert [dict(zip(names, row)) for row in table["rows"]] == [
        {key: row[key] for key in names} for row in rows]


def test_what_was_recorded(varve_module, path):
    with varve_module.Trace(path) as trace:
        slices, tracks = trace.recorded("slices"), trace.recorded("tracks")
        counts = {row["table"]: row["rows"] for row in trace.table("tables")}
        assert len(slices) == counts["slices"] and len(tracks) == counts["tracks"]
        for row in slices:
            assert 0 <= row["self_ns"] <= row["duration_ns"] and row["track"] < len(tracks)
            assert row["parent"] == varve_module.NO_ROW or row["depth"] == slices[
                row["parent"]]["depth"] + 1
        assert {row["name"] for row in slices} >= {
            row["name"] for row in trace.table("operators", warm_up=True)
            if row["row"] == "operator"}


def test_a_program_in_c_and_a_script_walk_the_graph(varve_module, build, golden, root):
    """Both examples print the same, and what the module sees."""
    program = build / "examples" / "reader"
    if not program.exists():
        pytest.skip("needs examples/reader: make")
    printed = {subprocess.run(command, capture_output=True, check=True).stdout.decode()
               for command in ([program, golden],
                               [sys.executable, root / "examples/reader/graph.py",
                                build / "libvarve-reader.so", golden])}
    (text,) = printed
    with varve_module.Trace(golden) as trace:
        parts = trace.graph_tables()
    nodes = parts["nodes"]
    assert len(nodes) > 3 and len(parts["edges"]) > 1
    assert text == "".join(
        [f"{node['kind']} {node['name']}: {node['total_ns']} ns\n" for node in nodes] +
        [f"{nodes[edge['from']]['name']} -> {nodes[edge['to']]['name']} ({edge['kind']})\n"
         for edge in parts["edges"]])


def test_the_tables_of_a_graph(varve_module, path):
    with varve_module.Trace(path) as trace:
        parts = trace.graph_tables()
        only = trace.graph_tables(edges="order")
    assert parts.keys() == {"nodes", "edges", "occurrences", "notes"}
    nodes, edges = parts["nodes"], parts["edges"]
    assert len({node["id"] for node in nodes}) == len(nodes) > 3
    for row, node in enumerate(nodes):
        assert 0 <= node["self_ns"] <= node["total_ns"]
        assert node["parent"] == varve_module.NO_ROW or node["parent"] < row
        first, count = node["first_occurrence"], node["occurrence_count"]
        assert count == 0 or first + count <= len(parts["occurrences"])
    for edge in edges:
        assert max(edge["from"], edge["to"]) < len(nodes)
        assert edge["kind"] in ("data", "flow", "nesting", "stream", "sync", "order")
    if path.suffix != ".json":  # a file that is a graph has its own edges and notes
        assert {edge["kind"] for edge in only["edges"]} <= {"order"}
        assert {note["key"] for note in parts["notes"]} >= {"graph"}


def test_a_graph_for_networkx(varve_module, path):
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    with varve_module.Trace(path) as trace:
        parts, graph = trace.graph_tables(), trace.graph()
        multi = trace.graph(multigraph=True)
    nodes = parts["nodes"]
    assert isinstance(graph, networkx.DiGraph) and isinstance(multi, networkx.MultiDiGraph)
    assert graph.number_of_nodes() == len(nodes) == multi.number_of_nodes()
    ends = [(nodes[edge["from"]]["id"], nodes[edge["to"]]["id"]) for edge in parts["edges"]]
    assert set(graph.edges()) == set(ends)
    assert multi.number_of_edges() == len({(end, edge["kind"])
                                           for end, edge in zip(ends, parts["edges"])})
    assert sum(count for *_, count in graph.edges(data="count")) == sum(
        edge["count"] for edge in parts["edges"])
    for node in nodes:
        held = graph.nodes[node["id"]]
        left = {"first_occurrence", "occurrence_count", "parent", "level"}
        assert {key: held[key] for key in node.keys() - left} == {
            key: node[key] for key in node.keys() - left}
        assert len(held["occurrences"]) == node["occurrence_count"]
    assert graph.graph == {note["key"]: note["text"] for note in parts["notes"]}


def test_executions_form_no_cycle(varve_module, path):
    """What is folded may: a name that ran before and after another one."""
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    graph = varve_module.graph(path, by="execution")
    assert graph.number_of_edges() > 1 and networkx.is_directed_acyclic_graph(graph)


def test_the_thesis_graph(varve_module, traces):
    """39 nodes, 35 edges, 19 levels, from both of its files."""
    for name in ("profiler_ops.json", "profiler_ops.pb"):
        with varve_module.Trace(traces / "mlirgraph" / name) as trace:
            parts = trace.graph_tables(compat="mlirgraph", by="execution")
        assert (len(parts["nodes"]), len(parts["edges"])) == (39, 35)
        assert {node["level"] for node in parts["nodes"]} == set(range(19))


def test_without_networkx_it_says_so(varve_module, golden, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(varve_module.Error, match="needs NetworkX: pip install networkx"):
        varve_module.graph(golden)


def test_a_graph_is_written(varve_module, golden, tmp_path):
    """As JSON that has the nodes and edges; whole, or an error and nothing."""
    with varve_module.Trace(golden) as trace:
        parts = trace.graph_tables()
        for name, form in (("g.json", None), ("g", "json"), ("g.json", "mlirgraph")):
            trace.write_graph(tmp_path / name, form)
            written = json.loads((tmp_path / name).read_text())
            assert written["version"] == "1.0.0"
            assert [node["name"] for node in written["nodes"]] == [
                node["name"] for node in parts["nodes"]]
        (tmp_path / "folder.json").mkdir()
        for name, form, words in (("g.weather", None, r"\.json"), ("g", "jsn", "Nearest"),
                                  ("folder.json", None, "is no file"),
                                  ("nowhere/g.json", None, "No such file")):
            with pytest.raises(varve_module.Error, match=words):
                trace.write_graph(tmp_path / name, form)
    assert sorted(os.listdir(tmp_path)) == ["folder.json", "g", "g.json"]


def test_a_wrong_question_about_a_graph(varve_module, golden):
    with varve_module.Trace(golden) as trace:
        for question, words in (({"by": "modul"}, "Nearest: module"), ({"hops": -1}, "below 0"),
                                ({"edges": "dat"}, "dat"), ({"of": "operator"}, "operator")):
            with pytest.raises(varve_module.Error, match=words):
                trace.graph_tables(**question)


def test_errors_are_sentences(varve_module, golden, tmp_path):
    with pytest.raises(varve_module.Error, match="nowhere.varve"):
        varve_module.Trace(tmp_path / "nowhere.varve")
    with varve_module.Trace(golden) as trace:
        with pytest.raises(varve_module.Error, match="Nearest: operators") as caught:
            trace.table("operatrs")
        assert caught.value.code == 1  # VARVE_INVALID
        with pytest.raises(TypeError, match="no option 'step': .*steps"):
            trace.table("operators", step=1)
        with pytest.raises(varve_module.Error, match="Nearest: slices"):
            trace.recorded("slice")
        info = trace.info
        assert info["format"] == "varve" and info["events"] > 0 and info["path_count"] == 1
    with pytest.raises(varve_module.Error, match="closed"):
        trace.table("operators")


def test_a_missing_library_is_told(golden, root):
    done = subprocess.run(
        [sys.executable, "-c", f"import varve\nvarve.table({str(golden)!r}, 'steps')"],
        env={**os.environ, "PYTHONPATH": str(root / "python"),
             "VARVE_READER_LIBRARY": "/nowhere/x.so"},
        capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "libvarve-reader.so was not found" in done.stderr
    assert "/nowhere/x.so: not there" in done.stderr and "Set VARVE_READER_LIBRARY" in done.stderr


def test_pandas_where_it_is_asked_for(varve_module, golden):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = varve_module.table(golden, "operators", pandas=True, warm_up=True)
    rows = varve_module.table(golden, "operators", warm_up=True)
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(rows)
    assert list(frame["self_ns"]) == [row["self_ns"] for row in rows]


def this_machine():
    """As varve names it."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return os.uname().machine


def test_peaks_that_doctor_has_measured(varve, varve_module, tmp_path, monkeypatch):
    """roofline has those of the machine, as the command prints them."""
    path = tmp_path / "run.varve"
    trace = trace_writer.Trace(path)
    thread = trace.process(pid=1).thread(tid=11)
    thread.begin_name("aten::mm", "OP", at=100)
    thread.op([("f32", [64, 64]), ("f32", [64, 64])], at=101, flop=524288, size=49152)
    thread.end(at=1100)
    trace.write()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "varve").mkdir(mode=0o700)
    roofs = []
    for peak in (None, 1e12, 2e12):
        if peak is not None:
            (tmp_path / "varve" / "peaks.json").write_text(json.dumps(
                {"schema": "varve.peaks/1", "machines": [
                    {"machine": this_machine(), "cpus": os.sysconf("SC_NPROCESSORS_ONLN"),
                     "f32_flop_per_s": peak, "f64_flop_per_s": 1e11, "bytes_per_s": 1e13}]}))
        ours = varve_module.table(path, "roofline")[0]
        done = subprocess.run([varve, "report", "--csv", "--table", "roofline", path], text=True,
                              capture_output=True, check=True, env=os.environ)
        theirs = next(csv.DictReader(done.stdout.splitlines()))
        assert str(ours["roof_flop_per_s"] or "") == theirs["roof_flop_per_s"] or float(
            theirs["roof_flop_per_s"]) == ours["roof_flop_per_s"]
        roofs.append(ours["roof_flop_per_s"])
    assert roofs == [None, 1e12, 2e12]

# SPDX-License-Identifier: Apache-2.0
"""varve dag as a user types it: tables of the graph, what folds it, and what is refused."""
import json
import subprocess

import pytest


def dag(build, *arguments, code=0):
    run = subprocess.run([build / "varve", "dag", "--no-cache", *arguments], capture_output=True,
                         text=True, timeout=120)
    assert run.returncode == code, run.stderr
    return run.stdout if code == 0 else run.stderr


def rows(run, table):
    made = json.loads(run)["tables"][table]
    names = [column["name"] for column in made["columns"]]
    return [dict(zip(names, row)) for row in made["rows"]]


def nodes(build, *arguments):
    return rows(dag(build, "--json", *arguments), "graph_nodes")


def test_the_nodes_add_up_to_the_operators(build, traces):
    trace = traces / "kineto/resnet50_workers0.json.gz"
    made = nodes(build, trace)
    report = subprocess.run([build / "varve", "report", "--no-cache", "--json", "--by", "name",
                             "--table", "operators", trace], capture_output=True, check=True)
    own = {row["name"]: row["self_ns"] for row in rows(report.stdout, "operators")
           if row["row"] == "operator"}
    sums = {}
    for node in made:
        if node["row"] == "node" and node["device"] is None and node["kind"] != "outside":
            sums[node["name"]] = sums.get(node["name"], 0) + node["self_ns"]
    assert sums == own
    plain = [node["self_ns"] for node in made if node["row"] == "node"]
    assert sum(plain) == made[-1]["self_ns"]


def test_36_layers_are_one_block(build, traces):
    made = nodes(build, "--by", "block,name", traces / "tracelens/sglang_decode.json.gz")
    groups = {node["group"] for node in made} - {None}
    assert len(groups) == 1 and groups.pop().startswith("36 × block of 15: ")
    assert all(node["count"] % 36 == 0 for node in made if node["group"])


def test_the_rest_keeps_the_sum(build, traces):
    trace = traces / "tracelens/h100_Falconsai.json.gz"
    whole = nodes(build, "--by", "name", trace)
    few = nodes(build, "--by", "name", "--top", "3", trace)
    assert few[-1]["self_ns"] == whole[-1]["self_ns"]
    assert sum(node["kind"] == "rest" for node in few) == 1


@pytest.mark.parametrize("arguments,says", [
    (["--by", "colour"], "--by is one of"),
    (["--of", "kernel"], "--of is one of"),
    (["--edges", "data,flows"], "--edges is one of"),
    (["--around", "aten::mmm"], "no node is called 'aten::mmm'. Nearest: 'aten::mm'"),
])
def test_what_is_wrong_is_said(build, tmp_path, arguments, says):
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}))
    assert says in dag(build, *arguments, trace, code=2)


@pytest.mark.parametrize("trace", ["mlirgraph/profiler_ops.pb", "mlirgraph/profiler_ops.json"])
def test_the_thesis_graph_byte_for_byte(build, traces, tmp_path, trace):
    made = tmp_path / "graph.json"
    dag(build, "--compat", "mlirgraph", "-o", made, traces / trace)
    assert made.read_bytes() == (traces / "mlirgraph/profiler_ops.json").read_bytes()


def test_a_former_file_is_kept(build, traces, tmp_path):
    made = tmp_path / "graph.json"
    made.write_text("former")
    dag(build, "-o", made, traces / "mlirgraph/profiler_ops.pb")
    assert (tmp_path / "graph.json.old").read_text() == "former"
    assert json.loads(made.read_text())["version"] == "1.0.0"


@pytest.mark.parametrize("arguments,code,says", [
    (["-o", "graph.picture"], 2, "says no form of a graph"),
    (["-o", "graph.json.gz"], 2, "varve dag does not compress"),
    (["-o", "-"], 2, "-o - needs the form"),
    (["-o", "-", "--form", "jsom"], 2, "Nearest: --form json"),
    (["--form", "json"], 2, "--form writes a file"),
    (["-o", "."], 2, "says no form of a graph"),
    (["-o", "folder.json"], 4, "cannot write"),
    (["-o", "nowhere/graph.json"], 4, "cannot write"),
])
def test_a_file_that_cannot_be_written_is_said(build, traces, tmp_path, arguments, code, says):
    (tmp_path / "folder.json").mkdir()
    run = subprocess.run([build / "varve", "dag", "--no-cache", *arguments,
                          traces / "mlirgraph/profiler_ops.pb"],
                         capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert run.returncode == code and says in run.stderr, run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["folder.json"]


@pytest.mark.parametrize("form", ["json", "graphml", "node-link", "html"])
def test_what_is_written_is_read_as_the_same_graph(build, traces, tmp_path, form):
    """Folded, with loops, groups and the rest."""
    trace = traces / "kineto/resnet50_workers0.json.gz"
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    made = tmp_path / f"made.{'json' if form == 'node-link' else form}"
    arguments = ["--by", "phase,name", "--top", "30"]
    dag(build, *arguments, "-o", first, trace)
    dag(build, *arguments, "--form", form, "-o", made, trace)
    dag(build, "-o", second, made)
    assert first.read_bytes() == second.read_bytes()
    assert rows(dag(build, "--json", made), "graph_nodes") == nodes(build, *arguments, trace)


def test_a_graph_without_nodes_is_one(build, tmp_path):
    empty = tmp_path / "empty.json"
    empty.write_text('{"version":"1.0.0","nodes":[],"edges":[]}')
    assert nodes(build, empty)[-1]["count"] == 0
    dag(build, "-o", tmp_path / "page.html", empty)


def test_levels_of_executions_rise_along_every_edge(build, traces):
    made = json.loads(dag(build, "--by", "execution", "--form", "json", "-o", "-",
                          traces / "kineto/resnet50_workers0.json.gz"))
    level = {node["id"]: node.get("level") for node in made["nodes"]}
    for edge in made["edges"]:
        ends = level[edge["edgeFrom"]], level[edge["edgeTo"]]
        assert None in ends or ends[0] < ends[1]

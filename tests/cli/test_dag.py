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

# SPDX-License-Identifier: Apache-2.0
"""Graphs that a file says and no program would write: each gets an answer or an error that says
what is wrong, soon and in little memory."""
import json
import os
import resource
import subprocess

import pytest

LARGEST = 2 ** 63 - 1
MEMORY_BYTES = 1 << 30


def node(number, **said):
    return {"name": f"n{number}", "ts": number * 10 ** 6, "duration": 5000, "id": number,
            "adj": [], "kind": "operator", "count": 1} | said


@pytest.fixture(name="dag")
def run_dag(varve, tmp_path):
    def run(nodes, *arguments, edges=(), text=None, name="graph.json"):
        path = tmp_path / name
        path.write_text(text if text is not None else json.dumps(
            {"version": "1.0.0", "varve": {"notes": []}, "nodes": nodes, "edges": list(edges)}))
        return subprocess.run(
            [varve, "dag", path, *map(str, arguments)], text=True, capture_output=True, check=False,
            timeout=120, env=os.environ | {"VARVE_CACHE": "off"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES,) * 2))
    return run


@pytest.mark.parametrize("said, says", [
    ({"self_ns": LARGEST}, "node 2 of the graph: with it, self_ns adds up to 2^63 or more"),
    ({"count": 2 ** 64 - 1}, "node 1 of the graph: count is negative, or 2^63 or more"),
    ({"total_ns": -1}, "node 1 of the graph: total_ns is negative"),
    ({"begin_rest_ps": 1000}, "1000 or more picoseconds"),
    ({"begin_ns": -LARGEST - 1}, "2^63 ns or more away"),
    ({"occurrences": [[0, 1, -1]]}, "occurrence 1 of the graph: total_ns is negative"),
    ({"occurrences": [[0, 1, 1.5]]}, "an occurrence is three whole numbers"),
    ({"occurrences": [[0, "x", 1]]}, "an occurrence is three whole numbers"),
    ({"occurrences": [[0, 2 ** 64, 1]]}, "an occurrence is three whole numbers")])
def test_numbers_that_cannot_be_added_are_refused(dag, said, says):
    for arguments in ((), ("--by", "name"), ("-o", "-", "--form", "html")):
        done = dag([node(1, **said), node(2, **said)], *arguments)
        assert (done.returncode, done.stdout) == (3, "") and says in done.stderr


def test_a_level_costs_no_memory(dag):
    done = dag([node(1, level=2 ** 32 - 2), node(2, level=7), node(3, level=7)], "--table", "graph",
               "--csv")
    rows = {line.split(",")[0]: line.split(",")[1] for line in done.stdout.splitlines()}
    assert rows["levels"] == str(2 ** 32 - 1) and rows["most nodes in a level"] == "2"


def test_an_id_that_a_column_cannot_hold_is_not_said(dag):
    done = dag([node(2 ** 64 - 1), node(5)], "--table", "graph_nodes", "--json")
    table = json.loads(done.stdout)["tables"]["graph_nodes"]
    place = [column["name"] for column in table["columns"]].index("id")
    assert sorted((row[-1], row[place]) for row in table["rows"]) == [
        ("n18446744073709551615", None), ("n5", 5), ("total", None)]


def test_a_file_that_ends_anywhere_is_no_crash(dag):
    nodes = [node(1, kind="group"), node(2, parent=1, module="a.é", occurrences=[[0, 1, 5]],
                                        begin_rest_ps=7, critical=True)]
    text = json.dumps({"version": "1.0.0", "varve": {"notes": [["steps", "1"]]}, "nodes": nodes,
                       "edges": [{"edgeFrom": 1, "edgeTo": 2, "kind": "flow"}]})
    for end in range(0, len(text), 7):
        assert dag(None, "--by", "module,op", text=text[:end]).returncode in (0, 1, 2, 3)


def test_many_keys_of_graphml_are_found_at_once(dag):
    count = 200000
    text = "".join(f'<key id="d{i}" for="node" attr.name="name"/>' for i in range(count))
    text += "<graph>" + "".join(f'<node id="{i}"><data key="d{count - 1 - i}">x</data></node>'
                                for i in range(count))
    done = dag(None, "--table", "graph", "--csv", name="x.graphml",
               text=f"<graphml>{text}</graph></graphml>")
    assert f"nodes,{count}," in done.stdout


def test_attributes_of_all_edges_between_two_subgraphs_have_a_limit(dag):
    ends = ["{" + " ".join(f"{side}{i}" for i in range(1000)) + "}" for side in "ab"]
    text = f"digraph {{ {ends[0]} -> {ends[1]} [" + "name=x," * 5000 + "] }"
    done = dag(None, name="x.dot", text=text)
    assert done.returncode == 3 and "attributes of edges between subgraphs" in done.stderr


@pytest.mark.parametrize("inside, says", [
    ('<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>', "a document type that defines"),
    ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>', "a document type that defines")])
def test_entities_are_not_expanded(dag, inside, says):
    done = dag(None, name="x.graphml",
               text=f'{inside}<graphml><graph><node id="&a;"/></graph></graphml>')
    assert done.returncode == 3 and says in done.stderr and "root:" not in done.stdout


@pytest.mark.parametrize("form", ("json", "dot", "graphml", "html", "svg"))
@pytest.mark.parametrize("depth", (63, 64, 65, 300))
def test_deep_groups_come_back(varve, tmp_path, depth, form):
    """A leaf in so many groups, each of which has a leaf of its own."""
    nodes = [{"id": 2 * i, "name": f"g{i}", "kind": "group", **({"parent": 2 * i - 2} if i else {})}
             for i in range(depth)]
    nodes += [{"id": 2 * i + 1, "name": f"n{i}", "kind": "operator", "parent": 2 * i,
               "ts": 1000 * i, "duration": 1000} for i in range(depth)]
    start = tmp_path / "start.json"
    start.write_text(json.dumps({"version": "1.0.0", "varve": [], "edges": [], "nodes": nodes}))
    written = tmp_path / f"deep.{form}"
    subprocess.run([varve, "dag", "-o", written, start], check=True, capture_output=True)
    tables = [subprocess.run([varve, "dag", "--csv", "--table", "graph_nodes", path], check=True,
                             capture_output=True).stdout for path in (start, written)]
    assert tables[0] == tables[1] and tables[0].count(b"\n") > depth

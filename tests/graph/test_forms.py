# SPDX-License-Identifier: Apache-2.0
"""The forms of a graph: what is written is what other programs expect, and reads again as the same
graph."""
import html
import json
import struct
import subprocess
import zlib

import pytest


@pytest.fixture(name="form")
def write_form(build):
    tool = build / "tests" / "tools" / "graph_form"
    if not tool.exists():
        pytest.skip("needs graph_form: make tests")

    def write(name, *arguments):
        done = subprocess.run([str(tool), name, *map(str, arguments)], capture_output=True,
                              timeout=120, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout
    return write


def test_the_published_graph_byte_for_byte(form, traces):
    """mlirgraph/profiler_ops.json is what the program wrote that the format comes from."""
    published = (traces / "mlirgraph" / "profiler_ops.json").read_bytes()
    for name in ("profiler_ops.pb", "profiler_ops.json"):
        assert form("mlirgraph", "--compat", "mlirgraph", traces / "mlirgraph" / name) == published


HOSTILE = ['a "quoted" name', "line\nbreak\tand tab", "<script>alert('&')</script>", "&amp; &lt;",
           "Ünïcödé 模型 🚀", "back\\slash \\n \\", "]]>", "", "->{};,=[]", "\\N", "</metadata>",
           "nul\x01\x1f\x7f", "//comment /* */ #", "%s%n"]


def hostile_graph():
    nodes = [{"name": "group", "ts": 0, "duration": 0, "id": 1, "adj": [], "kind": "group",
              "count": 0}]
    for row, name in enumerate(HOSTILE, 2):
        nodes.append({"name": name, "ts": 10 ** 19 + 7, "duration": 1500 * row, "id": row ** 12,
                      "adj": [], "kind": "kernel", "parent": 1 if row % 2 else 2 ** 12, "count": 3,
                      "begin_ns": 10 ** 16, "total_ns": 1500 * row // 1000, "flop": 2 ** 64 - 1,
                      "min_ns": -5, "where": name, "module": name, "inputs": name, "level": row,
                      "begin_rest_ps": 7, "total_rest_ps": 500 * row % 1000, "critical": True,
                      "occurrences": [[row, 1, 2], [-1, 2, 3]]})
    del nodes[1]["parent"]
    edges = [{"edgeFrom": nodes[row]["id"], "edgeTo": nodes[row + 1]["id"], "name": name,
              "kind": "flow", "count": 2 ** 63 + row, "bytes": 5, "critical": True}
             for row, name in enumerate(HOSTILE) if name]
    edges.append(edges[0])
    edges.append({"edgeFrom": 1, "edgeTo": 1, "kind": "sync", "longest_ns": -9})
    return {"version": "1.0.0", "varve": {"notes": [[name or "key", name] for name in HOSTILE]},
            "nodes": nodes, "edges": edges}


def said(rows):
    """Without `adj`, which the edges say again, and what is blank."""
    return [{key: value for key, value in row.items()
             if key != "adj" and (value != 0 or key in ("level", "count")) and value != ""}
            for row in rows]


def same(one, other):
    assert one["varve"] == other["varve"]
    for a, b in zip(said(one["nodes"]), said(other["nodes"]), strict=True):
        assert a == b
    assert said(one["edges"]) == said(other["edges"])


def without_controls(graph):
    """XML cannot hold them; the notes are JSON in XML."""
    def repaired(rows):
        text = json.dumps(rows)
        return json.loads(text.replace("\\u0001", "\ufffd").replace("\\u001f", "\ufffd"))
    return graph | {"nodes": repaired(graph["nodes"]), "edges": repaired(graph["edges"])}


@pytest.fixture(name="hostile")
def write_hostile(tmp_path):
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(hostile_graph()))
    return path


def test_the_json_is_exact(form, hostile):
    same(json.loads(form("json", hostile)), hostile_graph())


@pytest.mark.parametrize("name", ["json", "node-link", "graphml", "dot", "model-explorer"])
def test_a_hostile_graph_comes_through(form, hostile, tmp_path, name):
    wanted = form("json", hostile)
    path = tmp_path / "again"
    path.write_bytes(form(name, hostile))
    found = form("json", path)
    if name == "graphml":
        same(json.loads(found), without_controls(json.loads(wanted)))
    elif name == "model-explorer": # has edges in order of where they end
        found, wanted = json.loads(found), json.loads(wanted)
        for graph in (found, wanted):
            places = {node["id"]: place for place, node in enumerate(graph["nodes"])}
            graph["edges"].sort(key=lambda edge: places[edge["edgeTo"]])
        same(found, wanted)
    else:
        assert found == wanted


def png(text, packed):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    data = zlib.compress(text) if packed else text
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
            chunk(b"tEXt", b"Title\0x") +
            chunk(b"iTXt", b"varve-graph\0" + bytes([packed, 0]) + b"\0\0" + data) +
            chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


PICTURES = {
    "svg": lambda text: (b'<?xml version="1.0"?>\n<!-- <metadata> -->\n<svg><metadata>' +
                         html.escape(text.decode()).encode() + b"</metadata><g/></svg>"),
    "cdata": lambda text: (b"<svg xmlns='http://www.w3.org/2000/svg'><metadata><![CDATA[" +
                           text.replace(b"]]>", b"]]\\u003e") + b"]]></metadata></svg>"),
    "html": lambda text: (b'<!DOCTYPE html>\n<html><script type="application/json" '
                          b'id="varve-graph">' + text.replace(b"<", b"\\u003c") +
                          b"</script></html>"),
    "png": lambda text: png(text, 0),
    "packed png": lambda text: png(text, 1),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_carries_its_graph(form, hostile, tmp_path, kind):
    wanted = form("json", hostile)
    path = tmp_path / "picture"
    path.write_bytes(PICTURES[kind](wanted))
    assert form("json", path) == wanted


def test_a_picture_of_others_is_refused(build, tmp_path):
    tool = build / "tests" / "tools" / "graph_form"
    for data, what in [(png(b"{}", 0).replace(b"varve-", b"other-"), "a PNG picture"),
                       (b"<svg><metadata>by hand</metadata></svg>", "an SVG picture"),
                       (b"<html><body></body></html>", "a page")]:
        (tmp_path / "picture").write_bytes(data)
        done = subprocess.run([tool, "json", tmp_path / "picture"], capture_output=True,
                              check=False, text=True)
        assert done.returncode == 3
        assert f"{what} without the data of a graph" in done.stderr


def test_several_files_are_one_graph(form, tmp_path, traces):
    path = traces / "mlirgraph" / "profiler_ops.json"
    (tmp_path / "b.json").write_bytes(path.read_bytes())
    both = json.loads(form("json", path, tmp_path / "b.json"))
    assert (len(both["nodes"]), len(both["edges"])) == (78, 70)
    assert len({node["id"] for node in both["nodes"]}) == 78
    half = [(edge["edgeFrom"], edge["edgeTo"]) for edge in both["edges"][:35]]
    moved = both["nodes"][39]["id"] - both["nodes"][0]["id"]
    assert [(edge["edgeFrom"] - moved, edge["edgeTo"] - moved)
            for edge in both["edges"][35:]] == half


SMALL = {"version": "1.0.0", "varve": {"notes": [["a", "b"]]},
         "nodes": [{"name": "mm", "ts": 10, "duration": 1500, "id": 1, "adj": [2]},
                   {"name": "add", "ts": 20, "duration": 99, "id": 2, "adj": []}],
         "edges": [{"edgeFrom": 1, "edgeTo": 2, "kind": "flow"}]}


@pytest.mark.parametrize("name", ["json", "node-link", "graphml", "dot", "model-explorer",
                                  *PICTURES])
def test_a_form_cut_anywhere(build, form, tmp_path, name):
    """An error that names the file, or a graph that has no more than the whole has."""
    tool = build / "tests" / "tools" / "graph_form"
    (tmp_path / "small").write_text(json.dumps(SMALL))
    small = form("json", tmp_path / "small")
    data = PICTURES[name](small) if name in PICTURES else form(name, tmp_path / "small")
    path = tmp_path / "cut"
    read = 0
    for size in range(len(data)):
        path.write_bytes(data[:size])
        done = subprocess.run([tool, "json", path], capture_output=True, timeout=120, check=False)
        assert done.returncode in (0, 3), (size, done.returncode, done.stderr)
        if done.returncode == 3:
            assert str(path).encode() in done.stderr, (size, done.stderr)
            continue
        read += 1
        graph = json.loads(done.stdout)
        assert len(graph["nodes"]) <= 2 and len(graph["edges"]) <= 1, size
    assert read < len(data)

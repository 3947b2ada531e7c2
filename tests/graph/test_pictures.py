# SPDX-License-Identifier: Apache-2.0
"""Pictures of a graph, SVG and PNG: they are what they say, carry the graph, and no name of a trace
becomes markup."""
import ctypes.util
import json
import os
import re
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
import zlib

import pytest
from test_forms import HOSTILE, hostile_graph

SVG = "{http://www.w3.org/2000/svg}"
needs_librsvg = pytest.mark.skipif(ctypes.util.find_library("rsvg-2") is None,
                                   reason="needs librsvg (librsvg2-2)")


@pytest.fixture(name="dag")
def run_dag(build):
    def run(*arguments, code=0, **environment):
        done = subprocess.run([build / "varve", "dag", "--no-cache", *arguments],
                              capture_output=True, timeout=120, check=False,
                              env=os.environ | environment)
        assert done.returncode == code, done.stderr.decode()
        return done.stdout if code == 0 else done.stderr.decode()
    return run


@pytest.fixture(name="hostile")
def write_hostile(tmp_path):
    graph = hostile_graph()
    for row in graph["nodes"] + graph["edges"]:  # varve dag refuses numbers that it cannot add
        row |= {key: 5 for key in ("min_ns", "flop", "longest_ns") if key in row}
        row["count"] = row.get("count", 1) % 1000
    for name in ("\u202eevil\u200b \ufffe\uffff", "W" * 60 + "模型" * 30):
        graph["nodes"].append(graph["nodes"][1] | {"name": name, "id": len(name) + 1000})
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(graph))
    return path


def boxes(root, selector):
    """(left, top, right, bottom) of each rectangle of the groups with this class."""
    found = []
    for group in root.iter(SVG + "g"):
        if selector in group.get("class", "").split() and group.find(SVG + "title") is not None:
            x, y, width, height = (int(group.find(SVG + "rect").get(key))
                                   for key in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def holds(a, b):
    return a[0] <= b[0] and a[1] <= b[1] and a[2] >= b[2] and a[3] >= b[3]


TRACES = [("mlirgraph/profiler_ops.pb", ()),
          ("kineto/resnet50_workers0.json.gz", ("--by", "phase,name", "--top", "25")),
          ("tracelens/sglang_decode.json.gz", ("--by", "block,name", "--top", "30"))]


@pytest.mark.parametrize("path", ["/usr/bin:/bin", ""], ids=["Graphviz", "own layout"])
@pytest.mark.parametrize("trace,arguments", TRACES)
def test_no_box_lies_on_another(dag, traces, trace, arguments, path):
    made = dag(*arguments, "--form", "svg", "-o", "-", traces / trace, PATH=path)
    root = ElementTree.fromstring(made)
    nodes, groups = boxes(root, "n"), boxes(root, "group")
    graph = json.loads(root.find(SVG + "metadata").text)
    assert len(nodes) + len(groups) == len(graph["nodes"])
    assert len(root.findall(f".//{SVG}g[@class='e']/{SVG}path")) == len(graph["edges"])
    for i, node in enumerate(nodes):
        assert not any(overlap(node, other) for other in nodes[:i])
        assert all(holds(group, node) or not overlap(group, node) for group in groups)
        assert holds((0, 0, int(root.get("width")), int(root.get("height"))), node)
    assert dag(*arguments, "--form", "svg", "-o", "-", traces / trace, PATH=path) == made


@pytest.mark.parametrize("form", ["svg", pytest.param("png", marks=needs_librsvg)])
def test_a_picture_is_read_as_its_graph(dag, hostile, traces, tmp_path, form):
    for source, arguments in [(hostile, ())] + [(traces / trace, arguments)
                                                for trace, arguments in TRACES]:
        picture = tmp_path / f"picture.{form}"
        dag(*arguments, source, "-o", picture)
        assert (dag(picture, "--form", "json", "-o", "-") ==
                dag(*arguments, source, "--form", "json", "-o", "-"))


def test_no_name_becomes_markup(dag, hostile):
    made = dag(hostile, "--form", "svg", "-o", "-")
    root = ElementTree.fromstring(made)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg", "title", "metadata", "style", "defs", "marker", "path", "rect", "g", "text"}
    assert not re.search(rb"<script|href|\bon\w+=|url\((?!#)|@import", made)
    titles = [element.text for element in root.iter(SVG + "title")]
    for name in HOSTILE:
        shown = re.sub("[\x01\x1f]", "\ufffd", name) or "(no name)"
        assert any(title.startswith(shown + "\n") for title in titles), name
    shown = "".join(element.text or "" for element in root.iter(SVG + "text"))
    assert not re.search("[\u202e\u200b\x7f]", shown) and "\ufffdevil\ufffd" in shown


def test_a_long_name_loses_its_middle(dag, hostile):
    root = ElementTree.fromstring(dag(hostile, "--form", "svg", "-o", "-"))
    (label,) = [element.text for element in root.iter(SVG + "text")
                if (element.text or "").startswith("WWW")]
    assert re.fullmatch("W{6,12}…(模型|型)+", label)


@pytest.mark.parametrize("theme,grounds", [("light", ["ffffff"]), ("dark", ["15181d"]),
                                           ("auto", ["ffffff", "15181d"])])
def test_the_theme(dag, hostile, theme, grounds):
    made = dag(hostile, "--form", "svg", "--theme", theme, "-o", "-").decode()
    assert re.findall(r"\.ground\{fill:#(\w+)", made) == grounds
    assert ("prefers-color-scheme:dark" in made) == (theme == "auto")


def test_the_legend_has_the_scale_and_the_notes(dag, traces):
    root = ElementTree.fromstring(dag(traces / TRACES[0][0], "--form", "svg", "-o", "-"))
    texts = [element.text for element in root.find(f"{SVG}g[@id='legend']").iter(SVG + "text")]
    assert "total time, logarithmic: 2.00 µs to 19.7 ms" in texts
    assert "nesting — thin: 24 edges" in texts
    assert "not known: no tensor has an identity in this trace" in texts


def test_an_empty_graph_has_a_picture(dag, tmp_path):
    (tmp_path / "none.json").write_text('{"version":"1.0.0","varve":{},"nodes":[],"edges":[]}')
    root = ElementTree.fromstring(dag(tmp_path / "none.json", "--form", "svg", "-o", "-"))
    assert int(root.get("height")) > 0 and boxes(root, "n") == []


@needs_librsvg
def test_the_png_has_its_pixels(dag, traces, tmp_path):
    trace = traces / TRACES[0][0]
    root = ElementTree.fromstring(dag(trace, "--form", "svg", "-o", "-"))
    data = dag(trace, "--form", "png", "-o", "-")
    chunks, at = [], 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4:at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length) == (zlib.crc32(body),)
        chunks.append((body[:4], body[4:]))
        at += length + 12
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and chunks[1][0] == b"iTXt"
    assert chunks[-1][0] == b"IEND"
    assert struct.unpack_from(">II", chunks[0][1]) == (2 * int(root.get("width")),
                                                       2 * int(root.get("height")))
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    assert len(set(pixels)) > 50


@needs_librsvg
def test_a_png_that_is_too_large_is_refused(dag, tmp_path):
    nodes = [{"name": str(row), "ts": row, "duration": 1, "id": row + 1, "adj": []}
             for row in range(40000)]
    (tmp_path / "many.json").write_text(json.dumps({"version": "1.0.0", "nodes": nodes,
                                                    "edges": []}))
    said = dag(tmp_path / "many.json", "-o", tmp_path / "many.png", code=3)
    assert "too large: write .svg or .html, or show fewer nodes (--top 100)" in said
    assert not (tmp_path / "many.png").exists()


def test_without_librsvg_a_png_is_refused_and_the_rest_is_there(dag, traces, tmp_path):
    (tmp_path / "librsvg-2.so.2").write_bytes(b"no library")
    trace, hidden = traces / TRACES[0][0], {"LD_LIBRARY_PATH": str(tmp_path)}
    said = dag(trace, "-o", tmp_path / "graph.png", code=5, **hidden)
    assert "librsvg-2.so.2 is missing: install it (Debian: librsvg2-2), or write .svg" in said
    assert not (tmp_path / "graph.png").exists()
    assert (dag(trace, "--form", "svg", "-o", "-", **hidden) ==
            dag(trace, "--form", "svg", "-o", "-"))

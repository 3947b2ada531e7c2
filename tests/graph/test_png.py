# SPDX-License-Identifier: Apache-2.0
"""The pixels of a graph's PNG are those of its SVG; and what is said where none can be drawn.
tests/graph/test_pictures.py has what a PNG shares with an SVG."""
import array
import collections
import ctypes
import json
import os
import pty
import re
import shutil
import struct
import subprocess

import pytest

def dag(build, *arguments, code=0, **environment):
    done = subprocess.run([build / "varve", "dag", "--no-cache", *arguments], timeout=120,
                          capture_output=True, env={**os.environ, **environment}, check=False)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout if code == 0 else done.stderr.decode()


def graph_of(path):
    """A file with a graph: a chain of nodes."""
    count = 3
    nodes = [{"name": f"operator {row}", "ts": 1000 * row, "duration": 1000 * (row + 1), "id": row,
              "adj": [row + 1] if row + 1 < count else []} for row in range(count)]
    edges = [{"edgeFrom": row, "edgeTo": row + 1, "kind": "flow"} for row in range(count - 1)]
    path.write_text(json.dumps({"version": "1.0.0", "nodes": nodes, "edges": edges}))
    return path


@pytest.fixture(name="draw", scope="module")
def draw_png(build):
    try:
        ctypes.CDLL("librsvg-2.so.2")
    except OSError:
        pytest.skip("needs librsvg: apt-get install librsvg2-2")
    return lambda *arguments: dag(build, "--form", "png", "-o", "-", *arguments)


def pixels(path):
    """By libpng, which cairo reads with: a list of 0xAARRGGBB."""
    cairo = ctypes.CDLL("libcairo.so.2")
    cairo.cairo_image_surface_create_from_png.restype = ctypes.c_void_p
    cairo.cairo_image_surface_get_data.restype = ctypes.c_void_p
    surface = ctypes.c_void_p(cairo.cairo_image_surface_create_from_png(os.fsencode(path)))
    assert cairo.cairo_surface_status(surface) == 0
    length = (cairo.cairo_image_surface_get_stride(surface) *
              cairo.cairo_image_surface_get_height(surface))
    data = array.array("I", ctypes.string_at(cairo.cairo_image_surface_get_data(surface), length))
    cairo.cairo_surface_destroy(surface)
    return data


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_has_the_pixels_of_the_svg(draw, build, tmp_path, theme):
    """Twice as large. Of the ground there is most, and each node has its colour."""
    graph = graph_of(tmp_path / "graph.json")
    svg = dag(build, "--theme", theme, "--form", "svg", "-o", "-", graph).decode()
    head = re.search(r'<svg [^>]*width="(\d+)" height="(\d+)"', svg)
    png = draw("--theme", theme, graph)
    assert struct.unpack_from(">II", png, 16) == (2 * int(head[1]), 2 * int(head[2]))
    (tmp_path / "graph.png").write_bytes(png)
    seen = collections.Counter(pixel & 0xffffff for pixel in pixels(tmp_path / "graph.png"))

    def colour(style):
        return int(re.search(rf"\.{style}(?: rect)?\{{fill:#(\w{{6}})", svg)[1], 16)
    ground, count = seen.most_common(1)[0]
    assert ground == colour("ground") and 0.5 < count / seen.total() < 0.99
    classes = re.findall(r'<g [^>]*class="n (c\d+)[^>]*><title>', svg)
    assert len(classes) == 3
    for style in classes:
        assert seen[colour(style)] > 4 * 100 * 20


def test_without_librsvg_it_says_what_to_install(build, tmp_path):
    """A file that is no library, and a library that is another one, stand before the real one."""
    graph = graph_of(tmp_path / "graph.json")
    other = tmp_path / "librsvg-2.so.2"
    for missing in ("librsvg-2.so.2", "rsvg_handle"):
        if missing == "rsvg_handle":
            shutil.copy(build / "libvarve.so", other)
        else:
            other.write_bytes(b"")
        said = dag(build, "-o", tmp_path / "graph.png", graph, code=5,
                   LD_LIBRARY_PATH=str(tmp_path))
        assert missing in said and "librsvg2-2" in said and ".svg or .html" in said
        assert said.count("\n") == 1 and not (tmp_path / "graph.png").exists()
        rows = subprocess.run([build / "varve", "doctor", "--csv", "--table", "doctor"], text=True,
                              env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}, check=True,
                              capture_output=True, cwd=tmp_path).stdout
        assert "dag -o .png,no," in rows and "librsvg2-2" in rows
    for form in ("svg", "html"):
        assert dag(build, "--form", form, "-o", "-", graph, LD_LIBRARY_PATH=str(tmp_path))


def test_a_terminal_gets_no_pixels(build, tmp_path):
    graph = graph_of(tmp_path / "graph.json")
    ours, terminal = pty.openpty()
    done = subprocess.run([build / "varve", "dag", "--form", "png", "-o", "-", graph], timeout=60,
                          stdout=terminal, stderr=subprocess.PIPE, text=True, check=False)
    os.close(terminal)
    os.close(ours)
    assert done.returncode == 2
    assert done.stderr == ("varve: a terminal shows no png: name a file, as in -o graph.png\n")

# SPDX-License-Identifier: Apache-2.0
"""src/LAYERS: which folder of src/ may include which. No other edge, no circle, no unknown folder."""
import re

import sources

LINE = re.compile(r"^(\w+):\s*([\w ]*)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<](\w+)/[^">]+[">]', re.MULTILINE)
PUBLIC = "varve"  # include/varve


def read_layers(text):
    """{folder: set of folders it may include}"""
    rows = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(LINE.match(row) for row in rows), rows
    return {row.partition(":")[0]: set(row.partition(":")[2].split()) for row in rows}


def circles(layers):
    """Folders that cannot be put in an order."""
    left = dict(layers)
    while free := [folder for folder, uses in left.items() if not uses & left.keys()]:
        for folder in free:
            del left[folder]
    return sorted(left)


def forbidden(layers, folder, text):
    """The folders of src/ that a file in `folder` includes and may not."""
    return sorted({used for used in INCLUDE.findall(text)
                   if used in layers and used != folder and used not in layers[folder]})


def layers_here():
    return read_layers((sources.ROOT / "src" / "LAYERS").read_text())


def test_the_edges_form_no_circle():
    assert circles(layers_here()) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}) == ["a", "b", "c", "d"]


def test_every_folder_is_named():
    layers = layers_here()
    folders = {path.relative_to(sources.ROOT).parts[1] for path in sources.tracked()
               if path.is_relative_to(sources.ROOT / "src") and len(path.relative_to(sources.ROOT).parts) > 2}
    assert folders - layers.keys() == set()
    assert {used for uses in layers.values() for used in uses} - layers.keys() == set()


def test_only_allowed_edges_are_included():
    layers = layers_here()
    found, edges = [], 0
    for path in sources.code(".c", ".h"):
        relative = path.relative_to(sources.ROOT)
        if relative.parts[0] != "src":
            continue
        text = sources.text_of(path)
        edges += len(INCLUDE.findall(text))
        found += [f"{relative} includes {used}/" for used in forbidden(layers, relative.parts[1], text)]
    assert not found, "\n".join(found)
    assert edges > 50


def test_a_forbidden_edge_is_told():
    layers = {"base": set(), "model": {"base"}, "cli": {"model", "base"}}
    text = '#include <sys/stat.h>\n#include "base/error.h"\n  # include "cli/a.h"\n#include "varve/error.h"\n'
    assert forbidden(layers, "model", text) == ["cli"]
    assert forbidden(layers, "cli", text) == []
    assert forbidden(layers, "base", '#include "model/table.h"\n') == ["model"]
    assert PUBLIC not in layers

# SPDX-License-Identifier: Apache-2.0
"""doc/pipeline.md: its commands run as they stand there, and print what stands under them. Numbers
that depend on the machine may differ; words may not."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from environments import python_of

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "doc" / "pipeline.md"
NUMBER = re.compile(r"[<\d][\d.,]*%?$")
UNITS = {"ns", "µs", "ms", "s", "B", "kB", "MB"}
ENVIRONMENT = {"TensorFlow": "tensorflow", "PyTorch": "mlir"}


def commands_of(section):
    """(command, lines that it prints), in the order of the page."""
    page = PAGE.read_text()
    text = page[page.index(f"\n## {section}\n"):]
    text = text[:text.find("\n## ", 1)]
    for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for part in block.removeprefix("$ ").split("\n$ "):
            command, *lines = part.rstrip("\n").split("\n")
            yield command, lines


def pattern_of(line):
    """The line with any numbers of the same kind, and any blanks."""
    words = []
    for word in line.split():
        one = (r"[<\d][\d., \u202f\u2009%]*" if NUMBER.match(word) else
               f"(?:{'|'.join(sorted(UNITS, key=len, reverse=True))})" if word in UNITS else
               ".*" if word == "…" else re.escape(word))
        if not (words and words[-1] == one and NUMBER.match(word)):
            words.append(one)
    return r"\s*" + r"\s+".join(words) + r"\s*$"


def is_printed(lines, text):
    """Do the lines stand in the text, in this order? Between them others stand only where the page
    has a line …"""
    rest, may_skip = text.splitlines(), True
    for line in lines:
        if line.strip() == "…":
            may_skip = True
            continue
        found = next((i for i, other in enumerate(rest) if re.match(pattern_of(line), other)), None)
        if found is None or (found > 0 and not may_skip):
            return line
        rest, may_skip = rest[found + 1:], False
    return None


@pytest.mark.parametrize("section", ENVIRONMENT)
def test_the_page(build, varve, tmp_path, section):
    python = python_of(ENVIRONMENT[section])
    if section == "TensorFlow" and shutil.which("mlir-opt-19") is None:
        pytest.skip("needs mlir-opt-19: apt-get install mlir-19-tools")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment = {**kept, "VARVE": str(ROOT), "PYTHONWARNINGS": "ignore",
                   "PATH": f"{python.parent}:{varve.parent}:{os.environ['PATH']}",
                   "VIRTUAL_ENV": str(python.parents[1])}
    assert build == ROOT / "build" or pytest.skip("the page names build/")
    count = 0
    for command, lines in commands_of(section):
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240,
                              check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"
        assert is_printed(lines, done.stdout) is None, f"{command}\n{done.stdout[-3000:]}"
        count += 1
    assert count >= 6


@pytest.mark.parametrize("lines, text, missing", [
    (["a 3.5 ms", "…", "b"], "a   1 204.7 µs\nx\nb\n", None), (["a", "b"], "a\nx\nb\n", "b"),
    (["a 3"], "a x\n", "a 3"), (["wrote f 5 kB 2 nodes"], "wrote f  1.2 MB  17 nodes", None)])
def test_lines_are_told_apart(lines, text, missing):
    assert is_printed(lines, text) == missing

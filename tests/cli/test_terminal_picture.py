# SPDX-License-Identifier: Apache-2.0
"""tools/terminal_picture: what a command printed is in the picture, letter by letter."""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "terminal_picture"
SVG = "{http://www.w3.org/2000/svg}"


def lines_of(picture):
    return ["".join(text.itertext()) for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_the_picture_has_each_line():
    printed = "\x1b[1mHEAD\x1b[0m  <a & b>\n\n\x1b[2mdim\nstill dim\x1b[0m plain\n"
    done = subprocess.run([sys.executable, TOOL, "varve report"], input=printed, text=True,
                          capture_output=True, check=True)
    assert lines_of(done.stdout) == ["$ varve report", "HEAD  <a & b>", "dim", "still dim plain"]
    styles = re.findall(r'<tspan style="([^"]*)">([^<]*)</tspan>', done.stdout)
    assert [text for style, text in styles if style == "fill:#8b93a1"] == ["dim", "still dim"]


def test_control_characters_make_no_broken_picture():
    done = subprocess.run([sys.executable, TOOL, "a"], input="b\x07\x01\x7fc\n", text=True,
                          capture_output=True, check=True)
    assert lines_of(done.stdout) == ["$ a", "b\ufffd\ufffd\ufffdc"]


def test_without_a_command_it_says_how():
    done = subprocess.run([sys.executable, TOOL], input="", text=True, capture_output=True,
                          check=False)
    assert done.returncode == 2 and "tools/terminal_picture 'varve report'" in done.stderr

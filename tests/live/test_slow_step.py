# SPDX-License-Identifier: Apache-2.0
"""doc/slow-step.md: every command of it is run, and prints what it says there, but for the
numbers."""
import pathlib
import re
import shlex

import pytest

from environments import python_of, run_in

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A number with its unit, which changes with the number, and the mark of one that is not there.
NUMBER = re.compile(
    r"(?<![\w.:])-?<?[\d][\d \u202f.]*(?:\s?(?:ns|µs|us|ms|s|B|kB|MB|GB|%))?(?![\w:])")
UNIT = re.compile(r"\b(?:ns|µs|ms|s|B|kB|MB|GB)\b")


def sections():
    """{heading: [(command, lines that it prints)]}"""
    found = {}
    for part in (ROOT / "doc" / "slow-step.md").read_text().split("\n## ")[1:]:
        title, commands = part.partition("\n")[0], []
        for line in part.splitlines():
            if line.startswith("    $ "):
                commands.append((line[6:], []))
            elif line.startswith("    ") and commands:
                commands[-1][1].append(line)
            elif line.strip():
                pass
        if commands:
            found[title] = commands
    return found


def shape(line):
    """The line without its numbers and units, and with one blank where there were more."""
    return re.sub(r"\s+", " ", UNIT.sub("", NUMBER.sub("", line))).strip()


def arguments_of(command, varve):
    words = shlex.split(command)
    assert words[0] == "varve"
    words[0] = varve
    for at, word in enumerate(words):
        if word == "python3":
            words[at] = python_of("torch")
        elif str(word).startswith("examples/"):
            words[at] = ROOT / word
    return words


@pytest.mark.parametrize("title", sections())
def test_the_commands_print_what_the_tutorial_says(title, varve, tmp_path):
    for command, wanted in sections()[title]:
        shown = [shape(line) for line in run_in(tmp_path,
                                                *arguments_of(command, varve)).stdout.splitlines()]
        at = 0
        for line in filter(None, map(shape, wanted)):
            rest = [number for number in range(at, len(shown)) if line in shown[number]]
            assert rest, (command, line, shown)
            at = rest[0]


def test_there_are_three_programs():
    assert len(sections()) == 3 and all(len(commands) >= 4 for commands in sections().values())


def test_numbers_and_units_do_not_matter():
    assert shape("      Step 10 took 1.39 s, the median 274 ms.") == shape(
        "Step 7 took 1 390 ms, the median 27.4 s.")
    assert shape("    at 20.2          18.0") != shape("    at the end")

# SPDX-License-Identifier: Apache-2.0
"""Lines are short enough to be read side by side: 100 columns of code, 120 of prose.

Not counted are lines that nobody can break: with a word of 70 letters and more (a mangled name), or
a mark for another linter; rows of Markdown's tables, what a program printed, and texts between
three quotation marks that are data.
"""
import io
import re
import tokenize

import pytest
import sources

CODE_COLUMNS, PROSE_COLUMNS = 100, 120
CODE_SUFFIXES = {".c", ".h", ".cc", ".py", ".cmake", ".in", ".sh"}
CODE_NAMES = {"CMakeLists.txt", "Makefile", "run", "setup", "mutants", "fuzz_campaign"}
UNBREAKABLE = re.compile(r"\S{70,}|# noqa: ")
FENCE = re.compile(r"\s*(?:```|~~~)")
LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]) ")


def data_lines(text):
    """The lines of a Python text that lie in literals of several lines, docstrings apart."""
    lines, before = set(), tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_statement = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type == tokenize.STRING and token.start[0] < token.end[0] and not is_statement:
            lines.update(range(token.start[0], token.end[0] + 1))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type
    return lines


def long_code(text, is_python):
    """Numbers of the lines that are too long."""
    found = [number for number, line in enumerate(text.split("\n"), 1)
             if len(line) > CODE_COLUMNS and not UNBREAKABLE.search(line)]
    return sorted(set(found) - data_lines(text)) if found and is_python else found


def long_prose(text):
    found, is_fenced, was_blank, in_list = [], False, True, False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            is_fenced = not is_fenced
        in_list = bool(LIST_ITEM.match(line)) or in_list and (not line or line.startswith(" "))
        is_printed = is_fenced or line.startswith("    ") and not in_list
        if len(line) > PROSE_COLUMNS and not is_printed and not line.lstrip().startswith("|"):
            if not UNBREAKABLE.search(line):
                found.append(number)
    return found


def test_no_line_is_too_long():
    found = []
    for path in sources.tracked():
        name, text = str(path.relative_to(sources.ROOT)), sources.text_of(path)
        if text is None or "/corpus/" in name or "/golden/" in name:
            continue
        is_python = path.suffix == ".py" or text.startswith("#!/usr/bin/env python3")
        if path.suffix == ".md":
            numbers = long_prose(text)
        elif path.suffix in CODE_SUFFIXES or path.name in CODE_NAMES or is_python:
            numbers = long_code(text, is_python)
        else:
            continue
        found += [f"{name}:{number}" for number in numbers]
    assert not found, f"{len(found)} lines\n" + "\n".join(found)


@pytest.mark.parametrize("text, is_python, expected", [
    ("x" * 60 + " " + "y" * 40, False, [1]), ("x" * 60 + " " + "y" * 39, False, []),
    ("x" * 101, False, []), ('a = """\n' + "x " * 60 + '"""\n', True, []),
    ('"""\n' + "x " * 60 + '"""\n', True, [2])])
def test_a_long_line_of_code_is_told(text, is_python, expected):
    assert long_code(text, is_python) == expected


def test_a_long_line_of_prose_is_told():
    long = "word " * 30
    text = f"{long}\n| {long}|\n\n    {long}\n- a\n    {long}\n```\n{long}\n```\n"
    assert long_prose(text) == [1, 6]

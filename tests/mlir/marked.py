# SPDX-License-Identifier: Apache-2.0
"""Modules whose operations have a name and a measurement each, and what of them is left later."""
import json
import pathlib
import re

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
PRINT = ("--mlir-print-debuginfo", "--mlir-print-op-generic")


def named(debian, program):
    """The program in generic form, with loc("opLINE_COLUMN"(...)) on each operation; the names of
    all but the module and its functions."""
    source = (PROGRAMS / f"{program}.mlir").read_text()
    inside = [number for number, line in enumerate(source.splitlines(), 1)
              if line.startswith("  ")]
    names = []

    def name(match):
        name = f"op{match[2]}_{match[3]}"
        if int(match[2]) in inside:
            names.append(name)
        return f'{match[1]}loc("{name}"("{program}":{match[2]}:{match[3]}))'

    text = debian("mlir-opt-19", *PRINT, given=source).decode()
    text = re.sub(r'^(#loc\d* = )loc\("[^"]*":(\d+):(\d+)\)', name, text, flags=re.MULTILINE)
    return text, names


def trace_of(names, file):
    """A trace with an event for each name: the nth begins after n us, so `first` tells them."""
    file.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "pid": 1, "tid": 1, "ts": number, "dur": 0.5, "name": f"{name}:X"}
        for number, name in enumerate(names)]}))
    return file


IN_ATTRIBUTE = r"varve\.profile = \{[^{}]*first = (\d+) "
IN_LOCATION = r'varve\.profile = "[^"]*first=(\d+),'


def marks(text):
    """({begins in attributes}, {begins in locations of operations}) of a printed module."""
    aliases = dict(re.findall(r"^(#loc\d*) = loc\((.*)\)$", text, flags=re.MULTILINE))

    def in_location(location, seen=()):
        found = set(re.findall(r"fused<\{" + IN_LOCATION, location))
        for alias in re.findall(r"#loc\d*", location):
            if alias in aliases and alias not in seen:
                found |= in_location(aliases[alias], (*seen, alias))
        return found

    in_attributes, in_locations = set(), set()
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        in_attributes |= set(re.findall(r"(?<!fused<)(?:\{|, )" + IN_ATTRIBUTE, line))
        location = re.search(r"loc\((.*)\)\s*$", line)
        if location:
            in_locations |= in_location(location[1])
    return in_attributes, in_locations

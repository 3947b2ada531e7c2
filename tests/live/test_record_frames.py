# SPDX-License-Identifier: Apache-2.0
"""Calls of Python beside ranges that a call opens and another ends: record_function in __enter__
and __exit__, in a generator and left by an exception. What is in what is what the program says,
calls of functions apart."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from environments import python_of  # noqa: E402
from model_tables import dump, health  # noqa: E402

PROGRAM = """
import torch
from torch.profiler import record_function

def inner(x):
    with record_function("block"):
        y = torch.add(x, 1)
        with record_function("deep"):
            y = torch.mul(y, 2)
    return y

def generate(count):
    with record_function("generator"):
        for number in range(count):
            yield number

def fails(x):
    with record_function("failing"):
        torch.sub(x, 1)
        raise ValueError

x = torch.ones(3)
for step in range(3):
    with record_function("outer"):
        inner(x)
        for number in generate(2):
            inner(x)
        try:
            fails(x)
        except ValueError:
            torch.div(x, 2)
"""
PLACES = {
    "aten::add": [("block", "outer")] + 2 * [("block", "generator", "outer")],
    "aten::mul": [("deep", "block", "outer")] + 2 * [("deep", "block", "generator", "outer")],
    "aten::sub": [("failing", "outer")],
    "aten::div": [("outer",)],
}


@pytest.fixture(scope="module", name="recorded")
def fixture_recorded(varve, build, tmp_path_factory):
    python = python_of("torch")
    trace = tmp_path_factory.mktemp("frames") / "frames.varve"
    subprocess.run([varve, "record", "-q", "--collect", "+python", "--python-modules",
                    "__main__,torch.autograd.profiler", "-o", trace, "--", python, "-c", PROGRAM],
                    check=True, capture_output=True, timeout=200)
    return dump(build, trace)


def around(slices, row):
    """Names of the ranges around a slice, innermost first, calls of functions left out."""
    names = []
    while (row := slices[row]["parent"]) is not None:
        if slices[row]["layer"] != "PYTHON" and slices[row]["layer"] != 0x200:
            names.append(slices[row]["name"])
    return tuple(names)


@pytest.mark.parametrize("operator", PLACES)
def test_operators_lie_where_the_program_calls_them(recorded, operator):
    slices = recorded["slices"]
    rows = [row for row, slice_ in enumerate(slices) if slice_["name"] == operator]
    assert [around(slices, row) for row in rows] == 3 * PLACES[operator]


def test_nothing_is_left_open_and_nothing_is_odd(recorded):
    assert {key: value for key, value in health(recorded).items() if value
            and key != "zero_length"} == {}
    # Python was traced
    assert sum("__enter__" in slice_["name"] for slice_ in recorded["slices"]) > 10


def test_parents_hold_their_children(recorded):
    slices = recorded["slices"]
    for slice_ in slices:
        if slice_["parent"] is not None:
            parent = slices[slice_["parent"]]
            assert parent["begin_ns"] <= slice_["begin_ns"]
            assert slice_["begin_ns"] + slice_["duration_ns"] <= parent["begin_ns"] + parent[
                "duration_ns"]

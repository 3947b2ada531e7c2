# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime: its profile as Varve reads it, against the JSON read by Python and against what was
run."""
import collections
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health  # noqa: E402
from table_reader import operators, tables as tables_of  # noqa: E402

SUFFIX = "_kernel_time"
TYPES = {"float": "f32", "int64": "i64"}


@pytest.fixture(scope="module", name="folder")
def fixture_folder(produce):
    return produce("onnxruntime", "ort_model.py")


@pytest.fixture(scope="module", name="numbers")
def fixture_numbers(folder):
    return json.loads((folder / "numbers.json").read_text())


@pytest.fixture(scope="module", name="events")
def fixture_events(folder):
    return json.loads((folder / "profile.json").read_text())


@pytest.fixture(scope="module", name="tables")
def fixture_tables(build, folder):
    return dump(build, folder / "profile.json")


def test_every_event(tables, events):
    theirs = collections.Counter((event["cat"], event["name"], event["ts"] * 1000,
                                  event["dur"] * 1000)
                                 for event in events if "ts" in event)
    ours = collections.Counter((row["category"], row["name"], row["begin_ns"], row["duration_ns"])
                               for row in tables["slices"])
    assert ours == theirs
    assert not health(tables)


def test_every_argument(tables, events):
    """Shapes of inputs have columns; all else is an argument, lists and objects as JSON text."""
    theirs = {(event["name"], event["ts"] * 1000): event["args"] for event in events}
    for row in tables["slices"]:
        expected = dict(theirs[row["name"], row["begin_ns"]])
        inputs = expected.pop("input_type_shape", [])
        words = [f"{json.dumps(shape, separators=(',', ':'))} {TYPES[kind]}"
                 for each in inputs for kind, shape in each.items()]
        assert (tables["ops"][row["op"]]["shapes"] if row["op"] is not None
                else "") == ", ".join(words)
        ours = {key: json.loads(value) if isinstance(expected[key], (list, dict)) else value
                for key, value in row["args"]}
        assert ours == expected


def test_nodes_ran_once_a_run(varve, folder, tables, numbers):
    runs = len(numbers["batches"])
    calls = {row["name"].removesuffix(SUFFIX): row["calls"]
             for row in operators(varve, folder / "profile.json")
             if row["name"].endswith(SUFFIX)}
    assert calls == {name: runs for name, _ in numbers["nodes"]}
    kinds = {row["name"].removesuffix(SUFFIX): dict(row["args"])["op_name"]
             for row in tables["slices"]
             if row["name"].endswith(SUFFIX)}
    assert kinds == dict(numbers["nodes"])


def test_runs_are_steps_and_hold_their_nodes(varve, folder, tables, events, numbers):
    theirs = sorted((event["ts"], event["dur"] * 1000) for event in events
                    if event["name"] == "model_run")
    steps = tables_of(varve, "steps", folder / "profile.json")["steps"]
    assert [(row["step"], row["duration_ns"]) for row in steps] == [
        (number, duration) for number, (_, duration) in enumerate(theirs)]
    batches = {
        row["step"]: tables["dims"][tables["tensors"][tables["ops"][row["op"]]["first_tensor"]]
                                    ["first_dim"]]
        for row in tables["slices"] if row["name"] == f"first{SUFFIX}"
    }
    assert [batches[number]["size"] for number in range(len(steps))] == numbers["batches"]

# SPDX-License-Identifier: Apache-2.0
"""PyTorch: what Varve reads from its trace, against what its profiler says of the same run, in
whole nanoseconds."""
import collections
import json
import pathlib
import socket
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health  # noqa: E402
from table_reader import operators, tables as tables_of  # noqa: E402
from torch_averages import HIDDEN, averages, own_averages, shapes_without_types  # noqa: E402

RUNS = ("conv_plain", "conv_steps", "transformer_all", "transformer_memory")


@pytest.fixture(scope="module", name="folder")
def fixture_folder(produce):
    return produce("torch", "torch_models.py")


@pytest.fixture(scope="module", name="numbers")
def fixture_numbers(folder):
    return {run: json.loads((folder / f"{run}.numbers.json").read_text()) for run in RUNS}


@pytest.fixture(scope="module", name="models")
def fixture_models(build, folder):
    return {run: dump(build, folder / f"{run}.json") for run in RUNS}


def flat(shapes):
    """A list of tensors counts as its tensors, one after the other, as Varve keeps it."""
    out = []
    for shape in shapes:
        out += shape if shape and isinstance(shape[0], list) else [shape]
    return out


def ops_of(tables):
    """(slice, its row in ops) of each operator and annotation."""
    return [(row, tables["ops"][row["op"]]) for row in tables["slices"] if row["op"] is not None]


@pytest.mark.parametrize("run", RUNS)
def test_every_event_has_its_name_begin_and_duration(models, numbers, run):
    theirs = collections.Counter((event["name"], event["start_ns"], event["duration_ns"])
                                 for event in numbers[run]["events"] if event["name"] != "[memory]")
    ours = collections.Counter((row["name"], row["begin_ns"], row["duration_ns"])
                               for row in models[run]["slices"] if row["category"] != "Trace")
    assert ours == theirs
    assert sum(ours.values()) > 500


@pytest.mark.parametrize("run", RUNS)
def test_every_operator_has_its_numbers_and_shapes(models, numbers, run):
    theirs = {event["correlation_id"]: event for event in numbers[run]["events"]
              if not event["is_python_function"] and event["name"] != "[memory]"}
    ours = {op["external"]: (row, op) for row, op in ops_of(models[run])}
    assert ours.keys() == theirs.keys()
    for number, (row, op) in ours.items():
        event = theirs[number]
        assert row["name"] == event["name"]
        assert op["sequence"] == event["sequence_nr"], event
        assert op["forward_tid"] == event["fwd_thread_id"], event
        assert shapes_without_types(op["shapes"]) == flat(event["structured_input_shapes"]), event
        assert [frame for frame in op["stack"].split(";") if frame] == event["stack"], event


def test_types_of_tensors(models, numbers):
    theirs = {event["correlation_id"]: event for event in numbers["conv_steps"]["events"]}
    seen = collections.Counter()
    words = {"float": 1, "long int": 10, "double": 2}
    for _, op in ops_of(models["conv_steps"]):
        event = theirs[op["external"]]
        if "TensorList" in event["dtypes"]:
            continue
        tensors = models["conv_steps"]["tensors"][op["first_tensor"] or 0:][:op["tensor_count"]]
        for tensor, word in zip(tensors, event["dtypes"], strict=True):
            assert tensor["dtype"] == words.get(word, 0), event
            seen[word] += 1
    assert seen["float"] > 500 and seen["long int"] > 5


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("grouping", ["by_name", "by_shape", "by_stack"])
def test_key_averages(build, folder, numbers, run, grouping):
    """Calls, total and self time, bytes and own bytes of each row of key_averages(), all equal."""
    ours = averages(build, folder / f"{run}.json", numbers[run])[grouping]
    theirs = own_averages(numbers[run])[grouping]
    assert dict(ours) == dict(theirs)
    assert len(ours) > 30


@pytest.mark.parametrize("run", ["conv_plain", "transformer_memory"])
def test_the_operators_of_the_report(varve, folder, models, numbers, run):
    """Self times of all names; calls and totals of those that never stand within one of their own
    name, which PyTorch counts twice."""
    assert health(models[run]).keys() <= {"zero_length"}
    ours = {row["name"]: (row["calls"], row["total_ns"], row["self_ns"])
            for row in operators(varve, folder / f"{run}.json") if row["name"] not in HIDDEN}
    slices = models[run]["slices"]
    within = {row["name"] for row in slices
              if row["parent"] is not None and slices[row["parent"]]["name"] == row["name"]}
    theirs = {key[0]: figures for key, figures in own_averages(numbers[run])["by_name"].items()}
    assert ours.keys() == theirs.keys()
    hidden_children = {slices[row["parent"]]["name"] for row in slices
                       if row["name"] in HIDDEN and row["parent"] is not None}
    for name, (calls, total_ns, self_ns) in ours.items():
        if name not in hidden_children:
            assert self_ns == theirs[name].self_ns, name
        if name not in within:
            assert (calls, total_ns) == (theirs[name].calls, theirs[name].total_ns), name
    assert len(ours.keys() - within - hidden_children) > 40


def test_the_operators_of_the_report_by_shape(varve, folder, numbers):
    ours = collections.Counter()
    for row in operators(varve, "--by", "shape", folder / "conv_steps.json"):
        ours[row["name"], json.dumps(shapes_without_types(row["shapes"]))] += row["self_ns"]
    theirs = {(key[0], key[2]): figures.self_ns
              for key, figures in own_averages(numbers["conv_steps"])["by_shape"].items()
              if key[0] != "ProfilerStep*"}
    assert {key: ours[key] for key in theirs} == theirs
    assert len(theirs) > 50


@pytest.mark.parametrize("run, allocations", [("transformer_all", 500),
                                              ("transformer_memory", 500)])
def test_memory(models, numbers, run, allocations):
    theirs = [event for event in numbers[run]["events"] if event["name"] == "[memory]"]
    ours = models[run]["memory"]
    assert collections.Counter((row["time_ns"], row["bytes"])
                               for row in ours) == collections.Counter(
        (event["start_ns"], event["nbytes"]) for event in theirs)
    assert sum(row["bytes"] > 0 for row in ours) > allocations
    in_order = sorted(ours, key=lambda row: row["time_ns"])
    steps = sum(later["allocated_bytes"] - former["allocated_bytes"] == later["bytes"]
                for former, later in zip(in_order, in_order[1:]))
    assert steps > 0.99 * len(ours)  # two events of one nanosecond may stand in either order


@pytest.mark.parametrize("run, steps", [("conv_steps", [1, 2, 3]), ("transformer_all", [1, 2])])
def test_steps(varve, folder, numbers, run, steps):
    ours = [(row["step"], row["duration_ns"])
            for row in tables_of(varve, "steps", folder / f"{run}.json")["steps"]]
    theirs = [(int(event["name"].partition("#")[2]), event["duration_ns"])
              for event in numbers[run]["events"]
              if event["name"].startswith("ProfilerStep#")]
    assert ours == theirs
    assert [number for number, _ in ours] == steps


@pytest.mark.parametrize("run", RUNS)
def test_arrows_join_a_forward_operator_with_its_backward_node(models, run):
    tables = models[run]
    backward = {}
    for flow in tables["flows"]:
        ends = [tables["slices"][flow[end]] for end in ("from_slice", "to_slice")]
        first, last = (tables["ops"][row["op"]] for row in ends)
        assert first["sequence"] == last["sequence"] >= 0
        assert first["forward_tid"] == 0 < last["forward_tid"]
        backward[flow["to_slice"]] = ends
    assert len(backward) == len(tables["flows"]) > 20
    assert {last["name"] for _, last in backward.values()} >= {"AddmmBackward0"}


def test_nothing_is_odd(models):
    """Python functions and operators overlap in part now and then: their clocks are read by
    different code."""
    for run in ("conv_plain", "conv_steps", "transformer_memory"):
        assert health(models[run]).keys() <= {"zero_length"}, run
    odd = health(models["transformer_all"])
    assert odd.keys() <= {"overlaps", "zero_length"} and odd.get("overlaps", 0) < 100


def test_what_the_trace_says_of_itself(models, varve, folder):
    facts = {fact["key"]: fact["value"] for fact in models["transformer_all"]["facts"]
             if fact["process"] is None}
    for option in ("with_stack", "record_shapes", "profile_memory", "with_flops"):
        assert facts[option] == 1
    assert models["transformer_all"]["run"][0]["host"] == socket.gethostname()
    trace = tables_of(varve, "info", folder / "transformer_all.json")["trace"][0]
    assert trace["memory_events"] == len(models["transformer_all"]["memory"])

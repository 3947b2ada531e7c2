# SPDX-License-Identifier: Apache-2.0
"""`varve record` of an unmodified PyTorch program, against what torch.profiler saw in the same run.

Both traces go through the same importer and the same tables. Where they may differ doc/truth.md
says why, and DIFFERS here has it; nothing else may.
"""
import collections
import json
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from all_tables import parse, run  # noqa: E402
from model_tables import dump, health  # noqa: E402

MODELS = ("conv", "transformer")
STEPS = [1, 2, 3]  # that torch.profiler was on for
CLOCKS_NS = 20_000  # by which the two stamps of one event differ in the median

# PyTorch's own numbers of an event, of which the recorder keeps none.
DIFFERS = {"Record function id", "Ev Idx"}


@pytest.fixture(scope="module", name="folders")
def fixture_folders(record):
    return {name: record("torch", "torch_recorded.py", name, options=("--collect", "+strides"))
            for name in MODELS}


@pytest.fixture(scope="module", name="pairs")
def fixture_pairs(build, folders):
    """name: (our tables, theirs)."""
    return {name: (dump(build, folder / "run.varve"), dump(build, folder / f"{name}.json"))
            for name, folder in folders.items()}


def ranges(tables):
    """{thread: its ranges in order of begin}; without the row that says how long the profiler
    ran."""
    out = collections.defaultdict(list)
    for row in tables["slices"]:
        if row["category"] != "Trace":
            out[tables["tracks"][row["track"]]["tid"]].append(row)
    return out


def common(pairs, name):
    """[(our row, theirs)] from the first profiled step to the end of the last."""
    ours, theirs = map(ranges, pairs[name])
    assert len(theirs) == 1
    (thread, seen), = theirs.items()
    first = next(i for i, row in enumerate(ours[thread])
                 if row["name"] == f"ProfilerStep#{STEPS[0]}")
    mine = ours[thread][first:]
    assert [row["name"] for row in mine[len(seen):]] == [f"ProfilerStep#{STEPS[-1] + 1}"]
    return list(zip(mine, seen))


def with_values(tables, row):
    """The operator of a slice, its tensors spelled out."""
    op = dict(tables["ops"][row["op"]])
    tensors = tables["tensors"][op["first_tensor"]:][:op["tensor_count"]] if op[
        "tensor_count"] else []
    op["tensors"] = [(tensor["dtype"], [dim["size"]
                                        for dim in tables["dims"][tensor["first_dim"]
                                                                  or 0:][:tensor["rank"]]])
                     for tensor in tensors]
    return op


@pytest.mark.parametrize("name, least", [("conv", 1200), ("transformer", 11000)])
def test_the_same_operators_in_the_same_order_and_nesting(pairs, name, least):
    both = common(pairs, name)
    assert len(both) > least
    for mine, theirs in both:
        assert (mine["name"], mine["depth"]) == (theirs["name"], theirs["depth"])
        assert mine["category"] == theirs["category"]
        assert mine["layer"] == theirs["layer"], mine["name"]


@pytest.mark.parametrize("name", MODELS)
def test_the_same_parents(pairs, name):
    both = common(pairs, name)
    partner = {mine["row"]: theirs["row"] for mine, theirs in both}
    for mine, theirs in both:
        assert partner.get(mine["parent"]) == theirs["parent"], mine["name"]


@pytest.mark.parametrize("name", MODELS)
def test_stamps_agree(pairs, name):
    """A thread that loses its processor between the two stamps makes one pair differ; most do
    not."""
    for edge in (lambda row: row["begin_ns"], lambda row: row["begin_ns"] + row["duration_ns"]):
        distances = sorted(abs(edge(mine) - edge(theirs)) for mine, theirs in common(pairs, name))
        assert distances[len(distances) // 2] < CLOCKS_NS


@pytest.mark.parametrize("name", MODELS)
def test_the_same_numbers_shapes_types_and_scalars(pairs, name):
    ours, theirs = pairs[name]
    seen = collections.Counter()
    for mine, other in common(pairs, name):
        ops = with_values(ours, mine), with_values(theirs, other)
        for column in ("sequence", "shapes", "tensors", "scalars", "flop", "bytes"):
            assert ops[0][column] == ops[1][column], (mine["name"], column)
        assert (ops[0]["forward_tid"] == 0) == (ops[1]["forward_tid"] == 0), mine["name"]
        assert ops[0]["forward_tid"] in (0, ours["tracks"][mine["track"]]["tid"])
        arguments = dict(mine["args"]), dict(other["args"])
        differing = {key for key in arguments[0].keys() | arguments[1].keys()
                     if arguments[0].get(key) != arguments[1].get(key)}
        if "Input Strides" not in arguments[
                0] and not ops[0]["tensor_count"] or not ops[0]["shapes"].strip("[], "):
            differing.discard("Input Strides")  # of what has no tensor
        assert differing <= DIFFERS, (mine["name"], arguments)
        seen["sequence"] += ops[0]["sequence"] >= 0
        seen["backward"] += ops[0]["forward_tid"] > 0
        seen["tensors"] += len(ops[0]["tensors"])
        seen["strides"] += "Input Strides" in arguments[0]
        seen["scalars"] += any(character.isdigit() for character in ops[0]["scalars"])
    least = {"sequence": 80, "backward": 30, "tensors": 500, "strides": 500, "scalars": 100}
    assert all(seen[what] >= count for what, count in least.items()), seen


@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_lost_or_odd(pairs, name):
    ours, theirs = pairs[name]
    assert ours["run"][0]["lost"] == 0
    assert health(ours).keys() | health(theirs).keys() <= {"zero_length"}


def test_threads_that_its_profiler_does_not_see(build, record):
    folder = record("torch", "torch_recorded.py", "conv", "beside")
    seen = []
    for trace in (folder / "run.varve", folder / "conv.json"):
        tables = dump(build, trace)
        main, = {row["track"] for row in tables["slices"] if row["name"] == "ProfilerStep#1"}
        seen.append(sum(row["name"] == "aten::zero_" and row["track"] != main
                        for row in tables["slices"]))
    assert seen == [10 * (1 + len(STEPS)), 0]


# ---- the tables ----

# Those whose rows and numbers come from no clock, save times and what is divided by one.
TABLES = ("steps", "step_phases", "phases", "roofline", "links", "call_tree", "step_split")
OF_A_CLOCK = ("ns", "time", "1", "flop/s", "bytes/s")
OF_WHAT_WAS_SLOW = ("warm_up", "place", "longer", "longer_calls", "cause")


def told(rows, units):
    """Each row as text. A Kineto trace has the thread's number in its name."""
    columns = [column for column, unit in units.items()
               if unit not in OF_A_CLOCK
               and column not in OF_WHAT_WAS_SLOW]
    words = [[row[column] for column in columns] for row in rows]
    return collections.Counter(re.sub(r"thread \d+ \((\w+)\)", r"\1", json.dumps(row))
                               for row in words)


@pytest.fixture(scope="module", name="all_of")
def fixture_all_of(build, folders):
    """all_of(NAME, OPTION…): (every table of our trace, of theirs), of the steps that both have."""
    def all_of(name, *options):
        return [parse(run(build, "--steps", f"{STEPS[0]}..{STEPS[-1]}", *options, trace).stdout)
                for trace in (folders[name] / "run.varve", folders[name] / f"{name}.json")]
    return all_of


@pytest.mark.parametrize("name", MODELS)
def test_the_same_tables(all_of, name):
    ours, theirs = all_of(name)
    for table in TABLES:
        assert len(ours[table].rows) > 0, table
        assert told(ours[table].rows, ours[table].units) == told(theirs[table].rows,
                                                                 theirs[table].units), table


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("key", ["op", "name", "shape", "phase", "layer", "thread", "module"])
def test_the_same_operators_by(all_of, name, key):
    ours, theirs = (tables["operators"] for tables in all_of(name, "--by", key, "--top", "0"))
    assert told(ours.rows, ours.units) == told(theirs.rows, theirs.units)
    assert sum(row["calls"] or 0 for row in ours.rows) > 100


def test_the_phases_of_a_step_are_found(all_of):
    ours, _ = all_of("conv")
    assert {row["phase"] for row in ours["step_phases"].rows} == {"data", "forward", "backward",
                                                                  "optimizer", "other"}
    joined = collections.Counter(row["backward_op"] for row in ours["links"].rows
                                 if row["row"] == "link")
    assert joined["ConvolutionBackward0"] == 2 * joined["AddmmBackward0"] == 2 * len(STEPS)


# ---- memory ----

def blocks(tables):
    return [(row["address"], row["bytes"]) for row in tables["memory"]]


@pytest.mark.parametrize("name", MODELS)
def test_memory_is_what_pytorch_s_profiler_saw(pairs, name):
    """It does not see that a block goes that came before it: the recorder does. Else both have the
    same blocks at the same addresses in the same order."""
    ours, theirs = (blocks(tables) for tables in pairs[name])
    begin_ns = pairs[name][1]["memory"][0]["time_ns"] - CLOCKS_NS
    first = next(i for i, row in enumerate(pairs[name][0]["memory"])
                 if row["time_ns"] >= begin_ns and ours[i] == theirs[0])
    older = collections.Counter()
    for address, size in ours[:first]:
        older[address] += size
    seen = []
    for address, size in ours[first:]:
        if size < 0 < older[address]:
            assert older[address] == -size
            older[address] = 0
        else:
            seen.append((address, size))
    assert seen[:len(theirs)] == theirs
    assert len(theirs) > 500


@pytest.mark.parametrize("name", MODELS)
def test_what_is_live_at_each_step_s_end(all_of, pairs, name):
    """By PyTorch's own count, which begins with nothing when its profiler does, and by all of
    ours."""
    ours, theirs = (tables["memory_steps"].rows for tables in all_of(name))
    own, other = pairs[name]
    counted = {row["step"]: row for row in theirs}
    assert [row["step"] for row in ours] == STEPS
    end_ns = {row["index"]: row["begin_ns"] + row["duration_ns"] for row in other["steps"]}
    begin_ns = other["memory"][0]["time_ns"] - CLOCKS_NS
    live = collections.Counter()
    for row in own["memory"]:
        if row["time_ns"] < begin_ns:
            live[row["address"]] += row["bytes"]
    for row in ours:
        for block in own["memory"]:
            if begin_ns <= block["time_ns"] < end_ns[
                    row["step"]] and block["bytes"] == -live[block["address"]]:
                del live[block["address"]]
        assert row["allocations"] == counted[row["step"]]["allocations"]
        assert row["allocated_bytes"] == counted[row["step"]]["allocated_bytes"]
        assert row["end_bytes"] == counted[row["step"]]["end_bytes"] + sum(live.values())
    totals = [max((block for block in other["memory"] if block["time_ns"] < end_ns[step]),
                  key=lambda block: block["time_ns"])["allocated_bytes"] for step in STEPS]
    assert totals == [counted[step]["end_bytes"] for step in STEPS]

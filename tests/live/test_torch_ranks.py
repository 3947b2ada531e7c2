# SPDX-License-Identifier: Apache-2.0
"""PyTorch on two ranks over gloo: both traces read as one, against what each rank's profiler
says."""
import collections
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health  # noqa: E402
from table_reader import operators  # noqa: E402
from torch_averages import averages, own_averages  # noqa: E402

# Elements, in each of the two profiled steps: the gradients are 145 in one bucket.
# DistributedDataParallel sends more than these once, when it tells the order of its buckets.
SENT = {"all_reduce": [145, 5], "broadcast": [5], "all_gather": [3], "barrier": [0]}


@pytest.fixture(scope="module", name="folder")
def fixture_folder(produce):
    return produce("torch", "torch_ranks.py")


@pytest.fixture(scope="module", name="numbers")
def fixture_numbers(folder):
    return [json.loads((folder / f"rank{rank}.numbers.json").read_text()) for rank in range(2)]


@pytest.fixture(scope="module", name="tables")
def fixture_tables(build, folder):
    return dump(build, *(folder / f"rank{rank}.json" for rank in range(2)))


def rank_of(tables, row):
    return tables["processes"][tables["tracks"][row["track"]]["process"]]["rank"]


def test_each_process_has_its_rank(tables):
    processes = {row["rank"]: row["world_size"] for row in tables["processes"]}
    assert processes == {0: 2, 1: 2}
    assert len({row["pid"] for row in tables["processes"] if row["pid"] > 0}) == 2
    assert health(tables).keys() <= {"zero_length"}


@pytest.mark.parametrize("rank", range(2))
def test_every_event_of_each_rank(tables, numbers, rank):
    theirs = collections.Counter((event["name"], event["start_ns"], event["duration_ns"])
                                 for event in numbers[rank]["events"])
    ours = collections.Counter((row["name"], row["begin_ns"], row["duration_ns"])
                               for row in tables["slices"]
                               if rank_of(tables, row) == rank and row["category"] != "Trace")
    assert ours == theirs


@pytest.mark.parametrize("rank", range(2))
@pytest.mark.parametrize("grouping", ["by_name", "by_shape"])
def test_key_averages_of_each_rank(build, folder, numbers, rank, grouping):
    ours = averages(build, folder / f"rank{rank}.json", numbers[rank])[grouping]
    assert dict(ours) == dict(own_averages(numbers[rank])[grouping])


def collectives(tables, rank):
    """(name, elements sent) of each collective of a rank, in order of time."""
    rows = [(tables["slices"][row["slice"]], row) for row in tables["collectives"]]
    rows = sorted(((own, row) for own, row in rows if rank_of(tables, own) == rank),
                  key=lambda pair: pair[0]["begin_ns"])
    return [(row["name"], row["in_elements"]) for _, row in rows]


def test_collectives_are_those_that_gloo_ran(tables, numbers):
    for rank in range(2):
        theirs = collections.Counter(event["name"].removeprefix("gloo:")
                                     for event in numbers[rank]["events"]
                                     if event["name"].startswith("gloo:"))
        ours = collections.Counter(name for name, _ in collectives(tables, rank))
        assert ours == theirs
        for name, sizes in SENT.items():
            sent = [elements for other, elements in collectives(tables, rank) if other == name]
            assert collections.Counter(sent) >= collections.Counter(sizes * 2), (name, sent)


def test_collectives_of_one_rank_match_those_of_the_other(tables):
    """Of each kind, the same number with the same sizes. Two threads run them, so only kinds have
    an order."""
    for name in SENT:
        first, second = ([row for row in collectives(tables, rank) if row[0] == name]
                         for rank in range(2))
        assert collections.Counter(first) == collections.Counter(second)
        assert len(first) >= 2


def test_the_report_covers_both(varve, folder, numbers):
    ours = {row["name"]: row["calls"]
            for row in operators(varve, folder / "rank0.json", folder / "rank1.json")}
    for name in ("aten::addmm", "DistributedDataParallel.forward", "gloo:all_reduce",
                 "c10d::barrier"):
        assert ours[name] == sum(row["count"] for rank in numbers for row in rank["by_name"]
                                 if row["key"] == name), name

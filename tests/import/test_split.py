# SPDX-License-Identifier: Apache-2.0
"""Parts of one trace are one trace again; traces of several ranks are not."""
import collections
import gzip
import json
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump  # noqa: E402

PAIRED = "sftbenBE"  # events that mean something together with another


def split(document, folder, parts, seed=1):
    """Complete events, instants and counters dealt out at random; pairs, and what belongs to no process, in the first
    part; names in every one, as in its head."""
    deal = random.Random(seed)
    lists = [[] for _ in range(parts)]
    for event in document["traceEvents"]:
        alone = event.get("ph") not in PAIRED and isinstance(event.get("pid"), int)
        for part in range(parts) if event.get("ph") == "M" else [deal.randrange(parts) if alone else 0]:
            lists[part].append(event)
    paths = []
    for number, events in enumerate(lists):
        path = folder / f"part{number}.json"
        path.write_text(json.dumps({**document, "traceEvents": events}))
        paths.append(path)
    return paths


def picture(tables):
    """All that analyses see, without row numbers."""
    process = lambda row: (row["pid"], row["name"], row["rank"], row["begin_ns"], row["end_ns"])
    owner = lambda track: tables["processes"][tables["tracks"][track]["process"]]["pid"]
    where = lambda track: (owner(track), tables["tracks"][track]["kind"], tables["tracks"][track]["tid"],
                           tables["tracks"][track]["name"])
    link = lambda row: None if row is None else (tables["slices"][row]["name"], tables["slices"][row]["begin_ns"])
    slices = collections.Counter(
        (row["name"], row["begin_ns"], row["duration_ns"], row["depth"], row["self_ns"], row["category"],
         where(row["track"]), json.dumps(row["args"])) for row in tables["slices"])
    work = collections.Counter(
        (row["correlation"], row["kind"], row["device"], row["stream"], link(row["launch"]))
        for row in tables["activities"])
    marks = collections.Counter((row["name"], row["time_ns"], where(row["track"])) for row in tables["marks"])
    facts = collections.Counter((row["key"], json.dumps(row["value"])) for row in tables["facts"])
    return (sorted(map(process, tables["processes"])), slices, work, marks, facts,
            len(tables["flows"]), len(tables["steps"]))


@pytest.mark.parametrize("name", ["hta/simple_add.json.gz", "dlrm8/rank3.json.gz", "tracelens/h100_gaunernst.json.gz",
                                  "hta/cpu_only_rank34.json.gz"])
@pytest.mark.parametrize("parts", [2, 5])
def test_parts_are_the_whole(build, traces, tmp_path, name, parts):
    with gzip.open(traces / name) as file:
        document = json.load(file)
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(document))
    expected, found = picture(dump(build, whole)), picture(dump(build, *split(document, tmp_path, parts)))
    for wanted, got in zip(expected, found):
        assert got == wanted


def test_ranks_stay_apart(build, traces):
    paths = sorted((traces / "dlrm8").glob("rank*.json.gz"))
    tables = dump(build, *paths)
    assert [row["scope"] for row in tables["inputs"]] == list(range(8))
    alone = [dump(build, path) for path in paths]
    for table in ("processes", "tracks", "slices", "activities", "flows"):
        assert len(tables[table]) == sum(len(each[table]) for each in alone)
    unlinked = lambda each: each["health"][0]["unlinked"]
    assert unlinked(tables) == sum(map(unlinked, alone))


def test_two_runs_of_one_program_stay_apart(build, traces):
    tables = dump(build, traces / "hta" / "compare_base.json.gz", traces / "hta" / "compare_test.json.gz")
    assert len({row["scope"] for row in tables["inputs"]}) == 2

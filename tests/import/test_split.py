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

WORK = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "gpu_user_annotation", "Kernel",
        "Memcpy", "Memset"}

# In which part an event stands, by its place and itself.
RULES = {
    "names first": lambda at, event: event["ph"] != "M",
    "names last": lambda at, event: event["ph"] == "M",
    "two halves": lambda at, event: at,
    "host, then device and names": lambda at, event: event["ph"] == "M" or event.get("cat") in WORK,
    "every other": lambda at, event: event["number"] % 2,
}


def write(document, folder, lists, has_head=lambda part: True):
    """One file a list, all of them with what stands around the events of the whole, or some."""
    paths = []
    for number, events in enumerate(lists):
        path = folder / f"part{number}.json"
        path.write_text(json.dumps({**(document if has_head(number) else {}),
                                    "traceEvents": events}))
        paths.append(path)
    return paths


def deal(document, folder, parts, seed=1):
    """All events dealt out at random, names in every part."""
    chance = random.Random(seed)
    lists = [[] for _ in range(parts)]
    for event in document["traceEvents"]:
        for part in range(parts) if event.get("ph") == "M" else [chance.randrange(parts)]:
            lists[part].append(event)
    return write(document, folder, lists)


def picture(tables):
    """All that analyses see, without row numbers."""
    process = lambda row: (row["pid"], row["name"], row["rank"], row["begin_ns"], row["end_ns"])
    owner = lambda track: tables["processes"][tables["tracks"][track]["process"]]["pid"]
    where = lambda track: (owner(track), tables["tracks"][track]["kind"],
                           tables["tracks"][track]["tid"], tables["tracks"][track]["name"])
    link = lambda row: None if row is None else (tables["slices"][row]["name"],
                                                 tables["slices"][row]["begin_ns"])
    slices = collections.Counter(
        (row["name"], row["begin_ns"], row["duration_ns"], row["depth"], row["self_ns"],
         row["category"], where(row["track"]), json.dumps(row["args"])) for row in tables["slices"])
    work = collections.Counter(
        (row["correlation"], row["kind"], row["device"], row["stream"], link(row["launch"]))
        for row in tables["activities"])
    marks = collections.Counter((row["name"], row["time_ns"], where(row["track"]))
                                for row in tables["marks"])
    facts = collections.Counter((row["key"], json.dumps(row["value"])) for row in tables["facts"])
    return (sorted(map(process, tables["processes"])), slices, work, marks, facts,
            len(tables["flows"]), len(tables["steps"]))


@pytest.mark.parametrize("name", ["hta/simple_add.json.gz", "dlrm8/rank3.json.gz",
                                  "tracelens/h100_gaunernst.json.gz",
                                  "hta/cpu_only_rank34.json.gz"])
@pytest.mark.parametrize("parts", [2, 5])
def test_parts_are_the_whole(build, traces, tmp_path, name, parts):
    with gzip.open(traces / name) as file:
        document = json.load(file)
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(document))
    expected, found = picture(dump(build, whole)), picture(dump(build, *deal(document, tmp_path,
                                                                             parts)))
    for wanted, got in zip(expected, found):
        assert got == wanted


@pytest.mark.parametrize("name", ["hta/simple_add.json.gz", "dlrm8/rank3.json.gz"])
@pytest.mark.parametrize("rule", RULES)
def test_whatever_stands_in_which_part(build, traces, tmp_path, name, rule):
    """Names apart from what they name, calls apart from the work they start, in either order, with
    one head or two."""
    with gzip.open(traces / name) as file:
        document = json.load(file)
    events, lists = document["traceEvents"], [[], []]
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(document))
    for number, event in enumerate(events):
        lists[bool(RULES[rule](number * 2 // len(events),
                               {"number": number, **event}))].append(event)
    assert all(lists)
    expected = picture(dump(build, whole))
    for has_head in (lambda part: True, lambda part: part == 0):
        paths = write(document, tmp_path, lists, has_head)
        for order in (paths, paths[::-1]):
            tables = dump(build, *order)
            assert [row["scope"] for row in tables["inputs"]] == [0, 0]
            for wanted, got in zip(expected, picture(tables)):
                assert got == wanted


def test_halves_of_a_pair_find_each_other(build, tmp_path):
    """Each event in another of two parts than the one before it; threads that are told by text stay
    two."""
    base = {"pid": 7, "tid": "loop"}
    events = [
        {"ph": "B", "name": "step", "ts": 10, **base},
        {"ph": "E", "name": "step", "ts": 50, **base},
        {"ph": "s", "name": "arrow", "cat": "a", "id": 1, "ts": 20, **base},
        {"ph": "f", "name": "arrow", "cat": "a", "id": 1, "ts": 30, "bp": "e", **base},
        {"ph": "b", "name": "wait", "cat": "a", "id": 5, "ts": 20, **base},
        {"ph": "e", "name": "wait", "cat": "a", "id": 5, "ts": 40, **base},
        {"ph": "X", "name": "read", "ts": 12, "dur": 3, "pid": 7, "tid": "reader"},
        {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "train"}},
    ]
    document = {"baseTimeNanoseconds": 1000}
    whole, = write(document, tmp_path, [events])
    expected = dump(build, whole)
    assert len(expected["slices"]) == 3 and len(expected["flows"]) == 1
    tables = dump(build, *write(document, tmp_path, [events[::2], events[1::2]]))
    assert picture(tables) == picture(expected)
    assert tables["health"] == expected["health"]
    assert tables["run"] == expected["run"]


def test_work_without_a_word_of_its_host_stays_apart(build, traces, tmp_path):
    """Every rank counts its calls from the same number, so these alone say nothing:
    doc/formats.md."""
    with gzip.open(traces / "hta" / "simple_add.json.gz") as file:
        document = json.load(file)
    lists = [[], []]
    for event in document["traceEvents"]:
        lists[event.get("cat") in WORK].append(event)
    tables = dump(build, *write(document, tmp_path, lists))
    assert [row["scope"] for row in tables["inputs"]] == [0, 1]
    assert tables["health"][0]["unlinked"] > 0


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
    tables = dump(build, traces / "hta" / "compare_base.json.gz",
                  traces / "hta" / "compare_test.json.gz")
    assert len({row["scope"] for row in tables["inputs"]}) == 2

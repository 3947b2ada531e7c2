# SPDX-License-Identifier: Apache-2.0
"""VizTracer: its trace as Varve reads it, against the calls that the traced program counted and
Perfetto's reader."""
import collections
import json
import pathlib
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health  # noqa: E402
from table_reader import operators  # noqa: E402

FORMS = ("calls.json", "calls.json.gz")


@pytest.fixture(scope="module", name="folder")
def fixture_folder(produce):
    return produce("clients", "viztracer_calls.py")


@pytest.fixture(scope="module", name="numbers")
def fixture_numbers(folder):
    return json.loads((folder / "numbers.json").read_text())


def function_of(name):
    return name.partition(" (")[0]


@pytest.mark.parametrize("form", FORMS)
def test_calls_are_those_that_the_program_counted(build, folder, numbers, form):
    tables = dump(build, folder / form)
    calls = collections.Counter(function_of(row["name"]) for row in tables["slices"])
    assert {name: calls[name] for name in numbers["calls"]} == numbers["calls"]
    # the names of one process and two threads
    assert tables["run"][0]["events"] == numbers["events"] + 3
    assert len(tables["slices"]) + len(tables["marks"]) + len(
        tables["counters"]) == numbers["events"]
    assert not health(tables)


def test_nesting_is_that_of_the_calls(build, folder):
    tables = dump(build, folder / "calls.json")
    slices = tables["slices"]
    callers = collections.defaultdict(collections.Counter)
    for row in slices:
        if row["parent"] is not None:
            callers[function_of(row["name"])][function_of(slices[row["parent"]]["name"])] += 1
    assert callers["fibonacci"] == {"fibonacci": 176}
    assert callers["leaf"] == {"branch": 243}
    assert callers["branch"] == {"branch": 120, "Thread.run": 1}
    assert {track["name"] for track in tables["tracks"]} == {"MainThread", "brancher"}


def test_times_are_those_of_the_clock(build, folder):
    begin_ns = dump(build, folder / "calls.json")["run"][0]["begin_ns"]
    age_s = time.time() - begin_ns / 1e9
    assert 0 <= age_s < 3600


def test_direct_recursion_counts_once(varve, folder, numbers):
    calls = {function_of(row["name"]): row["calls"]
             for row in operators(varve, folder / "calls.json")}
    assert (calls["fibonacci"], calls["branch"], calls["leaf"]) == (1, 1, numbers["calls"]["leaf"])


def test_perfetto_counts_the_same(build, perfetto_query, folder):
    done = subprocess.run([*perfetto_query, "--stats", str(folder / "calls.json")],
                          capture_output=True, text=True,
                          check=True)
    counts = json.loads(done.stdout)["counts"]
    tables = dump(build, folder / "calls.json")
    # an instant is a slice there
    assert counts["slices"] == len(tables["slices"]) + len(tables["marks"])
    assert (counts["threads"], counts["counter_samples"]) == (len(tables["tracks"]),
                                                              len(tables["counters"]))
    rows = json.loads(subprocess.run(
        [*perfetto_query, str(folder / "calls.json"),
         "SELECT name, dur FROM slice ORDER BY ts, dur DESC"],
        capture_output=True, text=True, check=True).stdout)
    theirs = collections.Counter(row["name"] for row in rows)
    assert theirs == collections.Counter(row["name"] for row in tables["slices"] + tables["marks"])

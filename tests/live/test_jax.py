# SPDX-License-Identifier: Apache-2.0
"""JAX: its profile as Varve reads it, against jax.profiler.ProfileData, its trace.json.gz and
xprof."""
import collections
import gzip
import json
import math
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import xplane_events  # noqa: E402
from model_tables import dump, health  # noqa: E402
from table_reader import tables as tables_of  # noqa: E402

STEPS = 3


@pytest.fixture(scope="module", name="folder")
def fixture_folder(produce):
    return produce("jax", "jax_mlp.py")


@pytest.fixture(scope="module", name="planes")
def fixture_planes(folder):
    return {plane["name"]: plane
            for plane in json.loads((folder / "numbers.json").read_text())["planes"]}


@pytest.fixture(scope="module", name="tables")
def fixture_tables(build, folder):
    return dump(build, folder / "host.xplane.pb")


def events_of(plane):
    """(line, name, begin, end, statistics): nanoseconds, which ProfileData has as doubles, rounded
    down."""
    for line in plane["lines"]:
        for name, begin, _, end, stats in line["events"]:
            yield line["name"], name, math.floor(begin), math.floor(end), dict(stats)


def test_every_event_of_every_line(tables, planes):
    theirs = collections.Counter((line, name, begin, end - begin)
                                 for line, name, begin, end, _ in events_of(planes["/host:CPU"]))
    assert xplane_events.ours(tables, absolute=False) == theirs
    assert sum(theirs.values()) > 150
    assert not any(plane["lines"] for name, plane in planes.items() if name != "/host:CPU")


def test_every_statistic_is_an_argument(tables, planes):
    ours = xplane_events.arguments(tables)
    seen = collections.Counter()
    for line, name, begin, _, stats in events_of(planes["/host:CPU"]):
        for key, value in stats.items():
            assert ours[line, name, begin].get(key) == value, (line, name, key)
            seen[key] += 1
    assert seen["hlo_op"] > 20 and seen["step_num"] == STEPS


def test_layers(tables):
    layers = collections.defaultdict(set)
    for row in tables["slices"]:
        layers[row["layer"]].add(row["name"])
    python, operators, calls = 0x200, 0x4, 0x1
    assert all(name.startswith("$") for name in layers[python]) and len(layers[python]) > 5
    hlo = {row["name"] for row in tables["slices"] if "hlo_op" in dict(row["args"])}
    assert layers[operators] == hlo and len(hlo) > 5
    assert "PjitFunction(train_step)" in layers[calls]


def test_what_the_profile_says_of_itself(tables, planes):
    facts = {fact["key"]: fact["value"] for fact in tables["facts"]}
    for key, value in planes["Task Environment"]["stats"]:
        if key != "profile_options":
            assert str(facts[key]) == value
    assert any("jit_train_step" in key for key in facts)
    assert health(tables).keys() <= {"ignored", "zero_length", "overlaps"}


def test_steps(varve, folder, planes):
    ours = [(row["step"], row["duration_ns"])
            for row in tables_of(varve, "steps", folder / "host.xplane.pb")["steps"]]
    theirs = [(int(stats["step_num"]), end - begin)
              for _, name, begin, end, stats in events_of(planes["/host:CPU"]) if name == "train"]
    assert ours == theirs and len(ours) == STEPS


def test_trace_json_has_the_same_events(build, folder, tables):
    json_tables = dump(build, folder / "trace.json.gz")
    assert xplane_events.ours(json_tables) == xplane_events.ours(tables, absolute=False)
    assert health(json_tables).keys() <= {"zero_length", "overlaps"}
    own = json.loads(gzip.decompress((folder / "trace.json.gz").read_bytes()))["traceEvents"]
    assert sum(event.get("ph") == "X" for event in own) == len(json_tables["slices"])


def test_nesting_is_that_of_the_json(build, folder, tables):
    """Self times by name of both files: the same, since what is below a nanosecond is 0 in both."""
    def self_times(found):
        sums = collections.Counter()
        for row in found["slices"]:
            sums[row["name"]] += row["self_ns"]
        return sums

    assert self_times(dump(build, folder / "trace.json.gz")) == self_times(tables)


def test_xprof_counts_the_same_events(produce, folder, tables):
    tools = produce("jax", "xprof_tools.py", folder / "host.xplane.pb")
    events = json.loads((tools / "tools.json").read_text())["trace_viewer"]["traceEvents"]
    theirs = xplane_events.of_viewer(events)
    assert xplane_events.ours(tables, absolute=False) == theirs

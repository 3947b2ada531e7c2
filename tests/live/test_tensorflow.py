# SPDX-License-Identifier: Apache-2.0
"""TensorFlow: its profile as Varve reads it, against its own protobuf classes and the tables of
xprof."""
import collections
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import wire_fields  # noqa: E402
import xplane_events  # noqa: E402
from model_tables import dump, health  # noqa: E402
from table_reader import operators, tables as tables_of  # noqa: E402

STEPS = 3


@pytest.fixture(scope="module", name="folder")
def fixture_folder(produce):
    return produce("tensorflow", "tf_function.py")


@pytest.fixture(scope="module", name="host")
def fixture_host(folder):
    planes = json.loads((folder / "numbers.json").read_text())["planes"]
    return next(plane for plane in planes if plane["name"] == "/host:CPU")


@pytest.fixture(scope="module", name="tables")
def fixture_tables(build, folder):
    return dump(build, folder / "host.xplane.pb")


@pytest.fixture(scope="module", name="tools")
def fixture_tools(produce, folder):
    tools = produce("jax", "xprof_tools.py", folder / "host.xplane.pb")
    return json.loads((tools / "tools.json").read_text())


def events_of(host):
    """(line, name, short name, begin, end, statistics), in ns since the profile began."""
    for line in host["lines"]:
        for name, short, offset_ps, duration_ps, stats in line["events"]:
            yield (line["name"], name, short, line["begin_ns"] + offset_ps // 1000,
                   line["begin_ns"] + (offset_ps + duration_ps) // 1000, stats)


def test_every_event_of_every_line(tables, host):
    theirs = collections.Counter((line, name, begin, end - begin)
                                 for line, name, _, begin, end, _ in events_of(host))
    assert xplane_events.ours(tables, absolute=False) == theirs
    assert sum(theirs.values()) > 100
    ids = {line["name"]: line["id"] for line in host["lines"]}
    assert {track["name"]: track["tid"] for track in tables["tracks"]} == ids
    assert health(tables).keys() <= {"zero_length", "overlaps"}


def test_every_statistic_is_an_argument(tables, host):
    ours = xplane_events.arguments(tables)
    seen = collections.Counter()
    for line, name, _, begin, _, stats in events_of(host):
        for key, value in stats:
            number = value if not isinstance(value, int) or value < 1 << 63 else value - (1 << 64)
            assert ours[line, name, begin].get(key) in (str(value), str(number)), (line, name, key)
            seen[key] += 1
    assert seen["step_num"] == STEPS and seen["id"] > 10


def test_operators_are_named_by_their_kind(tables, host):
    theirs = collections.Counter(short for _, _, short, _, _, _ in events_of(host) if short)
    ours = collections.Counter(row["name"] for row in operators_of(tables))
    assert ours == theirs and len(ours) > 5


def operators_of(tables):
    """Slices of layer OP, less the call that runs a whole function."""
    return [row for row in tables["slices"]
            if row["layer"] == 0x4 and not row["name"].startswith("EagerLocalExecute")]


def rows_of(table):
    ids = [column["id"] for column in table["cols"]]
    return [dict(zip(ids, (cell["v"] for cell in row["c"]))) for row in table["rows"]]


def test_framework_op_stats(tables, tools):
    """Occurrences, total and self time of each operator, by kind and by name."""
    theirs = {(row["type"], row["operation"]): (row["occurrences"], round(row["total_time"] * 1000),
                                                round(row["total_self_time"] * 1000))
              for row in rows_of(tools["framework_op_stats"][0]) if row["type"] != "IDLE"}
    ours = collections.defaultdict(lambda: (0, 0, 0))
    for row in operators_of(tables):
        key = (row["name"], dict(row["args"])["long_name"].removesuffix(f":{row['name']}"))
        ours[key] = tuple(map(sum, zip(ours[key], (1, row["duration_ns"], row["self_ns"]))))
    assert dict(ours) == theirs


def test_the_report_has_the_same_kinds(varve, folder, tools):
    theirs = collections.Counter()
    for row in rows_of(tools["framework_op_stats"][0]):
        theirs[row["type"]] += round(row["total_self_time"] * 1000)
    ours = {row["name"]: row["self_ns"] for row in operators(varve, folder / "host.xplane.pb")}
    del theirs["IDLE"]
    assert {name: ours.get(name) for name in theirs} == dict(theirs)


def test_steps(varve, folder, tools):
    """xprof's step times, milliseconds with six decimals, are Varve's."""
    steps = next(table for table in tools["overview_page"]
                 if any(column["id"] == "stepTimeMs" for column in table.get("cols", [])))
    theirs = [(int(row["stepnum"].removeprefix("train ")), round(row["stepTimeMs"] * 1e6))
              for row in rows_of(steps)]
    ours = [(row["step"], row["duration_ns"])
            for row in tables_of(varve, "steps", folder / "host.xplane.pb")["steps"]]
    assert ours == theirs and len(ours) == STEPS


def test_xprof_counts_the_same_events(tables, tools):
    theirs = xplane_events.of_viewer(tools["trace_viewer"]["traceEvents"])
    ours = collections.Counter((tables["tracks"][row["track"]]["name"], row["name"])
                               for row in tables["slices"])
    assert collections.Counter(key[:2] for key in theirs.elements()) == ours


def test_each_field_of_xspace_has_their_number(produce):
    """src/import/xspace/fields.h. Their release lacks a field that XLA's xplane.proto has."""
    theirs = json.loads((produce("tensorflow", "xplane_fields.py") / "fields.json").read_text())
    lacks = {"XStat.compressed_str_value"}
    assert wire_fields.differences(wire_fields.read("xspace"), theirs, lacks) == []
    assert theirs["XPlane.StatMetadataEntry"] == theirs["XPlane.EventMetadataEntry"]

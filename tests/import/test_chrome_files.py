# SPDX-License-Identifier: Apache-2.0
"""Chrome's trace format and its dialects: every event of every real trace against an independent reader, and laws:
the order of events and the division of the text change nothing."""
import collections
import json
import os
import pathlib
import random
import subprocess

import pytest

import chrome_reference as reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("VARVE_BUILD", "build")
TRACES = ROOT.parent / "shared" / "traces"
if not TRACES.is_dir() and "VARVE_TRACES" in os.environ:
    TRACES = pathlib.Path(os.environ["VARVE_TRACES"])
NOT_OURS = {"mlirgraph", "tracelens/rocprofv3_results.json.gz"}
UNFINISHED = 1


def traces():
    if not TRACES.is_dir():
        return []
    files = [path.relative_to(TRACES) for path in sorted(TRACES.rglob("*.json*"))]
    return [str(path) for path in files if str(path) not in NOT_OURS and path.parts[0] not in NOT_OURS]


def dump(*paths):
    run = subprocess.run([BUILD / "tests/tools/model_dump", *paths], capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
    tables = collections.defaultdict(list)
    for line in run.stdout.decode().splitlines():
        row = json.loads(line)
        tables[row["table"]].append(row)
    return tables


@pytest.fixture(scope="session")
def trace_folder():
    if not TRACES.is_dir():
        pytest.skip("needs the real traces in ../shared/traces")
    return TRACES


# ---- the dump as counted rows, as the reference gives them ----

NONE = {"op": {"external": 0, "sequence": -1, "forward_tid": 0, "stack": "", "module": ""},
        "activity": {"external": 0, "correlation": 0, "context": -1, "stream": -1, "bytes": 0}}


def columns_of(tables, row):
    """Columns that hold something, named as the reference names them."""
    columns = {}
    for kind, table in (("op", "ops"), ("activity", "activities")):
        if row[kind] is None:
            continue
        own = tables[table][row[kind]]
        for name, nothing in NONE[kind].items():
            if own[name] != nothing:
                columns[f"{kind}.{name}"] = own[name]
        if kind == "activity" and own["device"] is not None:
            columns["activity.device"] = own["device"] & 0xFFFF
        if own["collective"] is not None:
            for name in reference.COLLECTIVE.values():
                columns[f"collective.{name}"] = tables["collectives"][own["collective"]][name]
    return columns


def place_of(tables, track):
    row = tables["tracks"][track]
    return tables["processes"][row["process"]]["pid"], row["tid"]


def dumped(tables):
    rows = collections.defaultdict(collections.Counter)
    for row in tables["slices"]:
        rows["slices"][(*place_of(tables, row["track"]), row["name"], row["category"], row["begin_ns"],
                        row["duration_ns"], reference.frozen(row["args"]),
                        reference.frozen(columns_of(tables, row).items()))] += 1
    for row in tables["marks"]:
        rows["marks"][(*place_of(tables, row["track"]), row["name"], row["category"], row["time_ns"],
                       reference.frozen(row["args"]))] += 1
    for row in tables["counters"]:
        rows["counters"][(place_of(tables, row["track"])[0], row["name"], row["series"], row["time_ns"],
                          row["value"])] += 1
    for row in tables["flows"]:
        rows["flows"][(row["category"], row["name"], row["id"], row["from_ns"], row["to_ns"],
                       *place_of(tables, row["from_track"]), *place_of(tables, row["to_track"]))] += 1
    for row in tables["memory"]:
        rows["memory"][(*place_of(tables, row["track"]), row["time_ns"], row["address"], row["bytes"],
                        row["allocated_bytes"], row["reserved_bytes"], row["device"] >> 16,
                        row["device"] & 0xFFFF)] += 1
    return rows


def without_defaults(rows):
    """The reference keeps what an event says, the columns only what is not the default of a column; the device
    of a track that no event tells is derived from the pid."""
    kept = collections.Counter()
    for row, count in rows.items():
        columns = [(key, value) for key, value in row[-1]
                   if json.loads(value) not in (0, -1, "") and key != "activity.device" and
                   not key.startswith("collective.")]
        collective = [(key, value) for key, value in row[-1] if key.startswith("collective.") and
                      json.loads(value) not in (0, -1, "")]
        if "gpu_user_annotation" in row:
            columns = [pair for pair in columns if pair[0] != "activity.stream"]
        kept[(*row[:-1], tuple(columns), tuple(collective))] += count
    return kept


@pytest.mark.parametrize("name", traces() or ["none"])
def test_every_event_agrees_with_an_independent_reader(trace_folder, name):
    want = reference.Reference(reference.load(reference.open_text(trace_folder / name)))
    tables = dump(trace_folder / name)
    got = dumped(tables)
    samples = len(want.top.get("samples", []))
    assert tables["run"][0]["events"] + tables["health"][0]["ignored"] == len(want.events) + samples
    later = want.top.get("samples") is not None
    for table in ("marks", "counters", "flows", "memory"):
        if table == "marks" and later:
            assert sum(got[table].values()) == sum(want.rows[table].values()) + samples
            continue
        assert got[table] - want.rows[table] == collections.Counter(), table
        assert want.rows[table] - got[table] == collections.Counter(), table
    ours, theirs = without_defaults(got["slices"]), without_defaults(want.rows["slices"])
    assert ours - theirs == collections.Counter()
    assert theirs - ours == collections.Counter()
    for finding in ("unfinished", "unmatched_ends", "unmatched_flows", "ignored"):
        assert tables["health"][0][finding] == want.health[finding], finding

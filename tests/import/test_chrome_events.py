# SPDX-License-Identifier: Apache-2.0
"""Chrome's trace format and its dialects: every event of every real trace against an independent
reader, and laws:
the order of events and the division of the text change nothing."""
import collections
import json
import pathlib
import random
import subprocess
import sys

import pytest

import chrome_reference as reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from model_tables import dump  # noqa: E402

TRACES = ROOT.parent / "shared" / "traces"
NOT_OURS = {"mlirgraph", "rocprofv3_results.json.gz"} # folders and files of other formats


def names():
    files = sorted(TRACES.rglob("*.json*")) if TRACES.is_dir() else []
    return [str(path.relative_to(TRACES)) for path in files
            if not NOT_OURS & set(path.parts)] or ["none"]


# ---- the dump as counted rows, as the reference gives them ----

NONE = {"op": {"external": 0, "sequence": -1, "forward_tid": 0, "stack": "", "module": "",
               "scalars": ""},
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
        rows["slices"][(*place_of(tables, row["track"]), row["name"], row["category"],
                        row["begin_ns"], row["duration_ns"], reference.frozen(row["args"]),
                        reference.frozen(columns_of(tables, row).items()))] += 1
    for row in tables["marks"]:
        rows["marks"][(*place_of(tables, row["track"]), row["name"], row["category"],
                       row["time_ns"], reference.frozen(row["args"]))] += 1
    for row in tables["counters"]:
        rows["counters"][(place_of(tables, row["track"])[0], row["name"], row["series"],
                          row["time_ns"], row["value"])] += 1
    for row in tables["flows"]:
        rows["flows"][(row["category"], row["name"], row["id"], row["from_ns"], row["to_ns"],
                       *place_of(tables, row["from_track"]),
                       *place_of(tables, row["to_track"]))] += 1
    for row in tables["memory"]:
        rows["memory"][(*place_of(tables, row["track"]), row["time_ns"], row["address"],
                        row["bytes"], row["allocated_bytes"], row["reserved_bytes"],
                        row["device"] >> 16, row["device"] & 0xFFFF)] += 1
    return rows


def without_defaults(rows):
    """The reference keeps what an event says, the columns only what is not the default of a column;
    the device of a track that no event tells is derived from the pid."""
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


# ---- known answers (README of the traces) ----

KNOWN = {
    "hta/ns_resolution.json.gz": {"events": 68692, "steps": 5, "kernels": 4350, "flows": 7000},
    "kineto/resnet50_workers0.json.gz": {"events": 75718, "steps": 6, "kernels": 8772,
                                         "memory": 12838},
    "hta/cpu_only_rank34.json.gz": {"slices": 7480, "steps": 5, "kernels": 0},
    "onnxruntime/ort_parallel.json.gz": {"events": 1574, "slices": 1574, "steps": 12},
    "onnxruntime/ort_sequential.json.gz": {"events": 1574, "slices": 1574, "steps": 12},
    "ascend/trace_view.json.gz": {"kernels": 276, "flows": 274 + 274 + 148 + 17},
    "hta/cupti_counters.json.gz": {"profiler ranges": 77},
    "dlrm8/rank5.json.gz": {"kernels": 245, "rank": 5},
}


def known_of(tables):
    got = {
        "events": tables["run"][0]["events"],
        "rank": tables["processes"][0]["rank"],
        "kernels": sum(row["kind"] == 1 for row in tables["activities"]),
        "profiler ranges": sum(row["category"] == "cuda_profiler_range"
                               for row in tables["slices"]),
    }
    return got | {table: len(tables[table]) for table in ("slices", "steps", "flows", "memory")}


@pytest.mark.parametrize("name", names())
def test_every_event_agrees_with_an_independent_reader(build, traces, name):
    want = reference.Reference(reference.load(reference.open_text(traces / name)))
    tables = dump(build, traces / name)
    got = dumped(tables)
    samples = len(want.top.get("samples", []))
    assert tables["run"][0]["events"] + tables["health"][0]["ignored"] == len(want.events) + samples
    for table in ("counters", "flows", "memory"):
        assert got[table] - want.rows[table] == collections.Counter(), table
        assert want.rows[table] - got[table] == collections.Counter(), table
    if samples:
        assert sum(got["marks"].values()) == sum(want.rows["marks"].values()) + samples
    else:
        assert got["marks"] == want.rows["marks"]
    ours, theirs = without_defaults(got["slices"]), without_defaults(want.rows["slices"])
    assert ours - theirs == collections.Counter()
    assert theirs - ours == collections.Counter()
    for finding in ("unfinished", "unmatched_ends", "unmatched_flows", "ignored"):
        assert tables["health"][0][finding] == want.health[finding], finding
    answers = known_of(tables)
    assert {key: answers[key] for key in KNOWN.get(name, {})} == KNOWN.get(name, {})


def test_each_known_answer_is_of_a_trace(traces):
    assert traces == TRACES and KNOWN.keys() <= set(names())


# ---- links ----

@pytest.mark.parametrize("name", ["hta/ns_resolution.json.gz", "tracelens/h100_timesformer.json.gz",
                                  "dlrm8/rank1.json.gz", "kineto/resnet50_workers0.json.gz"])
def test_launches_are_the_calls_with_the_same_correlation(build, traces, name):
    """Here the arrows of the producer and the ids say the same, so each proves the other."""
    tables = dump(build, traces / name)
    slices, activities = tables["slices"], tables["activities"]
    linked = {(row["launch"], row["slice"]) for row in activities if row["launch"] is not None}
    arrows = {(row["from_slice"], row["to_slice"]) for row in tables["flows"]
              if row["category"] in ("ac2g", "async")}
    to_work = {pair for pair in arrows
               if activities[slices[pair[1]]["activity"]]["kind"] in (1, 2, 3)}
    assert to_work <= linked
    for launch, work in linked:
        call, done = (activities[slices[row]["activity"]] for row in (launch, work))
        assert call["correlation"] == done["correlation"] != 0 and call["kind"] == 0


# ---- laws ----

def picture(tables):
    """All that does not depend on the numbers of rows."""
    slices = tables["slices"]
    def short(row):
        return None if row is None else (*place_of(tables, slices[row]["track"]),
                                         slices[row]["name"],
                                         slices[row]["begin_ns"], slices[row]["duration_ns"])
    rows = dumped(tables)
    rows["nesting"] = collections.Counter((short(row["row"]), short(row["parent"]), row["depth"],
                                           row["self_ns"], row["step"], row["layer"])
                                           for row in slices)
    rows["links"] = collections.Counter((short(row["slice"]), short(row["launch"]),
                                         short(row["caller"]))
                                        for row in tables["activities"])
    rows["arrows"] = collections.Counter((short(row["from_slice"]), short(row["to_slice"]),
                                          row["category"])
                                         for row in tables["flows"])
    rows["steps"] = collections.Counter((row["index"], row["begin_ns"], short(row["slice"]))
                                        for row in tables["steps"])
    rows["tracks"] = collections.Counter((*place_of(tables, row["row"]), row["name"], row["kind"],
                                          row["device"])
                                         for row in tables["tracks"])
    return rows


@pytest.mark.parametrize("name", ["tracelens/h100_gaunernst.json.gz",
                                  "tracelens/b200_eager.json.gz",
                                  "hta/mtia_inference.json.gz", "ascend/trace_view.json.gz"])
def test_the_order_of_events_changes_nothing(build, traces, tmp_path, name):
    document = json.loads(reference.open_text(traces / name))
    events = document["traceEvents"] if isinstance(document, dict) else document
    random.Random(5).shuffle(events)
    shuffled = tmp_path / "shuffled.json"
    shuffled.write_text(json.dumps(document))
    assert picture(dump(build, shuffled)) == picture(dump(build, traces / name))


@pytest.mark.parametrize("name", ["tracelens/b200_eager.json.gz", "hta/ns_resolution.json.gz",
                                  "kineto/resnet50_workers0.json.gz"])
def test_threads_change_nothing(build, traces, tmp_path, name):
    """Plain text, so that the file is divided; every column of every table."""
    plain = tmp_path / "trace.json"
    plain.write_text(reference.open_text(traces / name))
    tool = build / "tests" / "tools" / "model_dump"
    texts = [subprocess.run([tool, "--threads", threads, plain], capture_output=True,
                            check=True).stdout
             for threads in ("1", "2", "3")]
    assert texts[0] == texts[1] == texts[2]


def test_compressed_is_the_same(build, traces, tmp_path):
    name = "hta/simple_add.json.gz"
    plain = tmp_path / "trace.json"
    plain.write_text(reference.open_text(traces / name))
    first, second = dump(build, plain), dump(build, traces / name)
    for tables in (first, second):
        tables.pop("inputs", None)
    assert first == second

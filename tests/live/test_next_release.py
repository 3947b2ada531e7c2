# SPDX-License-Identifier: Apache-2.0
"""A release that adds things: fresh traces with unknown members, arguments, phases, categories,
fields and planes read as they did without, and what was added is kept or counted."""
import gzip
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health  # noqa: E402
from protobuf_bytes import Fixed64, message, varint, walk  # noqa: E402
from xspace_bytes import SCHEMA  # noqa: E402

CHROME = [("torch", "torch_models.py", "conv_steps.json"),
          ("torch", "torch_models.py", "transformer_all.json"),
          ("torch", "torch_ranks.py", "rank1.json"), ("jax", "jax_mlp.py", "trace.json.gz"),
          ("onnxruntime", "ort_model.py", "profile.json"),
          ("clients", "viztracer_calls.py", "calls.json")]
XSPACE = [("jax", "jax_mlp.py"), ("tensorflow", "tf_function.py")]

ADDED = "next_"  # the names of all that is added begin so
FILE_ORDER = 1 << 31
# ends of arrows, memory and counters: marks besides, if they say more
OWN_TABLE = {"fwdbwd", "[memory]", "value"}


def without_added(tables):
    """The tables less what was added: events of added processes, arguments, facts."""
    for name in ("slices", "marks"):
        tables[name] = [row for row in tables[name] if not row["name"].startswith(ADDED)]
        for row in tables[name]:
            row["args"] = [pair for pair in row["args"] if not pair[0].startswith(ADDED)]
            del row["first_arg"], row["arg_count"]
            if row.get("order", 0) >= FILE_ORDER:
                del row["order"]
    tables["facts"] = [row for row in tables["facts"] if not row["key"].startswith(ADDED)]
    tables["counters"] = [row for row in tables["counters"] if not row["series"].startswith(ADDED)]
    for row in tables["facts"] + tables["counters"]:
        del row["row"]
    for name in ("processes", "tracks"):
        tables[name] = [row for row in tables[name] if not row["name"].startswith(ADDED)]
    for row in tables["processes"]:
        del row["events"]
    tables["marks"] = [{**row, "row": 0} for row in tables["marks"] if row["name"] not in OWN_TABLE]
    for name in ("inputs", "health", "run"):
        tables.pop(name)
    return {name: rows for name, rows in tables.items() if rows}


NEW_MEMBERS = {f"{ADDED}number": 1.5, f"{ADDED}text": "ä\n\"",
               f"{ADDED}list": [1, [2, {"a": None}]],
               f"{ADDED}object": {"dur": 7, "ts": [], "name": "x"}, f"{ADDED}flag": True,
               f"{ADDED}null": None}


def extend_event(event, number):
    """New members before or behind the known ones, and new arguments among the others."""
    if not event:
        return event
    arguments = {**event.get("args", {}),
                 **NEW_MEMBERS} if number % 2 else {**NEW_MEMBERS, **event.get("args", {})}
    out = {**NEW_MEMBERS, **event} if number % 3 else {**event, **NEW_MEMBERS}
    if event.get("ph") in ("X", "i", "B", "E"):
        out["args"] = arguments
    return out


def extend_chrome(document):
    """The document with all that, and the number of events of a phase that does not exist."""
    events = document if isinstance(document, list) else document["traceEvents"]
    last = max(event["ts"] for event in events if "ts" in event)
    extended = [extend_event(event, number) for number, event in enumerate(events) if event]
    strange = [{"ph": phase, "name": f"{ADDED}phase", "cat": f"{ADDED}phase", "pid": 1, "tid": 1,
                "ts": last}
               for phase in ("?", "Zz", "")]
    strange += [{"ph": "X", "name": f"{ADDED}event", "cat": f"{ADDED}category",
                 "pid": f"{ADDED}process", "tid": f"{ADDED}thread", "ts": last, "dur": 1,
                 "args": NEW_MEMBERS}]
    if isinstance(document, list):
        return extended + strange, 3
    others = {key: value for key, value in document.items() if key != "traceEvents"}
    return {f"{ADDED}first": NEW_MEMBERS, **others, "traceEvents": extended + strange,
            f"{ADDED}last": [1, {}]}, 3


@pytest.mark.parametrize("name, program, file", CHROME, ids=[file for _, _, file in CHROME])
def test_json_with_additions_reads_as_before(build, produce, tmp_path, name, program, file):
    path = produce(name, program) / file
    data = path.read_bytes()
    extended, ignored = extend_chrome(json.loads(gzip.decompress(data) if file.endswith(".gz")
                                                 else data))
    (tmp_path / "next.json").write_text(json.dumps(extended))
    before, after = dump(build, path), dump(build, tmp_path / "next.json")
    expected = health(before)
    expected["ignored"] = expected.get("ignored", 0) + ignored
    assert health(after) == expected
    added = [row for row in after["slices"] if row["name"] == f"{ADDED}event"]
    assert [row["category"] for row in added] == [f"{ADDED}category"]
    assert {key for key, _ in added[0]["args"]} == NEW_MEMBERS.keys()
    before, after = without_added(before), without_added(after)
    assert before.keys() == after.keys()
    for table, rows in before.items():
        assert rows == after[table], table


def unknown_fields():
    """One of each wire type, with numbers that no message has."""
    return (message((90, 1 << 40), (91, "text"), (92, message((1, 2), (3, "x"))), (93, Fixed64(7)))
            + varint(94 << 3 | 5) + b"\1\2\3\4")


def extend_message(data, kind, added):
    """The message with fields that its kind does not have, before and behind the others, and so
    within all its own."""
    out = unknown_fields() if kind != "SPACE" else b""  # a file is told by its first field
    added[0] += 10 if kind != "SPACE" else 5
    for number, wire, value in walk(data):
        form = SCHEMA[kind].get(number, ("", ""))[1]
        if form.startswith("{"):
            entry = {key: inner for key, _, inner in walk(value)}
            value = message((1, entry.get(1, 0)),
                            (2, extend_message(entry[2], form.strip("{}"), added)))
        elif form.strip("[]").isupper():
            value = extend_message(value, form.strip("[]"), added)
        if wire == 2 or wire == 0:
            out += message((number, value))
        else:
            out += varint(number << 3 | wire) + value
    return out + unknown_fields()


@pytest.mark.parametrize("name, program", XSPACE)
def test_xspace_with_additions_reads_as_before(build, produce, tmp_path, name, program):
    path = produce(name, program) / "host.xplane.pb"
    added = [0]
    plane = message((2, f"/{ADDED}plane"), (6, message((1, 99))))
    (tmp_path / "next.pb").write_bytes(extend_message(path.read_bytes(), "SPACE", added) +
                                       message((1, plane)))
    before, after = dump(build, path), dump(build, tmp_path / "next.pb")
    ignored = [health(tables).get("ignored", 0) for tables in (before, after)]
    assert ignored[1] == ignored[0] + added[0]
    rest = [{key: value for key, value in health(tables).items() if key != "ignored"}
            for tables in (before, after)]
    assert rest[0] == rest[1]
    before, after = without_added(before), without_added(after)
    for table, rows in before.items():
        assert rows == after[table] or table == "facts", table
    assert [row for row in before["facts"] if row not in after["facts"]] == []

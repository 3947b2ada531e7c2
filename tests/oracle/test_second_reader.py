# SPDX-License-Identifier: Apache-2.0
"""Three readers of one trace: babeltrace2, tools/varve_decode.py (written from doc/format.md alone)
and varve.

What they see is equal, and for every_record it also equals what the program says that it did."""
import collections
import math

import pytest

import babeltrace_text
import every_record_journal as journal
import varve_decode

TIME_TOLERANCE_NS = 1000  # babeltrace2 computes times through doubles


@pytest.fixture(params=["every_record", "train"])
def run(request):
    return request.getfixturevalue(request.param)


def by_tid(rows):
    threads = collections.defaultdict(list)
    for row in rows:
        threads[row.tid].append(row)
    return threads


def as_printed(value):
    """A decoded field as it reads after babeltrace2 has printed it: doubles keep six digits."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else float(f"{value:g}")
    if isinstance(value, list):
        return [as_printed(item) for item in value]
    if isinstance(value, dict):
        return {name: as_printed(item) for name, item in value.items()}
    return value


def test_program_runs_as_if_alone(every_record, train):
    assert every_record.exit_code == 7
    assert train.exit_code == 0


def test_page_holds(run, decode):
    done = decode("--check", run.trace)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_event_counts_are_equal(run, babeltrace2, varve_json, decode):
    trace = varve_decode.open_trace(run.trace)
    counts = varve_decode.counts(trace)
    (info,) = varve_json("info", run.trace)["trace"]
    assert counts["events"] > 1000 if run.trace.stem == "every_record" else counts["events"] > 100
    assert babeltrace_text.event_count(babeltrace2, run.trace) == counts["events"]
    assert info["events"] == counts["events"]
    assert (info["lost"], counts["lost"]) == (0, 0)
    assert info["processes"] == counts["processes"] == 1
    assert sum(counts["by_name"].values()) == counts["events"]


def test_records_are_equal_one_by_one(run, babeltrace2):
    for process in varve_decode.open_trace(run.trace).processes:
        printed = by_tid(babeltrace_text.events(babeltrace2, process.path))
        assert sorted(printed) == sorted(stream.tid for stream in process.streams if stream.records)
        names = collections.Counter(event.name for events in printed.values() for event in events)
        assert names == collections.Counter(record.name for stream in process.streams
                                            for record in stream.records)
        for stream in process.streams:
            events = printed.get(stream.tid, [])
            assert [event.name for event in events] == [record.name for record in stream.records]
            for event, record in zip(events, stream.records):
                assert as_printed(event.fields) == as_printed(record.fields), record
                assert abs(event.time_ns - record.time_ns) <= TIME_TOLERANCE_NS, record


def test_times_grow_and_lie_in_the_run(run):
    trace = varve_decode.open_trace(run.trace)
    begin_ns, end_ns = (trace.manifest[key] for key in ("begin_realtime_ns", "end_realtime_ns"))
    for process in trace.processes:
        for stream in process.streams:
            times = [record.time_ns for record in stream.records]
            assert times == sorted(times)
            assert all(begin_ns - 10**6 <= time <= end_ns + 10**6 for time in times)


def test_every_record_is_there_in_order(every_record):
    expected = journal.expected(every_record.stdout)
    (process,) = varve_decode.open_trace(every_record.trace).processes
    assert process.names[None] == "every record"
    seen = {process.names[stream.tid]: journal.seen(process, stream)
            for stream in process.streams if stream.kind == "thread"}
    assert sorted(seen) == sorted(expected) == ["main", "second"]
    for thread, rows in expected.items():
        for at, (told, found) in enumerate(zip(rows, seen[thread])):
            assert told == found, f"record {at} of thread {thread}"
        assert len(rows) == len(seen[thread])


def test_streams_have_packets_and_parts(every_record):
    (process,) = varve_decode.open_trace(every_record.trace).processes
    for stream in process.streams[1:]:
        assert len(stream.packets) > 5
        assert len({packet.path for packet in stream.packets}) >= 2


def test_layers_records_tell_pause_and_resume(every_record):
    (process,) = varve_decode.open_trace(every_record.trace).processes
    masks = [record.fields["layers"] for record in process.streams[0].records
             if record.name == "varve.layers"]
    assert masks[:5] in ([0x7FF, 0, 0x400, 0x7FF, 0], [0x7FF, 0, 0x400, 0x7FF])


def test_sites_carry_layer_file_and_line(every_record):
    (process,) = varve_decode.open_trace(every_record.trace).processes
    classes = {site.name: site for site in process.classes.values()
               if site.kind in ("begin", "mark")}
    assert {name: classes[name].layer for name in classes if name.startswith("layer ")} == {
        f"layer {name.lower().replace('_', ' ')}": name for name in varve_decode.LAYERS
        if name != "STEP"}
    assert classes["a mark"].file.endswith("every_record.c")
    assert int(classes["a mark"].line) > 40
    assert (classes["no file"].file, classes["no file"].line) == (None, None)
    assert classes["odd file"].file == 'dir name/a&b=c?%41"\né.c'
    assert classes["odd file"].line == "4294967295"


def operators(trace):
    """{name: (calls, total_ns)} of all ranges but steps and phases; direct recursion counts
    once."""
    rows = collections.defaultdict(lambda: [0, 0])
    for process in trace.processes:
        built, _ = varve_decode.ranges(process)
        for item in built:
            recursive = item.parent is not None and built[item.parent].name == item.name
            if item.layer != "STEP" and not recursive:
                rows[item.name][0] += 1
                rows[item.name][1] += item.end_ns - item.begin_ns
    return {name: tuple(row) for name, row in rows.items()}


def test_operators_are_those_of_the_report(run, varve_json):
    told = {row["name"]: (row["calls"], row["total_ns"])
            for row in varve_json("report", "--warm-up", "--top", "0", run.trace)["operators"]
            if row["row"] == "operator"}
    expected = operators(varve_decode.open_trace(run.trace))
    assert len(expected) > 5
    assert told == expected


def test_two_processes_of_one_run(tmp_path, record, program, babeltrace2, varve_json, decode):
    twice = tmp_path / "twice.sh"
    twice.write_text(
        f'"{program("every_record")}" 0 > /dev/null\n"{program("every_record")}" 0 > /dev/null\n')
    run = record(tmp_path, "/bin/sh", twice)
    assert run.exit_code == 0
    assert decode("--check", run.trace).stderr == ""
    trace = varve_decode.open_trace(run.trace)
    named = [process for process in trace.processes if process.names.get(None) == "every record"]
    assert len(named) == 2
    assert len({process.env["pid"] for process in named}) == 2
    counts = varve_decode.counts(trace)
    (info,) = varve_json("info", run.trace)["trace"]
    assert babeltrace_text.event_count(babeltrace2, run.trace) == counts["events"] == info["events"]
    assert info["processes"] == counts["processes"]

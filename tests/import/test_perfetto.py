# SPDX-License-Identifier: Apache-2.0
"""Perfetto protobuf traces, written by hand: what the model holds, and that Perfetto's own trace
processor sees the same slices, values and flows."""
import gzip
import json
import pathlib
import subprocess
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health, refusal  # noqa: E402
from perfetto_writer import BEGIN, BOOTTIME, COUNTER, END, INSTANT, MONOTONIC, REALTIME, Trace, clock  # noqa: E402
from protobuf_bytes import field, message  # noqa: E402

BASE = 1_000_000_000  # of BOOTTIME
EPOCH = 1_700_000_000_000_000_000
PROCESS, MAIN, WORKER, REQUESTS, MEMORY = 10, 11, 12, 13, 14
NEEDS_STATE = 2


def begin_trace(folder):
    trace = Trace(folder / "trace.pftrace")
    trace.clear((87, 1))
    trace.snapshot(clock(BOOTTIME, BASE), clock(MONOTONIC, BASE - 100), clock(REALTIME, EPOCH),
                   clock(64, 0, incremental=True, multiplier=1000))
    trace.track(PROCESS, process=(77, "program"))
    trace.track(MAIN, parent=PROCESS, thread=(77, 77, "main"))
    return trace


def rich(folder):
    """Every kind of event that is read."""
    trace = begin_trace(folder)
    trace.track(REQUESTS, parent=MAIN, name="requests")
    trace.track(MEMORY, parent=PROCESS, name="memory", counter=[(4, 1024)])
    trace.intern(names={1: "outer"}, categories={1: "cat"}, keys={1: "key"},
                 sources={5: ("a.c", 33)}, texts={9: "text by id"}, at=BASE)
    trace.event(BASE + 100, BEGIN, track=MAIN, name=1, categories=[1], flows=[99],
                flags=NEEDS_STATE, args={1: -5, "d": {"x": 'y"z', "list": [1, True]},
                                         "big": (1 << 64) - 1},
                more=((34, 5), (4, message((10, "by id"), (17, 9)))))
    trace.event(BASE + 200, BEGIN, track=MAIN, name="inner", categories=["one", "two"])
    trace.event(BASE + 300, END, track=MAIN, args={"at end": 1.5})
    trace.event(BASE + 300, INSTANT, track=REQUESTS, name="tick", flows=[99])
    trace.event(BASE + 350, COUNTER, track=MEMORY, value=5)
    trace.event(BASE + 360, COUNTER, track=MEMORY, value=2.5)
    trace.event(BASE + 400, END, track=MAIN, args={"done": "yes"})
    # µs after the snapshot
    trace.event(1, BEGIN, track=REQUESTS, name="by the own clock", clock_id=64)
    # and after the one before
    trace.event(2, END, track=REQUESTS, clock_id=64)
    trace.event(BASE + 4900, BEGIN, track=WORKER, name="before its descriptor", clock_id=MONOTONIC,
                ends=[99])
    trace.event(BASE + 5900, END, track=WORKER, clock_id=MONOTONIC)
    trace.track(WORKER, parent=PROCESS, thread=(77, 78, "worker"))
    trace.event(BASE + 9000, INSTANT, name="on no track", sequence=0)
    trace.event(BASE + 10000, BEGIN, track=MAIN, name="never ends")
    trace.event(BASE + 10500, INSTANT, track=MAIN, name="last")
    trace.packet((33, b""), sequence=0)
    return trace.write()


def test_every_kind_of_event(build, tmp_path):
    tables = dump(build, rich(tmp_path))
    tracks = {track["row"]: track for track in tables["tracks"]}
    slices = {row["name"]: row for row in tables["slices"]}
    assert {name: (row["begin_ns"] - EPOCH, row["duration_ns"], row["depth"],
                   tracks[row["track"]]["name"])
            for name, row in slices.items()} == {
        "outer": (100, 300, 0, "main"),
        "inner": (200, 100, 1, "main"),
        "by the own clock": (1000, 2000, 0, "requests"),
        "before its descriptor": (5000, 1000, 0, "worker"),
        "never ends": (10000, 500, 0, "main"),
    }
    assert slices["outer"]["args"] == [["key", -5], ["d", '{"x": "y\\"z", "list": [1, true]}'],
                                       ["big", "18446744073709551615"], ["by id", "text by id"],
                                       ["done", "yes"]]
    assert slices["inner"]["args"] == [["at end", 1.5]]
    assert (slices["outer"]["category"], slices["inner"]["category"]) == ("cat", "one,two")
    source = tables["sources"][slices["outer"]["source"]]
    assert (source["file"], source["line"]) == ("a.c", 33)
    assert sorted((mark["name"], mark["time_ns"] - EPOCH) for mark in tables["marks"]) == [
        ("last", 10500), ("on no track", 9000), ("tick", 300)]
    assert [(row["name"], row["time_ns"] - EPOCH, row["value"]) for row in tables["counters"]] == [
        ("memory", 350, 5120), ("memory", 360, 2560)]
    flows = [(row["from_ns"] - EPOCH, row["to_ns"] - EPOCH) for row in tables["flows"]]
    assert flows == [(100, 300), (300, 5000)]
    assert health(tables) == {"unfinished": 1, "ignored": 1}
    assert [(row["pid"], row["name"], row["events"]) for row in tables["processes"]] == [
        (77, "program", 13), (0, "", 1)]
    assert tables["run"][0]["events"] == 14


def query(command, path, sql):
    done = subprocess.run([*command, str(path), sql], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_perfetto_sees_the_same(build, perfetto_query, tmp_path):
    path = rich(tmp_path)
    tables = dump(build, path)
    offset = EPOCH - BASE
    ours = [(row["name"], row["begin_ns"] - offset, row["duration_ns"], row["depth"])
            for row in tables["slices"]]
    ours += [(row["name"], row["time_ns"] - offset, 0, None) for row in tables["marks"]
             # Perfetto passes over events of packets without a sequence
             if row["name"] != "on no track"]
    theirs = [(row["name"], row["ts"], row["dur"], row["depth"])
              for row in query(perfetto_query, path, "SELECT name, ts, dur, depth FROM slice")]
    unfinished = {row["name"] for row in tables["slices"] if row["flags"] & 1}
    assert unfinished == {"never ends"}
    assert sorted((name, ts, -1 if name in unfinished else dur)
                  for name, ts, dur, _ in ours) == sorted(
        (name, ts, dur) for name, ts, dur, _ in theirs)
    depths = {name: depth for name, _, _, depth in theirs}
    assert all(depth == depths[name] for name, _, _, depth in ours if depth is not None)
    values = query(perfetto_query, path, "SELECT ts, value FROM counter ORDER BY ts")
    assert [(row["time_ns"] - offset, row["value"]) for row in tables["counters"]] == [
        (row["ts"], row["value"]) for row in values]
    flows = query(perfetto_query, path,
                  "SELECT a.ts AS a, b.ts AS b FROM flow JOIN slice a ON slice_out = a.id "
                                        "JOIN slice b ON slice_in = b.id ORDER BY 1")
    assert [(row["from_ns"] - offset, row["to_ns"] - offset) for row in tables["flows"]] == [
        (row["a"], row["b"]) for row in flows]


def test_state_is_cleared_and_missed(build, tmp_path):
    trace = begin_trace(tmp_path)
    trace.intern(names={1: "first"}, at=BASE)
    trace.event(BASE + 1, INSTANT, track=MAIN, name=1, flags=NEEDS_STATE)
    trace.clear((12, message((2, message((1, 1), (2, "second"))))), at=BASE + 2)
    trace.event(BASE + 3, INSTANT, track=MAIN, name=1, flags=NEEDS_STATE)
    trace.packet((42, 1), (13, 2), (11, message((9, INSTANT), (11, MAIN), (10, 1))), at=BASE + 4)
    trace.event(BASE + 5, INSTANT, track=MAIN, name=1, flags=NEEDS_STATE)   # its names may be lost
    trace.event(BASE + 6, INSTANT, track=MAIN, name="needs none")
    trace.clear(at=BASE + 7)
    trace.event(BASE + 8, INSTANT, track=MAIN, name=1, flags=NEEDS_STATE)
    tables = dump(build, trace.write())
    assert [mark["name"] for mark in tables["marks"]] == ["first", "second", "needs none", "iid 1"]
    assert health(tables) == {"ignored": 2}


def test_names_of_one_sequence_are_not_anothers(build, tmp_path):
    trace = begin_trace(tmp_path)
    for sequence, name in ((1, "one"), (2, "two")):
        trace.intern(names={1: name}, at=BASE, sequence=sequence)
    for sequence in (2, 1):
        trace.event(BASE + sequence, INSTANT, track=MAIN, name=1, sequence=sequence)
    assert [mark["name"] for mark in dump(build, trace.write())["marks"]] == ["one", "two"]


def test_defaults_and_counters_told_as_differences(build, tmp_path):
    trace = begin_trace(tmp_path)
    trace.track(20, parent=MAIN, counter=[(1, 1), (4, 1000), (5, 1)])
    trace.track(21, parent=MAIN, name="watts", counter=[])
    defaults = message((58, 64), (11, message((11, MAIN), (31, 20), (45, 21))))
    trace.packet((59, defaults))
    trace.event(10, BEGIN, name="by default", more=((12, 7), (46, 1.5)))
    trace.event(10, END, more=((12, 3), (46, 2.5)))
    tables = dump(build, trace.write())
    assert [(row["name"], row["begin_ns"] - EPOCH, row["duration_ns"])
            for row in tables["slices"]] == [
        ("by default", 10_000, 10_000)]
    assert [(row["name"], row["value"]) for row in tables["counters"]] == [
        ("thread_time", 7000), ("watts", 1.5), ("thread_time", 10_000), ("watts", 2.5)]
    assert tables["run"][0]["events"] == 2


def test_legacy_events(build, tmp_path):
    trace = begin_trace(tmp_path)
    legacy = lambda phase, *more: (6, message((2, ord(phase)), *more))  # noqa: E731
    for at, name, *fields in ((100, "X", legacy("X", (3, 5))), (200, "B", legacy("B")),
                              (300, "", legacy("E")), (400, "async", legacy("b", (6, 0x55))),
                              (450, "async", legacy("e", (6, 0x55))),
                              (500, "s", legacy("s", (6, 3))), (600, "f", legacy("f", (6, 3))),
                              (700, "i", legacy("i")), (800, "M", legacy("M"))):
        trace.event(BASE + at, 0, track=MAIN, name=name, more=fields)
    tables = dump(build, trace.write())
    assert sorted((row["name"], row["begin_ns"] - EPOCH, row["duration_ns"])
                  for row in tables["slices"]) == [
        ("B", 200, 100), ("X", 100, 5000), ("async", 400, 50)]
    assert [(row["from_ns"] - EPOCH, row["to_ns"] - EPOCH)
            for row in tables["flows"]] == [(500, 600)]
    assert [row["name"] for row in tables["marks"]] == ["i"]
    assert health(tables) == {"ignored": 3}  # the two ends of a flow are no events themselves


def test_compressed_packets(build, tmp_path):
    plain = begin_trace(tmp_path)
    plain.event(BASE + 1, BEGIN, track=MAIN, name="inside")
    plain.event(BASE + 2, END, track=MAIN)
    packed = Trace(tmp_path / "packed.pftrace")
    packed.packet((50, zlib.compress(b"".join(plain.packets))), sequence=0)
    assert dump(build, packed.write())["slices"] == dump(build, plain.write())["slices"]


@pytest.mark.parametrize("pack, end", [(bytes, ""), (gzip.compress, " of what it decompresses to")])
def test_damage_in_compressed_packets_has_both_places(build, tmp_path, pack, end):
    """Of a packet that was much larger: a place in it is none in the file."""
    trace = begin_trace(tmp_path)
    inside = field(1, message((900, "x" * 8000))) + b"\0"
    packed = zlib.compress(inside)
    trace.packet((50, packed), sequence=0)
    whole = trace.write().read_bytes()
    trace.path.write_bytes(pack(whole))
    assert refusal(build, trace.path).splitlines()[0].endswith(
        f"no field has this number at byte {len(inside) - 1} "
        f"of the decompressed packets at byte {len(whole) - len(packed)}{end}")


def test_odd_traces_are_kept_and_counted(build, tmp_path):
    trace = begin_trace(tmp_path)
    trace.event(BASE + 1, END, track=MAIN)                              # nothing to end
    trace.event(BASE + 2, INSTANT, track=MAIN, name="a", flows=[5])     # a flow that goes nowhere
    trace.event(None, INSTANT, track=MAIN, name="no time")
    trace.event(5, INSTANT, track=MAIN, name="unknown clock", clock_id=40)
    trace.event(BASE + 3, INSTANT, track=MAIN, name="bad \x00 text")
    tables = dump(build, trace.write())
    assert health(tables) == {"unmatched_ends": 1, "unmatched_flows": 1, "unplaced": 2,
                              "repaired_texts": 1}
    assert [mark["time_ns"] - EPOCH for mark in tables["marks"]] == [2, 2, 2, 3]


@pytest.mark.parametrize("kept", [1, 2, 5])
def test_a_cut_trace_keeps_whole_packets(build, tmp_path, kept):
    trace = begin_trace(tmp_path)
    head = len(trace.packets)
    for number in range(6):
        trace.event(BASE + number, INSTANT, track=MAIN, name=f"event {number}")
    whole = sum(len(packet) for packet in trace.packets[:head + kept])
    path = trace.write()
    path.write_bytes(path.read_bytes()[:whole + 3])
    tables = dump(build, path)
    assert [mark["name"] for mark in tables["marks"]] == [f"event {number}"
                                                          for number in range(kept)]
    assert health(tables) == {"truncated_files": 1}


def test_damage_is_refused_with_its_place(build, tmp_path):
    trace = begin_trace(tmp_path)
    place = sum(len(packet) for packet in trace.packets)
    trace.packet((11, b"\x4b"), at=BASE)  # a group
    said = refusal(build, trace.write())
    assert "wire type" in said and f"at byte {place + 10}" in said

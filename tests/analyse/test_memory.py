# SPDX-License-Identifier: Apache-2.0
"""Memory tables against a reference that replays every byte, on made traces and on a real one."""
import collections
import gzip
import json
import pathlib
import sys

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

TABLES = ("memory", "memory_peak", "memory_steps", "memory_leaks", "memory_plan", "allocations")


def event(time_us, size, address, device=(1, 0), total=None, tid=1):
    kind, index = device
    args = {"Device Type": kind, "Device Id": index, "Bytes": size}
    if address is not None:
        args["Addr"] = address
    if total is not None:
        args["Total Allocated"], args["Total Reserved"] = total
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 1,
            "tid": tid, "ts": time_us, "args": args}


def span(name, begin_us, end_us, cat="cpu_op", tid=1):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": begin_us,
            "dur": end_us - begin_us}


def write(path, events):
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def tables(varve, path, *arguments):
    return {name: table_reader.tables(varve, "report", "--table", name, "--top", "0", "--no-cache",
                                      *arguments, path)[name] for name in TABLES}


# ---- the reference: lifetimes, and what is live at an instant, each by looking at all of them ----

def lifetimes(events):
    """{device: [(begin_us or None, end_us or None, bytes)]}, of events with addresses, in order of
    time."""
    live, found = {}, collections.defaultdict(list)
    for entry in sorted(events, key=lambda entry: entry["ts"]):
        args = entry["args"]
        device = ("cpu" if args["Device Type"] == 0 else "cuda", max(args["Device Id"], 0))
        place = (device, args["Addr"])
        if args["Bytes"] > 0:
            if place in live:
                begin, size = live.pop(place)
                found[device].append((begin, entry["ts"], size))
            live[place] = (entry["ts"], args["Bytes"])
        elif place in live:
            begin, size = live.pop(place)
            found[device].append((begin, entry["ts"], size))
        else:
            found[device].append((None, entry["ts"], -args["Bytes"]))
    for (device, _), (begin, size) in live.items():
        found[device].append((begin, None, size))
    return found


def live_at(items, time_us):
    return sum(size for begin, end, size in items
               if (begin is None or begin <= time_us) and (end is None or time_us < end))


def live_before(items, time_us):
    return sum(size for begin, end, size in items
               if (begin is None or begin < time_us) and (end is None or time_us <= end))


def peak_of(items, first_us):
    instants = [first_us] + [time for begin, end, _ in items for time in (begin, end)
                             if time is not None]
    return max(live_at(items, time) for time in instants)


EVENTS = strategies.lists(
    strategies.tuples(strategies.integers(0, 60), strategies.integers(1, 9), strategies.booleans(),
                      strategies.sampled_from([(0, -1), (1, 0)])), min_size=1, max_size=40,
    unique_by=lambda drawn: (drawn[0], drawn[1], drawn[3]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("memory")


@hypothesis.settings(max_examples=60, suppress_health_check=[hypothesis.HealthCheck.too_slow])
@hypothesis.given(drawn=EVENTS, steps=strategies.integers(0, 3))
def test_every_byte_is_accounted_for(varve, folder, drawn, steps):
    sizes = {}
    events = []
    for time_us, place, is_made, device in sorted(drawn, key=lambda item: item[0]):
        size = 100 * place + time_us if is_made else -sizes.get((device, place), 100 * place)
        if is_made:
            sizes[device, place] = size
        events.append(event(time_us, size, 4096 * place, device))
    spans = [span(f"ProfilerStep#{n}", 20 * n, 20 * n + 20, "user_annotation")
             for n in range(steps)]
    read = tables(varve, write(folder / "drawn.json", [span("all", 0, 61)] + spans + events))
    found = lifetimes(events)
    assert {row["device"] for row in read["memory"]} == {f"{kind}:{index}" for kind, index in found}
    for row in read["memory"]:
        kind, index = row["device"].split(":")
        items = found[kind, int(index)]
        assert row["peak_bytes"] == peak_of(items, 0)
        assert row["begin_bytes"] == live_at(items, 0)
        assert row["end_bytes"] == live_at(items, 61)
        named = [holder for holder in read["memory_peak"] if holder["device"] == row["device"]]
        assert sum(holder["bytes"] for holder in named
                   if holder["row"] != "total") == row["peak_bytes"]
        placed = [item for item in read["memory_plan"] if item["device"] == row["device"]]
        assert row["planned"] is None and not placed or row["arena_bytes"] >= max(
            item["offset_bytes"] + item["bytes"] for item in placed)
    for row in read["memory_steps"]:
        kind, index = row["device"].split(":")
        items, begin = found[kind, int(index)], 20 * row["step"]
        assert row["begin_bytes"] + row["allocated_bytes"] - row["released_bytes"] == row[
            "end_bytes"]
        assert row["begin_bytes"] == live_before(items, begin)
        assert row["end_bytes"] == live_before(items, begin + 20)
        assert row["peak_bytes"] == max([row["begin_bytes"]] +
                                        [live_at(items, time) for time in range(begin, begin + 20)])
    assert len(read["memory_steps"]) == steps * len(found)


def test_nothing_that_lives_together_shares_a_byte_of_the_plan(varve, tmp_path):
    events = [event(10 * n, 64 + 32 * (n % 5), 4096 * (n + 1)) for n in range(40)]
    events += [event(10 * n + 35 + 20 * (n % 3), -(64 + 32 * (n % 5)), 4096 * (n + 1))
               for n in range(40)]
    read = tables(varve, write(tmp_path / "t.json", [span("all", 0, 600)] + events))
    placed = read["memory_plan"]
    assert len(placed) == 40
    for a in placed:
        meets = [b for b in placed if b is not a and b["at_ns"] < a["at_ns"] + a["lifetime_ns"]
                 and a["at_ns"] < b["at_ns"] + b["lifetime_ns"]]
        assert a["overlaps"] == len(meets)
        for b in meets:
            assert a["offset_bytes"] >= b["offset_bytes"] + b["bytes"] or b[
                "offset_bytes"] >= a["offset_bytes"] + a["bytes"]
    row = read["memory"][0]
    assert row["peak_bytes"] <= row["arena_bytes"] < sum(item["bytes"] for item in placed)


def test_who_holds_the_peak_and_what_leaks(varve, tmp_path):
    events = []
    for n in range(5):
        begin = 100 * n
        events += [span(f"ProfilerStep#{n}", begin, begin + 100, "user_annotation"),
                   span("forward", begin + 10, begin + 60), span("aten::empty", begin + 20, begin +
                                                                 30),
                   event(begin + 25, 1000, 4096 * (n + 1)),  # released by nobody
                   span("aten::conv", begin + 40, begin + 50), event(begin + 45, 5000, 1 << 20),
                   event(begin + 70, -5000, 1 << 20)]
    read = tables(varve, write(tmp_path / "leak.json", events))
    holders = {row["name"]: row["bytes"] for row in read["memory_peak"]}
    assert holders == {"aten::empty": 5000, "aten::conv": 5000, "total": 10000}
    assert [(row["path"], row["steps"], row["bytes"], row["first_step"], row["last_step"])
            for row in read["memory_leaks"]] == [("forward > aten::empty", 4, 4000, 0, 3)]
    assert [row["kept_bytes"] for row in read["memory_steps"]] == [1000] * 5
    first = read["allocations"][0]
    assert (first["bytes"], first["name"], first["lifetime_ns"]) == (1000, "aten::empty", 475_000)
    two = table_reader.tables(varve, "memory", "--steps", "1", tmp_path / "leak.json")
    assert two["memory"][0]["peak_bytes"] == 7000
    assert two["memory_leaks"] == []


def test_steps_of_two_threads_are_not_counted_together(varve, tmp_path):
    """Both allocate by turns in their steps 1 and 2, and so in two steps."""
    events = []
    for n in range(4):
        for tid in (1, 2):
            begin = 100 * n
            events += [span(f"ProfilerStep#{n}", begin, begin + 100, "user_annotation", tid),
                       span("aten::empty", begin + 1, begin + 99, tid=tid)]
            events += [event(begin + 10 * turn + tid, 10, 4096 * (20 * n + 2 * turn + tid), tid=tid)
                       for turn in range(4) if n in (1, 2)]
    assert tables(varve, write(tmp_path / "two.json", events))["memory_leaks"] == []
    events += [event(5, 10, 1 << 30, tid=2)]
    rows = tables(varve, write(tmp_path / "three.json", events))["memory_leaks"]
    assert [(row["steps"], row["first_step"], row["last_step"], row["allocations"])
            for row in rows] == [(3, 0, 2, 17)]


def test_what_was_there_before_the_trace_counts(varve, tmp_path):
    events = [span("aten::op", 0, 100), event(10, 500, 4096, total=(10_500, 20_000)),
              event(20, -500, 4096, total=(10_000, 20_000)),
              event(30, -4_000, 8192, total=(6_000, 20_000))]
    row = tables(varve, write(tmp_path / "t.json", events))["memory"][0]
    assert (row["begin_bytes"], row["peak_bytes"], row["end_bytes"]) == (10_000, 10_500, 6_000)
    assert (row["reserved_peak_bytes"], row["slack_bytes"]) == (20_000, 9_500)


def test_without_addresses_a_release_is_that_of_its_size(varve, tmp_path):
    events = [span("aten::op", 0, 100), event(10, 500, None), event(20, 300, None),
              event(30, -500, None)]
    read = tables(varve, write(tmp_path / "t.json", events))
    assert (read["memory"][0]["peak_bytes"], read["memory"][0]["end_bytes"]) == (800, 300)
    assert [(row["bytes"], row["lifetime_ns"]) for row in read["allocations"]] == [(300, 80_000),
                                                                                   (500, 20_000)]


def test_resnet50_by_an_independent_sum(varve, traces):
    path = traces / "kineto" / "resnet50_workers0.json.gz"
    sums, peaks = collections.Counter(), collections.Counter()
    changes = collections.defaultdict(lambda: [0, 0])
    for entry in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]:
        if entry.get("name") == "[memory]":
            device = "cpu:0" if entry["args"][
                "Device Type"] == 0 else f"cuda:{entry['args']['Device Id']}"
            changes[entry["ts"], device][entry["args"]["Bytes"] > 0] += entry["args"]["Bytes"]
    for (_, device), (released, made) in sorted(changes.items()):
        sums[device] += released + made
        peaks[device] = max(peaks[device], sums[device])
    rows = table_reader.tables(varve, "memory", "--table", "memory", path)["memory"]
    assert {row["device"]: row["end_bytes"] for row in rows} == sums
    assert {row["device"]: row["peak_bytes"] for row in rows} == peaks


def test_no_allocations_is_an_answer(varve, tmp_path):
    read = tables(varve, write(tmp_path / "t.json", [span("aten::op", 0, 100)]))
    assert all(rows == [] for rows in read.values())


@hypothesis.settings(max_examples=60, suppress_health_check=[hypothesis.HealthCheck.too_slow])
@hypothesis.given(drawn=strategies.lists(strategies.tuples(strategies.integers(1, 9),
                                                           strategies.integers(1, 40),
                                                           strategies.integers(0, 3),
                                                           strategies.booleans()), min_size=1,
                                                           max_size=20))
def test_what_is_held_and_not_given_out(varve, folder, drawn):
    """1 - allocated / reserved after the last event that says both, at the peak of the run and of
    each step."""
    live, events, said, reserved = {}, [], [], 0
    for turn, (place, size, spare, is_said) in enumerate(drawn):
        address, time_us = 0x10000 + 4096 * place, 3 * turn + 1
        change = -live.pop(address) if address in live else live.setdefault(address, size * 100)
        reserved = max(reserved, sum(live.values()) + 50 * spare)
        total = (sum(live.values()), reserved) if is_said and reserved else None
        events.append(event(time_us, change, address, total=total))
        if total:
            said.append((time_us, total))
    spans = [span("all", 0, 61)] + [span(f"ProfilerStep#{n}", 20 * n, 20 * n + 20,
                                         "user_annotation") for n in range(3)]
    read = tables(varve, write(folder / "held.json", spans + events))
    before = max(0, said[0][1][0] - sum(entry["args"]["Bytes"] for entry in events
                                        if entry["ts"] <= said[0][0])) if said else 0
    assert before == 0

    def share_at(time_us):
        known = [total for at, total in said if at <= time_us]
        return pytest.approx(1 - known[-1][0] / known[-1][1]) if known else None

    def peak_at(first_us, end_us):
        items = lifetimes(events)["cuda", 0]
        instants = [first_us] + [entry["ts"] for entry in events
                                 if first_us <= entry["ts"] < end_us]
        return max(instants, key=lambda time: (max(live_before(items, time) * (time == first_us),
                                                   live_at(items, time)), -time))
    row = read["memory"][0]
    assert row["peak_at_ns"] == 1000 * peak_at(0, 61)
    assert row["fragmentation"] == share_at(peak_at(0, 61))
    for step, row in enumerate(read["memory_steps"]):
        assert row["fragmentation"] == share_at(peak_at(20 * step, 20 * step + 20))


def test_the_largest_hole_is_the_allocators(varve, tmp_path):
    """Of the stretches between live neighbours, one larger than all that lies idle is not its
    memory."""
    total = (500, 1500)
    events = [event(1, 100, 0x10000), event(2, 100, 0x10000 + 400), event(3, 200, 0x10000 + 1300),
              event(4, 100, 0x90000, total=total)]
    row = tables(varve, write(tmp_path / "t.json", [span("all", 0, 61)] + events))["memory"][0]
    assert (row["largest_hole_bytes"], row["fragmentation"]) == (800, pytest.approx(1 - 500 / 1500))
    row = tables(varve, write(tmp_path / "t.json", [span("all", 0, 61), *events[:3],
                                                    event(4, 100, None, total=total)]))["memory"][0]
    assert row["largest_hole_bytes"] is None


def test_holders_of_as_much_stand_in_the_order_of_their_names(varve, tmp_path):
    def events(names):
        found = []
        for name in names:
            begin = 100 * int(name[2:])
            found += [span(name, begin, begin + 50), event(begin + 10, 4096, begin)]
        return found
    for number, names in enumerate((["op1", "op2", "op3"], ["op3", "op1", "op2"])):
        path = write(tmp_path / f"{number}.json", events(names))
        rows = tables(varve, path)["memory_peak"]
        assert [row["name"] for row in rows if row["row"] == "holder"] == ["op1", "op2", "op3"]

# SPDX-License-Identifier: Apache-2.0
"""Collectives that a program tells of (varve_collective): they meet by their numbers, sends with
receives, and the tables name the rank that was late, with the program's own numbers."""
import collections
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

import trace_writer  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402

TOLERANCE_NS = 5 * 10**6  # between the program's reading of the clock and the range's begin
LATE, LONG_NS, STEP = 1, 60 * 10**6, 1


def test_a_ring_of_four_processes(varve, tmp_path):
    path = tmp_path / "r.varve"
    done = subprocess.run([varve, "record", "-q", "-o", path, "--", binary("tests/programs/ring"),
                           str(LATE)], check=True, capture_output=True, text=True,
                          env=quiet_environment())
    begins = collections.defaultdict(dict)
    for line in done.stdout.splitlines():
        rank, step, begin = map(int, line.split())
        begins[step][rank] = begin
    assert all(max(ranks, key=ranks.get) == LATE for ranks in begins.values())
    planted = {rank: begins[STEP][LATE] - begin for rank, begin in begins[STEP].items()
               if rank != LATE}
    found = tables(varve, "critical", "--steps", str(STEP), path)
    waits = [row for row in found["rank_waits"] if row["row"] == "wait"]
    assert sorted((row["rank"], row["late_rank"], row["name"]) for row in waits) == [
        (rank, LATE, "long layer") for rank in sorted(planted)]
    for row in waits:
        assert abs(row["waited_ns"] - planted[row["rank"]]) < TOLERANCE_NS
        assert row["collectives"] == 1 and row["name_ns"] >= row["waited_ns"] - TOLERANCE_NS
    first = found["critical_ops"][0]
    assert first["name"] == "long layer" and first["time_ns"] >= LONG_NS
    kinds = [row for row in tables(varve, "report", "--table", "collective_kinds", "--top", "0",
                                   "--warm-up", path)["collective_kinds"]
             if row["row"] == "collective"]
    assert sorted((row["rank"], row["calls"], row["name"], row["group"], row["ranks"],
                   row["in_elements"], row["dtype"], row["group_size"]) for row in kinds) == [
        (rank, 3, "all_reduce", "ring", "[0, 1, 2, 3]", 256, "f64", 4) for rank in range(4)]
    slowest = max(kinds, key=lambda row: row["total_ns"])
    assert min(kinds, key=lambda row: row["total_ns"])["rank"] == LATE
    assert slowest["total_ns"] > 2 * (LONG_NS - TOLERANCE_NS)


def two_ranks(folder, calls):
    """A trace of two ranks, each a step at [0, 100 us) with ranges in it: (operation, begin, end,
    what varve.collective says more)."""
    trace = trace_writer.Trace(folder / "t.varve")
    for rank, ranges in enumerate(calls):
        process = trace.process(pid=100 + rank, rank=rank, world_size=2)
        work, wire = (process.site("begin", name, layer="OP") for name in ("work", "wire"))
        thread = process.thread(tid=100 + rank)
        thread.step_begin(0, at=1000)
        at = 1000
        for operation, begin, end, more in ranges:
            thread.begin(work, at=at)
            thread.end(at=begin)
            thread.begin(wire, at=begin)
            thread.collective(operation, at=begin, group="world", rank=rank, size=2, **more)
            thread.end(at=end)
            at = end
        thread.begin(work, at=at)
        thread.end(at=101_000)
        thread.step_end(at=101_000)
    return trace.write()


def waited(varve, path):
    return [(row["rank"], row["late_rank"], row["waited_ns"], row["collectives"])
            for row in tables(varve, "critical", path)["rank_waits"] if row["row"] == "wait"]


def test_a_receive_waits_for_its_send(varve, tmp_path):
    path = two_ranks(tmp_path, [[("recv", 10_000, 51_000, {"peer": 1, "number": 0})],
                                [("send", 50_000, 51_000, {"peer": 0, "number": 0})]])
    assert waited(varve, path) == [(0, 1, 40_000, 1)]


def test_what_goes_the_other_way_is_something_else(varve, tmp_path):
    """Both send, and then both receive: each receive meets the send of the other rank."""
    path = two_ranks(tmp_path, [
        [("send", 10_000, 11_000, {"peer": 1, "number": 0}),
         ("recv", 20_000, 41_000, {"peer": 1, "number": 0})],
        [("send", 40_000, 42_000, {"peer": 0, "number": 0}),
         ("recv", 50_000, 51_000, {"peer": 0, "number": 0})]])
    assert waited(varve, path) == [(0, 1, 20_000, 1)]


def test_numbers_go_before_the_order_of_begins(varve, tmp_path):
    """The first rank lacks number 4; the others belong together all the same."""
    path = two_ranks(tmp_path, [
        [("all_reduce", 30_000, 41_000, {"number": 5}), ("all_reduce", 50_000, 71_000,
                                                         {"number": 6})],
        [("all_reduce", 10_000, 11_000, {"number": 4}), ("all_reduce", 40_000, 41_000,
                                                         {"number": 5}),
         ("all_reduce", 70_000, 71_000, {"number": 6})]])
    assert waited(varve, path) == [(0, 1, 30_000, 2)]


def test_without_numbers_they_meet_in_their_order(varve, tmp_path):
    path = two_ranks(tmp_path, [[("barrier", 10_000, 41_000, {}), ("barrier", 50_000, 61_000, {})],
                                [("barrier", 40_000, 41_000, {}), ("barrier", 45_000, 61_000, {})]])
    assert sorted(waited(varve, path)) == [(0, 1, 30_000, 1), (1, 0, 5_000, 1)]

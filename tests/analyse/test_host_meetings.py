# SPDX-License-Identifier: Apache-2.0
"""Ranks meet in collectives that a library of the host runs: gloo's ranges, and ranges that a
program marks itself."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import table_reader
from model_tables import dump
from trace_writer import Trace

US = 1000
OUTSIDE = "(outside operators)"


class Rank:
    """A process with one thread in a step of 1,000 us, and what it runs in the background."""

    def __init__(self, trace, pid, **env):
        self.process = trace.process(pid=pid, **env)
        self.main = self.process.thread(tid=pid)
        self.others = self.process.thread(tid=pid + 1)
        self.pairs = 0
        self.main.step_begin(1, at=0)

    def op(self, name, begin, end, layer="OP"):
        self.main.begin(self.process.site("begin", name, layer=layer), at=begin * US)
        self.main.end(at=end * US)

    def runs(self, name, begin, end, thread=None):
        self.pairs += 1
        for kind, at in (("async_begin", begin), ("async_end", end)):
            (thread or self.others).pair(self.process.site(kind, name, layer="COMM"), self.pairs,
                                         at=at * US)

    def done(self):
        self.main.step_end(at=1000 * US)


def asks(rank, begin, word="allreduce_"):
    rank.op(f"c10d::{word}", begin, begin + 10)


def two_ranks(one, other):
    """Each computes and asks for an all-reduce. The second one loads 400 us longer. The all-reduce
    takes 55 us, and then each goes on when it has woken up."""
    one.op("aten::mm", 10, 100)
    asks(one, 100)
    one.runs("gloo:all_reduce", 105, 560)
    one.op("aten::add", 600, 700)
    other.op("aten::mm", 10, 100)
    other.op("late::load", 100, 500)
    asks(other, 500)
    other.runs("gloo:all_reduce", 505, 560)
    other.op("aten::add", 590, 690)
    one.done()
    other.done()


def critical(varve, *arguments):
    tables = table_reader.tables(varve, "critical", "--no-cache", "--top", "0", *arguments)
    return tables


def who_waited(tables):
    return [(row["waits"], row["late"], row["waited_ns"] // US, row["collectives"], row["name"],
             row["name_ns"] // US) for row in tables["rank_waits"] if row["row"] == "wait"]


def path(tables):
    return [(row["name"], row["time_ns"] // US, row["rank"]) for row in tables["critical_path"]
            if row["row"] in ("segment", "gap")]


@pytest.mark.parametrize("where", ["one trace", "two traces"])
def test_a_rank_waits_for_the_late_one(varve, tmp_path, where):
    trace = Trace(tmp_path / "a.varve")
    traces = [trace] if where == "one trace" else [trace, Trace(tmp_path / "b.varve")]
    two_ranks(Rank(trace, 100, rank=0, world_size=2), Rank(traces[-1], 200, rank=1, world_size=2))
    tables = critical(varve, *(each.write() for each in traces))
    row = tables["critical"][0]
    assert (row["collectives"], row["unmatched_communication"]) == (1, 0)
    # since 105 until it was asked for, at 500
    assert who_waited(tables) == [("rank 0", "rank 1", 400, 1, "late::load", 395)]
    assert [(part["rank"], part["late_rank"]) for part in tables["rank_waits"][:1]] == [(0, 1)]
    assert path(tables)[:5] == [(OUTSIDE, 10, 1), ("aten::mm", 90, 1), ("late::load", 400, 1),
                                ("c10d::allreduce_", 5, 1), ("gloo:all_reduce", 55,
                                                             path(tables)[4][2])]
    assert (row["path_ns"], row["gap_ns"]) == (1000 * US, 0)
    pays = {item["change"]: item["saved_ns"] // US for item in tables["what_if"]}
    assert (pays["late::load"], pays["gloo:all_reduce"]) == (200, 27)
    # what the first rank does before it waits could take 400 us longer
    slack = {item["name"]: item["max_slack_ns"] // US for item in tables["slack"]}
    assert slack["aten::mm"] == slack["c10d::allreduce_"] == 400


def test_a_rank_that_waits_in_two_collectives_at_once_waits_once(varve, tmp_path):
    """As DistributedDataParallel does, whose buckets overlap with the backward pass: 400 us in the
    first, and 100 of these and 150 more in the second."""
    trace = Trace(tmp_path / "a.varve")
    one, other = Rank(trace, 100, rank=0, world_size=2), Rank(trace, 200, rank=1, world_size=2)
    for rank, firsts, seconds in ((one, 100, 400), (other, 500, 650)):
        rank.op("backward", 0, 90)
        for begin in (firsts, seconds):
            asks(rank, begin)
        rank.runs("gloo:all_reduce", firsts + 5, 600)
        rank.runs("gloo:all_reduce", seconds + 5, 740, rank.process.thread(tid=7 + firsts))
        rank.op("aten::add", 750, 800)
        rank.done()
    tables = critical(varve, trace.write())
    assert tables["critical"][0]["collectives"] == 2
    wait, = (row for row in tables["rank_waits"] if row["row"] == "wait")
    assert (wait["waited_ns"] // US, wait["collectives"], wait["max_ns"] // US) == (550, 2, 400)


def test_what_a_late_rank_costs_is_of_one_step_of_the_rank_that_waits(varve, tmp_path):
    """Without any device. The steps are those of both ranks; each waits or is late once a step."""
    trace = Trace(tmp_path / "a.varve")
    two_ranks(Rank(trace, 100, rank=0, world_size=2), Rank(trace, 200, rank=1, world_size=2))
    row = table_reader.tables(varve, "report", "--no-cache", "--table", "advice",
                              trace.write())["advice"][0]
    assert (row["rule"], row["share"], row["saves_ns"]) == ("late_rank", 0.4, 400 * US)
    assert row["finding"].startswith("In collectives rank 0 waits 400 µs for rank 1,")
    assert row["why"] == "late::load takes 400 µs longer on rank 1 than on rank 0."


@pytest.mark.parametrize("second_us", [300, 450])
def test_ranks_that_wait_for_each_other_by_turns_are_not_slow(varve, tmp_path, second_us):
    """Rank 1 is 300 us late in the first collective. Rank 0 is late in the second one."""
    trace = Trace(tmp_path / "a.varve")
    one, other = Rank(trace, 100, rank=0, world_size=2), Rank(trace, 200, rank=1, world_size=2)
    late = {one: (100, 420 + second_us), other: (400, 600)}
    for rank, begins in late.items():
        for begin, end in zip(begins, (420, 430 + second_us)):
            asks(rank, begin)
            rank.runs("gloo:all_reduce", begin + 5, end)
        rank.done()
    path = trace.write()
    waits = {row["rank"]: row for row in critical(varve, path)["rank_waits"]
             if row["row"] == "wait"}
    assert waits[0]["waited_ns"] == 300 * US
    assert waits[1]["waited_ns"] == (second_us - 180) * US
    assert waits[0]["net_ns"] == max(300 - (second_us - 180), 0) * US
    found = table_reader.tables(varve, "report", "--no-cache", "--table", "advice", "--top", "0",
                                path)["advice"]
    assert [row["saves_ns"] // US for row in found if row["rule"] == "late_rank"] == (
        [300 - (second_us - 180)] if second_us < 430 else [])


def test_what_runs_alone_in_the_background_is_a_phase_and_gaps_are_none(varve, tmp_path):
    """The largest gap is between two pieces of the backward pass."""
    trace = Trace(tmp_path / "a.varve")
    one = Rank(trace, 100, rank=0, world_size=2)
    one.op("autograd::engine::evaluate_function: MmBackward0", 100, 200)
    one.op("autograd::engine::evaluate_function: AddBackward0", 400, 520)
    one.runs("gloo:all_reduce", 480, 800)
    one.op("Optimizer.step#SGD.step", 850, 900)
    one.done()
    told = table_reader.tables(varve, "steps", "--no-cache", trace.write())
    assert {row["phase"]: row["duration_ns"] // US for row in told["step_phases"]} == {
        "backward": 100 + 120, "communication": 800 - 520, "optimizer": 50,
        "other": 100 + 200 + 50 + 100}


def test_a_process_that_states_no_rank_is_one(varve, tmp_path):
    trace = Trace(tmp_path / "a.varve")
    two_ranks(Rank(trace, 100), Rank(trace, 200))
    assert who_waited(critical(varve, trace.write())) == [
        ("process 100", "process 200", 400, 1, "late::load", 395)]


def test_python_between_operators_is_late_too(varve, tmp_path):
    trace = Trace(tmp_path / "a.varve")
    one, other = Rank(trace, 100, rank=0, world_size=2), Rank(trace, 200, rank=1, world_size=2)
    for rank, at in ((one, 100), (other, 500)):
        asks(rank, at, "barrier")
        rank.runs("gloo:barrier", at + 5, 560)
        rank.done()
    assert who_waited(critical(varve, trace.write())) == [("rank 0", "rank 1", 400, 1, OUTSIDE,
                                                           395)]


def test_each_rank_has_its_own_step(varve, tmp_path):
    """The second step of one rank begins in the first step of the other one."""
    trace = Trace(tmp_path / "a.varve")
    for pid, shift in ((100, 0), (200, 400)):
        process = trace.process(pid=pid, rank=pid // 200, world_size=2)
        main = process.thread(tid=pid)
        for step in range(3):
            at = 1000 * step + shift
            main.step_begin(step, at=at * US)
            main.begin(process.site("begin", f"op {step}"), at=at * US)
            main.end(at=(at + 900) * US)
            main.step_end(at=(at + 900) * US)
    tables = critical(varve, "--warm-up", "--steps", "1", trace.write())
    assert {row["name"]: row["events"] for row in tables["slack"] if row["row"] == "operator"
            and row["name"].startswith("op")} == {"op 1": 2}


def test_what_is_done_behind_a_wait_makes_late_too(varve, tmp_path):
    """Both wait for the first collective, until 160. Then, before any operator, one sleeps in the
    same range."""
    trace = Trace(tmp_path / "a.varve")
    for number, at in enumerate((200, 600)):
        rank = Rank(trace, 100 * (number + 1), rank=number, world_size=2)
        asks(rank, 100)
        rank.runs("gloo:all_reduce", 105, 160)
        rank.op("loading", 120, at, layer="API")
        asks(rank, at)
        rank.runs("gloo:all_reduce", at + 5, 700)
        rank.done()
    tables = critical(varve, trace.write())
    assert meetings(tables) == (2, 0)
    assert who_waited(tables) == [("rank 0", "rank 1", 400, 1, "loading", 395)]


def meetings(tables):
    row = tables["critical"][0]
    return row["collectives"], row["unmatched_communication"]


@pytest.mark.parametrize("word, begins, ends, met", [
    ("all_reduce", (105, 505), (560, 560), (1, 0)),
    ("all_reduce", (105, 505), (300, 560), (0, 2)),  # the clocks disagree
    ("broadcast", (105, 505), (300, 560), (0, 0)),   # its source need not wait
    ("broadcast", (505, 105), (560, 560), (1, 0)),
    ("send", (105, 505), (560, 560), (0, 0)),        # not of all ranks
])
def test_what_meets(varve, tmp_path, word, begins, ends, met):
    trace = Trace(tmp_path / "a.varve")
    for number, (begin, end) in enumerate(zip(begins, ends)):
        rank = Rank(trace, 100 * (number + 1), rank=number, world_size=2)
        asks(rank, begin - 5, word)
        rank.runs(f"gloo:{word}", begin, end)
        rank.done()
    assert meetings(critical(varve, trace.write())) == met


def test_ranks_with_other_counts_do_not_meet(varve, tmp_path):
    trace = Trace(tmp_path / "a.varve")
    for number in range(2):
        rank = Rank(trace, 100 * (number + 1), rank=number, world_size=2)
        for at in (100, 300)[:2 - number]:
            asks(rank, at)
            rank.runs("gloo:all_reduce", at + 5, at + 100)
        rank.done()
    assert meetings(critical(varve, trace.write())) == (0, 3)


def test_groups_are_kept_apart(varve, tmp_path):
    """Ranks 0 and 1 reduce in one group, 2 and 3 in another. The trace states the groups at the
    operator that asks."""
    trace = Trace(tmp_path / "a.varve")
    for number in range(4):
        rank = Rank(trace, 100 * (number + 1), rank=number, world_size=4)
        late = 200 * (number % 2) + 300 * (number // 2)
        rank.main.begin(rank.process.site("begin", "c10d::allreduce_", layer="COMM"),
                        at=(100 + late) * US)
        group = rank.process.string(f"group {number // 2}")
        rank.main.call([("tensor", [4], "f32"), ("group", [group, 2, number % 2])],
                       at=(100 + late) * US)
        rank.main.end(at=(110 + late) * US)
        rank.runs("gloo:all_reduce", 105 + late, 350 + 300 * (number // 2))
        rank.done()
    tables = critical(varve, trace.write())
    assert meetings(tables) == (2, 0)
    assert sorted(row[:3] for row in who_waited(tables)) == [("rank 0", "rank 1", 200),
                                                             ("rank 2", "rank 3", 200)]


def test_ranges_that_a_program_marks(varve, tmp_path):
    """MPI: the thread itself is in the collective."""
    trace = Trace(tmp_path / "a.varve")
    for number, begin in enumerate((100, 500)):
        rank = Rank(trace, 100 * (number + 1), rank=number, world_size=2)
        rank.op("solve", 0, begin)
        rank.op("MPI_Allreduce", begin, 560, layer="COMM")
        rank.op("write", 560, 1000)
        rank.done()
    tables = critical(varve, trace.write())
    assert who_waited(tables) == [("rank 0", "rank 1", 400, 1, "solve", 400)]
    assert path(tables)[:2] == [("solve", 500, 1), ("MPI_Allreduce", 60, path(tables)[1][2])]
    bounds = {row["bound"]: row["time_ns"] // US for row in tables["critical_bound"]
              if row["row"] == "bound"}
    assert bounds == {"host": 940, "communication": 60}


@pytest.mark.parametrize("says", ["nothing", "its number"])
def test_a_rank_that_the_environment_does_not_name(varve, tmp_path, says):
    """A program that forks names the ranks of its children later: only one of two had a name when
    it began. The other one is no second rank 1; its collectives may say which rank it is."""
    trace = Trace(tmp_path / "a.varve")
    for begin, env in ((100, {}), (500, {"rank": 1, "world_size": 2})):
        rank = Rank(trace, begin, **env)
        rank.op("solve", 0, begin)
        rank.main.begin(rank.process.site("begin", "MPI_Allreduce", layer="COMM"), at=begin * US)
        if says == "its number":
            rank.main.collective("all_reduce", at=begin * US, rank=env.get("rank", 0), size=2)
        rank.main.end(at=560 * US)
        rank.done()
    waits = critical(varve, trace.write())["rank_waits"][0]
    assert (waits["rank"], waits["late_rank"]) == (0 if says == "its number" else None, 1)
    assert (waits["waited_ns"], waits["name"]) == (400 * US, "solve")


def test_a_group_larger_than_the_launchers_job_names_the_rank(build, tmp_path):
    """One task of a launcher starts four ranks. A group of two does not."""
    trace = Trace(tmp_path / "a.varve")
    for number in range(4):
        rank = Rank(trace, 100 + 10 * number, rank=0, world_size=1 if number < 3 else 4)
        rank.main.begin(rank.process.site("begin", "all_reduce", layer="COMM"), at=5)
        for size in (2, 4):
            rank.main.collective("all_reduce", at=6, rank=number % size, size=size)
        rank.main.end(at=10)
        rank.done()
    processes = dump(build, trace.write())["processes"]
    assert [(row["rank"], row["world_size"]) for row in processes] == [(0, 4), (1, 4), (2, 4),
                                                                       (0, 4)]


def test_ranges_of_pytorchs_profiler(varve, tmp_path):
    """There gloo's range stands on the thread that ran it. Rank 1 computes 400 us longer."""
    paths = []
    for number, late in enumerate((0, 400)):
        def event(name, category, begin, end, tid=7, pid=70 + number):
            return {"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid, "ts": begin,
                    "dur": end - begin, "args": {}}
        events = [event("ProfilerStep#1", "user_annotation", 0, 1000),
                  event("aten::mm", "cpu_op", 10, 100 + late),
                  event("c10d::allreduce_", "cpu_op", 100 + late, 110 + late),
                  event("gloo:all_reduce", "user_annotation", 105 + late, 560, 8),
                  event("aten::add", "cpu_op", 600, 700)]
        paths.append(tmp_path / f"rank{number}.json")
        paths[-1].write_text(json.dumps({"distributedInfo": {"rank": number, "world_size": 2},
                                         "traceEvents": events}))
    tables = critical(varve, *paths)
    assert who_waited(tables) == [("rank 0", "rank 1", 400, 1, "aten::mm", 395)]
    assert path(tables)[:4] == [(OUTSIDE, 10, 1), ("aten::mm", 490, 1), ("c10d::allreduce_", 5, 1),
                                ("gloo:all_reduce", 55, path(tables)[3][2])]


def test_what_was_asked_for_before_the_recording_has_no_pair(varve, tmp_path):
    """The first range of each rank runs already when the first operator asks."""
    trace = Trace(tmp_path / "a.varve")
    for number in range(2):
        rank = Rank(trace, 100 * (number + 1), rank=number, world_size=2)
        rank.runs("gloo:all_reduce", 10 + number, 50)
        asks(rank, 100 + 300 * number)
        rank.runs("gloo:all_reduce", 105 + 300 * number, 600)
        rank.done()
    tables = critical(varve, trace.write())
    assert meetings(tables) == (2, 0)
    assert [row[:4] for row in who_waited(tables)] == [("rank 0", "rank 1", 301, 2)]


def test_marked_collectives_have_their_table(varve, tmp_path):
    """A range around another one is one collective with it. A backend's range and a message are
    none, and neither is a range of another layer."""
    trace = Trace(tmp_path / "a.varve")
    rank = Rank(trace, 100, rank=0, world_size=2)
    rank.op("MPI_Allreduce", 10, 30, layer="COMM")
    rank.main.begin(rank.process.site("begin", "MPI_Allreduce", layer="COMM"), at=40 * US)
    rank.op("PMPI_Allreduce", 41, 49, layer="COMM")
    rank.main.end(at=50 * US)
    rank.op("MPI_Send", 60, 70, layer="COMM")
    rank.op("gloo:all_reduce", 70, 80, layer="COMM")
    rank.op("my_allreduce", 80, 90)
    rank.done()
    rows = table_reader.tables(varve, "report", "--table", "collective_kinds",
                               trace.write())["collective_kinds"]
    assert [(row["name"], row["calls"], row["total_ns"] // US) for row in rows] == [
        ("MPI_Allreduce", 2, 30), ("total", 2, 30)]

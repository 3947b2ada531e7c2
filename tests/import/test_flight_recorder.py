# SPDX-License-Identifier: Apache-2.0
"""Traces of a flight recorder (doc/format.md §11): what lacks its beginning is whole, what lacks
more is not, and the two readers count the same ranges that began before."""
import json
import pathlib
import subprocess
import sys
import tempfile

import pytest
from hypothesis import given, settings, strategies

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "import"), str(TESTS.parent / "tools")]

import trace_writer  # noqa: E402
import varve_decode  # noqa: E402
from table_reader import tables  # noqa: E402
from test_varve_format import Player, RECORDS, babeltrace_count  # noqa: E402

TEN_S = 10 * 10**9


@pytest.fixture
def run_text(varve):
    """run_text("info", …) is what the command prints for people."""
    def run(*words):
        return subprocess.run([varve, *map(str, words)], capture_output=True, text=True,
                              check=True).stdout
    return run


def found(varve, path):
    return {row["finding"]: row["count"] for row in tables(varve, "info", path)["health"]}


def three_parts(path, **env):
    """A range in which two others lie begins in part 0; it and one of them end in part 1. Part 2:
    one of its own."""
    trace = trace_writer.Trace(path)
    process = trace.process(1, **env)
    outer, inner = process.site("begin", "outer"), process.site("begin", "inner")
    thread = process.thread(1)
    thread.begin(outer, at=1000)
    thread.begin(inner, at=1010)
    thread.end(at=1020)
    thread.begin(inner, at=1030)
    thread.new_part()
    thread.end(at=1040)
    thread.begin(inner, at=1050)
    thread.end(at=1060)
    thread.end(at=1100)
    thread.new_part()
    thread.begin(inner, at=1110)
    thread.end(at=1130)
    return trace, thread


def test_without_its_oldest_parts_a_stream_is_whole(varve, tmp_path):
    trace, thread = three_parts(tmp_path / "t.varve", keep_ns=TEN_S)
    thread.removed = 1
    path = trace.write()
    assert found(varve, path) == {"begun_before": 2}
    row = tables(varve, "info", path)["trace"][0]
    assert (row["events"], row["slices"], row["lost"], row["truncated_files"]) == (6, 2, 0, 0)
    assert (row["keep_ns"], row["keep_bytes"], row["begun_before"]) == (TEN_S, None, 2)
    assert row[
        "kept"] == "flight recorder: the last 10 s of each process were kept; 2 ranges began before"
    assert row["trust"].startswith("no event lost · clock")
    assert "odd" not in row["trust"]
    assert row["record_cost_ns"] is None
    (operator,) = [line for line in tables(varve, "report", path)["operators"]
                   if line["row"] == "operator"]
    assert (operator["name"], operator["calls"], operator["total_ns"]) == ("inner", 2, 30)
    thread.removed = 2
    assert found(varve, trace.write()) == {}
    decoded = varve_decode.open_trace(str(path))
    assert decoded.problems == []


def test_text_forms_say_it_in_one_line(varve, tmp_path, run_text):
    trace, thread = three_parts(tmp_path / "t.varve", keep_bytes=64 * 10**6)
    thread.removed = 1
    path = trace.write()
    line = "flight recorder: the last 64 MB of each process were kept; 2 ranges began before"
    for verb in ("info", "report"):
        assert [text.split(None, 1)[1] for text in run_text(verb, path).splitlines()
                if text.strip().startswith("kept")] == [line]
    assert "kept" not in run_text("report", three_parts(tmp_path / "u.varve")[0].write())


def test_a_whole_stream_of_a_flight_recorder_is_as_any(varve, tmp_path):
    trace, _ = three_parts(tmp_path / "t.varve", keep_ns=TEN_S)
    path = trace.write()
    assert found(varve, path) == {}
    row = tables(varve, "info", path)["trace"][0]
    assert (row["slices"], row["begun_before"]) == (4 + 1, 0)


def test_without_the_env_a_missing_part_is_a_fault(varve, tmp_path):
    trace, thread = three_parts(tmp_path / "t.varve")
    thread.removed = 1
    path = trace.write()
    assert found(varve, path) == {"truncated_files": 1, "unmatched_ends": 2}
    assert tables(varve, "info", path)["trace"][0]["kept"] is None
    assert [problem.text for problem in varve_decode.open_trace(str(path)).problems] \
        [:2] == ["part 0 of this stream is missing", "packet_seq_num is 1, not 0"]


@pytest.mark.parametrize("missing, finding", [(1, {"truncated_files": 1, "unmatched_ends": 0}),
                                              (0, {})])
def test_a_part_missing_in_the_middle_is_a_fault_all_the_same(varve, tmp_path, missing, finding):
    trace, thread = three_parts(tmp_path / "t.varve", keep_ns=TEN_S)
    thread.new_part()
    thread.end(at=1200)
    path = trace.write()
    (path / "1" / f"thread.1.{missing}").unlink()
    seen = found(varve, path)
    assert seen.get("truncated_files", 0) == finding.get("truncated_files", 0)
    assert bool(varve_decode.open_trace(str(path)).problems) == bool(missing)


def test_the_first_packet_of_part_0_must_be_the_first(varve, tmp_path):
    trace, thread = three_parts(tmp_path / "t.varve", keep_ns=TEN_S)
    for packets in thread.parts:
        for packet in packets:
            packet["sequence"] += 5
    path = trace.write()
    assert found(varve, path)["truncated_files"] == 1
    assert varve_decode.open_trace(str(path)).problems


def lossy(path, says_before, lost_after):
    """Seven records are lost in the part that is removed, `lost_after` at the end of the first
    packet kept."""
    trace = trace_writer.Trace(path)
    process = trace.process(1, keep_ns=TEN_S)
    site = process.site("begin", "op")
    thread = process.thread(1)
    thread.says_before = says_before
    thread.begin(site, at=1000)
    thread.lose(7, at=1010)
    thread.new_part()
    thread.begin(site, at=1020)
    if lost_after:
        thread.lose(lost_after, at=1030)
    thread.end(at=1040)
    thread.removed = 1
    return trace


@pytest.mark.parametrize("lost_after", [0, 3])
def test_what_was_lost_before_is_no_loss_of_what_was_kept(varve, tmp_path, lost_after):
    path = lossy(tmp_path / "t.varve", True, lost_after).write()
    row = tables(varve, "info", path)["trace"][0]
    assert row["lost"] == lost_after
    assert row["unfinished"] == (1 if lost_after else 0)
    assert found(varve, path).get("unmatched_ends", 0) == (1 if lost_after else 0)
    assert tables(varve, "info", path)["threads"][0]["lost"] == lost_after
    decoded = varve_decode.open_trace(str(path))
    assert decoded.problems == []
    assert varve_decode.counts(decoded)["lost"] == lost_after


def test_a_writer_that_does_not_say_lost_it_all_before(varve, tmp_path):
    path = lossy(tmp_path / "t.varve", False, 0).write()
    assert tables(varve, "info", path)["trace"][0]["lost"] == 0
    assert varve_decode.counts(varve_decode.open_trace(str(path)))["lost"] == 0


def test_a_step_that_began_before_ends_what_is_open_in_it(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "t.varve")
    process = trace.process(1, keep_bytes=10**6)
    site = process.site("begin", "op")
    thread = process.thread(1)
    thread.step_begin(4, at=1000)
    thread.new_part()
    thread.begin(site, at=1010)
    thread.step_end(at=1050)
    thread.step_begin(5, at=1060)
    thread.step_end(at=1070)
    thread.removed = 1
    path = trace.write()
    assert found(varve, path) == {"begun_before": 1}
    (operator,) = [line for line in tables(varve, "report", path)["operators"]
                   if line["row"] == "operator"]
    assert operator["total_ns"] == 40
    assert [step["step"] for step in tables(varve, "steps", path)["steps"]] == [5]


def test_a_pause_before_what_was_kept_does_not_hide_what_began_after_it(varve, tmp_path):
    trace, thread = three_parts(tmp_path / "t.varve", keep_ns=TEN_S)
    trace.processes[0].layers(0, at=900)
    trace.processes[0].layers(0x7FF, at=950)
    thread.removed = 1
    assert found(varve, trace.write()) == {"begun_before": 2}


def test_other_ends_of_pairs_may_lie_before(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "t.varve")
    process = trace.process(1, keep_ns=TEN_S)
    out, into = process.site("flow_out", "arrow"), process.site("flow_in", "arrow")
    begin, end = process.site("async_begin", "copy"), process.site("async_end", "copy")
    first, second = process.thread(1), process.thread(2)
    first.pair(out, 7, at=1000)
    first.pair(begin, 8, at=1000)
    first.new_part()
    first.counter(process.site("counter", "n"), 1.0, at=1001)
    second.pair(into, 7, at=1010)
    second.pair(end, 8, at=1010)
    assert found(varve, trace.write()) == {}
    first.removed = 1
    assert found(varve, trace.write()) == {"begun_before": 1, "flows_before": 1}
    del process.env["keep_ns"]
    assert found(varve, trace.write()) == {"truncated_files": 1, "unmatched_flows": 1,
                                           "unmatched_async": 1}


def test_a_stream_of_which_nothing_is_left_leaves_a_number_free(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "t.varve")
    process = trace.process(1, keep_ns=TEN_S, record_cost_ps=1000)
    site = process.site("begin", "op")
    for tid in (1, 2):
        thread = process.thread(tid)
        thread.begin(site, at=1000)
        thread.end(at=2000)
    path = trace.write()
    assert tables(varve, "info", path)["trace"][0]["record_cost_ns"] == 4
    (path / "1" / "thread.1.0").unlink()
    row = tables(varve, "info", path)["trace"][0]
    assert (row["threads"], row["truncated_files"], row["record_cost_ns"]) == (1, 0, None)


def test_storage_is_repeated(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "t.varve")
    words = "memory, written by a thread every 100 ms: mmap failed with ENODEV"
    trace.process(1, storage=words)
    trace.process(2)
    rows = tables(varve, "info", trace.write())["processes"]
    assert [row["storage"] for row in rows] == [words, None]


@settings(max_examples=60)
@given(strategies.lists(strategies.tuples(RECORDS, strategies.integers(0, 3)), min_size=1,
                        max_size=3))
def test_two_readers_see_the_same_ranges(varve, threads):
    with tempfile.TemporaryDirectory() as folder:
        trace = trace_writer.Trace(pathlib.Path(folder) / "t.varve")
        process = trace.process(1, keep_ns=TEN_S)
        for tid, (actions, removed) in enumerate(threads):
            thread = process.thread(tid + 1)
            thread.says_before = True
            Player(process, thread).play(actions)
            thread.removed = min(removed, len(thread.parts) - 1)
        path = trace.write()
        decoded = varve_decode.open_trace(str(path))
        assert decoded.problems == []
        counts, (told,) = varve_decode.counts(decoded), decoded.processes
        built, unmatched = varve_decode.ranges(told)
        row, health = tables(varve, "info", path)["trace"][0], found(varve, path)
        assert (row["events"], row["lost"]) == (counts["events"], counts["lost"])
        assert row["slices"] == len(built)
        assert (row["truncated_files"], row["unfinished"]) == (0, sum(item.unfinished
                                                                      for item in built))
        assert health.get("unmatched_ends", 0) == unmatched
        assert health.get("begun_before", 0) == told.begun_before
        operators = tables(varve, "report", path, "--top", 0)["operators"]
        assert {line["name"]: line["total_ns"] for line in operators if line["row"] == "operator"} \
            == {name: total["total_ns"] for name, total in counts["ranges"].items()}


def test_babeltrace_reads_what_is_left(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "t.varve")
    process = trace.process(1, keep_bytes=10**6)
    site = process.site("begin", "op")
    thread = process.thread(1)
    for i in range(9000):
        if i % 3000 == 2999:
            thread.new_part()
        thread.begin(site, at=1000 + 20 * i)
        thread.end(at=1010 + 20 * i)
    thread.removed = 2
    path = trace.write()
    left = 2 * (9000 - 5999)
    assert tables(varve, "info", path)["trace"][0]["events"] == left == babeltrace_count(path)


def test_a_manifest_of_record_repeats_the_storage(varve, tmp_path, run_text):
    """The program puts a process's folder where the library would have."""
    words = 'memory, "written" by a thread'
    hand = trace_writer.Trace(tmp_path / "hand.varve")
    hand.process(2, storage=words)
    hand.process(10, storage="other")
    hand.process(3)
    path = hand.write()
    run_text("record", "-q", "-o", tmp_path / "t.varve", "--", "sh", "-c",
             f'cp -r {path}/2 {path}/10 {path}/3 "$VARVE_OUTPUT"')
    manifest = json.loads((tmp_path / "t.varve" / "manifest.json").read_text())
    assert manifest["processes"] == [{"process": "2", "storage": words},
                                     {"process": "10", "storage": "other"}]
    run_text("record", "-q", "-o", tmp_path / "u.varve", "--", "true")
    assert "processes" not in json.loads((tmp_path / "u.varve" / "manifest.json").read_text())

# SPDX-License-Identifier: Apache-2.0
"""Records of counters (doc/format.md §6): what a range used is the difference of its first and last
record, less what the counted ranges inside it used. Every reader finds them, from both writers."""
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

import trace_writer  # noqa: E402
import varve_decode  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402
from test_varve_format import babeltrace_count  # noqa: E402

US = 1000


def made(folder, unknown=False):
    """A step with conv (cpu 900 µs of 1,000, 7 faults) around gemm (400 µs of 500, 2 faults)."""
    trace = trace_writer.Trace(folder / "c.varve")
    process = trace.process(pid=100)
    conv = process.site("begin", "conv", layer="OP")
    gemm = process.site("begin", "gemm", layer="OP")
    process.counter_names(["cpu_ns", "page_faults"])
    process.counter_names(["cpu_ns", "cycles"], choice=2)
    thread = process.thread(tid=100)
    thread.step_begin(0, at=0)
    thread.counts([10 * US, 1], at=0)
    thread.begin(conv, at=0)
    thread.counts([10 * US, 1], at=1)
    thread.begin(gemm, at=100 * US)
    thread.counts([60 * US, 4], at=100 * US)
    thread.counts([460 * US, None if unknown else 6], at=600 * US)
    thread.end(at=600 * US)
    thread.counts([910 * US, 8], at=1000 * US)
    thread.end(at=1000 * US)
    thread.counts([950 * US, 11], at=1100 * US)
    thread.step_end(at=1100 * US)
    return trace, thread, gemm


def rows_of(varve, path, table="operator_counters"):
    key = "name" if table == "operator_counters" else "row"
    return {row[key]: row for row in tables(varve, "report", "--warm-up", "--table", table,
                                            path)[table]}


def test_every_reader_finds_them(varve, tmp_path):
    path = made(tmp_path)[0].write()
    decoded = varve_decode.open_trace(str(path))
    assert decoded.problems == []
    names = varve_decode.counts(decoded)["by_name"]
    assert (names["varve.counter_name"], names["varve.counts"]) == (4, 6)
    if (count := babeltrace_count(path)) is not None:
        assert count == sum(names.values())


def test_an_operators_counts_are_without_those_inside_it(varve, tmp_path):
    rows = rows_of(varve, made(tmp_path)[0].write())
    assert {name: (row["calls"], row["self_ns"], row["cpu_ns"], row["page_faults"])
            for name, row in rows.items()} == {
        "conv": (1, 500 * US, 500 * US, 5), "gemm": (1, 500 * US, 400 * US, 2),
        "(outside operators)": (1, 100 * US, 40 * US, 3), "total": (3, 1100 * US, 940 * US, 10)}
    assert rows["gemm"]["cpu_share"] == pytest.approx(0.8)


def test_short_ranges_have_no_share(varve, tmp_path):
    """Reading the counters would make them look as if they waited."""
    trace, thread, gemm = made(tmp_path)
    relu = thread.process.site("begin", "relu", layer="OP")
    for call, took in enumerate((9999, 10_001, 9999)):
        begin = (2000 + 100 * call) * US
        thread.begin(relu, at=begin)
        thread.counts([begin, 0], at=begin)
        thread.counts([begin + took // 2, 0], at=begin + took)
        thread.end(at=begin + took)
    rows = rows_of(varve, trace.write())
    assert (rows["relu"]["calls"], rows["relu"]["cpu_share"]) == (3, None)
    assert rows["gemm"]["cpu_share"] == pytest.approx(0.8)


def test_a_steps_counts_hold_all_that_is_in_it(varve, tmp_path):
    row = rows_of(varve, made(tmp_path)[0].write(), "step_counters")["step"]
    assert (row["duration_ns"], row["cpu_ns"], row["page_faults"]) == (1100 * US, 940 * US, 10)


def test_amounts_that_no_process_has_do_not_overflow(varve, tmp_path):
    trace, thread, _ = made(tmp_path)
    for key, amount in (("threads", 2**63 - 1), ("cpu_ns", 2**63 - 1),
                        ("recorded_cpu_ns", -2**63 + 1)):
        thread.process.collector(f"fact.{key}", "note", str(amount))
    row = rows_of(varve, trace.write(), "step_counters")["total"]
    assert row["threads"] == 2**63 - 1


def test_a_count_that_is_not_known_is_no_count(varve, tmp_path):
    rows = rows_of(varve, made(tmp_path, unknown=True)[0].write())
    assert (rows["gemm"]["cpu_ns"], rows["gemm"]["page_faults"]) == (400 * US, None)
    assert rows["conv"]["page_faults"] == 7


def test_a_range_without_a_second_record_is_not_counted(varve, tmp_path):
    trace, thread, gemm = made(tmp_path)
    thread.begin(gemm, at=2000 * US)
    thread.counts([1000 * US, 11], at=2000 * US)
    thread.lose(1, at=2100 * US)
    rows = rows_of(varve, trace.write())
    assert (rows["gemm"]["calls"], rows["gemm"]["cpu_ns"]) == (1, 400 * US)


def test_counters_that_changed_meanwhile_are_not_mixed(varve, tmp_path):
    trace, thread, gemm = made(tmp_path)
    thread.begin(gemm, at=2000 * US)
    thread.counts([1000 * US, 11], at=2000 * US)
    thread.counts([2000 * US, 5000], at=2001 * US, choice=2)
    thread.end(at=2001 * US)
    thread.begin(gemm, at=3000 * US)
    thread.counts([2000 * US, 5000], at=3000 * US, choice=2)
    thread.counts([2001 * US, 8000], at=3001 * US, choice=2)
    thread.end(at=3001 * US)
    row = rows_of(varve, trace.write())["gemm"]
    assert (row["calls"], row["cpu_ns"], row["page_faults"], row["cycles"]) == (2, 401 * US, 2,
                                                                               3000)


def test_the_recorder_writes_what_readers_find(varve, tmp_path):
    subprocess.run([binary("tests/programs/counted")], check=True, cwd=tmp_path,
                   env=quiet_environment(VARVE_OUTPUT=str(tmp_path), VARVE_METRICS="Memory"))
    decoded = varve_decode.open_trace(str(tmp_path))
    assert decoded.problems == []
    # each of 3 steps: the step, its phase and 4 operators
    assert varve_decode.counts(decoded)["by_name"]["varve.counts"] == 2 * 3 * 6

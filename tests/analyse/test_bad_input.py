# SPDX-License-Identifier: Apache-2.0
"""Traces that lack what tables ask for, or hold what none should: every table of the registry, and
of a diff, answers, or says in one line why not. Nothing crashes, hangs, or counts below nothing.

With VARVE_BUILD=build/sanitize the sanitizers look on.
"""
import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import all_tables  # pylint: disable=wrong-import-position
import kineto_writer  # pylint: disable=wrong-import-position
import sum_laws  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position
# pylint: disable=wrong-import-position
from kineto_writer import counter, flow, launched, memory, span, step, work

LIMIT_S = 120
VERBS = ("report", "steps", "idle", "memory", "info")
# These have a row for each thing there is, and no row is an answer.
LISTS = {"trace", "inputs", "tables", "processes", "threads", "health", "clocks",
         "collectors", "advice"}


def overlapping(count):
    """Slices of one thread that lie half over each other, on a stream too."""
    return [span(f"op {n % 3}", 1000 * n, 1000 * n + 1500) for n in range(count)] + \
        [work(f"kernel {n % 3}", 1000 * n, 1000 * n + 1500, stream=7) for n in range(count)]


def open_events(kind):
    """Begins without ends, or ends without begins, on two threads."""
    return [{"ph": kind, "name": f"op {n}", "cat": "cpu_op", "pid": 1, "tid": n % 2, "ts": 1000 * n}
            for n in range(20)]


def backwards():
    events = [span(f"op {n}", 1000 * n, 1000 * n - 500) for n in range(5)]
    events += launched("gemm", 1, (9000, 8000), (12000, 11000))
    return events + [step(0, 20000, 100), step(1, -9000, -20000)]


def nothing_lasts():
    events = [step(n, 1000 * n, 1000 * n) for n in range(4)] + [span("op", 1000 * n, 1000 * n)
                                                                for n in range(4)]
    for n in range(4):
        events += launched("gemm", n + 1, (1000 * n, 1000 * n), (1000 * n, 1000 * n))
    return events


def all_at_once():
    return ([span(f"op {n}", 5000, 6000) for n in range(50)] +
            [step(n, 5000, 6000) for n in range(5)] +
        [work(f"k {n}", 5000, 6000, stream=n % 3) for n in range(50)])


def deep(levels):
    return [span(f"level {n}", n, 100000 - n) for n in range(levels)]


def recursive(levels):
    return [step(0, 0, 100000)] + [span("fib", 1 + n, 99999 - n) for n in range(levels)]


def long_names(size):
    name = "n" * size
    return ([step(0, 0, 9000), span(name, 10, 8000, **{"Input Dims": [[2, 3]]}),
             memory(50, 100, 4096), counter("c" * size, 60, 1)] +
        launched("k" * size, 1, (100, 200), (300, 400)))


def crowd(threads):
    """Each thread one call, every hundredth launches a kernel."""
    events = [span(f"op {n % 7}", 10 * n, 10 * n + 500, tid=n + 1) for n in range(threads)]
    for n in range(0, threads, 100):
        events += launched("gemm", n + 1, (10 * n, 10 * n + 5), (10 * n + 20, 10 * n + 60), tid=n +
                           1, stream=n)
    return events + [step(0, 0, 10 * threads)]


def many_streams(count):
    return [work(f"k {n % 5}", 10 * n, 10 * n + 100, stream=n, device=n % 50) for n in range(count)]


def odd_memory():
    """Releases of what nobody took, the same address twice, sizes below and at nothing, huge
    ones."""
    return [memory(1000, -50, 1), memory(2000, 100, 2), memory(2500, 100, 2), memory(3000, 0, 3),
            memory(4000, 2**62, 4), memory(5000, 2**62, 5), memory(6000, 2**62, 6),
            memory(7000, -2**62, 9), step(0, 500, 9000)]


def same_everything():
    return ([step(7, 1000 * n, 1000 * n + 900) for n in range(5)] +
            launched("k", 1, (10, 20), (30, 40)) * 5 +
        [counter("c", 10, 1)] * 5 + flow(1, 10, 20) * 3)


def odd_numbers():
    """What is no whole number where one is expected."""
    args = {"correlation": "NaN", "stream": 1e308, "device": -1e308, "External id": 1e30,
            "bytes": "many", "Input Dims": [[-1, 1e308]], "Sequence number": 1.5,
            "est. achieved occupancy %": "?"}
    return [span("op", 0, 5000, **args), span("k", 100, 900, "kernel", "stream ∞", "GPU", **args),
            counter("loss", 50, 1e308), counter("loss", 60, -1e308), memory(70, 1e308, 1),
            step(0, 0, 9000)]


MADE = {
    "empty list": [],
    "one operator": [span("op", 10, 20)],
    "one instant": [{"ph": "i", "name": "here", "pid": 1, "tid": 1, "ts": 10, "s": "t"}],
    "one kernel": [work("gemm", 10, 20)],
    "one copy": [work("Memcpy HtoD", 10, 20)],
    "one collective": [work("ncclDevKernel_AllReduce", 10, 20)],
    "one call": [span("cudaLaunchKernel", 10, 20, "cuda_runtime", correlation=1)],
    "one step": [step(0, 10, 20)],
    "one counter value": [counter("loss", 10, 1.5)],
    "one allocation": [memory(10, 64, 4096)],
    "one release": [memory(10, -64, 4096)],
    "one end of a flow": flow(1, 10, 20)[:1],
    "only names": kineto_writer.names(),
    "no steps": [span("op", 10, 20)] + launched("gemm", 1, (12, 14), (16, 40)),
    "no device": [step(0, 0, 50), span("op", 10, 20), step(1, 60, 90), span("op", 70, 80)],
    "steps alone": [step(n, 100 * n, 100 * n + 90) for n in range(10)],
    "begins": open_events("B"),
    "ends": open_events("E"),
    "negative durations": backwards(),
    "zero durations": nothing_lasts(),
    "all at once": all_at_once(),
    "overlaps": overlapping(300),
    "steps in steps": [step(n, 10 * n, 1000 - 10 * n) for n in range(20)] + [span("op", 300, 400)],
    "steps that overlap": [step(n, 100 * n, 100 * n + 150) for n in range(20)] +
    [span("op", 100 * n, 100 * n + 120) for n in range(20)],
    "step numbers of the largest": [step(2**63 - 1, 0, 50), step(2**63 - 2, 60, 90),
                                    span("op", 10, 20)],
    "work before its call": launched("gemm", 1, (900, 950), (100, 200)) +
    launched("gemm", 2, (990, 995), (150, 300)),
    "work of the same call": launched("gemm", 1, (0, 10), (100, 200)) +
    [work("gemm", 150, 400, 1), work("gemm", 500, 600, 1, 8)],
    "same everything": same_everything(),
    "deep": deep(200),
    "recursion": recursive(200),
    "names of 1 MB": long_names(1 << 20),
    "empty names": [step(0, 0, 90), span("", 10, 20), work("", 30, 40), counter("", 5, 1)],
    "odd bytes in names": [span("\x1b[31m\n\t\0 ⁠é\ud83d\ude00 \",\\", 10, 20),
                           work("a\nb", 30, 40), step(0, 0, 50)],
    "odd memory": odd_memory(),
    "odd numbers": odd_numbers(),
    "decades apart": [span("op", 0, 10), span("op", 2 * 10**18 - 1000, 2 * 10**18),
                      work("k", 0, 2 * 10**18, stream=7), step(0, 0, 2 * 10**18)],
    "longer than time": [span("op", 9 * 10**18, 18 * 10**18), work("k", 9 * 10**18, 18 * 10**18),
                         step(0, 9 * 10**18, 18 * 10**18)],
    "before time": [span("op", -9 * 10**18, 10), work("k", -9 * 10**18, 9 * 10**18),
                    step(0, -9 * 10**18, 10)],
    "ages": [span("op", 0, 4 * 10**18, tid=tid) for tid in range(3)] +
    [work("k", 0, 4 * 10**18, device=n) for n in range(2)] +
            [step(0, 0, 4 * 10**18)],
    "one at the begin of time": [span(f"op {n % 5}", 17 * 10**17 + 100 * n, 17 * 10**17 + 100 * n +
                                      50, tid=n % 7) for n in range(70)] +
                                [step(n, 17 * 10**17 + 700 * n, 17 * 10**17 + 700 * n + 700)
                                 for n in range(10)] +
                                [work("k", 0, 17 * 10**17), work("k", 0, 5),
                                 work("k", 17 * 10**17, 17 * 10**17 + 9)],
    "20,000 threads": crowd(20000),
    "5,000 streams": many_streams(5000),
}
TEXTS = {
    "nothing": "",
    "an empty list": "[]",
    "an empty object": "{}",
    "no events": '{"traceEvents": []}',
    "cut": '{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": '
           '0, "tid": 7, "ts": 1, "dur": 2}, {"ph": "X", "na',
    "NaN": '{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": '
           '0, "tid": 7, "ts": NaN, "dur": NaN},'
           '{"ph": "X", "cat": "kernel", "name": "k", "pid": NaN, "tid": NaN, "ts": 5, "dur": '
           'Infinity},'
           '{"ph": "C", "name": "loss", "pid": 1, "ts": 7, "args": {"value": NaN, "other": '
           '-Infinity}},'
           '{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": 9, '
           '"args": {"correlation": NaN}}]}',
    "1e308": '{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", '
             '"pid": 0, "tid": 7, "ts": 1e308, "dur": 1e308},'
             '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 1e308, "ts": 5, "dur": '
             '1e308},'
             '{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": -1e308, "dur": '
             '9},'
             '{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1e308", "pid": 1, '
             '"tid": 1, "ts": 1, "dur": 9}]}',
    "infinite times": '{"traceEvents": [{"ph": "X", "name": "op", "pid": 1, "tid": 1, "ts": '
                      'Infinity, "dur": 1},'
                      '{"ph": "X", "name": "op", "pid": 1, "tid": 1, "ts": 3, "dur": 1}]}',
}


def check_tables(done, is_hta=False):
    """Of a run of all_tables: an answer from each, or one line. By HTA's rules gaps may be negative
    (doc/truth.md)."""
    assert done.returncode in (0, 3), done.stderr.decode("utf-8", "replace")[-3000:]
    if done.returncode == 3:
        assert done.stderr.decode().count("\n") == 1 and not done.stdout
        return
    assert not done.stderr
    tables = all_tables.parse(done.stdout)
    for name, table in tables.items():
        if table.error is not None:
            assert table.error and "\n" not in table.error, name
            continue
        assert table.rows or table.policy or name in LISTS, (f"{name} has no rows and does not "
                                                             f"say why")
    if not is_hta:
        sum_laws.check_all({name: table for name, table in tables.items() if table.error is None})


def check_verbs(varve, *paths):
    for verb in VERBS:
        done = subprocess.run([str(varve), verb, "--no-cache", *map(str, paths)],
                              capture_output=True, timeout=LIMIT_S, check=False)
        said = done.stderr.decode("utf-8", "replace")
        assert done.returncode in (0, 3), said
        assert done.stdout if done.returncode == 0 else said.startswith("varve: ")
        assert said.count("\n") <= (0 if done.returncode == 0 else 2), said


def check(build, varve, folder, *paths):
    check_tables(all_tables.run(build, *paths, timeout=LIMIT_S))
    check_tables(all_tables.run(build, "--top", "1", *paths, timeout=LIMIT_S))
    check_tables(all_tables.run(build, "--compat", "hta", *paths, timeout=LIMIT_S), is_hta=True)
    if len(paths) == 1:
        plain = kineto_writer.write(folder / "plain.json", MADE["no steps"])
        check_tables(all_tables.run(build, "--diff", paths[0], plain, timeout=LIMIT_S))
        check_tables(all_tables.run(build, "--diff", plain, paths[0], timeout=LIMIT_S))
    check_verbs(varve, *paths)


@pytest.mark.parametrize("name", MADE)
def test_odd_traces(build, varve, tmp_path, name):
    check(build, varve, tmp_path, kineto_writer.write(tmp_path / "made.json", MADE[name]))


@pytest.mark.parametrize("name", TEXTS)
def test_odd_texts(build, varve, tmp_path, name):
    path = tmp_path / "made.json"
    path.write_text(TEXTS[name], encoding="utf-8")
    check(build, varve, tmp_path, path)


def test_times_that_no_sum_holds_are_refused(build, tmp_path):
    done = all_tables.run(build, kineto_writer.write(tmp_path / "ages.json", MADE["ages"]))
    assert done.returncode == 3
    assert "times that add up to" in done.stderr.decode(
    ) and "'op' alone lasts 126.8 years" in done.stderr.decode()


def test_records_too_far_apart_are_called_that(build, tmp_path):
    far = [span("op", at_ns, at_ns + 1000, tid=tid) for tid in (1, 2)
           for at_ns in (-4 * 10**18, 4 * 10**18)]
    done = all_tables.run(build, kineto_writer.write(tmp_path / "far.json", far))
    assert done.returncode == 3
    assert "the first record and the last are 253.5 years apart" in done.stderr.decode()


def test_sizes_that_no_sum_holds_leave_the_other_tables_alone(build, tmp_path):
    tables = all_tables.read(build, kineto_writer.write(tmp_path / "odd.json", MADE["odd memory"]))
    for name in ("memory", "memory_peak", "memory_steps", "memory_leaks", "memory_plan",
                 "allocations"):
        assert (tables[name].policy,
                tables[name].rows) == ("the allocations recorded sum to more than 2^63 bytes", [])
    assert tables["steps"].rows[0]["duration_ns"] == 8500


def test_a_reserve_below_what_is_given_out_has_no_slack(build, tmp_path):
    events = [memory(10, 64, 4096, **{"Total Allocated": 64, "Total Reserved": 32})]
    row = all_tables.read(build, kineto_writer.write(tmp_path / "odd.json",
                                                     events))["memory"].rows[0]
    assert (row["reserved_peak_bytes"], row["slack_bytes"]) == (32, None)


def test_two_ranks_with_clocks_of_their_own(build, varve, tmp_path):
    """A day apart, both count from 1; one has steps, the other none."""
    day = 86400 * 10**9
    paths = [kineto_writer.write(tmp_path / f"rank{rank}.json",
                                 launched("gemm", 1, (day * rank, day * rank + 10),
                                          (day * rank + 20, day * rank + 30)) +
                                 [span("op", day * rank, day * rank + 15)] +
                                 [step(0, 0, 90)] * (rank == 0),
                                 {"schemaVersion": 1, "distributedInfo": {"backend": "nccl",
                                                                          "rank": rank,
                                                                          "world_size": 2}})
             for rank in range(2)]
    check(build, varve, tmp_path, *paths)
    tables = all_tables.read(build, *paths)
    devices = [row for row in tables["devices"].rows if row["row"] == "device"]
    assert [(row["rank"], row["busy_ns"], row["span_ns"]) for row in devices] == [(0, 10, 10),
                                                                                  (1, 10, 10)]


def test_a_trace_of_ours_with_open_ranges_and_losses(build, varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "odd.varve")
    for pid in (100, 200):
        process = trace.process(pid=pid)
        conv = process.site("begin", "conv")
        thread = process.thread(tid=pid)
        for index in range(3):
            thread.step_begin(index, 1000 * index + 10)
            thread.begin(conv, 1000 * index + 20)
        thread.lose(9, 4000)
        thread.end(4100)
        thread.end(4200)
        thread.step_end(4300)
        thread.step_end(4300)
        thread.alloc(1, 2**63, 4400)
        thread.alloc(1, 2**63, 4500)
        thread.free(7, 4600)
    check(build, varve, tmp_path, trace.write())


def test_a_trace_of_ours_without_a_record(build, varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "none.varve")
    trace.process().thread(tid=1)
    check(build, varve, tmp_path, trace.write())


@pytest.mark.skipif(os.environ.get("VARVE_SOAK") != "1", reason="a million threads: VARVE_SOAK=1")
def test_a_million_threads(build, tmp_path):
    path = kineto_writer.write(tmp_path / "crowd.json", crowd(10**6))
    check_tables(all_tables.run(build, path, timeout=120))


def test_a_number_that_the_file_does_not_say_is_not_shown(build, tmp_path):
    """A process and a thread that a text stands for, or nothing, as PyTorch writes them."""
    kineto_writer.write(tmp_path / "t.json", [
        {"ph": "i", "cat": "Trace", "name": "Record Window End", "pid": "", "tid": "", "ts": 10,
         "s": "g"},
        {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
         "tid": "PyTorch Profiler", "ts": 1, "dur": 9}])
    done = subprocess.run([build / "varve", "info", "--json", tmp_path / "t.json"],
                          capture_output=True, check=True)
    tables = json.loads(done.stdout)["tables"]
    column = {name: {column["name"]: i for i, column in enumerate(table["columns"])}
              for name, table in tables.items()}
    assert [row[column["processes"]["process"]]
            for row in tables["processes"]["rows"]] == [None, None]
    threads = [[row[column["threads"][name]] for name in ("name", "tid", "process")]
               for row in tables["threads"]["rows"]]
    assert sorted(threads) == [["PyTorch Profiler", None, None], ["unnamed thread", None, None]]

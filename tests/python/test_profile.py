# SPDX-License-Identifier: Apache-2.0
"""varve.profile without torch: what it records, in which windows, and what it says where it
cannot."""
import collections
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from table_reader import operators, tables  # noqa: E402

PLAIN = """
    import varve

    @varve.record_function("inner")
    def inner():
        pass

    with varve.profile(output="run.varve") as prof:
        for i in range(5):
            with varve.record_function("outer"):
                for _ in range(3):
                    inner()
        varve.mark("instant")
        varve.counter("loss", 0.5)
    with varve.record_function("unrecorded"):
        pass
"""


def test_ranges_marks_and_counters(run, varve, tmp_path):
    run(PLAIN)
    calls = {row["name"]: row["calls"] for row in operators(varve, tmp_path / "run.varve")}
    assert calls == {"outer": 5, "inner": 15}
    trace = tables(varve, "info", tmp_path / "run.varve")["trace"][0]
    assert (trace["marks"], trace["counter_values"], trace["slices"], trace["lost"]) == (1, 1, 20,
                                                                                         0)


def test_the_rows_are_the_report_s(run, varve, tmp_path):
    text = PLAIN + """
    import json
    print(json.dumps([[row.key, row.count, row.self_cpu_time_total, row.cpu_time_total, row.cpu_time]
                      for row in prof.key_averages()]))
    """
    rows = {key: numbers for key, *numbers in json.loads(run(text))}
    theirs = {row["name"]: row for row in operators(varve, tmp_path / "run.varve")}
    assert rows.keys() == theirs.keys()
    for name, (count, self_us, total_us, mean_us) in rows.items():
        assert count == theirs[name]["calls"]
        assert round(self_us * 1000) == theirs[name]["self_ns"] and round(
            total_us * 1000) == theirs[name]["total_ns"]
        assert mean_us == pytest.approx(theirs[name]["total_ns"] / theirs[name]["calls"] / 1000)


def test_the_table_shows_the_rows(run):
    lines = run(PLAIN + """
    print(prof.table(sort_by="count", row_limit=1))
    print(prof.table(row_limit=-1, group_by_input_shape=True))
    """).splitlines()
    assert lines[1].split("  ")[0].strip() == "Name" and lines[1].split()[-3:] == ["#", "of",
                                                                                   "Calls"]
    assert lines[3].split()[0] == "inner" and lines[3].split()[-1] == "15"
    assert lines[4].startswith("-----") and lines[5].startswith("Self CPU time total: ")
    assert [line.split()[0] for line in lines[10:12]] in (["outer", "inner"], ["inner", "outer"])
    assert "Input Shapes" in lines[8]


SCHEDULED = """
    import varve

    def ready(prof):
        rows = {row.key: row.count for row in prof.key_averages()}
        print(prof.step_num, sorted(rows), rows.get("all"), prof.trace is not None)

    with varve.profile(schedule=varve.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1),
                       on_trace_ready=ready) as prof:
        for i in range(12):
            with varve.record_function(f"step {i}"), varve.record_function("all"):
                pass
            prof.step()
"""


def test_windows_of_a_schedule(run, tmp_path):
    """Steps 3 and 4, then 7 and 8, and nothing beside them."""
    assert run(SCHEDULED).splitlines() == ["5 ['all', 'step 3', 'step 4'] 2 True",
                                           "9 ['all', 'step 7', 'step 8'] 2 True"]
    assert {path.name for path in tmp_path.iterdir()} == {"program.py"}


def test_varve_record_keeps_all_and_the_windows_read_theirs(run, varve, tmp_path):
    lines = run(SCHEDULED, varve, "record", "-q", "-o", "whole.varve", "--").splitlines()
    assert lines == ["5 ['all', 'step 3', 'step 4'] 2 False",
                     "9 ['all', 'step 7', 'step 8'] 2 False"]
    rows = {row["name"]: row["calls"] for row in operators(varve, tmp_path / "whole.varve")}
    assert rows == {"all": 12, **{f"step {i}": 1 for i in range(12)}}
    steps = tables(varve, "steps", "--warm-up", tmp_path / "whole.varve")["steps"]
    assert [row["step"] for row in steps][:12] == list(range(12))


def test_each_window_has_its_trace(run, varve, tmp_path):
    run("""
    import varve
    plan = lambda step: ["RECORD_AND_SAVE", "NONE", "WARMUP", "RECORD_AND_SAVE"][step % 4]
    with varve.profile(schedule=plan, output="run.varve") as prof:
        for i in range(8):
            with varve.record_function(f"step {i}"):
                pass
            if i < 7:
                prof.step()
    """)
    names = [[row["name"] for row in operators(varve, tmp_path / name)]
             for name in ("run.varve", "run.2.varve", "run.3.varve")]
    assert names == [["step 0"], ["step 3"], ["step 4"]]
    assert [row["name"] for row in operators(varve, tmp_path / "run.4.varve")] == ["step 7"]


def test_a_former_trace_is_kept_once(run, varve, tmp_path):
    for number in range(3):
        run(f"""
        import varve
        with varve.profile(output="run.varve"), varve.record_function("run {number}"):
            pass
        """)
    assert [row["name"] for row in operators(varve, tmp_path / "run.varve")] == ["run 2"]
    assert [row["name"] for row in operators(varve, tmp_path / "run.varve.old")] == ["run 1"]


def test_steps_without_a_schedule_begin_with_the_first_call(run, varve, tmp_path):
    run("""
    import varve
    with varve.profile(output="run.varve") as prof:
        for i in range(4):
            varve.step()
    """)
    assert [row["step"] for row in tables(varve, "steps", "--warm-up",
                                          tmp_path / "run.varve")["steps"]] == [1, 2, 3, 4]


def test_steps_of_a_recorded_program_count_from_0(run, varve, tmp_path):
    run("""
    import varve
    for i in range(3):
        varve.step()
    """, varve, "record", "-q", "-o", "run.varve", "--")
    assert [row["step"] for row in tables(varve, "steps", "--warm-up",
                                          tmp_path / "run.varve")["steps"]] == [0, 1, 2]


def test_threads_are_recorded(run, varve, tmp_path):
    run("""
    import threading, varve
    def work():
        for i in range(1000):
            with varve.record_function("work"):
                varve.mark("in it")
    with varve.profile(output="run.varve"):
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """)
    assert [row["calls"] for row in operators(varve, "--thread", "all",
                                              tmp_path / "run.varve")] == [8000]
    assert tables(varve, "info", tmp_path / "run.varve")["trace"][0]["marks"] == 8000


def test_a_forked_child_records_into_the_same_trace(run, varve, tmp_path):
    """The parent's profile is not the child's to end; a profile of the child's own is."""
    lines = run("""
    import os, sys, varve
    def ready(prof):
        print("ready", os.getpid() == parent, flush=True)
    parent = os.getpid()
    with varve.profile(output="run.varve", on_trace_ready=ready) as prof:
        with varve.record_function("parent"):
            pass
        child = os.fork()
        if child == 0:
            with varve.record_function("child"):
                pass
            try:
                prof.table()
            except varve.Error as error:
                print(error, flush=True)
            with varve.profile(output="own.varve"), varve.record_function("own"):
                pass
            with varve.record_function("nowhere"):
                pass
        else:
            os.waitpid(child, 0)
    """).splitlines()
    assert lines == ["this varve.profile belongs to the process that started it: read it there",
                     "ready True"]
    calls = collections.Counter({row["name"]: row["calls"] for row in
                                 operators(varve, "--thread", "all", tmp_path / "run.varve")})
    assert calls == {"parent": 1, "child": 1}
    assert [row["name"] for row in operators(varve, tmp_path / "own.varve")] == ["own"]


def test_processes_of_a_job_share_a_trace(run, varve, tmp_path):
    run("""
    import subprocess, sys, varve
    with varve.profile(output="run.varve"), varve.record_function("first"):
        if len(sys.argv) == 1:
            subprocess.run([sys.executable, __file__, "second"], check=True)
    """)
    rows = operators(varve, "--thread", "all", tmp_path / "run.varve")
    assert [(row["name"], row["calls"]) for row in rows] == [("first", 2)]
    assert not (tmp_path / "run.varve.old").exists()


def test_what_is_wrong_is_said(run):
    lines = run("""
    import varve
    def said(function, *arguments, **options):
        try:
            function(*arguments, **options)
            print("nothing")
        except (varve.Error, ValueError) as error:
            print(f"{type(error).__name__}: {error}")
    prof = varve.profile()
    said(prof.table)
    said(prof.step)
    said(prof.stop)
    with prof:
        said(prof.start)
        said(varve.profile().start)
        assert varve.profile.running() is prof
    assert varve.profile.running() is None
    said(prof.table, sort_by="speed")
    said(varve.profile(collect="tirch").start)
    said(varve.profile(output="/proc/run.varve").start)
    said(varve.profile(output="/nowhere/run.varve").start)
    said(varve.profile(schedule=lambda step: "LATER").start)
    said(varve.schedule, wait=0, warmup=1, active=0)
    said(varve.profile, output="run")
    with varve.profile():
        pass
    """).splitlines()
    assert [line.split(":")[0] for line in lines
            ] == ["Error"] * 5 + ["ValueError"] + ["Error"] * 3 + ["ValueError"] * 3
    for line, word in zip(lines, ["recorded nothing yet", "not started", "not started",
                                  "started already", "do not nest. Use that one",
                                  "There are self_cpu_time_total", "nearest: torch",
                                  "/proc/run.varve", "/nowhere/run.varve", "'LATER' of step 0",
                                  "active=0", "NAME.varve"]):
        assert word in line


def test_an_exception_goes_through_and_leaves_all_as_it_was(run):
    assert run("""
    import varve
    def fail(prof):
        raise KeyError("in the callback")
    for plan in (None, varve.schedule(wait=0, warmup=1, active=1)):
        try:
            with varve.profile(schedule=plan, on_trace_ready=fail) as prof:
                for i in range(3):
                    prof.step()
        except KeyError as error:
            print(error)
        print(varve.library.control.layers)
    try:
        with varve.profile() as prof:
            1 / 0
    except ZeroDivisionError:
        print(varve.library.control.layers, len(prof.key_averages()))
    """).splitlines() == ["'in the callback'", "0", "'in the callback'", "0", "0 0"]


def test_a_program_may_end_while_it_is_profiled(run, varve, tmp_path):
    """Whatever it has left open: it ends as it would, what was named is whole, and what was not is
    gone."""
    for output in ("None", "'run.varve'"):
        assert run(f"""
        import tempfile, varve
        tempfile.tempdir = "."
        prof = varve.profile(output={output})
        prof.start()
        varve.step()
        varve.record_function("left open").__enter__()
        print("end")
        """) == "end\n"
    assert [row["name"] for row in operators(varve, tmp_path / "run.varve")] == ["left open"]
    assert {path.name for path in tmp_path.iterdir()} == {"program.py", "run.varve"}


def test_a_wrong_schedule_warns(run):
    assert run("""
    import warnings, varve
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        plan = ["WARMUP", "NONE", "RECORD", "NONE", "RECORD", "WARMUP", "RECORD_AND_SAVE", "NONE"]
        with varve.profile(schedule=plan.__getitem__, on_trace_ready=lambda prof: print("ready", prof.step_num)) as prof:
            for i in range(7):
                prof.step()
    for warning in seen:
        print(warning.message)
    """).splitlines() == [
        "ready 7", "Incorrect schedule: WARMUP followed by NONE",
        "Incorrect schedule: RECORD followed by NONE",
        "Incorrect schedule: RECORD followed by WARMUP"
    ]


def test_the_export_opens(run, tmp_path):
    import gzip  # pylint: disable=import-outside-toplevel
    run(PLAIN + """
    prof.export_chrome_trace("plain.json")
    prof.export_chrome_trace("packed.json.gz")
    """)
    documents = [json.loads((tmp_path / "plain.json").read_text()),
                 json.loads(gzip.decompress((tmp_path / "packed.json.gz").read_bytes()))]
    for document in documents:
        events = document["traceEvents"] if isinstance(document, dict) else document
        assert collections.Counter(event["name"] for event in events
                                   if event["ph"] == "X") == {"outer": 5, "inner": 15}

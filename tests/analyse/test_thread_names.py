# SPDX-License-Identifier: Apache-2.0
"""Threads that share a name: the number stands with the name, wherever a thread is named; a name of
its own stands alone."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import table_reader
import trace_writer


@pytest.fixture
def workers(tmp_path):
    """A program with two workers, all of them called "python", and a thread with a name of its
    own."""
    written = trace_writer.Trace(tmp_path / "workers.varve")
    for place, pid in enumerate((100, 200, 300)):
        process = written.process(pid=pid)
        load, mark = process.site("begin", f"load {place}"), process.site("mark", "here")
        thread = process.thread(tid=pid)
        process.thread_name(pid, "python")
        thread.step_begin(1, 5)
        thread.begin(load, 10)
        thread.mark(mark, 15)
        thread.end(110 + place)
        thread.step_end(200)
        if place == 0:
            pin = process.thread(tid=101)
            process.thread_name(101, "pin_memory")
            pin.begin(load, 20)
            pin.end(40)
    return written.write()


def rows(varve, path, table, *arguments):
    return table_reader.tables(varve, "report", "--warm-up", "--table", table, *arguments,
                               path)[table]


NAMES = {"python (100)", "python (200)", "python (300)", "pin_memory"}


def test_every_table_tells_them_apart(varve, workers):
    assert {row["thread"] for row in rows(varve, workers, "operators", "--by", "thread")
            if row["row"] == "operator"} == NAMES
    assert {row["name"] for row in rows(varve, workers, "threads")} == NAMES
    assert {row["thread"] for row in rows(varve, workers, "marks")
            if row["row"] == "mark"} == NAMES - {"pin_memory"}
    assert {row["thread"] for row in rows(varve, workers, "steps")} == NAMES - {"pin_memory"}


@pytest.mark.parametrize("form", ("text", "csv", "md", "json"))
def test_every_form_tells_them_apart(varve, workers, form):
    done = subprocess.run([str(varve), "report", "--table", "threads", "--format", form,
                           str(workers)], capture_output=True, text=True, check=True)
    shown = done.stdout.replace("\\", "")  # Markdown escapes
    assert all(name in shown for name in NAMES)
    assert "pin_memory (" not in shown


@pytest.mark.parametrize("thread, names", [
    ("python", {"load 0", "load 1", "load 2"}), ("python (200)", {"load 1"}), ("300", {"load 2"}),
    ("pin_memory", {"load 0"})])
def test_a_thread_is_chosen_by_what_is_shown(varve, workers, thread, names):
    chosen = rows(varve, workers, "operators", "--thread", thread)
    assert {row["name"] for row in chosen if row["row"] == "operator"} == names
    kept = rows(varve, workers, "operators", "--filter", f"thread=='{thread}'")
    if thread != "300":
        assert {row["name"] for row in kept if row["row"] == "operator"} == names
    left = rows(varve, workers, "operators", "--filter", "thread!='python'", "--by", "thread")
    assert {row["thread"] for row in left if row["row"] == "operator"} == {"pin_memory"}


def test_one_name_stands_alone(varve, tmp_path):
    written = trace_writer.Trace(tmp_path / "one.varve")
    process = written.process(pid=100)
    thread = process.thread(tid=100)
    process.thread_name(100, "python")
    thread.begin(process.site("begin", "load"), 10)
    thread.end(20)
    assert [row["name"] for row in rows(varve, written.write(), "threads")] == ["python"]


def test_a_blank_at_the_end_is_no_part_of_a_name(varve, tmp_path):
    """PyTorch's profiler calls a stream "stream 7 "."""
    path = tmp_path / "blank.json"
    path.write_text('[{"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"stream 7 "}},'
                    '{"ph":"X","name":"op","pid":1,"tid":7,"ts":5,"dur":9}]')
    row, = table_reader.tables(varve, "info", "--table", "threads", path)["threads"]
    assert row["name"] == "stream 7"

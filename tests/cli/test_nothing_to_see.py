# SPDX-License-Identifier: Apache-2.0
"""Choices that hold for nothing, traces of nothing, and traces of two things: the user is told."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer as kineto  # noqa: E402 pylint: disable=wrong-import-position

DAY_NS = 86400 * 10**9


@pytest.fixture(name="host")
def host_trace(tmp_path):
    """Nothing ran on a device."""
    return kineto.write(tmp_path / "host.json", [kineto.span("aten::add", 1000, 9000)])


@pytest.mark.parametrize("verb", ["report", "idle", "critical", "steps"])
def test_a_device_where_nothing_ran_on_one_is_refused(run, host, verb):
    done = run(verb, "--device", "cuda:0", host)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("varve: no device 'cuda:0' here: nothing in this trace ran on a "
                           "device\n")


def test_memory_of_a_device_is_enough(run, tmp_path):
    path = kineto.write(tmp_path / "memory.json", [
        kineto.span("aten::add", 1000, 9000),
        {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2000, "s": "t",
         "args": {"Addr": 64, "Bytes": 512, "Device Type": 1, "Device Id": 0,
                  "Total Allocated": 512, "Total Reserved": 1024}}])
    assert run("memory", "--device", "cuda:0", path).returncode == 0
    assert run("memory", "--device", "cuda:1", path).returncode == 2


def test_a_filter_that_admits_nothing_is_named(run, host):
    done = run("report", "--filter", "name~'conv*'", host)
    assert done.returncode == 0
    assert done.stderr == "varve: --filter name~'conv*' admits nothing in this trace\n"
    assert run("report", "-q", "--filter", "name~'conv*'", host).stderr == ""
    assert run("report", "--filter", "name~'*add'", host).stderr == ""


def test_a_trace_of_nothing_is_one_sentence(run, tmp_path):
    (tmp_path / "empty.json").write_text('{"traceEvents": []}')
    told = run("report", "empty.json").stdout
    assert told.startswith("TRACE          nothing was recorded\n")
    assert "BOUND BY" not in told and "OPERATORS" not in told
    # programs get every table all the same
    assert {"trace", "verdict", "operators"} <= set(
        json.loads(run("report", "--json", "empty.json").stdout)["tables"])
    assert "\nPROCESSES" not in run("info", "empty.json").stdout


@pytest.mark.parametrize("days, is_told", [(400, True), (0.02, False)])
def test_recordings_that_are_far_apart_are_doubted(run, tmp_path, days, is_told):
    for pid, name, begin_ns in ((1, "a.json", 0), (2, "b.json", int(days * DAY_NS))):
        kineto.write(tmp_path / name, [kineto.span("aten::add", begin_ns, begin_ns + 1000,
                                                   pid=pid)])
    told = run("report", "a.json", "b.json").stdout
    assert (f"nothing for {days}.0 days of them: recordings that do not belong together?"
            in told) == is_told


def test_a_result_that_is_there_is_kept(run, tmp_path, host):
    for content in ("first", "second"):
        (tmp_path / "out.txt").write_text(content)
        done = run("report", "-o", "out.txt", host)
        assert (done.returncode, done.stderr) == (0, "varve: wrote out.txt  (former: out.txt.old)"
                                                     "\n")
        assert (tmp_path / "out.txt.old").read_text() == content
    assert "TRACE" in (tmp_path / "out.txt").read_text()
    assert run("report", "-q", "-o", "out.txt", host).stderr == ""


def test_what_a_profiler_does_for_itself_is_no_operator(run, tmp_path):
    path = kineto.write(tmp_path / "own.json", [
        kineto.span("aten::add", 0, 9000),
        kineto.span("CUDA profiling initialization", 1000, 4000, "overhead")])
    for table in ("operators", "call_tree"):
        rows = json.loads(run("report", "--json", "--table", table, path).stdout)["tables"][table]
        names = [column["name"] for column in rows["columns"]]
        own = {row[names.index("name")]: row[names.index("self_ns")] for row in rows["rows"]}
        assert own == {"aten::add": 6000, "(outside operators)": 3000, "total": 9000}

# SPDX-License-Identifier: Apache-2.0
"""The commands of findings: each asks the same part of the same trace, for what the trace has."""
import json
import pathlib
import shlex
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import kineto_writer
import table_reader
import trace_writer

US = 1000


def span(name, begin_us, duration_us, cat="cpu_op", **args):
    return kineto_writer.span(name, begin_us * US, (begin_us + duration_us) * US, cat, **args)


def steps(*inside, count=5, duration_us=200):
    """Steps of the same spans, each given as its name, its begin and its duration in the step."""
    return [event for number in range(count)
            for event in (kineto_writer.step(number, duration_us * number * US,
                                             duration_us * (number + 1) * US),
                          *(span(name, duration_us * number + at, length, *cat)
                            for name, at, length, *cat in inside))]


def advice(varve, path, events, *arguments):
    kineto_writer.write(path, events)
    rows = table_reader.tables(varve, "report", "--no-cache", "--top", "0", *arguments,
                               path)["advice"]
    return {row["rule"]: row for row in rows}


def words_of(row):
    return shlex.split(row["see"])


READS = (("aten::mm", 10, 100), ("aten::item", 120, 40), ("aten::_local_scalar_dense", 125, 30))


def test_a_command_goes_by_lines_only_where_there_are_some(varve, tmp_path):
    path = tmp_path / "t.json"
    bare = advice(varve, path, steps(*READS))["scalars_from_tensors"]
    assert words_of(bare) == ["varve", "report", "--table", "call_tree", str(path)]
    lines = ("train.py(7): step", 5, 180, "python_function")
    told = advice(varve, path, steps(lines, *READS))["scalars_from_tensors"]
    assert words_of(told) == [
        "varve", "report", "--by", "source", "--filter",
        "name=='aten::_local_scalar_dense' || name=='aten::item'", str(path)]
    done = subprocess.run([varve, *words_of(told)[1:], "--json"], capture_output=True, text=True,
                          check=True)
    rows = json.loads(done.stdout)["tables"]["operators"]["rows"]
    assert "train.py(7): step" in rows[0]


def test_a_command_goes_by_modules_only_where_there_are_some(varve, tmp_path):
    copies = (("aten::mm", 10, 100), ("aten::copy_", 120, 60))
    path = tmp_path / "t.json"
    row = advice(varve, path, steps(*copies))["conversions"]
    assert words_of(row)[2:4] == ["--table", "call_tree"]
    module = ("nn.Module: Net_0", 5, 190, "python_function")
    row = advice(varve, path, steps(module, *copies))["conversions"]
    assert words_of(row)[2:6] == ["--by", "module", "--filter", "name=='aten::copy_'"]


def test_a_command_asks_for_memory_only_where_it_was_recorded(varve, tmp_path):
    path = tmp_path / "t.json"
    calls = steps(("aten::mm", 0, 100), ("cudaMalloc", 150, 40, "cuda_runtime"))
    assert words_of(advice(varve, path, calls)["allocation"])[1:4] == ["report", "--table",
                                                                       "call_tree"]
    told = advice(varve, path, calls + [kineto_writer.memory(155 * US, 1000, 4096)])
    assert words_of(told["allocation"])[1] == "memory"


def test_a_filter_changes_no_finding(varve, tmp_path):
    """Dropout in training is none, although the backward pass is left out."""
    training = steps(("aten::mm", 10, 90), ("aten::dropout", 100, 40),
                     ("aten::bernoulli_", 105, 30),
                     ("autograd::engine::evaluate_function: MmBackward0", 145, 50))
    path = tmp_path / "t.json"
    plain = advice(varve, path, training)
    assert plain and "dropout_at_evaluation" not in plain
    assert advice(varve, path, training, "--filter", "name~'aten::*'") == plain
    shown = subprocess.run([varve, "report", "--filter", "name~'aten::*'", path],
                           capture_output=True, text=True, check=True).stdout
    assert "LOOK FIRST     of all that ran; whatever --filter says" in shown


@pytest.mark.parametrize("arguments", [("--device", "cuda:0"), ("--thread", "1"), ("--rank", "all"),
                                       ("--filter", "name!=\"it's\""), ("--steps", "1..3"),
                                       ("--step-by", "aten::mm"), ("--warm-up",)])
def test_each_command_of_a_part_runs(varve, tmp_path, arguments):
    """A table that knows no device is not asked for one."""
    events = steps(("aten::mm", 0, 60), *READS[1:]) + kineto_writer.launched(
        "gemm", 1, (10 * US, 12 * US), (15 * US, 20 * US), device=0)
    rows = advice(varve, tmp_path / "t.json", events, *arguments)
    assert rows
    for row in rows.values():
        done = subprocess.run([varve, *words_of(row)[1:]], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, (row["see"], done.stderr)


def test_a_device_is_asked_for_where_the_table_has_devices(varve, tmp_path):
    events = steps(("aten::mm", 0, 60)) + kineto_writer.launched(
        "gemm", 1, (10 * US, 12 * US), (15 * US, 20 * US), device=0)
    rows = advice(varve, tmp_path / "t.json", events, "--device", "cuda:0")
    assert "--device" not in words_of(rows["outside_operators"])
    assert words_of(rows["device_waits"])[-3:-1] == ["--device", "cuda:0"]


def joining(path):
    """Five steps; each joins what came before it with one row more."""
    written = trace_writer.Trace(path)
    process = written.process(pid=100)
    site, thread = process.site("begin", "aten::cat"), process.thread(tid=100)
    for number in range(5):
        at = 10_000 * number
        thread.step_begin(number, at)
        thread.begin(site, at + 10)
        thread.op([("f32", [20 - number if number % 2 else 10 + number, 3])], at + 11)
        thread.end(at + 9000 - 100 * number)
        thread.step_end(at + 9500)
    return written.write()


def test_what_grows_is_in_the_order_of_its_shapes(varve, tmp_path):
    path = joining(tmp_path / "t.varve")
    rows = table_reader.tables(varve, "report", "--table", "advice", path)["advice"]
    (row,) = [row for row in rows if row["rule"] == "joining_tensors"]
    answer = table_reader.tables(varve, *words_of(row)[1:])["operators"]
    shapes = [line["shapes"] for line in answer if line["row"] == "operator"]
    assert len(shapes) == 5 and shapes == sorted(shapes)

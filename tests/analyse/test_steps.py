# SPDX-License-Identifier: Apache-2.0
"""Where steps come from when nobody recorded any, and which of them count: doc/metrics.md, section
6."""
import json
import pathlib
import random
import subprocess
import sys

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer  # pylint: disable=wrong-import-position
import table_reader  # pylint: disable=wrong-import-position


def write_trace(folder, rows, name="made.json"):
    """rows: (category, name, begin, duration[, thread]) in microseconds."""
    events = [{"ph": "X", "cat": row[0], "name": row[1], "ts": row[2], "dur": row[3], "pid": 1,
               "tid": row[4] if len(row) > 4 else 1} for row in rows]
    path = folder / name
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def steps_of(varve, *arguments):
    return table_reader.tables(varve, "steps", *arguments)["steps"]


def spans(rows):
    return [((row["at_ns"]) // 1000, row["duration_ns"] // 1000, row["step"], row["origin"])
            for row in rows]


def test_ranges_called_a_step(varve, tmp_path):
    rows = [("user_annotation", f"iteration {7 + i}", 100 * i, 90) for i in range(3)]
    rows += [("user_annotation", "iteration_setup", 10, 5), ("cpu_op", "iteration", 20, 5),
             ("user_annotation", "iteration 99", 110, 20), ("user_annotation", "iteration 3", 0, 50,
                                                            2)]
    path = write_trace(tmp_path, rows)
    assert spans(steps_of(varve, path)) == [(100 * i, 90, 7 + i, "range") for i in range(3)]


def three_trainers():
    """Thread 2 has most steps; thread 4 has one, of another kind."""
    return [row for tid, count in ((1, 3), (2, 4), (3, 3)) for i in range(count)
            for row in (("cpu_op", "aten::mm", 100 * i, 40, tid),
                        ("user_annotation", "Optimizer.step#SGD.step", 100 * i + 50, 30, tid))] + [
        ("cpu_op", "aten::mm", 0, 10, 4)]


def test_other_threads_with_steps_are_said_and_can_be_asked_for(varve, tmp_path):
    path = write_trace(tmp_path, three_trainers())

    def policy(*arguments):
        done = subprocess.run([varve, "steps", *arguments, path], capture_output=True, text=True,
                              check=True)
        return done.stdout.splitlines()[0]
    assert "4 steps on thread 2," in policy("--warm-up")
    assert "; 2 more threads have steps: --thread 1" in policy("--warm-up")
    assert "3 steps on thread 1," in policy("--warm-up", "--thread", "1")
    assert "more thread" not in policy("--warm-up", "--thread", "1")
    assert len(steps_of(varve, "--thread", "3", path)) == 3
    # threads without such steps: those of the thread with most of them
    assert steps_of(varve, "--thread", "4", path) == []
    alone = write_trace(tmp_path, [row for row in three_trainers() if row[4] != 1], "two.json")
    assert "; 1 more thread has steps: --thread 3" in subprocess.run(
        [varve, "steps", "--warm-up", alone], capture_output=True, text=True, check=True).stdout


def test_a_cache_has_the_steps_of_no_chosen_thread(varve, tmp_path):
    path = write_trace(tmp_path, three_trainers())
    assert len(steps_of(varve, "--cache", "--thread", "1", path)) == 3
    assert len(steps_of(varve, "--cache", path)) == 4
    assert list(tmp_path.glob("*.vcache"))
    assert len(steps_of(varve, "--cache", "--thread", "1", path)) == 3
    assert len(steps_of(varve, "--cache", "--thread", "2", path)) == 4


def test_steps_as_recorded_go_first(varve, tmp_path):
    rows = [("user_annotation", "ProfilerStep#4", 0, 50), ("user_annotation", "iteration 1", 0, 20),
            ("user_annotation", "iteration 2", 20, 20)]
    path = write_trace(tmp_path, rows)
    assert spans(steps_of(varve, path)) == [(0, 50, 4, "recorded")]
    assert spans(steps_of(varve, "--step-by", "iteration", path)) == [(0, 20, 1, "range"),
                                                                      (20, 20, 2, "range")]


def test_an_anchor_ends_a_step(varve, tmp_path):
    rows = [row for i in range(3) for row in (("cpu_op", "aten::mm", 100 * i, 40),
                                              ("user_annotation", "Optimizer.step#SGD.step",
                                               100 * i + 50, 30),
                                              ("user_annotation", "Optimizer.step#SGD.step",
                                               100 * i + 60, 10))]
    path = write_trace(tmp_path, rows + [("cpu_op", "aten::mm", 400, 10)])
    expected = [(0, 80, 0, "anchor"), (80, 100, 1, "anchor"), (180, 100, 2, "anchor")]
    assert spans(steps_of(varve, path)) == expected
    assert spans(steps_of(varve, "--step-by", "..Optimizer.step", path)) == expected
    assert [row["operator_calls"] for row in steps_of(varve, path)] == [3, 3, 3]


@pytest.mark.parametrize("durations, left_out", [
    ([900, 60, 50, 70], 1), ([900, 60], 1), ([60, 60, 50, 70], 0), ([60, 900], 0)])
def test_what_comes_before_the_loop_is_no_step(varve, tmp_path, durations, left_out):
    """The first step up to an anchor begins with the thread: if it is the longest, it is not of the
    loop."""
    rows, end = [("cpu_op", "aten::empty", 0, 1)], 0
    for duration in durations:
        end += duration
        rows.append(("user_annotation", "Optimizer.step#SGD.step", end - 20, 20))
    path = write_trace(tmp_path, rows)
    assert [row["warm_up"]
            for row in steps_of(varve, path)] == [1] * left_out + [0] * (len(durations) - left_out)
    counted = table_reader.tables(varve, "report", path)["step"][0]
    assert (counted["steps"], counted["total_ns"]) == (len(durations) - left_out,
                                                       sum(durations[left_out:]) * 1000)
    marked = write_trace(tmp_path, [("user_annotation", f"iteration {i}", 1000 * i, duration)
                                    for i, duration in enumerate(durations)], "marked.json")
    assert not any(row["warm_up"] for row in steps_of(varve, marked))


def test_what_repeats_itself(varve, tmp_path):
    kinds = ["aten::mm", "aten::add", "aten::mm", "aten::relu"]
    rows = [("cpu_op", "aten::empty", 10 * i, 4) for i in range(5)]
    rows += [("cpu_op", kinds[i % 4], 100 + 10 * i, 6) for i in range(41)]
    rows += [("cpu_op", "aten::inner", 100 + 10 * i + 1, 2) for i in range(41)]
    path = write_trace(tmp_path, rows)
    expected = [(100 + 40 * i, 40 if i < 9 else 36, i, "repeat") for i in range(10)]
    assert spans(steps_of(varve, path)) == expected
    few = write_trace(tmp_path, rows[:5 + 20], "few.json")
    assert not steps_of(varve, few)
    odd = write_trace(tmp_path, [("cpu_op", f"aten::op{i}" if i >= 20 else "aten::mm", 10 * i, 6)
                                 for i in range(60)],
                      "odd.json")
    assert not steps_of(varve, odd)


@pytest.mark.parametrize("others, steps", [((), 40), (("inner",), 40), (("decode", "resize"), 0)])
def test_rounds_of_one_thread_of_a_pool_are_no_steps(varve, tmp_path, others, steps):
    """Another thread does half as much of the same. Doing a part of it, it helps."""
    rows = [("cpu_op", name, 100 * i + at, 40, 1) for i in range(40)
            for at, name in ((0, "decode"), (50, "resize"))]
    rows += [("cpu_op", name, 200 * i + at, 40, 2) for i in range(20)
             for at, name in zip((10, 60), others)]
    assert len(steps_of(varve, write_trace(tmp_path, rows))) == steps


@pytest.mark.parametrize("rest_us, steps", [(150, 50), (250, 0)])
def test_what_repeats_itself_must_take_most_of_the_time(varve, tmp_path, rest_us, steps):
    """50 times 4 µs, most of all elements, before a long operator."""
    rows = [("cpu_op", ["aten::mm", "aten::add"][i % 2], 2 * i, 2) for i in range(100)]
    path = write_trace(tmp_path, [*rows, ("cpu_op", "aten::lstm", 200, rest_us)])
    assert len(steps_of(varve, path)) == steps


def busy_trace(folder, pauses, name):
    """A model is made, then 40 batches go through it. `pauses`: token -> what the machine does
    besides after it, in microseconds."""
    made = ["aten::empty", "aten::normal_", "aten::zeros"] * 100
    batch = ["aten::randn", *["aten::conv2d", "aten::batch_norm", "aten::relu"] * 5, "aten::item"]
    took = {"aten::conv2d": 40, "aten::batch_norm": 20, "aten::randn": 15}
    rows, at = [], 0
    for token, operator in enumerate(made + batch * 40):
        rows.append(("cpu_op", operator, at, took.get(operator, 5)))
        at += took.get(operator, 5) + 2 + pauses.get(token, 0)
    return write_trace(folder, rows, name)


@hypothesis.settings(max_examples=25, deadline=None,
                     suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(strategies.randoms(use_true_random=False), strategies.integers(0, 300),
                  strategies.sampled_from([50, 5_000, 1_000_000]))
def test_steps_that_repeat_do_not_depend_on_how_busy_the_machine_is(varve, tmp_path, chance, count,
                                                                   longest_us):
    """Pauses between the operators, as many as hit less than half of those of any name."""
    pauses = {chance.randrange(300 + 40 * 17): chance.randrange(longest_us) for _ in range(count)}
    found = [[(row["step"], row["operator_calls"]) for row in
              steps_of(varve, "--no-cache", "--warm-up", busy_trace(tmp_path, told, name))]
             for told, name in ((pauses, "busy.json"), ({}, "quiet.json"))]
    assert found[0] == found[1] == [(step, 17) for step in range(40)]


def training(chance, evaluations):
    """Rows of a training loop of 20 steps, and where its parts are: {part: [(begin, end)]}. A step
    has one to three waits for data, then as many passes. `evaluations`: step -> batches that are
    evaluated before it, by another loader."""
    rows, parts, at, waits = [], {"train": [], "evaluate": []}, 0, chance.randint(1, 3)

    def add(category, name, duration):
        nonlocal at
        rows.append((category, name, at, duration))
        at += duration + chance.randint(1, 3)
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    for step in range(20):
        for _ in range(evaluations.get(step, 0)):
            begin = at
            add("user_annotation", loader, 5)
            for _ in range(chance.randint(1, 3)):
                add("cpu_op", "aten::addmm", 10)
            parts["evaluate"].append((begin, at))
        if evaluations.get(step, 0) > 0 and chance.random() < 0.5:
            add("user_annotation", loader, 2)  # there is no further batch
            if chance.random() < 0.5:
                add("cpu_op", "aten::mean", 3)
        begin = at
        for _ in range(waits):
            add("user_annotation", loader, 5)
            add("cpu_op", "aten::addmm", 10)
        for _ in range(chance.randint(1, 2)):
            add("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 20)
            add("cpu_op", "aten::mul", 3)
        add("user_annotation", "Optimizer.step#SGD.step", 10)
        parts["train"].append((begin, at))
    return rows, parts


@hypothesis.settings(max_examples=40, deadline=None,
                     suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(strategies.randoms(use_true_random=False),
                  strategies.dictionaries(strategies.integers(1, 19), strategies.integers(1, 5),
                                          max_size=9), strategies.booleans())
def test_an_evaluation_is_in_no_step(varve, tmp_path, chance, evaluations, has_optimizer):
    """A step holds its own batches, passes and update, and nothing that is evaluated before it."""
    rows, parts = training(chance, evaluations)
    if not has_optimizer:  # each backward pass is a step
        rows = [("cpu_op", "aten::add_", *row[2:]) if row[1].startswith("Opt") else row
                for row in rows if row[1] != "aten::mul"]
    steps = spans(steps_of(varve, "--no-cache", "--warm-up", write_trace(tmp_path, rows)))
    assert len(steps) == 20 and {step[3] for step in steps} == {"anchor"}
    for (begin, duration, *_), (first, last) in zip(steps[1:], parts["train"][1:]):
        assert begin <= first and (begin + duration) <= last
        for evaluated, end in parts["evaluate"]:
            assert end <= begin or begin + duration <= evaluated


def test_a_name_that_nobody_has(varve, tmp_path):
    path = write_trace(tmp_path, [("cpu_op", "aten::mm", 0, 5)])
    for name, message in (("train", "no range 'train' in this trace to take for steps"),
                          ("..", "--step-by wants a name, not '..'")):
        done = subprocess.run([varve, "steps", "--step-by", name, path], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("varve: ") and message in done.stderr


def test_real_steps(varve, traces):
    """The known answers count the six steps of ResNet-50, all of them; by name they are the same
    ones."""
    path = traces / "kineto/resnet50_workers0.json.gz"
    recorded = steps_of(varve, path)
    assert [row["step"] for row in recorded] == [5, 6, 7, 8, 9, 10]
    assert not any(row["warm_up"] for row in recorded)
    assert table_reader.tables(varve, "report", path)["step"][0]["steps"] == 6
    named = steps_of(varve, "--step-by", "ProfilerStep", path)
    assert [(row["step"], row["begin_ns"], row["duration_ns"], row["thread"]) for row in named] == \
        [(row["step"], row["begin_ns"], row["duration_ns"], row["thread"]) for row in recorded]


@pytest.mark.parametrize("trace, count", [("h100_gaunernst", 1), ("h100_Falconsai", 1),
                                          ("sglang_decode", 1)])
def test_mirrors_on_the_device_are_no_steps(varve, traces, trace, count):
    path = traces / f"tracelens/{trace}.json.gz"
    assert len(steps_of(varve, path)) == count


def test_a_step_that_is_asked_for_alone_says_what_took_longer_in_it(varve, tmp_path):
    """Where no median of other steps is beside it. The gap is in no operator."""
    events, begin = [], 0
    for number, (product, copy, gap) in enumerate(((50, 20, 30), (50, 20, 30), (90, 25, 185),
                                                   (50, 20, 30))):
        end = begin + product + copy + gap
        events += [kineto_writer.step(number, begin * 1000, end * 1000),
                   kineto_writer.span("aten::mm", begin * 1000, (begin + product) * 1000),
                   kineto_writer.span("aten::copy_", (begin + product) * 1000,
                                      (begin + product + copy) * 1000)]
        begin = end
    path = kineto_writer.write(tmp_path / "t.json", events)

    def heading(*arguments):
        done = subprocess.run([varve, "steps", "--no-cache", *arguments, path],
                              capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[0]
    assert heading("--steps", "2").endswith(
        "; the median of all 100 µs; longer than in other steps: (outside operators) by 155 µs, "
        "aten::mm by 40.0 µs, aten::copy_ by 5.00 µs")
    assert "longer than" not in heading() + heading("--steps", "1..2") + heading("--steps", "1")

# SPDX-License-Identifier: Apache-2.0
"""An evaluation that waits for no data is no part of the step behind it: doc/metrics.md §6."""
import pathlib
import sys

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import kineto_writer as kineto  # noqa: E402
from table_reader import tables  # noqa: E402

STEPS, US = 20, 1000
FORWARD = ("aten::linear", "aten::relu", "aten::linear", "aten::cross_entropy_loss")


class Program:
    """A training loop on one thread, whose forward operators have sequence numbers."""

    def __init__(self, has_numbers=True):
        self.events, self.at, self.number, self.has_numbers = [], 0, 0, has_numbers

    def run(self, name, took_us, number=None, backward=False, cat="cpu_op"):
        numbered = {} if number is None or not self.has_numbers else {
            "Sequence number": number, "Fwd thread id": 1 if backward else 0}
        begin, self.at = self.at, self.at + took_us * US
        self.events.append(kineto.span(name, begin, self.at, cat, **numbered))
        self.at += US

    def without_graph(self, names=FORWARD[:3] + ("aten::argmax", "aten::item"), took_us=10):
        """Returns where it begins and ends."""
        begin = self.at
        for name in names:
            self.run(name, took_us)
        return begin, self.at - US

    def train(self):
        """Returns where its first operator begins."""
        begin, first = self.at, self.number
        self.run("aten::slice", 2, self.number)
        for name in FORWARD:
            self.run(name, 10, self.number)
            self.number += 1
        for number in reversed(range(first, self.number)):
            self.run("autograd::engine::evaluate_function: Backward0", 10, number, backward=True)
        self.run("Optimizer.step#SGD.step", 10, cat="user_annotation")
        return begin

    def steps(self, varve, path):
        kineto.write(path, self.events, kineto.HEAD)
        rows = tables(varve, "report", "--no-cache", "--warm-up", "--table", "steps", path)["steps"]
        assert len(rows) == STEPS
        return rows


def train(evaluate, **options):
    """The program, and where its steps begin by themselves. `evaluate` is called ahead of each."""
    program, begins = Program(**options), []
    for step in range(STEPS):
        evaluate(program, step)
        begins.append(program.train())
    return program, begins


@pytest.mark.parametrize("rounds", [1, 3])
def test_what_few_steps_run_without_a_graph_is_in_no_step(varve, tmp_path, rounds):
    """Nor is what comes ahead of it, such as a copy of the state."""
    asides = []

    def evaluate(program, step):
        if step % 6 == 5:
            program.run("aten::detach", 5, program.number)
            asides.extend(program.without_graph() for _ in range(rounds))
    program, begins = train(evaluate)
    rows = program.steps(varve, tmp_path / "e.json")
    for row, begin in zip(rows[1:], begins[1:]):
        assert begin - US <= row["begin_ns"] <= begin and row["operator_calls"] == 10
    assert len(asides) == 3 * rounds and all(
        end <= row["begin_ns"] or row["begin_ns"] + row["duration_ns"] <= begin
        for row in rows for begin, end in asides)


def test_a_loss_that_is_logged_ahead_of_each_step_stays_in_it(varve, tmp_path):
    def evaluate(program, step):
        program.run("aten::item", 3)
        if step in (7, 14):
            program.without_graph()
    program, _ = train(evaluate)
    rows = program.steps(varve, tmp_path / "e.json")
    assert {row["operator_calls"] for row in rows} == {11}


@pytest.mark.parametrize("evaluate, options", [
    (lambda program, _: program.without_graph(), {}),                   # a rollout in each step
    (lambda program, step: step % 4 or program.without_graph(), {}),    # in a quarter of them
    (lambda program, step: step != 9 or [program.without_graph() for _ in range(20)], {}),  # long
    (lambda program, step: step != 9 or program.without_graph(("aten::mul", "aten::relu")), {}),
    (lambda program, step: step != 9 or program.without_graph(), {"has_numbers": False}),
], ids=["each", "quarter", "long", "other work", "no numbers"])
def test_what_else_runs_without_a_graph_stays_in_its_step(varve, tmp_path, evaluate, options):
    program, begins = train(evaluate, **options)
    rows = program.steps(varve, tmp_path / "e.json")
    for former, row, begin in zip(rows, rows[1:], begins[1:]):
        assert row["begin_ns"] == former["begin_ns"] + former["duration_ns"] < begin


@hypothesis.settings(max_examples=30, deadline=None,
                     suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(strategies.dictionaries(strategies.integers(1, STEPS - 1),
                                          strategies.integers(1, 4), max_size=7))
def test_no_step_loses_what_it_trains(varve, tmp_path, evaluations):
    """And all evaluations are left out, or none."""
    def evaluate(program, step):
        for _ in range(evaluations.get(step, 0)):
            program.without_graph()
    program, begins = train(evaluate)
    rows = program.steps(varve, tmp_path / "e.json")
    assert all(row["begin_ns"] <= begin for row, begin in zip(rows, begins))
    calls = [row["operator_calls"] - 10 for row in rows]
    assert calls in ([0] * STEPS, [5 * evaluations.get(step, 0) for step in range(STEPS)])

# SPDX-License-Identifier: Apache-2.0
"""The loops that people write (programs/torch_loops.py), recorded while torch.profiler watches.

Both traces have the same steps and phases, and they are the program's.
"""
import collections
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from table_reader import tables  # noqa: E402

STEPS = 6  # of torch_loops.py


@pytest.fixture(name="traces_of")
def fixture_traces_of(record):
    def traces_of(loop):
        folder = record("torch", "torch_loops.py", loop)
        return folder / "run.varve", folder / f"{loop}.json"
    return traces_of


def phases_of(varve, trace):
    """{phase: {operator: calls}}, warm-up steps too."""
    out = collections.defaultdict(dict)
    for row in tables(varve, "report", "--warm-up", "--table", "operators", "--by", "phase",
                      "--top", "0", trace)["operators"]:
        if row["row"] == "operator":
            out[row["phase"] or ""][row["name"]] = row["calls"]
    return out


@pytest.mark.parametrize("loop, passes", [("lbfgs", 4 * STEPS), ("closure", STEPS)])
def test_forward_and_backward_inside_of_an_optimizer(varve, traces_of, loop, passes):
    ours, theirs = (phases_of(varve, trace) for trace in traces_of(loop))
    engine = "autograd::engine::evaluate_function: AddmmBackward0"
    assert ours["backward"][engine] == 2 * passes
    assert ours["forward"]["aten::addmm"] == ours["forward"]["aten::tanh"] * 2 == 2 * passes
    steps, = {name for name in ours[""] if name.startswith("Optimizer.step#")}
    assert ours[""][steps] == STEPS
    updates = {"lbfgs": "aten::dot", "closure": "aten::addcdiv_"}
    assert updates[loop] in ours["optimizer"]
    for phase in ("optimizer", "data"):
        assert not {"aten::addmm", "aten::mean", engine} & ours[phase].keys()
    for phase in ("forward", "backward", "optimizer", "data"):
        assert ours[phase] == theirs[phase], phase


@pytest.mark.parametrize("loop", ["lbfgs", "closure"])
def test_a_closure_s_steps_are_split(varve, traces_of, loop):
    for trace in traces_of(loop):
        rows = tables(varve, "steps", "--warm-up", trace)["step_phases"]
        by_step = collections.defaultdict(dict)
        for row in rows:
            by_step[row["step"]][row["phase"]] = row["duration_ns"]
        assert len(by_step) == STEPS
        for phases in by_step.values():
            assert {"forward", "backward", "optimizer", "other"} <= phases.keys()


def steps_of(varve, trace):
    """The rows of the steps, warm-up steps too."""
    rows = tables(varve, "steps", "--warm-up", trace)["steps"]
    assert {row["origin"] for row in rows} == {"anchor"}
    return rows


@pytest.mark.parametrize("loop, count", [("lbfgs", STEPS), ("closure", STEPS), ("gan", STEPS),
                                         ("dcgan", STEPS), ("manual", STEPS),
                                         ("accumulate", STEPS), ("dry", 1)])
def test_steps_are_the_iterations(varve, traces_of, loop, count):
    """Two optimizers make one step; without any, each backward pass does; what repeats itself, as
    in dry, is none."""
    ours, theirs = (steps_of(varve, trace) for trace in traces_of(loop))
    assert [row["step"] for row in ours] == [row["step"] for row in theirs] == list(range(count))
    for mine, other in zip(ours[1:], theirs[1:]):
        assert mine["duration_ns"] == pytest.approx(other["duration_ns"], rel=0.2, abs=100_000)


def test_inference_s_steps_are_what_repeats_itself(varve, traces_of):
    for trace in traces_of("infer"):
        rows = tables(varve, "steps", "--warm-up", trace)["steps"]
        assert {row["origin"] for row in rows} == {"repeat"}
        assert [row["step"] for row in rows] == list(range(5 * STEPS))


@pytest.mark.parametrize("loop", ["gan", "dcgan"])
def test_a_gan_s_step_has_both_optimizers(varve, traces_of, loop):
    for trace in traces_of(loop):
        rows = tables(varve, "report", "--warm-up", "--table", "operators", "--top", "0",
                      trace)["operators"]
        calls = {row["name"]: row["step_calls"] for row in rows}
        assert calls["Optimizer.step#Adam.step"] == 2 * STEPS
        assert calls["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"] == STEPS


def test_a_gan_s_phases_are_those_of_the_other_trace(varve, traces_of):
    ours, theirs = (phases_of(varve, trace) for trace in traces_of("dcgan"))
    made, judged = STEPS + 2, 3 * STEPS  # of two and of three layers
    assert ours["forward"]["aten::convolution"] == 2 * made + 3 * judged
    for phase in ("forward", "backward", "optimizer", "data"):
        assert ours[phase] == theirs[phase], phase


def test_a_step_has_all_batches_of_an_update(varve, traces_of):
    """Four of them, in autocast. The evaluations of three batches after an epoch are in no step."""
    ours, theirs = (phases_of(varve, trace) for trace in traces_of("accumulate"))
    engine = "autograd::engine::evaluate_function: AddmmBackward0"
    batches = 4 * STEPS
    assert ours["backward"][engine] == 2 * batches
    assert ours["forward"]["aten::addmm"] == 2 * batches
    assert ours["optimizer"]["aten::addcdiv_"] == 4 * STEPS
    for phase in ("forward", "backward", "optimizer", "data"):
        assert ours[phase] == theirs[phase], phase


@pytest.mark.parametrize("loop, name, kind", [("threads", "trainer", "a backward pass"),
                                              ("loaders", "reader", "a wait for data")])
def test_steps_of_other_threads_are_told_and_can_be_asked(record, varve, loop, name, kind):
    """Three threads run the loop, each one more time than the one before."""
    trace = record("torch", "torch_loops.py", loop) / "run.varve"
    shown = subprocess.run([varve, "report", "--warm-up", trace], capture_output=True, text=True,
                           check=True).stdout
    more = STEPS + 2  # the first wait for data ends no step, but the one in vain does
    assert f"{more} steps on {name}-2, each up to the end of {kind}" in shown
    assert "; 2 more threads have steps: --thread " in shown
    for number in range(3):
        rows = tables(varve, "steps", "--warm-up", "--thread", f"{name}-{number}", trace)["steps"]
        assert len(rows) == more - 2 + number


def test_a_thread_that_only_infers_has_no_passes(record, varve):
    """It runs more operators than the one that trains."""
    trace = record("torch", "torch_loops.py", "beside") / "run.varve"
    busy = {row["name"]: row["slices"] for row in tables(varve, "info", trace)["threads"]}
    assert busy["infers"] > busy["trains"]
    rows = tables(varve, "steps", "--warm-up", trace)["steps"]
    assert [row["step"] for row in rows] == list(range(STEPS))


def test_outputs_kept_to_the_end_are_a_leak(varve, traces_of):
    """The list goes when the loop has ended; before, nothing was released."""
    rows = tables(varve, "memory", traces_of("leak")[0])["memory_leaks"]
    paths = {row["path"]: (row["allocations"], row["bytes"]) for row in rows}
    count, size = paths["aten::linear > aten::addmm"]  # at most half of the steps are warm-up
    assert count >= 2 * STEPS - 1 and size == count * 16 * 20 * 4
    rows = tables(varve, "memory", traces_of("manual")[0])["memory_leaks"]
    assert not rows


@pytest.mark.parametrize("loop", ["closure", "gan"])
def test_the_run_is_accounted_for(varve, traces_of, loop):
    """Imports, the loop, and an evaluation after it."""
    row, = tables(varve, "info", traces_of(loop)[0])["trace"]
    parts = ("in_steps_ns", "in_warm_up_ns", "start_ns", "outside_compile_ns", "outside_data_ns",
             "outside_operator_ns", "outside_rest_ns")
    assert sum(row[part] for part in parts) == row["duration_ns"]
    assert row["start_ns"] > row["in_steps_ns"] > 0
    assert row["outside_data_ns"] > 0  # each epoch's end is a wait, too
    assert row["outside_operator_ns"] > 0

# SPDX-License-Identifier: Apache-2.0
"""The examples under `varve record`: they print the same, and the trace holds what their pages
promise.

The trace is read by tools/varve_decode.py, not by varve."""
import collections
import subprocess
import sys

import pytest

STEPS = 21
EVALUATIONS = 8  # batches of held-out samples
LAYERS = {"conv2d": 2, "relu": 3, "maxpool2d": 2, "linear": 2}


@pytest.fixture(scope="module")
def decoder(root):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "tools"))
        import varve_decode  # pylint: disable=import-outside-toplevel
        yield varve_decode
        sys.modules.pop("varve_decode", None)


@pytest.fixture(scope="module")
def recorded(build, varve, decoder, tmp_path_factory):
    """recorded("train", "--steps", "3") gives what the example printed, and the decoded trace."""
    def run(name, *arguments):
        program = build / "examples" / name
        if not program.exists():
            pytest.skip(f"needs examples/{name}: make")
        trace = tmp_path_factory.mktemp(name) / f"{name}.varve"
        alone = subprocess.run([program, *arguments], capture_output=True, check=True)
        done = subprocess.run([varve, "record", "-o", trace, "--", program, *arguments],
                              capture_output=True,
                              check=True)
        assert done.stdout == alone.stdout
        return decoder.open_trace(trace)
    return run


@pytest.fixture(scope="module")
def train(recorded, tmp_path_factory):
    state = tmp_path_factory.mktemp("state") / "state"
    trace = recorded("train", "--steps", str(STEPS), "--batch", "4", "--checkpoint", state)
    assert trace.problems == [] and len(trace.processes) == 1
    return trace.processes[0]


def threads(process):
    """Every record of a thread, with the ranges that were open: [(record, [name …])] by thread's
    name."""
    found = {}
    for stream in process.streams:
        if stream.kind == "process":
            continue
        stack, rows = [], []
        for record in stream.records:
            if record.name == "varve.end":
                stack.pop()
            elif record.name == "varve.step_end":
                del stack[stack.index("step"):]
            elif record.kind == "next":
                stack[-1] = record.name
            elif record.kind == "begin" or record.name == "varve.step_begin":
                stack.append("step" if record.name == "varve.step_begin" else record.name)
            rows.append((record, list(stack)))
        assert stack == []
        found[process.names[stream.tid]] = rows
    return found


def test_two_threads_are_named(train):
    assert sorted(threads(train)) == ["loader", "train"]


def test_phases_and_steps(train):
    rows = threads(train)["train"]
    assert [record.fields["index"] for record, _ in rows if record.name == "varve.step_begin"] == \
        list(range(1, STEPS + 1))
    phases = [record.name for record, stack in rows if record.layer == "STEP" and len(stack) == 2]
    expected = ["data", "forward", "backward", "optimizer"] * STEPS
    expected[80:80] = ["write_checkpoint"]  # after step 20, and after the last one
    assert phases == expected + ["write_checkpoint"]
    marks = [stack for record, stack in rows if record.kind == "mark"]
    assert marks == [["step", "write_checkpoint"]] * 2


def test_every_operator_runs_as_often_as_the_network_says(train):
    ranges = collections.Counter(record.name for record, _ in threads(train)["train"]
                                 if record.kind in ("begin", "next"))
    for name, count in LAYERS.items():
        assert ranges[name] == count * (STEPS + EVALUATIONS)
        assert ranges[name + "_backward"] == count * STEPS
    assert ranges["cross_entropy"] == ranges["cross_entropy_backward"] == ranges[
        "sgd_momentum"] == STEPS
    assert ranges["evaluate"] == 1


def test_backward_operators_name_their_forward_ones(train):
    operators = collections.defaultdict(list)
    rows = threads(train)["train"]
    tid = next(stream.tid for stream in train.streams if train.names.get(stream.tid) == "train")
    for record, stack in rows:
        if record.name == "varve.operator" and record.fields["sequence"] >= 0:
            operators[record.fields["sequence"]].append((stack[-1], record.fields))
    trained = [pair for pair in operators.values() if len(pair) == 2]
    assert len(trained) == (sum(LAYERS.values()) + 1) * STEPS
    for (forward, first), (backward, second) in trained:
        assert backward == forward + "_backward"
        assert (first["forward_tid"], second["forward_tid"]) == (0, tid)


def test_shapes_and_flop_of_the_first_convolution(train):
    fields = next(record.fields for record, stack in threads(train)["train"]
                  if record.name == "varve.operator" and stack[-1] == "conv2d")
    assert [tensor["dims"] for tensor in fields["tensors"] if tensor["side"] == 0][:2] == [
        [4, 1, 28, 28], [16, 1, 5, 5]]
    assert fields["flop"] == 2 * 4 * 16 * 28 * 28 * 5 * 5
    assert fields["bytes"] == 4 * (4 * 28 * 28 * (1 + 16) + 16 * (5 * 5 + 1))


def test_an_operator_counts_the_flop_of_its_matrix_products(train):
    """The FLOP of conv2d, linear and their backward ones are those of the sgemm calls inside."""
    operator, products = None, 0
    counted = collections.Counter()
    for record, stack in threads(train)["train"] + [(None, [])]:
        depth = [name for name in stack if name.startswith(("conv2d", "linear"))]
        if operator is not None and not depth:
            assert products == operator[1], operator[0]
            counted[operator[0]] += 1
            operator, products = None, 0
        if record is not None and record.name in ("varve.op", "varve.operator") and depth:
            if stack[-1] == "sgemm":
                products += record.fields["flop"]
            else:
                operator = (stack[-1], record.fields["flop"])
    assert counted["conv2d"] == 2 * (STEPS +
                                     EVALUATIONS) and counted["linear_backward"] == 2 * STEPS


def test_memory_is_given_back(train):
    """Per address, in order of time: allocated, freed, allocated, freed …; at the end all is
    free."""
    held, peak = {}, 0
    records = [record for stream in train.streams for record in stream.records
               if record.name in ("varve.alloc", "varve.free")]
    for record in sorted(records, key=lambda record: record.ticks):
        if record.name == "varve.alloc":
            assert record.fields["address"] not in held
            held[record.fields["address"]] = record.fields["bytes"]
        else:
            del held[record.fields["address"]]
        peak = max(peak, sum(held.values()))
    assert held == {} and peak > 3 * 4 * 215370  # parameters, gradients, velocity


def test_each_batch_is_an_arrow_from_the_loader_to_its_step(train):
    rows = threads(train)
    out = [(record.fields["id"], stack) for record, stack in rows["loader"]
           if record.kind == "flow_out"]
    into = [(record.fields["id"], stack) for record, stack in rows["train"]
            if record.kind == "flow_in"]
    assert out == [(index, ["load_batch"]) for index in range(STEPS)]
    assert into == [(index, ["step", "data", "wait_for_batch"]) for index in range(STEPS)]


def test_the_loss_is_the_counter(train):
    values = [record.fields["value"] for record, _ in threads(train)["train"]
              if record.kind == "counter"]
    assert len(values) == STEPS and values[-1] < values[0]


def test_c_loop_has_a_hundred_steps_of_two_phases(recorded):
    process = recorded("c-loop").processes[0]
    (rows,) = threads(process).values()
    assert [record.name for record, stack in rows if record.layer == "STEP"] == ["forward",
                                                                                 "backward"] * 100
    assert [stack[:-1] for record, stack in rows if record.name == "sum_of_roots"] == \
        [["step", "forward"], ["step", "backward"]] * 100


def test_the_runtime_has_an_arrow_for_each_operator_that_became_ready(recorded):
    process = recorded("runtime").processes[0]
    records = [record for stream in process.streams if stream.kind == "thread"
               for record in stream.records]
    begun = collections.Counter(process.strings[record.fields["name"]] for record in records
                                if record.name == "varve.begin")
    assert begun == {name: 30 for name in ("input", "query", "key", "value", "scores", "context",
                                           "residual")}
    ends = {kind: sorted(record.fields["id"] for record in records if record.kind == kind)
            for kind in ("flow_out", "flow_in")}
    assert ends["flow_out"] == ends["flow_in"] and len(set(ends["flow_in"])) == 7 * 30
    live = collections.Counter()
    for record in records:
        live[record.fields.get("address")] += {"varve.alloc": 1, "varve.free": -1}.get(record.name,
                                                                                       0)
    assert not any(live.values())

# SPDX-License-Identifier: Apache-2.0
"""examples/graphrun: its losses are those of examples/train, on every device and on two processes;
its gradients are right; and what its trace says is what the program itself counted."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from example_build import build_objects, build_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import table_reader  # noqa: E402

STEPS, BATCH = 8, 16
RUN = ["--steps", str(STEPS), "--batch", str(BATCH), "--every", "1"]
NETWORK = {"conv2d": 2, "relu": 3, "maxpool2d": 2, "linear": 2}
NODES = 31  # of the training graph of a process alone
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
# Open MPI's paths of sockets must be short; threads of two processes share these processors.
SURROUNDINGS = {**os.environ, "TMPDIR": "/tmp"}


@pytest.fixture(scope="module", name="graphrun")
def fixture_graphrun(build):
    program = build / "examples" / "graphrun"
    if not program.exists():
        pytest.skip("needs examples/graphrun: make")
    return program


def run(*command):
    """What a program prints. Skips where the build, or this machine, lacks a library."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120,
                          check=False, env=SURROUNDINGS)
    if re.search("built without OpenCL|there is no OpenCL device", done.stderr):
        pytest.skip("needs OpenCL: tools/setup clients, then make")
    if "built without MPI" in done.stderr:
        pytest.skip("needs Open MPI: tools/setup clients, then make")
    assert done.returncode == 0, done.stderr
    return done.stdout


def launcher(options):
    if "--mpi" not in options:
        return []
    if shutil.which("mpirun") is None:
        pytest.skip("needs Open MPI: tools/setup clients")
    return MPIRUN


def losses_of(text):
    return [float(line.split()[-1]) for line in text.splitlines() if line.startswith("step ")]


@pytest.fixture(scope="module", name="train_losses")
def fixture_train_losses(build, varve, tmp_path_factory):
    """Each step's loss of examples/train, as its counter has it."""
    program = build / "examples" / "train"
    if not program.exists():
        pytest.skip("needs examples/train: tools/setup demo, then make")
    trace = tmp_path_factory.mktemp("train") / "train.varve"
    run(varve, "record", "-q", "-o", trace, "--", program, "--steps", STEPS, "--batch", BATCH)
    rows = table_reader.tables(varve, "report", "--warm-up", "--table", "counter_values", "--top",
                               "0", trace)["counter_values"]
    losses = [row["value"] for row in rows if row["name"] == "loss"]
    assert len(losses) == STEPS
    return losses


@pytest.mark.parametrize("options", [["--workers", "1"], ["--workers", "3"], ["--opencl"],
                                     ["--mpi"], ["--mpi", "--opencl"]], ids=" ".join)
def test_the_losses_are_those_of_train(graphrun, train_losses, options):
    text = run(*launcher(options), graphrun, *RUN, "--held-out", "0", *options)
    assert losses_of(text) == pytest.approx(train_losses, rel=0, abs=1e-5)


def test_a_loss_that_differs_is_noticed(graphrun, train_losses):
    """Other first weights, other losses: so equal ones say something."""
    text = run(graphrun, *RUN, "--held-out", "0", "--seed", "2")
    assert all(abs(one - other) > 1e-4 for one, other in zip(losses_of(text), train_losses))


# ---- gradients ----

# One wrong line each, by file: what to look for, and what to write there.
MISTAKES = {
    "conv2d forgets a shift": ("kernels.cl", "(int)edge - (int)(tap % a->side), out, a->width",
                               "(int)(tap % a->side) - (int)edge, out, a->width"),
    "conv2d keeps one sample's weights": ("kernels.cl", "out[tap] += sum", "out[tap] = sum"),
    "relu passes all": ("kernels.cl", "arena[a->inputs[1] + i] > 0.0f ?",
                        "arena[a->inputs[1] + i] >= 0.0f ?"),
    "maxpool2d forgets where": ("kernels.cl", "out[greatest_in_window(image, corner, a->width, "
                                "a->side)] =", "out[corner] ="),
    "linear forgets the bias": ("kernels.cl", "out[width] += gradient", "out[width] -= gradient"),
    "cross_entropy forgets the label": ("kernels.cl", "(i == label ? 1.0f : 0.0f)", "0.0f"),
    "a sum has one gradient": ("gradient.c", "*sum = node->outputs[0];", "*sum = gradient;"),
    "linear takes its output": ("operators.c", "BY(LINEAR_BACKWARD_PARAMETERS, OF_GRADIENT, "
                                "OF_INPUT_0)", "BY(LINEAR_BACKWARD_PARAMETERS, OF_GRADIENT, "
                                "OF_OUTPUT_0)"),
    "memory is reused too early": ("plan.c", "graph->tensors[node->inputs[k]].last_use = i;",
                                   "graph->tensors[node->inputs[k]].last_use = i - 1;"),
}


@pytest.fixture(scope="module", name="objects")
def fixture_objects(root, build, tmp_path_factory):
    """The folder of graph_gradients.c and the sources it needs, compiled without OpenCL and MPI."""
    folder = tmp_path_factory.mktemp("objects")
    sources = [root / "tests/examples/graph_gradients.c",
               *(path for path in (root / "examples/graphrun").glob("*.c")
                 if path.name != "main.c"),
               *(root / "examples/train" / name for name in ("digits.c", "buffer.c"))]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        build_objects(root, build, sources, f"-I{root / 'examples/graphrun'}")
    return folder


def check_gradients(root, build, objects, program):
    """Links the objects and runs them: exit code and verdicts."""
    build_program(root, build, objects, program)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, [line.split()[-1] for line in done.stdout.splitlines()]


def test_the_backward_pass_gives_the_gradients(root, build, objects, tmp_path):
    parts = sorted(objects.glob("*.o"))
    assert check_gradients(root, build, parts, tmp_path / "gradients") == (0, ["right"] * 30)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_gradient_is_noticed(root, build, objects, tmp_path, mistake):
    name, right, wrong = MISTAKES[mistake]
    shutil.copytree(root / "examples" / "train", tmp_path / "train")
    folder = shutil.copytree(root / "examples" / "graphrun", tmp_path / "graphrun")
    text = (folder / name).read_text()
    assert text.count(right) == 1, "the mistake no longer fits the source"
    (folder / name).write_text(text.replace(right, wrong))
    source = folder / name.replace(".cl", ".c")  # kernels.c includes kernels.cl
    parts = [path for path in sorted(objects.glob("*.o")) if path.stem != source.stem]
    build_objects(root, build, [source], f"-I{folder}", "-o", folder / "wrong.o")
    code, verdicts = check_gradients(root, build, [*parts, folder / "wrong.o"],
                                     tmp_path / "gradients")
    assert code == 1 and "WRONG" in verdicts


# ---- the memory plan ----

def plan_of(text):
    """Of each graph, what the program prints of its plan."""
    rows = re.findall(r"^plan (\w+): (\d+) buffers, peak (\d+) bytes at node (\d+), planned (\d+) "
                      r"bytes, all (\d+) bytes, (\d+) conflicts$", text, re.MULTILINE)
    return [tuple(map(int, row[1:])) for row in rows]


def conflicts_of(text):
    rows = re.findall(r"^conflict \w+: (\S+) and (\S+) share (\d+) bytes in nodes (\d+) to (\d+)$",
                      text, re.MULTILINE)
    return sorted((frozenset(row[:2]), *map(int, row[2:])) for row in rows)


@pytest.mark.parametrize("broken", [False, True], ids=["plan", "broken plan"])
def test_varve_finds_what_the_planner_says(graphrun, varve, tmp_path, broken):
    plan = tmp_path / "plan.csv"
    text = run(graphrun, "--steps", "1", "--held-out", "64", "--print-plan", "--plan", plan,
               *["--break-plan"] * broken)
    tables = {name: table_reader.tables(varve, "report", "--table", name, "--top", "0", plan)[name]
              for name in ("static_plan", "plan_conflicts")}
    rows = tables["static_plan"]
    assert plan_of(text) == [tuple(row[name] for name in (
        "buffers", "peak_bytes", "peak_at_use", "planned_bytes", "all_bytes", "conflicts"))
        for row in rows]
    found = sorted((frozenset((row["name"], row["other_name"])), row["shared_bytes"],
                    row["first_use"], row["last_use"]) for row in tables["plan_conflicts"])
    assert found == conflicts_of(text)
    assert (len(found) > 0) == broken


@pytest.mark.parametrize("broken", [False, True], ids=["plan", "broken plan"])
def test_a_trace_has_the_plan_too(graphrun, varve, tmp_path, broken):
    """There a buffer has the name of the node that writes it."""
    trace = tmp_path / "plan.varve"
    text = run(varve, "record", "-q", "-o", trace, "--", graphrun, "--steps", "1", "--batch", "2",
               "--held-out", "64", "--print-plan", *["--break-plan"] * broken)
    rows = table_reader.tables(varve, "report", "--table", "static_plan", trace)["static_plan"]
    assert [(row["device"], row["graph"]) for row in rows] == [("cpu:0", 1), ("cpu:0", 2)]
    assert plan_of(text) == [tuple(row[name] for name in (
        "buffers", "peak_bytes", "peak_at_use", "planned_bytes", "all_bytes", "conflicts"))
        for row in rows]
    rows = table_reader.tables(varve, "report", "--table", "plan_conflicts", "--top", "0",
                               trace)["plan_conflicts"]
    found = sorted((frozenset((row["name"], row["other_name"])), row["shared_bytes"],
                    row["first_use"], row["last_use"]) for row in rows)
    said = sorted((frozenset(re.sub(r"\.(output|labels|probabilities)$", "", name)
                             for name in names), *rest) for names, *rest in conflicts_of(text))
    assert found == said and (len(found) > 0) == broken


# ---- trace points ----

def points_of(text):
    rows = re.findall(r"^point training: ([a-z ]+) (\d+) at (\S+): ", text, re.MULTILINE)
    return [(kind, int(index), node) for kind, index, node in rows]


@pytest.mark.parametrize("options", [(), ("--mpi",)], ids=["alone", "two ranks"])
def test_trace_points_are_where_the_phases_begin_and_end(graphrun, options):
    text = run(*launcher(options), graphrun, "--steps", "1", "--held-out", "0", "--print-points",
               *options)
    reduced = ["mean.output", "linear_2.backward_parameters", "linear_1.backward_parameters",
               "conv2d_2.backward_parameters", "conv2d_1.backward_parameters"]
    collectives = [("collective", index, f"all_reduce.{name}")
                   for index, name in enumerate(reduced)] if options else [
                       ("collective", 0, "none")]
    assert points_of(text) == [("forward start", 0, "conv2d_1"),
                               ("backward end", 0, "conv2d_1.backward_parameters"),
                               ("iteration end", 0, "net_output"), *collectives,
                               ("data fetch", 0, "get_next")]


def test_a_user_names_a_trace_point(graphrun):
    text = run(graphrun, "--steps", "1", "--held-out", "0", "--print-points",
               "--fp-point", "relu_1",
               "--bp-point", "relu_1.backward_input")
    assert points_of(text)[:2] == [("forward start", 0, "relu_1"),
                                   ("backward end", 0, "relu_1.backward_input")]


# ---- what the program itself hears ----

def test_an_observer_hears_each_call_of_the_runtime(graphrun):
    """Nothing is recorded. A step launches four phases, an inference two."""
    text = run(graphrun, "--steps", "3", "--batch", "2", "--held-out", "128", "--watch")
    calls = {name: (int(count), int(total)) for name, count, total in re.findall(
        r"^call (\w+): (\d+) times, (\d+) ns$", text, re.MULTILINE)}
    counts = {"runtime_open": 1, "runtime_compile": 2, "model_load": 2, "model_write": 8,
              "model_read": 4, "model_launch": 3 * 4 + 2 * 2, "model_wait": 3 + 2,
              "model_unload": 2,
              "evaluate": 1}
    assert {name: count for name, (count, _) in calls.items()} == counts
    assert all(total > 0 for _, total in calls.values())


def test_a_subscriber_hears_each_node_that_is_executed(graphrun):
    text = run(graphrun, "--steps", "3", "--batch", "2", "--held-out", "128", "--watch")
    events = {name: int(count) for name, count in re.findall(r"^event ([a-z ]+): (\d+)$", text,
                                                             re.MULTILINE)}
    nodes = 3 * NODES + 2 * (2 + sum(NETWORK.values()))  # an inference fetches, and gives back
    assert events == {"load begin": 2, "load end": 2, "unload": 2, "model begin": 3 + 2,
                      "model end": 3 + 2, "execute begin": nodes, "execute end": nodes}


# ---- what a trace says ----

@pytest.fixture(scope="module", name="recorded")
def fixture_recorded(graphrun, varve, tmp_path_factory):
    """recorded(option …): the trace of a run, and what the run printed; once for each."""
    done = {}

    def record(*options):
        if options not in done:
            trace = tmp_path_factory.mktemp("graphrun") / "graphrun.varve"
            text = run(varve, "record", "-q", "-o", trace, "--", *launcher(options), graphrun, *RUN,
                       "--held-out", "0", "--times", *options)
            done[options] = trace, text
        return done[options]
    return record


def times_of(text):
    rows = re.findall(r"^time (.*): (\d+) tasks, (\d+) ns$", text, re.MULTILINE)
    return {name: (int(count), int(total)) for name, count, total in rows}


DEVICES = pytest.mark.parametrize("device", ["cpu", "opencl"])


def record_on(recorded, device):
    return recorded(*(["--opencl"] if device == "opencl" else []))


@DEVICES
def test_kernel_times_are_those_that_the_program_counted(recorded, varve, device):
    trace, text = record_on(recorded, device)
    rows = table_reader.tables(varve, "report", "--warm-up", "--table", "kernels", "--top", "0",
                               trace)["kernels"]
    found = {row["name"]: (row["calls"], row["total_ns"]) for row in rows if row["row"] == "group"}
    counted = times_of(text)
    assert found.keys() == counted.keys()
    for name, (count, total_ns) in counted.items():
        assert found[name][0] == count, name
        # each begin and end is rounded to a tick of our clock, and our clock's rate is measured
        assert found[name][1] == pytest.approx(total_ns, rel=2e-4, abs=2 * count), name


def test_the_report_shows_each_layer_but_python_s(recorded, varve):
    trace, _ = recorded("--mpi")
    layers = set()
    for thread in ("graphrun", "collectives"):
        rows = table_reader.tables(varve, "report", "--warm-up", "--by", "layer", "--thread",
                                   thread, "--table", "operators", "--top", "0", trace)["operators"]
        layers |= {row["layer"] for row in rows if row["row"] == "operator" and row["calls"] > 0}
    assert layers == {"API", "HOST", "OP", "RUNTIME", "RUNTIME_L1", "COMM"}
    for layer, table in (("DEVICE", "kernels"), ("MEMORY", "allocations"), ("STEP", "phases"),
                         ("METRIC", "counters")):
        assert table_reader.tables(varve, "report", "--table", table, trace)[table], layer


@DEVICES
def test_each_operator_is_known_by_its_launch(recorded, varve, device):
    """All device work belongs to an operator of the graph, as often as the network says."""
    trace, _ = record_on(recorded, device)
    rows = table_reader.operators(varve, trace)
    found = {row["name"]: row for row in rows}
    forward = [f"{word}_{number + 1}" for word, count in NETWORK.items() for number in range(count)]
    nodes = ["get_next", *forward, "cross_entropy", "mean", "net_output"]
    nodes += [f"{name}.backward_input" for name in nodes[2:-1]]  # nobody wants that of the images
    for name in ("conv2d_1", "conv2d_2", "linear_1", "linear_2"):
        nodes += [f"{name}.backward_parameters", f"sgd.{name}.parameters"]
    assert len(nodes) == NODES
    for name in nodes:
        assert (found[name]["calls"], found[name]["device_total_ns"] > 0) == (STEPS, True), name


@DEVICES
def test_the_step_trace_adds_up_to_the_iteration(recorded, varve, device):
    """Each iteration begins where the former one ended, so that together they are the run."""
    trace, _ = record_on(recorded, device)
    rows = table_reader.tables(varve, "report", "--table", "step_trace", "--top", "0",
                               trace)["step_trace"]
    assert [row["iteration"] for row in rows] == list(range(1, STEPS + 1))
    for row in rows:
        parts = [row[f"{part}_ns"] for part in ("before_forward", "forward_backward", "refresh")]
        assert sum(parts) == row["iteration_ns"] and min(parts) >= 0
        assert row["number"] == "recorded" and (row["reduces"], row["fetches"]) == (0, 1)
    for former, row in zip(rows, rows[1:]):
        assert row["begin_ns"] == former["iteration_end_ns"]
    assert sum(row["iteration_ns"] for row in rows) == rows[-1]["iteration_end_ns"] - rows[0][
        "begin_ns"]


def test_the_step_trace_has_each_all_reduce(recorded, varve):
    trace, _ = recorded("--mpi")
    rows = table_reader.tables(varve, "report", "--table", "step_reduces", "--top", "0",
                               trace)["step_reduces"]
    layers = ["linear_2", "linear_1", "conv2d_2", "conv2d_1"]
    nodes = ["all_reduce.mean.output",
             *(f"all_reduce.{name}.backward_parameters" for name in layers)]
    assert [row["name"] for row in rows] == nodes * STEPS * 2  # on two ranks
    assert all(row["operation"] == "all_reduce" and row["duration_ns"] > 0 for row in rows)


def test_a_model_is_executed_once_a_step(recorded, varve):
    trace, _ = recorded()
    (row,) = table_reader.tables(varve, "report", "--table", "models", trace)["models"]
    assert (row["name"], row["loads"], row["executions"], row["unloaded"], row["model_id"]) == (
        "training", 1, STEPS, 1, 1)
    assert 0 < row["load_ns"] and 0 < row["median_ns"] <= row["p90_ns"] <= row["max_ns"]


@DEVICES
def test_the_critical_path_leads_through_the_device(recorded, varve, device):
    """The host's wait at the end of a step ends with the device's work: the wait is nobody's
    fault."""
    trace, _ = record_on(recorded, device)
    rows = table_reader.tables(varve, "critical", trace)["critical_bound"]
    share = {row["bound"]: row["share"] for row in rows if row["row"] == "bound"}
    assert share.get("host", 0) < 0.4, share  # the rest is kernels, copies and what they wait for
    findings = table_reader.tables(varve, "report", "--table", "advice", trace)["advice"]
    assert not [row for row in findings if re.search("clFinish|Synchronize", row["finding"])]


def test_backward_operators_have_their_forward_ones(recorded, varve):
    trace, _ = recorded()
    rows = table_reader.tables(varve, "report", "--warm-up", "--table", "links", "--top", "0",
                               trace)["links"]
    pairs = {(row["backward_op"], row["forward_op"]) for row in rows if row["row"] == "link"}
    assert ("conv2d_1.backward_parameters", "conv2d_1") in pairs
    assert ("cross_entropy.backward_input", "cross_entropy") in pairs


def test_two_ranks_meet_in_each_all_reduce(recorded, varve):
    trace, text = recorded("--mpi")
    assert len(losses_of(text)) == STEPS
    rows = table_reader.tables(varve, "report", "--warm-up", "--table", "collective_kinds",
                               trace)["collective_kinds"]
    layers_with_parameters = NETWORK["conv2d"] + NETWORK["linear"]
    found = sorted((row["rank"], row["in_elements"], row["calls"]) for row in rows
                   if row["row"] == "collective")
    sizes = sorted(features * (weights + 1) for features, weights in (
        (16, 25), (32, 16 * 25), (128, 32 * 7 * 7), (10, 128)))
    assert found == [(rank, size, STEPS) for rank in (0, 1) for size in (1, *sizes)]  # 1: the loss
    assert {(row["name"], row["group"], row["group_size"], row["dtype"]) for row in rows
            if row["row"] == "collective"} == {("all_reduce", "MPI_COMM_WORLD", 2, "f32")}
    (row,) = table_reader.tables(varve, "critical", "--steps", "3", trace)["critical"]
    assert (row["collectives"], row["unmatched_communication"]) == (layers_with_parameters + 1, 0)


# ---- what cannot be run ----

@pytest.mark.parametrize("options, words", [
    (["--network", "conv2d 8 4 linear 10"], "conv2d_1: filters of side 4 have no centre"),
    (["--network", "linear 12"], "must end in 10 classes"),
    (["--network", "linear 12 add 1 linear 10"], "have different shapes"),
    (["--network", "relu relu softmax"], "layer 3 is 'softmax'"),
    (["--network", "maxpool2d 29 linear 10"], "do not fit in images of 28 x 28"),
    (["--network", "linear 10 conv2d 4 3 linear 10"], "conv2d_1: a convolution wants images"),
    (["--network", ""], "the network has no layers"),
    (["--bp-point", "conv2d_3"], "bp_point: no node is called 'conv2d_3'; nearest: 'conv2d_1'"),
    (["--plan", "/nowhere/plan.csv"], "cannot write '/nowhere/plan.csv'"),
])
def test_a_wrong_network_is_one_line(graphrun, options, words):
    done = subprocess.run([graphrun, "--steps", "1", *options], capture_output=True, text=True,
                          timeout=60, check=False)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    assert line.startswith("graphrun: ") and words in line


@pytest.mark.parametrize("options", [["--steps", "0"], ["--workers"], ["--gpu"], ["more"]])
def test_a_wrong_option_is_one_line(graphrun, options):
    done = subprocess.run([graphrun, *options], capture_output=True, text=True, timeout=60,
                          check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)

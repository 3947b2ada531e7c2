# SPDX-License-Identifier: Apache-2.0
"""PyTorch in several processes, and compiled: what `varve record` has of ranks over gloo, of a
DataLoader's workers and of torch.compile, against what the programs do and say."""
import collections
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health  # noqa: E402
from table_reader import operators, tables as tables_of  # noqa: E402

WORLD = 2
STEPS = 3  # of torch_ddp.py

# What each step of torch_ddp.py asks for, in order: the gradients in one bucket, then what it does
# by name.
ASKED = [("allreduce", 16 * 8 + 8 + 8 + 1, "Float"), ("allreduce", 5, "Double"),
         ("broadcast", 5, "Double"), ("allgather", 3, "Float"), ("barrier", 1, "Byte")]

ITEMS, BATCH, WORKERS = 24, 4, 2  # of torch_workers.py


def process_of(tables, row):
    return tables["processes"][tables["tracks"][row["track"]]["process"]]


def nothing_lost(tables):
    assert tables["run"][0]["lost"] == 0
    assert health(tables).keys() <= {"zero_length"}


# ---- ranks ----

@pytest.fixture(scope="module", name="ranks")
def fixture_ranks(record):
    return record("torch", "torch_ddp.py",
                  launcher=("-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                            str(WORLD)))


@pytest.fixture(scope="module", name="tables")
def fixture_tables(build, ranks):
    return dump(build, ranks / "run.varve")


@pytest.fixture(scope="module", name="said")
def fixture_said(ranks):
    return [json.loads((ranks / f"rank{rank}.json").read_text()) for rank in range(WORLD)]


def collectives(tables, pid):
    """(what, elements, type) of each collective that a process asked for, in order."""
    rows = [(tables["slices"][row["slice"]], row) for row in tables["collectives"]]
    rows = sorted(((own, row) for own, row in rows if process_of(tables, own)["pid"] == pid
                   and own["name"].startswith("c10d::")), key=lambda pair: pair[0]["begin_ns"])
    return [(row["name"], row["in_elements"], row["dtype"]) for _, row in rows]


def test_the_launcher_and_both_ranks_are_in_one_trace(tables, said):
    pids = {row["pid"] for row in tables["processes"]}
    assert len(pids) == 1 + WORLD
    assert pids > {row["pid"] for row in said}
    launcher, = pids - {row["pid"] for row in said}
    assert not [row for row in tables["slices"] if process_of(tables, row)["pid"] == launcher]
    nothing_lost(tables)


def test_each_rank_knows_its_number(tables, said, varve, ranks):
    pids = {rank: row["pid"] for rank, row in enumerate(said)}
    known = {row["pid"]: (row["rank"], row["world_size"]) for row in tables["processes"]}
    assert known == {pid: (-1, 0) for pid in known} | {pid: (rank, WORLD)
                                                       for rank, pid in pids.items()}
    for rank in range(WORLD):
        calls = sum(row["calls"] for row in operators(varve, "--rank", rank, ranks / "run.varve"))
        assert 0 < calls < sum(row["calls"] for row in operators(varve, ranks / "run.varve"))


def test_each_process_knows_its_rank(tables, said, varve, ranks):
    known = {row["pid"]: (row["rank"], row["world_size"]) for row in tables["processes"]
             if row["rank"] >= 0}
    assert known == {row["pid"]: (row["rank"], row["world_size"]) for row in said}
    for rank in range(WORLD):
        rows = operators(varve, "--rank", str(rank), ranks / "run.varve")
        calls = {row["name"]: row["calls"] for row in rows}
        assert calls["DistributedDataParallel.forward"] == calls["Optimizer.step#SGD.step"] == STEPS


def test_each_collective_of_one_rank_is_that_of_the_other(tables, said):
    first, second = (collectives(tables, row["pid"]) for row in said)
    assert first == second
    assert [asked for asked in first if asked in ASKED] == ASKED * STEPS


def test_gloo_runs_each_collective_that_was_asked_for(tables, said):
    """On threads of its own: an asynchronous range for each, in the order of asking, begun no
    sooner."""
    for row in said:
        asked, run = collections.defaultdict(list), collections.defaultdict(list)
        for own in tables["slices"]:
            if process_of(tables, own)["pid"] != row["pid"]:
                continue
            backend, _, word = own["name"].replace("::", ":").partition(":")
            if backend in ("c10d", "gloo"):
                (asked if backend == "c10d" else run)[word.replace("_", "")].append(own)
        assert asked.keys() == run.keys() == {"allreduce", "broadcast", "allgather", "barrier"}
        for word in asked:
            pairs = list(zip(*(sorted(own["begin_ns"] for own in rows[word])
                               for rows in (asked, run)), strict=True))
            assert all(before < after for before, after in pairs), (word, pairs)


def test_what_gloo_takes_is_communication(tables, varve, ranks):
    """Not only what asking for it takes, where it runs alone."""
    trace = ranks / "run.varve"
    asked_ns = sum(row["duration_ns"] for row in tables["slices"]
                   if row["name"].startswith("c10d::") and row["step"] is not None)
    split = tables_of(varve, "report", "--warm-up", "--table", "step_split", trace)["step_split"]
    total, = (row for row in split if row["row"] == "total")
    assert total["communication_ns"] > asked_ns
    phases = tables_of(varve, "report", "--warm-up", "--table", "phases", trace)["phases"]
    communication, = (row for row in phases if row["phase"] == "communication")
    assert communication["steps"] == WORLD * STEPS
    assert 0 < communication["total_ns"] <= total["communication_ns"]


def test_a_collective_takes_as_long_as_gloo_runs_it(tables, varve, ranks):
    """Not as long as asking for it takes."""
    ran = [row["duration_ns"] for row in tables["slices"] if row["name"].startswith("gloo:")]
    kinds = tables_of(varve, "report", "--warm-up", "--top", "0", "--table", "collective_kinds",
                      ranks / "run.varve")["collective_kinds"]
    total, = (row for row in kinds if row["row"] == "total")
    assert (total["calls"], total["total_ns"]) == (len(ran), sum(ran))
    assert 0 < total["exposed_ns"] <= total["total_ns"]


def test_the_bucket_is_reduced_within_the_backward_pass(tables):
    rows = [row for row in tables["slices"] if row["name"] == "c10d::allreduce_"]
    reduced = []
    for row in rows:
        names = []
        while row["parent"] is not None:
            row = tables["slices"][row["parent"]]
            names.append(row["name"])
        reduced.append("torch::autograd::AccumulateGrad" in " ".join(names))
    assert sum(reduced) == WORLD * STEPS == len(rows) - sum(reduced)


# What the model of torch_ddp_late.py asks for in a step: one bucket of gradients; or for each of
# two layers the weights, in the forward and in the backward pass, and the gradients.
EACH_STEP = {"ddp": {"allreduce": 1}, "fsdp2": {"_allgather_base": 4, "_reduce_scatter_base": 2}}


@pytest.mark.parametrize("how", EACH_STEP)
def test_a_rank_that_waits_says_for_whom_and_for_what(varve, record, how):
    folder = record("torch", "torch_ddp_late.py", how,
                    launcher=("-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                              str(WORLD)))
    tables = tables_of(varve, "critical", "--steps", "2..4", folder / "run.varve")
    row, = tables["critical"]
    assert (row["collectives"], row["unmatched_communication"]) == (
        3 * sum(EACH_STEP[how].values()), 0)
    waited, = (row for row in tables["rank_waits"] if row["row"] == "wait" and row["rank"] == 0)
    assert (waited["late_rank"], waited["name"]) == (1, "late load")
    # it sleeps 150 ms three times
    assert waited["waited_ns"] > 3 * 100_000_000 and waited["name_ns"] > 3 * 100_000_000
    late = [row["time_ns"] for row in tables["critical_ops"] if row["name"] == "late load"]
    assert sum(late) > 3 * 140_000_000
    kinds = tables_of(varve, "report", "--steps", "2..4", "--table", "collective_kinds",
                      folder / "run.varve")["collective_kinds"]
    calls = collections.Counter()
    for row in kinds:
        calls[row["name"]] += row["calls"] if row["row"] == "collective" else 0
    assert +calls == {name: WORLD * 3 * count for name, count in EACH_STEP[how].items()}
    phases = tables_of(varve, "report", "--steps", "2..4", "--table", "phases",
                       folder / "run.varve")["phases"]
    communication, = (row for row in phases if row["phase"] == "communication")
    assert communication["total_ns"] > 0


# ---- a DataLoader's workers ----

@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_are_recorded_to_their_end(build, record, method):
    folder = record("torch", "torch_workers.py", method)
    tables, said = dump(build, folder / "run.varve"), json.loads((folder / "said.json").read_text())
    made = collections.Counter(process_of(tables, row)["pid"] for row in tables["slices"]
                               if row["name"] == "aten::pow")
    assert len(said["workers"]) == WORKERS
    assert made == {pid: ITEMS // WORKERS for pid in said["workers"]}
    assert {row["pid"] for row in tables["processes"]} == {said["pid"], *said["workers"]}
    fetched = [process_of(tables, row)["pid"] for row in tables["slices"]
               if row["name"] == "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"]
    assert fetched == [said["pid"]] * (ITEMS // BATCH + 1)
    assert said["total"] == [sum(i * i for i in range(ITEMS))] * 3
    nothing_lost(tables)


# ---- torch.compile ----

# What one call of a compiled model of two linear layers runs by name; inductor makes the rest into
# code of its own.
COMPILED = {
    "aot_eager": {"aten::addmm": 2, "aten::relu": 1, "aten::mm": 3, "aten::threshold_backward": 1},
    "inductor": {"aten::addmm": 2, "aten::relu": 0, "aten::mm": 3, "aten::threshold_backward": 0},
}


@pytest.mark.parametrize("backend", COMPILED)
def test_a_compiled_model(build, varve, record, backend):
    folder = record("torch", "torch_compiled.py", backend)
    trace = folder / "run.varve"
    tables, calls = dump(build, trace), json.loads((folder / "said.json").read_text())["calls"]
    nothing_lost(tables)
    around = [row for row in tables["slices"] if row["name"] == "one call"]
    assert len(around) == calls
    last = around[-1]  # the first ones compile
    within = collections.Counter(row["name"] for row in tables["slices"]
                                 if row["track"] == last["track"]
                                 and 0 <= row["begin_ns"] - last["begin_ns"] < last["duration_ns"])
    assert {name: within[name] for name in COMPILED[backend]} == COMPILED[backend]
    assert within["Torch-Compiled Region: 0/0"] == within["TorchDynamo Cache Lookup"] == 1
    graphs = [row for row in tables["slices"] if row["name"].startswith("## Call CompiledFxGraph ")]
    assert len(graphs) == (2 * calls if backend == "inductor" else 0)
    assert all(row["name"].split()[3] not in ("None", "##") for row in graphs)
    around = {tables["slices"][row["parent"]]["name"] for row in graphs}
    assert around <= {"CompiledFunction", "CompiledFunctionBackward"}
    links = [row for row in tables_of(varve, "report", "--warm-up", "--table", "links", "--top",
                                      "0", trace)["links"]
             if row["backward_op"] == "CompiledFunctionBackward"]
    assert [row["forward_op"] for row in links] == ["CompiledFunction"] * calls


# The phases whose times PyTorch keeps by the name of a function, and those that are sums of many
# short ones, which have no begin and end.
WHOLE, TIMED = "entire_frame_compile", " (dynamo_timed)"
BY_FUNCTION = {"_compile.compile_inner": WHOLE, "OutputGraph.call_user_compiler": "backend_compile",
               "backward._backward_impl": "entire_backward_compile",
               "compile_fx_inner": "inductor_compile",
               "GraphLowering.compile_to_module": "code_gen"}
SUMS = {"get_fake_value", "create_proxy", "wrap_to_fake_tensor_and_record", "variable_builder_call"}


def phases_of(build, folder):
    """{a phase: seconds} as PyTorch says, {a name: slices}, and the most that two readings of the
    clock may be apart on a machine that others use: 2 % of all compiling."""
    found = dump(build, folder / "run.varve")
    nothing_lost(found)
    said = json.loads((folder / "said.json").read_text())["phases"]
    rows = collections.defaultdict(list)
    for row in found["slices"]:
        rows[row["name"]].append(row)
    return said, rows, 0.02e9 * max(map(max, said.values()))


def agree(rows, seconds, apart_ns):
    for row, said in zip(rows, seconds, strict=True):
        assert row["duration_ns"] == pytest.approx(said * 1e9, abs=apart_ns)


@pytest.mark.parametrize("backend", COMPILED)
def test_each_phase_of_compiling_is_a_range_as_long_as_pytorch_says(build, record, backend):
    """Without PyTorch's profiler. On this Python, 3.11, calls that the compiler makes while no
    compiled code is entered are not seen: a backward pass that is compiled when it first runs."""
    said, rows, apart_ns = phases_of(build, record("torch", "torch_compiled.py", backend))
    assert said.keys() >= {*BY_FUNCTION} - ({"compile_fx_inner", "GraphLowering.compile_to_module"}
                                            if backend == "aot_eager" else set())
    whole, = rows[WHOLE]
    assert not [name for name in rows if name.endswith(TIMED)]
    for name in said.keys() - SUMS:
        own = rows[BY_FUNCTION.get(name, name)]
        if not name.startswith(("backward.", "compile_fx.<locals>.bw")):
            agree(own, said[name][:max(1, len(own))], apart_ns)
            assert all(0 <= row["begin_ns"] - whole["begin_ns"] <= whole["duration_ns"]
                       - row["duration_ns"] and row["track"] == whole["track"] for row in own)


def test_what_the_compiler_traces_is_no_step(varve, record):
    """It runs a backward pass of its own; a step ends with each of the program's."""
    folder = record("torch", "torch_compiled.py", "aot_eager")
    said = json.loads((folder / "said.json").read_text())
    assert len(tables_of(varve, "steps", folder / "run.varve")["steps"]) == said["calls"]
    line, = tables_of(varve, "info", folder / "run.varve")["trace"]
    whole_ns = said["phases"]["_compile.compile_inner"][0] * 1e9
    assert line["outside_compile_ns"] == pytest.approx(whole_ns, rel=0.02)


def test_under_its_profiler_pytorch_makes_the_ranges_alone(build, record):
    said, rows, apart_ns = phases_of(build, record("torch", "torch_compiled.py", "aot_eager",
                                                   "profiled"))
    for name in said.keys() - SUMS:
        agree(rows[BY_FUNCTION.get(name, name)], said[name], apart_ns)
        agree(rows[name + TIMED], said[name], apart_ns)


@pytest.mark.parametrize("version", ["2.2", "2.6", "2.9"])
def test_older_pytorch_makes_them_always(build, record, version):
    said, rows, apart_ns = phases_of(build, record(f"torch-{version}", "torch_compiled.py",
                                                   "aot_eager", version))
    assert not rows[WHOLE] and "_compile" in " ".join(said)
    for name, seconds in said.items():
        agree(rows[name + TIMED], seconds, apart_ns)

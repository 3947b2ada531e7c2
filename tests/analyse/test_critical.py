# SPDX-License-Identifier: Apache-2.0
"""The critical path: HTA's own answers by its rules, the laws of ours, and a slow reference on
played programs."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import hypothesis
from hypothesis import strategies
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import critical_reference  # pylint: disable=wrong-import-position
import table_reader  # pylint: disable=wrong-import-position

ALEXNET = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"


def critical(varve, *arguments):
    return table_reader.tables(varve, "critical", "--no-cache", *arguments)


# ---- other people's answers: ../shared/traces/README.md, G3 ----

G3 = [
    ("event_sync", "", 0, "54/57/40/39/21/2411", {"host": 98.092, "computation": 1.493,
                                                  "launch": 0.415}),
    ("event_sync_multi_stream", "", 0, "78/85/59/58/31/1178", {}),
    ("simple_add", ALEXNET, 1, "414/440/315/314/159/241724",
     {"host": 99.779, "computation": 0.21, "between kernels": 0.004, "launch": 0.007}),
    ("ns_resolution", "ProfilerStep", 1, "11228/12444/2983/2982/1494/97176",
     {"host": 1.825, "computation": 96.317, "between kernels": 1.858}),
    ("mi250_minitoy", "ProfilerStep", 1, "80/79/66/65/33/741", {}),
]


@pytest.mark.parametrize("name, annotation, instance, figures, bounds", G3,
                         ids=[case[0] for case in G3])
def test_by_htas_rules_the_path_is_htas(varve, traces, name, annotation, instance, figures, bounds):
    tables = critical(varve, "--compat", "hta", "--annotation", annotation, "--instance", instance,
                      traces / "hta" / f"{name}.json.gz")
    row = tables["critical"][0]
    wanted = [int(figure) for figure in figures.split("/")]
    assert [row[column] for column in ("nodes", "edges", "path_nodes", "path_edges",
                                       "path_events")] == wanted[:5]
    assert row["path_ns"] == wanted[5] * 1000
    found = {part["bound"]: part["share"] for part in tables["critical_bound"]
             if part["row"] == "bound"}
    for bound, percent in bounds.items():
        assert round(100 * found[bound], 3) == percent
    assert sum(part["time_ns"] for part in tables["critical_bound"]
               if part["row"] == "bound") == row["path_ns"]


# ---- laws, on whatever trace ----

def check_laws(tables):
    row, bounds = tables["critical"][0], tables["critical_bound"]
    assert row["path_ns"] + row["gap_ns"] == row["window_ns"] and row["gap_ns"] >= 0
    of_kind = lambda rows, *kinds: sum(item["time_ns"] for item in rows if item["row"] in kinds)
    assert of_kind(bounds, "bound") == of_kind(bounds, "path") == row["path_ns"]
    assert of_kind(bounds, "gap") == row["gap_ns"] and of_kind(bounds, "total") == row["window_ns"]
    assert all(item["time_ns"] >= 0 for item in bounds)
    assert of_kind(tables["critical_ops"], "operator") == of_kind(tables["critical_ops"],
                                                                  "total") == row["path_ns"]
    path = tables["critical_path"]
    assert of_kind(path, "segment") == row["path_ns"] and of_kind(path, "gap") == row["gap_ns"]
    shown = [item for item in path if item["row"] in ("segment", "gap")]
    assert [item["at_ns"] for item in shown] == sorted(item["at_ns"] for item in shown)
    for item in tables["what_if"]:
        assert 0 <= item["saved_ns"] == row["path_ns"] - item["length_ns"]
        assert item["speedup"] is None or item["amdahl"] is None or item[
            "speedup"] <= item["amdahl"] * (1 + 1e-3)
    slack = tables["slack"]
    assert all(0 <= item["min_slack_ns"] <= item["max_slack_ns"] for item in slack)
    total = [item for item in slack if item["row"] == "total"][0]
    for column in ("events", "critical_events", "duration_ns"):
        assert sum(item[column] for item in slack if item["row"] == "operator") == total[column]
    assert total["min_slack_ns"] == 0 < total["critical_events"]


@pytest.mark.parametrize("name", [
    "kineto/resnet50_workers0.json.gz", "hta/ns_resolution.json.gz", "hta/mi250_minitoy.json.gz",
    "dlrm8/rank3.json.gz", "hta/cpu_only_rank34.json.gz", "tracelens/b200_eager.json.gz",
    "tracelens/mi210_gpu_only.json.gz", "hta/rank_non_gpu.json.gz",
    "onnxruntime/ort_parallel.json.gz"])
def test_laws_hold_on_real_traces(varve, traces, name):
    check_laws(critical(varve, traces / name))


def test_a_training_step_that_the_device_bounds(varve, traces):
    """HTA gives computation 96.3 % of this step, without what was still queued when it began."""
    tables = critical(varve, "--annotation", "ProfilerStep", "--instance", 1,
                      traces / "hta" / "ns_resolution.json.gz")
    found = {part["bound"]: part["share"] for part in tables["critical_bound"]
             if part["row"] == "bound"}
    assert found["computation"] > 0.963


def test_eight_ranks_meet_in_each_collective(varve, traces):
    """G6: 8 collectives a rank, in all of which the ranks overlap."""
    ranks = sorted((traces / "dlrm8").glob("rank*.json.gz"))
    tables = critical(varve, *ranks)
    row = tables["critical"][0]
    assert (row["collectives"], row["unmatched_communication"]) == (8, 0)
    check_laws(tables)
    alone = [critical(varve, rank)["critical"][0] for rank in ranks]
    assert row["nodes"] == sum(one["nodes"] for one in alone) + 8
    assert [one["collectives"] for one in alone] == [0] * 8


# ---- programs played by a small machine ----

ACTIONS = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(["begin", "begin", "end", "launch", "launch", "sync", "sync all"]),
        strategies.sampled_from(["a", "b", "c"]), strategies.sampled_from([7, 9]),
        strategies.integers(1, 60), strategies.integers(1, 2500), strategies.integers(1, 400)),
    max_size=30)


def play(actions):
    machine = critical_reference.Machine()
    for what, name, stream, pause, gap, duration in actions:
        if what == "begin":
            machine.begin(name, pause)
        elif what == "end" and len(machine.open) > 1:
            machine.end(pause)
        elif what == "launch":
            machine.launch(f"kernel {name}", stream, pause % 7 + 2, gap % 5 if gap < 2000 else gap,
                           duration, pause)
        elif what in ("sync", "sync all"):
            machine.sync(stream if what == "sync" else None, pause, pause % 3 + 1)
    machine.finish()
    return machine


def ask(varve, events, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "played.json"
        path.write_text(json.dumps({"traceEvents": events}))
        return critical(varve, *arguments, path)


SLOW = hypothesis.settings(max_examples=60, deadline=None,
                           suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])


@SLOW
@hypothesis.given(actions=ACTIONS)
def test_the_path_is_the_references(varve, actions):
    machine = play(actions)
    tables = ask(varve, machine.trace())
    check_laws(tables)
    assert tables["critical"][0]["path_ns"] == machine.longest()
    for row in tables["what_if"]:
        name = {"(outside operators)": "ProfilerStep#1"}.get(row["change"], row["change"])
        wanted = machine.longest(name, 2) if row["row"] == "operator" else machine.longest(
            launch=False)
        assert row["length_ns"] == wanted, name


@SLOW
@hypothesis.given(actions=ACTIONS, shift=strategies.integers(1, 10**9),
                  order=strategies.randoms(use_true_random=False))
def test_order_and_origin_of_time_change_nothing(varve, actions, shift, order):
    events = play(actions).trace()
    other = [dict(event, ts=event["ts"] + shift) for event in events]
    order.shuffle(other)
    first, second = ask(varve, events), ask(varve, other)
    for tables, moved in ((first, 0), (second, shift * 1000)):
        for name in ("critical", "critical_path"):
            for row in tables[name]:
                row["begin_ns"] = None if row["begin_ns"] is None else row["begin_ns"] - moved
    assert first == second


@SLOW
@hypothesis.given(actions=ACTIONS, factor=strategies.floats(1, 100))
def test_what_if_once_as_fast_is_the_path_itself(varve, actions, factor):
    events = play(actions).trace()
    for row in ask(varve, events, "--table", "what_if", "--scale", 1)["what_if"]:
        assert row["row"] != "operator" or row["saved_ns"] == 0
    for row in ask(varve, events, "--table", "what_if", "--scale", factor)["what_if"]:
        assert row["saved_ns"] >= 0


# ---- single rules ----

def event(name, category, begin, end, tid=100, pid=100, **args):
    return {"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid, "ts": begin,
            "dur": end - begin, "args": args}


def kernel(name, begin, end, stream, correlation):
    return event(name, "kernel", begin, end, stream, 0, device=0, stream=stream,
                 correlation=correlation)


def segments(tables):
    """[(name, microseconds)] of the path, gaps left out."""
    return [(row["name"], row["time_ns"] // 1000) for row in tables["critical_path"]
            if row["row"] == "segment"]


STEP = event("ProfilerStep#1", "user_annotation", 0, 1000)


def test_a_wait_for_an_event_makes_one_stream_wait_for_another(varve):
    events = [
        STEP,
        event("cudaLaunchKernel", "cuda_runtime", 10, 20, correlation=1),
        kernel("long", 15, 615, 7, 1),
        event("cudaEventRecord", "cuda_runtime", 30, 35, correlation=2),
        event("cudaStreamWaitEvent", "cuda_runtime", 40, 45, correlation=3),
        event("Stream Wait Event", "cuda_sync", 616, 617, 9, 0, device=0, stream=9, correlation=3,
              wait_on_stream=7, wait_on_cuda_event_record_corr_id=2),
        event("cudaLaunchKernel", "cuda_runtime", 50, 60, correlation=4),
        kernel("after", 620, 700, 9, 4),
        event("cudaStreamSynchronize", "cuda_runtime", 100, 705, correlation=5),
        event("Stream Sync", "cuda_sync", 100, 705, 1009, 0, device=0, stream=9, correlation=5),
    ]
    tables = ask(varve, events)
    assert segments(tables) == [("(outside operators)", 10), ("(launch)", 5), ("long", 600),
                                ("after", 80), ("(outside operators)", 295)]
    gaps = {row["bound"]: row["time_ns"] for row in tables["critical_bound"] if row["row"] == "gap"}
    assert gaps == {"return from a wait": 10000}  # 615 to 620, and 700 to 705
    without = [item for item in events if item["name"] not in ("Stream Wait Event",
                                                               "cudaStreamWaitEvent")]
    assert ("long", 600) not in segments(ask(varve, without))


def test_the_backward_thread_works_for_the_one_that_waits(varve):
    events = [
        STEP, event("aten::mm", "cpu_op", 100, 200, **{"Sequence number": 7, "Fwd thread id": 0}),
        event("MmBackward0", "cpu_op", 300, 800, 200, **{"Sequence number": 7, "Fwd thread id": 1}),
        event("aten::add", "cpu_op", 900, 950),
    ]
    tables = ask(varve, events)
    assert segments(tables) == [("(outside operators)", 100), ("aten::mm", 100),
                                ("(outside operators)", 100), ("MmBackward0", 500),
                                ("(outside operators)", 100), ("aten::add", 50),
                                ("(outside operators)", 50)]
    assert {row["change"]: row["saved_ns"] for row in tables["what_if"]}["MmBackward0"] == 250000
    for item in events:
        item["args"] = {}
    assert "MmBackward0" not in dict(segments(ask(varve, events)))


def test_a_slice_that_an_arrow_ends_inside_waited_for_it(varve):
    events = [STEP, event("receive", "cpu_op", 100, 410), event("load", "cpu_op", 0, 400, 200)]
    arrow = [{"ph": "s", "cat": "batch", "name": "batch", "id": 1, "pid": 100, "tid": 200,
              "ts": 400},
             {"ph": "f", "bp": "e", "cat": "batch", "name": "batch", "id": 1, "pid": 100,
              "tid": 100, "ts": 405}]
    outside = "(outside operators)"
    assert segments(ask(varve, events)) == [(outside, 100), ("receive", 310), (outside, 590)]
    tables = ask(varve, events + arrow)
    assert segments(tables) == [("load", 400), (outside, 590)]
    assert [(row["bound"], row["time_ns"]) for row in tables["critical_bound"]
            if row["row"] == "gap"] == [
        ("between threads", 10000)]
    late = [dict(arrow[0], ts=50), arrow[1]]  # it was there before the slice began: no wait
    assert segments(ask(varve, events + late)) == [(outside, 100), ("receive", 310), (outside, 590)]


def test_a_wait_by_name_is_no_work(varve):
    tables = ask(varve, [STEP, event("wait_for_batch", "cpu_op", 100, 410)])
    assert segments(tables) == [("(outside operators)", 100), ("(outside operators)", 590)]
    assert [(row["bound"], row["time_ns"]) for row in tables["critical_bound"]
            if row["row"] == "gap"] == [
        ("inside a wait", 310000)]


def test_a_wait_for_a_device_is_no_work_of_the_host(varve):
    """Neither where nothing shows the work, nor where the driver's call in it is shown, too."""
    tables = ask(varve, [STEP, event("$api.py:3165 try_to_block", "cpu_op", 100, 410)])
    assert [(row["bound"], row["time_ns"]) for row in tables["critical_bound"]
            if row["row"] == "gap"] == [("inside a wait", 310000)]
    copy_in = kernel("Memcpy HtoD", 500, 890, 7, 1) | {"cat": "gpu_memcpy"}
    tables = ask(varve, [STEP, event("cudaMemcpy", "cuda_runtime", 100, 900, correlation=1),
                         event("cuMemcpyHtoD", "cuda_driver", 110, 895), copy_in])
    assert ("Memcpy HtoD", 390) in segments(tables)
    found = {row["bound"]: row["time_ns"] for row in tables["critical_bound"]
             if row["row"] == "bound"}
    assert (found["memcpy"], found["launch"]) == (390000, 400000), found


def test_what_a_profiler_takes_is_no_communication(varve):
    tables = ask(varve, [STEP, event("nccl:all_reduce", "cpu_op", 100, 900),
                         event("CUPTI: Instrumentation", "overhead", 200, 500)])
    found = {row["bound"]: row["time_ns"] for row in tables["critical_bound"]
             if row["row"] == "bound"}
    assert found == {"host": 500000, "communication": 500000}


def test_how_long_the_profiler_ran_is_no_chain(varve):
    overview = event("PyTorch Profiler (0)", "Trace", 0, 1000, "PyTorch Profiler", "Traces")
    events = [overview, STEP, event("aten::mm", "cpu_op", 100, 900)]
    for window in [], ["--annotation", ""]:
        assert ("aten::mm", 800) in segments(ask(varve, events, *window))


def test_work_that_was_queued_before_the_window_is_what_its_work_waits_for(varve):
    events = [event("ProfilerStep#1", "user_annotation", 0, 100),
              event("ProfilerStep#2", "user_annotation", 100, 300),
              event("cudaLaunchKernel", "cuda_runtime", 10, 20, correlation=1),
              kernel("before", 30, 600, 7, 1),
              event("cudaLaunchKernel", "cuda_runtime", 110, 120, correlation=2),
              kernel("mine", 602, 700, 7, 2)]
    tables = ask(varve, events, "--steps", 2)
    assert segments(tables) == [("before", 500), ("(between kernels)", 2), ("mine", 98)]
    assert tables["critical"][0]["window_ns"] == 600000


def test_a_synchronous_copy_waits_for_itself(varve):
    events = [STEP, event("cudaMemcpyAsync", "cuda_runtime", 100, 900, correlation=1),
              event("Memcpy DtoH", "gpu_memcpy", 150, 890, 7, 0, device=0, stream=7, correlation=1)]
    found = {row["bound"]: row["time_ns"] for row in ask(varve, events)["critical_bound"]
             if row["row"] == "bound"}
    assert found == {"host": 200000, "memcpy": 740000, "launch": 50000}


def test_a_loader_is_told_apart(varve):
    events = [STEP, event("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                          "user_annotation", 100, 500),
              event("aten::stack", "cpu_op", 200, 300)]
    found = {row["bound"]: row["time_ns"] for row in ask(varve, events)["critical_bound"]
             if row["row"] == "bound"}
    assert found == {"host": 600000, "data loading": 400000}


def ranks_of_a_job(tmp_path, late):
    """Two ranks; the second works `late` microseconds longer before their collective, which takes
    50."""
    paths = []
    for rank in range(2):
        ready = 100 + rank * late
        events = [STEP, event("aten::mm", "cpu_op", 10, ready),
                  event("cudaLaunchKernel", "cuda_runtime", ready, ready + 2, correlation=1),
                  kernel("ncclDevKernel_AllReduce", ready + 4, 100 + late + 54, 7, 1),
                  event("cudaStreamSynchronize", "cuda_runtime", ready + 10, 100 + late + 56,
                        correlation=2),
                  event("Stream Sync", "cuda_sync", ready + 10, 100 + late + 56, 1007, 0, device=0,
                        stream=7, correlation=2)]
        paths.append(tmp_path / f"rank{rank}.json")
        paths[-1].write_text(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events}))
    return paths


def test_who_is_late_is_on_the_path_and_who_waits_is_not(varve, tmp_path):
    tables = critical(varve, *ranks_of_a_job(tmp_path, 400))
    row = tables["critical"][0]
    assert (row["collectives"], row["unmatched_communication"]) == (1, 0)
    before = [item for item in tables["critical_path"] if item["row"] == "segment"][:4]
    assert [(item["name"], item["time_ns"], item["rank"]) for item in before] == [
        ("(outside operators)", 10000, 1), ("aten::mm", 490000, 1), ("(launch)", 4000, 1),
        ("ncclDevKernel_AllReduce", 50000, before[3]["rank"])]
    pays = {item["change"]: item["saved_ns"] for item in tables["what_if"]}
    assert pays["aten::mm"] == 245000
    assert pays["communication with nobody late"] == 0  # the late rank itself is still as slow
    even = critical(varve, *ranks_of_a_job(tmp_path, 0))
    assert even["critical"][0]["path_ns"] == row["path_ns"]  # the step ends when it ends: 1000


# ---- windows ----

def test_windows(varve, tmp_path):
    events = [event(f"ProfilerStep#{n}", "user_annotation", n * 1000, n * 1000 + length)
              for n, length in enumerate((500, 900, 700), 1)]
    events += [event("forward", "user_annotation", 1100 + n * 1000, 1200 + n * 1000 + n)
               for n in range(3)]
    path = tmp_path / "steps.json"
    path.write_text(json.dumps({"traceEvents": events}))
    length = lambda *arguments: critical(varve, "--table", "critical", *arguments,
                                         path)["critical"][0]["window_ns"]
    assert length() == 700000
    assert length("--steps", "2") == 900000
    assert length("--steps", "1..2") == 1900000
    assert length("--annotation", "forward", "--instance", 2) == 102000
    assert length("--annotation", "ProfilerStep") == 500000
    assert length("--annotation", "") == 2700000
    for arguments, wanted in [
            (["--annotation", "backward"],
             "no range 'backward' on the chosen threads of this trace"),
            (["--annotation", "forward", "--instance", "3"],
             "no instance 3 of 'forward': it is there 3 times, counted from 0"),
            (["--annotation", "forward", "--steps", "1"],
             "one window at a time: --annotation or --steps"),
            (["--scale", "aten::mm=2"], "no operator 'aten::mm' in this trace"),
            (["--scale", "0"],
             "'0' is not how many times faster: --scale 4 or --scale OPERATOR=4")]:
        done = subprocess.run([varve, "critical", *arguments, path], capture_output=True, text=True,
                              check=False)
        assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"varve: {wanted}")


@pytest.mark.parametrize("events", [
    [], [event("alone", "cpu_op", 5, 5)], [event("alone", "cpu_op", 5, 9)],
    [kernel("alone", 5, 9, 7, 1)], [event("a", "cpu_op", 0, 10), event("b", "cpu_op", 5, 15)],
    [kernel("early", 5, 9, 7, 1), event("cudaLaunchKernel", "cuda_runtime", 6, 8, correlation=1)],
    [kernel("one", 5, 90, 7, 1), kernel("other", 50, 70, 7, 2)],
], ids=["nothing", "no length", "one event", "one kernel", "overlap", "before its launch",
        "work that overlaps"])
def test_little_and_odd_traces_have_an_answer(varve, tmp_path, events):
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"traceEvents": events}))
    tables = critical(varve, path)
    if events:
        row = tables["critical"][0]
        assert row["path_ns"] + row["gap_ns"] == row["window_ns"]
    else:
        assert tables["critical"] == tables["critical_bound"] == []
    assert critical(varve, "--compat", "hta", copy.copy(path)) is not None


def test_an_asked_change_has_a_row_of_its_own(varve):
    machine = play([("begin", "a", 7, 5, 1, 1), ("end", "a", 7, 300, 1, 1),
                    ("begin", "b", 7, 5, 1, 1)])
    rows = ask(varve, machine.trace(), "--table", "what_if", "--scale", "a=3;b=1.5;4")["what_if"]
    asked = {row["change"]: (row["factor"], row["length_ns"]) for row in rows
             if row["row"] == "asked"}
    assert asked == {"a": (3, machine.longest("a", 3)), "b": (1.5, machine.longest() - 1000 + 666)}
    assert {row["factor"] for row in rows if row["row"] == "operator"} == {4}

# SPDX-License-Identifier: Apache-2.0
"""Each rule of table "advice" speaks of a trace that has the fault, and is silent on one that has
not."""
import json
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position


def span(name, begin_us, duration_us, cat="cpu_op", tid=1, **args):
    pid = 0 if cat in ("kernel", "gpu_memcpy") else 1
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": begin_us,
            "dur": duration_us, "args": args}


def step(number, begin_us, duration_us, *inside):
    return [span(f"ProfilerStep#{number}", begin_us, duration_us, "user_annotation"), *inside]


def work(name, begin_us, duration_us, correlation, cat="kernel", stream=7):
    return [span("cudaLaunchKernel", begin_us - 5, 2, "cuda_runtime", correlation=correlation),
            span(name, begin_us, duration_us, cat, stream, correlation=correlation, device=0,
                 stream=stream)]


def memory(time_us, size, address, total=None):
    args = {"Device Type": 1, "Device Id": 0, "Bytes": size, "Addr": address}
    if total is not None:
        args |= {"Total Allocated": total[0], "Total Reserved": total[1]}
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 1, "tid": 1,
            "ts": time_us, "args": args}


def steps_of(duration_us, *, odd_us=None, operator_us=10):
    """Five steps of five operators each; the fourth may be longer."""
    events, now = [], 0
    for number in range(5):
        length = odd_us if odd_us is not None and number == 3 else duration_us
        events += step(number, now, length, *(span(f"op {n}", now + 20 * n, operator_us)
                                              for n in range(5)))
        now += length
    return events


def leaking(size):
    events = steps_of(200)
    return events + [memory(200 * number + 5, size, 4096 * (number + 1)) for number in range(5)]


def first_step(first_us):
    """Of four steps."""
    events = step(0, 0, first_us, span("op 0", 20, 10))
    for number in range(3):
        events += step(number + 1, first_us + 200 * number, 200,
                       span("op 0", first_us + 200 * number + 20, 10))
    return events


def clocks(low_mhz):
    return steps_of(200) + [
        {"ph": "C", "cat": "counter", "name": "GPU frequency", "pid": 1, "ts": 100 * number,
         "args": {"MHz": 1500 if number % 2 else low_mhz}} for number in range(10)]


def blocks(odd_us):
    """Twelve equal blocks of two kernels, but for one block; the host waits for them."""
    events, now = [], 20
    for number in range(24):
        length = 20 if number % 2 else odd_us if number == 14 else 50
        events += [span("cudaLaunchKernel", 0.5 * number, 0.4, "cuda_runtime", correlation=number),
                   span("relu" if number % 2 else "gemm", now, length, "kernel", 7, device=0,
                        correlation=number, stream=7)]
        now += length
    return step(0, 0, 1000, span("cudaDeviceSynchronize", 14, now - 12, "cuda_runtime")) + events


def small_copies(size):
    events = step(0, 0, 1000, span("op 0", 1, 990))
    for number in range(120):
        events += [span("cudaMemcpyAsync", 5 + 8 * number, 4, "cuda_runtime",
                        correlation=number + 1),
                   span("Memcpy HtoD", 7 + 8 * number, 1, "gpu_memcpy", 7, correlation=number + 1,
                        device=0, stream=7, bytes=size)]
    return events


RULES = {
    "lock_waits": (
        steps_of(200) + [span("pthread_mutex_lock", 200 * n + 150, 40) for n in range(5)],
        steps_of(200) + [span("pthread_mutex_lock", 200 * n + 150, 10) for n in range(5)],
        "pthread_mutex_lock takes 20.0 % of the steps: their thread waits for another one."),
    "warm_up_counted": (
        first_step(500), first_step(250),
        "Step 0, the first one, took 500 µs, the median 200 µs: warming up is counted."),
    "frequency_drop": (
        clocks(900), clocks(1400),
        "GPU frequency is 20.0 % below its highest value in the mean."),
    "uneven_blocks": (
        blocks(120), blocks(60),
        "Of 12 repetitions of one block (layers, mostly) some take longer than the median one, "
        "70.0 µs together."),
    "small_copies": (small_copies(100), small_copies(100_000),
                     "120 calls of cudaMemcpyAsync take 48.0 % of the steps; they copy little "
                     "each."),
    "data_wait": (
        steps_of(200) + [span("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                              200 * n + 150, 40)
                         for n in range(5)],
        steps_of(200) + [span("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                              200 * n + 150, 4)
                         for n in range(5)],
        "The steps wait 20.0 % of their time for data."),
    "synchronisation": (
        steps_of(200) + [span("cudaDeviceSynchronize", 200 * n + 150, 40, "cuda_runtime")
                         for n in range(5)],
        steps_of(200) + [span("cudaDeviceSynchronize", 200 * n + 150, 10, "cuda_runtime")
                         for n in range(5)],
        "The steps wait 20.0 % of their time in calls that synchronise, while no device works."),
    "allocation": (
        steps_of(200) + [span("cudaMalloc", 200 * n + 150, 20, "cuda_runtime") for n in range(5)],
        steps_of(200) + [span("cudaMalloc", 200 * n + 150, 8, "cuda_runtime") for n in range(5)],
        "The steps spend 10.0 % of their time allocating memory of the device."),
    "embedding_gradients": (
        steps_of(200) + [span("aten::_embedding_bag_dense_backward", 200 * n + 150, 40, "cpu_op")
                         for n in range(5)],
        steps_of(200) + [span("aten::_embedding_bag_dense_backward", 200 * n + 150, 10, "cpu_op")
                         for n in range(5)],
        "20.0 % of the steps passes in gradients of whole embedding tables, of which a batch uses "
        "a few rows."),
    "outside_operators": ( # with calls of Python, whose own time has a rule from 30 % on
        steps_of(400, operator_us=20) + [span("mm", 400 * n + 100, 200) for n in range(5)],
        steps_of(400, operator_us=20) + [span("mm", 400 * n + 100, 200) for n in range(5)] +
        [span("torch/serialization.py(9): save", 400 * n + 301, 98, "python_function")
         for n in range(5)],
        "In 25.0 % of the steps' time nothing ran that was recorded: Python, or code without "
        "marks."),
    "numbers_outside": ( # as above
        steps_of(400, operator_us=20) + [span("mm", 400 * n + 100, 200) for n in range(5)] +
        [span("aten::resolve_neg", 400 * n + 300, 30) for n in range(5)],
        steps_of(400, operator_us=20) + [span("mm", 400 * n + 100, 200) for n in range(5)] +
        [span("aten::resolve_neg", 400 * n + 300, 30) for n in range(5)] +
        [span("train.py(9): metric", 400 * n + 330, 69, "python_function") for n in range(5)],
        "17.5 % of the steps passes in pauses right after numbers were taken from tensors "
        "(.numpy(), .tolist()): NumPy or Python works on them."),
    "compilation": (
        steps_of(200) + [span("torch/_inductor/compile_fx.py(12): compile", 200 * n + 150, 20,
                              "python_function") for n in range(5)],
        steps_of(200) + [span("torch/_inductor/compile_fx.py(12): compile", 200 * n + 150, 8,
                              "python_function") for n in range(5)],
        "The steps spend 10.0 % of their time compiling."),
    "compilation_of_all": ( # without steps
        [span("mm", 0, 300), span("torch/_inductor/compile_fx.py(12): compile", 300, 100,
                                  "python_function"), span("mm", 400, 80)],
        [span("mm", 0, 300), span("torch/_inductor/compile_fx.py(12): compile", 300, 90,
                                  "python_function"), span("mm", 390, 90)],
        "Compilation takes 20.8 % of the time."),
    "garbage_collection": (
        steps_of(200) + [span("gc.collect", 200 * n + 150, 10, "python_function")
                         for n in range(5)],
        steps_of(200) + [span("gc.collect", 200 * n + 150, 2, "python_function") for n in range(5)],
        "The steps spend 5.0 % of their time collecting garbage."),
    "exposed_communication": (
        work("gemm", 100, 50, 1) + work("ncclKernel_AllReduce", 150, 50, 2),
        work("gemm", 100, 100, 1) + work("ncclKernel_AllReduce", 140, 50, 2, stream=8),
        "cuda:0 communicates 50.0 % of the time while nothing computes."),
    "exposed_copies": (
        work("gemm", 100, 50, 1) + work("Memcpy HtoD", 150, 50, 2, "gpu_memcpy"),
        work("gemm", 100, 100, 1) + work("Memcpy HtoD", 140, 50, 2, "gpu_memcpy", stream=8),
        "cuda:0 copies memory 50.0 % of the time while nothing computes."),
    "device_idle": (
        work("gemm", 100, 50, 1) + work("gemm", 250, 50, 2),
        work("gemm", 100, 100, 1) + work("gemm", 210, 50, 2),
        "cuda:0 is idle 50.0 % of the time between its first and its last work."),
    "slow_step": (steps_of(200, odd_us=500), steps_of(200, odd_us=250),
                  "Step 3 took 500 µs, the median 200 µs."),
    "one_operator": (
        step(0, 0, 100, span("conv", 0, 70), span("relu", 70, 20)),
        step(0, 0, 100, span("conv", 0, 35), span("relu", 40, 35)),
        "conv alone takes 70.0 % of the steps."),
    "leak": (leaking(1000), steps_of(200) + [memory(5, 1000, 4096), memory(900, -1000, 4096)],
             "op 0 allocated 4.00 kB in 4 steps that nothing released."),
    "slack": (
        steps_of(200) + [memory(5, 1000, 4096, (1000, 4000))],
        steps_of(200) + [memory(5, 1000, 4096, (3900, 4000))],
        "Of the 4.00 kB that the allocator held of cuda:0, 3.00 kB lay idle."),
}


@pytest.fixture
def run(varve):
    def command(*words):
        return subprocess.run([str(varve), *map(str, words)], capture_output=True, text=True,
                              check=False)
    return command


def advice(varve, path, events, *arguments):
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    rows = table_reader.tables(varve, "report", "--no-cache", "--table", "advice", *arguments,
                               path)["advice"]
    return {row["rule"]: row for row in rows}


def duration(time_ns):
    return f"{time_ns / 1000:.1f} µs" if time_ns < 100_000 else f"{time_ns / 1000:.0f} µs"


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_speaks_of_its_fault_and_of_nothing_else(varve, run, tmp_path, rule):
    faulty, sound, says = RULES[rule]
    row = advice(varve, tmp_path / "faulty.json", faulty, "--top", "0")[rule]
    if row["saves_ns"] is not None:
        says += f" To gain: at most {duration(row['saves_ns'])} a step."
    assert row["finding"] == says
    assert run(*shlex.split(row["see"])[1:]).returncode == 0, row["see"]
    assert rule not in advice(varve, tmp_path / "sound.json", sound, "--top", "0")


def compiles_of_jax(compiling_us):
    """Eight calls of a function that compile for so long each, without steps."""
    return [row for n in range(8) for row in (
        span("jax/_src/interpreters/pxla.py(9): f", 1000 * n, 1000, "python_function"),
        span("jax/_src/compiler.py(292): backend_compile_and_load", 1000 * n + 10, compiling_us,
             "python_function"),
        span("HLO passes through layout assignment (jit_f)", 1000 * n + 20, compiling_us / 8,
             "python_function"))]


@pytest.mark.parametrize("compiling_us", (100, 198, 210, 600, 990))
def test_where_the_verdict_says_compilation_a_finding_does_too(varve, tmp_path, compiling_us):
    """From a fifth on. The evidence is how often which function was compiled; what is advised is
    JAX's, as nothing of PyTorch's was recorded."""
    path = tmp_path / "a.json"
    rows = advice(varve, path, compiles_of_jax(compiling_us), "--top", "0")
    verdict = table_reader.tables(varve, "report", "--no-cache", "--table", "verdict",
                                  path)["verdict"]
    share = next(row["share"] for row in verdict if row["bound_by"] == "compilation")
    assert ("compilation_of_all" in rows) == (share >= 0.2)
    for row in rows.values():
        assert row["share"] == pytest.approx(share)
        assert row["why"] == ("HLO passes through layout assignment (jit_f): 8 calls, one for each "
                              "compilation.")
        assert "static_argnums" in row["try"] and "torch" not in row["try"]


@pytest.mark.parametrize("call", ["cudaDeviceSynchronize", "cudaMemcpy", "hipMemcpyWithStream"])
def test_a_wait_that_the_device_fills_is_no_finding(varve, tmp_path, call):
    """A copy that is not asynchronous is such a wait. What fills it is a kernel."""
    wait = [span(call, 20, 75, "cuda_runtime")]
    busy = step(0, 0, 100, span("conv", 0, 15)) + work("gemm", 5, 90, 1) + wait
    assert set(advice(varve, tmp_path / "busy.json", busy, "--top", "0")) <= {"one_kernel"}
    idle = step(0, 0, 100, span("conv", 0, 15)) + work("gemm", 5, 15, 1) + wait
    assert set(advice(varve, tmp_path / "idle.json", idle, "--top", "0")) == {
        "synchronisation", "device_waits", "idle_tail"}


def test_a_call_that_the_host_runs_is_one(varve, tmp_path):
    """It is one where the host is the bound: the device's work is done long before."""
    call = [span("cudaMemcpyAsync", 20, 75, "cuda_runtime")]
    busy = step(0, 0, 100, span("conv", 0, 15)) + work("gemm", 5, 5, 1) + call
    assert "one_operator" in advice(varve, tmp_path / "busy.json", busy, "--top", "0")


def test_the_command_goes_by_shape_only_where_the_operator_has_shapes(varve, tmp_path):
    told = {}
    for name in ("conv", "load"):
        written = trace_writer.Trace(tmp_path / f"{name}.varve")
        process = written.process(pid=100)
        site, other = process.site("begin", name), process.site("begin", "conv")
        thread = process.thread(tid=100)
        for number in range(5):
            begin = 10_000 * number
            thread.step_begin(number, begin)
            thread.begin(site, begin + 10)
            if name == "conv":
                thread.op([("f32", [2, 3])], begin + 11)
            thread.end(begin + 9000)
            thread.begin(other, begin + 9100)
            thread.op([("f32", [2, 3])], begin + 9101)
            thread.end(begin + 9200)
            thread.step_end(begin + 9500)
        rows = table_reader.tables(varve, "report", "--table", "advice", written.write())["advice"]
        told[name] = [row["see"] for row in rows if row["rule"] == "one_operator"]
    assert told["conv"][0].startswith("varve report --by shape ")
    assert told["load"][0].startswith("varve report --table call_tree ")


def test_a_long_name_is_cut_between_characters(varve, tmp_path):
    name, events = "x" + "é" * 100, []
    for number in range(5):
        events += step(number, 200 * number, 200, span(name, 200 * number + 5, 190))
    rows = advice(varve, tmp_path / "long.json", events)
    assert rows["one_operator"]["finding"] == (
        "x" + "é" * 57 + "… alone takes 95.0 % of the steps.")


def test_what_was_lost_comes_first(varve, tmp_path):
    written = trace_writer.Trace(tmp_path / "lossy.varve")
    process = written.process(pid=100)
    thread = process.thread(tid=100)
    site = process.site("begin", "conv")
    thread.begin(site, 10)
    thread.end(20)
    thread.lose(7, 30)
    thread.begin(site, 40)
    thread.end(50)
    rows = table_reader.tables(varve, "report", "--table", "advice", written.write())["advice"]
    assert (rows[0]["rule"],
            rows[0]["finding"]) == ("lost_events",
                                    "7 events were lost: every figure here is too low.")


def test_a_screen_holds_three_findings_and_each_names_a_command_that_runs(run, varve, tmp_path):
    events = steps_of(
        200, odd_us=900) + RULES["exposed_copies"][0] + RULES["slack"][0][-1:] + leaking(10)[-5:]
    every = advice(varve, tmp_path / "t.json", events, "--top", "0")
    assert len(every) > 3
    shown = advice(varve, tmp_path / "t.json", events, "--top", "10")
    assert list(shown) == list(every)[:3]
    assert [row["number"] for row in every.values()] == list(range(1, len(every) + 1))
    for row in every.values():
        words = shlex.split(row["see"])
        assert words[0] == "varve" and words[-1] == str(tmp_path / "t.json")
        done = run(*words[1:])
        assert done.returncode == 0, (row["see"], done.stderr)
    quiet = run("report", tmp_path / "t.json").stdout
    assert "LOOK FIRST" in quiet and "findings: --table advice --top 0" in quiet


def test_a_command_asks_the_same_part_of_the_same_trace(varve, run, tmp_path):
    """Names with blanks and quotes, too."""
    path = tmp_path / "it's a trace.json"
    rows = advice(varve, path, steps_of(200) + RULES["data_wait"][0], "--steps", "1..3",
                  "--thread", "1")
    words = shlex.split(rows["data_wait"]["see"])
    assert words[-5:] == ["--thread", "1", "--steps", "1..3", str(path)]
    assert run(*words[1:]).returncode == 0
    odd = advice(varve, path, steps_of(200, odd_us=900), "--top", "0", "--steps", "0..4")
    assert shlex.split(odd["slow_step"]["see"])[1:] == ["steps", "--steps", "3", str(path)]


def test_every_rule_s_command_runs(run, tmp_path):
    """Those of rules that no trace here makes speak, too."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": steps_of(200)}))
    shown = run("help", "rules").stdout
    commands = re.findall(r"^ +see: (.+)$", shown, re.MULTILINE)
    assert len(commands) == len(re.findall(r"^  \w+ ", shown, re.MULTILINE)) >= 54
    for command in sorted(set(commands)):
        done = run(*shlex.split(command.replace("{step}", "0"))[1:], path)
        assert done.returncode == 0, (command, done.stderr)


def test_every_rule_says_where_it_is_from_and_why_its_limit_is_there(run):
    shown = run("help", "rules").stdout
    names = [line.split()[0] for line in shown.splitlines() if line[:2] == "  " and line[2] != " "]
    assert len(names) == len(set(names)) >= 41
    assert set(RULES) | {"lost_events"} <= set(names)


def test_a_table_without_a_dense_gradient_saves_the_optimizer_s_way_over_it_too(varve, tmp_path):
    """Of each step of 400 µs 80 pass in the gradient and 200 in the optimizer."""
    events = steps_of(400) + [
        row for n in range(5) for row in (
            span("aten::embedding_dense_backward", 400 * n + 110, 80, "cpu_op"),
            span("Optimizer.step#Adam.step", 400 * n + 195, 200, "user_annotation"),
            span("aten::addcdiv_", 400 * n + 196, 198, "cpu_op"))]
    row = advice(varve, tmp_path / "t.json", events)["embedding_gradients"]
    assert row["saves_ns"] == 280_000


def test_every_rule_has_a_remedy():
    folder = pathlib.Path(__file__).resolve().parents[2] / "src/analyse/advice/rules"
    rules = [rule for file in sorted(folder.glob("*.c"))
             for rule in file.read_text(encoding="utf-8").split("{ .name = ")[1:]]
    assert len(rules) >= 54
    assert [rule.split('"')[1] for rule in rules if ".remedy = " not in rule] == []


def test_what_kernels_save_is_their_own_time(varve, tmp_path):
    """Of a step of 1,000 us the device works 500, half of it in double precision: halving that
    saves 125 us, and not a quarter of the step."""
    events = step(0, 0, 1000, span("cudaDeviceSynchronize", 350, 252, "cuda_runtime")) + work(
        "gemm<double>(double*)", 100, 150, 1) + work("axpy<double>(double*)", 250, 100, 2) + work(
            "gemm<float>(float*)", 350, 250, 3)
    row = advice(varve, tmp_path / "t.json", events, "--top", "0")["float64"]
    assert (row["share"], row["saves_ns"]) == (0.5, 125_000)


def test_what_a_device_saves_is_of_its_own_ranks_steps(varve, tmp_path):
    """Two ranks with a step of 1,000 us each, whose devices copy for 200 us alone."""
    paths = []
    for rank in range(2):
        events = step(0, 0, 1000, span("cudaDeviceSynchronize", 20, 980, "cuda_runtime")) + work(
            "gemm", 100, 300, 1) + work("Memcpy HtoD", 400, 200, 2, "gpu_memcpy")
        paths.append(tmp_path / f"rank{rank}.json")
        paths[-1].write_text(json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": rank},
                                         "traceEvents": events}))
    rows = table_reader.tables(varve, "report", "--no-cache", "--table", "advice", "--top", "0",
                               *paths)["advice"]
    (saves,) = [row["saves_ns"] for row in rows if row["rule"] == "exposed_copies"]
    assert saves == 200_000


def test_nothing_to_say_is_said(run, tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1,
                                "traceEvents": [span("a", 0, 10), span("b", 10, 10)]}))
    assert "LOOK FIRST     nothing stands out by the " in run("report", path).stdout


def test_a_wait_for_data_leads_to_what_the_loader_does(varve, run, tmp_path):
    events = RULES["data_wait"][0] + [span("aten::conv2d", 200 * n + 155, 30) for n in range(5)]
    see = advice(varve, tmp_path / "t.json", events)["data_wait"]["see"]
    shown = run(*shlex.split(see)[1:]).stdout
    assert "enumerate(DataLoader)" in shown and "aten::conv2d" in shown


@pytest.mark.parametrize("arguments", [(), ("--top", "1"), ("--by", "shape"),
                                       ("--top", "3", "--sort", "name")])
def test_a_screen_advises_as_the_table_alone_does(varve, tmp_path, arguments):
    """The screen's own tables are read again where they say enough: not when one row is shown, nor
    in another order. The longest operator is a wait, so the second is the finding."""
    events = step(0, 0, 1000, span("cudaDeviceSynchronize", 0, 500, "cuda_runtime"),
                  span("conv", 500, 410)) + work("gemm", 5, 900, 1)
    alone = advice(varve, tmp_path / "t.json", events, *arguments)
    assert "one_operator" in alone or "one_kernel" in alone
    screen = table_reader.tables(varve, "report", "--no-cache", *arguments, tmp_path / "t.json")
    assert {row["rule"]: row for row in screen["advice"]} == alone


@pytest.mark.parametrize("name, tid, waits", [("load_batch", 2, False), ("next_batch", 2, False),
                                              ("wait_for_batch", 1, True)])
def test_a_thread_that_reads_ahead_is_no_wait(varve, tmp_path, name, tid, waits):
    """Batches are read while the steps compute: the thread of the steps alone waits."""
    events = [event for n in range(5)
              for event in step(n, 200 * n, 200, span("conv", 200 * n + 110, 90),
                                span(name, 200 * n + 5, 100, tid=tid))]
    path = tmp_path / "t.json"
    assert ("data_wait" in advice(varve, path, events)) == waits
    split = table_reader.tables(varve, "report", "--no-cache", "--table", "step_split", path)
    total = next(row for row in split["step_split"] if row["row"] == "total")
    loader_ns, others_ns = total["data_loader_ns"], total["cpu_op_ns"]
    assert (loader_ns, others_ns) == ((500_000, 450_000) if waits else (0, 950_000))
    shown = table_reader.tables(varve, "report", "--no-cache", "--table", "waits", path)["waits"]
    assert sum(row["wait_ns"] for row in shown if row["row"] == "step") == loader_ns


def test_a_finding_on_a_librarys_call_names_the_programs_own_line(varve, tmp_path):
    """The longest call is from the second function, whose file tells that it is the program's; the
    library's has a name without its folder."""
    written = trace_writer.Trace(tmp_path / "t.varve")
    process = written.process(pid=100)

    def frame(name, file):
        return process.site("begin", name, layer="PYTHON", file=file, line=3)
    long, short = (frame(name, "/src/train.py")
                   for name in ("train.py(3): step", "train.py(9): log"))
    library = frame("pandas/core/series.py(3): get",
                    "/usr/lib/python3/site-packages/pandas/core/series.py")
    thread = process.thread(tid=100)
    for number in range(5):
        at = 1_000_000 * number
        thread.step_begin(number, at)
        for site, begin, end in ((long, 1000, 900_000), (short, 901_000, 950_000)):
            thread.begin(site, at + begin)
            thread.begin(library, at + begin + 100)
            thread.end(at + end - 100)
            thread.end(at + end)
        thread.step_end(at + 960_000)
    path = written.write()
    rows = table_reader.tables(varve, "report", "--table", "advice", "--top", "0", path)["advice"]
    (row,) = [row for row in rows if row["rule"] == "python_itself"]
    assert row["why"] == ("pandas/core/series.py(3): get: 4.74 ms in 10 calls, the longest from "
                          "train.py(3): step.")
    rows = table_reader.operators(varve, path)
    assert {line["name"]: line["source"] for line in rows if line["row"] == "operator"} == {
        "train.py(3): step": None, "train.py(9): log": None,
        "pandas/core/series.py(3): get": "train.py(3): step"}

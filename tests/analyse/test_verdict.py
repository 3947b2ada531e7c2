# SPDX-License-Identifier: Apache-2.0
"""Table `verdict`: what the steps are bound by. Its rows add up to the steps; where the window of
the critical path is the steps, it is the path's own answer."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer as kineto  # pylint: disable=wrong-import-position
import table_reader  # pylint: disable=wrong-import-position

US = 1000


def table(varve, name, *arguments):
    return table_reader.tables(varve, "report", "--no-cache", "--table", name, *arguments)[name]


def verdict(varve, *arguments):
    rows = table(varve, "verdict", *arguments)
    assert [row["time_ns"] for row in rows] == sorted((row["time_ns"] for row in rows),
                                                      reverse=True)
    return {row["bound_by"]: row for row in rows}


def steps_ns(varve, *arguments):
    """The union of the chosen steps: steps of several ranks overlap."""
    total, last = 0, None
    for begin, end in sorted((row["begin_ns"], row["begin_ns"] + row["duration_ns"])
                             for row in table(varve, "steps", "--top", 0, *arguments)):
        total += max(0, end - (begin if last is None else max(begin, last)))
        last = end if last is None else max(last, end)
    return total


@pytest.mark.parametrize("trace, largest, share", (
    ("hta/ns_resolution.json.gz", "computation", 0.966),
    ("tracelens/h100_timesformer.json.gz", "host", 0.590),
    ("kineto/resnet50_workers0.json.gz", "host", 0.510),
    ("dlrm8/rank0.json.gz", "host", 0.689),
))
def test_real_steps_are_bound_by(varve, traces, trace, largest, share):
    rows = verdict(varve, traces / trace)
    assert next(iter(rows)) == largest
    assert rows[largest]["share"] == pytest.approx(share, abs=0.001)
    assert sum(row["time_ns"] for row in rows.values()) == steps_ns(varve, traces / trace)


def test_a_filter_changes_no_row(varve, traces):
    """The first screen prints the table beside operators that a filter has chosen."""
    trace = traces / "kineto/resnet50_workers0.json.gz"
    shown = {filtered: table_reader.tables(varve, "report", "--no-cache", *filtered,
                                           trace)["verdict"]
             for filtered in ((), ("--filter", "name == 'aten::relu_'"))}
    plain, filtered = shown.values()
    assert plain[0]["mostly"] not in (None, "(outside operators)")
    assert filtered == plain


def test_ranks_that_overlap_count_once(varve, traces):
    files = [traces / "dlrm8" / f"rank{rank}.json.gz" for rank in range(8)]
    rows = verdict(varve, *files)
    assert sum(row["time_ns"] for row in rows.values()) == steps_ns(varve, *files)


@pytest.mark.parametrize("late, says", [
    ((0, 0, 0, 0), "by the critical path, 100.0 % of it on rank 0"),
    ((1, 1, 1, 1), "by the critical path, 95.0 % of it on rank 1"),
    ((0, 1, 0, 1), "by the critical path")])
def test_the_screen_says_which_rank_the_path_is_of(varve, tmp_path, late, says):
    """The late rank of a step computes 80 us of 100, the other 20; then both meet."""
    paths = []
    for rank in range(2):
        events = []
        for number in range(4):
            begin = 100 * US * number
            met = begin + (80 if late[number] == rank else 20) * US
            events += [kineto.step(number, begin, begin + 100 * US),
                       kineto.span("aten::mm", begin, met),
                       kineto.span("c10d::allreduce_", met, begin + 95 * US),
                       kineto.span("gloo:all_reduce", met + 1, begin + 90 * US, "user_annotation",
                                   7)]
        paths.append(kineto.write(tmp_path / f"rank{rank}.json", events,
                                  {"schemaVersion": 1, "distributedInfo": {
                                      "backend": "gloo", "rank": rank, "world_size": 2}}))
    done = subprocess.run([varve, "report", "--no-cache", *paths], capture_output=True, text=True,
                          check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("BOUND BY"))
    assert line.endswith(says)


def test_one_kind_of_time_after_the_other(varve, tmp_path):
    """A step of 1000 us: a loader 200, an allocation 100, a compilation 50, a kernel that is waited
    for 300 and its launch 20, a copy 80; the host has the rest."""
    events = [
        kineto.step(1, 0, 1000 * US),
        kineto.span("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 200 * US,
                    "user_annotation"),
        kineto.span("cudaMalloc", 200 * US, 300 * US, "cuda_runtime"),
        kineto.span("CompiledFunction: compile_fx (dynamo_timed)", 300 * US, 350 * US, "cpu_op"),
        *kineto.launched("gemm", 1, (400 * US, 410 * US), (420 * US, 720 * US)),
        kineto.span("cudaDeviceSynchronize", 410 * US, 720 * US, "cuda_runtime"),
        *kineto.launched("Memcpy DtoH (Device -> Pageable)", 2, (800 * US, 890 * US),
                         (805 * US, 885 * US), by="cudaMemcpy"),
    ]
    rows = verdict(varve, kineto.write(tmp_path / "a.json", events))
    times = {word: row["time_ns"] // US for word, row in rows.items()}
    assert times["data"] == 200 and times["memory"] == 100
    assert times["computation"] == 300 and times["copies"] == 80
    assert times["launch"] == 25 and sum(times.values()) == 1000
    assert rows["computation"]["mostly"] == "gemm" and rows["computation"]["mostly_ns"] == 300 * US


@pytest.mark.parametrize("own_us, mostly, mostly_us", [(10, "(outside operators)", 990),
                                                       (700, "aten::mm", 700)])
def test_a_small_operator_does_not_own_what_lies_between(varve, tmp_path, own_us, mostly,
                                                         mostly_us):
    path = kineto.write(tmp_path / "a.json", [
        kineto.step(1, 0, 1000 * US), kineto.span("aten::mm", 100 * US, (100 + own_us) * US)])
    row = verdict(varve, path)["host"]
    assert (row["mostly"], row["mostly_ns"], row["time_ns"]) == (mostly, mostly_us * US, 1000 * US)


def test_a_trace_without_steps_is_one_step(varve, tmp_path):
    path = kineto.write(tmp_path / "a.json", [kineto.span("aten::mm", 0, 700 * US),
                                              kineto.span("aten::add", 900 * US, 1000 * US)])
    rows = verdict(varve, path)
    assert {word: row["time_ns"] // US for word, row in rows.items()} == {"host": 800, "other": 200}


def test_what_the_path_does_not_explain_counts_as_what_a_device_does(varve, tmp_path):
    """A kernel, a collective and a copy overlap on three streams, and no call says who began them.
    The path is the longest alone."""
    path = kineto.write(tmp_path / "a.json", [
        kineto.span("aten::mm", 0, 100 * US), kineto.work("gemm", 200 * US, 500 * US),
        kineto.work("ncclKernel_AllReduce", 400 * US, 600 * US, stream=8),
        kineto.work("Memcpy HtoD", 550 * US, 650 * US, stream=9)])
    assert {word: row["time_ns"] // US for word, row in verdict(varve, path).items()} == {
        "computation": 300, "communication": 100, "copies": 50, "other": 200}


def steps_with_compilers(path, count, operators, compiling, ahead=0):
    """Steps of 1 ms each that hold so many operators; some compile for 1 ms more. So many operators
    run ahead of them."""
    rows = [("aten::copy_", "cpu_op", i / 100, 0.009) for i in range(ahead)]
    now = ahead / 100
    for number in range(count):
        is_compiling = number in compiling
        rows.append((f"ProfilerStep#{number}", "user_annotation", now,
                     2000 if is_compiling else 1000))
        rows += [("aten::mul", "cpu_op", now + i * 1000 / operators, 900 / operators)
                 for i in range(operators)]
        now += 1000
        if is_compiling:
            rows.append(("torch/_inductor/compile_fx.py(12): compile", "python_function", now,
                         1000))
            now += 1000
    path.write_text('{"schemaVersion":1,"displayTimeUnit":"ms","traceEvents":[' + ",".join(
        f'{{"ph":"X","name":"{name}","cat":"{category}","pid":1,"tid":1,"ts":{begin:.3f},'
        f'"dur":{duration:.3f}}}' for name, category, begin, duration in rows) + "]}")
    return path


def test_a_step_that_compiles_counts_whatever_ran_ahead_of_the_steps(varve, tmp_path):
    """25 steps of 4,000 operators, and the last one compiles: 1 ms of 26."""
    path = steps_with_compilers(tmp_path / "a.json", 25, 4_000, {24}, ahead=200_000)
    rows = verdict(varve, path)
    assert rows["compilation"]["time_ns"] == 1000 * US
    assert sum(row["time_ns"] for row in rows.values()) == 26_000 * US


def test_steps_that_stand_for_all_take_as_long_as_all(varve, tmp_path):
    """60 steps of 5,000 operators: the path takes 200,000 slices at most, of 39 steps. The last 20
    steps compile, for 1 of their 2 ms. So compilation has 20 of 80 ms."""
    path = steps_with_compilers(tmp_path / "long.json", 60, 5_000, range(40, 60))
    rows = verdict(varve, "--warm-up", path)
    assert sum(row["time_ns"] for row in rows.values()) == 80_000 * US
    assert rows["compilation"]["share"] == pytest.approx(0.25, abs=0.003)


def test_the_verdict_stands_before_the_findings_and_both_before_the_steps(varve, traces):
    shown = subprocess.run([varve, "report", "--no-cache",
                            traces / "kineto" / "resnet50_workers0.json.gz"],
                           capture_output=True, text=True, check=True).stdout
    headings = [line.split("  ")[0] for line in shown.splitlines() if line[:1].isupper()]
    assert headings[:4] == ["TRACE", "BOUND BY", "LOOK FIRST", "STEP"]

# SPDX-License-Identifier: Apache-2.0
"""Table "event_summary" and `varve report --compat paddle`: Fluid's report, held against
support/fluid_report.py cell by cell and letter by letter, and the text of two small ones."""
import pathlib
import random
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import fluid_report
import table_reader
import trace_writer
from kineto_writer import launched, span, write
from model_tables import dump

COLUMNS = ("report", "event", "thread", "depth", "calls", "total_ns", "cpu_ns", "gpu_ns", "min_ns",
           "max_ns", "mean_ns", "ratio")
SHARED = ["dlrm8/rank0.json.gz", "hta/ns_resolution.json.gz", "hta/simple_add.json.gz",
          "hta/mi250_minitoy.json.gz", "hta/rank_non_gpu.json.gz", "hta/event_sync.json.gz",
          "kineto/resnet50_workers0.json.gz", "tracelens/sglang_decode.json.gz",
          "tracelens/torch_compile_triton.json.gz", "nsys/saxpy_mpi_cuda.sqlite"]
LINE = "-" * 25


def ask(varve, *arguments):
    return subprocess.run([str(varve), "report", "--no-cache", *map(str, arguments)],
                          capture_output=True, text=True, check=False)


def printed(varve, *arguments):
    done = ask(varve, "--compat", "paddle", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cells(varve, *arguments):
    rows = table_reader.tables(varve, "report", "--no-cache", "--compat", "paddle",
                               *arguments)["event_summary"]
    return [tuple(row[column] for column in COLUMNS) for row in rows]


def check(varve, tables, path, sort):
    told = fluid_report.Report(tables, sort)
    assert cells(varve, "--sort", sort, path) == told.rows()
    assert printed(varve, "--sort", sort, path) == told.text()
    return told


# ---- all of it, made again ----

def check_sorts(build, varve, path, sorts=tuple(fluid_report.SORTS)):
    tables = dump(build, path)
    reports = [check(varve, tables, path, sort) for sort in sorts]
    return reports[0]


@pytest.mark.parametrize("name", SHARED)
def test_shared_traces(build, varve, traces, name):
    report = check_sorts(build, varve, traces / name, ("default", "ave"))
    assert report.threads and report.threads[0].rows


def test_every_key_on_a_shared_trace(build, varve, traces):
    assert check_sorts(build, varve, traces / "hta" / "simple_add.json.gz").merged.rows


def test_traces_of_every_kind_of_chrome_file(build, varve, traces):
    """Ranges that overlap, end before they begin, or never end."""
    read = 0
    for path in sorted((traces / "chrome").rglob("*.json")):
        if subprocess.run([str(varve), "report", "--no-cache", str(path)], capture_output=True,
                          check=False).returncode == 0:
            check(varve, dump(build, path), path, "default")
            read += 1
    assert read > 5


@pytest.mark.parametrize("name", ["c-loop", "train"])
def test_a_program_that_was_recorded(build, varve, tmp_path, name):
    program, path = build / "examples" / name, tmp_path / "recorded.varve"
    if not program.exists():
        pytest.skip(f"needs examples/{name}: make")
    arguments = ["--steps", "5", "--batch", "4"] if name == "train" else []
    subprocess.run([str(varve), "record", "-q", "-o", path, "--", program, *arguments], check=True,
                   capture_output=True, cwd=tmp_path)
    assert check_sorts(build, varve, path).threads


NAMES = ["mul", "mul/compute", "mul/compute/GpuMemcpyAsync:GPU->CPU", "mul/GpuMemcpySync",
         "mul_grad", "mul_grad/compute", "/mul", "mul/", "a/b/c", "fc%w_0%", "fc%w_1%",
         "fc%w_0%/compute", "fc%w_1%/infer", "%x%", "two%a%b%c%", "two%a%b%d%", "two%a%e%d%",
         "odd%a%b%c", "%", "%%", "%%%", "thread0::mul", "x" * 60, "bâtiment/é"]


@pytest.mark.parametrize("seed", range(12))
def test_made_traces(build, varve, tmp_path, seed):
    """Names with every oddity, on three threads, crossing each other, with device work."""
    draw, events = random.Random(seed), []
    names = draw.sample(NAMES, draw.randint(2, len(NAMES)))
    for number in range(draw.randint(1, 120)):
        begin = draw.randrange(0, 3000, draw.choice([1, 500]))
        end = begin + draw.choice([0, 1, 7, 500, draw.randrange(3000)])
        tid = draw.randint(1, 3)
        events.append(span(draw.choice(names), begin, end, tid=tid))
        if seed % 2:
            at = draw.randrange(3000)
            events += launched("kernel", number + 1, (at, at + 3),
                               (at + 10, at + 10 + draw.randrange(400)), tid=tid)
    sorts = list(fluid_report.SORTS)
    check_sorts(build, varve, write(tmp_path / "made.json", events),
                {"default", sorts[seed % len(sorts)], sorts[-seed % len(sorts)]})


# ---- by hand ----

def columns(width, *texts):
    return texts[0].ljust(width) + "".join(text.ljust(12) for text in texts[1:]) + "\n"


def test_the_text_of_one_thread(varve, tmp_path):
    """mul runs twice, for 3 and 1 ms, and computes 2 ms of it; a range without an end is left
    out."""
    trace = trace_writer.Trace(tmp_path / "small.varve")
    process = trace.process(pid=100)
    thread = process.thread(tid=100)
    sites = {name: process.site("begin", name) for name in ("mul", "mul/compute", "fc%w_7%",
                                                            "fc%w_9%", "open")}

    def run(name, begin_us, end_us, inner=()):
        thread.begin(sites[name], 1000 * begin_us)
        for one in inner:
            run(*one)
        thread.end(1000 * end_us)
    run("mul", 0, 3000, [("mul/compute", 500, 2500)])
    run("fc%w_7%", 3000, 3250)
    run("mul", 4000, 5000)
    run("fc%w_9%", 5000, 5750)
    thread.begin(sites["open"], 5_800_000)
    path = trace.write()
    done = ask(varve, "--compat", "paddle", path)
    assert done.stdout == (
        f"\n{LINE}>     Profiling Report     <{LINE}\n\n"
        "Place: CPU\nTime unit: ms\n"
        "Sorted by event first end time in descending order in the same thread\n\n"
        "Total time: 5\n"
        "  Computation time       Total: 2           Ratio: 40%\n"
        "  Framework overhead     Total: 3           Ratio: 60%\n"
        f"\n{LINE}     GpuMemCpy Summary     {LINE}\n\n"
        "GpuMemcpy                Calls: 0           Total: 0           Ratio: 0%\n"
        f"\n{LINE}       Event Summary       {LINE}\n\n" +
        columns(28, "Event", "Calls", "Total", "Min.", "Max.", "Ave.", "Ratio.") +
        columns(28, "thread0::mul", "2", "4", "1", "3", "2", "0.8") +
        columns(28, "  thread0::mul/compute", "1", "2", "2", "2", "2", "0.4") +
        columns(28, "thread0::fc0", "1", "0.25", "0.25", "0.25", "0.25", "0.05") +
        columns(28, "thread0::fc1", "1", "0.75", "0.75", "0.75", "0.75", "0.15"))
    assert "1 without an end left out" in done.stderr and not ask(
        varve, "-q", "--compat", "paddle", path).stderr


@pytest.fixture
def two_threads(tmp_path):
    """On the first thread that began, op launches 20 µs of work; on the second it launches none."""
    return write(tmp_path / "two.json",
                 [span("op", 1_000_000, 1_040_000, tid=2), span("op", 500, 60_500, tid=1),
                  *launched("gemm", 1, (1500, 11_500), (30_000, 50_000), tid=1)])


def test_the_text_of_two_threads_and_a_device(varve, two_threads):
    def line(width, name, *texts):
        wide = "".join(text.ljust(24) for text in texts[2:4])
        return columns(width, name, *texts[:2])[:-1] + wide + columns(12, *texts[4:])
    titles = ("Event", "Calls", "Total", "CPU Time (Ratio)", "GPU Time (Ratio)", "Min.", "Max.",
              "Ave.", "Ratio.")
    said = "Sorted by total time in descending order in the same thread\n\n"
    head = f"\n{LINE}>     Profiling Report     <{LINE}\n\n"
    events = f"\n{LINE}       Event Summary       {LINE}\n\n"
    op = ("0.100000 (0.833333)", "0.020000 (0.166667)")
    call = ("0.010000 (0.333333)", "0.020000 (0.666667)")
    assert printed(varve, "--sort", "total", two_threads) == (
        head + "Note! This Report merge all thread info into one.\nPlace: All\nTime unit: ms\n" +
        said + "Total time: 0.15\n"
        "  Computation time       Total: 0           Ratio: 0%\n"
        "  Framework overhead     Total: 0.15        Ratio: 100%\n"
        f"\n{LINE}     GpuMemCpy Summary     {LINE}\n\n"
        "GpuMemcpy                Calls: 0           Total: 0           Ratio: 0%\n" +
        events + line(24, *titles) +
        line(24, "op", "2", "0.12", *op, "0.04", "0.08", "0.06", "0.8") +
        line(24, "cudaLaunchKernel", "1", "0.03", *call, "0.03", "0.03", "0.03", "0.2") +
        head + "Place: All\nTime unit: ms\n" + said + events + line(33, *titles) +
        line(33, "thread1::op", "1", "0.04", "0.040000 (1.000000)", "0.000000 (0.000000)", "0.04",
             "0.04", "0.04", "1") +
        line(33, "thread0::op", "1", "0.08", "0.060000 (0.750000)", "0.020000 (0.250000)", "0.08",
             "0.08", "0.08", "0.727273") +
        line(33, "thread0::cudaLaunchKernel", "1", "0.03", *call, "0.03", "0.03", "0.03",
             "0.272727"))


def test_an_end_belongs_to_the_latest_begin_of_its_name(varve, tmp_path):
    path = write(tmp_path / "crossed.json", [span("a", 0, 10), span("a", 5, 15),
                                             span("b", 2, 12)])
    rows = {row[1]: row for row in cells(varve, path)}
    at = {name: COLUMNS.index(name) for name in ("total_ns", "min_ns", "max_ns")}
    assert [rows["thread0::a"][at[name]] for name in ("total_ns", "min_ns", "max_ns")] == [20, 5,
                                                                                          15]
    assert rows["thread0::b"][at["total_ns"]] == 10


def test_a_thread_keeps_its_number_when_it_is_chosen(varve, two_threads):
    assert {row[:3] for row in cells(varve, "--thread", "2", two_threads)} == {
        ("threads", "thread1::op", 1)}
    assert "Note!" not in printed(varve, "--thread", "2", two_threads)


# ---- what is asked for ----

def test_the_table_alone_is_a_table_of_varve(varve, two_threads):
    plain = ask(varve, "--table", "event_summary", two_threads).stdout
    assert plain.startswith("EVENT SUMMARY  ranges of 2 threads, by the rules of PaddlePaddle")
    assert "Profiling Report" in printed(varve, "--table", "event_summary", two_threads)
    assert "Time unit: us" in printed(varve, "--unit", "us", two_threads)
    assert [row.split(",")[0] for row in printed(
        varve, "--csv", "--fields", "calls", two_threads).splitlines()] == ["calls", "2", "1", "1",
                                                                            "1", "1"]


@pytest.mark.parametrize("arguments, says", [
    (("report", "--table", "devices"), "whatever --compat paddle says. Leave that out, or ask for "
                                       "--table event_summary"),
    (("report", "--sort", "self"), "Try default, calls, total, min, max, ave, cpu or gpu"),
    (("report", "--fields", "calls"), "--fields goes with --csv, --json or --md"),
    (("idle",), "varve idle has no table by the rules of paddle. Type varve report"),
    (("critical",), "varve critical has no table by the rules of paddle. Type varve report")])
def test_what_has_no_such_rules_is_refused(varve, two_threads, arguments, says):
    done = subprocess.run([str(varve), *arguments, "--compat", "paddle", str(two_threads)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "" and says in done.stderr


def test_rules_of_hta_are_not_fluids(varve, two_threads):
    done = ask(varve, "--compat", "hta", "--table", "event_summary", two_threads)
    assert done.returncode == 2 and "is the same whatever --compat says" in done.stderr


def test_long_names_and_escapes_stay_in_their_line(varve, tmp_path):
    """A name of 5,000 letters does not widen the others' lines, and no name can write on a
    terminal."""
    path = write(tmp_path / "names.json", [span("n" * 5000, 0, 5), span("a\x1b[2J\nb", 6, 9)])
    lines = printed(varve, path).splitlines()
    assert "\x1b" not in "".join(lines) and len(lines[-1]) == 400 + 6 * 12
    assert lines[-1].startswith("thread0::a\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}b ")


def test_nothing_is_a_report_too(varve, tmp_path):
    path = write(tmp_path / "none.json", [])
    assert printed(varve, path).splitlines()[-1].split() == ["Event", "Calls", "Total", "Min.",
                                                             "Max.", "Ave.", "Ratio."]
    assert cells(varve, path) == []

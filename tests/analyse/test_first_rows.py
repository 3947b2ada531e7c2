# SPDX-License-Identifier: Apache-2.0
"""What leads a person's screen: operators that work, where the thread was that launched late, the
line that launched a kernel, and remedies for the program that was recorded."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer as kineto  # pylint: disable=wrong-import-position
import table_reader  # pylint: disable=wrong-import-position

MS = 1_000_000
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def made(folder, events, name="made.json", program="python"):
    kineto.write(folder / name, kineto.names(program) + events, dict(kineto.HEAD))
    return folder / name


def screen(varve, trace, *arguments):
    done = subprocess.run([varve, "report", "--no-cache", trace, *arguments], capture_output=True,
                          text=True, check=True)
    return done.stdout


def block(text, title):
    """The lines of one table of the screen."""
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith(title))
    return lines[first:lines.index("", first) if "" in lines[first:] else len(lines)]


def listed(text):
    """The names of the rows of OPERATORS."""
    return [line.split("  ")[-1].strip() for line in block(text, "OPERATORS")]


def late(number, begin):
    """10 ms: the loader in train.py for 6, then a launch for 2 ms of work."""
    return [kineto.step(number, begin, begin + 10 * MS),
            kineto.span("train.py(7): epoch", begin, begin + 9 * MS, "python_function"),
            kineto.span("torch/utils/data/dataloader.py(1): __next__", begin, begin + 6 * MS,
                        "python_function"),
            kineto.span(LOADER, begin, begin + 6 * MS, "user_annotation"),
            kineto.span("aten::mm", begin + 6 * MS, begin + 7 * MS),
            *kineto.launched("gemm", number + 1, (begin + 6 * MS, begin + 6 * MS + 10_000),
                             (begin + 6 * MS + 20_000, begin + 8 * MS))]


def late_steps():
    return [event for number in range(5) for event in late(number, 10 * MS * number)]


def test_the_range_and_the_line_of_who_launched_late_are_named(varve, tmp_path):
    trace = made(tmp_path, late_steps())
    row = table_reader.tables(varve, "idle", "--warm-up", "--table", "idle", trace)["idle"][0]
    assert (row["doing"], row["name"], row["source"]) == ("data loader", LOADER,
                                                          "train.py(7): epoch")
    assert row["name_ns"] == 4 * 6 * MS  # of the 5 steps, the first has no gap before it
    finding = " ".join(screen(varve, trace, "--warm-up").split())
    assert (f"the thread that launches was late (data loader), mostly in {LOADER} at "
            "train.py(7): epoch: 24.0 ms.") in finding


def test_the_line_that_launched_a_kernel_stands_with_it(varve, tmp_path):
    trace = made(tmp_path, late_steps())
    row = table_reader.tables(varve, "report", "--warm-up", "--table", "kernel_ops",
                              trace)["kernel_ops"][0]
    assert (row["name"], row["op"], row["source"]) == ("gemm", "aten::mm", "train.py(7): epoch")


def test_the_source_is_the_program_s_own_line(varve, tmp_path):
    """Not the library's frame, nor the built-in function's. Without another, the innermost."""
    frames = ["train.py(9): step", "/usr/lib/python3/dist-packages/x.py(1): f", "torch/nn.py(2): g",
              "<built-in method relu>"]
    events = [kineto.span(frame, at, 9 * MS - at, "python_function")
              for at, frame in enumerate(frames)] + [kineto.span("aten::relu", MS, 2 * MS)]
    rows = table_reader.tables(varve, "report", "--table", "operators", "--by", "source",
                               made(tmp_path, events))["operators"]
    assert [row["name"] for row in rows if row["row"] == "operator"] == [frames[0]]
    rows = table_reader.tables(varve, "report", "--table", "operators", "--by", "source",
                               made(tmp_path, events[1:]))["operators"]
    assert {row["name"] for row in rows if row["row"] == "operator"} == set(frames[1:])


def test_waits_and_a_profiler_s_own_rows_are_not_listed_as_work(varve, tmp_path):
    events = [kineto.span("aten::mm", 0, 2 * MS),
              kineto.span("synchronizeStream", 2 * MS, 9 * MS, "cuda_runtime", correlation=9),
              {"ph": "M", "name": "process_name", "pid": 77, "tid": 0,
               "args": {"name": "Overlap Analysis"}},
              {"ph": "X", "name": "Free", "pid": 77, "tid": 3, "ts": 0, "dur": 9 * MS},
              *kineto.launched("Memcpy HtoD (Pageable -> Device)", 1, (9 * MS, 13 * MS),
                               (10 * MS, 12 * MS), by="cudaMemcpyAsync"),
              *kineto.launched("Memcpy HtoD (Pinned -> Device)", 2, (13 * MS, 13 * MS + 5000),
                               (13 * MS + 6000, 13 * MS + 9000), by="hipMemcpyAsync")]
    trace = made(tmp_path, events)
    text = screen(varve, trace)
    assert listed(text)[2:] == ["aten::mm", "hipMemcpyAsync", "2 more: --top 0",
                                "(outside operators)", "total"]
    assert "13.0 ms of ranges, 11.0 ms of it waiting or only marking," in text
    every = {row["name"] for row in table_reader.operators(varve, trace)}
    assert {"synchronizeStream", "cudaMemcpyAsync"} < every and "Free" not in every


def test_an_operator_without_a_call_in_the_steps_has_no_row(varve, tmp_path):
    events = [kineto.span("load", 0, 2 * MS, tid=2)]
    for number in range(6):
        begin = 2 * MS + number * MS
        events += [kineto.step(number, begin, begin + MS),
                   kineto.span("aten::mm", begin, begin + MS // 2),
                   kineto.span("aten::add", begin + MS // 2, begin + MS)]
    text = screen(varve, made(tmp_path, events), "--warm-up")
    assert listed(text)[2:] == ["aten::add", "aten::mm", "1 more: --top 0", "(outside operators)",
                                "total"]


def test_a_pool_s_work_stands_beside_the_thread_that_waits_for_it(varve, tmp_path):
    events = []
    for number in range(6):
        begin = number * MS
        events += [kineto.step(number, begin, begin + MS),
                   kineto.span("Executor::run", begin, begin + MS),
                   kineto.span("conv", begin + 1000, begin + MS - 1000, tid=2)]
    text = screen(varve, made(tmp_path, events), "--warm-up")
    assert listed(text)[2:4] == ["Executor::run", "conv"]


def test_what_another_thread_did_in_a_gap_is_told(varve, tmp_path):
    events = []
    for number in range(6):
        begin = number * 10 * MS
        events += [kineto.step(number, begin, begin + 10 * MS),
                   kineto.span("aten::mm", begin, begin + MS),
                   kineto.span("gloo:all_reduce", begin + MS, begin + 9 * MS, tid=2),
                   kineto.span("aten::add", begin + 9 * MS, begin + 10 * MS)]
    rows = table_reader.tables(varve, "report", "--warm-up", "--table", "host_gaps",
                               made(tmp_path, events))["host_gaps"]
    assert (rows[0]["after"], rows[0]["until"], rows[0]["meanwhile"]) == (
        "aten::mm", "aten::add", "gloo:all_reduce")


def test_kernels_alone_are_on_the_screen(varve, tmp_path):
    """No calls: the device is idle mostly, and there is nothing else to show."""
    trace = made(tmp_path, [kineto.work("gemm", at * MS, at * MS + 1000, at + 1)
                            for at in range(9)])
    kernels = block(screen(varve, trace), "KERNELS BY OPERATOR")
    assert kernels[1].split()[-1] == "kernel" and "operator" not in kernels[1]
    assert kernels[2].split()[-1] == "gemm"
    host = made(tmp_path, [kineto.span("gloo:all_reduce", 0, MS)], "host.json")
    assert "KERNELS" not in screen(varve, host)


def remedies(varve, folder, kernel, *more, program="python"):
    events = [*kineto.launched(kernel, 1, (0, 1000), (2000, 9 * MS)), *more]
    rows = table_reader.tables(varve, "report", "--table", "advice", "--top", "0",
                               made(folder, events, program=program))["advice"]
    return {row["rule"]: row["try"] for row in rows}


def test_a_remedy_fits_the_program_and_its_device(varve, tmp_path):
    copy = kineto.launched("Memcpy HtoD (Pinned -> Device)", 2, (9 * MS, 9 * MS + 1000),
                           (9 * MS + 2000, 20 * MS))
    python = kineto.span("aten::mm", 0, 1500)
    for more, program, word in (((), "saxpy", "cudaHostAlloc"), ((), "python3", "pin_memory=True"),
                                ((python,), "saxpy", "pin_memory=True")):
        told = remedies(varve, tmp_path, "saxpy", *copy, *more, program=program)
        assert word in told["exposed_copies"]
    volta = remedies(varve, tmp_path, "volta_sgemm_64x64_nt", python)
    assert "torch.float16" in volta["full_precision_volta"] and "full_precision" not in volta
    assert "torch.bfloat16" in remedies(varve, tmp_path, "ampere_sgemm_64x64_nt",
                                        python)["full_precision"]

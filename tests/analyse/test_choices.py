# SPDX-License-Identifier: Apache-2.0
"""What --steps, --thread, --rank, --device, --filter and --compat do to each table: doc/metrics.md,
section 3.6, says which of them change it.

Those change it here, on a trace of two ranks of two devices and two threads; the others are
refused, or said to be in vain.
"""
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import trace_writer
from kineto_writer import flow, launched, memory, span, step, write

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = {"--steps": "2..4", "--thread": "1", "--rank": "1", "--device": "cuda:1",
           "--filter": "duration>=3us && name!='aten::add'", "--compat": "hta"}
OTHERS = {("kernel_counters", "--filter"): "name=='gemm 2 r0'", ("links", "--filter"): "step>=2",
          ("syncs", "--filter"): "step>=2", ("async", "--filter"): "name=='fetch'",
          ("collective_kinds", "--filter"): "step>=2",
          ("rank_waits", "--filter"): "name!='aten::mm'", ("verdict", "--thread"): "2",
          ("throttling", "--thread"): "2"} | {
    (table, "--device"): "cuda:0" for table in ("critical", "critical_bound", "critical_ops",
                                                "critical_path", "what_if", "slack")}
POINTS = ("step_trace", "step_reduces", "trace_plan")
RECORDS = ("marks", "counters", "counter_values", "async", "flows")
STEP_NS, LONG = 200_000, {"Input Dims": [[64, 32], [32, 16]], "Input type": ["float", "float"]}


def part(rank, number, tid, begin):
    """What thread `tid` does in a step, on device tid - 1."""
    at, device, stretch = begin + 1000 * tid, tid - 1, 1 + rank + tid + number % 3
    first = 100 * number + 50 * device + 1
    events = [span("enumerate(DataLoader)#_Iter.__next__", at, at + 4000 * stretch,
                   "user_annotation", tid),
              span("forward", at + 30_000, at + 90_000, "user_annotation", tid)]
    for call in range(6):
        now = at + 30_000 + 9000 * call
        dims = LONG if call % 2 else {"Input Dims": [[8, 8], [8, 8]],
                                      "Input type": ["float", "float"]}
        name = ("aten::mm", "aten::add")[call % 2]
        events.append(span(name, now, now + 1500 * stretch, tid=tid, **dims,
                           **{"Sequence number": first + call}))
        events += launched(("gemm", "ncclKernel_AllReduce", "Memcpy HtoD")[call % 3] +
                           (f" {tid} r{rank}" if call % 3 < 2 else ""),
                           first + call, (now + 100, now + 400),
                           (now + 2000, now + 2500 + (900 if (number, call, tid) != (3, 0, 1)
                                                      else 60_000) * stretch), tid=tid,
                           device=device, stream=7 + 6 * (call % 2))
        events.append(memory(now + 200, 1000 * stretch + call, 4096 * (first + call), device, tid))
        if call % 3:
            events.append(memory(now + 1000, -1000 * stretch - call, 4096 * (first + call), device,
                                 tid))
    now = at + 100_000
    events += launched(f"gemm {tid} r{rank}", first + 6, (now + 18_000, now + 18_500),
                       (now + 19_000, now + 21_000 + 1000 * stretch), tid=tid, device=device)
    events.append(span("autograd::engine::evaluate_function: MmBackward0", now, now + 9000,
                       tid=tid))
    events += flow(first, at + 30_000 + 9000, now, (tid, tid))
    events.append(span("cudaDeviceSynchronize", now + 20_000, now + 22_000 + 1000 * stretch,
                       "cuda_runtime", tid))
    return events


def one_rank(rank):
    """Steps of thread 1, the fourth with a slow operator; thread 2 counts steps of its own, in
    others."""
    events = []
    for number in range(8):
        begin = number * STEP_NS
        events += [step(number, begin, begin + STEP_NS - 1000 * (number % 3)),
                   step(number + 20, begin + 10, begin + 180_000, 2)]
        events += part(rank, number, 1, begin) + part(rank, number, 2, begin)
        events += [{"ph": "C", "name": "throttled by power_limit", "pid": 1000, "cat": "made",
                    "ts": begin + at, "args": {"cuda:0": value}}
                   for at, value in ((50_000, 1), (190_000, 0))]
    slow = 3 * STEP_NS + 150_000
    events += [span("aten::add", slow + 9000 * tid, slow + 9000 * tid + 8000 + 12_000 * tid,
                    tid=tid, **LONG) for tid in (1, 2)]
    return events


def counted(rank):
    """A session of the range profiler, in which what a kernel was launched for is all there is of
    it."""
    events = []
    for number in range(4):
        begin, tid = number * STEP_NS, 1 + number % 2
        events += [step(number, begin, begin + STEP_NS - 1, 1),
                   span("aten::mm", begin + 10_000, begin + 20_000, tid=tid),
                   span("cudaLaunchKernel", begin + 11_000, begin + 12_000, "cuda_runtime", tid,
                        correlation=number + 1),
                   span(f"gemm {tid} r{rank}", begin + 13_000, begin + 18_000,
                        "cuda_profiler_range", 9, 0, cycles=100 + number)]
    return events


def recorded(rank):
    """Marks, values, asynchronous ranges and flows of two threads and five steps."""
    events = []
    for number in range(5):
        begin = number * STEP_NS
        events.append(step(number, begin, begin + STEP_NS - 1, 1))
        for tid in (1, 2):
            at = {"pid": 1000, "tid": tid, "ts": begin + 1000 * tid, "cat": "made"}
            events += [at | {"ph": "i", "name": "mark", "s": "t", "args": {"rank": rank}},
                       at | {"ph": "C", "name": "loss", "args": {"value": number + tid}},
                       at | {"ph": "b", "name": "fetch" * tid, "id": 10 * number + tid},
                       at | {"ph": "e", "name": "fetch" * tid, "id": 10 * number + tid,
                             "ts": begin + 3000 * tid},
                       span("aten::mm", begin + 500, begin + 9000 * tid, tid=tid)]
            events += flow(100 * number + tid, begin + 1000, begin + 5000 * tid, (tid, 3 - tid))
    return events


def traced(path, rank):
    """The trace points of six iterations, each with a collective, and a plan."""
    trace = trace_writer.Trace(path)
    thread = trace.process(pid=1000 + rank, rank=rank, world_size=2).thread(tid=1)
    thread.trace_point(5, (10000, 10001), at=10, node=rank, name="all", reason="found")
    for number in range(6):
        for at, tag in ((10, 2), (20, 10000), (30 + rank, 10001), (40, 3), (50, 4)):
            thread.trace_mark(tag, at=100 * number + at, iteration=number)
    trace.write()
    return path


def waiting(rank):
    """Two threads, which ask for collectives of the host and of two devices. The second rank is
    late."""
    events = []
    for number in range(5):
        begin = number * STEP_NS
        events.append(step(number, begin, begin + STEP_NS - 1, 1))
        for tid in (1, 2):
            at = begin + 20_000 * tid
            asked = at + 1000 + (2000 + 100 * number + 10 * tid) * rank
            events += [span("aten::mm", at, asked, tid=tid),
                       span("c10d::allreduce_", asked, asked + 100, tid=tid),
                       span("gloo:all_reduce", asked + 50, at + 9000, "user_annotation", tid + 6)]
            events += launched("ncclDevKernel_AllReduce", 2 * number + tid,
                               (asked + 10_000, asked + 10_100), (asked + 10_200, at + 19_000),
                               tid=tid, device=tid - 1)
    return events


def used(rank):
    """Two threads, whose steps and operators were counted."""
    events = []
    for number in range(5):
        begin = number * STEP_NS
        for tid in (1, 2):
            cpu = 1000 * (number + 1) + 100 * tid + 10 * rank
            events += [step(number, begin, begin + STEP_NS - 1, tid) |
                       {"args": {"cpu_ns": 2 * cpu}},
                       span("aten::mm", begin + 500, begin + 9000 * tid, tid=tid, cpu_ns=cpu),
                       span("aten::add", begin + 20_000, begin + 21_000, tid=tid, cpu_ns=7)]
    return events


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choices")

    def ranks(name, make):
        return [write(folder / f"{name}{rank}.json", make(rank),
                      {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank,
                                                               "world_size": 2},
                                          "counters of ranges": "cpu_ns"})
                                                               for rank in (0, 1)]
    return {None: ranks("rank", one_rank), "kernel_counters": ranks("counted", counted),
            "rank_waits": ranks("waiting", waiting)} | \
        dict.fromkeys(("operator_counters", "step_counters"), ranks("used", used)) | \
        dict.fromkeys(RECORDS, ranks("recorded", recorded)) | \
        dict.fromkeys(POINTS, [traced(folder / f"traced{rank}.varve", rank) for rank in (0, 1)])


def matrix():
    """{table: the options that change it}, as the page says it."""
    said, head = {}, None
    for line in (ROOT / "doc" / "metrics.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "tables" and "`--filter`" in cells:
            head = [cell.strip("`") for cell in cells]
        elif head is not None and len(cells) == len(head) and not cells[0].startswith("-"):
            for table in cells[0].split(", "):
                said[table.strip("`")] = {option for option, cell in zip(head[1:], cells[1:])
                                          if cell == "yes"}
        elif head is not None and not line.startswith("|"):
            head = None
    return said


MATRIX = matrix()


def ask(varve, verb, *arguments):
    return subprocess.run([str(varve), verb, *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def table_of(varve, traces, table, *arguments):
    files = traces.get(table, traces[None])
    return ask(varve, "report", "--no-cache", "--warm-up", "--json", "--table", table, *arguments,
               *files)


def test_the_page_names_every_table(varve):
    listed = [line.split()[0] for line in ask(varve, "help", "tables").stdout.splitlines()[2:]
              if line.startswith("  ") and line[2:3].strip()]
    assert sorted(MATRIX) == sorted(listed)


@pytest.mark.parametrize("table", sorted(MATRIX))
def test_each_choice_changes_a_table_or_is_refused(varve, traces, table):
    plain = table_of(varve, traces, table)
    assert plain.returncode == 0, plain.stderr
    for option, value in OPTIONS.items():
        done = table_of(varve, traces, table, option, OTHERS.get((table, option), value))
        if option in MATRIX[table]:
            # of compilers' plans, which are no traces
            if not table.startswith(("static_plan", "plan_conflicts")):
                assert done.returncode == 0, (option, done.stderr)
                assert json.loads(done.stdout)["tables"] != json.loads(
                    plain.stdout)["tables"], option
        else:
            assert done.returncode == 2 and done.stdout == "", option
            assert (f"table '{table}' is the same whatever {option} says" in done.stderr
                    and "--table " in done.stderr)


@pytest.mark.parametrize("verb, option, count", (("report", "--filter", 3),
                                                 ("report", "--device", 1), ("report", "--rank", 0),
                                                 ("steps", "--device", 1), ("idle", "--filter", 1),
                                                 ("memory", "--steps", 1),
                                                 ("critical", "--filter", 1), ("critical",
                                                                               "--thread", 0)))
def test_a_verb_says_what_is_in_vain(varve, traces, verb, option, count):
    """Tables of a verb that the choice does not reach say so above their rows; others of the
    filter, what it lets through."""
    done = ask(varve, verb, "--no-cache", option, OPTIONS[option], *traces[None])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"; whatever {option} says") == count
    assert option != "--filter" or f"; only {OPTIONS[option]}" in done.stdout


def test_the_filter_of_critical_names_time_and_chooses_none(varve, traces):
    """The path is the same, whichever operators are asked for: the others are outside operators."""
    def rows(*arguments):
        done = ask(varve, "critical", "--no-cache", "--json", "--top", "0", *arguments,
                   *traces[None])
        assert done.returncode == 0, done.stderr
        return {name: [dict(zip([column["name"] for column in table["columns"]], row))
                       for row in table["rows"]]
                for name, table in json.loads(done.stdout)["tables"].items()}
    plain, chosen = rows(), rows("--filter", "name=='aten::mm'")
    assert plain["critical"] == chosen["critical"] and plain["critical_bound"] == chosen[
        "critical_bound"]

    def times(found):
        return {row["name"]: row["time_ns"] for row in found["critical_ops"]
                if row["bound"] == "host"}

    assert times(chosen)["aten::mm"] == times(plain)["aten::mm"] and set(
        times(chosen)) <= {"aten::mm", "(outside operators)"}
    assert sum(times(chosen).values()) == sum(times(plain).values())
    assert next(row for row in chosen["what_if"] if row["change"] == "aten::mm") == \
        next(row for row in plain["what_if"] if row["change"] == "aten::mm")


def test_memory_of_one_thread_and_the_other_is_all(varve, traces):
    def of(*arguments):
        done = ask(varve, "memory", "--no-cache", "--json", *arguments, *traces[None])
        assert done.returncode == 0, done.stderr
        table = json.loads(done.stdout)["tables"]["memory"]
        at = {column["name"]: index for index, column in enumerate(table["columns"])}
        return [sum(row[at[column]] or 0 for row in table["rows"])
                for column in ("allocations", "allocated_bytes", "releases", "released_bytes",
                               "end_bytes")]
    for parts in ((("--thread", "1"), ("--thread", "2")),
                  (("--filter", "name=='aten::mm'"), ("--filter", "name!='aten::mm'"))):
        assert [sum(pair) for pair in zip(*(of(*part_of) for part_of in parts))] == of()

# SPDX-License-Identifier: Apache-2.0
"""Tables of steps and devices against a slow, plain reference, on random programs.

The reference looks at every single nanosecond: which work runs there, which slice of the launching
thread is open.
doc/metrics.md, sections 8 and 9, states the rules.
"""
import collections
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer as kineto  # pylint: disable=wrong-import-position
import table_reader  # pylint: disable=wrong-import-position

HOST = {  # what may be open on the thread: category, name
    "op": ("cpu_op", "aten::add"), "python": ("python_function", "train.py(3): step"),
    "loader": ("user_annotation", "enumerate(DataLoader)#_Iter.__next__"),
    "note": ("user_annotation", "forward"),
    "compile": ("cpu_op", "compile_fx"), "sync": ("cuda_runtime", "cudaDeviceSynchronize"),
    "allocation": ("cuda_runtime", "cudaMalloc"), "call": ("cuda_runtime", "cudaLaunchKernel")}
WORK = {"compute": ("kernel", "gemm"), "comm": ("kernel", "ncclKernel_AllReduce"),
        "copy": ("gpu_memcpy", "Memcpy HtoD"), "set": ("gpu_memset", "Memset (Device)")}
DOING = {"loader": "data loader", "sync": "sync call", "allocation": "allocation",
         "compile": "compile", "call": "runtime call", "op": "operator", "python": "Python"}
TELLING = ("loader", "sync", "allocation", "compile")

Host = collections.namedtuple("Host", "kind begin end")
Work = collections.namedtuple("Work", "kind stream begin end call")

ACTIONS = strategies.lists(strategies.tuples(
    strategies.sampled_from(["begin", "end", "end", "launch", "launch", "step", "step"]),
    strategies.sampled_from([kind for kind in HOST if kind != "call"]),
    strategies.sampled_from(list(WORK)),
    strategies.integers(1, 9), strategies.integers(1, 30), strategies.booleans()), min_size=8,
    max_size=60)


class Program:
    """One thread that launches work on two streams of one device."""

    def __init__(self, actions):
        self.host, self.work, self.steps = [], [], []
        self.now, self.open, self.step = 0, [], None
        self.free = [0, 0]
        for what, kind, work, pause, length, second in actions:
            self.now += pause
            if what == "begin":
                self.open.append((kind, self.now))
            elif what == "end" and self.open:
                self.host.append(Host(*self.open.pop(), self.now))
            elif what == "launch":
                self.launch(work, pause, length, int(second))
            elif what == "step" and not self.open:
                self.turn_step()
        while self.open:
            self.now += 1
            self.host.append(Host(*self.open.pop(), self.now))
        self.now += 1
        if self.step is not None:
            self.turn_step()

    def turn_step(self):
        if self.step is not None:
            self.steps.append((self.step, self.now))
        self.step = self.now + 1 if self.step is None else None
        self.now += 1

    def launch(self, kind, pause, length, stream):
        call = Host("call", self.now, self.now + pause)
        self.host.append(call)
        begin = max(self.free[stream] + pause % 3, call.begin + length % 7 + 1)
        self.free[stream] = begin + length
        self.work.append(Work(kind, stream, begin, begin + length, call if length % 6 else None))
        self.now = call.end

    def write(self, folder):
        def event(category, name, begin, end, tid, **args):
            return {"ph": "X", "cat": category, "name": name, "pid": 0 if "stream" in args else 100,
                    "tid": tid, "ts": begin / 1000, "dur": (end - begin) / 1000, "args": args}
        calls = [item for item in self.host if item.kind == "call"]
        events = [event("cpu_op", f"ProfilerStep#{index}", begin, end, 100)
                  for index, (begin, end) in enumerate(self.steps)]
        for item in self.host:
            ids = {"correlation": calls.index(item) + 1} if item.kind == "call" else {}
            events.append(event(*HOST[item.kind], item.begin, item.end, 100, **ids))
        for item in self.work:
            call = calls.index(item.call) + 1 if item.call else 0
            events.append(event(*WORK[item.kind], item.begin, item.end, item.stream,
                                stream=item.stream, device=0, **({"correlation": call} if call
                                                                 else {})))
        path = pathlib.Path(folder) / "random.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        return path


def doing(program, tick):
    """What the thread is in at a nanosecond, by the rule of idle."""
    around = [item for item in program.host if item.begin <= tick < item.end]
    around.sort(key=lambda item: (item.begin, -item.end))
    for item in reversed(around):
        if item.kind in TELLING:
            return DOING[item.kind]
    for item in reversed(around):
        if item.kind in DOING:
            return DOING[item.kind]
    return "nothing recorded"


def busy_kinds(program, tick):
    return {item.kind for item in program.work if item.begin <= tick < item.end}


def reference_devices(program):
    counts = collections.Counter()
    for tick in range(min(item.begin for item in program.work),
                      max(item.end for item in program.work)):
        kinds = busy_kinds(program, tick)
        counts["span_ns"] += 1
        counts["busy_ns" if kinds else "idle_ns"] += 1
        counts["communication_ns"] += "comm" in kinds
        counts["hidden_ns"] += "comm" in kinds and bool(kinds & {"compute", "set"})
        if kinds & {"compute", "set"}:
            counts["computation_ns"] += 1
        elif "comm" in kinds:
            counts["exposed_communication_ns"] += 1
        elif kinds:
            counts["exposed_memcpy_ns"] += 1
    return counts


def launching(program):
    """Nanoseconds that launching takes: the median over what found its stream empty."""
    taken = []
    for item in program.work:
        before = [other.end for other in program.work if other.stream == item.stream
                  and other.begin < item.begin]
        if item.call and max(before, default=0) <= item.call.begin:
            taken.append(item.begin - item.call.begin)
    return int(statistics.median(taken)) if taken else 0


def reference_idle(program):
    causes, latency = collections.Counter(), launching(program)
    begin, end = min(item.begin for item in program.work), max(item.end for item in program.work)
    for tick in range(begin, end):
        if busy_kinds(program, tick):
            continue
        after = min(item.begin for item in program.work if item.begin > tick)
        gap_begin = max(item.end for item in program.work if item.end <= tick)
        calls = [item.call for item in program.work if item.begin == after and item.call]
        starts = {call.begin for call in calls[:1]}
        if not starts:
            causes["unknown", None] += 1
        elif tick < min(starts):
            causes["host", doing(program, tick)] += 1
        elif tick - max(min(starts), gap_begin) < latency:
            causes["launch", None] += 1
        else:
            causes["dependency", None] += 1
    return causes


def device_steps(program):
    """(begin, end, launched) of each step until its work ends, those that were cut left out."""
    def inside(call, step):
        return call is not None and step[0] <= call.begin and call.end <= step[1]
    mine = [[item for item in program.work if inside(item.call, step)] for step in program.steps]
    steps = [[*step, len(work)] for step, work in zip(program.steps, mine)]
    if not any(mine):
        return steps
    former = steps[0][0]
    if mine[0]:
        first = min(item.begin for item in mine[0])
        stray = [item.end for item in program.work
                 if not any(inside(item.call, step) for step in program.steps)]
        former = max([former] + [end for end in stray if end < first])
    for step, work in zip(steps, mine):
        step[0] = max(former, step[0])
        step[1] = max([step[0], step[1]] + [item.end for item in work])
        former = step[1]
    while steps and not steps[-1][2]:
        steps.pop()
    if len(steps) > 1 and steps[-1][2] < 0.8 * steps[-2][2]:
        steps.pop()
    return steps


def slot(program, tick):
    kinds = busy_kinds(program, tick)
    hosts = {item.kind for item in program.host if item.begin <= tick < item.end}
    for kind, column in (("compute", "kernel_ns"), ("copy", "memcpy_ns"), ("set", "memset_ns"),
                         ("comm", "communication_ns")):
        if kind in kinds:
            return column
    if hosts & {"call", "sync", "allocation"}:
        return "runtime_ns"
    if "loader" in hosts:
        return "data_loader_ns"
    return "cpu_op_ns" if hosts & {"op", "compile"} else "other_ns"


def check_steps(program, rows):
    shown = [row for row in rows if row["row"] == "step"]
    wanted = device_steps(program)
    assert [row["duration_ns"] for row in shown] == [end - begin for begin, end, _ in wanted]
    assert [row["launched"] for row in shown] == [launched for _, _, launched in wanted]
    for row, (begin, end, _) in zip(shown, wanted):
        slots = collections.Counter(slot(program, tick) for tick in range(begin, end))
        assert {column: row[column] for column in slots} == slots
        assert sum(slots.values()) == row["duration_ns"]


def check_queue(program, rows):
    for row in rows:
        work = [item for item in program.work if item.call and item.stream == row["stream"]]
        changes = sorted([(item.call.begin, 0) for item in work] +
                         [(item.begin, 1) for item in work])
        length, lengths = 0, []
        for _, falls in changes:
            length += -1 if falls else 1
            lengths.append(length)
        assert (row["points"], row["max_length"]) == (len(lengths), max(lengths))
        assert abs(row["mean_length"] - statistics.mean(lengths)) < 1e-9
        assert abs(row["median_length"] - statistics.median(lengths)) < 1e-9


@hypothesis.settings(max_examples=120, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(actions=ACTIONS)
def test_sums_are_those_of_the_reference(varve, actions):
    program = Program(actions)
    if not program.work:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = program.write(folder)
        tables = table_reader.tables(varve, "idle", "--warm-up", path)
        split = table_reader.tables(varve, "report", "--warm-up", "--table", "step_split",
                                    path)["step_split"]
        overlap = table_reader.tables(varve, "report", "--warm-up", "--table", "overlap",
                                      path)["overlap"]
    counts = reference_devices(program)
    row = tables["devices"][0]
    for column in ("span_ns", "busy_ns", "idle_ns", "communication_ns", "computation_ns",
                   "exposed_communication_ns", "exposed_memcpy_ns"):
        assert row[column] == counts[column], column
    assert next(row for row in overlap
                if row["row"] == "device")["hidden_ns"] == counts["hidden_ns"]
    causes = {(row["cause"], row["doing"]): row["idle_ns"] for row in tables["idle"]
              if row["row"] == "cause"}
    assert causes == reference_idle(program)
    assert sum(row["duration_ns"] for row in tables["idle_gaps"]
               if row["row"] != "total") == counts["idle_ns"]
    check_queue(program, tables["queue"])
    if program.steps:
        check_steps(program, split)


def test_work_left_out_is_no_idle_time(varve, tmp_path):
    """Work before the first step, a slow step, four others: the device's time is cut where the slow
    one's work lies."""
    program = Program([])
    program.steps = [(100, 1100), (1200, 1300), (1300, 1400), (1400, 1500), (1500, 1600)]
    program.work = [Work("compute", 0, 0, 10, None), Work("compute", 1, 15, 20, None)]
    for begin, length in ((200, 100), (900, 100), (1210, 50), (1310, 50), (1410, 50), (1510, 50)):
        call = Host("call", begin - 5, begin - 4)
        program.host.append(call)
        program.work.append(Work("compute", 0, begin, begin + length, call))
    path = program.write(tmp_path)
    for arguments, span_ns, busy_ns, gaps, of_stream in (
            ((), 20 + 350, 15 + 200, 1 + 3, (150, 210)), (("--warm-up",), 1560, 15 + 400, 1 + 6,
                                                          (1150, 410)),
            (("--steps", "1.."), 350, 200, 3, (150, 200))):
        tables = table_reader.tables(varve, "idle", *arguments, path)
        device = tables["devices"][0]
        assert (device["span_ns"], device["busy_ns"], device["idle_ns"]) == (span_ns, busy_ns,
                                                                             span_ns - busy_ns)
        assert device["micro_idle_ns"] == device["idle_ns"]
        idle = next(row for row in tables["idle"] if row["row"] == "device"
                    or row["row"] == "total")
        assert idle["idle_ns"] == span_ns - busy_ns
        causes = [row for row in tables["idle"] if row["row"] == "cause"]
        assert sum(row["gaps"] for row in causes if row["cause"] in ("host", "unknown")) == gaps
        streams = {row["stream"]: (row["idle_ns"], row["busy_ns"]) for row in tables["idle_streams"]
                   if row["row"] == "stream"}
        assert streams[0] == of_stream


def test_work_of_no_length_ends_no_gap(varve, tmp_path):
    path = kineto.write(tmp_path / "made.json", [
        event for number, (begin, end) in enumerate([(10000, 20000), (50000, 50000),
                                                     (100000, 110000)])
        for event in kineto.launched(f"k{number}", number + 1, (1000 * number, 1000 * number + 500),
                                     (begin, end))])
    tables = table_reader.tables(varve, "idle", path)
    assert [(row["duration_ns"], row["after"]) for row in tables["idle_gaps"]
            if row["row"] == "gap"] == [(80000, "k2")]
    assert (tables["devices"][0]["events"], tables["devices"][0]["busy_ns"]) == (3, 20000)


@pytest.mark.parametrize("count, words", [(1, "1 kernel, copy or set "),
                                          (2, "2 kernels, copies and sets ")])
def test_one_is_not_called_by_many_names(varve, tmp_path, count, words):
    path = tmp_path / "few.json"
    path.write_text(json.dumps([
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20 * n, "dur": 9,
         "args": {"device": 0, "stream": 7}} for n in range(count)]))
    for table in ("devices", "kernels"):
        done = subprocess.run([varve, "report", "--table", table, path], capture_output=True,
                              text=True, check=True)
        assert words in done.stdout

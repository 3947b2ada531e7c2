# SPDX-License-Identifier: Apache-2.0
"""The sums of report and steps against a slow, plain reference, on random programs.

The reference looks at every single nanosecond: which slice is innermost there, in which step and
phase does it lie. doc/metrics.md states the rules. Times of records differ, so that order is never
in doubt.
"""
import collections
import pathlib
import statistics
import sys
import tempfile

import hypothesis
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position

NAMES = ["conv", "relu", "copy"]
PHASES = ["forward", "backward"]

Slice = collections.namedtuple("Slice", "name kind begin end parent number")

ACTIONS = strategies.lists(
    strategies.tuples(
        strategies.one_of(
            strategies.sampled_from([("op", name) for name in NAMES] +
                                    [("phase", name) for name in PHASES]),
            strategies.just(("end", None)), strategies.just(("step", None)),
            strategies.just(("step_end", None))),
        strategies.integers(1, 9)),
    max_size=40)


class Thread:
    """Plays actions as doc/format.md §7 says and keeps the slices."""

    def __init__(self, stream, sites):
        self.stream, self.sites = stream, sites
        self.now, self.steps = 0, 0
        self.slices, self.open = [], []

    def _begin(self, name, kind, number=None):
        parent = self.open[-1] if self.open else None
        self.open.append(len(self.slices))
        self.slices.append([name, kind, self.now, None, parent, number])

    def _end(self):
        self.slices[self.open.pop()][3] = self.now

    def _in_step(self):
        return any(self.slices[row][1] == "step" for row in self.open)

    def play(self, what, name, pause):
        self.now += pause
        if what in ("op", "phase"):
            self.stream.begin(self.sites[what, name], self.now)
            self._begin(name, what)
        elif what == "end" and self.open and self.slices[self.open[-1]][1] != "step":
            self.stream.end(self.now)
            self._end()
        elif what == "step" and not self._in_step():
            self.stream.step_begin(self.steps, self.now)
            self._begin("step", "step", self.steps)
            self.steps += 1
        elif what == "step_end" and self._in_step():
            self.stream.step_end(self.now)
            while self.slices[self.open[-1]][1] != "step":
                self._end()
            self._end()

    def finish(self):
        while self.open:
            self.now += 1
            if self.slices[self.open[-1]][1] == "step":
                self.stream.step_end(self.now)
            else:
                self.stream.end(self.now)
            self._end()
        self.slices = [Slice(*row) for row in self.slices]


def innermost(slices, tick):
    """The row of the innermost slice at a tick; slices are in order of begin."""
    found = None
    for row, item in enumerate(slices):
        if item.begin <= tick < item.end:
            found = row
    return found


def around(slices, row, kind):
    """Rows from `row` outwards that are of a kind."""
    while row is not None:
        if slices[row].kind == kind:
            yield row
        row = slices[row].parent


def slow_steps(durations):
    """The number of leading steps that are slow beside the later half."""
    later = durations[len(durations) // 2:]
    middle = int(statistics.median(later))
    spread = int(statistics.median([abs(duration - middle) for duration in later]))
    limit = max(3 * 1.4826 * spread, 0.1 * middle)
    slow = [duration - middle > limit for duration in durations[:len(durations) // 2]]
    return [*slow, False].index(False) if len(later) >= 3 else 0


def is_warm_up(durations, step):
    """doc/metrics.md, section 6: the rule, for the steps of one thread."""
    asked = durations
    while slow_steps(asked) > max(5, len(durations) // 5):
        asked = asked[:len(asked) // 2]
    return step < slow_steps(asked)


def find_warm_up(threads):
    """(thread, row) of the steps that are warm-up."""
    found = set()
    for thread, slices in enumerate(threads):
        steps = [row for row, item in enumerate(slices) if item.kind == "step"]
        durations = [slices[row].end - slices[row].begin for row in steps]
        found |= {(thread, row) for index, row in enumerate(steps) if is_warm_up(durations, index)}
    return found


def step_around(threads, thread, begin):
    """(thread, row) of the step in which something begins: of its own thread, else the one that
    began last on any."""
    open_steps = [(number == thread, item.begin, -item.end if number == thread else 0, number, row)
                  for number, slices in enumerate(threads)
                  for row, item in enumerate(slices) if item.kind == "step"
                  and item.begin <= begin < item.end]
    return max(open_steps)[3:] if open_steps else None


class Reference:
    """What doc/metrics.md defines, counted nanosecond by nanosecond."""

    def __init__(self, threads, keeps_warm_up):
        warm_up = set() if keeps_warm_up else find_warm_up(threads)
        self.left_out = [{row for row, item in enumerate(slices)
                          if step_around(threads, thread, item.begin) in warm_up}
                         for thread, slices in enumerate(threads)]
        self.whole = collections.defaultdict(collections.Counter)
        self.in_steps = collections.defaultdict(collections.Counter)
        self.durations = collections.defaultdict(list)
        self.phases, self.steps = collections.Counter(), {}
        self.outside, self.step_outside = 0, 0
        for thread, slices in enumerate(threads):
            if all(item.kind == "phase" for item in slices):
                continue
            self._count_calls(thread, slices)
            for tick in range(max((item.end for item in slices), default=0)):
                self._count_tick(thread, slices, innermost(slices, tick))

    def _count_calls(self, thread, slices):
        for row, item in enumerate(slices):
            if row in self.left_out[thread]:
                continue
            if item.kind == "step":
                self.steps[thread, item.number, item.begin] = item.end - item.begin
            recursive = item.parent is not None and slices[item.parent].kind == "op" and \
                slices[item.parent].name == item.name
            if item.kind != "op" or recursive:
                continue
            in_step = next(around(slices, row, "step"), None) is not None
            scopes = [self.whole, self.in_steps] if in_step else [self.whole]
            self.durations[item.name].append(item.end - item.begin)
            for scope in scopes:
                scope[item.name]["calls"] += 1
                scope[item.name]["total_ns"] += item.end - item.begin

    def _count_tick(self, thread, slices, row):
        if row is None or row in self.left_out[thread]:
            return
        step = next(around(slices, row, "step"), None)
        if slices[row].kind == "op":
            self.whole[slices[row].name]["self_ns"] += 1
        else:
            self.outside += 1
        if step is None:
            return
        if slices[row].kind == "op" and row > step:
            self.in_steps[slices[row].name]["self_ns"] += 1
        else:
            self.step_outside += 1
        phases = [phase for phase in around(slices, row, "phase") if phase > step]
        self.phases[slices[phases[-1]].name if phases else None] += 1


def make_trace(folder, scripts):
    trace = trace_writer.Trace(folder / "random.varve")
    process = trace.process(pid=100)
    sites = {("op", name): process.site("begin", name, layer="OP") for name in NAMES}
    sites |= {("phase", name): process.site("begin", name, layer="STEP") for name in PHASES}
    threads = [Thread(process.thread(tid=100 + index), sites) for index in range(len(scripts))]
    for thread, script in zip(threads, scripts):
        for (what, name), pause in script:
            thread.play(what, name, pause)
        thread.finish()
    return trace.write(), [thread.slices for thread in threads]


def counted(rows, kind, *columns):
    """{name: {column: value}} of the rows of one kind that hold anything."""
    kept = {row["name"]: {column: row[column] or 0 for column in columns} for row in rows
            if row["row"] == kind}
    return {name: values for name, values in kept.items() if any(values.values())}


def nonzero(table):
    return {name: {column: values[column] for column in ("calls", "total_ns", "self_ns")}
            for name, values in table.items() if any(values.values())}


def check_operators(report, reference):
    rows = report["operators"]
    assert counted(rows, "operator", "calls", "total_ns", "self_ns") == nonzero(reference.whole)
    steps = counted(rows, "operator", "step_calls", "step_total_ns", "step_self_ns")
    assert {name: {column.removeprefix("step_"): value for column, value in values.items()}
            for name, values in steps.items()} == nonzero(reference.in_steps)
    for row in rows:
        if row["row"] == "operator" and row["calls"]:
            durations = reference.durations[row["name"]]
            assert row["median_ns"] == int(statistics.median(durations))
            assert (row["min_ns"], row["max_ns"]) == (min(durations), max(durations))
            assert row["mean_ns"] == sum(durations) // len(durations)
            assert row["deviation_ns"] == int(statistics.pstdev(durations))
    special = {row["row"]: row for row in rows if row["row"] != "operator"}
    if not rows:
        assert reference.outside == 0
        return
    assert special["outside"]["self_ns"] == reference.outside
    assert special["total"]["self_ns"] == sum(row["self_ns"] for row in rows
                                              if row["row"] != "total")
    if reference.steps:
        step_time = sum(reference.steps.values())
        assert special["outside"]["step_self_ns"] == reference.step_outside
        assert special["total"]["step_self_ns"] == step_time
        assert sum(row["step_self_ns"] for row in rows if row["row"] != "total") == step_time


def check_steps(report, steps, reference):
    phases = {(row["phase"] if row["row"] == "phase" else None): row["total_ns"]
              for row in report["phases"] if row["row"] != "total"}
    assert {name: ns for name, ns in phases.items()
            if ns} == {name: ns for name, ns in reference.phases.items() if ns}
    shown = {(int(row["thread"].removeprefix("thread ")) - 100, row["step"],
              row["begin_ns"] - trace_writer.EPOCH_NS): row["duration_ns"]
              for row in steps["steps"]}
    assert shown == reference.steps
    by_step = collections.Counter()
    for row in steps["step_phases"]:
        by_step[row["thread"], row["step"]] += row["duration_ns"]
    for row in steps["steps"]:
        assert by_step[row["thread"], row["step"]] == row["duration_ns"]
        parts = [value or 0 for column, value in row.items() if column.startswith("in_")
                 or column == "other_ns"]
        assert sum(parts) == row["duration_ns"]
    assert sum(row["self_ns"] for row in steps["steps"]) == reference.step_outside
    assert report["step"][0]["total_ns"] == sum(reference.steps.values())


@hypothesis.settings(max_examples=60, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(scripts=strategies.lists(ACTIONS, min_size=1, max_size=3))
def test_sums_are_those_of_the_reference(varve, scripts):
    with tempfile.TemporaryDirectory() as folder:
        path, threads = make_trace(pathlib.Path(folder), scripts)
        reference, default = Reference(threads, True), Reference(threads, False)
        report = table_reader.tables(varve, "report", "--warm-up", "--top", 0, path)
        steps = table_reader.tables(varve, "steps", "--warm-up", path)
        without = table_reader.tables(varve, "report", "--top", 0, path)
    check_operators(report, reference)
    check_steps(report, steps, reference)
    check_operators(without, default)
    assert (without["step"][0]["total_ns"] or 0) == sum(default.steps.values())


def sum_of(rows, column):
    return sum(row[column] or 0 for row in rows)


@hypothesis.settings(max_examples=40, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.example(slow=[900] + 12 * [100], usual=18 * [20])
@hypothesis.given(slow=strategies.lists(strategies.integers(20, 200), max_size=14),
                  usual=strategies.lists(strategies.integers(18, 24), min_size=1, max_size=18))
def test_warm_up_steps_are_left_out(varve, slow, usual):
    durations = slow + usual
    with tempfile.TemporaryDirectory() as folder:
        trace = trace_writer.Trace(pathlib.Path(folder) / "warm.varve")
        process = trace.process(pid=100)
        site, thread, now = process.site("begin", "conv"), process.thread(tid=100), 0
        for step, duration in enumerate(durations):
            thread.step_begin(step, now)
            thread.begin(site, now + 5)
            thread.end(now + duration - 5)
            thread.step_end(now + duration)
            now += duration + 1
        thread.begin(site, now)
        thread.end(now + 7)
        path = trace.write()
        report = table_reader.tables(varve, "report", path)
        steps = table_reader.tables(varve, "steps", path)
        every = table_reader.tables(varve, "report", "--warm-up", path)
    warm = [is_warm_up(durations, step) for step in range(len(durations))]
    assert [row["warm_up"] for row in steps["steps"]] == warm
    kept = [duration for duration, is_left_out in zip(durations, warm) if not is_left_out]
    assert report["step"][0]["steps"] == len(kept)
    assert report["step"][0]["total_ns"] == sum(kept)
    total = [row for row in report["operators"] if row["row"] == "total"]
    assert sum_of(total, "step_self_ns") == sum(kept)
    assert sum_of(total,
                  "calls") == len(kept) + 1, "what lies outside steps counts, whatever is left out"
    assert sum_of(total, "self_ns") == sum(kept) + 7
    assert every["step"][0]["total_ns"] == sum(durations)


def training(folder, steps=30, kinds=40):
    """A trace of `steps` steps on thread "main" with `kinds` operators each."""
    trace = trace_writer.Trace(folder / "training.varve")
    process = trace.process(pid=100)
    sites = [process.site("begin", f"op {kind}") for kind in range(kinds)]
    main = process.thread(tid=100)
    process.thread_name(100, "main")
    now = 0
    for step in range(steps):
        main.step_begin(step, now)
        for kind, site in enumerate(sites):
            main.begin(site, now + 10)
            main.end(now + 20 + kind)
            now += 30 + kind
        now += 100
        main.step_end(now)
        now += 5
    return trace.write()


def test_groupings_and_cuts_leave_the_totals(varve, tmp_path):
    path = training(tmp_path)
    totals = set()
    for by in ("op", "name", "shape", "thread", "phase"):
        for top in (0, 1, 7, 40, 41):
            rows = table_reader.tables(varve, "report", "--by", by, "--top", top, path)["operators"]
            total = next(row for row in rows if row["row"] == "total")
            for column in ("self_ns", "step_self_ns", "calls", "step_calls"):
                assert sum(row[column] or 0 for row in rows
                           if row["row"] != "total") == total[column]
            totals.add((total["self_ns"], total["step_self_ns"], total["calls"]))
            assert sum(row["row"] == "operator" for row in rows) == (min(top, 40) if top else 40)
    assert len(totals) == 1


def test_ranges_of_steps_add_up_to_the_whole(varve, tmp_path):
    path = training(tmp_path)

    def step_time(*arguments):
        return table_reader.tables(varve, "report", *arguments, path)["step"][0]["total_ns"]
    assert step_time("--steps", "..9") + step_time("--steps",
                                                   "10..19") + step_time("--steps",
                                                                         "20..") == step_time()
    rows = table_reader.tables(varve, "report", "--steps", "3", "--top", 0, path)["operators"]
    assert {row["calls"] for row in rows if row["row"] == "operator"} == {1}

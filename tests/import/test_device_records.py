# SPDX-License-Identifier: Apache-2.0
"""Records of devices (doc/format.md §6): clocks, tracks, activities, launches. What two writers put
into a trace, every reader finds, and the model has it at the right instants, under the right
calls."""
import collections
import json
import pathlib
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS / "import"),
                str(TESTS.parent / "tools")]

import trace_writer  # noqa: E402
import varve_decode  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402
from test_varve_format import babeltrace_count  # noqa: E402

GPU = 2 << 16 | 1
EPOCH = trace_writer.EPOCH_NS
DAY_NS = 86400 * 10**9


def dump(path):
    """{table: [row]} of the model."""
    done = subprocess.run([binary("tests/tools/model_dump"), path], capture_output=True, text=True,
                          check=True)
    found = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        found[row.pop("table")].append(row)
    return found


def work_of(path):
    """[(name, begin, duration, activity)] of the slices on devices, times after EPOCH."""
    model = dump(path)
    return [(row["name"], row["begin_ns"] - EPOCH, row["duration_ns"],
             model["activities"][row["activity"]])
            for row in model["slices"] if model["tracks"][row["track"]]["kind"] == 2]


@pytest.fixture
def made(tmp_path):
    """made() gives (trace, process, thread): the thread has a range "launch" with correlation 7 in
    an operator."""
    def make():
        trace = trace_writer.Trace(tmp_path / "d.varve")
        process = trace.process(pid=100)
        conv = process.site("begin", "conv", layer="OP")
        launch = process.site("begin", "launch", layer="RUNTIME")
        thread = process.thread(tid=100)
        thread.begin(conv, at=1000)
        thread.begin(launch, at=1010)
        thread.launch(7, at=1011)
        thread.end(at=1020)
        thread.end(at=1100)
        return trace, process, thread
    return make


def test_every_reader_finds_them(varve, made):
    trace, process, thread = made()
    process.device_clock(16, "beats", frequency_hz=10**6, resolution_ns=1000)
    process.clock_pair(16, 500, 100_000, 200, at=2000)
    process.track(1, "queue", 16, (GPU, 4, 9), at=2000)
    thread.activity(1, "gemm", (510, 530), at=3000, correlation=7)
    thread.activity(1, "Memcpy HtoD", (540, 545), at=3001, kind="copy", size=4096)
    path = trace.write()
    decoded = varve_decode.open_trace(str(path))
    assert decoded.problems == []
    names = varve_decode.counts(decoded)["by_name"]
    assert [names["varve." + name] for name in ("device_clock", "clock_pair", "track", "activity",
                                                "launch")] == [1, 1, 1, 2, 1]
    if (count := babeltrace_count(path)) is not None:
        assert count == trace.records
    (first, second) = work_of(path)
    assert first[:3] == ("gemm", 100_000 + 10_000, 20_000)
    assert second[:3] == ("Memcpy HtoD", 100_000 + 40_000, 5_000)
    model = dump(path)
    launch = next(row for row in model["slices"] if row["name"] == "launch")
    conv = next(row for row in model["slices"] if row["name"] == "conv")
    assert model["slices"][first[3]["launch"]] == launch and first[3]["correlation"] == 7
    assert model["slices"][first[3]["caller"]] == conv
    assert (second[3]["launch"], second[3]["bytes"], second[3]["context"],
            second[3]["stream"], second[3]["device"]) == (None, 4096, 4, 9, GPU)
    (clock,) = tables(varve, "info", path)["clocks"]
    assert clock == {"clock": "beats", "process": 100, "uncertainty_ns": 200, "resolution_ns": 1000,
                     "pairs": 1, "left_out": 0, "instants": 4}


LAUNCHED = {"correlation": 7, "grid": (8, 4, 2**32 - 1), "block": (128, 2, 1), "registers": 40,
            "shared": 3072}


def launch_of(thread, span, at, form):
    """A kernel as varve.kernel, or as varve.activity with varve.args: the same."""
    if form == "kernel":
        thread.kernel(1, "gemm", span, at=at, **LAUNCHED)
        return
    thread.activity(1, "gemm", span, at=at, correlation=7)
    thread.args([("grid", "ints", list(LAUNCHED["grid"])),
                 ("block", "ints", list(LAUNCHED["block"])),
                 ("registers per thread", "int", 40), ("shared memory", "int", 3072)], at=at,
                subject=1)


def test_a_kernel_is_the_activity_with_the_arguments_of_its_launch(made):
    models = []
    for form in ("kernel", "activity"):
        trace, process, thread = made()
        process.track(1, "queue", "ticks", (GPU, 4, 9))
        for begin in (2000, 3000):
            launch_of(thread, (begin, begin + 400), at=4000 + begin, form=form)
        thread.args([("more", "int", 1)], at=8000, subject=1)
        path = trace.write()
        decoded = varve_decode.open_trace(str(path))
        assert decoded.problems == []
        names = varve_decode.counts(decoded)["by_name"]
        assert names["varve." + form] == 2
        if (count := babeltrace_count(path)) is not None:
            assert count == trace.records
        models.append(dump(path))
        shutil.rmtree(path)
    assert [row for row in models[0]["slices"] if row["name"] == "gemm"][1]["args"] == [
        ["grid", "[8, 4, 4294967295]"], ["block", "[128, 2, 1]"], ["registers per thread", 40],
        ["shared memory", 3072], ["more", 1]]
    for table in ("slices", "activities", "tracks"):
        assert models[0][table] == models[1][table]


def test_a_kernel_that_cannot_be_placed_is_counted(varve, made):
    """Its track was lost; its end is after the last instant. Arguments behind it are nobody's."""
    trace, process, thread = made()
    process.track(1, "queue", "ticks", GPU)
    thread.kernel(9, "nowhere", (1, 2), at=3000)
    thread.args([("whose", "int", 1)], at=3000, subject=1)
    thread.kernel(1, "too late", (2**63 - 2, 2**63 + 2**32 - 3), at=3001)
    path = trace.write()
    assert work_of(path) == []
    found = {row["finding"]: row["count"] for row in tables(varve, "info", path)["health"]}
    assert found["unplaced"] == 2
    texts = [problem.text for problem in varve_decode.open_trace(str(path)).problems]
    assert texts == ["track 9 of varve.kernel is not there"]


def test_a_range_that_starts_several_has_them_all(made):
    trace, process, thread = made()
    graph = process.site("begin", "graph launch", layer="RUNTIME")
    thread.begin(graph, at=2000)
    for correlation in (11, 12, 13):
        thread.launch(correlation, at=2001)
    thread.end(at=2100)
    process.track(1, "queue", "ticks", GPU, at=2100)
    for correlation in (13, 12, 11, 14):
        thread.activity(1, f"kernel {correlation}", (2200 + correlation, 2300), at=2400,
                        correlation=correlation)
    model = dump(trace.write())
    launched = {row["name"]: model["activities"][row["activity"]]["launch"]
                for row in model["slices"] if row["name"].startswith("kernel")}
    graph = next(index for index, row in enumerate(model["slices"])
                 if row["name"] == "graph launch")
    assert launched == {"kernel 11": graph, "kernel 12": graph, "kernel 13": graph,
                        "kernel 14": None}


def test_processes_may_use_the_same_numbers(made):
    trace, process, thread = made()
    process.track(1, "queue", "ticks", GPU)
    thread.activity(1, "first", (2000, 2100), at=2200, correlation=7)
    other = trace.process(pid=200)
    other.track(1, "queue", "ticks", GPU)
    stream = other.thread(tid=200)
    stream.begin(other.site("begin", "its launch", layer="RUNTIME"), at=1500)
    stream.launch(7, at=1501)
    stream.end(at=1600)
    stream.activity(1, "second", (2000, 2100), at=2200, correlation=7)
    path = trace.write()
    model = dump(path)
    assert {name: model["slices"][activity["launch"]]["name"]
            for name, _, _, activity in work_of(path)} == {"first": "launch",
                                                           "second": "its launch"}


def test_an_operator_that_launches_has_the_work(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "d.varve")
    process = trace.process(pid=100)
    outer, inner = (process.site("begin", name, layer="OP") for name in ("outer", "inner"))
    thread = process.thread(tid=100)
    process.track(1, "queue", "ticks", GPU)
    thread.begin(outer, at=1000)
    thread.begin(inner, at=1010)
    thread.launch(7, at=1011)
    thread.end(at=1020)
    thread.end(at=1100)
    thread.activity(1, "gemm", (2000, 2400), at=3000, correlation=7)
    rows = {row["name"]: row["device_self_ns"]
            for row in tables(varve, "report", trace.write())["operators"]}
    assert (rows["inner"], rows["outer"]) == (400, 0)


def test_what_cannot_be_placed_is_counted(varve, made):
    trace, process, thread = made()
    process.device_clock(16, "never read")
    process.track(1, "of no time", 16, GPU)
    process.track(2, "queue", "ticks", GPU)
    thread.activity(1, "nowhen", (1, 2), at=3000)
    thread.activity(9, "nowhere", (1, 2), at=3001)
    thread.activity(2, "before its begin", (2000, 1990), at=3002)
    thread.activity(2, "of a later kind", (2100, 2200), at=3003, kind=77)
    path = trace.write()
    assert [(name, begin, duration, activity["kind"])
            for name, begin, duration, activity in work_of(path)] == [
                ("before its begin", 2000, 0, 1), ("of a later kind", 2100, 100, 6)]
    found = {row["finding"]: row["count"] for row in tables(varve, "info", path)["health"]}
    assert (found["unplaced"], found["negative"]) == (2, 1)
    texts = [problem.text for problem in varve_decode.open_trace(str(path)).problems]
    assert texts == ["track 9 of varve.activity is not there", "unknown kind in varve.activity"]


def test_counters_of_devices(varve, made, tmp_path):
    """In order of time, each track's for itself; what has no instant is counted."""
    trace, process, thread = made()
    process.device_clock(16, "never read")
    process.track(1, "queue 1", "ticks", GPU, at=2000)
    process.track(2, "queue 2", "ticks", GPU, at=2000)
    process.track(3, "of no time", 16, GPU, at=2000)
    for track, time, value in ((2, 2400, 8.5), (1, 2300, 2.25), (1, 2100, 1.5), (9, 1, 1.0),
                               (3, 2200, 4.0), (2, 2200, float("nan")), (1, 2200, -1.0)):
        thread.device_counter(track, "power (W)", time, value, at=3000)
    path = trace.write()
    decoded = varve_decode.open_trace(str(path))
    assert [problem.text for problem in decoded.problems] == [
        "track 9 of varve.device_counter is not there"]
    assert varve_decode.counts(decoded)["by_name"]["varve.device_counter"] == 7
    if (count := babeltrace_count(path)) is not None:
        assert count == trace.records
    model = dump(path)
    assert [(model["tracks"][row["track"]]["name"], row["time_ns"] - EPOCH, row["value"],
             row["name"], row["series"]) for row in model["counters"]] == [
        (f"queue {track}", time, value, "power (W)", f"opencl:1 queue {track}")
        for track, time, value in ((1, 2100, 1.5), (2, 2200, None), (1, 2200, -1),
                                   (1, 2300, 2.25), (2, 2400, 8.5))]
    found = {row["finding"]: row["count"] for row in tables(varve, "info", path)["health"]}
    assert found["unplaced"] == 2


def test_a_pair_at_which_a_clock_ran_backwards_is_left_out(varve, made):
    trace, process, thread = made()
    process.device_clock(16, "reset once")
    for value, ticks in ((1000, 10_000), (2000, 11_000), (500, 12_000), (4000, 13_000)):
        process.clock_pair(16, value, ticks, at=ticks)
    process.track(1, "queue", 16, GPU, at=13_000)
    thread.activity(1, "gemm", (3000, 3500), at=14_000)
    path = trace.write()
    assert work_of(path)[0][1:3] == (12_000, 500)
    (clock,) = tables(varve, "info", path)["clocks"]
    assert (clock["pairs"], clock["left_out"]) == (3, 1)


def placed(pairs, frequency_hz, value):
    """Where doc/format.md says that a value lies; `pairs` ascend in both."""
    if len(pairs) == 1:
        ((first, at_ns),) = pairs
        return at_ns + (value - first) * 10**9 // frequency_hz
    (first, first_ns), (last, last_ns) = pairs[0], pairs[-1]
    if first <= value < last:
        low = max(pair for pair in pairs if pair[0] <= value)
        high = min(pair for pair in pairs if pair[0] > value)
        return low[1] + (value - low[0]) * (high[1] - low[1]) // (high[0] - low[0])
    near, near_ns = pairs[0] if value < first else pairs[-1]
    return near_ns + (value - near) * (last_ns - first_ns) // (last - first)


PAIRS = strategies.lists(strategies.tuples(strategies.integers(-2**62, 2**62),
                                           strategies.integers(0, DAY_NS)), min_size=1, max_size=6)


@settings(max_examples=40)
@given(PAIRS, strategies.integers(1, 2**40), strategies.lists(strategies.integers(-2**62, 2**62),
                                                              min_size=1, max_size=8))
def test_clocks_are_placed_as_the_page_says(tmp_path_factory, pairs, frequency_hz, values):
    ascending = sorted(set(pairs), key=lambda pair: pair[1])
    kept = []
    for value, ticks in ascending:
        if not kept or value > kept[-1][0]:
            kept.append((value, ticks))
    trace = trace_writer.Trace(tmp_path_factory.mktemp("clocks") / "c.varve")
    process = trace.process(pid=100)
    process.device_clock(16, "odd", frequency_hz=frequency_hz)
    for value, ticks in ascending:
        process.clock_pair(16, value, ticks, at=ticks)
    process.track(1, "queue", 16, GPU)
    thread = process.thread(tid=100)
    for value in values:
        thread.activity(1, str(value), (value, value), at=DAY_NS + 1)
    expected = {str(value): EPOCH + placed(kept, frequency_hz, value) for value in values}
    found = {name: EPOCH + begin for name, begin, _, _ in work_of(trace.write())}
    assert found == {name: at for name, at in expected.items() if -2**62 < at < 2**62}


# ---- the library ----


@pytest.fixture
def recorded(tmp_path, varve):
    """recorded(ARGUMENTS…) records tests/programs/device_work; (exit code, truth of each piece)."""
    def run(*arguments, under=True):
        program = binary("tests/programs/device_work")
        command = [varve, "record", "-o", "t.varve", "--"] if under else []
        done = subprocess.run([*command, program, *map(str, arguments)], cwd=tmp_path,
                              env=quiet_environment(), capture_output=True, text=True, check=False)
        return done.returncode, [(name, int(begin), int(end), int(correlation))
                                 for name, begin, end, correlation in
                                 (line.split() for line in done.stdout.splitlines())]
    return run


def placed_right(path, truth):
    """Every piece lies where the program said, to within the clocks' uncertainty, under the launch
    that started it."""
    decoded = varve_decode.open_trace(str(path))
    assert decoded.problems == []
    (process,) = decoded.processes
    sample = next(record.fields for record in process.streams[0].records
                  if record.name == "varve.clock")
    offset_ns = process.ns(sample["ticks"]) - sample["monotonic_ns"]
    model = dump(path)
    found = {activity["correlation"]: (name, begin + EPOCH, duration, activity)
             for name, begin, duration, activity in work_of(path)}
    assert len(found) == len(truth)
    for name, begin_ns, end_ns, correlation in truth:
        what, at_ns, duration_ns, activity = found[correlation]
        assert what == ("Memcpy HtoD" if name == "copy" else "conv_kernel")
        assert abs(at_ns - offset_ns - begin_ns) <= 20_000
        assert abs(duration_ns - (end_ns - begin_ns)) <= 1000
        launch = model["slices"][activity["launch"]]
        assert launch["name"] == "launch" and launch["begin_ns"] < at_ns
        assert model["slices"][activity["caller"]]["name"] == "conv"
    starts = [model["slices"][found[correlation][3]["launch"]]["begin_ns"]
              for _, _, _, correlation in truth]
    assert starts == sorted(starts) and len(set(starts)) == len(starts)


@pytest.mark.parametrize("how, code", [("", 0), ("kill", 137)])
def test_what_the_library_records_is_where_it_was(recorded, tmp_path, how, code):
    exit_code, truth = recorded(200, how)
    assert exit_code == code and len(truth) == 400
    placed_right(tmp_path / "t.varve", truth)


def test_each_session_has_its_tracks(recorded, tmp_path):
    _, truth = recorded(3, "twice", under=False)
    placed_right(tmp_path / "first.varve", truth[:6])
    placed_right(tmp_path / "second.varve", truth[6:])


def test_a_forked_child_has_its_tracks(recorded, tmp_path):
    _, truth = recorded(2, "fork")
    work = work_of(tmp_path / "t.varve")
    assert collections.Counter(name for name, *_ in work) == {"conv_kernel": 3, "Memcpy HtoD": 2}
    begins = sorted(begin for name, begin, *_ in work if name == "conv_kernel")
    # the child's process has one pair of the device's clock, its parent's two
    assert begins[1] - begins[0] <= 1000 < begins[2] - begins[1]
    assert truth[0][0] == "kernel"

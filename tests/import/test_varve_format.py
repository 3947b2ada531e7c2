# SPDX-License-Identifier: Apache-2.0
"""What `varve` reads from traces that are written straight from doc/format.md: the counts are those
of the writer and of babeltrace2, the slices those of a slow and obvious reading of §7."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest
from hypothesis import given, settings, strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import golden_trace  # noqa: E402
import trace_writer  # noqa: E402
from table_reader import tables  # noqa: E402


def babeltrace_count(path):
    """How many events babeltrace2 reads."""
    program = shutil.which("babeltrace2")
    if program is None:
        pytest.skip("needs babeltrace2: apt-get install babeltrace2")
    done = subprocess.run([program, "--component=sink.utils.counter", path], capture_output=True,
                          text=True, check=True)
    events = [line for line in done.stdout.splitlines() if line.strip().endswith("Event messages")]
    return int(events[-1].split()[0]) if events else 0


def test_golden_trace(varve, tmp_path):
    trace = golden_trace.make(tmp_path / "golden.varve")
    path = trace.write()
    info = tables(varve, "info", path)
    row = info["trace"][0]
    assert row["events"] == trace.records == babeltrace_count(path) == 26
    assert row["lost"] == row["unfinished"] == row["truncated_files"] == 0
    assert (row["threads"], row["processes"], row["steps"], row["flows"]) == (2, 1, 1, 1)
    assert row["begin_ns"] == trace_writer.EPOCH_NS + 500
    assert row["duration_ns"] == 700
    report = {line["name"]: line for line in tables(varve, "report", path)["operators"]}
    assert report["conv2d"]["total_ns"] == report["conv2d"]["self_ns"] == 10
    assert report['we"ird\\n\n\x01é']["total_ns"] == 70
    assert report["decode"]["total_ns"] == 40
    assert tables(varve, "steps", path)["steps"][0]["duration_ns"] == 100


def test_one_process_folder_reads_alone(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "two.varve")
    for pid in (9, 10):
        process = trace.process(pid)
        site = process.site("begin", f"op of {pid}")
        process.thread(pid).begin(site, at=10)
    path = trace.write()
    assert tables(varve, "info", path)["trace"][0]["events"] == 2
    assert tables(varve, "info", path / "10")["trace"][0]["events"] == 1
    assert [row["process"] for row in tables(varve, "info", path)["processes"]] == [9, 10]


@pytest.mark.parametrize("site, cut", [(False, 0), (True, 1)])
def test_a_process_that_was_killed_before_its_first_record_lacks_nothing(varve, tmp_path, site,
                                                                         cut):
    """Metadata is there first. A site in it says that there was more."""
    trace = trace_writer.Trace(tmp_path / "none.varve")
    process = trace.process(9)
    if site:
        process.site("begin", "an op")
    path = trace.write()
    for stream in (path / "9").glob("*.*"):
        stream.unlink()
    assert [file.name for file in (path / "9").iterdir()] == ["metadata"]
    assert tables(varve, "info", path)["trace"][0]["truncated_files"] == cut
    assert subprocess.run([varve, "info", "--strict", path], stdout=subprocess.DEVNULL,
                          check=False).returncode == cut


# What a thread does next: (action, ticks since the one before).
ACTIONS = ["begin", "next", "begin_name", "end", "step_begin", "step_end", "lose", "new_packet",
           "new_part", "mark"]
RECORDS = strategies.lists(strategies.tuples(strategies.sampled_from(ACTIONS),
                                             strategies.integers(0, 50)),
                           max_size=40)


class Player:
    """Writes actions and builds the ranges by §7. Every range but steps has a name of its own."""

    def __init__(self, process, thread):
        self.process, self.thread = process, thread
        self.ranges, self.open = [], []  # [name, begin, end], open ones by their place in ranges
        self.last = None

    def close(self, count, end):
        for _ in range(count):
            self.ranges[self.open.pop()][2] = end

    def start(self, kind, now):
        name = "step" if kind == "step_begin" else f"{kind} {self.thread.tid}.{len(self.ranges)}"
        self.open.append(len(self.ranges))
        self.ranges.append([name, now, None])
        return name

    def begin(self, now):
        self.thread.begin(self.process.site("begin", self.start("begin", now)), at=now)

    def next(self, now):
        self.close(min(1, len(self.open)), now)
        self.thread.next(self.process.site("next", self.start("next", now)), at=now)

    def begin_name(self, now):
        self.thread.begin_name(self.start("begin_name", now), "HOST", at=now)

    def end(self, now):
        self.close(min(1, len(self.open)), now)
        self.thread.end(at=now)

    def step_begin(self, now):
        self.start("step_begin", now)
        self.thread.step_begin(1, at=now)

    def step_end(self, now):
        steps = [place for place, row in enumerate(self.open) if self.ranges[row][0] == "step"]
        self.close(len(self.open) - steps[-1] if steps else 0, now)
        self.thread.step_end(at=now)

    def mark(self, now):
        self.thread.mark(self.process.site("mark", "mark"), at=now)

    def lose(self, now):
        self.thread.lose(1, at=now)
        self.close(len(self.open), self.last)

    def new_packet(self, now):
        self.thread.new_packet(at=now)

    def new_part(self, _now):
        if self.thread.parts[-1]:
            self.thread.new_part()

    def play(self, actions):
        now = 100
        for action, ticks in actions:
            now += ticks
            getattr(self, action)(now)
            if action not in ("lose", "new_packet", "new_part"):
                self.last = now
        if not self.thread.parts[-1]:
            self.thread.new_packet(at=now)


@settings(max_examples=60)
@given(strategies.lists(RECORDS, min_size=1, max_size=3))
def test_random_threads_read_as_the_page_says(varve, threads):
    with tempfile.TemporaryDirectory() as folder:
        trace = trace_writer.Trace(pathlib.Path(folder) / "t.varve")
        process = trace.process(1)
        players = [Player(process, process.thread(tid + 1)) for tid in range(len(threads))]
        for player, actions in zip(players, threads):
            player.play(actions)
        path = trace.write()
        row = tables(varve, "info", path)["trace"][0]
        ranges = [line for player in players for line in player.ranges]
        assert row["events"] == trace.records
        assert row["lost"] == sum(action == "lose" for actions in threads for action, _ in actions)
        assert row["slices"] == len(ranges)
        lasts = [player.last for player in players] + [process.own.last_ticks]
        last = max((ticks for ticks in lasts if ticks is not None), default=0)
        durations = {name: (last if end is None else end) - begin for name, begin, end in ranges}
        durations.pop("step", None)
        operators = tables(varve, "report", path, "--top", 0)["operators"]
        seen = {line["name"]: line["total_ns"] for line in operators if line["row"] == "operator"}
        assert seen == durations
        steps = sorted((begin, (last if end is None else end) - begin)
                       for name, begin, end in ranges
                       if name == "step")
        assert steps == sorted((step["begin_ns"] - trace_writer.EPOCH_NS, step["duration_ns"])
                               for step in tables(varve, "steps", path)["steps"])


def test_babeltrace_counts_the_same_over_packets_and_parts(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "long.varve")
    process = trace.process(1)
    site = process.site("begin", "op")
    thread = process.thread(1)
    for i in range(12000):
        if i == 9000:
            thread.new_part()
        thread.begin(site, at=1000 + 20 * i)
        thread.end(at=1010 + 20 * i)
    thread.tail_bytes = 1 << 22
    path = trace.write()
    row = tables(varve, "info", path)["trace"][0]
    assert row["events"] == trace.records == babeltrace_count(path) == 24000
    operator = tables(varve, "report", path)["operators"][0]
    assert (operator["calls"], operator["total_ns"]) == (12000, 120000)

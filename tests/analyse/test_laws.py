# SPDX-License-Identifier: Apache-2.0
"""What holds for every table of the registry and of a diff, whatever the trace: the order of events
and their division into files change nothing, shifted times shift instants, stretched times stretch
durations, sums hold, --top cuts no total.

A new table is covered as soon as it stands in src/analyse/tables.c. What it cannot keep, ABSOLUTE
says, with the reason.
"""
import copy
import os
import pathlib
import random
import sys

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import all_tables  # pylint: disable=wrong-import-position
import kineto_writer  # pylint: disable=wrong-import-position
import made_training  # pylint: disable=wrong-import-position
import sum_laws  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position

SEEDS, STEPS = strategies.integers(0, 2**32), strategies.integers(0, 6)
GRAINS = strategies.sampled_from([1, 1000, 5000])
SOME = hypothesis.settings(max_examples=1000 if os.environ.get("VARVE_SOAK") == "1" else 40)

# Of a table, the columns that do not stretch with the times, and why not; None: no column does.
ABSOLUTE = {
    "trace": {"recorded": "a sentence about the time", "time": "the same"},
    "inputs": {"disk_bytes": "later times are longer numbers"},
    "advice": dict.fromkeys([None], "sentences with times, and rules with a limit in µs"),
    "graph": {"says": "sentences with times"},
    "devices": dict.fromkeys(["micro_idle_ns", "macro_idle_ns"], "a gap is short below 5 µs"),
    "idle_gaps": dict.fromkeys([None], "gaps below 5 µs have no row of their own"),
    "idle_streams": dict.fromkeys(["kernel_wait_ns", "other_wait_ns"], "HTA's 30 µs"),
    "launches": dict.fromkeys(["under_10_us", "calls_over_50_us", "delays_over_100_us"],
                              "as their names say"),
    "host_gaps": dict.fromkeys(["long_ns", "long_gaps", "tiny_ns", "tiny_calls"],
                               "long from 50 µs on, tiny below 20 µs"),
    "operators": dict.fromkeys(["step_lead_ns", "step_lead_share", "step_led_share"],
                               "gaps below 50 µs"),
    "blocks": dict.fromkeys(["odd_times", "odd"], "what is odd differs by 10 µs"),
    "outliers": dict.fromkeys([None], "an outlier differs by 10 µs"),
    "what_if": dict.fromkeys(["length_ns", "saved_ns", "speedup"],
                             "each edge is divided and rounded down"),
}
# equally long paths
ONE_OF_SEVERAL = ("critical", "critical_bound", "critical_ops", "critical_path", "what_if", "graph",
                  "graph_nodes", "graph_what_if", "verdict")
# down to a nanosecond, so that three times it may be 2 ns more
ROUNDED = ("mean_", "deviation_", "median_", "longer_")
FACTOR = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("laws")


def write(folder, events, name="made.json", rank=None):
    return kineto_writer.write(folder / name, events, made_training.head(rank))


def moved(events, shift_ns=0, factor=1):
    """The same events at other times."""
    out = []
    for event in events:
        times = {"ts": factor * event["ts"] + shift_ns} if "ts" in event else {}
        times |= {"dur": factor * event["dur"]} if "dur" in event else {}
        out.append(event | times)
    return out


def without(tables, *names):
    return {name: table for name, table in tables.items() if name not in names}


def assert_same(found, wanted):
    """Rows, their order and the policies."""
    assert list(found) == list(wanted)
    for name, table in wanted.items():
        assert found[name].policy == table.policy, name
        assert found[name].rows == table.rows, name
        assert found[name].kinds == table.kinds, name


def shuffled(events, seed):
    events = copy.copy(events)
    random.Random(seed).shuffle(events)
    return events


@SOME
@hypothesis.given(seed=SEEDS, steps=STEPS, grain=GRAINS)
def test_the_order_of_events_changes_no_table(build, folder, seed, steps, grain):
    events = made_training.events(seed, steps, grain)
    whole = all_tables.read(build, write(folder, events))
    other = all_tables.read(build, write(folder, shuffled(events, seed)))
    # texts may have been kept twice meanwhile
    assert_same(without(other, "tables"), without(whole, "tables"))


@SOME
@hypothesis.given(seed=SEEDS, steps=strategies.integers(2, 6), grain=GRAINS)
def test_parts_of_one_trace_are_the_whole(build, folder, seed, steps, grain):
    """Names, and flows with both their ends, stand in one part; a call may stand in another one
    than its kernel."""
    events, deal = made_training.events(seed, steps, grain), random.Random(seed)
    whole = all_tables.read(build, write(folder, events))
    parts = [[], []]
    for event in events:
        if event["ph"] == "M":
            parts[0].append(event)
            parts[1].append(event)
        else:
            parts[0 if event["ph"] in "sf" else deal.randrange(2)].append(event)
    split = all_tables.read(build, *[write(folder, part, f"part{n}.json")
                                     for n, part in enumerate(parts)])
    for tables in (whole, split):
        # the names of processes and threads are events of both files
        for name in ("trace", "processes"):
            for row in tables[name].rows:
                del row["events"]
    assert_same(without(split, "inputs", "tables"), without(whole, "inputs", "tables"))


@SOME
@hypothesis.given(seed=SEEDS, grain=GRAINS)
def test_the_order_of_ranks_on_the_command_line_changes_no_table(build, folder, seed, grain):
    """Steps that begin at the same instant stand in the order of their files: these do not."""
    paths = [write(folder, moved(made_training.events(seed + rank, 3, grain), 37 * rank),
                   f"rank{rank}.json", rank)
             for rank in range(2)]
    one, other = all_tables.read(build, *paths), all_tables.read(build, *reversed(paths))
    lengths = [[(row["window_ns"], row["path_ns"]) for row in tables["critical"].rows]
               for tables in (one, other)]
    assert lengths[0] == lengths[1]
    assert_same(without(other, "inputs", "tables", *ONE_OF_SEVERAL),
                without(one, "inputs", "tables", *ONE_OF_SEVERAL))
    sum_laws.check_all(one)


def shifted_back(tables, shift_ns):
    """Instants as they were; the date in words is not compared."""
    for table in tables.values():
        for row in table.rows:
            for column, unit in table.units.items():
                if unit == "time" and row[column] is not None:
                    row[column] -= shift_ns
            row.pop("recorded", None)
    return tables


@SOME
@hypothesis.given(seed=SEEDS, steps=STEPS, grain=GRAINS,
                  shift_ns=strategies.sampled_from([1, 123456789, 1763700000 * 10**9]))
def test_shifted_times_shift_instants_alone(build, folder, seed, steps, grain, shift_ns):
    events = made_training.events(seed, steps, grain)
    before = shifted_back(all_tables.read(build, write(folder, events)), 0)
    after = shifted_back(all_tables.read(build, write(folder, moved(events, shift_ns))), shift_ns)
    assert_same(without(after, "inputs"), without(before, "inputs"))


def is_stretched(column, unit, before, after, row):
    """Is the one value three times the other, as far as its unit goes with time?"""
    if before is None or after is None or isinstance(before, str):
        return before == after
    if unit in ("ns", "time"):
        # Of the mean step, other_ns keeps what rounding the others leaves.
        slack_ns = 20 if row.get("row") == "average" else 2 if column.removeprefix(
            "step_").startswith(ROUNDED) else 0
        return abs(after - FACTOR * before) <= slack_ns
    if unit.endswith("/s"):
        return after == pytest.approx(before / FACTOR)
    return after == pytest.approx(before, rel=1e-3 if row.get("row") == "average" else 1e-9)


def assert_stretched(before, after):
    for name, table in before.items():
        absolute = ABSOLUTE.get(name, {})
        if None in absolute:
            continue
        assert len(after[name].rows) == len(table.rows), name
        for row, other in zip(table.rows, after[name].rows):
            for column, unit in table.units.items():
                assert column in absolute or is_stretched(column, unit, row[column], other[column],
                                                          row), (name, column, row, other)


@SOME
@hypothesis.given(seed=SEEDS, steps=STEPS)
def test_stretched_times_stretch_durations(build, folder, seed, steps):
    """Times are whole tenths of microseconds, so that percentiles are whole nanoseconds."""
    events = made_training.events(seed, steps, 100)
    before = all_tables.read(build, write(folder, events))
    assert_stretched(before, all_tables.read(build, write(folder, moved(events, 0, FACTOR))))


@SOME
@hypothesis.given(seed=SEEDS, steps=STEPS, grain=GRAINS, top=strategies.integers(1, 3))
def test_sums_hold_and_top_cuts_none(build, folder, seed, steps, grain, top):
    path = write(folder, made_training.events(seed, steps, grain))
    whole, cut = all_tables.read(build, path), all_tables.read(build, "--top", top, path)
    sum_laws.check_all(whole)
    sum_laws.check_all(cut)
    for name, table in whole.items():
        def totals(of):
            return [row for row, kind in zip(of.rows, of.kinds) if kind == all_tables.TOTAL]
        assert totals(cut[name]) == totals(table), name
    if steps > 2:
        sum_laws.check_all(all_tables.read(build, "--steps", "0..1", path), counts_warm_up=True,
                           is_whole=False)
    if any(row["tid"] == 2 for row in whole["threads"].rows):
        sum_laws.check_all(all_tables.read(build, "--thread", "2", path), is_whole=False)
    if whole["devices"].rows:
        sum_laws.check_all(all_tables.read(build, "--device", whole["devices"].rows[0]["device"],
                                           path))


def test_sums_hold_on_real_traces(build, traces):
    """Whatever is read, with every row and with one."""
    read = 0
    for path in sorted(traces.rglob("*")):
        if path.suffix in (".json", ".gz", ".pb", ".sqlite"):
            for arguments in ([], ["--top", "1"]):
                done = all_tables.run(build, *arguments, path, timeout=120)
                if done.returncode == 0:
                    sum_laws.check_all(all_tables.parse(done.stdout))
                    read += 1
    assert read > 100


# ---- differences ----

@SOME
@hypothesis.given(seed=SEEDS, steps=strategies.tuples(STEPS, STEPS), grain=GRAINS)
def test_differences(build, folder, seed, steps, grain):
    """Neither the order of events nor when a side ran changes a difference; the sums hold; the
    other way round it is the opposite."""
    sides = [made_training.events(seed + n, count, grain) for n, count in enumerate(steps)]
    paths = [write(folder, events, f"side{n}.json") for n, events in enumerate(sides)]
    there, back = all_tables.read(build, "--diff", *paths), all_tables.read(build, "--diff",
                                                                            *reversed(paths))
    sum_laws.check_all(there)
    assert back["diff"].rows[0]["change_ns"] == -there["diff"].rows[0]["change_ns"]
    for name, wanted in (("diff_operators", "change_ns"), ("diff_kernels", "change_ns")):
        def changes(tables, sign):
            return sorted((row["name"], row["shapes"] or "", sign * row[wanted])
                          for row in tables[name].rows)
        assert changes(back, -1) == changes(there, 1), name
    others = [write(folder, shuffled(sides[0], seed), "side0.json"),
              write(folder, moved(sides[1], 10**15), "side1.json")]
    assert_same(all_tables.read(build, "--diff", *others), there)


# ---- a trace of ours ----

def record(path, seed, shift_ns, factor):
    """Two threads with steps, phases, operators and allocations at random times."""
    draw, trace = random.Random(seed), trace_writer.Trace(path, trace_writer.manifest())
    process = trace.process(pid=100)
    sites = [process.site("begin", name, layer=layer)
             for name, layer in [("conv", "OP"), ("relu", "OP"), ("forward", "STEP")]]
    for tid in (100, 101):
        thread, now, held = process.thread(tid=tid), 1000, []
        def tick():
            nonlocal now
            now += 100 * draw.randint(1, 200)
            return factor * now + shift_ns
        for index in range(draw.randint(1, 5)):
            thread.step_begin(index, tick())
            for site in draw.choices(sites, k=draw.randrange(8)):
                thread.begin(site, tick())
                if draw.random() < 0.5:
                    held.append(len(held) + 1000 * tid)
                    thread.alloc(held[-1], draw.randint(1, 10**6), tick())
                elif held:
                    thread.free(held.pop(), tick())
                if draw.random() < 0.5:
                    thread.begin(sites[0], tick())
                    thread.end(tick())
                thread.end(tick())
            thread.step_end(tick())
    return trace.write()


@SOME
@hypothesis.given(seed=SEEDS)
def test_the_laws_hold_for_a_trace_of_ours(build, folder, seed):
    path = folder / "made.varve"
    before = all_tables.read(build, record(path, seed, 0, 1))
    sum_laws.check_all(before)
    sum_laws.check_all(all_tables.read(build, "--top", "1", path))
    after = shifted_back(all_tables.read(build, record(path, seed, 10**7, 1)), 10**7)
    assert_same(without(after, "inputs"), without(shifted_back(copy.deepcopy(before), 0), "inputs"))

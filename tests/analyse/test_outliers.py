# SPDX-License-Identifier: Apache-2.0
"""Table outliers against a plain reference, and what it says of what ran meanwhile."""
import collections
import json
import pathlib
import statistics
import subprocess
import sys

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position


def outliers(varve, path, *arguments):
    return table_reader.tables(varve, "report", "--table", "outliers", *arguments, path)["outliers"]


def write(path, events):
    path.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "pid": 1, "tid": 1, "cat": "cpu_op", **event} for event in events]}))
    return path


def middle(values):
    return int(statistics.median(values))


@hypothesis.settings(max_examples=25, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(calls=strategies.lists(strategies.tuples(
    strategies.sampled_from(["aten::mm", "aten::add"]), strategies.sampled_from([[2, 2], [4, 4]]),
    strategies.one_of(strategies.integers(50, 55), strategies.integers(1, 120))), max_size=40))
def test_they_are_those_of_the_reference(varve, tmp_path_factory, calls):
    events, groups, now = [], collections.defaultdict(list), 0
    for name, shape, duration in calls:
        events.append({"name": name, "ts": now, "dur": duration,
                       "args": {"Input Dims": [shape], "Input type": ["float"]}})
        groups[name, str(shape)].append(duration * 1000)
        now += 200
    path = write(tmp_path_factory.mktemp("outliers") / "made.json", events)
    expected = collections.Counter()
    for (name, _), values in groups.items():
        spread = middle([abs(value - middle(values)) for value in values])
        for value in values:
            excess = value - middle(values)
            if len(values) >= 5 and abs(excess) > max(3.5 * 1.4826 * spread, 10000):
                expected[name, value, middle(values), spread, excess, len(values)] += 1
    rows = outliers(varve, path)
    found = collections.Counter(
        tuple(row[column] for column in ("name", "duration_ns", "median_ns", "deviation_ns",
                                         "excess_ns", "calls"))
        for row in rows if row["row"] == "outlier")
    assert found == expected
    if rows:
        assert rows[-1]["row"] == "total"
        assert rows[-1]["excess_ns"] == sum(row["excess_ns"] for row in rows[:-1])
        shown = outliers(varve, path, "--top", "1")
        assert shown[0]["excess_ns"] == max((row["excess_ns"] for row in rows[:-1]), key=abs)
        assert sum(row["excess_ns"] for row in shown[:-1]) == rows[-1]["excess_ns"]


def test_what_ran_meanwhile(varve, tmp_path):
    """The fifth kernel runs beside a copy on another stream; the third operator holds an
    allocation."""
    events = []
    for i in range(8):
        inside = 300 if i == 2 else 5
        events += [{"name": "aten::mm", "ts": 1000 * i, "dur": 50 + inside},
                   {"name": "cudaMalloc", "cat": "cuda_runtime", "ts": 1000 * i + 10,
                    "dur": inside},
                   {"name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "ts": 1000 * i + 100,
                    "dur": 400 if i == 4 else 100, "args": {"device": 0, "stream": 7}}]
    events += [{"name": "Memcpy HtoD", "cat": "gpu_memcpy", "pid": 0, "tid": 9, "ts": 4250,
                "dur": 150, "args": {"device": 0, "stream": 9}}]
    rows = outliers(varve, write(tmp_path / "made.json", events))
    found = {row["name"]: (row["excess_ns"], row["cause_kind"], row["cause"], row["cause_ns"])
             for row in rows
             if row["row"] == "outlier"}
    assert found == {"gemm": (300000, "beside", "Memcpy HtoD", 150000),
                     "aten::mm": (295000, "inside", "cudaMalloc", 300000)}


def clocked(counters, slow_us=400):
    """Eight kernels of 200 us on device 0, the fifth of slow_us, at 4100; and operators, the
    seventh of 150 us at 6000."""
    events = []
    for i in range(8):
        events += [{"name": "aten::mm", "ts": 1000 * i, "dur": 150 if i == 6 else 50},
                   {"name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "ts": 1000 * i + 100,
                    "dur": slow_us if i == 4 else 200, "args": {"device": 0, "stream": 7}}]
    return events + [{"ph": "C", "cat": "c", "name": name, "ts": at, "pid": pid,
                      "args": {series: value}}
                     for name, series, pid, values in counters for at, value in values]


def causes(varve, path):
    return {row["name"]: tuple(row[column] for column in ("frequency", "median_frequency",
                                                          "cause_kind", "cause", "cause_ns"))
            for row in outliers(varve, path) if row["row"] == "outlier"}


def test_a_slow_clock_is_a_cause(varve, tmp_path):
    gpu = ("GPU 0 Frequency (MHz)", "value", 0, [(0, 1410), (4200, 705), (4600, 1410)])
    other = ("GPU 1 Frequency (MHz)", "value", 0, [(0, 10), (4000, 5)])
    cpus = [(f"CPU {n}", "MHz", 1, [(0, 3000), (5900, 800 + 200 * n), (6900, 3000)])
            for n in range(2)]
    found = causes(varve, write(tmp_path / "made.json", clocked([gpu, other, *cpus])))
    mean = (100 * 1410 + 300 * 705) / 400     # over 4100 .. 4500
    assert found == {
        "gemm": (pytest.approx(mean), 1410, "frequency", "GPU 0 Frequency (MHz)",
                 int(400_000 * (1 - mean / 1410))),
        # the processors' mean; only their series says what it is
        "aten::mm": (900, 3000, "frequency", "MHz", 105_000)}
    assert found["gemm"][4] == 150_000


def test_what_the_clock_does_not_account_for(varve, tmp_path):
    """Less than half of the excess; a clock not known in time; a faster clock of a faster
    kernel."""
    found = causes(varve, write(tmp_path / "a.json",
                                clocked([("GPU clock", "value", 0,
                                          [(0, 100), (4000, 80), (4600, 100)])])))
    assert found["gemm"] == (80, 100, None, None, None)
    found = causes(varve, write(tmp_path / "b.json",
                                clocked([("GPU clock", "value", 0, [(4200, 80), (9000, 1)])])))
    assert found["gemm"] == (None,) * 5
    found = causes(varve, write(tmp_path / "c.json",
                                clocked([("sclk_clock", "value", 0,
                                          [(0, 100), (4000, 200), (4600, 100)])], 100)))
    assert found["gemm"] == (200, 100, "frequency", "sclk_clock", -100_000)
    found = causes(varve, write(tmp_path / "d.json",
                                clocked([("wall clock", "value", 0, [(0, 100), (4000, 50)])])))
    assert found["gemm"] == (None,) * 5
    shown = subprocess.run([varve, "report", "--table", "outliers", tmp_path / "d.json"],
                           capture_output=True, text=True,
                           check=True).stdout
    assert "clock" not in shown

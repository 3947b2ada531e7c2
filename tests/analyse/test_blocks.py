# SPDX-License-Identifier: Apache-2.0
"""Tables blocks and block_positions: the known answers, and their laws on made traces."""
import json
import pathlib
import statistics
import sys

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position


def table(varve, name, *arguments):
    return table_reader.tables(varve, "report", "--table", name, *arguments)[name]


@pytest.mark.parametrize("trace, length, of, period, start, times", [
    ("h100_gaunernst", 49, 61, 12, 9, 4), ("h100_Falconsai", 145, 156, 12, 9, 12),
    ("sglang_decode", 540, 556, 15, 11, 36)])
def test_known_layers(varve, traces, trace, length, of, period, start, times):
    path = traces / f"tracelens/{trace}.json.gz"
    first = table(varve, "blocks", path)[0]
    assert ([first[column] for column in ("length", "period", "start", "times", "elements",
                                          "inside")] ==
        [length, period, start, times, of, None])


def test_six_steps_and_their_layers(varve, traces):
    rows = table(varve, "blocks", traces / "kineto/resnet50_workers0.json.gz")
    assert [row["times"] for row in rows if row["row"] == "block"
            and row["depth"] == 0] == [6, 6, 6]


STEPS = strategies.lists(strategies.tuples(strategies.integers(0, 3), strategies.integers(1, 60)),
                         min_size=1, max_size=6)


@hypothesis.settings(max_examples=25, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(layer=STEPS, head=STEPS, steps=strategies.integers(3, 6),
                  layers=strategies.integers(1, 5), noise=strategies.integers(0, 5))
def test_laws(varve, tmp_path_factory, layer, head, steps, layers, noise):
    """Steps of `layers` layers: sums, means and positions are those of the durations, whatever was
    found."""
    sequence = (head + layer * layers) * steps
    events, now = [], 0
    for index, (kind, duration) in enumerate(sequence):
        duration += (index * 7 + noise) % (noise + 1)
        events.append({"ph": "X", "cat": "cpu_op", "name": f"aten::op{kind}", "ts": now,
                       "dur": duration, "pid": 1, "tid": 1})
        now += duration + 1
    path = tmp_path_factory.mktemp("blocks") / "made.json"
    path.write_text(json.dumps({"traceEvents": events}))
    rows = table(varve, "blocks", "--warm-up", path)
    positions = table(varve, "block_positions", "--warm-up", path)
    durations = [event["dur"] * 1000 for event in events]
    blocks = [row for row in rows if row["row"] == "block"]
    assert blocks and max(row["length"] for row in blocks
                          if row["depth"] == 0) >= len(sequence) * 3 // 4
    outermost = [row for row in rows if not row["depth"] and row["row"] != "total"]
    assert sum(row["total_ns"] for row in outermost) == sum(durations) == rows[-1]["total_ns"]
    for block in blocks:
        inside = [row for row in positions if row["block"] == block["block"]]
        assert len(inside) == block["period"]
        assert sum(row["total_ns"] for row in inside) == block["total_ns"]
        assert {row["calls"] for row in inside} == {block["all_times"]}
        if block["depth"] == 0:
            begins = range(block["start"], block["start"] + block["period"] * block["times"],
                           block["period"])
            times = [sum(durations[begin:begin + block["period"]]) for begin in begins]
            assert block["total_ns"] == sum(times)
            assert (block["min_ns"], block["max_ns"]) == (min(times), max(times))
            assert abs(block["deviation_ns"] - statistics.pstdev(times)) <= 1


def test_an_odd_time_is_named(varve, tmp_path):
    events = [{"ph": "X", "cat": "cpu_op", "name": f"aten::op{i % 3}", "ts": 1000 * i, "pid": 1,
               "tid": 1, "dur": 500 if i == 13 else 100} for i in range(30)]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"traceEvents": events}))
    block = table(varve, "blocks", path)[0]
    assert (block["times"], block["odd_times"], block["odd"]) == (10, 1, "4")
    assert [row["max_ns"] for row in table(varve, "block_positions", path)] == [100000, 500000,
                                                                                100000]


def test_nothing_to_compare(varve, tmp_path):
    path = tmp_path / "empty.json"
    path.write_text('{"traceEvents": []}')
    assert table(varve, "blocks", path) == []

# SPDX-License-Identifier: Apache-2.0
"""Table host_gaps: the gaps of a made trace, and what is short, long, inside a range and tiny."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

LONG_US = 50


def span(name, begin, duration, cat="cpu_op"):
    return {"ph": "X", "pid": 1, "tid": 1, "cat": cat, "name": name, "ts": begin, "dur": duration}


def step(number, begin, *events):
    """1,000 us: a gap of 100 up to `mm`, of 20 up to `add`, and an annotation with `mul` in it."""
    return [span(f"ProfilerStep#{number}", begin, 1000, "user_annotation"),
            span("mm", begin + 100, 200), span("add", begin + 320, 10),
            span("around", begin + 330, 500, "user_annotation"), span("mul", begin + 400, 300),
            *events]


@pytest.fixture(name="tables")
def tables_of_made(varve, tmp_path):
    path = tmp_path / "made.json"
    path.write_text(json.dumps({"traceEvents": [
        event for number in range(4) for event in step(number, 1000 * number)]}))

    def tables(name, *arguments):
        return table_reader.tables(varve, "report", "--warm-up", "--table", name, *arguments,
                                   path)[name]
    return tables


def test_each_pair_of_calls_has_its_gaps(tables):
    rows = tables("host_gaps")
    found = {(row["after"], row["until"]): (row["gaps"], row["total_ns"], row["long_gaps"],
                                            row["outside_ns"], row["max_ns"])
             for row in rows if row["row"] == "gap"}
    assert found == {
        ("(begin of the step)", "mm"): (4, 400_000, 4, 400_000, 100_000),
        ("mm", "add"): (4, 80_000, 0, 80_000, 20_000),
        ("add", "mul"): (4, 280_000, 4, 0, 70_000),
        # the range ends after 130 of 300 us
        ("mul", "(end of the step)"): (8, 1_200_000, 8, 680_000, 170_000),
    }
    total = rows[-1]
    assert (total["row"], total["total_ns"], total["share"]) == ("total", 1_960_000, 0.49)
    assert (total["tiny_calls"], total["tiny_ns"]) == (4, 4 * 30_000)


def test_what_is_in_no_range_is_outside_operators(tables):
    outside = [row for row in tables("operators") if row["row"] == "outside"]
    assert tables("host_gaps")[-1]["outside_ns"] == outside[0]["step_self_ns"] == 1_160_000


def test_short_gaps_lead_to_the_next_call(tables):
    leads = {row["name"]: row["step_lead_ns"] for row in tables("operators")
             if row["row"] == "operator"}
    assert leads["add"] == 80_000 and leads["mm"] == leads["mul"] == 0


def test_what_is_cut_off_is_one_row(tables):
    rows = tables("host_gaps", "--top", "1")
    assert [row["row"] for row in rows] == ["gap", "more", "total"]
    assert rows[0]["total_ns"] + rows[1]["total_ns"] == rows[2]["total_ns"] == 1_960_000

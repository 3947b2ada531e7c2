# SPDX-License-Identifier: Apache-2.0
"""What ranges use, counted while a program runs: by the command, by an options text, and by a
configuration; and what cannot be counted is said."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "support"))

from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402

SOFTWARE = ["cpu_ns", "page_faults", "page_faults_from_disk", "switches_to_wait",
            "switches_for_others"]
PROGRAM = binary("tests/programs/counted")


def operators(varve, trace):
    rows = tables(varve, "report", "--warm-up", "--table", "operator_counters", trace)
    return {row["name"]: row for row in rows["operator_counters"]}


def check_program(varve, trace):
    """counted.c: 64 pages, a sleep, 2 ms and 1 ms inside it, in each of three steps."""
    rows = operators(varve, trace)
    assert list(rows["total"])[:5] == ["name", "calls", "self_ns", "cpu_share", "row"]
    assert list(rows["total"])[5:10] == SOFTWARE
    assert {name: row["calls"] for name, row in rows.items()} == {
        "touch": 3, "nap": 3, "work": 3, "inner": 3, "(outside operators)": 6, "total": 18}
    assert rows["touch"]["page_faults"] >= 3 * 64 > rows["work"]["page_faults"]
    assert rows["nap"]["switches_to_wait"] >= 3 and rows["nap"]["cpu_share"] < 0.5
    assert 6 * 10**6 <= rows["work"]["cpu_ns"] and 3 * 10**6 <= rows["inner"]["cpu_ns"]
    assert rows["inner"]["cpu_ns"] < rows["work"]["cpu_ns"]
    for column in ["calls", "self_ns", *SOFTWARE]:
        assert sum(row[column] for name, row in rows.items() if name != "total") == \
            rows["total"][column]
    steps = tables(varve, "report", "--warm-up", "--table", "step_counters", trace)
    steps = [row for row in steps["step_counters"] if row["row"] == "step"]
    assert [row["step"] for row in steps] == [0, 1, 2]
    assert all(row["cpu_ns"] >= 3 * 10**6 and row["page_faults"] >= 64 for row in steps)


def said(varve, trace):
    rows = tables(varve, "info", trace)["collectors"]
    return next((row for row in rows if row["collector"] == "counters"), None)


def test_by_the_command(varve, tmp_path):
    trace = tmp_path / "c.varve"
    done = subprocess.run([varve, "record", "--metrics", "PipeUtilization", "-o", trace, "--",
                           PROGRAM], capture_output=True, text=True, check=True)
    check_program(varve, trace)
    row = said(varve, trace)
    assert row["text"].startswith("PipeUtilization") and row["state"] in ("attached",
                                                                          "partly attached")
    if row["state"] == "partly attached":
        assert "no such counter" in row["text"] or "may not read" in row["text"]
        assert row["text"] in done.stderr


@pytest.mark.parametrize("when", ["before", "beside"])
def test_threads_without_records_count_for_the_steps_that_they_run_beside(varve, tmp_path, when):
    """One of them works for 50 ms before the steps, or all the time."""
    trace = tmp_path / "s.varve"
    subprocess.run([varve, "record", "-q", "--metrics", "Memory", "-o", trace, "--", PROGRAM,
                    when], check=True)
    rows = tables(varve, "report", "--warm-up", "--table", "step_counters", trace)["step_counters"]
    told = tables(varve, "report", "--table", "counter_values", "--top", "0", trace)
    used = [row["value"] for row in told["counter_values"]
            if row["name"] == "CPU time of threads without records (ns)"]
    steps, total = rows[:-1], rows[-1]
    assert total["silent_cpu_ns"] == sum(row["silent_cpu_ns"] for row in steps)
    assert total["threads"] == (1 if when == "before" else 2)
    if when == "before":
        assert used[-1] >= 50 * 10**6 > 10 * total["silent_cpu_ns"]
    else:
        assert 0 < used[-1] * 0.5 <= total["silent_cpu_ns"] <= used[-1]


def test_by_an_options_text(varve, tmp_path):
    trace = tmp_path / "o.varve"
    text = json.dumps({"output": str(trace), "aic_metrics": "L2Cache"})
    done = subprocess.run([PROGRAM, "options", text], capture_output=True, text=True, check=True,
                          env=quiet_environment())
    assert done.stdout == "in effect\n"
    check_program(varve, trace)


def test_by_a_configuration(varve, tmp_path):
    trace = tmp_path / "s.varve"
    subprocess.run([PROGRAM, trace, "ArithmeticUtilization"], check=True, env=quiet_environment())
    check_program(varve, trace)


def test_without_metrics_nothing_is_counted(varve, tmp_path):
    trace = tmp_path / "n.varve"
    subprocess.run([varve, "record", "-q", "-o", trace, "--", PROGRAM], check=True)
    assert said(varve, trace) is None
    document = subprocess.run([varve, "report", "--table", "operator_counters", trace],
                              capture_output=True, text=True, check=True).stdout
    assert "nothing was counted: varve record --metrics PipeUtilization" in document


@pytest.mark.parametrize("group, message", [
    ("PipUtilization", "no group of counters is called 'PipUtilization'; nearest: PipeUtilization"),
    ("Custom:0x3c,z", "'z' is no code of an event, such as 0x3c")])
def test_a_wrong_group_is_refused_before_the_program_runs(varve, tmp_path, group, message):
    done = subprocess.run([varve, "record", "--metrics", group, "--", "touch", "ran"],
                          capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 125 and done.stderr == f"varve: --metrics: {message}\n"
    assert not os.path.exists(tmp_path / "ran")


def test_a_program_that_closes_everything_and_forks_is_counted(varve, tmp_path):
    script = tmp_path / "f.sh"
    script.write_text(f"exec 0<&- 1<&- 2<&-\n{PROGRAM} &\n{PROGRAM}\nwait\n")
    trace = tmp_path / "f.varve"
    subprocess.run([varve, "record", "-q", "--metrics", "Memory", "-o", trace, "--", "sh", script],
                   check=True)
    rows = operators(varve, trace)
    assert rows["touch"]["calls"] == 6 and rows["touch"]["page_faults"] >= 6 * 64

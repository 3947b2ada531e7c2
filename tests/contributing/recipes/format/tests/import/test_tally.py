# SPDX-License-Identifier: Apache-2.0
"""Tallies (doc/formats.md)."""
import json
import subprocess


def test_a_line_is_a_slice(varve, tmp_path):
    (tmp_path / "a.txt").write_text("TALLY 1\nload 1000 1500\nmatmul 1500 4500\n")
    done = subprocess.run([varve, "report", "--json", "--table", "operators", tmp_path / "a.txt"],
                          capture_output=True, check=True)
    table = json.loads(done.stdout)["tables"]["operators"]
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    assert {row["name"]: row["total_ns"] for row in rows
            if row["row"] == "operator"} == {"load": 500, "matmul": 3000}


def test_what_is_no_line_is_refused_with_its_place(varve, tmp_path):
    (tmp_path / "a.txt").write_text("TALLY 1\nload 1000\n")
    done = subprocess.run([varve, "info", tmp_path / "a.txt"], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, "no line of a tally at byte 8" in done.stderr) == (3, True)

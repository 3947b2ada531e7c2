# SPDX-License-Identifier: Apache-2.0
"""Static memory plans as CSV: what is read, in which units, and which buffers overwrite each
other."""
import csv
import io
import itertools
import pathlib
import subprocess
import sys

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

HEADER = ["operator", "offset_bytes", "size_bytes", "first_use", "last_use"]


def write(path, rows, header=None):
    text = io.StringIO()
    csv.writer(text).writerows([header or HEADER, *rows])
    path.write_text(text.getvalue())
    return path


def tables(varve, path):
    return {name: table_reader.tables(varve, "memory", "--table", name, "--top", "0", path)[name]
            for name in ("static_plan", "plan_conflicts")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("plan")


BUFFERS = strategies.lists(strategies.tuples(strategies.integers(0, 300),
                                             strategies.integers(0, 100),
                                             strategies.integers(0, 20), strategies.integers(0, 9)),
                                             min_size=1, max_size=20)


@hypothesis.settings(max_examples=50)
@hypothesis.given(drawn=BUFFERS)
def test_peak_and_conflicts_by_looking_at_every_operator(varve, folder, drawn):
    rows = [(f"op {n}", offset, size, first, first + more)
            for n, (offset, size, first, more) in enumerate(drawn)]
    read = tables(varve, write(folder / "plan.csv", rows))

    def live(use):
        return [row for row in rows if row[3] <= use <= row[4]]
    plan = read["static_plan"][0]
    assert plan["peak_bytes"] == max(sum(row[2] for row in live(use)) for use in range(40))
    assert plan["buffers"] == len(rows)
    assert (plan["planned_bytes"] or 0) == max(row[1] + row[2] for row in rows)
    expected = {tuple(sorted((a[0], b[0]))): min(a[1] + a[2], b[1] + b[2]) - max(a[1], b[1])
                for a, b in itertools.combinations(rows, 2)
                if min(a[2], b[2]) > 0 and a[3] <= b[4] and b[3] <= a[4] and a[1] < b[1] + b[2]
                and b[1] < a[1] + a[2]}
    assert {tuple(sorted((row["name"], row["other_name"]))): row["shared_bytes"]
            for row in read["plan_conflicts"]} == expected
    assert plan["conflicts"] in (len(expected), None)


def test_ascends_table_of_static_memory(varve, tmp_path):
    header = ["Device_id", "Op Name", "Model Name", "Graph ID", "Node Index Start",
              "Node Index End", "Size(KB)"]
    rows = [[0, 'conv, "3x3"', "m", 1, 0, 3, "2.5"], [0, "relu", "m", 1, 3, 4294967295, 4],
            [0, "late", "m", 1, 100, 4294967295, 1], [1, "other", "m", 2, 0, 0, 8],
            [0, "TOTAL", "", "", "", "", 15.5]]
    read = tables(varve, write(tmp_path / "static_op_mem.csv", rows, header))
    assert [(row["device"], row["graph"], row["buffers"], row["peak_bytes"], row["peak_at_use"],
             row["planned_bytes"])
            for row in read["static_plan"]] == [("device:0", 1, 3, 6656, 3, None),
                                                ("device:1", 2, 1, 8192, 0, None)]
    assert read["plan_conflicts"] == []


@pytest.mark.parametrize("line, says", [
    ("conv,0,many,0,1", "line 3: 'many' is no size: a number of 0 or more is wanted"),
    ("conv,0,-5,0,1", "line 3: '-5' is no size: a number of 0 or more is wanted"),
    ("conv,0,5,4,1", "line 3: the last use 1 lies before the first, 4"),
    ("conv,0,5,0", "line 3: 4 fields, the header has 5 or more"),
])
def test_a_wrong_line_is_named(varve, tmp_path, line, says):
    path = tmp_path / "plan.csv"
    path.write_text(",".join(HEADER) + f"\na,0,1,0,1\n{line}\nb,0,1,0,1\n")
    done = subprocess.run([str(varve), "memory", str(path)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 3
    assert done.stderr.splitlines()[0] == f"varve: '{path}', {says}"


def test_a_plan_cut_anywhere_is_its_whole_lines(varve, tmp_path):
    whole = (",".join(HEADER) + "\nconv,0,100,0,3\nrelu,50,100,2,5\n").encode()
    path = tmp_path / "plan.csv"
    for cut in range(len(",".join(HEADER)) + 1, len(whole)):
        path.write_bytes(whole[:cut])
        done = subprocess.run([str(varve), "info", "--table", "tables", str(path)],
                              capture_output=True, text=True,
                              check=False)
        assert done.returncode in (0, 3), done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Traces of every layout that was ever released are kept in golden/ and read for ever.
golden/NUMBER is varve_format; what lies there is never made anew: a layout that changes gets a
number, and a folder, of its own."""
import json
import pathlib
import subprocess
import sys

import pytest
from conftest import skip_without_zstd

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = sorted((ROOT / "tests" / "golden").iterdir())
CLASSES = {"varve.string", "varve.clock", "varve.thread", "varve.process", "varve.layers",
           "varve.begin", "varve.op", "varve.step_begin",
           "varve.step_end", "varve.alloc", "varve.free", "varve.cost", "varve.call",
           "varve.collector", "varve.end_under", "varve.end"}


def operators(run, trace):
    done = run("report", "--no-cache", "--json", "--table", "operators", trace)
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)["tables"]["operators"]
    names = [column["name"] for column in table["columns"]]
    return {row[names.index("name")]: (row[names.index("calls")], row[names.index("self_ns")])
            for row in table["rows"]}


def test_there_is_one():
    assert [path.name for path in GOLDEN] == ["1"]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.name)
def test_an_old_trace_is_read(golden, run):
    told = subprocess.run([sys.executable, ROOT / "tools" / "varve_decode.py", golden / "plain"],
                          capture_output=True, text=True, check=True)
    assert told.stdout == (golden / "records.txt").read_text()
    assert {line.split('"')[1] for line in told.stdout.splitlines()} >= CLASSES
    assert operators(run, golden / "plain") == {"conv2d": (1, 10), 'we"ird\\n\n\x01é': (1, 70),
                                                "decode": (1, 40), "aten::mm": (1, 2),
                                                "inner": (1, 18), "after a loss": (1, 9),
                                                "(outside operators)": (None, 20),
                                                "total": (6, 169)}


# packed: VARVEPK1; packed2: VARVEPK2
@pytest.mark.parametrize("packed", ["packed", "packed2"])
@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.name)
def test_an_old_packed_trace_is_read(golden, packed, run, tmp_path):
    done = run("pack", "--unpack", "-o", tmp_path / "plain", golden / packed)
    skip_without_zstd(done)
    assert done.returncode == 0, done.stderr
    for path in sorted((golden / "plain").glob("*/*")):
        assert (tmp_path / "plain" /
                path.relative_to(golden / "plain")).read_bytes() == path.read_bytes(), path
    assert operators(run, golden / packed) == operators(run, golden / "plain")

# SPDX-License-Identifier: Apache-2.0
"""One libvarve.so records PyTorch from 1.13 to today's as PyTorch's own profiler sees the same
run."""
import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "live")]

from model_tables import dump, health  # noqa: E402
from torch_averages import shapes_without_types  # noqa: E402
from torch_pythons import VERSIONS, environment, python_of  # noqa: E402



@pytest.fixture(scope="module", name="run", params=VERSIONS)
def fixture_run(request, build, varve, tmp_path_factory):
    """(what the profiler saw, our slices of the same part of the same thread with "shapes" and
    "sequence")."""
    folder = tmp_path_factory.mktemp("versions")
    done = subprocess.run([varve, "record", "-o", "run.varve", "--", python_of(request.param),
                           HERE / "programs" / "train_profiled.py", "theirs.json"], cwd=folder,
                           env=environment(),
                          capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    tables = dump(build, folder / "run.varve")
    assert tables["run"][0]["lost"] == 0 and health(tables).keys() <= {"zero_length"}
    for row in tables["slices"]:
        op = tables["ops"][row["op"]] if row["op"] is not None else {"shapes": "", "sequence": -1}
        row.update((key, op[key]) for key in ("shapes", "sequence"))
    (window,) = (row for row in tables["slices"] if row["name"] == "window")
    ours = [row for row in tables["slices"] if row["track"] == window["track"]
            and 0 <= row["begin_ns"] - window["begin_ns"] < window["duration_ns"]]
    theirs = json.loads((folder / "theirs.json").read_text())
    assert theirs["version"].startswith(request.param + ".")
    assert "torch.profiler: runs too: its times hold our cost, ours hold its\n" in done.stderr
    return theirs["events"], ours


def test_the_same_events_in_the_same_order(run):
    theirs, ours = run
    assert [row["name"] for row in ours] == [name for name, _, _ in theirs]
    assert len(ours) > 400


def test_the_same_sequence_numbers(run):
    theirs, ours = run
    seen = 0
    for row, (name, _, sequence) in zip(ours, theirs, strict=True):
        assert row["sequence"] == sequence, (name, row)
        seen += sequence >= 0
    assert seen > 40


def test_the_same_shapes(run):
    """The profiler shows a list of tensors as one argument without a shape; we show each of
    them."""
    theirs, ours = run
    lists = 0
    for row, (name, shapes, _) in zip(ours, theirs, strict=True):
        is_list = name == "aten::cat" and shapes == [[], []]
        assert shapes_without_types(row["shapes"]) == ([[2, 72], [2, 72], []] if is_list
                                                       else shapes), row
        lists += is_list
    assert lists == 4
    assert sum(row["shapes"].count("f32") for row in ours) > 300

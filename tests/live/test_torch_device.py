# SPDX-License-Identifier: Apache-2.0
"""examples/torch-device: a backend of Varve serves PyTorch's profiler as the stubs of a device of
its own. What PyTorch prints, what the backend counted, and what `varve record` of the same run
saw, are the same."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS.parent / "tools")]

import varve_decode  # noqa: E402
from environments import python_of  # noqa: E402
from model_tables import dump  # noqa: E402
from table_reader import tables  # noqa: E402

EXAMPLE = TESTS.parent / "examples" / "torch-device" / "matmul.py"


@pytest.fixture(scope="module", name="ran")
def fixture_ran(varve, build, tmp_path_factory):
    """(folder, what it printed). The extension is compiled here, for half a minute."""
    python = python_of("torch")
    folder = tmp_path_factory.mktemp("torch_device")
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "MAX_JOBS": "2",
                   "TORCH_EXTENSIONS_DIR": str(folder / "extensions"),
                   "VARVE_PREFIX": str(build), "PYTHONWARNINGS": "ignore"}
    for command in ([], [varve, "record", "-q", "-o", folder / "run.varve", "--"]):
        done = subprocess.run([*command, python, EXAMPLE, folder / "chrome.json"], cwd=folder,
                              env=environment, capture_output=True, text=True, timeout=600,
                              check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        text = done.stdout
    return folder, text


def rows_of(text):
    """{operator: {column: cell}} of PyTorch's table, by columns that are parted by two blanks."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()
             if line.strip() and not line.startswith("-")]
    head = next(i for i, line in enumerate(lines) if line[0] == "Name")
    return {line[0]: dict(zip(lines[head], line)) for line in lines[head + 1:]
            if len(line) == len(lines[head])}


def test_the_profiler_prints_columns_of_the_device(ran):
    rows = rows_of(ran[1])
    assert {"Self VARVE", "VARVE total", "VARVE time avg"} <= rows["aten::mm"].keys()
    for name in ("matmul", "aten::mm", "aten::normal_"):
        assert re.fullmatch(r"[1-9][\d.]*[mu]s", rows[name]["VARVE total"]), rows[name]


def test_device_times_are_what_the_backend_counted(ran):
    said = json.loads(ran[1].splitlines()[-1])
    asked, elapsed_ns = said["asked"]
    assert asked >= 10 and said["torch_us"] * 1000 == elapsed_ns


def activities(folder):
    trace = varve_decode.open_trace(str(folder / "run.varve"))
    assert trace.problems == []
    return [(process.strings[record.fields["name"]],
             record.fields["end"] - record.fields["begin"])
            for process in trace.processes for stream in process.streams
            for record in stream.records if record.name == "varve.activity"]


def test_the_trace_has_the_kernels_that_the_backend_timed(ran):
    folder, text = ran
    work = activities(folder)
    recorded, total_ns = json.loads(text.splitlines()[-1])["told"]
    assert sum(duration for _, duration in work[:recorded]) == total_ns
    counts = collections.Counter(name for name, _ in work)
    assert counts["aten::mm"] == 1 and counts["aten::normal_"] == 2 and counts["copy"] >= 1


def test_kernels_shapes_and_scopes_are_those_of_the_profiler(varve, build, ran):
    folder, text = ran
    events = [event for event in json.loads((folder / "chrome.json").read_text())["traceEvents"]
              if event.get("ph") == "X"]
    shapes = {event["name"]: event["args"]["Input Dims"] for event in events
              if event["name"] in ("aten::mm", "aten::normal_")}
    assert shapes["aten::mm"][:2] == [[512, 512], [512, 512]]
    model = dump(build, folder / "run.varve")
    launched = {row["name"]: model["slices"][model["activities"][row["activity"]]["caller"]]["name"]
                for row in model["slices"] if row["activity"] is not None
                and model["tracks"][row["track"]]["kind"] == 2}
    assert launched["aten::mm"] == "aten::mm" and launched["aten::normal_"] == "aten::normal_"
    operators = tables(varve, "report", "--by", "shape", "--top", "0",
                       folder / "run.varve")["operators"]
    seen = collections.defaultdict(set)
    for row in operators:
        seen[row["name"]].add(row["shapes"])
    assert any(cell.startswith("[512,512] f32, [512,512] f32") for cell in seen["aten::mm"])
    assert "matmul" in seen and {"aten::mm", "matmul"} <= rows_of(text).keys()

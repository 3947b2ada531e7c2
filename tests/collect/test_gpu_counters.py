# SPDX-License-Identifier: Apache-2.0
"""Hardware counters of GPUs (`varve record --metrics hardware`), with a stand-in for NVIDIA's
driver and CUPTI (tests/drivers/standin_sampling.c): its samples are in the trace on the clock of
the program, at the period that was asked for, and what cannot be is refused in a sentence. No GPU
takes part."""
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle")]

from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402

ALL = {"SM active (%)": 80, "SM issue (%)": 40, "warps in flight (%)": 60,
       "tensor cores active (%)": 30, "DRAM read (%)": 20, "DRAM write (%)": 10}


def record(varve, folder, *options, program=("sleep", "0.1"), driver=True, **more):
    environment = quiet_environment(**more)
    if driver:
        environment["LD_LIBRARY_PATH"] = str(binary("tests/drivers/metrics/libcupti.so.12").parent)
    return subprocess.run([varve, "record", *options, "-o", "t.varve", "--", *program], cwd=folder,
                          env=environment, capture_output=True, text=True, check=False)


def counters(varve, folder):
    rows = tables(varve, "info", "--table", "counters", folder / "t.varve")["counters"]
    return {(row["series"], row["name"]): row for row in rows if row["row"] == "counter"}


def test_each_counter_has_its_samples_on_the_programs_clock(varve, tmp_path):
    done = record(varve, tmp_path, "--metrics", "hardware,power", "--metrics-period", "500us",
                  program=[binary("examples/c-loop")])
    assert done.returncode == 0, done.stderr
    said = counters(varve, tmp_path)
    for name, value in {**ALL, "power (W)": 350.5}.items():
        row = said["cuda:0 device", name]
        assert (row["min"], row["max"]) == (value, value), name
    assert "metrics of GPUs:" not in done.stderr
    trace = tmp_path / "t.varve"
    rows = tables(varve, "info", "--table", "counter_values", trace)["counter_values"]
    at = [row["at_ns"] for row in rows if row["name"] == "SM active (%)"]
    assert max(abs(later - earlier - 500_000) for earlier, later in zip(at, at[1:])) < 100_000
    steps = tables(varve, "steps", "--table", "steps", trace)["steps"]
    begins = [row["at_ns"] for row in steps if row["step"] is not None]
    inside = [time for time in at if begins[0] <= time <= begins[-1]]
    assert abs(len(inside) - (begins[-1] - begins[0]) / 500_000) <= 2
    checked = subprocess.run([varve, "validate", trace], capture_output=True, text=True,
                             check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("mode", ["real", "turing"])
def test_clocks_and_triggers_that_a_gpu_may_have(varve, tmp_path, mode):
    done = record(varve, tmp_path, "--metrics", "sm_active", STANDIN_SAMPLING=mode)
    assert done.returncode == 0, done.stderr
    said = counters(varve, tmp_path)
    assert {name for _, name in said} == {"SM active (%)", "SM issue (%)"}
    row = said["cuda:0 device", "SM active (%)"]
    assert row["mean"] == 80 and row["values"] >= 0.1 / 200e-6


def test_both_kinds_of_metrics_are_of_one_gpu_under_one_number(varve, tmp_path):
    """CUDA numbers GPU 1 as its device 0. The stand-in for GPU 1 counts half as much."""
    done = record(varve, tmp_path, "--metrics", "sm_active,power", STANDIN_CUDA_ORDER="10")
    assert done.returncode == 0, done.stderr
    said = counters(varve, tmp_path)
    assert {(series, name): row["mean"] for (series, name), row in said.items()} == {
        ("cuda:0 device", "power (W)"): 351.5, ("cuda:1 device", "power (W)"): 350.5,
        ("cuda:0 device", "power limit (W)"): 400, ("cuda:1 device", "power limit (W)"): 400,
        ("cuda:0 device", "SM active (%)"): 40, ("cuda:1 device", "SM active (%)"): 80,
        ("cuda:0 device", "SM issue (%)"): 20, ("cuda:1 device", "SM issue (%)"): 40}


def test_what_a_gpu_does_not_count_is_named_and_another_source_is_tried(varve, tmp_path):
    done = record(varve, tmp_path, "--metrics", "hardware", program=[binary("examples/c-loop")],
                  STANDIN_SAMPLING_LACKS="tensor")
    assert "metrics of GPUs: cuda:0 does not count tensor cores active (%)\n" in done.stderr
    assert {name for _, name in counters(varve, tmp_path)} == set(ALL) - {"tensor cores active (%)"}
    second = tmp_path / "second"
    second.mkdir()
    record(varve, second, "--metrics", "hardware", STANDIN_SAMPLING_LACKS="realtime")
    assert {name for _, name in counters(varve, second)} == set(ALL)


def test_samples_that_are_lost_are_counted(varve, tmp_path):
    record(varve, tmp_path, "--metrics", "dram", STANDIN_SAMPLING="full")
    row = counters(varve, tmp_path)["cuda:0 device", "hardware samples lost (times)"]
    assert row["first"] == 1 and row["last"] == row["values"] >= 3


@pytest.mark.parametrize("mode", ["endless", "broken"])
def test_samples_that_are_left_at_the_end_are_counted_as_lost(varve, tmp_path, mode):
    done = record(varve, tmp_path, "--metrics", "dram", STANDIN_SAMPLING=mode)
    assert done.returncode == 0, done.stderr
    row = counters(varve, tmp_path)["cuda:0 device", "hardware samples lost (times)"]
    assert (row["first"], row["values"]) == (1, 1)


@pytest.mark.parametrize("why, options, more", [
    ("INSUFFICIENT_PRIVILEGES (35): only an administrator may read counters here", [],
     {"STANDIN_SAMPLING": "forbids"}),
    ("need CUPTI 12.9 or later", [], {"STANDIN_SAMPLING": "old"}),
    ("a clock that is not known", [], {"STANDIN_SAMPLING": "elsewhen"}),
    ("need NVIDIA's driver (libcuda.so.1)", [], {"driver": False}),
    ("libcupti, which is not found: pip install nvidia-cuda-cupti-cu12", [],
     {"VARVE_CUPTI": "/nowhere/libcupti.so"}),
    ("is not from 10us to 1min", ["--metrics-period", "1us"], {}),
    ("this GPU has no sampling", [], {"STANDIN_SAMPLING_LACKS": "_"}),
])
def test_what_cannot_be_is_refused_before_the_program_runs(varve, tmp_path, why, options, more):
    done = record(varve, tmp_path, "--metrics", "hardware", *options, program=["touch", "ran"],
                  **more)
    assert done.returncode != 0 and why in done.stderr
    assert not (tmp_path / "ran").exists() and not (tmp_path / "t.varve").exists()

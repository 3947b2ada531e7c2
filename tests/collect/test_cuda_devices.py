# SPDX-License-Identifier: Apache-2.0
"""What a device is, as the stand-in for NVIDIA's driver says, is in the trace; and the peaks of
`roofline` and `mfu` are those of the data sheet of its name, or computed, and the tables say which.
"""
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

from cuda_recording import collector, record, work_of  # noqa: E402
from table_reader import tables  # noqa: E402

H100 = "NVIDIA H100 80GB HBM3"


def text_of(varve, trace, table):
    done = subprocess.run([varve, "report", "--table", table, trace], capture_output=True,
                          text=True, check=True)
    return " ".join(done.stdout.split())


def test_a_device_is_described(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "plain", "--collect", "+cuda_calls", STANDIN_NAME=H100)
    ((state, text),) = collector(varve, trace, "cuda device 0")
    assert (state, text) == ("note", f"{H100}, compute capability 9.0, 132 multiprocessors at "
                             "1980 MHz, 85520 MB, 3352 GB/s")
    rows = work_of(trace)
    (device,) = rows["devices"]
    assert device["name"] == H100
    assert device["memory_bytes_per_s"] == 2 * 2619e6 * 5120 / 8
    assert (device["units"], device["clock_hz"], device["capability"]) == (132, 1.98e9, 9)
    (fact,) = [row["value"] for row in rows["facts"] if row["key"] == "device.cuda.0"]
    assert fact.startswith("uuid=GPU-00010203-0405-0607-0809-0a0b0c0d0e0f;cc=9.0;units=132;")
    names = {row["name"] for row in rows["slices"]}
    assert "cuDeviceGetAttribute" not in names, "the collector called it, not the program"


@pytest.mark.parametrize("name, capability, peak, said", [
    (H100, "9", 989.4e12,
     "peaks by data sheet of 1 of 1 device: 989 TFLOP/s of 16 bits, 3.35 TB/s"),
    ("NVIDIA H1000", "9", 4096 * 132 * 1.98e9, "peaks as computed from units and clock of 1 of 1 "
     "device: 1.07 PFLOP/s of 16 bits, 3.35 TB/s"),
    ("NVIDIA H1000", "3", None, "of this device only the peak of its memory is known: 3.35 TB/s"),
])
def test_its_peaks_say_where_they_are_from(varve, tmp_path, name, capability, peak, said):
    trace, _ = record(varve, tmp_path, "product", STANDIN_NAME=name,
                      STANDIN_CAPABILITY=capability)
    assert said in text_of(varve, trace, "roofline")
    (step,) = [row for row in tables(varve, "report", "--table", "mfu", trace)["mfu"]
               if row["row"] == "step"]
    assert step["model_flop"] == 2e6
    rate = 2e6 / (step["duration_ns"] * 1e-9)
    assert step["mfu"] == (pytest.approx(rate / peak) if peak else None)
    kernels = tables(varve, "report", "--table", "kernels", trace)["kernels"]
    assert any(row["most_occupancy"] for row in kernels) == (capability == "9")


@pytest.mark.parametrize("name", ["", "a;name=b;c=1", "x" * 300])
def test_any_name_is_a_name(varve, tmp_path, name):
    trace, _ = record(varve, tmp_path, "plain", STANDIN_NAME=name)
    (device,) = work_of(trace)["devices"]
    assert (device["name"] or "") == name[:len(device["name"] or "")]
    assert len(device["name"] or "") >= min(len(name), 60)

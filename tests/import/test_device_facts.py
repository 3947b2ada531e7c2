# SPDX-License-Identifier: Apache-2.0
"""The fact of a process that says what a device is (doc/format.md §6), well and badly written."""
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle")]

import trace_writer  # noqa: E402
from cuda_recording import work_of  # noqa: E402

CUDA, CPU = 1 << 16, 0


def devices_of(path, *facts):
    written = trace_writer.Trace(path, trace_writer.manifest())
    process = written.process(pid=100)
    thread = process.thread(tid=100)
    for key, text in facts:
        process.collector(f"fact.{key}", "note", text)
    thread.begin(process.site("begin", "conv", layer="OP"), 100)
    thread.end(200)
    return [(row["device"], row["name"], row["capability"], row["units"], row["clock_hz"],
             row["memory_bytes_per_s"]) for row in work_of(written.write())["devices"]]


@pytest.mark.parametrize("key, text, said", [
    ("device.cuda.0", "uuid=GPU-1;cc=8.6;units=84;khz=1740000;bytes=48;bytes_per_s=696000000000;"
     "name=NVIDIA A40", (CUDA, "NVIDIA A40", 8.6, 84, 1.74e9, 6.96e11)),
    ("device.cuda.65535", "name=a;units=7;cc=9.0", (CUDA + 65535, "a;units=7;cc=9.0", 0, 0, 0, 0)),
    ("device.cpu.3", "", (CPU + 3, "", 0, 0, 0, 0)),
    ("device.cuda.1", "cc=;units=-1;khz=99999999999999999999;bytes_per_s=x;name=",
     (CUDA + 1, "", 0, 0, 0, 0)),
    ("device.cuda.1", ";;;=;cc=9", (CUDA + 1, "", 9, 0, 0, 0)),
    ("device.cuda.65536", "name=a", None), ("device.cuda.", "name=a", None),
    ("device.cuda.1x", "name=a", None), ("device.cud.1", "name=a", None),
    ("device.", "name=a", None), ("device.cuda.-1", "name=a", None)])
def test_what_a_fact_says_of_a_device(tmp_path, key, text, said):
    assert devices_of(tmp_path / "t.varve", (key, text)) == ([said] if said else [])


def test_the_last_of_a_key_counts_and_each_device_is_there_once(tmp_path):
    assert devices_of(tmp_path / "t.varve", ("device.cuda.0", "name=a"),
                      ("device.cuda.1", "name=b"), ("device.cuda.0", "name=c")) == [
                          (CUDA, "c", 0, 0, 0, 0), (CUDA + 1, "b", 0, 0, 0, 0)]


def test_each_process_numbers_its_own_devices(tmp_path):
    written = trace_writer.Trace(tmp_path / "t.varve", trace_writer.manifest())
    for pid, uuid in ((100, "GPU-a"), (101, "GPU-b"), (102, "x" * 64)):
        process = written.process(pid=pid)
        thread = process.thread(tid=pid)
        process.collector("fact.device.cuda.0", "note", f"uuid={uuid};name=H100")
        thread.begin(process.site("begin", "conv", layer="OP"), 100)
        thread.end(200)
    rows = work_of(written.write())["devices"]
    assert [(row["device"], row["uuid"], row["name"]) for row in rows] == [
        (CUDA, "GPU-a", "H100"), (CUDA, "GPU-b", "H100"), (CUDA, "", "H100")]
    assert len({row["owner"] for row in rows}) == 3

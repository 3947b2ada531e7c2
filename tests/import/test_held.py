# SPDX-License-Identifier: Apache-2.0
"""What an allocator of a device holds and has given out after each event, by its counters, which
tell of changes alone (src/import/varve/records/held.h)."""
import pathlib
import resource
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle")]

import trace_writer  # noqa: E402
from cuda_recording import work_of  # noqa: E402

GPU = [1 << 16, 1 << 16 | 1]
RESERVED, GIVEN = ("reserved by the caching allocator (bytes)",
                   "given out by the caching allocator (bytes)")


def totals(path, events, values):
    """[(given out, reserved)] after each event in order of time. `events` are (ns, device, address,
    bytes or 0 for a release), `values` (ns, device, given out or None, reserved)."""
    trace = trace_writer.Trace(path)
    process = trace.process(pid=100)
    thread = process.thread(tid=100)
    for number, device in enumerate(GPU, start=1):
        process.track(number, "caching allocator", "ticks", device)
    told = [(ns, 0, event) for ns, *event in events] + [(ns, 1, value) for ns, *value in values]
    for ns, is_value, (device, *what) in sorted(told, key=lambda one: one[:2]):
        if not is_value:
            address, size = what
            if size:
                thread.alloc(address, size, ns, GPU[device])
            else:
                thread.free(address, ns, GPU[device])
            continue
        for name, value in zip((GIVEN, RESERVED), what):
            if value is not None:
                thread.device_counter(device + 1, name, ns, float(value), at=ns)
    rows = sorted(work_of(trace.write())["memory"], key=lambda row: row["time_ns"])
    return [(row["allocated_bytes"], row["reserved_bytes"]) for row in rows]


def test_between_changes_the_events_say_what_is_given_out(tmp_path):
    assert totals(tmp_path / "t.varve", [
        (100, 0, 0x1000, 64), (200, 0, 0x2000, 32), (300, 0, 0x1000, 0), (400, 0, 0x3000, 500),
        (500, 0, 0x2000, 0)],
        [(110, 0, 64, 1000), (410, 0, 532, 3000)]) == [
            (64, 1000), (96, 1000), (32, 1000), (532, 3000), (500, 3000)]


def test_devices_are_apart_and_before_the_first_change_nothing_is_known(tmp_path):
    assert totals(tmp_path / "t.varve", [
        (100, 0, 0x1000, 64), (150, 1, 0x1000, 8), (200, 0, 0x2000, 32), (250, 1, 0x2000, 8)],
        [(210, 0, 96, 1000), (160, 1, 8, 500)]) == [(-1, -1), (8, 500), (96, 1000), (16, 500)]


@pytest.mark.parametrize("given, reserved, said", [
    (None, 1000, (-1, 1000)), (-5, 1000, (-1, 1000)), (64, 1e30, (64, -1)),
    (64, float("nan"), (64, -1)), (1e300, 7, (-1, 7))])
def test_values_that_are_no_sizes_are_not_known(tmp_path, given, reserved, said):
    assert totals(tmp_path / "t.varve", [(100, 0, 0x1000, 64)],
                  [(110, 0, given, reserved)]) == [said]


def test_a_release_of_unknown_size_ends_what_is_known(tmp_path):
    assert totals(tmp_path / "t.varve", [
        (100, 0, 0x1000, 64), (200, 0, 0x9000, 0), (300, 0, 0x2000, 32)],
        [(110, 0, 100, 1000)]) == [(100, 1000), (-1, 1000), (-1, 1000)]


def test_changes_are_gone_through_once_for_all_devices(varve, tmp_path):
    """Once for each of 30,000 devices took 1.5 s, and takes 20 ms."""
    trace = trace_writer.Trace(tmp_path / "t.varve")
    process = trace.process(pid=100)
    thread = process.thread(tid=100)
    process.track(1, "caching allocator", "ticks", GPU[0])
    for i in range(60_000):
        thread.device_counter(1, RESERVED, 100 + i, float(i), at=100 + i)
    for i in range(30_000):
        thread.alloc(0x1000 + i, 64, 70_000 + i, 2 << 16 | i)
    path = trace.write()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([varve, "info", path], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 0.7

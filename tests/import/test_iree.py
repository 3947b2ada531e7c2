# SPDX-License-Identifier: Apache-2.0
"""IREE's profile bundles and its dispatch statistics, made by hand. That iree-profile says the same
of real ones is in live/mlir."""
import ctypes
import gzip
import json
import pathlib
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import ireeprof_writer as writer  # noqa: E402
import table_reader  # noqa: E402
from model_tables import dump, health, refusal  # noqa: E402

CALL, KERNEL, COPY = 0, 1, 2
DEVICE, RUNTIME = 32, 8
MATMUL, REDUCTION = writer.FUNCTIONS


@pytest.fixture(name="read")
def fixture_read(build, tmp_path):
    def read(data, name="p.ireeprof"):
        (tmp_path / name).write_bytes(data)
        return dump(build, tmp_path / name)
    return read


def dispatches(tables):
    """(begin, duration, name, place among the dispatches of its command buffer, track's name)."""
    rows = []
    for row in tables["slices"]:
        if row["category"] == "dispatch":
            said = dict(row["args"])
            rows.append((row["begin_ns"], row["duration_ns"], row["name"],
                         said["dispatch_index"], tables["tracks"][row["track"]]["name"]))
    return sorted(rows)


def test_dispatches_by_hand(read):
    queue = "device 0 queue 0"
    tables = read(writer.small())
    assert dispatches(tables) == [
        (1000, 50, MATMUL, 0, queue), (1050, 20, REDUCTION, 1, queue),
        (1070, 60, MATMUL, 2, queue), (2000, 50, MATMUL, 0, queue),
        (2040, 30, REDUCTION, 1, queue + ", lane 2"), (2070, 60, MATMUL, 2, queue)]
    first = next(row for row in tables["slices"] if row["name"] == MATMUL)
    assert first["layer"] == DEVICE and dict(first["args"]) == {
        "command_index": 0, "dispatch_index": 0, "command_buffer": 5, "executable": 1,
        "function": 0, "tiles": 6, "tile_ns": 80, "grid": "[6,1,1]", "block": "[1,1,1]"}
    activity = tables["activities"][first["activity"]]
    shape = tables["launch_shapes"][activity["shape"]]
    assert (activity["kind"], activity["device"], shape["grid_x"]) == (KERNEL, 0, 6)
    assert tables["inputs"][0]["format"] == "ireeprof"
    assert tables["processes"][0]["lost"] == 1 and not health(tables)


def test_work_hangs_on_its_submission(read):
    tables = read(writer.small())
    for row in tables["slices"]:
        activity = tables["activities"][row["activity"]] if row["activity"] is not None else None
        if row["layer"] == DEVICE:
            call = tables["slices"][activity["launch"]]
            assert call["name"] == "submit execute"
            assert call["begin_ns"] == row["begin_ns"] // 1000 * 1000 - 10
    copies = [row for row in tables["activities"] if row["kind"] == COPY]
    assert [row["bytes"] for row in copies] == [256, 256]  # of the command


def test_operations_of_queues(read):
    rows = [(row["name"], row["begin_ns"], row["duration_ns"], row["layer"])
            for row in read(writer.small())["slices"] if row["category"] == "queue operation"]
    assert rows == [("alloca", 986, 2, RUNTIME), ("execute", 998, 142, RUNTIME),
                    ("alloca", 1986, 2, RUNTIME), ("execute", 1998, 142, RUNTIME)]


def test_what_bounds_a_bundle_is_its_dispatches(varve, tmp_path):
    """Their calls are on queues, which are no threads that somebody chose."""
    (tmp_path / "p.ireeprof").write_bytes(writer.small())
    found = table_reader.tables(varve, "report", "--no-cache", "--table", "verdict",
                                tmp_path / "p.ireeprof")["verdict"]
    assert {row["bound_by"]: row["time_ns"] for row in found} == {
        "launch": 885, "computation": 240, "copies": 10}


def test_memory(read):
    """Events of pools are about the same bytes."""
    rows = [(row["time_ns"], row["address"], row["bytes"], row["allocated_bytes"],
             row["reserved_bytes"]) for row in read(writer.small())["memory"]]
    assert rows == [(987, 3, 64, 64, 4096), (1140, 3, -64, 0, 4096),
                    (1987, 4, 64, 64, 4096), (2140, 4, -64, 0, 4096)]


def test_without_commands_the_order_counts(read):
    """local-sync records neither commands nor command indices."""
    record, execution = writer.record, writer.execution
    events = b"".join(execution(writer.DISPATCH, (at, at + 5), 3, 1, function=0)
                      for at in (300, 100, 200))
    events += execution(writer.DISPATCH, (900, 905), 4, 1, function=0)
    events += execution(writer.EXECUTE, (90, 305), 3, 1)
    tables = read(writer.bundle(record(2, "executable-functions", writer.function(1, 0, "f")),
                                record(2, "host-execution-events", events)))
    assert [row[:4] for row in dispatches(tables)] == [
        (100, 5, "f", 0), (200, 5, "f", 1), (300, 5, "f", 2), (900, 5, "f", 0)]
    assert not [key for row in tables["slices"] for key, _ in row["args"]
                if key == "command_index"]


def test_ticks_of_a_device(read):
    """Two samples connect the clocks; a device without one has no instants."""
    tables = read(writer.on_gpu())
    assert dispatches(tables) == [(6000, 1000, MATMUL, 0, "device 1 queue 0"),
                                  (7000, 2000, MATMUL, 1, "device 1 queue 0")]
    assert {row["device"] for row in tables["devices"]} == {1 << 16 | 1}
    alone = writer.bundle(writer.record(2, "dispatch-events", writer.dispatch((1, 2), 1, 5, 0, 0),
                                        name="vulkan", device=0, queue=0))
    assert health(read(alone)) == {"unplaced": 1}


def test_a_later_minor_version(read):
    """Structs that are longer than ours, and contents that nobody knows yet."""
    later = writer.bundle(
        writer.record(2, "executable-functions", writer.function(1, 0, "f", more=b"\1" * 8)),
        writer.record(2, "host-execution-events",
                      writer.execution(writer.DISPATCH, (5, 9), 3, 1, command=0, function=0,
                                       more=b"\7" * 24)),
        writer.record(2, "of-a-later-version", b"\1\2\3"), minor=99)
    tables = read(later)
    assert dispatches(tables) == [(5, 4, "f", 0, "device 0 queue 0")]
    assert health(tables) == {"ignored": 1, "unlinked": 1}


def test_another_major_version_is_refused(build, tmp_path):
    path = tmp_path / "p.ireeprof"
    path.write_bytes(writer.small(major=2, minor=3))
    assert "version 2.3; varve reads version 1" in refusal(build, path)


@pytest.mark.parametrize("at, value, words", [
    (24, 100, "a record of 100 bytes"), (80, 50, "with a header of 50"),
    (84, 1 << 20, "texts of 1048576")])
def test_lengths_that_do_not_fit(build, tmp_path, at, value, words):
    path = tmp_path / "p.ireeprof"
    data = bytearray(writer.small())
    struct.pack_into("<I", data, at, value)
    path.write_bytes(data)
    said = refusal(build, path)
    assert words in said and "at byte 24" in said


def test_a_struct_that_is_too_short(build, tmp_path):
    path = tmp_path / "p.ireeprof"
    path.write_bytes(writer.bundle(writer.record(2, "memory-events", writer.sized(b"\0" * 20))))
    assert "a struct of 24 bytes among the memory-events" in refusal(build, path)


def test_a_cut_file_keeps_what_is_whole(read):
    whole = writer.small()
    cut = whole[:whole.index(b"memory-events") + 300]
    tables = read(cut)
    assert len(dispatches(tables)) == 3 and health(tables)["truncated_files"] == 1
    assert dispatches(read(gzip.compress(whole), "p.ireeprof.gz")) == dispatches(read(whole))


def test_cut_at_every_byte(build, tmp_path):
    """Only the header must be whole."""
    library = ctypes.CDLL(str(build / "libvarve-reader.so"))
    path, whole = tmp_path / "p.ireeprof", writer.small(1)
    paths = (ctypes.c_char_p * 1)(str(path).encode())
    refused = {}
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        trace, error = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
        code = library.varve_trace_open(paths, ctypes.c_size_t(1), None, ctypes.byref(trace), error)
        if code == 0:
            library.varve_trace_close(trace)
        else:
            refused[size] = code
    assert set(refused) == set(range(24)), refused


# ---- --dispatch_statistics ----

def statistics(rows, executable="/opt/iree-benchmark-module"):
    named = [{"name": f"BM_main/{name}", "run_type": "iteration", "iterations": 4,
              "real_time": real, "cpu_time": cpu, "time_unit": unit, **more}
             for name, real, cpu, unit, more in rows]
    return json.dumps({"context": {"date": "2026-11-24", "host_name": "vm", "num_cpus": 2,
                                   "executable": executable, "caches": [{"level": 1}]},
                       "benchmarks": named}, indent=1).encode()


STATISTICS = [("process_time/real_time", 1.5, 2.5, "ms", {}),
              (MATMUL, 250.0, 300.25, "us", {"calls": 2.0, "percent": 50.0}),
              (REDUCTION, 1e-3, 1e-3, "ms", {"calls": 1.0})]


def test_statistics(read):
    """The totals of all iterations."""
    tables = read(statistics(STATISTICS), "statistics.json")
    rows = [(row["name"], row["begin_ns"], row["duration_ns"], row["layer"], dict(row["args"]))
            for row in tables["slices"]]
    assert sorted(rows) == [
        ("BM_main/process_time/real_time", 0, 6_000_000, 1,
         {"iterations": 4, "cpu_ns": 10_000_000}),
        (MATMUL, 0, 1_000_000, DEVICE, {"iterations": 4, "calls": 8, "cpu_ns": 1_201_000}),
        (REDUCTION, 1_000_000, 4000, DEVICE, {"iterations": 4, "calls": 4, "cpu_ns": 4000})]
    assert health(tables) == {"unplaced": 3, "unlinked": 2}
    assert {row["key"] for row in tables["facts"]} >= {"num_cpus", "caches"}
    assert tables["inputs"][0]["format"] == "iree statistics"


def test_statistics_that_say_no_time(read):
    odd = [("a", -1, 0, "ms", {"calls": 1}), ("b", 1, 0, "fortnights", {"calls": 1}),
           ("c", 1e300, 0, "s", {"calls": 1}), ("d", 1, 0, "ns", {"calls": 1})]
    tables = read(statistics(odd), "statistics.json")
    assert [row["name"] for row in tables["slices"]] == ["d"]
    assert health(tables)["ignored"] == 3


def test_statistics_cut_at_every_byte(build, tmp_path, read):
    """Each cut is read as far as it goes, or refused with a sentence."""
    whole = statistics(STATISTICS)
    library = ctypes.CDLL(str(build / "libvarve-reader.so"))
    path = tmp_path / "cut.json"
    paths = (ctypes.c_char_p * 1)(str(path).encode())
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        trace, error = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
        if library.varve_trace_open(paths, ctypes.c_size_t(1), None, ctypes.byref(trace),
                                    error) == 0:
            library.varve_trace_close(trace)
        else:
            assert b"cut.json" in error.raw
    rows = 0
    for size in range(whole.index(b'"executable"') + 60, len(whole), 23):
        seen = len(read(whole[:size], "statistics.json")["slices"])
        assert rows <= seen <= 3
        rows = seen
    assert rows == 3
    (tmp_path / "x.json").write_bytes(statistics(STATISTICS, "/opt/another"))
    assert "iree statistics" not in refusal_or_format(build, tmp_path / "x.json")


def refusal_or_format(build, path):
    try:
        return dump(build, path)["inputs"][0]["format"]
    except AssertionError as error:
        return str(error)

# SPDX-License-Identifier: Apache-2.0
"""Memory of a GPU: unified memory whose pages move, memory pools of the driver, blocks of PyTorch's
caching allocator, and names that a program gives to streams and contexts. With the stand-ins of
tests/drivers; c10's own report is called as PyTorch calls it."""
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

from cuda_recording import collector, kernels, record, work_of  # noqa: E402
from table_reader import tables  # noqa: E402

IN, OUT = "Memcpy HtoD (Unified Memory)", "Memcpy DtoH (Unified Memory)"


def counters(varve, trace, name):
    rows = tables(varve, "info", "--table", "counter_values", trace)["counter_values"]
    return [row["value"] for row in rows if row["name"] == name]


@pytest.mark.parametrize("version", ["18", "28", "130500"])
def test_pages_that_move_are_copies_and_faults_are_counted(varve, tmp_path, version):
    trace, _ = record(varve, tmp_path, "unified", "--collect", "+cuda_unified",
                      STANDIN_VERSION=version, STANDIN_DRIVER="13050")
    copies = tables(varve, "report", "--table", "copies", trace)["copies"]
    assert {row["name"]: row["bytes"] for row in copies if row["row"] == "copy"} == {
        IN: 65536, OUT: 4096}
    assert counters(varve, trace, "GPU page faults") == [32, 48]
    assert counters(varve, trace, "CPU page faults") == [1, 2]
    rows = work_of(trace)
    tracks = {row["name"] for row in rows["tracks"] if row["kind"] == 2}
    assert tracks == {"stream 7", "unified memory"}
    slices = [row for row in rows["slices"] if row["name"] == "GPU page faults"]
    assert [row["duration_ns"] for row in slices] == [600, 600]
    ((_, text),) = collector(varve, trace)
    assert "1 records of unknown kinds left out" in text


def test_unified_memory_is_recorded_only_where_asked(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "unified")
    assert kernels(varve, trace) == {"touch": 1}


def test_what_refuses_unified_memory_is_said_and_the_rest_is_there(varve, tmp_path):
    trace, said = record(varve, tmp_path, "unified", "--collect", "+cuda_unified",
                         cupti="nounified")
    assert kernels(varve, trace) == {"touch": 1}
    assert ("cuda_unified not attached (CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED (28): unified "
            "memory is not told of on this system") in said


def test_pools_of_the_driver(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "pools")
    assert counters(varve, trace, "memory pool (bytes)") == [1 << 20, 1 << 21, 0]
    assert counters(varve, trace, "memory pool in use (bytes)") == [1 << 19, 1 << 20, 0]


def test_blocks_of_pytorchs_caching_allocator(varve, tmp_path):
    """Two on each of two devices; three come back; none on the CPU."""
    trace, _ = record(varve, tmp_path, "pools")
    rows = tables(varve, "memory", "--table", "memory", trace)["memory"]
    found = {row["device"]: row for row in rows}
    assert {device: (row["allocations"], row["peak_bytes"], row["end_bytes"])
            for device, row in found.items()} == {"cuda:0": (2, 8192, 0), "cuda:1": (2, 8192, 4096)}
    for row in found.values():
        assert row["reserved_peak_bytes"] == 2 << 20
        assert row["slack_bytes"] == (2 << 20) - 8192
        assert row["fragmentation"] == pytest.approx(1 - 8192 / (2 << 20))


def test_what_the_caching_allocator_holds_is_a_counter(varve, tmp_path):
    """By device, and where it changes: 1 MB, 2 MB, and 1 MB again as blocks come back."""
    trace, _ = record(varve, tmp_path, "pools")
    rows = tables(varve, "info", "--table", "counter_values", trace)["counter_values"]
    assert {(device, row["value"]) for device in ("cuda:0", "cuda:1") for row in rows
            if row["name"] == "reserved by the caching allocator (bytes)"
            and row["series"] == f"{device} caching allocator"} == {
        (device, size << 20) for device in ("cuda:0", "cuda:1") for size in (1, 2)}
    assert sum(row["name"] == "reserved by the caching allocator (bytes)" for row in rows) == 6


def test_names_of_streams_and_contexts(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "named")
    tracks = {row["name"] for row in work_of(trace)["tracks"] if row["kind"] == 2}
    assert tracks == {"stream 7: copies (training)", "stream 13 (training)"}

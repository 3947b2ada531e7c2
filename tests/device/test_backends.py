# SPDX-License-Identifier: Apache-2.0
"""Backends of devices (include/varve/backend.h) in real programs: what a program hands over is in
the trace with the very times that the device told, under the operator that started it."""
import collections
import itertools
import json
import pathlib
import re
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

import varve_decode  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402

Piece = collections.namedtuple("Piece", "name track begin end correlation")


def run(varve, folder, program, *arguments, under=True):
    """(exit code, the lines that the program printed, as words)"""
    command = [varve, "record", "-o", "t.varve", "--"] if under else []
    done = subprocess.run([*command, binary(f"tests/programs/{program}"), *map(str, arguments)],
                          cwd=folder, env=quiet_environment(), capture_output=True, text=True,
                          check=False)
    if done.returncode == 77:
        pytest.skip(f"needs OpenCL: tools/setup check ({done.stdout.strip()})")
    return done.returncode, [line.split() for line in done.stdout.splitlines()]


def decode(path):
    """([Piece], {track: stream's number}, {correlation: name of the range that launched it}) as the
    second reader has them, times as they were told."""
    trace = varve_decode.open_trace(str(path))
    assert trace.problems == []
    pieces, tracks, launches = [], {}, {}
    (process,) = trace.processes
    for stream in process.streams:
        open_ranges = []
        for record in stream.records:
            fields = record.fields
            if record.name == "varve.activity":
                pieces.append(Piece(process.strings[fields["name"]], fields["track"],
                                    fields["begin"], fields["end"], fields["correlation"]))
            elif record.name == "varve.track":
                tracks[fields["track"]] = fields["stream_number"]
            elif record.name == "varve.launch":
                launches[fields["correlation"]] = open_ranges[-1]
            elif record.id >= 64:
                open_ranges.append(record.name)
            elif record.name == "varve.end":
                open_ranges.pop()
    return pieces, tracks, launches


def work_of(path):
    """[(name, duration in ns)] of the model's work on devices."""
    done = subprocess.run([binary("tests/tools/model_dump"), path], capture_output=True, text=True,
                          check=True)
    rows = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        rows[row.pop("table")].append(row)
    return [(row["name"], row["duration_ns"]) for row in rows["slices"]
            if rows["tracks"][row["track"]]["kind"] == 2]


def told(lines):
    """[(name, stream, begin, end)] of the kernels that the program read by itself."""
    return [(name, int(queue), int(begin), int(end))
            for kind, name, queue, begin, end in (line for line in lines if line[0] == "kernel")]


def numbers(lines):
    (stats,) = [line[1:] for line in lines if line[0] == "stats"]
    return [int(number) for number in stats]


@pytest.mark.parametrize("how, code", [("", 0), ("kill", 137)])
def test_kernels_of_opencl_are_those_that_the_program_reads(varve, tmp_path, how, code):
    exit_code, lines = run(varve, tmp_path, "opencl_queues", 40, how)
    truth = told(lines)
    assert exit_code == code and len(truth) == 120 and numbers(lines) == [120, 120, 0, 0]
    pieces, tracks, launches = decode(tmp_path / "t.varve")
    assert sorted((piece.name, tracks[piece.track], piece.begin, piece.end)
                  for piece in pieces) == sorted(truth)
    assert {(piece.name, launches[piece.correlation]) for piece in pieces} == {
        ("scale", "scale operator"), ("sum", "sum operator")}
    placed = collections.Counter()
    for name, duration_ns in work_of(tmp_path / "t.varve"):
        placed[name] += duration_ns
    assert set(placed) == {"scale", "sum"}
    for name, total_ns in placed.items():  # by the pairs of clocks that do not run equally fast
        assert total_ns == pytest.approx(sum(end - begin for what, _, begin, end in truth
                                             if what == name), rel=1e-3)


def test_each_session_has_its_kernels(varve, tmp_path):
    _, lines = run(varve, tmp_path, "opencl_queues", 5, "session", under=False)
    truth = told(lines)
    for name, part in (("first", truth[:15]), ("second", truth[15:])):
        pieces, tracks, _ = decode(tmp_path / f"{name}.varve")
        assert sorted((piece.name, tracks[piece.track], piece.begin, piece.end)
                      for piece in pieces) == sorted(part)


def test_pairs_of_events_lie_around_the_kernel(varve, tmp_path):
    _, lines = run(varve, tmp_path, "opencl_queues", 20, "pairs")
    pieces, tracks, _ = decode(tmp_path / "t.varve")
    assert len(pieces) == 60
    by_stream = collections.defaultdict(list)
    for piece in sorted(pieces, key=lambda piece: piece.begin):
        by_stream[tracks[piece.track]].append(piece)
    for name, queue, begin, end in sorted(told(lines), key=lambda row: row[2]):
        piece = by_stream[queue].pop(0)
        assert piece.name == name and piece.begin <= begin <= end <= piece.end


@pytest.mark.parametrize("how, code", [("", 0), ("kill", 137)])
def test_threads_are_streams_of_the_host(varve, tmp_path, how, code):
    exit_code, lines = run(varve, tmp_path, "host_streams", 300, how)
    assert exit_code == code
    begun, recorded, total_ns = numbers(lines)
    assert (begun, recorded) == (900, 900)
    pieces, tracks, launches = decode(tmp_path / "t.varve")
    assert sum(piece.end - piece.begin for piece in pieces) == total_ns
    assert set(launches.values()) == {"task"} and sorted(set(tracks.values())) == [0, 1, 2]
    by_track = collections.defaultdict(list)
    for piece in sorted(pieces, key=lambda piece: piece.begin):
        by_track[piece.track].append(piece)
    brackets = collections.defaultdict(list)
    for _, stream, *times in (line for line in lines if line[0] == "work"):
        brackets[stream].append([int(time) for time in times])
    def is_within(row, around):
        return len(row) == len(around) and all(
            early <= piece.begin <= begun_at and ending <= piece.end <= late
            for piece, (early, begun_at, ending, late) in zip(row, around))

    # which track is which stream is not said: streams may begin in one order and work in another
    assert any(all(map(is_within, order, brackets.values()))
               for order in itertools.permutations(by_track.values()))


@pytest.mark.parametrize("how, code", [("", 0), ("kill", 137)])
def test_a_device_tells_of_kernels_and_counters_later(varve, tmp_path, how, code):
    """Its buffers are handed on the last one first, and the trace has them in order of time, under
    the operators that launched them, each track's counter for itself."""
    exit_code, lines = run(varve, tmp_path, "device_buffers", 5, how)
    path = tmp_path / "t.varve"
    assert exit_code == code
    assert [int(line[1]) for line in lines if line[0] == "told"] == [0, 12, 24, 36, 48]
    pieces, _, launches = decode(path)
    kernels = [line[3:] for line in lines if line[0] == "kernel"]
    assert sorted((str(piece.begin), str(piece.end)) for piece in pieces) == sorted(
        map(tuple, kernels))
    assert [piece.begin for piece in pieces] != sorted(piece.begin for piece in pieces)
    assert {launches[piece.correlation] for piece in pieces} == {"attention"}
    said = collections.defaultdict(list)
    for _, _, track, time, value in (line for line in lines if line[0] == "counter"):
        said[f"device:{track[4]} {track}"].append((int(time), float(value)))
    report = {name: tables(varve, "report", "--table", name, "--top", "0", path)[name]
              for name in ("counters", "counter_values")}
    series = {row["series"]: row for row in report["counters"] if row["row"] == "counter"}
    assert set(series) == set(said) and len(said) == 4
    for name, values in said.items():
        in_order = [value for _, value in sorted(values)]
        row = series[name]
        assert (row["name"], row["values"], row["first"], row["last"], row["min"], row["max"]) == (
            "power (W)", 10, in_order[0], in_order[-1], min(in_order), max(in_order))
        rows = [row for row in report["counter_values"] if row["series"] == name]
        assert [row["value"] for row in rows] == in_order
        assert {row["thread"] for row in rows} == {name.split()[1]}
        assert rows[-1]["at_ns"] - rows[0]["at_ns"] == pytest.approx(
            max(values)[0] - min(values)[0], rel=1e-3, abs=1000)
    check_export(varve, path, said)


def check_export(varve, path, said):
    """The Chrome export has the values, too, by series."""
    out = path.with_suffix(".json")
    subprocess.run([varve, "export", "-o", out, path], check=True, capture_output=True)
    found = collections.defaultdict(list)
    for event in json.loads(out.read_text())["traceEvents"]:
        if event["ph"] == "C":
            ((series, value),) = event["args"].items()
            found[series].append((event["ts"], value))
    assert {name: [value for _, value in sorted(values)] for name, values in found.items()} == {
        name: [value for _, value in sorted(values)] for name, values in said.items()}


def test_the_trace_says_that_a_backend_is_there(varve, tmp_path):
    run(varve, tmp_path, "host_streams", 1)
    rows = tables(varve, "info", tmp_path / "t.varve")["collectors"]
    assert [(row["collector"], row["state"]) for row in rows
            if row["collector"].startswith("device")] == [("device host", "attached")]


def test_numbers_of_opencl_are_those_of_its_headers(tmp_path):
    header = pathlib.Path("/usr/include/CL/cl.h")
    if not header.exists():
        pytest.skip("needs OpenCL's headers: tools/setup check")
    ours = (TESTS.parent / "src" / "device" / "opencl" / "api.h").read_text()
    values = re.findall(r"^#define (CL_\w+) (0x[0-9a-f]+|\d+)u?$", ours, re.MULTILINE)
    assert len(values) >= 13
    (tmp_path / "same.c").write_text(
        "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n" +
        "".join(f'_Static_assert({name} == {value}, "{name}");\n' for name, value in values))
    subprocess.run(["cc", "-std=c11", "-fsyntax-only", tmp_path / "same.c"], check=True)

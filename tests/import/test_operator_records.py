# SPDX-License-Identifier: Apache-2.0
"""Records of operators with outputs, formats and identities (doc/format.md §6): every reader finds
them, the model has their tensors by side, and shapes and the Chrome export show them."""
import json
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS / "import"),
                str(TESTS.parent / "tools")]

import trace_writer  # noqa: E402
import varve_decode  # noqa: E402
from table_reader import operators  # noqa: E402
from test_device_records import dump  # noqa: E402
from test_varve_format import babeltrace_count  # noqa: E402

IMAGE, WEIGHT = ("f32", [32, 1, 28, 28]), ("f32", [8, 1, 5, 5])


def run(varve, *arguments):
    return subprocess.run([varve, *arguments], capture_output=True, text=True, check=True).stdout


def written(folder, all_tensors):
    """A trace with a range "conv" for each list of tensors."""
    trace = trace_writer.Trace(folder / "o.varve")
    process = trace.process(pid=100)
    conv = process.site("begin", "conv", layer="OP")
    thread = process.thread(tid=100)
    for i, tensors in enumerate(all_tensors):
        thread.begin(conv, at=1000 + 100 * i)
        thread.operator(tensors, at=1001 + 100 * i, flop=48, size=7, sequence=3, forward_tid=9)
        thread.end(at=1090 + 100 * i)
    return trace, trace.write()


def test_every_reader_finds_them(varve, tmp_path):
    trace, path = written(tmp_path, [
        [(0, *IMAGE, "NCHW", 5), (0, *WEIGHT), (1, "f32", [32, 8, 24, 24], "NC1HWC0", 2**64 - 1)],
        [(1, "i64", [4]), (0, *WEIGHT, None, 6), (7, "f32", [])],
        []])
    decoded = varve_decode.open_trace(str(path))
    assert [problem.text for problem in decoded.problems] == [
        "unknown dtype, side or format in varve.operator"]  # the side 7, which is an input
    assert varve_decode.counts(decoded)["by_name"]["varve.operator"] == 3
    if (count := babeltrace_count(path)) is not None:
        assert count == trace.records
    model = dump(path)
    sides = {}
    for slice_row in model["slices"]:
        op = model["ops"][slice_row["op"]]
        rows = model["tensors"][op["first_tensor"]:][:op["tensor_count"] + op["output_count"]]
        sides[op["shapes"]] = [(row["side"], row["format"], row["identity"]) for row in rows]
        assert (op["flop"], op["bytes"], op["sequence"], op["forward_tid"]) == (48, 7, 3, 9)
        assert [row["side"] for row in rows] == [0] * op["tensor_count"] + [1] * op["output_count"]
    assert sides == {
        "[32,1,28,28] f32, [8,1,5,5] f32 -> [32,8,24,24] f32":
            [(0, "NCHW", 5), (0, "", 0), (1, "NC1HWC0", 2**64 - 1)],
        "[8,1,5,5] f32, [] f32 -> [4] i64": [(0, "", 6), (0, "", 0), (1, "", 0)],
        "": []}


def test_shapes_tell_what_an_operator_makes(varve, tmp_path):
    """Operators with one input and different outputs are different ones."""
    _, path = written(tmp_path, [[(0, *IMAGE), (1, "f32", [1])], [(0, *IMAGE), (1, "f32", [2])],
                                 [(0, *IMAGE), (1, "f32", [1])], [(1, "f32", [3])]])
    assert {row["shapes"]: row["calls"] for row in operators(varve, path, "--by", "shape")} == {
        "[32,1,28,28] f32 -> [1] f32": 2, "[32,1,28,28] f32 -> [2] f32": 1, "-> [3] f32": 1}


def test_the_chrome_export_has_both_sides(varve, tmp_path):
    _, path = written(tmp_path, [[(0, *IMAGE, "NCHW", 5), (0, *WEIGHT),
                                  (1, "f16", [32, 8], None, 6)], [(0, *IMAGE)]])
    run(varve, "export", path, "--to", "chrome", "-o", tmp_path / "o.json")
    events = json.loads((tmp_path / "o.json").read_text())["traceEvents"]
    args = [event["args"] for event in events if event.get("name") == "conv"]
    names = ["Input Dims", "Input type", "Input Formats", "Input Ids", "Output Dims",
             "Output type", "Output Ids"]
    assert [args[0].get(name) for name in names] == [
        [[32, 1, 28, 28], [8, 1, 5, 5]], ["float", "float"], ["NCHW", ""], [5, 0], [[32, 8]],
        ["c10::Half"], [6]]
    assert [name for name in names if name in args[1]] == names[:2]


def test_equal_tensors_are_kept_once(tmp_path):
    _, path = written(tmp_path, [[(0, *IMAGE, "NCHW", 5), (1, *WEIGHT, None, 6)]] * 100)
    assert len(dump(path)["tensors"]) == 2


def test_a_rank_beyond_all_bounds_is_said(tmp_path):
    trace, path = written(tmp_path, [[(0, "f32", [1])]])
    thread = trace.processes[0].streams[0]
    thread.operator([(1, "f32", [7] * 8000)], at=2000)
    path = trace.write()
    done = subprocess.run([sys.executable, str(TESTS.parent / "tools/varve_decode.py"), path],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(dump(path)["dims"]) == 1  # behind the end of all ranges: of no operator

# SPDX-License-Identifier: Apache-2.0
"""A recorded PyTorch program as a Chrome trace: what Perfetto, HTA and we ourselves find in it."""
import collections
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump  # noqa: E402

LINKS = 11  # of each step of the conv net: PyTorch's own trace has as many arrows


@pytest.fixture(scope="module", name="folder")
def fixture_folder(record):
    return record("torch", "torch_recorded.py", "conv", options=("--collect", "+strides"))


@pytest.fixture(scope="module", name="exported")
def fixture_exported(varve, folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "exported.json"
    subprocess.run([varve, "export", "-q", "--to", "chrome", "-o", path, folder / "run.varve"],
                   check=True)
    return path


@pytest.fixture(scope="module", name="tables")
def fixture_tables(build, folder):
    return dump(build, folder / "run.varve")


@pytest.fixture(scope="module", name="steps")
def fixture_steps(tables):
    return {row["index"]: (row["begin_ns"], row["begin_ns"] + row["duration_ns"])
            for row in tables["steps"]}


def test_perfetto_drops_nothing(perfetto_query, exported, tables):
    def ask(*arguments):
        done = subprocess.run([*perfetto_query, *map(str, arguments)], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)
    stats = ask("--stats", exported)
    assert stats["errors"] == []
    assert stats["counts"]["slices"] == len(tables["slices"]) + len(tables["memory"])
    assert stats["counts"]["unfinished"] == 0
    assert stats["counts"]["flows"] == LINKS * 4
    depths = ask(exported, "SELECT name, depth FROM slice WHERE dur > 0 ORDER BY ts, depth")
    assert [(row["name"], row["depth"]) for row in depths] == [
        (row["name"], row["depth"]) for row in tables["slices"] if row["duration_ns"] > 0]
    arrows = ask(exported, "SELECT a.name AS departs, b.name AS arrives FROM flow f JOIN slice a "
                           "ON f.slice_out = a.id "
                 "JOIN slice b ON f.slice_in = b.id")
    joined = collections.Counter((row["departs"], row["arrives"]) for row in arrows)
    assert joined["aten::convolution", "ConvolutionBackward0"] == 2 * joined["aten::addmm",
                                                                             "AddmmBackward0"] == 8


def flat(dims):
    """The tensors of a list one after the other, as we keep them: "[[[2], [3]], []]" as "[[2], [3],
    []]"."""
    if not str(dims).startswith("["):
        return str(dims)
    out = []
    for shape in json.loads(str(dims)):
        out += shape if shape and isinstance(shape[0], list) else [shape]
    return json.dumps(out)


def test_hta_finds_what_it_finds_in_pytorch_s_own_trace(hta, exported, folder, tables, steps):
    """Of several steps it leaves the last one out, and all that begins later: of ours the one after
    all training, of PyTorch's own the third. Arrows it reads from no trace."""
    frames, iterations = [], []
    for path in (exported, folder / "conv.json"):
        trace = hta(trace_files={0: str(path)}).t
        frame, names = trace.get_trace(0), trace.symbol_table.get_sym_table()
        frame = frame[~frame["name"].map(names.__getitem__).str.startswith("[memory]")]
        frames.append([(names[name], names[category], flat(dims), step)
                       for name, category, dims, step in
                       zip(frame["name"], frame["cat"], frame["input_dims"], frame["iteration"])])
        iterations.append(sorted(trace.get_iterations(0)))
    last_ns = max(begin_ns for begin_ns, _ in steps.values())
    assert collections.Counter(row[0] for row in frames[0]) == collections.Counter(
        row["name"] for row in tables["slices"] if row["begin_ns"] < last_ns)
    assert iterations == [[0, 1, 2, 3], [1, 2]]
    common = [collections.Counter(row for row in frame if row[3] in iterations[1])
              for frame in frames]
    assert common[0] == common[1]
    assert sum(common[0].values()) > 700


def test_read_again_it_is_the_same(build, exported, tables):
    again = dump(build, exported)
    for column in ("name", "begin_ns", "duration_ns", "depth", "layer", "category"):
        assert [row[column] for row in again["slices"]] == [row[column]
                                                            for row in tables["slices"]], column
    for column in ("sequence", "forward_tid", "shapes"):
        assert [again["ops"][row["op"]][column] for row in again["slices"]] == [
            tables["ops"][row["op"]][column] for row in tables["slices"]], column
    assert [(row["index"], row["duration_ns"]) for row in again["steps"]] == [
        (row["index"], row["duration_ns"]) for row in tables["steps"]]
    assert [(row["address"], row["bytes"]) for row in again["memory"]] == [
        (row["address"], row["bytes"]) for row in tables["memory"]]

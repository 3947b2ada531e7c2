# SPDX-License-Identifier: Apache-2.0
"""Every table on a terminal of 80 columns: no line is longer, and the names can be told apart."""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer  # pylint: disable=wrong-import-position
import made_training  # pylint: disable=wrong-import-position

WIDTH = 80
REAL = ["hta/ns_resolution.json.gz", "dlrm8/rank1.json.gz", "kineto/resnet50_workers0.json.gz",
        "xplane/jax_mi300_conv.xplane.pb", "ascend/trace_view.json.gz",
        "nsys/saxpy_mpi_cuda.sqlite"]
DIFF = ("diff", "diff_operators", "diff_kernels", "diff_tree")


def names_of_tables(varve):
    told = subprocess.run([varve, "help", "tables"], capture_output=True, text=True,
                          check=True).stdout
    names = re.findall(r"^  ([a-z_]+)  ", told, re.MULTILINE)
    assert len(names) > 40
    return [name for name in names if name not in DIFF]


def shown(*command, cwd=None):
    """The lines that the command prints on such a terminal; it must succeed."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "PAGER": "cat",
                   "VARVE_PAGER": "cat"}
    environment.pop("COLUMNS", None)
    output = b""
    with subprocess.Popen([str(word) for word in command], stdin=terminal, stdout=terminal,
                          stderr=subprocess.DEVNULL, env=environment, cwd=cwd) as process:
        os.close(terminal)
        while True:
            try:
                data = os.read(reader, 65536)
            except OSError: # the other end is closed
                break
            if not data:
                break
            output += data
    os.close(reader)
    assert process.returncode == 0, output
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode()).replace("\r", "").splitlines()


def too_long(varve, path, tables):
    found = {}
    for table in tables:
        for line in shown(varve, "report", "--no-cache", "--table", table, "--top", "5", path.name,
                          cwd=path.parent):
            if len(line) > WIDTH:
                found.setdefault(table, line)
    return found


def test_advice_in_the_last_column_is_broken_and_not_cut(varve, tmp_path):
    path = kineto_writer.write(tmp_path / "made.json", made_training.events(1, 6),
                               made_training.head(0))
    for command in (("doctor",), ("report", "--no-cache", "--table", "graph", path)):
        lines = shown(varve, *command)
        assert max(map(len, lines)) <= WIDTH
        assert [line for line in lines if line.endswith("…")] == []


@pytest.mark.parametrize("seed", [1, 2])
def test_made_traces_fit(varve, tmp_path, seed):
    path = kineto_writer.write(tmp_path / "made.json", made_training.events(seed, 6),
                               made_training.head(0))
    assert too_long(varve, path, names_of_tables(varve)) == {}


@pytest.mark.parametrize("name", REAL)
def test_real_traces_fit(varve, traces, name):
    assert too_long(varve, traces / name, names_of_tables(varve)) == {}


def test_both_sides_of_a_diff_fit(varve, tmp_path):
    paths = [kineto_writer.write(tmp_path / f"{seed}.json", made_training.events(seed, 6))
             for seed in (3, 4)]
    lines = shown(varve, "diff", "--no-cache", *paths)
    assert len(lines) > 20
    assert [line.split()[-1] for line in lines
            if line.lstrip().startswith("change ")][-3:] == ["operator", "kernel", "path"]
    assert [line for line in lines if len(line) > WIDTH and str(tmp_path) not in line] == []


def test_a_long_path_of_a_diff_keeps_the_call_at_its_end(varve, tmp_path):
    deep = [f"layer_of_some_length_{level}" for level in range(6)] + ["matmul"]

    def step(number, own_ns):
        ends = [{"ph": "X", "pid": 1, "tid": 1, "cat": "cpu_op", "name": name, "ts": number + level,
                 "dur": own_ns - 2 * level} for level, name in enumerate(deep)]
        return ends + [{"ph": "X", "pid": 1, "tid": 1, "cat": "user_annotation", "ts": number - 1,
                        "dur": own_ns + 2, "name": f"ProfilerStep#{number // 1000}"}]
    paths = [kineto_writer.write(tmp_path / f"{own_ns}.json",
                                 step(1000, own_ns) + step(2000, own_ns + 1))
             for own_ns in (300, 400)]
    lines = shown(varve, "diff", "--no-cache", *paths)
    first = [line for line in lines if line.endswith(" > matmul")]
    assert len(first) == 1 and first[0].startswith("  100 ns") and "…" in first[0]
    assert [line.split()[:2] for line in lines if "change  " in line][0] == ["change", "100"]
    assert ["relative", "change"] in [line.split()[:2] for line in lines]


def test_explanations_are_wrapped_and_not_cut(varve, tmp_path):
    path = kineto_writer.write(tmp_path / "made.json", made_training.events(1, 3))
    lines = shown(varve, "validate", path.name, cwd=tmp_path)
    assert max(map(len, lines)) <= WIDTH and not any("…" in line for line in lines)
    assert "not listed" in " ".join(" ".join(lines).split())


def deep_calls(tmp_path, levels):
    """A call in a call …, each 2 µs longer than the one within."""
    names = [f"folder/of/a/module_{level}.py({level}): function_{level}" for level in range(levels)]
    return kineto_writer.write(tmp_path / "deep.json", [
        kineto_writer.span(name, 1000 * level, 1_000_000 - 1000 * level)
        for level, name in enumerate(names)])


def tree_of(varve, path):
    lines = shown(varve, "report", "--no-cache", "--table", "call_tree", "--top", "0", path.name,
                  cwd=path.parent)
    title = next(line for line in lines if line.endswith("operator"))
    assert max(map(len, lines)) <= WIDTH
    return [line[title.index("operator"):] for line in lines[lines.index(title) + 1:]]


def test_names_of_a_call_tree_stay_whole_as_columns_and_blanks_give_way(varve, tmp_path):
    tree = tree_of(varve, deep_calls(tmp_path, 10))
    for level, line in enumerate(tree[:10]):
        assert line == " " * level + f"folder/of/a/module_{level}.py({level}): function_{level}"


def test_a_deep_place_of_a_call_tree_has_its_level_in_front(varve, tmp_path):
    tree = tree_of(varve, deep_calls(tmp_path, 60))
    for level in (20, 40, 59):
        assert re.fullmatch(f" +{level} folder/of.*…*.*function_{level}", tree[level])

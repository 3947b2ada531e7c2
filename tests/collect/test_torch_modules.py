# SPDX-License-Identifier: Apache-2.0
"""--collect modules: each call of an nn.Module, as PyTorch's own profiler sees the same run; and on
every Python that Varve traces, with a torch.nn that is a few lines of Python, that the program does
not notice."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]

from model_tables import dump, health  # noqa: E402
from table_reader import operators  # noqa: E402
from torch_pythons import VERSIONS, environment, python_of  # noqa: E402

MODULE = "nn.Module: "
LAYERS = 3


def calls_of(rows, slices):
    """[(name, depth among the modules, path)] of those of `rows` that are modules, in order of
    their begin."""
    def depth(row):
        around = []
        while row["parent"] is not None:
            row = slices[row["parent"]]
            around.append(row)
        return sum(other["name"].startswith(MODULE) for other in around)
    found = []
    for row in rows:
        if row["name"].startswith(MODULE):
            name, path = re.fullmatch(r"(nn\.Module: \w+)(?: \((.*)\))?", row["name"]).groups()
            found.append((name, depth(row), path))
    return found


@pytest.fixture(scope="module", name="run", params=VERSIONS)
def fixture_run(request, build, varve, tmp_path_factory):
    """(what the profiler saw, the model's tables, the folder)"""
    folder = tmp_path_factory.mktemp("modules")
    done = subprocess.run([varve, "record", "-o", "run.varve", "--collect", "+modules", "--",
                           python_of(request.param), HERE / "programs" / "modules_profiled.py",
                           "theirs.json"], cwd=folder, env=environment(),
                          capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "varve: modules attached (calls of nn.Module)\n" in done.stderr
    found = dump(build, folder / "run.varve")
    assert found["run"][0]["lost"] == 0 and health(found).keys() <= {"zero_length"}
    theirs = json.loads((folder / "theirs.json").read_text())
    assert theirs["version"].startswith(request.param + ".")
    return theirs["calls"], found, folder


def within(found, name):
    """Slices of the same track that begin while the one called `name` is open; and those of other
    tracks."""
    (window,) = (row for row in found["slices"] if row["name"] == name)
    begun = [row for row in found["slices"]
             if 0 <= row["begin_ns"] - window["begin_ns"] < window["duration_ns"]]
    return ([row for row in begun if row["track"] == window["track"]],
            [row for row in begun if row["track"] != window["track"]])


def test_the_same_modules_in_the_same_order_and_nesting(run):
    theirs, found, _ = run
    ours = calls_of(within(found, "window")[0], found["slices"])
    assert [[name, depth] for name, depth, _ in ours] == theirs
    assert len(ours) == 2 * (1 + 5 * LAYERS + 5 + 5 + 5)


def test_the_path_of_each_in_its_model(run):
    _, found, _ = run
    ours = calls_of(within(found, "window")[0], found["slices"])
    paths = {name.removeprefix(MODULE): path for name, _, path in ours}
    block = [("Block", ""), ("LayerNorm", ".norm"), ("ReLU", ".act")]
    expected = {f"{name}_{i}": f"layers.{i}{end}" for i in range(LAYERS) for name, end in block}
    expected |= {f"Linear_{2 * i + j}": f"layers.{i}.{('up', 'down')[j]}" for i in range(LAYERS)
                 for j in range(2)}
    expected |= {"Net_0": None, "Again_0": None, "Sequential_0": "head", "Linear_6": "head.0",
                 "Sequential_1": "head.1", "Tanh_0": "head.1.0", "Linear_7": "head.1.1",
                 "Linear_8": "inner.last"}
    assert paths == expected


def test_another_thread_s_are_on_its_own_track(run):
    _, found, _ = run
    others = calls_of(within(found, "thread")[1], found["slices"])
    assert others == calls_of(within(found, "window")[0],
                              found["slices"])[:len(others)] and len(others) == 31


def test_operators_are_within_their_modules_and_backward_ones_are_theirs(run, varve):
    """Of each Linear one aten::linear a call, and one AddmmBackward0 of each that was in the
    loss."""
    _, _, folder = run

    def calls(name):
        rows = operators(varve, "--by", "module", "--filter", f"name=='{name}'",
                         folder / "run.varve")
        return {row["name"].removeprefix(MODULE): row["calls"] for row in rows}
    forward, backward = calls("aten::linear"), calls("AddmmBackward0")
    assert forward.pop("Linear_2 (layers.1.up)") == forward.pop("Linear_3 (layers.1.down)") == 6
    assert set(forward.values()) == {3} and len(forward) == 7
    assert set(backward.values()) == {3} and len(backward) == 8


# ---- every Python: a torch.nn of a few lines ----

STAND_IN = {"torch/__init__.py": "", "torch/nn/__init__.py": "", "torch/nn/modules/__init__.py": "",
            "torch/nn/modules/module.py": """
class Module:
    def __init__(self, **members):
        self.__dict__["_modules"] = members

    def __getattr__(self, name):
        if name not in self.__dict__.get("_modules", ()):
            raise AttributeError(name)
        return self.__dict__["_modules"][name]

    def _call_impl(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    __call__ = _call_impl


import colorsys
"""}
ONE_CALL = [("Pair_0", 0, None), ("Pair_1", 1, "one"), ("Leaf_0", 2, "one.one"),
            ("Leaf_1", 2, "one.two"), ("Leaf_2", 1, "two")]


@pytest.fixture(name="stand_in")
def fixture_stand_in(tmp_path):
    folder = tmp_path / "stand-in"
    for name, text in STAND_IN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_the_program_does_not_notice(python, run_both, stand_in, build):
    run = run_both(python, HERE / "programs" / "modules_called.py", stand_in, collect="modules")
    assert run.plain.returncode == 0 and run.plain.stdout.count("Traceback") == 5
    assert (run.done.returncode, run.done.stdout, run.done.stderr) == (0, run.plain.stdout,
                                                                       run.plain.stderr)
    found = dump(build, run.trace)
    assert found["run"][0]["lost"] == 0 and found["health"][0].get("unfinished", 0) == 0
    main = calls_of(found["slices"], found["slices"])
    main = [(name.removeprefix(MODULE), depth, path) for name, depth, path in main]
    assert main[:30] == 6 * ONE_CALL
    assert main[30:33] == [("Own_0", depth, None) for depth in range(3)]
    bare = [call for call in main if call[0].startswith("Bare")]
    assert bare == 300 * [("Bare_0", 0, None)]
    is_3_11 = subprocess.run([python, "-c",
                              "import sys; sys.exit(sys.version_info[:2] != (3, 11))"],
                              check=False).returncode == 0
    assert main.count(ONE_CALL[0]) == 6 + 2 + (not is_3_11) + 4 * 50


LATE = """
import sys
sys.path[:0] = sys.argv[1:]
from torch.nn.modules.module import Module
import varve


class Leaf(Module):
    def forward(self):
        pass


leaf = Leaf()
for sources in ("modules", "none", "switch", "none,+modules"):
    leaf()
    with varve.profile(**({"with_modules": True} if sources == "switch" else {"collect": sources})) as profile:
        leaf()
        leaf()
    print(sum(row.key == "nn.Module: Leaf_0" and row.count for row in profile.key_averages()))
leaf()
"""


def test_from_a_program_that_runs_already(either_python, stand_in, build):
    """What is not asked for any more is not recorded, and can be asked for again."""
    python_folder = HERE.parents[1] / "python"
    done = subprocess.run([either_python, "-c", LATE, stand_in, python_folder],
                          env=environment(VARVE_LIBRARY=str(build / "libvarve.so"),
                          VARVE=str(build / "varve")), capture_output=True, text=True, timeout=240,
                          check=False)
    assert (done.stdout, done.stderr) == ("2\n0\n2\n2\n", "")

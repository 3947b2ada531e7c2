# SPDX-License-Identifier: Apache-2.0
"""mean_ns and deviation_ns of operators, kernels and the call tree, counted again in exact
fractions."""
import collections
import fractions
import gzip
import json
import math
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer as kineto  # pylint: disable=wrong-import-position
import table_reader  # pylint: disable=wrong-import-position

NAMES = ["aten::mm", "aten::add", "aten::relu"]


def figures(values):
    """Mean and standard deviation, rounded down."""
    mean = fractions.Fraction(sum(values), len(values))
    variance = sum((value - mean)**2 for value in values) / len(values)
    return math.floor(mean), math.isqrt(math.floor(variance))


def table(varve, name, *arguments):
    rows = table_reader.tables(varve, "report", "--no-cache", "--table", name, *arguments)[name]
    return [row for row in rows if row["row"] in ("operator", "group")]


def told(row, prefix=""):
    return row[f"{prefix}mean_ns"], row[f"{prefix}deviation_ns"]


class Made:
    """Random operators inside operators, with kernels, on one thread; what each table is to say."""

    def __init__(self, seed):
        self.draw, self.now, self.events = random.Random(seed), 0, []
        self.calls, self.kernels, self.paths = (collections.defaultdict(list) for _ in range(3))
        self.in_steps = collections.defaultdict(list)
        for number in range(4):
            begin, self.now = self.now, self.now + 1
            for _ in range(self.draw.randint(1, 5)):
                self.operator((), True)
            self.now += 1
            self.events.append(kineto.step(number, begin, self.now))
            self.operator((), False)

    def operator(self, path, is_in_step):
        name, begin = self.draw.choice([name for name in NAMES if name not in path]), self.now
        self.now += self.draw.randint(1, 10**self.draw.randint(1, 9))
        for _ in range(self.draw.randrange(3) if len(path) < 2 else 0):
            self.operator(path + (name,), is_in_step)
        at, length = self.now, self.draw.randint(1, 10**self.draw.randint(1, 12))
        self.now += 10
        self.events += kineto.launched(f"kernel of {name}", len(self.events) + 1, (at, at + 5),
                                       (at + 5, at + 5 + length), stream=len(self.events))
        self.kernels[f"kernel of {name}"].append(length)
        self.paths[path + (name, "cudaLaunchKernel")].append(5)
        self.events.append(kineto.span(name, begin, self.now))
        self.calls[name].append(self.now - begin)
        self.paths[path + (name,)].append(self.now - begin)
        if is_in_step:
            self.in_steps[name].append(self.now - begin)


@pytest.mark.parametrize("seed", range(8))
def test_means_are_those_counted_again(varve, tmp_path, seed):
    made = Made(seed)
    path = kineto.write(tmp_path / "made.json", made.events)
    rows = {row["name"]: row for row in table(varve, "operators", "--warm-up", path)}
    assert len(rows) == len(NAMES) + 1
    for name in NAMES:
        assert told(rows[name]) == figures(made.calls[name])
        if made.in_steps[name]:
            assert told(rows[name], "step_") == figures(made.in_steps[name])
    kernels = {row["name"]: told(row) for row in table(varve, "kernels", "--warm-up", path)}
    assert kernels == {name: figures(values) for name, values in made.kernels.items()}
    nodes, found = {}, {}
    for row in table(varve, "call_tree", "--warm-up", path):
        nodes[row["node"]] = nodes.get(row["parent"], ()) + (row["name"],)
        found[nodes[row["node"]]] = told(row)
    assert found == {names: figures(values) for names, values in made.paths.items()}


def test_a_call_in_the_tree_is_as_long_as_what_counts_in_it(varve, tmp_path):
    """The filter takes the operator in the middle out; what is inside it counts."""
    events = []
    for call, (outer_ns, inner_ns, own_ns) in enumerate([(1000, 400, 100), (3000, 800, 500)]):
        at = 10_000 * call
        events += [kineto.span("outer", at, at + outer_ns),
                   kineto.span("middle", at + 100, at + 100 + inner_ns),
                   kineto.span("inner", at + 150, at + 150 + own_ns)]
    path = kineto.write(tmp_path / "filtered.json", events)
    rows = {row["name"]: row for row in table(varve, "call_tree", "--filter", "name!='middle'",
                                              path)}
    outer = [1000 - 400 + 100, 3000 - 800 + 500]
    assert set(rows) == {"outer", "inner"}
    assert (rows["outer"]["total_ns"], *told(rows["outer"])) == (sum(outer), *figures(outer))
    assert told(rows["inner"]) == figures([100, 500])


@pytest.mark.parametrize("name", ("operators", "kernels", "call_tree"))
@pytest.mark.parametrize("column", ("mean", "deviation"))
def test_rows_can_be_sorted_by_them(varve, tmp_path, name, column):
    path = kineto.write(tmp_path / "made.json", Made(7).events)
    rows = table(varve, name, "--warm-up", "--sort", column, path)
    if name == "call_tree":
        rows = [row for row in rows if row["parent"] is None]
    values = [row[f"{'step_' if name == 'operators' else ''}{column}_ns"] or 0 for row in rows]
    assert len(rows) > 1 and values == sorted(values, reverse=True)


def test_kernels_of_a_real_trace(varve, traces):
    path = traces / "kineto" / "resnet50_workers0.json.gz"
    durations = collections.defaultdict(list)
    with gzip.open(path) as file:
        for event in json.load(file, parse_int=str, parse_float=str)["traceEvents"]:
            if event.get("cat") in ("Kernel", "Memcpy", "Memset"):
                durations[event["name"]].append(int(fractions.Fraction(event["dur"]) * 1000))
    found = {row["name"]: told(row) for row in table(varve, "kernels", "--warm-up", path)}
    assert len(found) > 20
    assert found == {name: figures(values) for name, values in durations.items()}

# SPDX-License-Identifier: Apache-2.0
"""Table offload of varve diff: which operations of one program go to which of two devices. A search
over all divisions finds nothing better."""
import itertools
import math
import pathlib
import random
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402

RATE, LATENCY_NS = 10**9, 3000  # a byte takes a nanosecond


def program(operations, times, runs=1):
    """operations: [(operands, elements of the result)]; operand -1 is the argument. times: ns of
    one run by operation, None = not measured."""
    lines = ["func.func @f(%arg0: tensor<500xf32>) -> tensor<4xf32> {"]
    type_of = {-1: "tensor<500xf32>"} | {
        number: f"tensor<{elements}xf32>" for number, (_, elements) in enumerate(operations)}
    for number, (operands, _) in enumerate(operations):
        names = ", ".join("%arg0" if operand < 0 else f"%{operand}" for operand in operands)
        types = ", ".join(type_of[operand] for operand in operands)
        profile = "" if times[number] is None else (
            f" {{varve.profile = {{count = {runs} : i64, total = {times[number] * runs} : i64}}}}")
        lines.append(f'  %{number} = "t.op{number}"({names}){profile} : ({types}) -> '
                     f"{type_of[number]}")
    last = len(operations) - 1
    lines += [f"  return %{last} : {type_of[last]}", "}", ""]
    return "\n".join(lines)


def cost(operations, base, new, on_new):
    """One run, with the argument and the return on the base (False)."""
    side = {-1: False, "return": False} | dict(enumerate(on_new))
    users = {}
    for number, (operands, _) in enumerate(operations):
        for operand in operands:
            users.setdefault(operand, set()).add(number)
    users.setdefault(len(operations) - 1, set()).add("return")
    total = sum((new if on_new[i] else base)[i] or 0 for i in range(len(operations)))
    for value, takers in users.items():
        if any(side[taker] != side[value] for taker in takers):
            elements = 500 if value < 0 else operations[value][1]
            total += LATENCY_NS + math.ceil(4 * elements * 10**9 / RATE)
    return total


def offload(varve, folder, base_text, new_text, *options):
    (folder / "base.mlir").write_text(base_text)
    (folder / "new.mlir").write_text(new_text)
    return table_reader.tables(varve, "diff", "--no-cache", "--table", "offload", *options,
                               folder / "base.mlir", folder / "new.mlir")["offload"]


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_better_than_the_answer(varve, tmp_path, seed):
    draw = random.Random(seed)
    count = 9
    operations = [(sorted({draw.randrange(-1, number) if number else -1
                           for _ in range(draw.choice([1, 1, 2, 3]))}),
                   draw.choice([1, 50, 700, 5000])) for number in range(count)]
    base = [draw.choice([100, 4000, 20000, 90000]) for _ in range(count)]
    new = [None if draw.random() < 0.1 else draw.choice([50, 900, 6000, 30000])
           for _ in range(count)]
    rows = offload(varve, tmp_path, program(operations, base, 4), program(operations, new, 7),
                   "--link", "1GB/s,3us")
    free = [choice for choice in itertools.product((False, True), repeat=count)
            if not any(moved and new[i] is None for i, moved in enumerate(choice))]
    best = min(cost(operations, base, new, choice) for choice in free)
    total = rows[-1]
    assert total["total_ns"] == best
    assert total["gain_ns"] == sum(base) - best
    moved = {row["name"] for row in rows if row["row"] == "operation"}
    chosen = tuple(f"t.op{i}" in moved for i in range(count))
    assert cost(operations, base, new, chosen) == best
    assert total["base_ns"] + total["new_ns"] + total["transfer_ns"] == best
    for row in rows:
        if row["row"] in ("base", "new"):
            everything = tuple(row["row"] == "new" and ns is not None for ns in new)
            assert row["total_ns"] == cost(operations, base, new, everything)


CHAIN = [([-1], 5000), ([0], 5000), ([1], 1)]


def test_without_a_link_nothing_is_guessed(varve, tmp_path):
    text = program(CHAIN, [10, 10, 10])
    assert offload(varve, tmp_path, text, text) == []


@pytest.mark.parametrize("link", ["x", "0B/s", "1GB/s,x", "1GB/s,"])
def test_a_wrong_link_is_refused(varve, tmp_path, link):
    text = program(CHAIN, [10, 10, 10])
    with pytest.raises(AssertionError, match="--link"):
        offload(varve, tmp_path, text, text, "--link", link)


def test_profiles_of_two_programs_are_not_compared(varve, tmp_path):
    done = [tmp_path / "a.mlir", tmp_path / "b.mlir"]
    done[0].write_text(program(CHAIN, [10, 10, 10]))
    done[1].write_text(program(CHAIN[:2], [10, 10]))
    said = subprocess.run([str(varve), "diff", "--no-cache", "--table", "offload", "--link",
                           "1GB/s", *map(str, done)], capture_output=True, text=True, check=True)
    assert "not profiles of one program: operation 5 of the base is t.op2" in said.stdout


def marked(varve, folder, *options):
    return subprocess.run([str(varve), "diff", "--no-cache", "--table", "offload", *options, "-o",
                           "out.mlir", "base.mlir", "new.mlir"], cwd=folder, capture_output=True,
                          text=True, check=False)


def test_what_goes_to_the_new_device_is_marked(varve, tmp_path):
    """The base program, byte for byte but for the marks; --top does not count."""
    operations = [([-1], 1), ([0], 1), ([1], 1), ([2], 1), ([3], 1)]
    base = program(operations, [10**6, None, 10**6, 10**6, 100])
    (tmp_path / "base.mlir").write_text(base)
    (tmp_path / "new.mlir").write_text(program(operations, [10**5, 100, None, 10**5, 10**6]))
    done = marked(varve, tmp_path, "--link", "1GB/s,3us", "--top", "1")
    assert (done.returncode, "wrote out.mlir" in done.stderr) == (0, True), done.stderr
    text = (tmp_path / "out.mlir").read_text()
    lines = text.splitlines()
    assert [line.split('"')[1] for line in lines if 'varve.device = "new"' in line] == \
        ["t.op0", "t.op1", "t.op3"]
    assert text.replace(', varve.device = "new"', "").replace(' {varve.device = "new"}', "") == base
    (tmp_path / "base.mlir").write_text(text)  # marked once, the marks are replaced
    assert marked(varve, tmp_path, "--link", "1GB/s,3us").returncode == 0
    assert (tmp_path / "out.mlir").read_text() == text


@pytest.mark.parametrize("options, said", [
    ((), "no marks are written: how fast data goes"),
    (("--link", "1GB/s", "--table", "diff"), "-o is the base program with marks")])
def test_marks_that_cannot_be_made_are_not_written(varve, tmp_path, options, said):
    for name in ("base", "new"):
        (tmp_path / f"{name}.mlir").write_text(program(CHAIN, [10, 10, 10]))
    done = marked(varve, tmp_path, *options)
    assert done.returncode != 0 and said in done.stderr
    assert not (tmp_path / "out.mlir").exists()

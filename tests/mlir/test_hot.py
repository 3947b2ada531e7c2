# SPDX-License-Identifier: Apache-2.0
"""varve hot: the list of hot operations, marks on them, and a script that stock MLIR runs."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402

KINDS = {
    "linalg.matmul": ("tensor<64x96xf32>, tensor<96x48xf32>", "tensor<64x48xf32>"),
    "linalg.batch_matmul": ("tensor<4x64x96xf32>, tensor<4x96x48xf32>", "tensor<4x64x48xf32>"),
    "linalg.conv_2d_nhwc_hwcf": ("tensor<1x18x18x8xf32>, tensor<3x3x8x32xf32>",
                                 "tensor<1x16x16x32xf32>"),
    "linalg.conv_2d_nchw_fchw": ("tensor<1x8x18x18xf32>, tensor<32x8x3x3xf32>",
                                 "tensor<1x32x16x16xf32>"),
    "linalg.add": ("tensor<8x8xf32>, tensor<8x8xf32>", "tensor<8x8xf32>"),
}


def profile(total, count=1):
    return f"varve.profile = {{count = {count} : i64, self = {total} : i64, total = {total} : i64}}"


def module(*operations):
    """A function for each (kind, self time or None, location)."""
    text = "module {\n"
    for number, (kind, total, name) in enumerate(operations):
        inputs, result = KINDS[kind]
        first, second = inputs.split(", ")
        location = f'"{name}"'
        if total is not None:
            location = f'fused<{{{profile(total, 2)}}}>[{location}]'
        text += (f"  func.func @f{number}(%a: {first}, %b: {second}, %c: {result}) -> {result} {{\n"
                 f"    %0 = {kind} ins(%a, %b : {inputs}) outs(%c : {result}) -> {result} "
                 f"loc({location})\n    return %0 : {result}\n  }}\n")
    return text + "}\n"


@pytest.fixture(name="write")
def fixture_write(tmp_path):
    def write(text, name="net.mlir"):
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return write


def rows(varve, path, *options):
    table = table_reader.tables(varve, "hot", *options, path)["hot"]
    return [(row["operation"], row["name"], row["self_ns"], row["line"]) for row in table], table


FIVE = (("linalg.matmul", 500, "a"), ("linalg.add", 100, "b"), ("linalg.matmul", 300, "c"),
        ("linalg.add", None, "d"), ("linalg.batch_matmul", 100, "e"))


def test_the_fewest_operations_that_have_the_share(varve, write):
    path = write(module(*FIVE))
    found, table = rows(varve, path)
    assert found == [("linalg.matmul", "a", 500, 3), ("linalg.matmul", "c", 300, 11),
                     ("2 more", None, 200, None), ("total", None, 1000, None)]
    assert [row["cumulative_share"] for row in table] == [0.5, 0.8, 1.0, None]
    assert (table[0]["count"], table[0]["mean_ns"]) == (2, 250)
    for share, count in (("50%", 1), ("0.51", 2), ("81%", 3), ("100%", 4), ("1", 4)):
        listed = [row for row in rows(varve, path, "--top", share)[0] if row[3]]
        assert len(listed) == count, share


def marked(text):
    return re.findall(r"%0 = (\S+) .*?loc\(.*?\"(\w)\"", "\n".join(
        line for line in text.splitlines() if "varve.hot" in line))


def test_marks_are_on_the_hot_operations_alone(varve, write, tmp_path):
    text = module(*FIVE)
    path, out = write(text), tmp_path / "out.mlir"
    subprocess.run([str(varve), "hot", "-q", "-o", str(out), str(path)], check=True,
                   stdout=subprocess.DEVNULL)
    assert marked(out.read_text()) == [("linalg.matmul", "a"), ("linalg.matmul", "c")]
    assert out.read_text().replace(" {varve.hot}", "") == text and path.read_text() == text
    again = subprocess.run([str(varve), "hot", "--top", "10%", "-o", "-", str(out)], check=True,
                           capture_output=True, text=True).stdout
    assert marked(again) == [("linalg.matmul", "a")]
    assert again.replace(" {varve.hot}", "") == text


def run_script(path, script, entry):
    if shutil.which("mlir-opt-19") is None:
        pytest.skip("needs mlir-opt-19: tools/setup clients")
    done = subprocess.run(
        ["mlir-opt-19", str(path), "--mlir-print-debuginfo",
         f"--transform-preload-library=transform-library-paths={script}",
         f"--transform-interpreter=entry-point={entry}"],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def script_of(varve, path, tmp_path, *options):
    hot, script = tmp_path / "hot.mlir", tmp_path / "script.mlir"
    subprocess.run([str(varve), "hot", "-q", *options, "-o", str(hot), "--script", str(script),
                    str(path)], check=True, stdout=subprocess.DEVNULL)
    return hot, script


@pytest.mark.parametrize("entry, gone, loops, vectors", [
    ("__transform_main", True, 0, False), ("varve_tile", False, 3, False),
    ("varve_vectorize", True, 3, True)])
def test_stock_mlir_changes_the_hot_operation_alone(varve, write, tmp_path, entry, gone, loops,
                                                    vectors):
    path = write(module(("linalg.matmul", 900, "a"), ("linalg.matmul", 5, "b")))
    text = run_script(*script_of(varve, path, tmp_path), entry)
    first, second = text.split("func.func @f1")
    assert ("linalg.matmul" not in first) == gone
    assert first.count("scf.for") == loops and ("vector.transfer_read" in first) == vectors
    assert "linalg.matmul ins" in second and "scf.for" not in second and "vector" not in second
    assert '"a"' in text  # the new operations have the old one's place


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "linalg.add"])
def test_every_rule_is_valid(varve, write, tmp_path, kind):
    path = write(module((kind, 10, "a")))
    hot, script = script_of(varve, path, tmp_path)
    assert "scf.for" in run_script(hot, script, "varve_tile")
    text = run_script(hot, script, "__transform_main")
    assert kind not in text and "linalg.generic" in text
    has_vectors = "vector.transfer_read" in run_script(hot, script, "varve_vectorize")
    assert has_vectors == kind.endswith("matmul")


def test_tiles_divide_the_sizes_of_all(varve, write, tmp_path):
    """48 and 64 by at most 32; 36: what divides both."""
    KINDS["odd"] = ("tensor<36x96xf32>, tensor<96x7xf32>", "tensor<36x7xf32>")
    text = module(("linalg.matmul", 10, "a"), ("odd", 10, "b")).replace("= odd", "= linalg.matmul")
    del KINDS["odd"]
    _, script = script_of(varve, write(text), tmp_path, "--top", "100%")
    found = re.findall(r"tile_sizes \[(.*?)\]", script.read_text())
    assert found == ["4, 1, 32", "4, 1, 4"]


def test_a_trace_says_which_operations_are_hot(varve, write, tmp_path):
    """Two of the three things that ran are in the program, with 33 of 40 µs."""
    path, trace = write(module(("linalg.matmul", 5, "a"), ("linalg.add", 900, "b"))), tmp_path / "t"
    trace.write_text(json.dumps([
        {"ph": "X", "name": name, "cat": "cpu_op", "pid": 1, "tid": 1, "ts": begin, "dur": us}
        for name, begin, us in (("a", 1, 10), ("b", 40, 3), ("other", 50, 7), ("a", 60, 20))]))
    done = subprocess.run([str(varve), "hot", "--no-cache", "--json", str(path), str(trace)],
                          capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)["tables"]["hot"]
    rows_found = [dict(zip([column["name"] for column in table["columns"]], row))
                  for row in table["rows"]]
    assert [(row["operation"], row["self_ns"], row["count"]) for row in rows_found] == [
        ("linalg.matmul", 30_000, 2), ("1 more", 3000, None), ("total", 33_000, None)]
    assert done.stderr.startswith("varve: 82.5 % of the time in the trace is of operations of")


def test_a_trace_of_another_program_is_refused(varve, write, tmp_path):
    path, trace = write(module(("linalg.matmul", 5, "a"))), tmp_path / "t"
    trace.write_text('[{"ph":"X","name":"other","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":2}]')
    done = subprocess.run([str(varve), "hot", "--no-cache", str(path), str(trace)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "it is the profile of another program" in done.stderr


def test_a_program_without_times_is_refused(varve, write):
    path = write(module(("linalg.matmul", None, "a")))
    done = subprocess.run([str(varve), "hot", str(path)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 3 and "Name a trace, too" in done.stderr


def test_a_script_without_a_rule_is_refused(varve, write, tmp_path):
    path, script = write(module(("linalg.add", 5, "a"))), tmp_path / "s.mlir"
    done = subprocess.run([str(varve), "hot", "--script", str(script), str(path)],
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "no script" in done.stderr and not script.exists()


def test_the_program_itself_is_not_overwritten(varve, write):
    path = write(module(*FIVE))
    for option in ("-o", "--script"):
        done = subprocess.run([str(varve), "hot", option, str(path), str(path)],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and path.read_text() == module(*FIVE)


DUMPED = """hal.executable public @{name} {{
  hal.executable.export public @{name}_f ordinal(0)
    func.func @f() attributes {{translation_info = #c.info<pipeline = #c.p<P>>}} {{{constants}
    %9 = linalg.fill {{lowering_config = #c.config<vector_common_parallel = [4, 4]>}}
    %11 = linalg.{kind} {{lowering_config = #c.config<distribution = [4, 7, 0], \
vector_common_parallel = [4, 4, 0]>}} ins(%4, %5 : tensor<128x64xf32>, tensor<64x14xf32>) \
outs(%9 : tensor<128x14xf32>){body} -> tensor<128x14xf32>
}}
"""
BODY = " {{\n    ^bb0(%in: f32, %in_0: f32, %out: f32):\n      linalg.yield {value} : f32\n    }}"
CONSTANTS = "\n    %c = arith.constant dense_resource<w>"
EXECUTABLES = {"exe_0": ("matmul", "", ""), "exe_1": ("generic", "", BODY.format(value="%c")),
               "exe_2": ("matmul", CONSTANTS, ""),
               "exe_4": ("generic", CONSTANTS, BODY.format(value="%in"))}


def dumped(name):
    kind, constants, body = EXECUTABLES[name]
    return DUMPED.format(name=name, kind=kind, constants=constants, body=body)


@pytest.fixture(name="flow")
def fixture_flow(write, tmp_path):
    """Dispatches of four executables, and one that is not in the dump."""
    (tmp_path / "dump").mkdir()
    for name in EXECUTABLES:
        (tmp_path / "dump" / f"configured_{name}.mlir").write_text(dumped(name))
    lines = [f"    %{i} = flow.dispatch @{name}::@{name}_f(%a) : (i32) -> i32 "
             f'loc(fused<{{{profile(ns)}}}>["{i}"])\n' for i, (name, ns) in enumerate(
                 (("exe_0", 30), ("exe_1", 25), ("exe_0", 20), ("exe_2", 15), ("exe_3", 10),
                  ("exe_4", 5)))]
    return write("func.func @main(%a: i32) {\n" + "".join(lines) + "    return\n}\n")


def hot(varve, *words, status=0):
    done = subprocess.run([str(varve), "hot", *map(str, words)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == status, done.stderr
    return done.stderr


def test_files_give_the_hot_dispatches_of_iree_other_tiles(varve, flow, tmp_path):
    """Each executable once. Constants are not in the dump: there a spec alone can say so. It names
    a generic operation by its loops and body, if the body is whole."""
    said = hot(varve, flow, "--top", "100%", "--configurations", tmp_path / "dump",
               "--substitutes", tmp_path / "tiles", "--tuning-spec", tmp_path / "spec.mlir")
    assert "other tiles for 2 of 5 hot dispatches" in said
    assert "exe_3_f keeps its tile: the compiler has dumped no configuration of it" in said
    assert sorted(path.name for path in (tmp_path / "tiles").iterdir()) == [
        "exe_0.mlir", "exe_1.mlir"]
    for name in ("exe_0", "exe_1"):
        before = dumped(name)
        text = (tmp_path / "tiles" / f"{name}.mlir").read_text()
        outer, inner = re.search(r"parallel = \[(\d+), (\d+), 0\]", text).groups()
        assert 128 % int(outer) == 0 and 14 % int(inner) == 0
        assert text == before.replace("[4, 4, 0]", f"[{outer}, {inner}, 0]").replace(
            "[4, 4]", f"[{outer}, {inner}]").replace(
                "[4, 7, 0]", f"[{max(4, int(outer))}, {max(7, int(inner))}, 0]")
    spec = (tmp_path / "spec.mlir").read_text()
    assert spec.count('operation_name %op ["linalg.matmul"]') == 1
    assert "exe_2_f shares the tuning spec's entry of exe_0_f: their root operations are" in said
    assert spec.count('operation_name %op ["linalg.generic"]') == 1
    assert spec.count("linalg.yield %in : f32") == 1


def test_files_for_iree_need_its_configurations(varve, flow, write, tmp_path):
    dump, tiles = tmp_path / "dump", tmp_path / "tiles"
    assert "need --configurations" in hot(varve, flow, "--substitutes", tiles, status=2)
    assert "name one of them" in hot(varve, flow, "--configurations", dump, status=2)
    assert "one can name" in hot(varve, flow, "--top", "1%", "--configurations", tmp_path,
                                 "--tuning-spec", tmp_path / "s.mlir", status=3)
    assert not (tmp_path / "s.mlir").exists()
    tiles.mkdir()
    assert "is there" in hot(varve, flow, "--configurations", dump, "--substitutes", tiles,
                             status=2)
    assert not list(tiles.iterdir())
    assert "no hot operation of" in hot(varve, write(module(*FIVE)), "--configurations", dump,
                                        "--substitutes", tmp_path / "other", status=3)


@pytest.mark.parametrize("share", ["0", "-1", "101%", "2", "x", "nan", ""])
def test_a_wrong_share_is_refused(varve, write, share):
    path = write(module(*FIVE))
    done = subprocess.run([str(varve), "hot", "--top", share, str(path)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and "--top takes a share" in done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Samples by source line, as perf prints them: a line is a record, and finds the operations of a
module that stand there, or that say they are from there."""
import json
import subprocess

import pytest

SAMPLES = """
net  7  1.000100:  100000  cpu-clock:  401000 net+0x10
  net.mlir:3
net  7  1.000200:  100000  cpu-clock:  401004 net+0x14
  net.mlir:4
net  7  1.000300:  100000  cpu-clock:  401000 net+0x10
  net.mlir:3
net  7  1.000400:  100000  cpu-clock:  401008 exp
  libm.c:9
net  7  1.000500:  100000  cpu-clock:  ffffff81 exc_page_fault
"""
TEXT = """module {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "tf.Exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "tf.Add"(%0, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
"""
LOCATED = TEXT.replace('tensor<4xf32>\n    %1', 'tensor<4xf32> loc("net.mlir":4:1)\n    %1')


@pytest.mark.parametrize("module, name, types", [
    (TEXT, "net.mlir", {3: "tf.Exp", 4: "tf.Add"}),
    (LOCATED, "other.mlir", {4: "tf.Exp"}),
])
def test_lines_find_operations(build, tmp_path, module, name, types):
    tool = build / "tests/tools/mlir_match"
    if not tool.exists():
        pytest.skip("needs the tests' own programs: make tests")
    (tmp_path / name).write_text(module)
    (tmp_path / "samples.txt").write_text(SAMPLES.lstrip())
    done = subprocess.run([tool, tmp_path / "samples.txt", tmp_path / name], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    total, *records = map(json.loads, done.stdout.splitlines())
    lines = {(record["file"], record["line"]): record for record in records}
    assert {place: record["self_ns"] for place, record in lines.items()} == {
        ("net.mlir", 3): 200000, ("net.mlir", 4): 100000, ("libm.c", 9): 100000}
    assert (total["self_ns"], total["unnamed_ns"]) == (400000, 100000)
    found = {line: record["primary"]["type"] for (_, line), record in lines.items()
             if "level" in record}
    assert found == types
    assert all(record["level"] == "source line" for record in records if "level" in record)

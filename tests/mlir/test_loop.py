# SPDX-License-Identifier: Apache-2.0
"""mlir/demo/loop: samples of lines, annotated operations, marks, a transform script, and a
faster program, by tools of Debian."""
import re
import subprocess

import pytest

FASTER, TRIES = 1.15, 3  # 2.0 to 2.4 where nothing else runs, 1.1 once on a loaded machine


@pytest.mark.parametrize("sampler", ["perf", "varve"])
@pytest.mark.usefixtures("debian", "plugin")
def test_the_loop_closes(root, build, varve, tmp_path, sampler):
    """Where perf may not sample, the script takes `varve sample` by itself."""
    for _ in range(TRIES):
        done = subprocess.run([root / "mlir/demo/loop", tmp_path], cwd=root, capture_output=True,
                              text=True, check=False,
                              env={"PATH": "/usr/bin:/bin", "VARVE_MLIR": build / "mlir",
                                   "VARVE": varve, "SAMPLER": sampler})
        told = re.search(r"([\d.]+) times as fast, the same result", done.stdout)
        if told and float(told[1]) > FASTER:
            break
    assert sampler == "perf" or "$ varve sample" in done.stdout
    assert done.returncode == 0, done.stderr
    share = float(re.search(r"^profile: ([\d.]+) % of [\d.]+ ms on", done.stdout, re.MULTILINE)[1])
    assert share > 90, done.stdout
    assert done.stdout.count("{varve.hot}") == 1 and "linalg.matmul {varve.hot}" in done.stdout
    assert "linalg.generic" in (tmp_path / "hot.mlir").read_text()
    assert told and float(told[1]) > FASTER, done.stdout

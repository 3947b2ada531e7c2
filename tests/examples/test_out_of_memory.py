# SPDX-License-Identifier: Apache-2.0
"""examples/train when an allocation fails, whichever: one line, exit code 1, nothing leaked, no
hang."""
import os
import subprocess

import pytest

from example_build import build_program

STEPS = ["--steps", "2", "--batch", "2"]


@pytest.fixture(scope="module")
def train(root, build, tmp_path_factory):
    """train(n) runs the example with its n-th allocation failing, under the address and leak
    sanitizers."""
    program = tmp_path_factory.mktemp("failing") / "train"
    sources = [root / "tests/examples/failing_allocation.c",
               *sorted((root / "examples/train").glob("*.c"))]
    build_program(root, build, sources, program, "-fsanitize=address,undefined",
                  "-fno-sanitize-recover=all", "-Wl,--wrap=aligned_alloc,--wrap=calloc")

    def run(fail_at):
        return subprocess.run([program, *STEPS], env={**os.environ, "FAIL_AT": str(fail_at)},
                              timeout=240, capture_output=True, text=True, check=False)
    return run


# There are 157: 3 before training, 4 in the loader thread, 23 in each of 2 steps, 104 in the
# evaluation.
@pytest.mark.parametrize("fail_at", [*range(1, 40), 50, 70, 80, 100, 157])
def test_a_failed_allocation_is_one_line(train, fail_at):
    done = train(fail_at)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line in ("train: out of memory",
                    "train: out of memory in step 1; try a smaller --batch",
                    "train: out of memory in step 2; try a smaller --batch",
                    "train: out of memory in the evaluation")


def test_no_failure_no_message(train):
    done = train(100000)
    assert (done.returncode, done.stderr) == (0, "")

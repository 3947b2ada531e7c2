# SPDX-License-Identifier: Apache-2.0
"""environments.py: the Python environments of the programs that tests run here, and how these are
run."""
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / "build"  # wherever VARVE_BUILD points
SECONDS = 600


def python_of(name):
    python = ENVIRONMENTS / f"venv-{name}" / "bin" / "python"
    if not (python.parents[1] / "ready").exists():
        pytest.skip(f"needs build/venv-{name}: make check-clients")
    return python


def attempt_in(folder, *command):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each run compiles a framework anew
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=SECONDS, check=False)


def run_in(folder, *command):
    done = attempt_in(folder, *command)
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stderr[-4000:]}"
    return done

# SPDX-License-Identifier: Apache-2.0
"""The programs that write the formats Varve reads, run as they are installed from PyPI.

Each has a Python environment of its own, build/venv-NAME, since their dependencies contradict each other;
`make check-clients` makes them from requirements-NAME.txt. A program of programs/ runs once a session, in a
folder of its own.
"""
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / "build"  # wherever VARVE_BUILD points
SECONDS = 240


@pytest.fixture(scope="session", name="produce")
def produce_once(tmp_path_factory):
    """produce(NAME, PROGRAM, ARGUMENT…): the folder where PROGRAM, run by the Python of NAME, left its files."""
    folders = {}

    def produce(name, program, *arguments):
        python = ENVIRONMENTS / f"venv-{name}" / "bin" / "python"
        if not (python.parents[1] / "ready").exists():
            pytest.skip(f"needs {name}'s own environment: make check-clients")
        if (program, arguments) not in folders:
            folder = tmp_path_factory.mktemp(program.removesuffix(".py"))
            environment = {**os.environ, "PYTHONWARNINGS": "ignore", "CUDA_VISIBLE_DEVICES": ""}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each run compiles a framework anew
            done = subprocess.run([python, HERE / "programs" / program, folder, *arguments], cwd=folder,
                                  env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
            assert done.returncode == 0, f"{program}: exit {done.returncode}\n{done.stderr[-4000:]}"
            folders[program, arguments] = folder
        return folders[program, arguments]

    return produce

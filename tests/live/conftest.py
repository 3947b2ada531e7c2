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


def python_of(name):
    python = ENVIRONMENTS / f"venv-{name}" / "bin" / "python"
    if not (python.parents[1] / "ready").exists():
        pytest.skip(f"needs {name}'s own environment: make check-clients")
    return python


def run_in(folder, *command):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each run compiles a framework anew
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stderr[-4000:]}"
    return done


@pytest.fixture(scope="session", name="produce")
def produce_once(tmp_path_factory):
    """produce(NAME, PROGRAM, ARGUMENT…): the folder where PROGRAM, run by the Python of NAME, left its files."""
    folders = {}

    def produce(name, program, *arguments):
        python = python_of(name)
        if (program, arguments) not in folders:
            folder = tmp_path_factory.mktemp(program.removesuffix(".py"))
            run_in(folder, python, HERE / "programs" / program, folder, *arguments)
            folders[program, arguments] = folder
        return folders[program, arguments]

    return produce


@pytest.fixture(scope="session", name="record")
def record_once(varve, tmp_path_factory):
    """record(NAME, PROGRAM, ARGUMENT…): the same under `varve record`, whose trace is run.varve in that folder."""
    folders = {}

    def record(name, program, *arguments, launcher=(), options=()):
        python = python_of(name)
        if (program, arguments) not in folders:
            folder = tmp_path_factory.mktemp(program.removesuffix(".py"))
            run_in(folder, varve, "record", *options, "-o", folder / "run.varve", "--", python, *launcher,
                   HERE / "programs" / program, folder, *arguments)
            folders[program, arguments] = folder
        return folders[program, arguments]

    return record

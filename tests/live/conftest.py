# SPDX-License-Identifier: Apache-2.0
"""The programs that write the formats Varve reads, run as they are installed from PyPI.

Each has a Python environment of its own, build/venv-NAME, since their dependencies contradict each
other;
`make check-clients` makes them from requirements-NAME.txt. A program of programs/ runs once a
session, in a folder of its own.
"""
import pathlib

import pytest

from environments import HERE, python_of, run_in


@pytest.fixture(scope="session", name="produce")
def produce_once(tmp_path_factory):
    """produce(NAME, PROGRAM, ARGUMENT…): the folder where PROGRAM, run by the Python of NAME, left
    its files."""
    folders = {}

    def produce(name, program, *arguments):
        python = python_of(name)
        if (program, arguments) not in folders:
            folder = tmp_path_factory.mktemp(pathlib.Path(program).stem)
            run_in(folder, python, HERE / "programs" / program, folder, *arguments)
            folders[name, program, arguments] = folder
        return folders[name, program, arguments]

    return produce


@pytest.fixture(scope="session", name="record")
def record_once(varve, tmp_path_factory):
    """record(NAME, PROGRAM, ARGUMENT…): the same under `varve record`, whose trace is run.varve in
    that folder."""
    folders = {}

    def record(name, program, *arguments, launcher=(), options=()):
        python = python_of(name)
        if (program, arguments) not in folders:
            folder = tmp_path_factory.mktemp(pathlib.Path(program).stem)
            run_in(folder, varve, "record", *options, "-o", folder / "run.varve", "--", python,
                   *launcher, HERE / "programs" / program, folder, *arguments)
            folders[name, program, arguments] = folder
        return folders[name, program, arguments]

    return record

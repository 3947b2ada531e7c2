# SPDX-License-Identifier: Apache-2.0
"""The programs that write the formats Varve reads, run as they are installed from PyPI.

Each has a Python environment of its own, build/venv-NAME, since their dependencies contradict each
other;
`make check-clients` makes them from requirements-NAME.txt. A program of programs/ runs once for all
tests, in a folder of its own.
"""
import pathlib
import sys

import pytest

from environments import HERE, python_of, run_in

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import made_once  # noqa: E402  pylint: disable=wrong-import-position


@pytest.fixture(scope="session", name="produce")
def produce_once(tmp_path_factory):
    """produce(NAME, PROGRAM, ARGUMENT…): the folder where PROGRAM, run by the Python of NAME, left
    its files, for all tests to read."""

    def produce(name, program, *arguments):
        python = python_of(name)
        return made_once.folder_of(
            tmp_path_factory, (name, program, *map(str, arguments)),
            lambda folder: run_in(folder, python, HERE / "programs" / program, folder, *arguments))

    return produce


@pytest.fixture(scope="session", name="record")
def record_once(varve, tmp_path_factory):
    """record(NAME, PROGRAM, ARGUMENT…): the same under `varve record`, whose trace is run.varve in
    that folder."""

    def record(name, program, *arguments, launcher=(), options=()):
        python = python_of(name)
        key = name, program, *map(str, arguments), "under", *map(str, (*launcher, "with", *options))
        return made_once.folder_of(
            tmp_path_factory, key,
            lambda folder: run_in(folder, varve, "record", *options, "-o", folder / "run.varve",
                                  "--", python, *launcher, HERE / "programs" / program, folder,
                                  *arguments))

    return record

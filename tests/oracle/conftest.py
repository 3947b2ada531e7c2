# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the oracle tests: the programs under test, and one trace of each kind, recorded
once."""
import json
import pathlib
import resource
import shutil
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "oracle"), str(TESTS / "support"), str(TESTS.parent / "tools")]

# pylint: disable=wrong-import-position
from recording import DECODER, Run, binary, quiet_environment


@pytest.fixture(scope="session")
def program():
    """program("every_record") is the path of a test program, program("examples/train") of an
    example."""
    return lambda name: binary(name if "/" in name else f"tests/programs/{name}")


@pytest.fixture(scope="session")
def record(program):
    """record(folder, "NAME", ARGUMENTS…) records a program as NAME.varve in the folder.

    file_bytes is a limit for its files, as `ulimit -f` sets it."""
    varve = binary("varve")

    def run(folder, name, *arguments, file_bytes=resource.RLIM_INFINITY):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
        trace = folder / (name.rpartition("/")[2] + ".varve")
        command = [varve, "record", "-o", trace, "--", program(name), *arguments]
        done = subprocess.run(command, cwd=folder, env=quiet_environment(), stdout=subprocess.PIPE,
                              check=False, preexec_fn=limit_files)
        return Run(trace, done.stdout, done.returncode)
    return run


@pytest.fixture(scope="session")
def varve_json():
    """varve_json("info", trace) is the verb's tables: {table: [{column: value}]}."""
    varve = binary("varve")

    def tables(verb, *arguments):
        done = subprocess.run([varve, verb, "--json", *arguments], stdout=subprocess.PIPE,
                              check=True)
        return {name: [dict(zip([column["name"] for column in table["columns"]], row))
                       for row in table["rows"]]
                for name, table in json.loads(done.stdout)["tables"].items()}
    return tables


@pytest.fixture(scope="session")
def babeltrace2():
    if not (path := shutil.which("babeltrace2")):
        pytest.skip("needs babeltrace2: apt-get install babeltrace2")
    return path


@pytest.fixture(scope="session")
def decode():
    """Runs the second reader as a program; gives what subprocess.run gives."""
    def run(*arguments):
        return subprocess.run([sys.executable, DECODER, *arguments], capture_output=True, text=True,
                              check=False)
    return run


@pytest.fixture(scope="session")
def every_record(record, tmp_path_factory):
    """every_record, recorded once; 20,000 pairs a thread fill several packets and, files being
    limited, parts."""
    return record(tmp_path_factory.mktemp("every"), "every_record", "7", "20000",
                  file_bytes=256 * 1024)


@pytest.fixture(scope="session")
def train(record, tmp_path_factory):
    return record(tmp_path_factory.mktemp("train"), "examples/train", "--steps", "5")

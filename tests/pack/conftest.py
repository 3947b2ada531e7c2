# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of `varve pack`: the command, a small trace with every kind of record, a
recorded one."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle")]

import golden_trace  # noqa: E402


@pytest.fixture(scope="session")
def run(varve):
    """run("pack", …) runs the command; the result has returncode, stdout, stderr."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("VARVE_")}

    def command(*words, **more):
        return subprocess.run([varve, *words], capture_output=True, text=True, timeout=120,
                              env=environment, check=False, **more)
    probe = subprocess.run([varve, "pack", "--help"], capture_output=True, text=True, check=True)
    assert "--unpack" in probe.stdout
    return command


@pytest.fixture
def golden(tmp_path, run):
    """The small trace, written to a folder of its own."""
    trace = golden_trace.make(tmp_path / "golden.varve")
    trace.write()
    skip_without_zstd(run("pack", "-o", tmp_path / "probe.varve", trace.path))
    return trace


def skip_without_zstd(done):
    if "without zstd" in done.stderr:
        pytest.skip("needs a varve with zstd: apt-get install libzstd-dev, and build again")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory, build, run):
    """recorded(NAME, ARGUMENTS…) records a program of the build folder once, and gives the
    trace."""
    made = {}

    def record(name, *arguments):
        if (name, *arguments) not in made:
            program = build / name
            if not program.exists():
                pytest.skip(f"needs {name}: make tests")
            trace = tmp_path_factory.mktemp("recorded") / (program.name + ".varve")
            done = run("record", "-q", "-o", trace, "--", program, *arguments)
            assert trace.is_dir(), done.stderr
            made[name, *arguments] = trace
        return made[name, *arguments]
    return record


@pytest.fixture(scope="session")
def tables(run):
    """tables("report", trace) is the verb's JSON without what differs between copies of a trace."""
    def read(verb, trace, *arguments):
        done = run(verb, "--json", *arguments, trace)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        found.pop("trace", None)
        return found
    return read

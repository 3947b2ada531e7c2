# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the soak tests: programs, an empty trace, and the three readers that must agree on
it."""
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "oracle"), str(TESTS.parent / "tools")]

import varve_decode  # pylint: disable=wrong-import-position
from recording import binary, quiet_environment  # pylint: disable=wrong-import-position


@pytest.fixture(scope="session")
def share():
    """Of each count of these tests `make check` does a twentieth, `make soak` (VARVE_SOAK=1)
    all: share(1000)."""
    return lambda count: count if os.environ.get("VARVE_SOAK") else count // 20


@pytest.fixture(scope="session")
def program():
    return lambda name: str(binary(f"tests/programs/{name}"))


@pytest.fixture
def trace(tmp_path):
    """An empty folder, into which recorded(…) lets a program record."""
    folder = tmp_path / "x.varve"
    folder.mkdir()
    return folder


@pytest.fixture
def recorded(trace):
    """The environment of a program that is to record into the trace, as varve record sets it."""
    return lambda **more: quiet_environment(VARVE_OUTPUT=str(trace), **more)


@pytest.fixture(scope="session")
def three_readers():
    """The number of events of a trace in which babeltrace2, varve and tools/varve_decode.py find
    nothing broken."""
    babeltrace2 = shutil.which("babeltrace2") or pytest.skip(
        "needs babeltrace2: apt-get install babeltrace2")

    def read(trace, decode=True):
        counter = subprocess.run([babeltrace2, trace, "-c", "sink.utils.counter"],
                                 capture_output=True, check=False)
        assert counter.returncode == 0, counter.stderr
        events = int(re.findall(rb"(\d+) Event messages", counter.stdout)[-1])
        info = subprocess.run([binary("varve"), "info", "--csv", "--table", "trace", trace],
                              capture_output=True,
                              text=True, check=False)
        assert info.returncode == 0, info.stderr
        (row,) = csv.DictReader(info.stdout.splitlines())
        assert int(row["events"]) == events
        if decode:  # some 200,000 events a second
            read_again = varve_decode.open_trace(trace)
            assert [problem for problem in read_again.problems if not problem.is_cut] == []
            assert varve_decode.counts(read_again)["events"] == events
        return events
    return read

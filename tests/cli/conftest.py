# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the command-line tests: the command in an empty folder, and one trace recorded
once."""
import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def environment(varve):
    """The caller's environment without what changes the command's manners; varve is in PATH."""
    unwanted = {"NO_COLOR", "COLUMNS", "LINES", "PAGER", "LD_PRELOAD", "LD_LIBRARY_PATH"}
    kept = {key: value for key, value in os.environ.items()
            if key not in unwanted and not key.startswith("VARVE_")}
    return {**kept, "LC_ALL": "C.UTF-8", "TZ": "UTC0", "TERM": "xterm", "HOME": "/nonexistent",
            "PATH": f"{varve.parent}:{kept['PATH']}"}


@pytest.fixture
def run(tmp_path, varve, environment):
    """run("report", …) runs the command in an empty folder; the result has returncode, stdout,
    stderr."""
    def command(*words, **more):
        settings = {**environment, **more.pop("env", {})}
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 120,
                **more}
        return subprocess.run([varve, *map(str, words)], cwd=tmp_path, env=settings, check=False,
                              **more)
    return command


@pytest.fixture(scope="session")
def program(build):
    """A program that records every kind of event; its argument is its exit code."""
    path = build / "tests" / "programs" / "every_record"
    if not path.exists():
        pytest.skip("needs tests/programs/every_record: make tests")
    return path


@pytest.fixture(scope="session")
def trace(tmp_path_factory, varve, environment, program):
    """A recorded trace; tests must not change it."""
    path = tmp_path_factory.mktemp("recorded") / "every.varve"
    subprocess.run([varve, "record", "-q", "-o", path, "--", program], env=environment, check=True,
                   stdout=subprocess.DEVNULL)
    return path

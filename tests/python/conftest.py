# SPDX-License-Identifier: Apache-2.0
"""The module varve, imported by this interpreter from the checkout, and programs that import it."""
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

PYTHON = pathlib.Path(__file__).resolve().parents[2] / "python"


@pytest.fixture(scope="session", name="around")
def fixture_around(build, varve):
    """The environment of programs that import varve."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("VARVE", "LD_"))}
    return {**kept, "PYTHONPATH": str(PYTHON), "VARVE_LIBRARY": str(build / "libvarve.so"),
            "VARVE": str(varve)}


@pytest.fixture(name="run")
def fixture_run(around, tmp_path):
    """run(TEXT, COMMAND…): what the program TEXT prints, run by COMMAND and Python in tmp_path; it
    must succeed."""
    def run(text, *command, status=0, **more):
        (tmp_path / "program.py").write_text(textwrap.dedent(text))
        done = subprocess.run([*map(str, command), sys.executable, "program.py"], cwd=tmp_path,
                              env={**around, **more}, capture_output=True, text=True, timeout=240,
                              check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout if status == 0 else done.stderr
    return run


@pytest.fixture(scope="session", name="module")
def fixture_module(around):
    """The package in this process, for what needs no session."""
    sys.path.insert(0, str(PYTHON))
    os.environ.setdefault("VARVE_LIBRARY", around["VARVE_LIBRARY"])
    import varve  # pylint: disable=import-outside-toplevel,import-error
    return varve

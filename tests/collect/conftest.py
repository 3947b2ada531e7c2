# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of what is collected from programs that know nothing of Varve."""
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "oracle"), str(TESTS / "support"), str(TESTS.parent / "tools")]

from recording import quiet_environment  # noqa: E402  pylint: disable=wrong-import-position


def pythons():
    """One interpreter of each version that is found: by its name on PATH, or under pyenv."""
    found = {sys.version_info[:2]: pathlib.Path(sys.executable)}
    names = [pathlib.Path(name) for minor in range(6, 20)
             if (name := shutil.which(f"python3.{minor}"))]
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True,
                              check=True).stdout.strip()
        names += pathlib.Path(root).glob("versions/3.*/bin/python3")
    for name in names:
        said = subprocess.run([name, "-c", "import sys; print(sys.version_info[:2])"],
                              capture_output=True,
                              text=True, check=False).stdout
        if match := re.fullmatch(r"\(3, (\d+)\)\n", said):
            found.setdefault((3, int(match[1])), name)
    return dict(sorted(found.items()))


PYTHONS = pythons()


def pytest_generate_tests(metafunc):
    """`python` is each interpreter that Varve traces, `old_python` each older one, `either_python`
    the newest that is traced by its profile function and the newest by sys.monitoring."""
    newest = {max((version for version in PYTHONS if is_new == (version >= (3, 12))), default=None)
              for is_new in (False, True)}
    for name, wanted in (("python", lambda version: version >= (3, 9)),
                         ("old_python", lambda version: version < (3, 9)),
                         ("either_python", lambda version: version in newest)):
        if name in metafunc.fixturenames:
            chosen = [version for version in PYTHONS if wanted(version)]
            metafunc.parametrize(name, [PYTHONS[version] for version in chosen], scope="session",
                                 ids=[f"3.{minor}" for _, minor in chosen])


class Recorded:
    """What a program did by itself and recorded, and the trace."""

    def __init__(self, plain, done, trace):
        self.plain, self.done, self.trace = plain, done, trace


@pytest.fixture(name="run_both")
def fixture_run_both(varve, tmp_path):
    """run_both(COMMAND…, collect=…, more=…) runs it plain and recorded; with_plain=False only
    recorded."""

    def run(*command, collect="+python", more=(), with_plain=True, environment=None):
        trace = tmp_path / f"{len(list(tmp_path.iterdir()))}.varve"
        settings = quiet_environment(PYTHONDONTWRITEBYTECODE="1", **(environment or {}))
        options = dict(cwd=tmp_path, env=settings, capture_output=True, text=True, check=False,
                       timeout=240)
        plain = subprocess.run([*command], **options) if with_plain else None
        done = subprocess.run([varve, "record", "-q", "--collect", collect, *more, "-o", trace,
                               "--", *command], **options)
        return Recorded(plain, done, trace)
    return run

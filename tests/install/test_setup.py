# SPDX-License-Identifier: Apache-2.0
"""tools/setup for a user who cannot become root: what is needed is told, what only some tests need
is done without."""
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import sources  # pylint: disable=wrong-import-position


@pytest.fixture
def setup(tmp_path):
    """setup(purpose, missing) is how tools/setup ends for a user without rights, where these
    programs are not there."""
    def run(purpose, missing):
        programs = tmp_path / "bin"
        programs.mkdir()
        for folder in os.environ["PATH"].split(":"):
            if not os.path.isdir(folder):
                continue
            for name in os.listdir(folder):
                if name not in {"sudo", "id", "apt-get", *missing} and not (
                        programs / name).is_symlink():
                    (programs / name).symlink_to(os.path.join(folder, name))
        for name, text in (("id", "echo 1000"), ("apt-get", "touch called; exit 1")):
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)
        done = subprocess.run([sources.ROOT / "tools" / "setup", purpose], capture_output=True,
                              text=True, cwd=tmp_path, check=False,
                              env={**os.environ, "PATH": str(programs)})
        assert not (tmp_path / "called").exists()
        return done.returncode, done.stderr
    return run


def test_checks_go_on_without_what_some_tests_need(setup):
    code, said = setup("check", {"zsh", "fish", "mandoc"})
    lines = said.splitlines()
    assert lines[0].startswith("setup: neither root nor sudo. As root, type: apt-get install ")
    assert {"zsh", "fish", "mandoc"} <= set(lines[0].split())
    if "build-essential" in said or "python3-venv" in said or "libcmocka-dev" in said:
        pytest.skip("needs what make check installs: tools/setup check")
    assert code == 0
    assert lines[1].startswith("setup: going on without: ")
    assert lines[1].endswith(". The tests that need them are skipped")


@pytest.mark.parametrize("purpose, missing", [("check", {"cmake", "zsh"}), ("clients", {"zsh"})])
def test_what_is_needed_stops_it(setup, purpose, missing):
    code, said = setup(purpose, missing)
    assert code == 1 and missing <= set(said.split()) and len(said.splitlines()) == 1

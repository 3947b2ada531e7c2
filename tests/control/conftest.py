# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the control tests: a program that does what it is told, under varve record, and the
command."""
import collections
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "oracle"), str(TESTS.parent / "tools")]

import varve_decode  # pylint: disable=wrong-import-position
from recording import quiet_environment  # pylint: disable=wrong-import-position


class Told:
    """tests/programs/on_command in a process of its own: do("pairs 10") returns once they are
    done."""

    def __init__(self, command, folder, environment):
        self.process = subprocess.Popen(command, cwd=folder, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.stderr = ""

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().strip()

    def do(self, line):
        self.send(line)
        answer = self.answer()
        assert answer.startswith("ok"), answer
        return answer[3:]

    def finish(self):
        self.process.stdin.close()
        self.stderr = self.process.stderr.read()
        return self.process.wait(timeout=120)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        self.process.wait()


@pytest.fixture(scope="session")
def on_command(build):
    path = build / "tests" / "programs" / "on_command"
    if not path.exists():
        pytest.skip("needs tests/programs/on_command: make tests")
    return path


@pytest.fixture
def own_name(tmp_path, on_command):
    """on_command by a name that no other recording on this machine has: start, stop and dump mean
    all of a name."""
    path = tmp_path / f"told-{os.getpid()}"
    path.symlink_to(on_command)
    return path


@pytest.fixture
def run(tmp_path, varve):
    """run("stop", …) runs the command in the test's folder."""
    def command(*words, **more):
        environment = quiet_environment(**more.pop("env", {}))
        return subprocess.run([more.pop("command", varve), *map(str, words)], cwd=tmp_path,
                              env=environment, check=False, text=True, capture_output=True,
                              timeout=120, **more)
    return command


@pytest.fixture
def run_as_another(run, varve):
    """The same as another user, from where he may read: the checkout may be closed to him, and each
    pytest that begins closes the folder that holds those of all tests."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copy(varve.parent / "libvarve-reader.so.0", folder)
        yield functools.partial(run, command=shutil.copy(varve, folder), user=65534, group=65534,
                                extra_groups=[])


@pytest.fixture
def told(tmp_path):
    """told(PROGRAM, …, VARIABLE="value") starts it; whatever still runs at the end is killed."""
    started = []

    def start(*command, **environment):
        started.append(Told(list(map(str, command)), tmp_path, quiet_environment(**environment)))
        return started[-1]
    yield start
    for process in started:
        process.end()


@pytest.fixture
def record(told, varve, on_command):
    """record("--paused", …) starts on_command under varve record, into t.varve."""
    def start(*options, program=on_command, trace="t.varve", **environment):
        return told(varve, "record", "-o", trace, *options, "--", program, **environment)
    return start


@pytest.fixture
def pid_of(tmp_path):
    """The process recorded into t.varve: its folder's name."""
    def find(trace="t.varve"):
        names = [name for name in os.listdir(tmp_path / trace) if name.isdigit()]
        assert len(names) == 1, names
        return int(names[0])
    return find


@pytest.fixture
def counts(tmp_path):
    """counts() says how many records of each name t.varve has, as tools/varve_decode.py reads
    it."""
    def count(trace="t.varve"):
        return collections.Counter(
            varve_decode.counts(varve_decode.open_trace(str(tmp_path / trace)))["by_name"])
    return count


@pytest.fixture
def babeltrace2():
    path = shutil.which("babeltrace2")
    if path is None:
        pytest.skip("needs babeltrace2: apt-get install babeltrace2")
    return path

# SPDX-License-Identifier: Apache-2.0
"""Libraries come and go, errno stays, privileged programs are left alone; and what is recorded
after main."""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

import varve_decode
from recording import quiet_environment
from tally import acknowledged, is_unbroken, kept


def by_name(trace):
    return varve_decode.counts(varve_decode.open_trace(trace))["by_name"]


def test_instrumented_libraries_are_unloaded(trace, recorded, program, share, three_readers):
    rounds = share(2000)
    subprocess.run([program("unload"), str(rounds), program("plugin.so"),
                    program("plugin_twin.so")],
                   env=recorded(), check=True, timeout=240)
    assert {name: count for name, count in by_name(trace).items()
            if not name.startswith("varve.")} == {
        "plugin outer": rounds, "plugin inner": 10 * rounds, "twin outer": rounds,
        "twin inner": 10 * rounds, "after": 30}
    three_readers(trace)
    (process,) = varve_decode.open_trace(trace).processes
    # loading again costs no ids
    assert sum(one.kind is not None for one in process.classes.values()) == 5


LOADER = """
import ctypes, _ctypes, os, sys
class Site(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32),
                ("layer", ctypes.c_uint32), ("state", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]
library, site = ctypes.CDLL(sys.argv[1]), Site(b"kept", None, 0, 4, 0, 0)
mark, handle = library.varve_emit_mark, library._handle
for i in range(100):
    mark(ctypes.byref(site))
    _ctypes.dlclose(handle)
    mark(ctypes.byref(site))
    handle = ctypes.CDLL(sys.argv[1])._handle
"""


def test_libvarve_itself_stays(trace, recorded, build):
    assert ctypes.sizeof(ctypes.c_void_p) == 8  # the layout of Site
    subprocess.run([sys.executable, "-c", LOADER, build / "libvarve.so"], env=recorded(),
                   check=True, timeout=240)
    assert by_name(trace)["kept"] == 200


# A preloaded library's destructor runs before libvarve's, or after it where libvarve is preloaded
# first.
@pytest.mark.parametrize("first", [[], ["libvarve.so"]], ids=["before libvarve", "after libvarve"])
def test_after_main(tmp_path, trace, recorded, program, build, share, first):
    preloaded = [str(build / name) for name in first] + [program("last_words.so")]
    for _ in range(share(100)):
        shutil.rmtree(trace)
        trace.mkdir()
        counts = tmp_path / "counts"
        counts.unlink(missing_ok=True)
        subprocess.run([program("late"), counts], env=recorded(LD_PRELOAD=" ".join(preloaded)),
                       check=True, timeout=240)
        told, in_trace = acknowledged(counts), kept(trace)
        assert told[:5] == (10,) * 5 and in_trace.lost == 0
        assert all(is_unbroken(in_trace.values[slot], 10, 10) for slot in range(5))
        assert is_unbroken(in_trace.values[5], told[5], told[5] + 1)
        assert in_trace.marks == 10


@pytest.mark.parametrize("situation", ["plain", "closed", "removed"])
@pytest.mark.parametrize("by_command", [False, True], ids=["own sessions", "recorded"])
def test_errno_is_kept(tmp_path, trace, recorded, program, situation, by_command):
    environment = recorded() if by_command else quiet_environment()
    done = subprocess.run([program("errno_kept"), tmp_path / "own.varve", situation],
                          env=environment,
                          capture_output=True, text=True, timeout=240, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.fixture
def open_folder():
    """A folder in which every user may read and write; pytest's own are closed."""
    if os.geteuid() != 0:
        pytest.skip("only root may make a set-user-id program of another user's")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield pathlib.Path(folder)


@pytest.fixture
def privileged(open_folder, root, build):
    """tests/programs/privileged.c as a program that another user can run: the loader of a
    privileged program takes a library only from an absolute path, which the build folder may hide
    from others."""
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler: apt-get install gcc")
    shutil.copy(build / "libvarve.so.0", open_folder)
    subprocess.run([compiler, f"-I{root}/include", root / "tests/programs/privileged.c",
                    open_folder / "libvarve.so.0", f"-Wl,-rpath,{open_folder}", "-o",
                    open_folder / "privileged"], check=True)
    return open_folder / "privileged"


def test_a_privileged_program_is_left_alone(open_folder, privileged, recorded):
    trace = open_folder / "x.varve"

    def run(user):
        shutil.rmtree(trace, ignore_errors=True)
        trace.mkdir()
        os.chown(trace, user, user)  # a folder of somebody else is refused
        done = subprocess.run([privileged, open_folder / "own.varve"],
                              env={**recorded(), "VARVE_OUTPUT": str(trace)},
                              user=user, cwd=open_folder, group=user, extra_groups=[],
                              capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()
    assert run(65534)[:2] == ["secure 0", "environment 0 2047"]
    assert len(os.listdir(trace)) == 1
    privileged.chmod(0o4755)
    lines = run(65534)
    if lines[0] == "secure 0":
        pytest.skip("the temporary folder lies on a file system without set-user-id")
    assert lines == ["secure 1", "environment 0 0", "session 4 0", "init 0 0", "start 4 0",
                     "collect 4 0", "options 4 0"]
    assert os.listdir(trace) == []
    assert sorted(os.listdir(open_folder)) == ["libvarve.so.0", "privileged", "x.varve"]

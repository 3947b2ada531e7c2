# SPDX-License-Identifier: Apache-2.0
"""Who may exchange names above a trace, or takes its ways away, costs nobody a file: what was
recorded goes into the file that was mapped."""
import ctypes
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

import pytest

from recording import binary, quiet_environment
from streams import lost_by_process, thread_streams

NOBODY = 65534
MORE = 100_000  # ranges: several windows, within a first part of 4 MiB
VICTIM = b"nobody's business\n" * 30000


@pytest.fixture
def home():
    """A folder of another user's, in which root records. pytest closes the folder that holds its
    own."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="varve-hostile-"))
    os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def victim(home):
    """A file of root's, which must be the same when the test ends."""
    path = home / "victim"
    path.write_bytes(VICTIM)
    path.chmod(0o600)
    yield path
    assert path.read_bytes() == VICTIM
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


class Told:
    """tests/programs/on_command, recorded into a folder."""
    def __init__(self, program, trace):
        trace.mkdir(mode=0o700)
        self.process = subprocess.Popen([program("on_command")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, cwd=trace,
                                        env=quiet_environment(VARVE_OUTPUT=str(trace)))

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ok\n", line

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=120) == 0
        self.process.stdout.close()


@pytest.fixture
def told(program):
    started = []

    def start(trace):
        started.append(Told(program, trace))
        return started[-1]
    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


def as_nobody(code):
    """Does that as the other user."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            exec(code, {"os": os})  # pylint: disable=exec-used
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def words_and_lost(trace):
    streams = thread_streams(trace)
    return sum(len(words)
               for words, _, _ in streams), sum(lost
                                                for _, lost, _ in streams) + lost_by_process(trace)


NAMES = ["thread.1.0", ".thread.1.1", "thread.1.1", ".metadata", "metadata", ".control",
         "process.0", ".spare.0"]
INSTEAD = {
    "links": "for name in NAMES: os.symlink(VICTIM, f'{HOME}/x.varve/{PID}/{name}')",
    "hard links": "for name in NAMES: os.link(OWN, f'{HOME}/x.varve/{PID}/{name}')",
    "pipes": "for name in NAMES: os.mkfifo(f'{HOME}/x.varve/{PID}/{name}')",
    "nothing": "",
}


@pytest.mark.parametrize("instead", INSTEAD)
def test_an_exchanged_folder(home, victim, program, told, three_readers, instead):
    """The files of root's process are found under another name; what lies there instead is not
    touched."""
    recorded = told(home / "x.varve")
    recorded.tell("pairs 10")
    names = (f"HOME, PID, VICTIM, OWN, NAMES = {str(home)!r}, {recorded.process.pid}, "
             f"{str(victim)!r}, {str(home / 'own')!r}, {NAMES}\n")
    as_nobody(names + "open(OWN, 'w').write('own')\n"
              "os.rename(f'{HOME}/x.varve', "
              "f'{HOME}/y.varve')\nos.makedirs(f'{HOME}/x.varve/{PID}')\n" + INSTEAD[instead])
    before = sorted((path.name, path.lstat().st_size) for path in home.glob("x.varve/*/*"))
    recorded.tell(f"pairs {MORE}")
    recorded.tell("other 5")  # a site that can no more be declared
    recorded.end()
    assert words_and_lost(home / "y.varve") == (2 * (10 + MORE) + 5, 5)
    assert sorted((path.name, path.lstat().st_size) for path in home.glob("x.varve/*/*")) == before
    assert (home / "own").read_text() == "own"
    three_readers(home / "y.varve", decode=False)


def test_a_link_to_the_folder_itself(home, victim, told):
    recorded = told(home / "x.varve")
    recorded.tell("pairs 10")
    as_nobody(
        f"os.rename('{home}/x.varve', '{home}/y.varve'); os.symlink('y.varve', '{home}/x.varve')")
    recorded.tell(f"pairs {MORE}")
    recorded.end()
    assert words_and_lost(home / "y.varve")[0] == 2 * (10 + MORE)


@pytest.mark.parametrize("what", ["descriptors", "drop", "root ."])
def test_without_a_way_to_the_file_windows_are_backed_by_its_mapping(tmp_path, told, three_readers,
                                                                     what):
    if what != "descriptors" and os.geteuid() != 0:
        pytest.skip("needs root")
    recorded = told(tmp_path / "x.varve")
    recorded.tell("pairs 10")
    recorded.tell(what)
    recorded.tell(f"pairs {MORE}")
    recorded.end()
    assert words_and_lost(tmp_path / "x.varve") == (2 * (10 + MORE), 0)
    three_readers(tmp_path / "x.varve", decode=False)


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("layers", ctypes.c_uint32),
                ("output", ctypes.c_char_p)]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("os_errno", ctypes.c_int), ("offset", ctypes.c_uint64),
                ("message", ctypes.c_char * 512)]


def refused(output):
    """What varve_session_start says of that folder, in a process of its own."""
    code = ("import ctypes, sys\nsys.path[:0] = [sys.argv[1]]\nimport test_hostile_folders as t\n"
            "error = t.Error()\n"
            "done = ctypes.CDLL(sys.argv[2]).varve_session_start(ctypes.byref(t.Options(24, 0, "
            "sys.argv[3].encode())), ctypes.byref(error))\n"
            "print(done, error.message.decode())")
    environment = quiet_environment(PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run([sys.executable, "-c", code, str(pathlib.Path(__file__).parent),
                           binary("libvarve.so"), output], env=environment,
                          capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.strip()


def test_a_planted_folder_or_link_is_refused(home, victim):
    as_nobody(f"os.mkdir('{home}/x.varve'); os.symlink('{home}/away', '{home}/link.varve')")
    (home / "away").mkdir()
    (home / "open.varve").mkdir()
    (home / "open.varve").chmod(0o777)
    assert refused(f"{home}/x.varve") == (
        f"4 the trace folder '{home}/x.varve' is not used: it belongs to another user, who could "
        f"exchange what is recorded; "
        "name another one, or take their rights to it away")
    assert refused(f"{home}/open.varve") == (
        f"4 the trace folder '{home}/open.varve' is not used: other users may write into it, and "
        f"could exchange what is recorded; "
        "name another one, or take their rights to it away")
    assert refused(f"{home}/link.varve/"
                   ) == f"1 '{home}/link.varve' is a symbolic link: name the trace folder itself"
    assert [list(path.iterdir()) for path in home.iterdir() if path.is_dir()] == [[], [], [], []]


@pytest.mark.parametrize("mask", [0o022, 0, 0o777])
@pytest.mark.parametrize("share, modes", [("", (0o700, 0o600)), ("1", (0o755, 0o644))])
def test_traces_are_private_unless_they_are_shared(trace, recorded, program, mask, share, modes):
    subprocess.run([program("emitter"), trace.with_name("counts"), "2", "2000"],
                   env=recorded(VARVE_SHARE=share), umask=mask, timeout=120,
                   check=True)
    assert words_and_lost(trace) == (8000, 0)
    folders = {stat.S_IMODE(path.stat().st_mode) for path in trace.iterdir()}
    files = {stat.S_IMODE(path.stat().st_mode) for path in trace.glob("*/*")}
    assert folders == {modes[0] & ~(mask & 0o077)}
    assert files == {modes[1] & ~(mask & 0o077)}

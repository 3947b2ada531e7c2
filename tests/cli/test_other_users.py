# SPDX-License-Identifier: Apache-2.0
"""Root, or any user, beside another user who owns the folder: nothing is written, cut or removed
elsewhere, and nothing shown."""
import os
import shutil
import stat
import subprocess
import time

import pytest

SECRET = b"root's own\n"

# Exchanges NAME/inner for a link to the victim and back, as fast as it can.
EXCHANGER = """
import os, sys
folder, victim = sys.argv[1:]
print('ready', flush=True)
while True:
    try:
        os.rename(folder, folder + '.aside')
        os.symlink(victim, folder)
        os.unlink(folder)
        os.rename(folder + '.aside', folder)
    except OSError:
        pass
"""

# A program that is recorded, and exchanges a name in its own trace for a link once it runs.
PLANTER = """
import os, sys
os.symlink(sys.argv[1], os.path.join(os.environ['VARVE_OUTPUT'], '.manifest.json'))
"""


def modes(folder):
    return {path.name: stat.S_IMODE(path.lstat().st_mode) for path in [folder, *folder.rglob("*")]}


@pytest.fixture
def theirs(tmp_path):
    """A folder of nobody's, which everybody reaches, and a file of root's."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    for parent in tmp_path.parents:
        if parent != parent.parent and parent.stat().st_uid == os.geteuid():
            os.chmod(parent, parent.stat().st_mode | 0o111)
    os.chmod(tmp_path, 0o755)
    (tmp_path / "victim").write_bytes(SECRET)
    os.chmod(tmp_path / "victim", 0o600)
    return folder


def as_nobody(*words, **more):
    return subprocess.Popen([*map(str, words)], user=65534, group=65534, extra_groups=[], cwd="/",
                            stdout=subprocess.PIPE, text=True, **more)


def plant(target, link):
    os.symlink(target, link)
    os.lchown(link, 65534, 65534)


def test_a_trace_is_private(run, tmp_path, program):
    run("record", "-o", "t.varve", "--", program, umask=0o022)
    run("dump", "t.varve", "-o", "d.varve", umask=0o022)
    for name in ("t.varve", "d.varve"):
        found = modes(tmp_path / name)
        assert len(found) >= 5 and found[name] == 0o700 and found["manifest.json"] == 0o600
    assert set(modes(tmp_path / "d.varve").values()) == {0o700, 0o600}
    run("report", "-o", "r.txt", "t.varve", umask=0o027)
    # named by the user: as any file of his
    assert stat.S_IMODE((tmp_path / "r.txt").stat().st_mode) == 0o640


def test_a_manifest_is_not_written_through_a_link(run, tmp_path, theirs, program):
    (theirs / "t.varve").mkdir()  # an empty folder is used
    os.chown(theirs / "t.varve", 65534, 65534)
    done = run("record", "-o", "theirs/t.varve", "--", "python3", "-c", PLANTER,
               tmp_path / "victim")
    assert done.returncode == 0
    assert (tmp_path / "victim").read_bytes() == SECRET
    assert b"varve_format" in (theirs / "t.varve/manifest.json").read_bytes()
    assert not (theirs / "t.varve/manifest.json").is_symlink()
    assert run("record", "-o", "theirs/u.varve", "--", program).returncode == 0


def test_an_output_does_not_follow_what_somebody_else_has_made(run, tmp_path, theirs, trace):
    plant(tmp_path / "victim", theirs / "r.json")
    for verb in ("report", "export"):
        done = run(verb, "-o", "theirs/r.json", trace)
        assert done.returncode == 4 and "is a link that another user may have made" in done.stderr
    assert (tmp_path / "victim").read_bytes() == SECRET
    # the name of the temporary is known before: it is held by exec
    script = "ln -s \"$1\" theirs/s.json.$$.part && exec \"$2\" report -o theirs/s.json \"$3\""
    done = subprocess.run(["sh", "-c", script, "sh", tmp_path / "victim", run("version").args[0],
                           trace], cwd=tmp_path, check=False,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "victim").read_bytes() == SECRET
    assert b"varve.report" in (theirs / "s.json").read_bytes()


def test_a_link_of_ones_own_is_followed(run, tmp_path, trace):
    (tmp_path / "real.json").write_text("former")
    (tmp_path / "link.json").symlink_to("real.json")
    assert run("report", "-o", "link.json", trace).returncode == 0
    assert (tmp_path / "link.json").is_symlink() and "varve.report" in (tmp_path /
                                                                        "real.json").read_text()


def test_removing_a_trace_leads_nowhere_else(run, tmp_path, theirs, program):
    """Root records again and again under one name, so that old traces go; their owner exchanges
    folders in them meanwhile."""
    victim = tmp_path / "kept"
    victim.mkdir()
    kept = {f"{i}" for i in range(50)}
    for name in kept:
        (victim / name).write_bytes(SECRET)
    trace, old = theirs / "t.varve", theirs / "t.varve.old"
    for _ in range(6):
        assert run("record", "-q", "-o", "theirs/t.varve", "--", program,
                   stdout=subprocess.DEVNULL).returncode == 0
        exchangers = []
        for folder in [path for name in (trace, old) if name.exists()
                       for path in [name, *name.iterdir()] if path.is_dir()]:
            os.chown(folder, 65534, 65534)
            if folder not in (trace, old):
                for i in range(300):  # takes a while to remove
                    (folder / f"x{i}").touch()
                exchangers.append(as_nobody("/usr/bin/python3", "-c", EXCHANGER, folder, victim))
        for process in exchangers:
            assert process.stdout.readline() == "ready\n"
        done = run("record", "-q", "-o", "theirs/t.varve", "--", program, stdout=subprocess.DEVNULL)
        for process in exchangers:
            process.kill()
            process.communicate()
        assert done.returncode == 0
        assert {path.name for path in victim.iterdir()} == kept


def test_a_cache_lies_only_where_others_may_not_put_files(run, tmp_path, theirs):
    (theirs / "a.json").write_text(
        '{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": "a"}]}')
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    assert run("report", "--cache", "theirs/a.json", env={"HOME": str(home)}).returncode == 0
    assert [path.name for path in theirs.iterdir()] == ["a.json"]
    (cache,) = (home / ".cache/varve").iterdir()
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600
    # a home that is somebody else's (sudo -E): nothing is made there, and one is told
    for settings in ({"HOME": str(theirs)}, {"XDG_CACHE_HOME": str(theirs / "xdg")}, {"HOME": ""}):
        done = run("report", "--cache", "theirs/a.json", env={"HOME": str(theirs), **settings})
        assert done.returncode == 0 and "no cache was written" in done.stderr
    assert [path.name for path in theirs.iterdir()] == ["a.json"]


def test_a_trace_in_a_folder_of_another_user_is_packed_elsewhere(run, tmp_path, theirs, trace):
    shutil.copytree(trace, theirs / "t.varve")
    done = run("pack", "theirs/t.varve")
    assert done.returncode == 3 and "belongs to another user" in done.stderr and "-o" in done.stderr
    assert run("pack", "theirs/t.varve", "-o", "p.varve").returncode == 0
    assert run("report", "p.varve").returncode == 0


def test_a_stream_of_terabytes_is_refused_at_once(run, tmp_path, trace):
    shutil.copytree(trace, tmp_path / "t.varve")
    (stream,) = (tmp_path / "t.varve").glob("*/thread.1.0")
    os.truncate(stream, 4 << 40)
    begin = time.monotonic()
    done = run("pack", "t.varve")
    packing = time.monotonic() - begin
    assert done.returncode == 3 and "has 4.40 TB" in done.stderr
    begin = time.monotonic()
    run("info", "t.varve")
    assert packing < 10 * (time.monotonic() - begin) + 1

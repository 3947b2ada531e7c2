# SPDX-License-Identifier: Apache-2.0
"""A process that can make no folder in the trace: each record that it loses is counted where it
outlives the process, and said. What is kept and what is counted is what was emitted, to the
record."""
import contextlib
import csv
import errno
import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile

import pytest

from streams import lost_by_process, lost_page, thread_streams

COUNT = 5000


@pytest.fixture(name="record")
def fixture_record(tmp_path, varve, program):
    def run(*words, trace=tmp_path / "x.varve", **more):
        return subprocess.run([varve, "record", "-o", trace, "--", program("homeless"),
                               *map(str, words)], cwd=trace.parent,
                              capture_output=True, text=True, timeout=240, check=False, **more)
    return run


def table(varve, trace, name="trace"):
    done = subprocess.run([varve, "info", "--csv", "--table", name, trace], capture_output=True,
                          text=True, check=True)
    return list(csv.DictReader(done.stdout.splitlines()))


def assert_all_is_counted(varve, trace, done, processes, reason, has_folders=False):
    emitted = int(done.stdout)
    kept = sum(len(words) for words, _, _ in thread_streams(trace))
    lost, page = lost_by_process(trace), lost_page(trace)
    assert kept + lost == emitted
    assert (page.processes, page.os_errno) == (processes, reason)
    if not has_folders:
        assert page.records == emitted
    (row,) = table(varve, trace)
    assert (int(row["lost"]), int(row["lost_homeless"])) == (lost, page.records)
    assert row["lost_homeless_why"] == os.strerror(reason)
    assert subprocess.run([varve, "info", "--strict", trace], capture_output=True,
                          check=False).returncode == 1
    report = subprocess.run([varve, "report", trace], capture_output=True, text=True,
                            check=True).stdout
    assert "EVENTS LOST" in report and os.strerror(reason) in report


def assert_it_is_said(done, trace, processes, reason):
    assert "marks nothing that varve can hear" not in done.stderr and " 0 lost" not in done.stderr
    whose = "a process" if processes == 1 else f"{processes} processes"
    assert f"were lost by {whose} that could make no folder: {os.strerror(reason)}" in done.stderr
    manifest = json.loads((trace / "manifest.json").read_text())
    page = lost_page(trace)
    assert manifest["lost_homeless"] == {"records": page.records, "processes": page.processes,
                                         "why": os.strerror(reason)}
    if not any(name.isdigit() for name in os.listdir(trace)):
        assert manifest["collectors"][0]["why"] == f"could make no folder: {os.strerror(reason)}"


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (32768, 32768))


@pytest.mark.parametrize("children", [0, 3])
@pytest.mark.parametrize("what, reason, limit", [
    ("none", errno.EFBIG, small_files), ("descriptors", errno.EMFILE, None)])
def test_losses_without_a_folder(record, varve, tmp_path, what, reason, limit, children):
    done = record(what, COUNT, children, preexec_fn=limit)
    assert done.returncode == 128 + signal.SIGKILL
    assert_all_is_counted(varve, tmp_path / "x.varve", done, 1 + children, reason)
    assert_it_is_said(done, tmp_path / "x.varve", 1 + children, reason)


def test_a_daemon_that_drops_root(record, varve, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give it up")
    done = record("root", COUNT, 2)
    assert_all_is_counted(varve, tmp_path / "x.varve", done, 3, errno.EACCES)
    assert_it_is_said(done, tmp_path / "x.varve", 3, errno.EACCES)
    assert "run varve record as the user it becomes" in done.stderr


def test_a_umask_that_forbids_all_costs_nothing(record, varve):
    more = {}
    if os.geteuid() == 0:  # root may all the same
        open_way = subprocess.run([varve, "version"], user=65534, group=65534, extra_groups=[],
                                  capture_output=True, check=False, cwd="/")
        if open_way.returncode != 0:
            pytest.skip("another user cannot reach the build folder")
        more = {"user": 65534, "group": 65534, "extra_groups": []}
    with tempfile.TemporaryDirectory() as folder:  # tmp_path is root's alone
        os.chmod(folder, 0o777)
        trace = pathlib.Path(folder) / "x.varve"
        done = record("umask", COUNT, 1, trace=trace, **more)
        assert "  none lost  " in done.stderr
        assert (sum(len(words) for words, _, _ in thread_streams(trace)),
                lost_by_process(trace)) == (int(done.stdout), 0)
        assert "lost" not in os.listdir(trace)


@contextlib.contextmanager
def mounted(folder, size):
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
                      capture_output=True,
                      check=False).returncode != 0:
        pytest.skip("only root can mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("size", ["16k", "64k"])
def test_a_disk_that_is_too_small(record, varve, tmp_path, size):
    with mounted(tmp_path / "disk", size) as disk:
        done = record("none", COUNT, 2, trace=disk / "x.varve")
        assert_all_is_counted(varve, disk / "x.varve", done, 3, errno.ENOSPC)
        assert_it_is_said(done, disk / "x.varve", 3, errno.ENOSPC)


def test_children_of_a_program_that_records_itself(varve, tmp_path, program):
    trace = tmp_path / "x.varve"
    done = subprocess.run([program("homeless"), "descriptors", str(COUNT), "3", trace],
                          capture_output=True, text=True,
                          timeout=240, check=False)
    assert done.returncode == -signal.SIGKILL
    assert_all_is_counted(varve, trace, done, 3, errno.EMFILE, has_folders=True)
    assert lost_page(trace).records == 2 * COUNT * 4


def test_nothing_is_left_where_nothing_was_lost(record, varve, tmp_path, program):
    trace = tmp_path / "x.varve"
    assert " none lost " in record("none", COUNT, 2).stderr
    assert "lost" not in os.listdir(trace)
    assert subprocess.run([varve, "info", "--strict", trace], capture_output=True,
                          check=False).returncode == 0
    done = subprocess.run([program("self_record"), tmp_path / "y", "3"], capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("y*/**/lost")) == [] != list(tmp_path.glob("y*/**/metadata"))


def test_a_dump_and_a_packed_trace_keep_the_count(record, varve, tmp_path):
    record("descriptors", COUNT, 0)
    page = (tmp_path / "x.varve" / "lost").read_bytes()
    subprocess.run([varve, "pack", "x.varve", "-o", "packed.varve"], cwd=tmp_path,
                   capture_output=True, check=True)
    assert (tmp_path / "packed.varve" / "lost").read_bytes() == page
    assert table(varve, tmp_path / "packed.varve")[0]["lost"] == str(2 * COUNT)


HEAD = b"VRVELOST" + (1).to_bytes(4, "little")
ABSURD = HEAD + bytes(4) + (2**64 - 1).to_bytes(8, "little")
DAMAGED = {"short": HEAD, "long": HEAD.ljust(8192, b"\0"), "no page": b"x" * 4096,
           "of a later version": (HEAD[:8] + b"\2").ljust(4096, b"\0"),
           "absurd": ABSURD.ljust(4096, b"\0")}


@pytest.mark.parametrize("content", DAMAGED)
def test_a_page_that_cannot_be_is_said_and_not_believed(record, varve, tmp_path, content):
    trace = tmp_path / "x.varve"
    record("none", 10, 0)
    (trace / "lost").write_bytes(DAMAGED[content])
    (row,) = table(varve, trace)
    assert (row["lost"], row["truncated_files"]) == ("0", "1")
    assert subprocess.run([varve, "info", "--strict", trace], capture_output=True,
                          check=False).returncode == 1


@pytest.mark.parametrize("content", [b"", bytes(4096)], ids=["empty", "zeros"])
def test_a_page_that_is_being_made_counts_nothing(record, varve, three_readers, tmp_path, content):
    trace = tmp_path / "x.varve"
    record("none", 10, 0)
    (trace / "lost").write_bytes(content)
    (row,) = table(varve, trace)
    assert (row["lost"], row["truncated_files"]) == ("0", "0")
    three_readers(trace, decode=False)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path),
                                  lambda path: os.symlink("nowhere", path)],
                                  ids=["pipe", "folder", "device", "nothing"])
def test_a_page_that_is_no_file(record, varve, tmp_path, make):
    trace = tmp_path / "x.varve"
    record("none", 10, 0)
    make(trace / "lost")
    assert [row["truncated_files"] for row in table(varve, trace)] == ["1"]


@pytest.mark.parametrize("damage", ["cut", "longer", "foreign", "open to all", "two names", "gone"])
def test_the_program_joins_no_page_but_its_own(tmp_path, varve, program, recorded, trace, damage):
    """And is not harmed by one that is no page: its losses stay in its memory, as without."""
    page = trace / "lost"
    page.write_bytes({"cut": HEAD, "longer": HEAD.ljust(8192, b"\0"),
                      "foreign": b"mine".ljust(4096, b"\0")}.get(
        damage, HEAD.ljust(4096, b"\0")))
    page.chmod(0o666 if damage == "open to all" else 0o600)
    if damage == "two names":
        os.link(page, tmp_path / "other")
    if damage == "gone":
        page.unlink()
    before = page.read_bytes() if page.exists() else b""
    done = subprocess.run([program("homeless"), "descriptors", str(COUNT), "1"], env=recorded(),
                          capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (page.read_bytes() if page.exists() else b"") == before


def test_a_page_that_is_cut_while_it_counts(tmp_path, program, recorded, trace):
    """The program lives on; its own handler of SIGBUS, if it had one, would be left alone."""
    page = trace / "lost"
    page.write_bytes(HEAD.ljust(4096, b"\0"))
    page.chmod(0o600)
    with subprocess.Popen([program("homeless"), "descriptors", "3000000", "0"], env=recorded(),
                          stdout=subprocess.PIPE) as process:
        while int.from_bytes(page.read_bytes()[16:24], "little") == 0:
            assert process.poll() is None
        os.truncate(page, 0)
        process.communicate(timeout=240)
    assert process.returncode == -signal.SIGKILL  # its own

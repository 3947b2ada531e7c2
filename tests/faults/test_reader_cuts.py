# SPDX-License-Identifier: Apache-2.0
"""A small trace, cut at every byte and with every byte changed: `varve` reads it (exit status 0) or
says in one line what is wrong and where (exit status 3). A cut stream gives a prefix of its
records, and never more than a longer prefix of the file does."""
import csv
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import golden_trace  # noqa: E402

# metadata is long and of one kind: every 7th byte of it is cut, every 13th changed.
FILES = [("manifest.json", 1, 1), ("100/metadata", 7, 13), ("100/process.0", 1, 1),
         ("100/thread.1.0", 1, 1), ("100/thread.1.1", 1, 1), ("100/thread.2.0", 1, 1)]


def events(varve, path):
    """How many events varve reads, or None where it refuses."""
    done = subprocess.run([varve, "info", "--csv", "--table", "trace", path], capture_output=True,
                          text=True, timeout=120, check=False)
    if done.returncode == 3:
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        assert lines[0].startswith("varve: ") and str(path) in lines[0], done.stderr
        return None
    assert done.returncode == 0, (done.returncode, done.stderr)
    head, row = csv.reader(done.stdout.splitlines())
    return int(row[head.index("events")])


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return golden_trace.make(tmp_path_factory.mktemp("cuts") / "t.varve")


@pytest.mark.parametrize("name, step, _", FILES)
def test_cut_at_every_byte(varve, trace, name, step, _):
    path = trace.write()
    whole = (path / name).read_bytes()
    former = 0
    for size in range(0, len(whole), step):
        (path / name).write_bytes(whole[:size])
        seen = events(varve, path)
        if name.startswith("100/thread") or name.endswith("process.0"):
            assert former <= seen <= trace.records, size
            former = seen
        elif name == "manifest.json":
            assert seen == trace.records, size


@pytest.mark.parametrize("name, _, step", FILES)
def test_change_every_byte(varve, trace, name, _, step):
    path = trace.write()
    whole = (path / name).read_bytes()
    for at in range(0, len(whole), step):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        (path / name).write_bytes(changed)
        seen = events(varve, path)  # a changed length may make two records of one
        assert seen is None or seen < len(whole) + trace.records, at


@pytest.mark.parametrize("name", [name for name, _, _ in FILES])
def test_a_missing_file_is_told(varve, trace, name):
    path = trace.write()
    (path / name).unlink()
    if name == "100/metadata":
        assert events(varve, path) is None
    else:
        assert events(varve, path) <= trace.records

# SPDX-License-Identifier: Apache-2.0
"""A packed stream cut at every byte, and with every byte changed: `varve` refuses it in one line
that says which file and where, or reads all of it. Sizes that no memory could hold are refused at
once."""
import csv
import functools
import re
import resource
import struct

import pytest

import packed_stream
import trace_writer

FILES = ["100/process.0", "100/thread.1.0", "100/thread.2.0"]


@pytest.fixture(name="packed")
def packed_golden(golden, run):
    assert run("pack", "-q", golden.path).returncode == 0
    return golden


def events(run, path, **more):
    """How many events varve reads, or None where it refuses a packed stream."""
    done = run("info", "--csv", "--table", "trace", path, **more)
    if done.returncode == 3:
        first, _, advice = done.stderr.partition("\n")
        assert done.stdout == "" and advice.startswith("  "), done.stderr
        assert re.fullmatch(rf"varve: '{path}/\d+/\S+': .* at byte \d+", first), first
        return None
    assert done.returncode == 0, (done.returncode, done.stderr)
    head, row = csv.reader(done.stdout.splitlines())
    return int(row[head.index("events")])


@pytest.mark.parametrize("name", FILES)
def test_cut_at_every_byte(run, packed, name):
    whole = (packed.path / name).read_bytes()
    for size in range(len(whole)):
        (packed.path / name).write_bytes(whole[:size])
        seen = events(run, packed.path)
        # Not even the magic is there: what is left is a plain stream, cut.
        assert seen is None if size >= 8 else seen < packed.records, size


@pytest.mark.parametrize("name", FILES)
def test_change_every_byte(run, packed, name):
    whole = (packed.path / name).read_bytes()
    refused = 0
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        (packed.path / name).write_bytes(changed)
        seen = events(run, packed.path)
        assert seen in (None, packed.records), at  # zstd's frame header has bits without a meaning
        refused += seen is None
    assert refused > 0.95 * len(whole)


def test_something_follows(run, packed):
    path = packed.path / FILES[1]
    path.write_bytes(path.read_bytes() + b"x")
    assert events(run, packed.path) is None


def small_memory():
    resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))


ONE = {"runs": packed_stream.column_bytes([8 << 2 | packed_stream.WORDS]), "ids": b"\x01",
       "ticks": bytes(6), "lengths": b"\0"}
# the release of an address: a record of two words, one of them an address
FREE = {"runs": packed_stream.column_bytes([24 << 2 | packed_stream.WORDS]), "ids": b"\x0c",
        "ticks": bytes(6), "lengths": b"\2", "fields": b"\0", "addresses": b"\0\6"}
BOMB = bytes(64 << 20)


@pytest.mark.parametrize("data", [
    lambda build: build(2**63 - 1),
    lambda build: build(2**64 - 1) + bytes(1000),
    lambda build: build(8) + struct.pack("<7I", *[2**32 - 1] * 7),
    lambda build: build(8, {**ONE, "raw": BOMB}),
    lambda build: build(8, {**ONE, "ids": BOMB}),
    lambda build: build(8, {**ONE, "fields": b"\0"}),
    lambda build: build(8, {**ONE, "ticks": bytes(12)}),
    lambda build: build(8, {**ONE, "ids": b"\xff\xff\xff\xff\x01"}),
    lambda build: build(8, {**ONE, "ids": b"\x80"}),
    lambda build: build(8, {**ONE, "runs": packed_stream.column_bytes([2**40 << 2 | 2])}),
    lambda build: build(8, {**ONE, "runs": packed_stream.column_bytes([7 << 2 | 2,
                                                                               1 << 2])}),
    lambda build: build(8, {**ONE, "runs": packed_stream.column_bytes([8 << 2 | 3])}),
    lambda build: build(16, {**ONE}),
], ids=range(13))
@pytest.mark.parametrize("layout", packed_stream.MAGICS)
def test_claims_that_make_no_sense(run, packed, data, layout):
    """With 256 MiB of address space."""
    (packed.path / FILES[1]).write_bytes(data(functools.partial(packed_stream.build,
                                                                layout=layout)))
    assert events(run, packed.path, preexec_fn=small_memory) is None


@pytest.mark.parametrize("wrong", [
    {"lengths": b"\3"}, {"lengths": b""}, {"lengths": b"\2\0"}, {"lengths": b"\x80"},
    {"addresses": b"\1"}, {"addresses": b"\0"}, {"addresses": b""}, {"addresses": b"\0\6\1"},
    {"addresses": BOMB}], ids=range(9))
def test_lengths_and_addresses_that_make_no_sense(run, packed, wrong):
    (packed.path / FILES[1]).write_bytes(packed_stream.build(24, {**FREE, **wrong}))
    assert events(run, packed.path, preexec_fn=small_memory) is None


@pytest.mark.parametrize("layout", packed_stream.MAGICS)
@pytest.mark.parametrize("columns", [ONE, FREE], ids=["end", "free"])
def test_the_block_before_is_sound(run, packed, columns, layout):
    """Like the first of those, so that it is the claims that are refused: it is read, as a cut
    plain stream."""
    size = 8 * (1 + columns["lengths"][0])
    # the first layout has the address among its fields
    more = {"fields": b"\6\0"} if layout == 1 and columns is FREE else {}
    (packed.path / FILES[1]).write_bytes(packed_stream.build(size, {**columns, **more},
                                                             layout=layout))
    assert 0 < events(run, packed.path) < packed.records




def test_what_was_damaged_before_it_was_packed_has_its_place_in_the_plain_stream(run, tmp_path):
    trace = trace_writer.Trace(tmp_path / "t.varve")
    process = trace.process(pid=1)
    process.site("begin", "a", layer="OP")
    thread = process.thread(tid=1)
    for i in range(20000):
        thread.begin(64, at=100 + 10 * i)
        thread.end(at=105 + 10 * i)
    thread.begin(63, at=300000)  # a class that metadata does not have
    trace.write()
    path = trace.path / "1" / "thread.1.0"
    said = f"varve: '{path}': event class 63 is not in metadata at byte {path.stat().st_size - 8}"
    assert run("info", trace.path).stderr.splitlines()[0] == said
    assert run("pack", "-q", trace.path).returncode == 0
    assert path.stat().st_size < 1000
    assert run("info", trace.path).stderr.splitlines()[0] == said + " of what it decompresses to"

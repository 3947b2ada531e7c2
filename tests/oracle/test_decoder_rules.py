# SPDX-License-Identifier: Apache-2.0
"""The second reader itself: right on a small trace with known answers, and it names every broken
rule.

Traces come from tests/support/trace_writer.py: one tick is one nanosecond."""
import json
import pathlib
import struct

import pytest

import trace_writer
import varve_decode

EPOCH_NS = trace_writer.EPOCH_NS
ODD = 'conv2d "q" \\ \n \x01 é'


@pytest.fixture
def small(tmp_path):
    """Two threads; the first with every kind of record, in two packets and two parts."""
    trace = trace_writer.Trace(tmp_path / "small.varve", trace_writer.manifest())
    process = trace.process(pid=100)
    odd = process.site("begin", ODD, file="tr ain+%.c", line=41)
    after, flow = process.site("next", "after"), process.site("flow_out", "arrow")
    loss, early = process.site("counter", "loss", layer="METRIC"), process.site("begin", "early")
    process.name("small")
    process.thread_name(100, "main", at=1)
    process.layers(0x7FF, at=2)
    process.sample(3, 3, EPOCH_NS + 3, 5)
    main, other = process.thread(100), process.thread(101)
    main.step_begin(-3, at=1000)
    main.begin(odd, at=1010)
    main.op([("f32", [8, 3]), ("i8", [])], at=1011, flop=48)
    main.next(after, at=1050)
    main.end(at=1090)
    main.counter(loss, 1.5, at=1092)
    main.pair(flow, 2**64 - 1, at=1093)
    main.new_packet(at=1094)
    main.begin_name("dynamic é", "HOST", at=1095)
    main.alloc(4096, 10, at=1096)
    main.free(4096, at=1097)
    main.new_part()
    main.step_end(at=1100)
    other.begin(odd, at=2**44 - 10)
    other.end(at=2**44 + 10)  # the low 44 bits wrap between
    other.begin(odd, at=2**44 + 30)
    other.begin(early, at=2**44 + 20)  # earlier than the record before: takes its time
    other.end(at=2**44 + 40)
    # 44 bits tell times apart within 2**43 ticks of one packet only
    process.own.new_packet(at=2**44 + 50)
    process.layers(0, at=2**44 + 50)
    trace.write()
    return trace.path


def open_clean(path):
    trace = varve_decode.open_trace(path)
    assert trace.problems == []
    return trace


def test_page_holds(small, decode):
    done = decode("--check", small)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_records(small, decode):
    lines = decode(small).stdout.splitlines()
    assert lines[-1] == f"{EPOCH_NS + 2**44 + 50} 100 0 \"varve.layers\" {{\"layers\": 0}}"
    assert f"{EPOCH_NS + 1000} 100 100 \"varve.step_begin\" {{\"index\": -3}}" in lines
    assert f"{EPOCH_NS + 1010} 100 100 {json.dumps(ODD, ensure_ascii=False)} {{}}" in lines
    assert f"{EPOCH_NS + 1092} 100 100 \"loss\" {{\"value\": 1.5}}" in lines
    assert f"{EPOCH_NS + 1093} 100 100 \"arrow\" {{\"id\": 18446744073709551615}}" in lines
    assert [int(line.split()[0]) for line in lines] == sorted(int(line.split()[0])
                                                              for line in lines)


def test_counts(small, decode):
    counts = json.loads(decode("--counts", small).stdout)
    by_name = counts.pop("by_name")
    assert sum(by_name.values()) == counts["events"]
    assert (by_name[ODD], by_name["varve.end"], by_name["varve.string"]) == (3, 3, 3)
    assert counts == {
        "events": 24, "lost": 0, "processes": 1, "streams": 3,
        # the last one of thread 101 is ended by the pause
        "ranges": {ODD: {"calls": 3, "total_ns": 40 + 20 + 20},
                   "after": {"calls": 1, "total_ns": 40},
                   "dynamic é": {"calls": 1, "total_ns": 5}, "early": {"calls": 1, "total_ns": 10}},
        "steps": {"calls": 1, "total_ns": 100}}


def test_module(small):
    (process,) = open_clean(small).processes
    assert process.names == {None: "small", 100: "main"}
    assert process.strings == {1: "small", 2: "main", 3: "dynamic é"}
    assert process.clock == varve_decode.Clock(freq=10**9, offset_s=EPOCH_NS // 10**9, offset=0,
                                               precision=25)
    site = process.classes[64]
    assert (site.name, site.kind, site.layer, site.line, site.file) == (ODD, "begin", "OP", "41",
                                                                        "tr ain+%.c")
    own, main, other = process.streams
    assert [(s.kind, s.instance, s.tid) for s in (own, main, other)] == [
        ("process", 0, 0), ("thread", 1, 100), ("thread", 2, 101)]
    assert main.records[2].fields["inputs"] == [
        {"dtype": 1, "rank": 2, "dims": [8, 3]}, {"dtype": 7, "rank": 0, "dims": []}]
    assert [record.ticks - 2**44 for record in other.records] == [-10, 10, 30, 30, 40]


def test_clock_is_exact_in_integers(tmp_path):
    trace = trace_writer.Trace(tmp_path / "clock.varve")
    process = trace.process()
    process.clock.update(freq=2445428000, offset=-123456789)
    process.thread(100).step_end(at=2**62)
    trace.write()
    (process,) = open_clean(trace.path).processes
    assert process.streams[1].records[0].time_ns == EPOCH_NS + (2**62 -
                                                                123456789) * 10**9 // 2445428000


def test_loss_ends_ranges(tmp_path):
    trace = trace_writer.Trace(tmp_path / "lossy.varve")
    process = trace.process()
    site, thread = process.site("begin", "a"), process.thread(100)
    thread.begin(site, at=10)
    thread.begin(site, at=20)
    thread.lose(7, at=100)
    thread.begin(site, at=100)
    thread.end(at=130)
    thread.end(at=140)  # its begin is among the lost
    thread.begin(site, at=150)
    process.thread(101).end(at=190)
    trace.write()
    trace = open_clean(trace.path)
    built, unmatched = varve_decode.ranges(trace.processes[0])
    assert [(r.begin_ns - EPOCH_NS, r.end_ns - EPOCH_NS, r.parent, r.unfinished)
            for r in built] == [
        (10, 20, None, True), (20, 20, 0, True), (100, 130, None, False), (150, 190, None, True)]
    assert unmatched == 2
    assert varve_decode.counts(trace)["lost"] == 7


def test_class_of_a_later_version_is_sized_by_its_declaration(tmp_path):
    trace = trace_writer.Trace(tmp_path / "later.varve")
    process = trace.process()
    later = process.event_class(40, "varve.later",
                                "u32 count; u32 mode; struct { u64 a; u64 b; } rows[count];")
    thread = process.thread(100)
    thread.record(later, 10, struct.pack("<II4Q", 2, 9, 1, 2, 3, 4))
    thread.step_end(at=20)
    trace.write()
    records = open_clean(trace.path).processes[0].streams[1].records
    assert records[0].fields == {"count": 2, "mode": 9,
                                 "rows": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]}
    assert records[1].name == "varve.step_end"


def poke(path, offset, form, *values):
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, offset, *values)
    path.write_bytes(data)


BROKEN = [  # file, byte, form, value, byte that is named, what is said
    ("thread.1.0", 0, "<I", 7, 0, "magic is 0x7"),
    ("thread.1.0", 65536, "<I", 7, 65536, "magic is 0x7"),
    ("thread.1.0", 4, "<I", 1, 0, "stream_id"),
    ("thread.1.0", 24, "<Q", 3, 0, "2 were lost before this packet, and 0 up to its end"),
    ("thread.2.0", 8, "<Q", 1, 0, "stream_instance_id is 1, not 2"),
    ("thread.1.0", 32, "<Q", 632, 0, "content_size is 632"),
    ("thread.1.0", 32, "<Q", 8 * 65536 + 64, 0, "content_size is 524352 of 524288"),
    ("thread.1.0", 32, "<Q", 648, 0, "content_size is 648"),
    ("thread.1.0", 40, "<Q", 8 * 65600, 65600, "magic is"),
    ("thread.1.0", 48, "<Q", 1005, 0, "timestamp_begin after the first record"),
    ("thread.1.0", 65536 + 56, "<Q", 2, 65536, "packet_seq_num is 2, not 1"),
    ("thread.1.1", 56, "<Q", 1, 0, "packet_seq_num is 1, not 2"),
    ("thread.1.0", 64, "<Q", 3, 65536, "events_discarded shrank"),
    ("thread.1.1", 72, "<Q", 7, 0, "tid is not the last packet's"),
    ("process.0", 72, "<Q", 7, 0, "tid is 7"),
    ("thread.1.0", 80, "<I", 0, 80, "class 0 is not declared"),
    ("thread.1.0", 80, "<I", 999, 80, "class 999 is not declared"),
    ("thread.1.0", 80, "<H", 5, 80, "varve.process does not belong in a thread stream"),
    ("thread.1.0", 65536 + 92, "<I", 6, 65536 + 80, "layer mask 0x6 in varve.begin"),
    ("thread.1.0", 65536 + 88, "<I", 9, 65536 + 80, "string 9 of varve.begin is not there"),
    ("thread.1.0", 144, "<Q", 2**40, 104, "beyond content_size"),
    ("process.0", 88, "<I", 0, 80, "string 0 is not new"),
    ("process.0", 96, "<H", 0, 80, "NUL inside the text"),
]


@pytest.mark.parametrize("name, at, form, value, named, said", BROKEN,
                         ids=[f"{b[0]}@{b[1]}={b[3]}" for b in BROKEN])
def test_broken_bytes_are_named(small, decode, name, at, form, value, named, said):
    poke(small / "100" / name, at, form, value)
    done = decode("--check", small)
    assert done.returncode == 1
    found = [line for line in done.stderr.splitlines() if f"/{name}: byte {named}: " in line]
    assert any(said in line for line in found), done.stderr


METADATA = [  # text, its replacement, what is said
    ('uri = "varve:next?layer=OP"', 'uri = "varve:next?layer=Op"', "layer 'Op'"),
    ('uri = "varve:next?layer=OP"', 'uri = "varve:mark?layer=OP"',
     "kind 'mark' does not go with id 73"),
    ('name = "varve.free"', 'name = "varve.release"', "id 12 is varve.free"),
    ("u64 address; u64 device;", "u64 address;", "the fields of 'varve.free'"),
    ("event { id = 12;", "event { id = 11;", "class 11 comes twice"),
    ("hostname", "hostnames", "env has no hostname"),
    ("event { id = 12;", "event { id = twelve;", "cannot read this event block"),
]


@pytest.mark.parametrize("text, other, said", METADATA, ids=[m[2] for m in METADATA])
def test_broken_metadata_is_named(small, decode, text, other, said):
    path = small / "100" / "metadata"
    assert path.read_text().count(text) == 1
    path.write_text(path.read_text().replace(text, other))
    done = decode("--check", small)
    assert done.returncode == 1
    assert any("/metadata: byte " in line and said in line
               for line in done.stderr.splitlines()), done.stderr


@pytest.mark.parametrize("text, other", [
    ("varve_format = 1", "varve_format = 2"), ("/* CTF 1.8 */", "/* CTF 1.9 */"),
    ("clock {", "clocks {")])
def test_what_is_no_trace_of_this_version_is_refused(small, decode, text, other):
    path = small / "100" / "metadata"
    path.write_text(path.read_text().replace(text, other))
    done = decode(small)
    assert (done.stdout, done.returncode) == ("", 3)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("path", ["missing.varve", "empty", "file"])
def test_other_paths_are_refused(tmp_path, decode, path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("not a trace")
    done = decode(tmp_path / path)
    assert (done.stdout, done.returncode) == ("", 3)
    assert str(tmp_path / path) in done.stderr
    assert done.stderr.count("\n") == 1


def test_missing_part_is_named(small, decode):
    (small / "100" / "thread.1.0").unlink()
    assert "thread.1.1: byte 0: part 0 of this stream is missing" in decode("--check", small).stderr


def test_every_cut_gives_the_whole_records_before_it(small):
    path = small / "100" / "thread.2.0"
    whole, data = open_clean(small).processes[0].streams[2].records, path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        trace = varve_decode.open_trace(small)
        stream = trace.processes[0].streams[2]
        assert [r.ticks for r in stream.records] == [r.ticks
                                                     for r in whole][:max(0, size - 80) // 8]
        assert [problem.is_cut for problem in trace.problems] == [True] * bool(size)


def test_every_cut_of_the_metadata_keeps_whole_blocks(small):
    path = small / "100" / "metadata"
    data, known = path.read_bytes(), set()
    for size in range(data.index(b"event {"), len(data), 7):
        path.write_bytes(data[:size])
        (process,) = varve_decode.open_trace(small).processes
        assert known <= set(process.classes)
        known = set(process.classes)
    assert len(known) >= 12


def test_page_and_reader_name_the_same(small):
    """The tables of doc/format.md, held against the reader's own."""
    page = (pathlib.Path(varve_decode.__file__).parents[1] / "doc" / "format.md").read_text()
    for number, (name, stream, _) in varve_decode.BUILTINS.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {number} | `{name}` |")]
        assert f"| {stream} |" in row
    for code, kind in enumerate(varve_decode.KINDS):
        assert f"| `{kind}` | {code} |" in page
    words = " ".join(page.split())
    for name, bit in varve_decode.LAYERS.items():
        assert f"{name} {bit}," in words or f"{name} {bit:#x}" in words

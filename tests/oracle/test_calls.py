# SPDX-License-Identifier: Apache-2.0
"""varve.call and varve.collector (doc/format.md §6): babeltrace2, the second reader, varve and what
was written agree."""
import struct

import pytest

import babeltrace_text
import calls_trace
import trace_writer
import varve_decode


@pytest.fixture
def trace(tmp_path):
    return calls_trace.make(tmp_path / "calls.varve")


def test_page_holds(trace, decode):
    done = decode("--check", trace.write())
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_records_are_those_written(trace):
    (process,) = varve_decode.open_trace(trace.write()).processes
    own, thread = process.streams
    call = next(record.fields for record in thread.records if record.name == "varve.call")
    assert (call["sequence"], call["forward_tid"], call["scope"],
            call["argument_count"]) == (100, 107, 1, 14)
    for told, (kind, values, *tensor) in zip(call["arguments"], calls_trace.EVERY_KIND):
        dtype, device, index = tensor + ["unknown", 0, -1][len(tensor):]
        values = [100, 2] if kind == "list" else [struct.unpack("<q", struct.pack("<d", value))[0]
                                                  if isinstance(value, float) else value
                                                  for value in values]
        assert told == {"kind": trace_writer.ARGUMENTS.index(kind),
                        "dtype": trace_writer.DTYPES.index(dtype),
                        "device": device, "device_index": index, "value_count": len(values),
                        "values": values}
    told = [(process.strings[record.fields["name"]], record.fields["state"],
             process.strings[record.fields["text"]])
            for record in own.records if record.name == "varve.collector"]
    assert (told == [(name, state, f"told at {state}")
                     for state, name in enumerate(trace_writer.COLLECTOR_STATES)] +
        [("absent", 0, "after all")])


def test_babeltrace2_reads_the_same(trace, babeltrace2, varve_json):
    path = trace.write()
    assert babeltrace_text.event_count(babeltrace2, path) == trace.records == varve_json(
        "info", path)["trace"][0]["events"]
    (process,) = varve_decode.open_trace(path).processes
    events = list(babeltrace_text.events(babeltrace2, process.path))
    for stream in process.streams:
        printed = [(event.name, event.fields) for event in events if event.tid == stream.tid]
        assert printed == [(record.name, record.fields) for record in stream.records]


@pytest.mark.parametrize("argument", [("int", []), ("strided_tensor", [2, 1]), ("list", [1]),
                                      ("text", [0])])
def test_a_wrong_number_of_values_is_named(tmp_path, decode, argument):
    trace = trace_writer.Trace(tmp_path / "wrong.varve")
    thread = trace.process(pid=1).thread(tid=11)
    thread.begin_name("aten::op", "OP", at=1)
    thread.call([argument], at=2)
    assert "no such argument in varve.call" in decode("--check", trace.write()).stderr


def test_every_cut_gives_the_whole_records_before_it(trace, varve_json):
    path = trace.write()
    (process,) = varve_decode.open_trace(path).processes
    (thread,) = process.streams[1:]
    others = trace.records - len(thread.records)
    file = path / "1" / "thread.1.0"
    data, ends = file.read_bytes(), [record.offset for record in thread.records[1:]]
    for size in range(80, min(len(data), 900)):
        file.write_bytes(data[:size])
        whole = sum(end <= size for end in ends)
        assert len(varve_decode.open_trace(path).processes[0].streams[1].records) == whole
        if size % 8 in (0, 7):
            assert varve_json("info", path)["trace"][0]["events"] == others + whole

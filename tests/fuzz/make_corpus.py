# SPDX-License-Identifier: Apache-2.0
"""make_corpus.py: writes the seeds of fuzz/corpus again, from tests/support/trace_writer.py.

    python3 tests/fuzz/make_corpus.py

The seeds are small on purpose. What a campaign finds is added to the folders by hand, under a name
that says what it was; this program leaves such files alone.
"""
import json
import pathlib
import random
import struct
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "support"))

import calls_trace  # noqa: E402
import nsys_writer  # noqa: E402
import rpd_writer  # noqa: E402
import packed_stream  # noqa: E402
import ireeprof_writer  # noqa: E402
import execution_trace_writer  # noqa: E402
import rocprof_writer  # noqa: E402
import trace_writer  # noqa: E402
import vmfb_writer  # noqa: E402


def stream_trace(path):
    """Every kind of record, with the class ids that fuzz_varve_stream.c declares."""
    trace = trace_writer.Trace(path)
    process = trace.process(pid=1)
    thread = process.thread(tid=1)
    thread.step_begin(0, at=100)
    thread.begin(64, at=110)
    thread.op([("f32", [8, 3]), ("i64", [])], at=111, flop=48, size=96)
    thread.next(65, at=120)
    thread.mark(66, at=121)
    thread.counter(67, 0.5, at=122)
    thread.pair(68, 7, at=123)
    thread.pair(70, 9, at=124)
    thread.pair(69, 7, at=125)
    thread.pair(71, 9, at=126)
    thread.alloc(0x1000, 64, at=127)
    thread.free(0x1000, at=128)
    thread.operator([(0, "f32", [8, 3], "NCHW", 5), (1, "bf16", [], None, 6)], at=128, flop=48)
    thread.args([("batch", "int", -1), ("rate", "real", 0.5), ("sizes", "ints", [1, 2])], at=128)
    thread.texts([("file", "a.txt"), ("mode", "")], at=128)
    thread.collective("all_reduce", at=128, group="world", rank=1, size=2, number=3, ranks=[0, 4])
    thread.launch(5, at=129)
    thread.activity(1, "gemm", (129, 131), at=129, correlation=5)
    thread.device_counter(1, "power (W)", 130, 71.5, at=129)
    thread.args([("waves", "unsigned", 2**64 - 1)], at=129, subject=1)
    thread.collective("", at=129, subject=1, elements=(5, 6), nbytes=20)
    thread.trace_point(2, (2, 0), at=129, node=3, name="conv", operation="all_reduce", reason="why")
    thread.trace_mark(2, at=129, model=1, iteration=4)
    thread.trace_mark(5 << 32 | 1, at=129, track=1, value=130)
    thread.end(at=130)
    thread.record(40, 131, (1).to_bytes(4, "little") + b"\0" * 4 + b"12345678" + b"hi\0")
    thread.step_end(at=140)
    return thread, trace


def lossy_thread(process):
    thread = process.thread(tid=1)
    thread.begin(64, at=100)
    thread.lose(3, at=200)
    thread.begin(64, at=2**44 + 5)
    thread.end(at=2**44 + 4)
    return thread


def metadata_text(process):
    """Without the built-in classes: fewer bytes for a fuzzer to wander in."""
    lines = process.metadata().split(b"\n")
    return b"\n".join(line for line in lines if b'name = "varve.' not in line)


def packed_columns(path):
    """A stream as fuzz_packed.c takes it: its length in words, and columns of records with and
    without fields."""
    thread, _ = stream_trace(path)
    plain = thread.part_bytes(0)
    count = len(plain) // 8 - 10
    # with 0, 5, 1, 1, 2 and 0 fields, then the runs' rest as records of none
    ids = [64, 8, 2, 67, 12, 1]
    ids += [1] * (count - 15)
    runs = packed_stream.column_bytes([80 << 2 | packed_stream.RAW,
                                       count * 8 << 2 | packed_stream.WORDS])
    return len(plain) // 8, {"runs": runs, "raw": plain[:80],
                             "ids": packed_stream.column_bytes(ids),
                             "ticks": bytes(range(len(ids))) + bytes(5 * len(ids)),
                             "fields": bytes([2, 4, 6, 8, 0, 0, 10, 12, 14])}


def packed_with_lengths():
    """The same of the second layout: an allocation, its release, an operator with two tensors,
    identities and outputs."""
    lengths = [3, 2, 14, 3, 8]
    count = sum(lengths) + len(lengths)
    # fields, where there is no address; a tensor's rank is in its first word
    tensor, output = [2 << 33, 2, 8, 10], [1 << 33, 6]
    fields = [64, 0, 0, 6, 8, 0, 0, 4, *tensor, 1 << 33, 2, 12, 4, 4, *output, *output, 2]
    return count, {"runs": packed_stream.column_bytes([count * 8 << 2 | packed_stream.WORDS]),
                   "raw": b"", "ids": bytes([11, 12, 38, 50, 51]),
                   "ticks": bytes(range(5)) + bytes(25),
                   "fields": packed_stream.column_bytes(fields),
                   "lengths": bytes(lengths),
                   "addresses": bytes([0, 90, 1, 0, 20, 2, 1, 2, 1, 0, 2])}


def packed_input(first, words, columns, names):
    lengths = struct.pack(f"<{1 + len(names)}H", words, *(len(columns[name]) for name in names))
    return first + lengths + b"".join(columns[name] for name in names)


def packed_seeds(folder):
    yield "packed/columns", packed_input(b"\0", *packed_columns(folder / "c.varve"),
                                         packed_stream.COLUMNS_OF[1])
    yield "packed/columns_with_lengths", packed_input(b"\2", *packed_with_lengths(),
                                                      packed_stream.COLUMNS)
    four = {"runs": packed_stream.column_bytes([32 << 2 | packed_stream.WORDS]),
            "ids": bytes([64, 1, 64, 1]),
            "ticks": bytes([200, 0, 80, 82]) + bytes(20), "lengths": bytes(4)}
    for layout, name in ((1, "four_records"), (2, "four_records_with_lengths")):
        yield f"packed/{name}", b"\1" + packed_stream.build(32, four, layout=layout)
    yield "packed/cut", b"\1" + packed_stream.build(32, four, layout=1)[:-9]
    yield "packed/no_end_to_zeros", b"\1" + packed_stream.build(2**62, layout=1)
    for layout, name in ((1, "columns_that_differ"), (2, "columns_that_differ_with_lengths")):
        yield f"packed/{name}", b"\1" + packed_stream.build(32, {**four, "fields": b"\x05"},
                                                           layout=layout)


def graph_seeds():
    nodes = [{"name": "a", "ts": 2238000001, "duration": 7236000000, "id": 0, "adj": [1]},
             {"name": {"odd": None}, "ts": -5, "duration": -3, "id": 1, "adj": [],
              "more": [1.5, True]}]
    whole = json.dumps({"version": "1.0.0", "nodes": nodes,
                        "edges": [{"edgeFrom": 0, "edgeTo": 1},
                                  {"edgeFrom": 1, "edgeTo": 9}]}).encode()
    yield "mlirgraph/whole", whole
    yield "mlirgraph/cut", whole[:-60]
    yield "mlirgraph/edges_first", b'{"edges": [{"edgeTo": 1}], "x": {"y": []}, ' + whole[
        1:-1] + b"}"
    yield "mlirgraph/wrong_types", b'{"nodes": [{"adj": 7, "ts": "soon"}]}'


def plan_seeds():
    whole = (b'Device_id,"Op Name",Graph ID,Node Index Start,Node Index End,Size(KB),Offset(KB)\r\n'
             b'0,"a ""b"", c",1,0,4294967295,2.5,0\r\n0,d,1,2,3,4,1\r\n\r\n0,TOTAL,1,0,0,6.5,0\r\n')
    yield "memory_plan/whole", whole
    yield "memory_plan/cut", whole[:-40]
    yield "memory_plan/wrong_number", whole.replace(b"2.5", b"-1")
    yield "memory_plan/few_fields", whole.replace(b"0,d,1,2", b"0,d")


def rocprof_seeds():
    whole = json.dumps(rocprof_writer.results()).encode()
    yield "rocprof/whole", whole
    yield "rocprof/cut", whole[:700]
    yield ("rocprof/wrong_types",
           b'{"rocprofiler-sdk-tool": [{"metadata": [], "strings": 4, "agents": {}, '
        b'"buffer_records": {"hip_api": [[], {"kind": "x", "correlation_id": 7, '
        b'"start_timestamp": 1.5}]}}]}')


def iree_seeds():
    whole = ireeprof_writer.small()
    yield "iree/whole", whole
    yield "iree/cut", whole[:-200]
    yield "iree/ticks", ireeprof_writer.on_gpu()
    yield "iree/statistics", json.dumps({
        "context": {"executable": "/opt/iree-benchmark-module", "caches": [{"level": 1}]},
        "benchmarks": [{"name": "BM_a/b_dispatch_0", "run_type": "iteration", "iterations": 3,
                        "real_time": 1.5e-3, "cpu_time": 2, "time_unit": "ms", "calls": 2.0}, 7,
                       {"name": "BM_a", "run_type": "aggregate", "time_unit": "x"}]}).encode()


def vmfb_seeds():
    yield "vmfb/whole", vmfb_writer.small()
    yield "vmfb/alone", vmfb_writer.flatbuffer(vmfb_writer.LOCATIONS, vmfb_writer.FUNCTIONS)
    yield "vmfb/stripped", vmfb_writer.in_zip(vmfb_writer.flatbuffer([], []))


def cache_seeds():
    """As fuzz_cache.c reads them: a byte that says how, then places and bits. The first two bytes
    are of the magic."""
    yield "cache/unchanged", b"\0"
    yield "cache/magic", b"\0" + bytes([1, 0, 0x10])
    yield "cache/head", b"\0" + bytes([40, 0, 0x01])
    yield "cache/rows", b"\2" + bytes([0, 2, 0x80])
    yield "cache/blocks", b"\2" + b"".join(struct.pack("<HB", 6000 + 61 * i, 0xff)
                                           for i in range(20))
    yield "cache/every_64th", b"\2" + b"".join(struct.pack("<HB", at, 1)
                                               for at in range(5000, 15000, 64))
    yield "cache/cut", b"\4" + struct.pack("<HB", 7000, 0)
    yield "cache/another_file", b"\1VARVECA1" + bytes(6000)


def execution_trace_seeds():
    writer = execution_trace_writer
    whole = json.dumps(writer.trace(writer.layers())).encode()
    old = [writer.old(node) for node in writer.layers()]
    yield "execution_trace/whole", whole
    yield "execution_trace/cut", whole[:900]
    yield "execution_trace/old", json.dumps(writer.trace(old, "1.0.1")).encode()
    yield "execution_trace/lists", json.dumps(writer.trace([writer.node(
        3, "aten::cat", [writer.tensors(writer.tensor(5, 6), writer.tensor(7, 0, ()))],
        [writer.tensor(8, 9)], rf_id=1)])).encode()
    yield ("execution_trace/wrong_types",
           b'{"schema": [], "start_ts": 0, "pid": "x", "nodes": [{"id": 3, "name": 4, '
           b'"ctrl_deps": 9, "inputs": {"values": [[1,2,3,4,5,"cpu"],[]], "shapes": [1], '
           b'"types": 7}, "attrs": [{"value": 1}, 5]}]}')


def nsys_seeds(folder):
    keep = ("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS")
    few = {name: nsys_writer.TABLES[name] for name in keep}
    whole = nsys_writer.write(folder / "whole.sqlite", few, 512).read_bytes()
    yield "nsys/whole", whole
    yield "nsys/cut", whole[:-1500]
    yield "nsys/no_columns", nsys_writer.write(
        folder / "odd.sqlite", {name: ("x TEXT", [("y",)]) for name in keep}, 512).read_bytes()


def rpd_seeds(folder):
    few = {name: table for name, table in rpd_writer.TABLES.items() if not name.startswith("ext_")}
    whole = rpd_writer.write(folder / "whole.rpd", few, 512).read_bytes()
    yield "rpd/whole", whole
    yield "rpd/cut", whole[:-1500]
    few = {name: table for name, table in rpd_writer.schema_3().items()
           if name in ("rocpd_string", "rocpd_ustring", "rocpd_api", "rocpd_op", "rocpd_api_ops")}
    yield "rpd/schema_3", rpd_writer.write(folder / "new.rpd", few, 512).read_bytes()
    yield "rpd/no_columns", rpd_writer.write(
        folder / "odd.rpd", {name: ("x TEXT", [("y",)]) for name in few}, 512).read_bytes()


def validate_seeds():
    event = {"ph": "X", "cat": "kernel", "name": "ProfilerStep 1", "pid": 1, "tid": "a", "ts": 1.25,
             "dur": 3, "args": {"stream": 7, "correlation": 1, "External id": 2,
                                "cuda_sync_kind": "Stream Sync"}}
    whole = json.dumps({"distributedInfo": {"rank": 1}, "traceEvents": [
        event, {**event, "ts": "2.5"}, {"ph": "s", "id": 1}, {"ph": "f", "id": 1}, {"ph": "B"},
        {"ph": "E"}, {}]})
    yield "validate/whole", whole.encode()
    yield "validate/cut", whole[:-9].encode()
    yield ("validate/array",
           b'[{"ph": "X", "name": "\x01\xff", "ts": -9e99, "dur": 99999999999999999999}, [], 7]')


def json_seeds():
    """As text, and as pieces of text (support/json_pieces.h)."""
    yield "json/sound", b'\0{"a": ["\\u0000\\"]", {"b\\\\": [1.5e3, null]}], "": " "}'
    yield "json/backslash_outside", b'\0[\\" ]]] " ]'
    yield "json/backslash_outside_opens", b'\0[\\" "' + b"{[" * 200 + b" ]"
    yield "json/backslash_at_a_block", b'\0["' + b"a" * 60 + b'"\\"]'
    yield "json/deep", b"\0" + b"[" * 260 + b"]" * 260
    yield "json/pieces", bytes([1, *range(255)])
    yield "json/pieces_nested", bytes([1, 80, 84, 80, 32, 16, 80, 24, 18, 20, 81, 22, 25, 85, 81])


def tables_seeds():
    """Mostly small numbers: things one after the other, each asked for in all ways (fuzz_tables.c,
    fuzz_vtables.c)."""
    for number in range(12):
        chance = random.Random(number)
        question = bytes([255 if number % 2 == 0 else number,
                          *(chance.choice([0, chance.randrange(256)]) for _ in range(63))])
        things = bytes(chance.randrange(128 if chance.random() < 0.85 else 256)
                       for _ in range(chance.choice([100, 400, 800])))
        yield f"tables/chance_{number}", question + things
        yield f"vtables/chance_{number}", question[:32] + things


def options_seeds():
    """The first byte says what the others are (fuzz_options.c): a text as it is, or choices of what
    stands in one."""
    for name, text in {
            "every_size": '{"output": "t.varve", "max_size": "5MB", "when_full": "drop-oldest", '
                          '"dump_on": "SIGUSR2"}',
            "schedule": '{"layers": "OP,STEP", "skip": 1, "warmup": "1", "active": 3, "repeat": '
                        '2, "keep": "10s"}',
            "ges": '{"storage_limit": "200MB", "training_trace": "on", "task_trace": "l1", '
                   '"hccl": true, "aic_metrics": '
                   '"Custom:0x1", "host_sys": "cpu,mem", "instr_profiling_freq": 1000, "optype": '
                   '""}',
            "escapes": '{"output": "a\\"b\\u00e9\\ud83d\\ude00\\u001b[31m"}',
            "amount_of_time": "90min", "amount_of_bytes": "64 MiB",
            "steps": "skip=1,warmup=1,active=3,repeat=2", "layers": "op,Step,0x7",
            "sources": "auto,+python,-torch", "signal": "RTMIN+1"}.items():
        yield f"options/{name}", b"\0" + text.encode()
    yield "options/not_utf8", b'\0{"output": "caf\xe9"}'
    for number in range(24):
        chance = random.Random(number)
        yield f"options/chance_{number}", bytes([
            number % 8, *(chance.randrange(256 if chance.random() < 0.3 else 48)
                          for _ in range(chance.choice([12, 60, 150])))
        ])


def seeds(folder):
    yield from tables_seeds()
    yield from options_seeds()
    yield from json_seeds()
    yield from cache_seeds()
    yield from graph_seeds()
    yield from rocprof_seeds()
    yield from iree_seeds()
    yield from execution_trace_seeds()
    yield from vmfb_seeds()
    yield from plan_seeds()
    yield from nsys_seeds(folder)
    yield from rpd_seeds(folder)
    yield from validate_seeds()
    thread, trace = stream_trace(folder / "a.varve")
    process = trace.processes[0]
    yield "varve_stream/every_record", thread.part_bytes(0)
    yield "varve_stream/cut", thread.part_bytes(0)[:-20]
    yield "varve_stream/empty", b""
    calls = calls_trace.make(folder / "calls.varve").processes[0].streams[0].part_bytes(0)
    yield "varve_stream/calls", calls
    yield "varve_stream/calls_cut", calls[:300]
    lossy = lossy_thread(trace_writer.Trace(folder / "b.varve").process(pid=1))
    # The first packet is left at its records, so that the file stays small.
    yield "varve_stream/loss", lossy.part_bytes(0)[trace_writer.PACKET_BYTES:]
    yield from packed_seeds(folder)
    process.site("begin", 'od"d\\\n\x01é', layer="OP", file="tr ain.c", line=41)
    process.site("counter", "loss", layer="METRIC")
    process.event_class(40, "later", "u8 a; u32 n; u64 items[n]; struct { u32 r; i64 d[r]; } t[2];")
    process.event_class(41, "odd", "variant <a> { u8 x; } v;")
    text = metadata_text(process)
    yield "varve_metadata/whole", text
    yield "varve_metadata/torn", text[:-30]
    yield "varve_metadata/later_format", text.replace(b"varve_format = 1", b"varve_format = 2")
    yield "varve_metadata/no_clock", text[:600]
    manifest = json.dumps(trace_writer.manifest(command=["./train", "a b", "\u00e9\U0001f600"]))
    yield "manifest/whole", manifest.encode()
    yield "manifest/cut", manifest.encode()[:100]
    yield ("manifest/escapes",
           b'["\\ud83d\\ude00\\ud83dx\\u0000", -0, 1e400, 9223372036854775808, \x01]')


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, data in seeds(pathlib.Path(folder)):
            path = TESTS / "fuzz" / "corpus" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


if __name__ == "__main__":
    main()

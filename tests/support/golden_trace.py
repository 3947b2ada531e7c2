# SPDX-License-Identifier: Apache-2.0
"""golden_trace.py: one small trace with every kind of record, as doc/format.md has it."""
import struct

import trace_writer


def make(path):
    """A trace of one process with two threads, in two parts and three packets; not yet written."""
    trace = trace_writer.Trace(path, trace_writer.manifest())
    process = trace.process(pid=100)
    conv = process.site("begin", "conv2d", file="tr ain.c", line=41)
    relu = process.site("next", 'we"ird\\n\n\x01é')
    here = process.site("mark", "here", layer="API")
    loss = process.site("counter", "loss", layer="METRIC")
    request, answer = process.site("async_begin", "request"), process.site("async_end", "request")
    send, receive = process.site("flow_out", "batch"), process.site("flow_in", "batch")
    forward = process.site("begin", "forward", layer="STEP")
    later = process.event_class(40, "future.thing", "u8 a; u32 n; u64 vals[n]; string s;")
    process.layers(0x7ff, at=500)
    process.sample(500, 1000, trace_writer.EPOCH_NS + 500, 30)
    process.thread_name(100, "train")
    process.name("train")
    main, loader = process.thread(100), process.thread(101)
    main.step_begin(0, at=1000)
    main.begin(forward, at=1005)
    main.begin(conv, at=1010)
    main.op([("f32", [8, 3]), ("i64", [])], at=1011, flop=48, size=96)
    main.pair(send, 7, at=1015)
    main.alloc(0x1000, 64, at=1016)
    main.next(relu, at=1020)
    main.mark(here, at=1021)
    main.counter(loss, 0.5, at=1022)
    main.end(at=1090)
    main.new_part()
    main.end(at=1095)
    main.record(later, 1096, struct.pack("<BxxxI2Q", 1, 2, 5, 6) + b"hi\0")
    main.step_end(at=1100)
    loader.pair(request, 1, at=1000)
    loader.begin_name("decode", "HOST", at=1030)
    loader.pair(receive, 7, at=1040)
    loader.free(0x1000, at=1050)
    loader.pair(answer, 1, at=1060)
    loader.end(at=1070)
    process.layers(0, at=1200)
    return trace

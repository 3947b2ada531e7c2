# SPDX-License-Identifier: Apache-2.0
"""calls_trace.make(path): a trace of what an operator can be called with, and of how its collectors
are."""
import trace_writer

EVERY_KIND = [("none", []), ("strided_tensor", [8, 3, 3, 1, 0], "f32", 1, 0), ("list", [2, 2]),
              ("tensor", [4], "i64"), ("tensor", [], "bits", 4), ("int", [-3]), ("real", [0.5]),
              ("bool", [1]), ("ints", [1, 2]), ("reals", [1.0]), ("bools", []), ("text", []),
              ("other", [7]), ("opaque_tensor", [])]


def calls(thread):
    """Records with every kind of argument, and a list that was cut."""
    for at, members in ((100, 2), (200, 3), (700, 0)):
        thread.begin_name(f"aten::op{at}", "OP", at=at)
        arguments = [("list", [100, members]) if kind == "list" else (kind, *more)
                     for kind, *more in EVERY_KIND]
        thread.call(arguments, at=at + 1, sequence=at, forward_tid=at + 7, scope=at // 100)
        thread.end(at=at + 9)
    thread.begin_name("aten::empty", "OP", at=800)
    thread.call([], at=801)
    thread.end(at=802)
    thread.begin_name("aten::add", "OP", at=803)
    thread.call([("tensor", [4], "f32"), ("tensor", [4], "f32")], at=804)
    thread.identities([77, 2**64 - 1], at=804)
    thread.outputs([(78, [4], "f32"), (0, [], "bits")], at=805)
    thread.end(at=806)
    thread.begin_name("aten::full", "OP", at=900)
    thread.call([("tensor", [1] * 7, "f32")] * trace_writer.CALL_ARGUMENTS_MAX, at=901)
    thread.end(at=902)


def make(path):
    trace = trace_writer.Trace(path)
    process = trace.process(pid=1)
    calls(process.thread(tid=11))
    for at, state in enumerate(trace_writer.COLLECTOR_STATES):
        process.collector(state, state, f"told at {at}", at=at)
    process.collector("absent", "attached", "after all", at=9)
    return trace

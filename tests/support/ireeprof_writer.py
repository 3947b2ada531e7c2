# SPDX-License-Identifier: Apache-2.0
"""IREE's profile bundles (.ireeprof), written from doc/formats.md alone."""
import struct

NONE = 0xFFFFFFFF
PREFIX = "application/vnd.iree.hal.profile."
BARRIER, DISPATCH, EXECUTE, COPY, FILL, UPDATE, READ, WRITE, ALLOCA, DEALLOCA = range(1, 11)
QUEUE_ALLOCA, QUEUE_DEALLOCA = 7, 8


def sized(body):
    """A struct: its own length, then its fields."""
    return struct.pack("<I", len(body) + 4) + body


def record(kind, content="", payload=b"", name="local-task", **fields):
    """`fields`: device, queue, dropped."""
    content = (PREFIX + content).encode()
    length = 104 + len(content) + len(name.encode()) + len(payload)
    dropped = fields.get("dropped", 0)
    head = struct.pack("<7Q5I4xQQIHH", length, len(payload), 1, 0, 0, 0, 0, 104, len(content),
                       len(name.encode()), fields.get("device", NONE), fields.get("queue", NONE),
                       int(dropped > 0), dropped, 0, kind, 0)
    return head + content + name.encode() + payload


def device(number, queues=1):
    return sized(struct.pack("<3I16x", 0, number, queues))


def queue(number, of_device=0):
    return sized(struct.pack("<3IQ", of_device, number, 0, 0))


def executable(number, functions):
    return sized(struct.pack("<IQ2I16x", 0, number, functions, 0))


def command_buffer(number, of_device=0):
    return sized(struct.pack("<I4Q2I", 0, number, 128, 3, 1, of_device, 0))


def function(executable, ordinal, name, more=b""):
    text = name.encode()
    return sized(struct.pack("<IQ8I16x", 0, executable, ordinal, 0, 3, 0, 1, 1, 1, len(text))
                 + more + text)


def command(buffer, index, kind, ordinal=NONE, length=0):
    return sized(struct.pack("<3IQ2IQ2I3I3I3Q5I4x", kind, 0, index, buffer, NONE, NONE, 1,
                             ordinal, 0, 4, 1, 1, 1, 1, 1, 0, 0, length, NONE, NONE, NONE, NONE,
                             0))


def clock(number, tick, begin_ns, end_ns, flags=9):
    return sized(struct.pack("<3I5Q2q", flags, number, 0, 1, tick, 0, 0, 0, begin_ns, end_ns))


def execution(kind, span, submitted=1, buffer=0, **fields):
    """`fields`: command, function, groups, payload, tiles, tile_ns, operations, allocation; more
    bytes at the end."""
    groups = fields.get("groups", (0, 0, 0))
    ordinal = fields.get("function", NONE)
    return sized(struct.pack("<3I6Q4I3I3I2q2Qq2I", kind, 5, 0, 7, submitted, buffer,
                             int(ordinal != NONE), fields.get("allocation", 0), 0, 0, 0,
                             fields.get("command", NONE), ordinal, *groups,
                             *(int(n > 0) for n in groups), *span, fields.get("payload", 0),
                             fields.get("tiles", 0), fields.get("tile_ns", 0),
                             fields.get("operations", 1), 0) + fields.get("more", b""))


def dispatch(span, submitted, buffer, index, ordinal):
    """With ticks of the device's clock."""
    return sized(struct.pack("<I4Q2I3I3I2Q", 1, 9, submitted, buffer, 1, index, ordinal, 4, 2, 1,
                             64, 1, 1, *span))


def submission(kind, span, number, buffer=0, payload=0, operations=1):
    at, ready = span
    return sized(struct.pack("<3IQq4Q6IQq", kind, 0, 1, number, at, number, buffer, 0, 0, 0, 0, 0,
                             1, 0, operations, payload, ready))


def memory(kind, at, allocation, length, reserved=0):
    return sized(struct.pack("<3IQq4Q4I9Q2I", kind, 17, NONE, 1, at, allocation, 77, 88, 1, 0, 0, 0,
                             0, 50, 3, 0, length, 64, reserved, 0, 4096, 0, 1, 1))


def bundle(*records, major=1, minor=6, length=None):
    body = b"".join(records)
    total = len(body) + 24 if length is None else length
    return b"IRPF" + struct.pack("<2H2IQ", major, minor, 24, 0, total) + body


FUNCTIONS = ["main_dispatch_0_matmul_16x64_f32", "main_dispatch_1_reduction_16_f32"]


def small(count=2, **options):
    """Three dispatches of two functions: command 0 = matmul, 1 a barrier, 2 = reduction, 3 =
    matmul. They run `count` times; in the second run two of them overlap."""
    functions = b"".join(function(1, ordinal, name) for ordinal, name in enumerate(FUNCTIONS))
    commands = (command(5, 0, DISPATCH, 0) + command(5, 1, BARRIER)
                + command(5, 2, DISPATCH, 1) + command(5, 3, DISPATCH, 0)
                + command(5, 4, COPY, length=256))
    runs = []
    for number, at in ((3, 1000), (4, 2000))[:count]:
        early = 10 if number == 4 else 0
        of_run = {"submitted": number, "buffer": 5}
        runs += [
            record(2, "queue-events",
                   submission(ALLOCA, (at - 20, at - 15), number - 2, payload=64)
                   + submission(EXECUTE, (at - 10, at - 4), number, 5, operations=5)),
            record(2, "host-execution-events",
                   execution(DISPATCH, (at, at + 50), **of_run, command=0, function=0,
                             groups=(6, 1, 1), tiles=6, tile_ns=80)
                   + execution(DISPATCH, (at + 50 - early, at + 70), **of_run, command=2,
                               function=1, groups=(2, 1, 1))
                   + execution(DISPATCH, (at + 70, at + 130), **of_run, command=3, function=0)
                   + execution(COPY, (at + 130, at + 135), **of_run, command=4)
                   + execution(EXECUTE, (at - 2, at + 140), **of_run, operations=5)
                   + execution(ALLOCA, (at - 14, at - 12), number - 2, payload=64,
                               allocation=number),
                   dropped=number - 3),
            record(2, "memory-events", memory(QUEUE_ALLOCA, at - 13, number, 64, 64)
                   + memory(3, at - 13, number, 64, 64)
                   + memory(QUEUE_DEALLOCA, at + 140, number, 64))]
    return bundle(record(1, "session"), record(2, "devices", device(0)),
                  record(2, "queues", queue(0)), record(2, "executables", executable(1, 2)),
                  record(2, "executable-functions", functions),
                  record(2, "command-buffers", command_buffer(5)),
                  record(2, "command-operations", commands), *runs, record(3, "session"), **options)


def on_gpu():
    """The device's clock: tick 1000 at 5000 ns, 100 ns a tick."""
    return bundle(
        record(1, "session", name="amdgpu"), record(2, "devices", device(1), name="amdgpu"),
        record(2, "clock-correlations", clock(1, 1000, 4990, 5010) + clock(1, 3000, 204990, 205010),
               name="amdgpu"),
        record(2, "queues", queue(0, 1), name="amdgpu"),
        record(2, "executables", executable(1, 1), name="amdgpu"),
        record(2, "executable-functions", function(1, 0, FUNCTIONS[0]), name="amdgpu"),
        record(2, "command-buffers", command_buffer(5, 1), name="amdgpu"),
        record(2, "command-operations", command(5, 0, DISPATCH, 0) + command(5, 2, DISPATCH, 0),
               name="amdgpu"),
        record(2, "dispatch-events", dispatch((1010, 1020), 2, 5, 0, 0)
               + dispatch((1020, 1040), 2, 5, 2, 0), name="amdgpu", device=1, queue=0),
        record(3, "session", name="amdgpu"))

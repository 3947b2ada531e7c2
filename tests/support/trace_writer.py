# SPDX-License-Identifier: Apache-2.0
"""trace_writer.py: writes traces straight from doc/format.md, for tests that need odd or broken
ones.

It shares nothing with the recorder. Times are in ticks; with the default clock one tick is one
nanosecond and tick 0 is EPOCH_NS, so time_ns = EPOCH_NS + ticks.

    trace = Trace(tmp_path / "a.varve")
    process = trace.process(pid=100)
    conv = process.site("begin", "conv2d", layer="OP", file="train.c", line=41)
    main = process.thread(tid=100)
    main.step_begin(0, at=1000)
    main.begin(conv, at=1010); main.op([("f32", [8, 3])], at=1011, flop=48); main.end(at=1090)
    main.step_end(at=1100)
    trace.write()
"""
import json
import pathlib
import shutil
import struct

from device_records import ACTIVITIES, DEVICE_FIELDS, DeviceRecords
from point_records import PointRecords

MAGIC = 0xC1FC1FC1
PACKET_BYTES = 65536
HEADER_BYTES = 80
EPOCH_S = 1763700000
EPOCH_NS = EPOCH_S * 10**9
KINDS = ["begin", "next", "mark", "counter", "async_begin", "async_end", "flow_out", "flow_in"]
LAYERS = {"API": 1, "HOST": 2, "OP": 4, "RUNTIME": 8, "RUNTIME_L1": 0x10, "DEVICE": 0x20,
          "COMM": 0x40, "MEMORY": 0x80, "STEP": 0x100, "PYTHON": 0x200, "METRIC": 0x400}
DTYPES = ["unknown", "f32", "f64", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32", "i64",
          "u8", "u16", "u32", "u64", "bool", "c64", "c128", "c32", "qi8", "qu8", "qi32",
          "f8e5m2fnuz", "f8e4m3fnuz", "f8e8m0", "bits"]
ARGUMENTS = ["none", "tensor", "strided_tensor", "int", "real", "bool", "list", "ints", "reals",
             "bools", "text", "other", "opaque_tensor", "group"]
CALL_ARGUMENTS_MAX = 64
VALUES = ["", "int", "unsigned", "real", "bool", "", "ints", "unsigneds", "reals"]
MODEL_EVENTS = ["load", "run", "unload"]
PAST_KINDS = ["integers", "reals", "texts", "hex", "bools"]
CLOCKS = {"ticks": 1, "monotonic": 2, "monotonic_raw": 3, "realtime": 4}
COLLECTOR_STATES = ["attached", "partly", "refused", "absent", "off", "note"]

PREAMBLE = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 8; align = 8; signed = true; } := i8;
typealias integer { size = 32; align = 32; signed = false; } := u32;
typealias integer { size = 64; align = 64; signed = false; } := u64;
typealias integer { size = 64; align = 64; signed = true; } := i64;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := utf8;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 64; byte_order = le; } := f64;
trace { major = 1; minor = 8; byte_order = le;
  packet.header := struct { u32 magic; u32 stream_id; u64 stream_instance_id; }; };
"""
STREAM = """typealias integer { size = 64; align = 64; signed = false; map = clock.varve.value; } := u64_clock;
stream { id = 0;
  event.header := struct { integer { size = 20; align = 1; signed = false; } id;
    integer { size = 44; align = 1; signed = false; map = clock.varve.value; } timestamp; } align(64);
  packet.context := struct { u64 content_size; u64 packet_size; u64_clock timestamp_begin;
    u64 packet_seq_num; u64 events_discarded; u64 tid; } align(256); };
"""
BUILTIN_FIELDS = {
    (1, "varve.end"): "",
    (2, "varve.string"): "u32 id; u32 length; utf8 text[length];",
    (3, "varve.clock"): "u64 ticks; u64 monotonic_ns; i64 realtime_ns; u64 uncertainty_ns;",
    (4, "varve.thread"): "u64 tid; u64 name;",
    (5, "varve.process"): "u64 name;",
    (6, "varve.layers"): "u64 layers;",
    (7, "varve.begin"): "u32 name; u32 layer;",
    (8, "varve.op"): "u64 flop; u64 bytes; i64 sequence; u64 forward_tid;"
                     " u64 input_count; struct { u32 dtype; u32 rank; i64 dims[rank]; } "
                     "inputs[input_count];",
    (9, "varve.step_begin"): "i64 index;",
    (10, "varve.step_end"): "",
    (11, "varve.alloc"): "u64 address; u64 bytes; u64 device;",
    (12, "varve.free"): "u64 address; u64 device;",
    (13, "varve.cost"): "u64 slow_ns;",
    (14, "varve.call"): "i64 sequence; u64 forward_tid; u32 argument_count; u32 scope; struct { "
                        "u8 kind; u8 dtype;"
                        " u8 device; i8 device_index; u32 value_count; i64 values[value_count]; }"
                        " arguments[argument_count];",
    (15, "varve.collector"): "u32 name; u32 state; u64 text;",
    (16, "varve.end_under"): "u64 ranges;",
    (17, "varve.device_clock"): "u32 clock_number; u32 name; u64 frequency_hz;"
                                " u64 resolution_ns;",
    (18, "varve.clock_pair"): "u64 clock_number; i64 value; u64 ticks; u64 uncertainty_ns;",
    (19, "varve.track"): "u32 track; u32 name; u32 clock_number; u32 device; i64 context;"
                         " i64 stream_number;",
    **DEVICE_FIELDS,
    (32, "varve.trace_mark"): "u64 track; u64 tag; u64 model; i64 iteration; i64 stream_number;"
                              " i64 value;",
    (33, "varve.trace_point"): "u64 model; u64 before_tag; u64 after_tag; i64 graph_id; i64 node;"
                               " u32 kind; u32 state; u32 name; u32 operation; u64 reason;",
    (36, "varve.args"): "u32 argument_count; u32 subject; struct { u32 key; u8 kind;"
                        " u8 reserved; u8 integer_count; u8 real_count;"
                        " i64 integers[integer_count]; f64 reals[real_count]; }"
                        " arguments[argument_count];",
    (37, "varve.collective"): "u32 operation; u32 group; u32 dtype; u32 subject; i64 rank;"
                              " u64 group_size; i64 peer; i64 number; u64 in_elements;"
                              " u64 out_elements; u64 bytes; u64 rank_count;"
                              " i64 ranks[rank_count];",
    (38, "varve.operator"): "u64 flop; u64 bytes; i64 sequence; u64 forward_tid; u64 tensor_count;"
                            " struct { u32 dtype; u32 rank; u32 side; u32 format; u64 identity;"
                            " i64 dims[rank]; } tensors[tensor_count];",
    (39, "varve.texts"): "u32 argument_count; u32 subject; struct { u32 key; u32 length;"
                         " utf8 text[length]; } arguments[argument_count];",
    (50, "varve.identities"): "u32 identity_count; u32 zero; u64 identities[identity_count];",
    (51, "varve.outputs"): "u32 tensor_count; u32 zero; struct { u32 dtype; u32 rank;"
                           " u64 identity; i64 dims[rank]; } tensors[tensor_count];",
    (42, "varve.counter_name"): "u32 counter; u32 name; u64 choice;",
    (43, "varve.counts"): "u32 choice; u32 value_count; u64 values[value_count];",
    (44, "varve.device_counter"): "u32 track; u32 name; i64 time; f64 value;",
    (48, "varve.past_range"): "u32 name; u32 layer; u32 subject; u32 clock_number; u64 tid;"
                              " i64 begin; i64 end;",
    (49, "varve.past_note"): "u32 name; u32 layer; u32 flags; u32 clock_number; u64 tid; i64 time;"
                             " u64 correlation; u64 value_count; struct { u32 key; u8 kind;"
                             " u8 dtype; u8 side; u8 word_count; i64 words[word_count]; }"
                             " values[value_count];",
    (22, "varve.graph"): "u32 graph; u32 name; u32 parent_graph; u32 parent_node;"
                         " u64 node_count; i64 graph_id; u64 edge_count;",
    (23, "varve.node"): "u32 graph; u32 length; u32 node; u32 type; u32 framework_type;"
                        " u32 task_type; u32 block_dim; u32 mix_block_dim; i64 parent_input;"
                        " i64 stream_number; u64 flop; u64 bytes; utf8 name[length];",
    (24, "varve.node_tensors"): "u32 graph; u32 node; u64 tensor_count; struct { u8 side; u8 dtype;"
                                " u8 zero; u8 zero_2; u32 rank; u64 format; u64 identity;"
                                " i64 dims[rank]; } tensors[tensor_count];",
    (25, "varve.node_text"): "u32 graph; u32 length; u32 node; u32 kind; utf8 text[length];",
    (26, "varve.edge"): "u32 graph; u32 from_node; u32 from_output; u32 to_node; u32 to_input;"
                        " u32 zero;",
    (27, "varve.placement"): "u32 graph; u32 node; u32 first_use; u32 last_use; u32 device;"
                             " u32 index; u64 offset; u64 bytes;",
    (28, "varve.model"): "u32 model; u32 graph; u64 name; i64 model_id; i64 session_id;",
    (29, "varve.model_event"): "u32 model; u32 kind; i64 step;",
    (30, "varve.execute"): "u32 graph; u32 node;",
    (31, "varve.task"): "u32 track; u32 name; u32 kind; u32 model; i64 begin; i64 end;"
                        " u64 correlation; u64 bytes; u32 graph; u32 node; i64 step;",
}
KIND_FIELDS = {"counter": "f64 value;", "async_begin": "u64 id;", "async_end": "u64 id;",
               "flow_out": "u64 id;", "flow_in": "u64 id;"}


def tsdl_string(text):
    """TSDL's quoting: \\" \\\\ \\n, other control bytes in octal. `text` is str or bytes."""
    data = text.encode() if isinstance(text, str) else text
    out = b""
    for byte in data:
        char = bytes([byte])
        if char in b'"\\':
            out += b"\\" + char
        elif char == b"\n":
            out += b"\\n"
        elif byte < 32 or byte == 127:
            out += b"\\%03o" % byte
        else:
            out += char
    return b'"' + out + b'"'


def percent(text):
    keep = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/"
    return "".join(chr(b) if b in keep else "%%%02X" % b for b in text.encode())


class Stream(DeviceRecords, PointRecords):
    """One stream; records go into packets of 64 KiB, packets into parts."""

    def __init__(self, process, instance, tid):
        self.process, self.instance, self.tid = process, instance, tid
        self.parts = [[]]          # of packets
        self.discarded = 0
        self.sequence = 0
        self.tail_bytes = 0        # hole after the last packet's records
        self.says_before = False   # packets say how much was lost before they began
        # that many of the oldest parts are not written, as a flight recorder's
        self.removed = 0
        self.last_ticks = None

    def _packet(self, ticks):
        packet = {"begin": ticks, "sequence": self.sequence, "discarded": self.discarded,
                  "body": b"", "before": self.discarded}
        self.sequence += 1
        self.parts[-1].append(packet)
        return packet

    def new_packet(self, at):
        """The next record starts another packet, whose timestamp_begin is `at`."""
        return self._packet(at)

    def new_part(self):
        """The next record starts another file."""
        self.parts.append([])

    def lose(self, count, at):
        """`count` records were lost here: the open packet says so, and the next record starts
        another."""
        if not self.parts[-1]:
            self._packet(at)
        self.discarded += count
        self.parts[-1][-1]["discarded"] = self.discarded
        self._packet(at)

    def hide(self, words, at):
        """`words` were reserved in the open packet and never published; the next record starts
        another."""
        self.parts[-1][-1]["hidden"] = b"".join(struct.pack("<Q", word) for word in words)
        self._packet(at)

    def record(self, class_id, at, payload=b""):
        """Any record; `payload` is padded to 8 bytes."""
        payload += b"\0" * (-len(payload) % 8)
        word = (at & (2**44 - 1)) << 20 | class_id
        data = struct.pack("<Q", word) + payload
        packets = self.parts[-1]
        if not packets or HEADER_BYTES + len(packets[-1]["body"]) + len(data) > PACKET_BYTES:
            self._packet(at)
        packets[-1]["body"] += data
        self.last_ticks = at
        self.process.records += 1

    # the calls of varve.h
    def begin(self, site, at):
        self.record(site, at)

    next = mark = begin

    def end(self, at):
        self.record(1, at)

    def counter(self, site, value, at):
        self.record(site, at, struct.pack("<d", value))

    def pair(self, site, number, at):
        """async_begin, async_end, flow_out, flow_in."""
        self.record(site, at, struct.pack("<Q", number))

    def begin_name(self, name, layer, at):
        self.record(7, at, struct.pack("<II", self.process.string(name, at), LAYERS[layer]))

    def op(self, inputs, at, flop=0, size=0, sequence=-1, forward_tid=0):
        payload = struct.pack("<QQqQQ", flop, size, sequence, forward_tid, len(inputs))
        for dtype, dims in inputs:
            payload += struct.pack(f"<II{len(dims)}q", DTYPES.index(dtype), len(dims), *dims)
        self.record(8, at, payload)

    def operator(self, tensors, at, flop=0, size=0, sequence=-1, forward_tid=0):
        """`tensors`: (side, dtype, dims), (… format), (… identity); side 0 is an input, 1 an
        output."""
        payload = struct.pack("<QQqQQ", flop, size, sequence, forward_tid, len(tensors))
        for side, dtype, dims, *more in tensors:
            form, identity = more + [None, 0][len(more):]
            payload += struct.pack(f"<IIIIQ{len(dims)}q", DTYPES.index(dtype), len(dims), side,
                                   self.process.string(form, at) if form else 0, identity, *dims)
        self.record(38, at, payload)

    def args(self, arguments, at, subject=0):
        """`arguments`: (key, kind, value or values), kind as in VALUES, or its number."""
        payload = struct.pack("<II", len(arguments), subject)
        for key, kind, values in arguments:
            kind = kind if isinstance(kind, int) else VALUES.index(kind)
            values = values if isinstance(values, list) else [values]
            reals = sum(isinstance(number, float) for number in values)
            payload += struct.pack("<IBBBB", self.process.string(key, at), kind, 0,
                                   len(values) - reals, reals)
            payload += b"".join(struct.pack("<d", number) if isinstance(number, float) else
                                struct.pack("<Q", number % 2**64) for number in values)
        self.record(36, at, payload)

    def texts(self, arguments, at, subject=0):
        """`arguments`: (key, text)."""
        payload = struct.pack("<II", len(arguments), subject)
        for key, text in arguments:
            text = text.encode() or b"\0"
            text += b"\0" * (-len(text) % 8)
            payload += struct.pack("<II", self.process.string(key, at), len(text)) + text
        self.record(39, at, payload)

    def collective(self, operation, at, **more):
        """more: group, dtype, subject, rank, size, peer, number, elements (in, out), nbytes,
        ranks."""
        ranks, elements = more.get("ranks", []), more.get("elements", (0, 0))
        names = [self.process.string(name, at) if name else 0
                 for name in (operation, more.get("group"))]
        self.record(37, at, struct.pack(
            f"<IIIIqQqqQQQQ{len(ranks)}q", *names, DTYPES.index(more.get("dtype", "unknown")),
            more.get("subject", 0), more.get("rank", -1), more.get("size", 0),
            more.get("peer", -1), more.get("number", -1), *elements, more.get("nbytes", 0),
            len(ranks), *ranks))

    def call(self, arguments, at, sequence=-1, forward_tid=0, scope=0):
        """`arguments`: (kind, values), (kind, values, dtype), (… device), (… device_index); a float
        is its bits."""
        payload = struct.pack("<qQII", sequence, forward_tid, len(arguments), scope)
        for kind, values, *tensor in arguments:
            dtype, device, index = tensor + ["unknown", 0, -1][len(tensor):]
            payload += struct.pack("<BBBbI", ARGUMENTS.index(kind), DTYPES.index(dtype), device,
                                   index, len(values))
            payload += b"".join(struct.pack("<d" if isinstance(value, float) else "<q", value)
                                for value in values)
        self.record(14, at, payload)

    def identities(self, numbers, at):
        self.record(50, at, struct.pack(f"<II{len(numbers)}Q", len(numbers), 0, *numbers))

    def outputs(self, tensors, at):
        payload = struct.pack("<II", len(tensors), 0)
        for identity, dims, dtype in tensors:
            payload += struct.pack(f"<IIQ{len(dims)}q", DTYPES.index(dtype), len(dims), identity,
                                   *dims)
        self.record(51, at, payload)

    def step_begin(self, index, at):
        self.record(9, at, struct.pack("<q", index))

    def step_end(self, at):
        self.record(10, at)

    def alloc(self, address, size, at, device=0):
        self.record(11, at, struct.pack("<QQQ", address, size, device))

    def free(self, address, at, device=0):
        self.record(12, at, struct.pack("<QQ", address, device))

    def counts(self, values, at, choice=1):
        """What the thread's counters say; None: not known."""
        self.record(43, at, struct.pack("<II", choice, len(values)) + b"".join(
            struct.pack("<Q", 2**64 - 1 if value is None else value) for value in values))
    def past_range(self, name, span, at, layer="OP", **more):
        """A range that is over; span is (begin, end) in the clock; more: subject, clock, tid."""
        subject = self.process.string(more["subject"]) if "subject" in more else 0
        clock = more.get("clock", "ticks")
        self.record(48, at, struct.pack("<IIIIQqq", self.process.string(name), LAYERS[layer],
                                        subject, CLOCKS.get(clock, clock), more.get("tid", 0),
                                        *span))

    def past_note(self, name, time, values, at, **more):
        """`values`: (key, kind, [value, …]), texts as texts; or (key, (dtype, side, format), dims),
        a tensor. more: layer, clock, tid, flags, correlation."""
        text, layer = self.process.string, more.get("layer")
        clock = more.get("clock", "ticks")
        payload = struct.pack("<IIIIQqQQ", text(name), LAYERS[layer] if layer else 0,
                              more.get("flags", 0), CLOCKS.get(clock, clock), more.get("tid", 0),
                              time, more.get("correlation", 0), len(values))
        for key, kind, items in values:
            number, dtype, side, codes = 5, 0, 0, "q" * len(items)
            if isinstance(kind, tuple):
                dtype, side = DTYPES.index(kind[0]), kind[1]
                items, codes = [text(kind[2]) if kind[2] else 0, *items], "q" + codes
            else:
                number = PAST_KINDS.index(kind)
                items = [text(item) if kind == "texts" else item for item in items]
                codes = {"reals": "d", "hex": "Q"}.get(kind, "q") * len(items)
            payload += struct.pack("<IBBBB" + codes, text(key), number, dtype, side, len(items),
                                   *items)
        self.record(49, at, payload)
    def model_event(self, model, kind, at, step=-1):
        """kind: "load", "run" (ranges, ended by end) or "unload"."""
        self.record(29, at, struct.pack("<IIq", model, MODEL_EVENTS.index(kind), step))

    def execute(self, graph, node, at):
        self.record(30, at, struct.pack("<II", graph, node))

    def task(self, track, span, at, graph=0, node=0, **more):
        """As activity; more also: name, model, step."""
        kind = ACTIVITIES.index(more.get("kind", "kernel"))
        name = self.process.string(more["name"]) if "name" in more else 0
        self.record(31, at, struct.pack("<IIIIqqQQIIq", track, name, kind, more.get("model", 0),
                                        *span, more.get("correlation", 0), more.get("size", 0),
                                        graph, node, more.get("step", -1)))

    def _packet_bytes(self, packet, packet_bytes):
        content_bits, hidden = (HEADER_BYTES + len(packet["body"])) * 8, packet.get("hidden", b"")
        head = struct.pack("<IIQQQQQQQQQ", MAGIC, 0, self.instance, content_bits + len(hidden) * 8
                           if hidden else 0, packet["before"] + 1 if self.says_before else 0,
                           content_bits, packet_bytes * 8, packet["begin"], packet["sequence"],
                           packet["discarded"], self.tid)
        return head + packet["body"] + hidden

    def part_bytes(self, part):
        packets, out = self.parts[part], b""
        for index, packet in enumerate(packets):
            if index + 1 < len(packets):
                out += self._packet_bytes(packet, PACKET_BYTES).ljust(PACKET_BYTES, b"\0")
            else:
                size = HEADER_BYTES + len(packet["body"]) + self.tail_bytes
                out += self._packet_bytes(packet, size)
        return out

    def write(self, folder):
        for part in range(self.removed, len(self.parts)):
            name = f"thread.{self.instance}.{part}" if self.instance else f"process.{part}"
            data = self.part_bytes(part)
            with open(folder / name, "wb") as file:
                file.write(data)
                if data:
                    file.truncate(len(data) + self.tail_bytes)


class Process:
    """One process folder: its own stream, its threads, its event classes."""

    def __init__(self, pid, folder=None, **env):
        self.pid, self.folder = pid, folder or str(pid)
        self.env = {"tracer_name": "varve", "varve_format": 1, "hostname": "host", "pid": pid,
                    "ppid": 1, "program": "/usr/bin/train", "clock_source": "tsc",
                    "begin_realtime_ns": EPOCH_NS, "begin_ticks": 0}
        self.env.update(env)
        self.clock = {"freq": 10**9, "precision": 25, "offset_s": EPOCH_S, "offset": 0}
        self.records = 0
        self.sites, self.strings, self.extra_classes = [], {}, []
        self.streams = []
        self.own = Stream(self, 0, 0)
        self.blocks = b""          # extra metadata text, put at the end

    def thread(self, tid):
        stream = Stream(self, len(self.streams) + 1, tid)
        self.streams.append(stream)
        return stream

    def site(self, kind, name, layer="OP", file=None, line=None):
        """A call site's class of one kind; returns its id. Every call makes another site."""
        class_id = 64 + 8 * len(self.sites) + KINDS.index(kind)
        self.sites.append((class_id, kind, name, layer, file, line))
        return class_id

    def event_class(self, class_id, name, fields):
        """A class that no reader knows, with TSDL text for its fields."""
        self.extra_classes.append((class_id, name, fields))
        return class_id

    def string(self, text, at=0):
        data = text.encode() if isinstance(text, str) else text
        if data not in self.strings:
            self.strings[data] = len(self.strings) + 1
            padded = data + b"\0" * (-len(data) % 8)
            self._note(2, at, struct.pack("<II", self.strings[data], len(padded)) + padded)
        return self.strings[data]

    def _note(self, class_id, at, payload):
        """A record of the process's own stream, never earlier than the one before it."""
        self.own.record(class_id, max(at, self.own.last_ticks or 0), payload)

    def sample(self, at, monotonic_ns, realtime_ns, uncertainty_ns):
        self._note(3, at, struct.pack("<QQqQ", at, monotonic_ns, realtime_ns, uncertainty_ns))

    def thread_name(self, tid, name, at=0):
        text = self.string(name, at)
        self._note(4, at, struct.pack("<QQ", tid, text))

    def name(self, name, at=0):
        text = self.string(name, at)
        self._note(5, at, struct.pack("<Q", text))

    def layers(self, mask, at):
        self._note(6, at, struct.pack("<Q", mask))

    def collector(self, name, state, text, at=0):
        name, text = self.string(name, at), self.string(text, at) if text else 0
        self._note(15, at, struct.pack("<IIQ", name, COLLECTOR_STATES.index(state), text))

    def device_clock(self, clock, name, frequency_hz=10**9, resolution_ns=0, at=0):
        self._note(17, at, struct.pack("<IIQQ", clock, self.string(name, at), frequency_hz,
                                       resolution_ns))

    def clock_pair(self, clock, value, ticks, uncertainty_ns=0, at=0):
        self._note(18, at, struct.pack("<QqQQ", clock, value, ticks, uncertainty_ns))

    def counter_names(self, names, choice=1, at=0):
        """What the counters 0, 1 … of `choice` are called."""
        for counter, name in enumerate(names):
            self._note(42, at, struct.pack("<IIQ", counter, self.string(name, at), choice))

    def graph(self, graph, name, nodes, edges=0, at=0, **more):
        """more: parent (graph, node), graph_id."""
        parent = more.get("parent", (0, 0))
        self._note(22, at, struct.pack("<IIIIQqQ", graph, self.string(name, at), *parent, nodes,
                                       more.get("graph_id", -1), edges))

    def node(self, graph, node, name, type_name=None, at=0, **more):
        """more: task_type, blocks (block_dim, mix_block_dim), parent_input, stream, flop, size,
        framework_type; tensors: a list of (side, dtype, dims, format, identity); origins; contexts,
        a text."""
        data = name.encode()
        data += b"\0" * (-len(data) % 8)
        number = self.string(type_name, at) if type_name else 0
        framework = self.string(more["framework_type"], at) if "framework_type" in more else 0
        self._note(23, at, struct.pack(
            "<IIIIIIIIqqQQ", graph, len(data), node, number, framework, more.get("task_type", 0),
            *more.get("blocks", (0, 0)), more.get("parent_input", -1), more.get("stream", -1),
            more.get("flop", 0), more.get("size", 0)) + data)
        tensors = more.get("tensors", [])
        payload = struct.pack("<IIQ", graph, node, len(tensors))
        for side, dtype, dims, layout, identity in tensors:
            payload += struct.pack(f"<BBBBIQQ{len(dims)}q", side, DTYPES.index(dtype), 0, 0,
                                   len(dims), self.string(layout, at) if layout else 0, identity,
                                   *dims)
        if tensors:
            self._note(24, at, payload)
        for origin in more.get("origins", []):
            self.node_text(graph, node, 0, origin, at)
        if "contexts" in more:
            self.node_text(graph, node, 1, more["contexts"], at)

    def node_text(self, graph, node, kind, text, at=0):
        data = text.encode()
        data += b"\0" * (-len(data) % 8)
        self._note(25, at, struct.pack("<IIII", graph, len(data), node, kind) + data)

    def edge(self, graph, source, target, at=0):
        """Both are (node, number of its output or input)."""
        self._note(26, at, struct.pack("<IIIIII", graph, *source, *target, 0))

    def placement(self, graph, node, index, uses, place, at=0):
        """`uses`: first, last; `place`: device, offset, bytes."""
        device, offset, size = place
        self._note(27, at, struct.pack("<IIIIIIQQ", graph, node, *uses, device, index, offset,
                                       size))

    def model(self, model, name, graph=0, ids=(-1, -1), at=0):
        self._note(28, at, struct.pack("<IIQqq", model, graph, self.string(name, at), *ids))

    def track(self, track, name, clock, place, at=0):
        """`place` is the device, or (device, context, stream)."""
        place = place if isinstance(place, tuple) else (place, -1, -1)
        self._note(19, at, struct.pack("<IIIIqq", track, self.string(name, at),
                                       CLOCKS.get(clock, clock), *place))

    def _class_block(self, class_id, name, fields, uri=None):
        text = b"event { id = %d; name = %s; stream_id = 0;" % (class_id, tsdl_string(name))
        if uri is not None:
            text += b" model.emf.uri = %s;" % tsdl_string(uri)
        return text + b" fields := struct { %s } align(64); };\n" % fields.encode()

    def metadata(self):
        text = PREAMBLE.encode() + b"env {"
        for key, value in self.env.items():
            text += b" %s = %s;" % (key.encode(), tsdl_string(value)
                                    if isinstance(value, (str, bytes))
                                    else str(value).encode())
        text += b" };\nclock { name = varve; description = \"tsc\"; freq = %d; precision = %d;" \
                b" offset_s = %d; offset = %d; absolute = true; };\n" \
                % tuple(self.clock[key] for key in ("freq", "precision", "offset_s", "offset"))
        text += STREAM.encode()
        for (class_id, name), fields in BUILTIN_FIELDS.items():
            text += self._class_block(class_id, name, fields)
        for class_id, kind, name, layer, file, line in self.sites:
            uri = f"varve:{kind}?layer={layer}"
            if file is not None:
                uri += f"&line={line}&file={percent(file)}"
            text += self._class_block(class_id, name, KIND_FIELDS.get(kind, ""), uri)
        for class_id, name, fields in self.extra_classes:
            text += self._class_block(class_id, name, fields)
        return text + self.blocks

    def write(self, root):
        folder = root / self.folder
        folder.mkdir(parents=True)
        if not self.own.parts[0]:
            self.own.new_packet(0)
        (folder / "metadata").write_bytes(self.metadata())
        for stream in [self.own] + self.streams:
            stream.write(folder)


class Trace:
    """A trace folder; `manifest` is a dict, or None for a program that records itself."""

    def __init__(self, path, manifest=None):
        self.path, self.manifest, self.processes = pathlib.Path(path), manifest, []

    def process(self, pid=100, **keys):
        self.processes.append(Process(pid, **keys))
        return self.processes[-1]

    @property
    def records(self):
        """How many event records all streams hold: what babeltrace2 counts."""
        return sum(process.records for process in self.processes)

    def write(self):
        """(Re)writes the folder and returns its path."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        if self.manifest is not None:
            (self.path / "manifest.json").write_text(json.dumps(self.manifest))
        for process in self.processes:
            process.write(self.path)
        return self.path


def manifest(**changes):
    """A complete manifest of a finished run."""
    value = {"varve_format": 1, "varve_version": "0.1.0", "command": ["./train", "--steps", "5"],
             "directory": "/srv/train", "host": "host", "kernel": "Linux 6.1", "machine": "2 x CPU",
             "cpus": 2, "begin_realtime_ns": EPOCH_NS, "end_realtime_ns": EPOCH_NS + 10**9,
             "exit_code": 0, "signal": 0, "collectors": []}
    value.update(changes)
    return value

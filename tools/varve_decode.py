#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of Varve's traces, written from doc/format.md alone.

The sections (§) below are that page's.

As a module: open_trace(path) gives a Trace (processes, their clocks, strings, streams, records),
and ranges(process) builds the ranges of §7. As a program: `varve_decode.py --help`. What breaks a
rule of the page is said on standard error, with file and byte. Exit codes: 0 nothing does, 1
something does, 2 wrong usage, 3 not a trace. It is the oracle of the tests: plain before fast.
"""

import argparse, json, os, re, signal, struct, sys, urllib.parse
from collections import Counter, namedtuple

from varve_classes import BUILTINS

MAGIC, HEADER, PACKET_BYTES = 0xC1FC1FC1, struct.Struct("<II9Q"), 65536
LAYERS = {name: 1 << bit for bit, name in enumerate(
    "API HOST OP RUNTIME RUNTIME_L1 DEVICE COMM MEMORY STEP PYTHON METRIC".split())}
KINDS = "begin next mark counter async_begin async_end flow_out flow_in".split()
KIND_FIELDS = dict.fromkeys(KINDS[:3], "") | {"counter": "f64 value;"} | dict.fromkeys(KINDS[4:],
                                                                                       "u64 id;")
# as struct spells them
CODES = {"u8": "B", "i8": "b", "u32": "I", "u64": "Q", "x64": "Q", "i64": "q", "f64": "d",
         "utf8": "s"}
Class = namedtuple("Class", "id name kind layer line file members")
Clock = namedtuple("Clock", "freq offset_s offset precision")
Packet = namedtuple("Packet", "path offset data begin_ticks discarded cut hidden")
Record = namedtuple("Record", "id name kind layer ticks time_ns fields packet offset")
Range = namedtuple("Range", "name layer is_step tid begin_ns end_ns parent unfinished")
Problem = namedtuple("Problem", "path offset text is_cut")
Trace = namedtuple("Trace", "path processes manifest problems homeless")

class TraceError(Exception):  # the path is no trace, or one of a later format
    pass
class Stream:  # one thread's, or the process's own: kind is "thread" or "process"
    def __init__(self, kind, instance):
        self.kind, self.instance, self.tid, self.lost, self.packets, self.records = (kind, instance,
                                                                                     0, 0, [], [])
        self.hidden = 0                      # records that were never published (§4)
        # number of the first packet kept, and what was lost before it (§11)
        self.first, self.lost_before = 0, 0

class Process:
    def __init__(self, path, problems):
        self.path, self.name, self.problems = path, os.path.basename(
            os.path.abspath(path)), problems
        self.streams, self.classes, self.strings, self.env, self.clock = [], {}, {}, {}, None
        self.names = {}  # by tid; by None the process's own
        self.tracks = {}  # of devices, by number: the fields of varve.track
        self.graphs, self.nodes, self.models = set(), {}, {}  # (graph, node): name; model: name
        self.keeps_last = False  # a flight recorder's (§11)
        self.begun_before = 0    # by ranges()

    def expect(self, is_so, path, offset, text, is_cut=False):
        if not is_so:
            self.problems.append(Problem(path, offset, text, is_cut))
        return is_so

    def ns(self, ticks):
        return self.clock.offset_s * 10**9 + (self.clock.offset + ticks) * 10**9 // self.clock.freq

# ---- metadata (§2, §3)
# -------------------------------------------------------------------------------
TEXT = r'"(?:\\.|[^"\\])*"'
TYPE = re.compile(rf"\b(?:struct|{'|'.join(CODES)})\b|\[")
PAIR = re.compile(rf"([\w.]+)\s*=\s*({TEXT}|[^;\"]+?)\s*;", re.S)

def blocks(text):
    """(offset, word, body) of each whole env, clock and event block; what follows the last is a
    torn append."""
    start = depth = 0
    for match in re.finditer(rf'{TEXT}|/\*.*?\*/|["{{}};]', text, re.S):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if match[0] == '"':
            return
        if match[0] == ";" and depth == 0:
            if found := re.search(r"^\s*(env|clock|event)\s*\{(.*)\}\s*;$", text[start:match.end()],
                                  re.S | re.M):
                yield start + found.start(1), found[1], found[2]
            start = match.end()

def unescape(token):
    """The text of a TSDL string; the file is read as Latin-1, so that a character is a byte."""
    plain = re.sub(r"\\([0-7]{3}|.)", lambda m: {"n": "\n"}.get(m[1])
                   or (chr(int(m[1], 8)) if m[1][1:] else m[1]), token[1:-1], flags=re.S)
    return plain.encode("latin-1").decode("utf-8", "replace")

def members_of(source):
    """[(name, struct code or members, name of its count or None)] of a struct's declarations."""
    members, tokens = [], re.findall(r"\w+|[}\[\];]", source) if isinstance(source, str) else source
    while tokens and (word := tokens.pop(0)) != "}":
        kind, name = CODES[word] if word != "struct" else members_of(tokens), tokens.pop(0).lstrip(
            "_")
        count = tokens.pop(0).lstrip("_") if tokens.pop(0) == "[" else None
        del tokens[:2 if count else 0]
        members.append((name, kind, count))
    return members

def add_class(process, body, place):
    pairs = dict(PAIR.findall(body))
    id, name, uri = int(pairs["id"]), unescape(pairs["name"]), unescape(pairs.get("model.emf.uri",
                                                                                  '""'))
    kind, page, declared = None, None, (re.findall(r"fields\s*:=\s*struct\s*\{(.*)\}",
                                                   re.sub(TEXT, "", body), re.S) or [""])[0]
    told = dict(pair.partition("=")[::2] for pair in uri.partition("?")[2].split("&"))
    if uri.startswith("varve:"):
        kind = uri[len("varve:"):].partition("?")[0]
        process.expect(id >= 64 and kind == KINDS[id % 8], *place,
                       f"kind {kind!r} does not go with id {id}")
        process.expect(told.get("layer") in LAYERS, *place,
                       f"layer {told.get('layer')!r} of {name!r} is unknown")
        page = KIND_FIELDS.get(kind)
    elif id in BUILTINS:
        page = BUILTINS[id][2]
        process.expect(name == BUILTINS[id][0], *place,
                       f"id {id} is {BUILTINS[id][0]}, not {name!r}")
    same = page is None or TYPE.findall(declared.replace("x64", "u64")) == TYPE.findall(page)
    process.expect(same, *place, f"the fields of {name!r} are not those of the page")
    process.expect(id not in process.classes, *place, f"class {id} comes twice")
    line, file = told.get("line"), urllib.parse.unquote(told["file"]) if "file" in told else None
    members = members_of(declared if page is None else page)
    process.classes[id] = Class(id, name, kind, told.get("layer"), line, file, members)

def read_metadata(process):
    path = os.path.join(process.path, "metadata")
    with open(path, encoding="latin-1", newline="") as file:
        text = file.read()
    for offset, block, body in blocks(text):
        try:
            pairs = {key: unescape(value) if value[0] == '"' else value
                     for key, value in PAIR.findall(body)}
            if block == "event":
                add_class(process, body, (path, offset))
            elif block == "env":
                process.env.update(pairs)
            else:
                process.clock = Clock(*(int(pairs.get(key, 0)) for key in Clock._fields))
        except (KeyError, ValueError, IndexError) as error:
            process.expect(False, path, offset, f"cannot read this {block} block: {error!r}")
    if not text.startswith("/* CTF 1.8 */") or not process.clock or process.clock.freq < 1:
        raise TraceError(f"'{path}' is not the metadata of a trace: no CTF 1.8 line, or no clock")
    if process.env.get("varve_format") != "1":
        raise TraceError(
            f"'{path}': varve_format is {process.env.get('varve_format')}, this reader knows 1")
    for key in ("hostname", "pid", "ppid", "program", "clock_source", "begin_realtime_ns",
                "begin_ticks"):
        process.expect(key in process.env, path, 0, f"env has no {key}")

# ---- packets (§4)
# ------------------------------------------------------------------------------------
def hidden_records(process, data):
    """How many records lie in what was reserved and never published."""
    count, at = 0, 0
    while at < len(data):
        (word,) = struct.unpack_from("<Q", data, at)
        count += 1
        if word == 0:
            at = next((i for i in range(at, len(data), 8) if data[i:i + 8] != bytes(8)), len(data))
            continue
        try:
            at = -(-read_fields(process.classes[word & 0xFFFFF].members, data, at + 8)[1] // 8) * 8
        except (KeyError, struct.error, OverflowError):
            break
    return count

def read_packets(process, stream, path, part):
    with open(path, "rb") as file:
        size, offset = os.fstat(file.fileno()).st_size, 0
        while offset < size:
            file.seek(offset)
            head = file.read(HEADER.size)
            if offset == 0 and head.startswith((b"VARVEPK1", b"VARVEPK2")):
                raise TraceError(
                    f"'{path}' is packed (§10), and this reader has no zstd. First type:"
                    "  varve pack --unpack -o PLAIN.varve TRACE.varve")
            if not process.expect(len(head) == HEADER.size, path, offset,
                                  "cut inside a packet header", True):
                return
            (magic, stream_id, instance, reserved, before, content, total, begin, number, lost,
             tid) = HEADER.unpack(head)
            if not process.expect(magic == MAGIC, path, offset,
                                  f"magic is {magic:#x}, not {MAGIC:#x}"):
                return
            fits = not content % 64 and HEADER.size * 8 <= content <= total
            if process.keeps_last and stream.kind == "thread" and part > 0 and not stream.packets:
                stream.first, stream.lost_before = number, before - 1 if before else lost
                stream.lost = stream.lost_before
            for is_so, text in (
                    (fits, f"content_size is {content} of {total} bits"),
                    (stream_id == 0, f"stream_id is {stream_id}, not 0"),
                    (before <= lost + 1,
                     f"{before - 1} were lost before this packet, and {lost} up to its end"),
                    (instance == stream.instance,
                     f"stream_instance_id is {instance}, not {stream.instance}"),
                    (number == stream.first + len(stream.packets),
                     f"packet_seq_num is {number}, not {stream.first + len(stream.packets)}"),
                    (lost >= stream.lost, "events_discarded shrank"),
                    (not stream.packets or tid == stream.tid, "tid is not the last packet's"),
                    ((tid == 0) == (stream.kind == "process"), f"tid is {tid}"),
                    (total == PACKET_BYTES * 8 or offset + total // 8 >= size,
                     f"packet_size {total} in mid-file")):
                process.expect(is_so, path, offset, text)
            if not fits:
                return
            cut = not process.expect(offset + total // 8 <= size, path, offset,
                                     "cut inside a packet", True)
            data = file.read(max(0, min(content // 8, size - offset) - HEADER.size))
            is_hidden = content < reserved <= min(total, PACKET_BYTES * 8) and reserved % 64 == 0
            hidden = file.read((reserved - content) // 8) if is_hidden else b""
            stream.packets.append(Packet(path, offset, data, begin, lost, cut, hidden))
            stream.tid, stream.lost = tid, lost
            offset += total // 8

# ---- records (§5, §6)
# --------------------------------------------------------------------------------
def read_fields(members, data, at):
    """The fields that begin at data[at], and the position behind them. struct.error: they do not
    fit."""
    fields = {}
    for name, kind, count in members:
        repeat = 1 if count is None else fields[count]
        if isinstance(kind, list):
            fields[name] = []
            for _ in range(repeat):
                item, at = read_fields(kind, data, at)
                fields[name].append(item)
            continue
        values = struct.unpack_from(f"<{repeat}{kind}", data, at)
        at += struct.calcsize(f"<{repeat}{kind}")
        fields[name] = values[0] if kind == "s" or count is None else list(values)
        if kind == "s":
            fields[name] = fields[name].rstrip(b"\0").decode("utf-8", "replace")
    return fields, at

def read_records(process, stream):
    for number, packet in enumerate(stream.packets):
        stream.hidden += hidden_records(process, packet.hidden)
        stream.packets[number] = packet._replace(discarded=packet.discarded + stream.hidden)
    for packet in stream.packets:
        at, ticks = 0, packet.begin_ticks
        while at < len(packet.data):
            path, offset = packet.path, packet.offset + HEADER.size + at
            try:
                (word,) = struct.unpack_from("<Q", packet.data, at)
                event = process.classes.get(word & 0xFFFFF)
                if not process.expect(event, path, offset,
                                      f"class {word & 0xFFFFF} is not declared"):
                    return
                fields, end = read_fields(event.members, packet.data, at + 8)
            except (struct.error, OverflowError):
                process.expect(packet.cut, path, offset, "the record reaches beyond content_size")
                break
            ahead = ((word >> 20) - ticks) % (1 << 44)
            process.expect(at or ahead < 1 << 43, path, packet.offset,
                           "timestamp_begin after the first record")
            process.expect(end % 8 == 0, path, offset,
                           f"{event.name} does not end on a multiple of 8 bytes")
            ticks += ahead if ahead < 1 << 43 else 0
            take_record(process, stream, event, fields, (path, offset))
            stream.records.append(Record(*event[:4], ticks, process.ns(ticks), fields, packet,
                                         offset))
            at = -(-end // 8) * 8

def is_point_tag(tag):
    """A kind above 32 bits of index and side, or one of GE's numbers."""
    return 1 <= tag >> 32 <= 7 or tag <= 4 or 10000 <= tag < 30000 or tag in (60000, 60001)


def is_argument(argument):
    """Is its kind known, and has it as many values as that asks for?"""
    count, kind = argument["value_count"], argument["kind"]
    return kind <= 12 and argument["dtype"] <= 25 and {0: count == 0, 2: count % 2 == 1,
                                                       3: count == 1, 4: count == 1, 5: count == 1,
                                                       6: count == 2, 10: count == 0,
                                                       11: count == 1,
                                                       12: count == 0}.get(kind, True)

def is_past_value(process, value):
    """Is its kind known, and is each string there that it names?"""
    count, kind, words = value["word_count"], value["kind"], value["words"]
    named = words if kind == 2 else words[:1] if kind == 5 else []
    return (kind <= 5 and value["side"] <= 1 and value["dtype"] <= 25 and (kind != 5 or count > 0)
            and value["key"] in process.strings
            and all(word == 0 or word in process.strings for word in named))

def is_value(value):
    """Is the kind of this argument of varve.args known, and has it the values that it asks for?"""
    integers, reals = value["integer_count"], value["real_count"]
    return {1: (1, 0), 2: (1, 0), 3: (0, 1), 4: (1, 0), 6: (integers, 0), 7: (integers, 0),
            8: (0, reals)}.get(value["kind"]) == (integers, reals)

def faults_of_points(process, event, fields):
    """(is it so, what is broken if not) of records of trace points."""
    return (
        (event.id != 32 or fields["track"] in process.tracks or fields["track"] == 0,
         f"track {fields.get('track')} of varve.trace_mark is not there"),
        (event.id != 32 or is_point_tag(fields["tag"]),
         f"unknown tag {fields.get('tag')} in varve.trace_mark"),
        (event.id != 33 or (1 <= fields["kind"] <= 7 and fields["state"] <= 2),
         "unknown kind or state in varve.trace_point"),
        (event.id != 33 or all(fields[name] == 0 or fields[name] in process.strings
                               for name in ("name", "operation", "reason")),
         "a text of varve.trace_point is not there"))


def faults_of_graphs(process, event, fields):
    """(is it so, what is broken if not) of records of devices and graphs."""
    return (
        (event.id not in (20, 31, 44, 52) or fields["track"] in process.tracks,
         f"track {fields.get('track')} of {event.name} is not there"),
        (event.id not in (20, 31) or 1 <= fields["kind"] <= 6, f"unknown kind in {event.name}"),
        (event.id != 22 or fields["graph"] > 0, "a graph without a number"),
        (event.id not in (23, 24, 25, 26, 27) or fields["graph"] in process.graphs,
         f"graph {fields.get('graph')} of {event.name} is not there"),
        (event.id != 23 or fields["name"] and fields["task_type"] <= 15,
         "a node without a name, or of an unknown task type"),
        (event.id != 24 or all(t["side"] <= 1 and t["dtype"] <= 25 for t in fields["tensors"]),
         "no such tensor in varve.node_tensors"),
        (event.id not in (25, 29) or fields["kind"] <= 2 - (event.id == 25),
         f"unknown kind in {event.name}"))

def take_record(process, stream, event, fields, place):
    """Checks one record against §6, and keeps what the process's stream tells of names."""
    home = BUILTINS[
        event.id][1] if event.id in BUILTINS else "thread" if event.kind else stream.kind
    mask = fields["layers"] if event.id == 6 else fields["layer"] if event.id in (7, 48) else 1
    named = event.id in (4, 5, 7, 15, 17, 19, 20, 28, 48, 49, 52) or (event.id in (22, 31)
                                                                      and fields["name"])
    text = process.strings.get(fields["name"]) if named else fields.get("text", "")
    for is_so, broken in (
            (home == stream.kind, f"{event.name} does not belong in a {stream.kind} stream"),
            (event.id not in (2, 23, 25) or fields["length"] % 8 == 0,
             f"length {fields.get('length')} is no multiple of 8"),
            (event.id != 2 or fields["id"] > 0 and fields["id"] not in process.strings,
             f"string {fields.get('id')} is not new"),
            (text is not None, f"string {fields.get('name')} of {event.name} is not there"),
            (event.id != 15 or fields["text"] == 0 or fields["text"] in process.strings,
             "the text of varve.collector is not there"),
            ("\0" not in (text or ""), "NUL inside the text of a string"),
            (mask <= 0x7FF and (event.id not in (7, 48) or mask.bit_count() == 1),
             f"layer mask {mask:#x} in {event.name}"),
            (event.id != 8 or all(t["dtype"] <= 25 for t in fields["inputs"]),
             "unknown dtype in varve.op"),
            (event.id != 36 or all(is_value(value) and value["key"] in process.strings
                                   for value in fields["arguments"]),
             "no such argument in varve.args"),
            (event.id != 37 or fields["dtype"] <= 25 and
             {fields["operation"], fields["group"]} <= {0, *process.strings},
             "unknown dtype or string in varve.collective"),
            (event.id != 39 or all(value["length"] > 0 and value["length"] % 8 == 0 and
                                   value["key"] in process.strings
                                   for value in fields["arguments"]),
             "no such argument in varve.texts"),
            (event.id not in (36, 37, 39) or fields["subject"] <= 1,
             f"unknown subject of {event.name}"),
            (event.id != 38 or all(t["dtype"] <= 25 and t["side"] <= 1 and
                                   (t["format"] == 0 or t["format"] in process.strings)
                                   for t in fields["tensors"]),
             "unknown dtype, side or format in varve.operator"),
            (event.id != 14 or all(map(is_argument, fields["arguments"])),
             "no such argument in varve.call"),
            (event.id != 15 or fields["state"] <= 5, "unknown state in varve.collector"),
            (event.id != 17 or fields["clock_number"] >= 16, "a device's clock below 16"),
            (event.id != 19 or fields["track"] > 0, "a track without a number"),
            *faults_of_graphs(process, event, fields),
            *faults_of_points(process, event, fields),
            (event.id != 48 or fields["subject"] == 0 or fields["subject"] in process.strings,
             "the subject of varve.past_range is not there"),
            (event.id != 49 or fields["flags"] <= 3 and fields["layer"].bit_count() <= 1
             and all(is_past_value(process, value) for value in fields["values"]),
             "no such value in varve.past_note")):
        process.expect(is_so, *place, broken)
    if event.id == 2:
        process.strings[fields["id"]] = text
    elif event.id == 19:
        process.tracks[fields["track"]] = fields
    elif event.id == 22:
        process.graphs.add(fields["graph"])
    elif event.id == 23:
        process.nodes[fields["graph"], fields["node"]] = fields["name"]
    elif event.id == 28:
        process.models[fields["model"]] = text
    elif event.id in (4, 5):
        process.names[fields.get("tid")] = text

# ---- the folder (§1, §8)
# -----------------------------------------------------------------------------
def read_parts(process, stream, parts):
    keeps_last = process.keeps_last and stream.kind == "thread"
    expected = parts[0][0] if keeps_last else 0
    for part, name in parts:
        process.expect(part == expected, name, 0, f"part {expected} of this stream is missing")
        expected = part + 1
        try:
            read_packets(process, stream, name, part)
        except FileNotFoundError:  # removed since it was listed, and all before it with it
            if not keeps_last:
                raise
            stream.packets.clear()

def read_process(path, problems):
    """Reads packets before the metadata: in a live trace the classes of all records read are then
    declared."""
    process, files = Process(path, problems), {}
    with open(os.path.join(path, "metadata"), encoding="latin-1") as file:
        process.keeps_last = bool(re.search(r"^\s*env\s*\{[^}]*\bkeep_(?:bytes|ns)\s*=\s*[1-9]",
                                            file.read(), re.M))
    for name in os.listdir(path):
        if match := re.fullmatch(r"(process)()\.(\d+)|(thread)\.(\d+)\.(\d+)", name):
            kind, instance, part = (match[1], 0, match[3]) if match[1] else match.group(4, 5, 6)
            files.setdefault((kind, int(instance)),
                             []).append((int(part), os.path.join(path, name)))
    for (kind, instance), parts in sorted(files.items()):  # the process's own stream comes first
        process.streams.append(Stream(kind, instance))
        read_parts(process, process.streams[-1], sorted(parts))
    read_metadata(process)
    # killed before its first record: format.md §1
    recorded = bool(files) or any(number >= 64 for number in process.classes)
    process.expect(("process", 0) in files or not recorded, path, 0, "process.0 is missing")
    for stream in process.streams:
        read_records(process, stream)
    return process

def read_manifest(path, problems):
    try:
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        if manifest["varve_format"] == 1:
            return manifest
    except (ValueError, LookupError, TypeError) as error:
        return problems.append(Problem(path, 0, f"not a manifest: {error!r}", False))
    raise TraceError(f"'{path}': varve_format is {manifest['varve_format']}, this reader knows 1")

def read_lost(path, problems):
    """Records lost by processes that have no folder in the trace (§12)."""
    if not os.path.lexists(path):
        return 0
    page = b""
    if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) in (0, 4096):
        with open(path, "rb") as file:
            page = file.read(4096)
        if not any(page):  # it is being made
            return 0
    magic, version, _, records = struct.unpack_from("<8sIIQ", page.ljust(24, b"\0"))
    if magic == b"VRVELOST" and version == 1 and records <= 1 << 60:
        return records
    return problems.append(Problem(path, 0, "not a page of losses", False)) or 0

def open_trace(path):
    """Reads a trace folder, or one process's folder. Raises TraceError when it is neither."""
    problems, manifest = [], os.path.join(path, "manifest.json")
    try:
        folders = [path] + sorted(os.path.join(path, name) for name in os.listdir(path)
                                  if name[0] != ".")
        folders = [folder for folder in folders if os.path.isfile(os.path.join(folder, "metadata"))]
        if not folders:
            raise TraceError(f"'{path}' is not a trace: no folder in it has a file 'metadata'")
        told = read_manifest(manifest, problems) if os.path.exists(manifest) else None
        homeless = 0 if folders == [path] else read_lost(os.path.join(path, "lost"), problems)
        return Trace(path, [read_process(folder, problems) for folder in folders], told, problems,
                     homeless)
    except OSError as error:
        raise TraceError(f"cannot read '{error.filename or path}': {error.strerror}") from error

# ---- ranges (§7)
# -------------------------------------------------------------------------------------
def ranges(process):
    """(the ranges of all threads of a process, each thread's in order of begin; number of unmatched
    ends).
    process.begun_before then counts the ends of ranges that began before what a flight recorder
    kept."""
    process.begun_before = 0
    records = [record for stream in process.streams for record in stream.records]
    pauses = sorted(record.ticks for record in records if record.id == 6
                    and record.fields["layers"] == 0)
    last_ticks, built = max((record.ticks for record in records), default=0), []
    return built, sum(thread_ranges(process, stream, pauses[:], last_ticks, built)
                      for stream in process.streams)

def thread_ranges(process, stream, pauses, last_ticks, built):
    open_rows, unmatched, before = [], 0, None
    lacks_begin = stream.first > 0       # ranges may end that began before the first record (§11)
    # lost before packet i: sums[i]
    sums = [stream.lost_before] + [packet.discarded for packet in stream.packets]
    number = {id(packet): i for i, packet in enumerate(stream.packets)}
    def push(name, layer, is_step):
        parent = open_rows[-1] if open_rows else None
        open_rows.append(len(built))
        built.append(Range(name, layer, is_step, stream.tid, record.time_ns, None, parent, False))
    def pop(count, ticks, unfinished=False):
        for _ in range(count):
            row = open_rows.pop()
            built[row] = built[row]._replace(end_ns=process.ns(ticks), unfinished=unfinished)

    for record in stream.records:
        if before and sums[number[id(record.packet)]] > sums[number[id(before.packet)]]:
            pop(len(open_rows), before.ticks, True)
            lacks_begin = False
        while pauses and pauses[0] < record.ticks:
            pop(len(open_rows), pauses.pop(0))
            lacks_begin = lacks_begin and before is None
        before = record
        alone = False
        if record.id == 1 or record.kind == "next":
            alone = not open_rows
            pop(min(1, len(open_rows)), record.ticks)
        if record.id == 10:
            steps = [depth for depth, row in enumerate(open_rows) if built[row].is_step]
            alone = not steps
            pop(len(open_rows) - (steps[-1] if steps else 0) if steps or lacks_begin else 0,
                record.ticks)
        elif record.id == 9:
            push(str(record.fields["index"]), "STEP", True)
        elif record.id == 7:
            layer = next((name for name, bit in LAYERS.items() if bit & record.fields["layer"]),
                         None)
            push(process.strings.get(record.fields["name"], ""), layer, False)
        elif record.id == 29 and record.fields["kind"] < 2:
            name = process.models.get(record.fields["model"], f"model {record.fields['model']}")
            push(name if record.fields["kind"] else f"load {name}", "RUNTIME", False)
        elif record.id == 30:
            place = record.fields["graph"], record.fields["node"]
            push(process.nodes.get(place, f"node {place[1]} of graph {place[0]}"), "OP", False)
        elif record.kind in ("begin", "next"):
            push(record.name, record.layer, False)
        process.begun_before += alone and lacks_begin
        unmatched += alone and not lacks_begin
    if before and sums[-1] > sums[number[id(before.packet)]]:
        pop(len(open_rows), before.ticks, True)
    pop(len(open_rows), pauses[0] if pauses else last_ticks, not pauses)
    return unmatched

# ---- the program
# -------------------------------------------------------------------------------------
def counts(trace):
    streams = [stream for process in trace.processes for stream in process.streams]
    totals, steps = {}, {"calls": 0, "total_ns": 0}
    for item in (item for process in trace.processes for item in ranges(process)[0]):
        row = steps if item.is_step else totals.setdefault(item.name, {"calls": 0, "total_ns": 0})
        row.update(calls=row["calls"] + 1, total_ns=row["total_ns"] + item.end_ns - item.begin_ns)
    return {"events": sum(len(stream.records) for stream in streams),
            "lost": sum(s.lost - s.lost_before + s.hidden for s in streams) + trace.homeless,
            "processes": len(trace.processes), "streams": len(streams),
            "by_name": Counter(record.name for stream in streams for record in stream.records),
            "ranges": totals, "steps": steps}

def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--counts", action="store_true",
                        help="print counts and range totals as JSON")
    parser.add_argument("--check", action="store_true",
                        help="print nothing but what breaks the format")
    parser.add_argument("trace", help="a folder NAME.varve, or one process's folder in it")
    arguments = parser.parse_args()
    try:
        trace = open_trace(arguments.trace)
    except TraceError as error:
        return print(f"varve_decode: {error}", file=sys.stderr) or 3
    if arguments.counts:
        print(json.dumps(counts(trace), indent=1, ensure_ascii=False))
    elif not arguments.check:
        rows = [(r.time_ns, process.name, stream.tid, r.name, r.fields)
                for process in trace.processes for stream in process.streams
                for r in stream.records]
        for *key, name, fields in sorted(rows, key=lambda row: row[0]):
            print(*key, json.dumps(name, ensure_ascii=False),
                  json.dumps(fields, ensure_ascii=False))
    problems = [problem for problem in trace.problems if arguments.check or not problem.is_cut]
    for path, offset, text, _ in problems:
        print(f"varve_decode: {path}: byte {offset}: {text}", file=sys.stderr)
    return 1 if problems else 0

if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""A text of a trace may hold anything: NUL, escapes of terminals, control characters of two bytes,
no UTF-8, a megabyte. Each text of a small valid trace of each format is exchanged for such a one,
one after the other: every verb ends as it should, and what was kept is the text with U+FFFD in
place of what no text holds."""
import copy
import json
import pathlib
import re
import sqlite3
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import all_tables  # noqa: E402
import kineto_writer as kineto  # noqa: E402
import nsys_writer  # noqa: E402
import rpd_writer  # noqa: E402
import perfetto_writer  # noqa: E402
import rocprof_writer  # noqa: E402
import trace_writer  # noqa: E402
import xspace_bytes  # noqa: E402
from protobuf_bytes import field, message, varint, walk  # noqa: E402

ODD = b"<\0\x1b]0;x\x07\x1b[31m\xc2\x9b5m\x01\x7f\xff\xc3(\xed\xa0\x80>"
SHOWN = "<\ufffd\x1b]0;x\x07\x1b[31m\x9b5m\x01\x7f\ufffd\ufffd(\ufffd\ufffd\ufffd>"
# protobuf's own rule: no other is read
VALID, VALID_SHOWN = b"<\0\x1b[31m\xc2\x9b5m\x7f>", "<\ufffd\x1b[31m\x9b5m\x7f>"
RAW = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
LONG = b"L" * (1 << 20)


# ---- formats: (place of a text, its bytes) -> the file ----

class Json:
    suffix, odd, shown = ".json", ODD, SHOWN

    def __init__(self, document):
        self.document = document
        self.places = list(self.find(document, ()))

    def find(self, value, path):
        if isinstance(value, str):
            yield path
        for key, item in value.items() if isinstance(
                value, dict) else enumerate(value) if isinstance(value, list) else ():
            yield from self.find(item, (*path, key))

    def write(self, path, place, text):
        document = copy.deepcopy(self.document)
        *inner, last = place
        at = document
        for key in inner:
            at = at[key]
        at[last] = text.decode("utf-8", "surrogateescape")
        path.write_bytes(json.dumps(document, ensure_ascii=False).encode("utf-8",
                                                                         "surrogateescape"))


class Protobuf:
    odd, shown = VALID, VALID_SHOWN

    def __init__(self, suffix, data, places):
        self.suffix, self.data, self.places = suffix, data, places

    def rebuilt(self, data, place, text):
        out = []
        for number, wire, value in walk(data):
            if wire == 2:
                if value == place:
                    value = text
                elif place in value:
                    value = self.rebuilt(value, place, text)
                out.append(field(number, value))
            else:
                out.append(varint(number << 3 | wire) + (varint(value) if wire == 0 else value))
        return b"".join(out)

    def write(self, path, place, text):
        assert place in self.data
        path.write_bytes(self.rebuilt(self.data, place, text))


class Perfetto(Protobuf):
    odd, shown = ODD, SHOWN


class Sqlite:
    odd, shown = ODD, SHOWN

    def __init__(self, suffix, writer):
        self.suffix, self.writer = suffix, writer
        self.places = [(table, row, column.split()[0])
                       for table, (columns, rows) in writer.TABLES.items()
                       for row, values in enumerate(rows)
                       for column, value in zip(columns.split(", "), values)
                       if isinstance(value, str) and value]

    def write(self, path, place, text):
        self.writer.write(path)
        table, row, column = place
        with sqlite3.connect(path) as database:
            database.execute(f'UPDATE "{table}" SET {column} = CAST(? AS TEXT) WHERE rowid = '
                             f'(SELECT rowid FROM "{table}" LIMIT 1 OFFSET {row})', (text,))
        database.close()


class Plan:
    suffix, odd, shown = ".csv", ODD, SHOWN
    data = (b'Device_id,"Op Name",Graph ID,Node Index Start,Node Index '
            b'End,Size(KB),Offset(KB)\n0,"op1",1,0,4,2.5,0\n')
    places = [b"op1", b"Graph ID", b"Op Name", b"2.5"]

    def write(self, path, place, text):
        path.write_bytes(self.data.replace(place, text.replace(b'"', b'""')))


class Own:
    suffix, odd, shown = ".varve", ODD, SHOWN
    places = ["site", "file", "string", "thread", "process", "collector", "command", "host"]

    def write(self, path, place, text):
        chosen = text.decode("utf-8", "surrogateescape")
        if place not in ("command", "host"):  # what stands in the metadata is UTF-8
            chosen = text.decode("utf-8", "replace")
        word = {name: name for name in self.places} | {place: chosen}
        trace = trace_writer.Trace(path)
        process = trace.process(pid=1)
        thread = process.thread(tid=1)
        site = process.site("begin", word["site"], layer="OP", file=word["file"], line=3)
        thread.begin(site, at=100)
        thread.end(at=150)
        thread.begin_name(word["string"], "OP", at=200)
        thread.end(at=250)
        process.thread_name(1, word["thread"])
        process.name(word["process"])
        process.collector("python", trace_writer.COLLECTOR_STATES[0], word["collector"])
        trace.write()
        manifest = json.dumps(trace_writer.manifest(command=["./train", word["command"]],
                                                    host=word["host"]), ensure_ascii=False)
        (path / "manifest.json").write_bytes(manifest.encode("utf-8", "surrogateescape"))


def chrome():
    events = [kineto.span("aten::mm", 1000, 5000, **{"Input Dims": [[2, 3]],
                                                     "Input type": ["float"], "Call stack": "a;b",
                                                      "Module Hierarchy": "m", "z": "text"}),
              *kineto.launched("gemm", 7, (2000, 2500), (4000, 9000)), kineto.memory(10, 64, 4096),
              kineto.counter("c", 5, 1), kineto.step(1, 900, 9000),
              kineto.span("s", 1, 2, "user_annotation", "a thread", "a process"),
              kineto.span("nccl:all_reduce", 20, 30,
                          **{"Collective name": "allreduce", "Process Group Name": "0",
                             "dtype": "Float"}),
              {"ph": "M", "name": "process_name", "pid": 1000, "args": {"name": "python"}},
              {"ph": "M", "name": "thread_name", "pid": 1000, "tid": 1, "args": {"name": "main"}},
              {"ph": "s", "id": "f1", "cat": "ac2g", "name": "ac2g", "pid": 1000, "tid": 1,
               "ts": 1},
              {"ph": "f", "id": "f1", "cat": "ac2g", "name": "ac2g", "bp": "e", "pid": 1000,
               "tid": 1, "ts": 3},
              {"ph": "b", "id2": {"local": "0x1"}, "cat": "as", "name": "async", "pid": 1000,
               "tid": 1, "ts": 4},
              {"ph": "e", "id2": {"local": "0x1"}, "cat": "as", "name": "async", "pid": 1000,
               "tid": 1, "ts": 6},
              {"ph": "X", "cat": "Node", "name": "n", "pid": 1, "tid": 2, "ts": 1, "dur": 1,
               "args": {"op_name": "MatMul", "input_type_shape": [{"float": [1, 2]}]}}]
    return {"schemaVersion": 1, "host_name": "host",
            "deviceProperties": [{"id": 0, "name": "A100"}],
            "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
            "traceEvents": events, "traceName": "t"}


def graph():
    return {"version": "1.0.0", "nodes": [{"name": "a", "ts": 1, "duration": 2, "id": 0, "adj": [1],
                                           "more": "x"}, {"name": "b", "ts": 4, "duration": 2,
                                                          "id": 1, "adj": []}],
            "edges": [{"edgeFrom": 0, "edgeTo": 1}]}


def perfetto():
    trace = perfetto_writer.Trace(None)
    trace.intern(names={1: "name-1"}, categories={1: "category-1"}, keys={1: "key-1"},
                 sources={1: ("file-1", 3)}, texts={1: "text-1"})
    trace.track(1, name="track-1", process=(7, "process-1"))
    trace.track(2, parent=1, thread=(7, 8, "thread-1"))
    trace.event(10, perfetto_writer.BEGIN, track=2, name="event-1", categories=["category-2"],
                args={"argument-1": "value-1", "list": [{"inner-1": "deep-1"}]})
    trace.event(20, perfetto_writer.END, track=2)
    trace.event(30, perfetto_writer.INSTANT, track=2, name=1, categories=[1])
    return b"".join(trace.packets)


def xspace():
    host, device = xspace_bytes.Plane("/host:CPU"), xspace_bytes.Plane("/device:GPU:0 A100", 1)
    host.line(1, [host.event("op-1", 0, 5000, [host.stat("stat-1", "value-1"),
                                               host.stat("hlo_category", "ref-1", 7)])], "line-1",
                                               5)
    device.line(2, [device.event("kernel-1", 0, 5000,
                                 [device.stat("kernel_details",
                                              "regs:32 grid:1,1,1 block:2,1,1")])], "Stream #7", 5)
    return xspace_bytes.space(host, device, errors=["error-1"], hosts=["host-1"])


XSPACE_TEXTS = [b"/host:CPU", b"op-1", b"stat-1", b"value-1", b"ref-1", b"line-1", b"hlo_category",
                b"/device:GPU:0 A100", b"kernel-1", b"regs:32 grid:1,1,1 block:2,1,1", b"Stream #7",
                b"error-1", b"host-1"]
PERFETTO_TEXTS = [b"name-1", b"category-1", b"key-1", b"file-1", b"text-1", b"event-1",
                  b"category-2", b"argument-1", b"value-1", b"inner-1", b"deep-1", b"track-1",
                  b"process-1", b"thread-1"]
FORMATS = {"chrome": Json(chrome()), "mlirgraph": Json(graph()),
           "rocprof": Json(rocprof_writer.results()), "xspace": Protobuf(".xplane.pb", xspace(),
                                                                         XSPACE_TEXTS),
           "xspace_json": Json(json.loads(xspace_bytes.to_json(xspace()))),
           "nsys": Sqlite(".sqlite", nsys_writer), "rpd": Sqlite(".rpd", rpd_writer),
           "memory_plan": Plan(), "own": Own(), "perfetto": Perfetto(".perfetto-trace", perfetto(),
                                                                     PERFETTO_TEXTS)}
FORMATS["xspace_json"].odd, FORMATS["xspace_json"].shown = VALID, VALID_SHOWN
# A text that is surely shown again: where it stands, and how what is exported says it.
NAMES = {"chrome": ("traceEvents", 0, "name"), "mlirgraph": ("nodes", 0, "name"),
         "perfetto": b"event-1", "xspace": b"op-1", "nsys": ("StringIds", 6, "value"),
         "rpd": ("rocpd_string", rpd_writer.NUMBER["relu"] - 1, "string"),
         "memory_plan": b"op1", "own": "site", "rocprof": ("rocprofiler-sdk-tool", 0,
                                                           "kernel_symbols", 0,
                                                           "formatted_kernel_name")}


def texts_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_of(item)


def run(varve, *words):
    return subprocess.run([varve, *map(str, words)], capture_output=True, timeout=120, check=False)


def must_end_well(varve, path, place):
    """0, or a file that cannot be read with a sentence that says why; nothing of the file raw in
    what is meant to be seen."""
    for words in (["report", path], ["export", "--to", "chrome", "-o", "-", path]):
        done = run(varve, *words)
        assert done.returncode in (0, 3), (place, words, done.returncode, done.stderr[-2000:])
        assert done.returncode == 0 or done.stderr.startswith(b"varve: "), (place, done.stderr)
        shown = done.stdout.decode()
        raw = RAW.findall(shown)
        assert not raw, (place, raw[:5])
    return shown if done.returncode == 0 else None


@pytest.mark.parametrize("name", FORMATS)
def test_each_text_may_hold_anything(varve, tmp_path, name):
    made = FORMATS[name]
    read = 0
    for number, place in enumerate(made.places):
        path = tmp_path / f"{number}{made.suffix}"
        made.write(path, place, made.odd)
        read += must_end_well(varve, path, place) is not None
    # others stand for numbers
    assert read >= len(made.places) * {"perfetto": 1, "own": 1, "nsys": 1, "rpd": 1}.get(name, 0.3)


# no table shows a placement's name
@pytest.mark.parametrize("name", sorted(set(NAMES) - {"memory_plan"}))
def test_the_text_that_was_kept_is_the_one_that_was_written(varve, build, tmp_path, name):
    made = FORMATS[name]
    path = tmp_path / f"odd{made.suffix}"
    made.write(path, NAMES[name], made.odd)
    is_kept = made.shown in set(texts_of(json.loads(must_end_well(varve, path, name))))
    assert is_kept
    done = all_tables.run(build, path)
    assert done.returncode == 0, done.stderr
    shown = {text for line in done.stdout.decode().splitlines()
             for text in texts_of(json.loads(line))}
    is_shown = made.shown in shown
    assert is_shown


# mlirgraph is told by what stands at the beginning; a packet of ours holds no such text.
@pytest.mark.parametrize("name", sorted(set(NAMES) - {"own", "mlirgraph"}))
def test_a_text_of_a_megabyte(varve, tmp_path, name):
    made = FORMATS[name]
    path = tmp_path / f"long{made.suffix}"
    made.write(path, NAMES[name], LONG)
    shown = must_end_well(varve, path, name)
    is_kept = LONG.decode() in set(texts_of(json.loads(shown)))
    assert is_kept or name == "memory_plan"

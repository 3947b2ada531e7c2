# SPDX-License-Identifier: Apache-2.0
"""Nothing of a megabyte takes ten seconds or a hundred times its size: for each format the worst
that we know to make. Processor time and memory, so that other programs beside it do not count.
(What the analyses do with such a trace is theirs to bound.)"""
import gzip
import json
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import perfetto_writer  # noqa: E402
import trace_writer  # noqa: E402
import xspace_bytes  # noqa: E402
from measured_run import measured  # noqa: E402
from protobuf_bytes import field, message  # noqa: E402

BYTES, CPU_S = 1 << 20, 10
PEAK_BYTES = 100 * BYTES + (64 << 20)  # and what varve has of its own


def events(one, count=None):
    """As many of them as fit, as a Chrome trace."""
    out, size = [], 0
    for i in range(count or 1 << 20):
        text = json.dumps(one(i), separators=(",", ":"))
        size += len(text) + 1
        if size > BYTES - 64:
            break
        out.append(text)
    return ('{"traceEvents":[' + ",".join(out) + "]}").encode()


def span(i, **more):
    return {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": i, "dur": 1, **more}


CHROME = {
    "tiny events": lambda: b"[" + b'{"ph":"X","ts":1},' * (BYTES // 18) + b"{}]",
    "empty objects": lambda: b"[" + b"{}," * (BYTES // 3) + b'{"ph":"X","ts":1}]',
    "commas": lambda: b'{"traceEvents":[' + b"," * (BYTES - 99) + b'{"ph":"X","ts":1}]}',
    "names": lambda: events(lambda i: span(i, name=f"{i:x}")),
    "categories": lambda: events(lambda i: span(i, cat=f"{i:x}")),
    "processes": lambda: events(lambda i: span(i, pid=i)),
    "threads": lambda: events(lambda i: span(i, tid=f"t{i}")),
    "metadata": lambda: events(lambda i: {"ph": "M", "name": "process_name", "pid": i,
                                          "args": {"name": f"{i}"}}),
    "one process named again and again": lambda: events(lambda i: {"ph": "M",
                                                                   "name": "process_name", "pid": 1,
                                                                   "args": {"name": f"{i}"}}),
    "arguments": lambda: events(lambda i: span(i, args={f"k{j}{i}": j for j in range(1000)}), 100),
    "opened": lambda: events(lambda i: {"ph": "B", "name": f"{i % 99}", "pid": 1, "tid": 1,
                                        "ts": i}),
    "ends of other names": lambda: events(lambda i: {"ph": "B" if i < 9000 else "E", "name": f"{i}",
                                                     "pid": 1, "tid": 1, "ts": i}),
    "nested slices": lambda: events(lambda i: span(i, dur=10**6 - 2 * i)),
    "slices that overlap": lambda: events(lambda i: span(i, dur=10**6 + i)),
    "flows": lambda: events(lambda i: {"ph": "s" if i % 2 else "f", "id": 1, "name": "f", "pid": 1,
                                       "tid": 1, "ts": i}),
    "families of flows": lambda: events(lambda i: {"ph": "s", "id": 1, "name": f"{i}",
                                                   "cat": f"{i}", "pid": 1, "tid": 1, "ts": i}),
    "asynchronous ids": lambda: events(lambda i: {"ph": "b", "id": i, "cat": "c", "name": "n",
                                                  "pid": 1, "tid": 1, "ts": i}),
    "one asynchronous id": lambda: events(lambda i: {"ph": "b", "id": 1, "cat": "c", "name": f"{i}",
                                                     "pid": 1, "tid": 1, "ts": i}),
    "nested value": lambda: events(lambda i: span(i, args={"z": json.loads("[" * 200 +
                                                                           "]" * 200)})),
    "calls and work": lambda: events(lambda i: span(i, cat="kernel" if i % 2 else "cuda_runtime",
                                                    args={"correlation": 7, "stream": i})),
    "counters": lambda: events(lambda i: {"ph": "C", "name": f"c{i}", "pid": 1, "ts": i,
                                          "args": {"v": i}}),
    "stack frames": lambda: json.dumps({"traceEvents": [span(1, sf=str(9999))], "stackFrames": {
        str(i): {"name": f"f{i}", "parent": str(i - 1)} for i in range(10000)}}).encode(),
    "stacks of frames": lambda: json.dumps({"traceEvents": [span(i, sf=str(i))
                                                            for i in range(4000)], "stackFrames": {
        str(i): {"name": f"f{i}", "parent": str(i - 1)} for i in range(4000)}}).encode(),
    "shapes": lambda: events(lambda i: span(i, cat="cpu_op",
                                            args={"Input Dims": [[i]] * 20,
                                                  "Input type": ["float"] * 20})),
    "open brackets": lambda: b"[" * BYTES,
    "a text without end": lambda: b'[{"ph":"X","name":"' + b"a" * BYTES,
    "backslashes": lambda: b'[{"ph":"X","ts":1,"name":"' + b"\\\\" * (BYTES // 2) + b'"}]',
    "digits": lambda: b'[{"ph":"X","ts":' + b"1" * BYTES + b"}]",
}
def bomb(head, one, tail=b""):
    """Members of a megabyte that is a kilobyte: 256 of them."""
    return gzip.compress(head) + gzip.compress(one * (BYTES // len(one)),
                                               9) * 256 + gzip.compress(tail)


BOMBS = {
    ".json": lambda: bomb(b"[", b" ", b"]"),
    ".events.json": lambda: bomb(b"[", b'{"ph":"X","ts":1},', b"{}]"),
    ".sqlite": lambda: bomb(b"SQLite format 3\0", b"\0"),
    ".csv": lambda: bomb(b"Op Name,Size,Offset\n", b"\n"),
    ".xplane.pb": lambda: bomb(field(1, message((2, "/host:CPU"), (3, message((2, "l"))))),
                               field(1, bytes(1020))),
}


def planes():
    return b"".join(field(1, message((1, i), (2, f"/device:GPU:{i}"))) for i in range(30000))


def lines():
    plane = xspace_bytes.Plane("/host:CPU")
    for i in range(15000):
        plane.line(i, [plane.event("a", 0, 5)], f"l{i}", 5)
    return xspace_bytes.space(plane)


def compressed_texts():
    """Statistics of 5 kB that are texts of 4 MB each."""
    host = xspace_bytes.Plane("/host:CPU")
    bomb = zlib.compress(bytes(b"a" * (4 << 20)), 9)
    host.line(1, [host.event("a", i, 1, [host.stat("s", bomb, 8)])
                  for i in range(BYTES // len(bomb))], "l", 5)
    return xspace_bytes.space(host)


def perfetto_bombs():
    """Packets of packets, compressed."""
    inner = perfetto_writer.Trace(None)
    for i in range(100000):
        inner.packet((3, b""))
    bomb = zlib.compress(b"".join(inner.packets), 9)
    trace = perfetto_writer.Trace(None)
    trace.event(1, perfetto_writer.INSTANT, track=1, name="a")
    for _ in range(BYTES // (len(bomb) + 20)):
        trace.packet((50, bomb))
    return b"".join(trace.packets)


def perfetto_tracks():
    trace = perfetto_writer.Trace(None)
    for i in range(12000):
        trace.track(i + 1, name=f"t{i}", parent=i)
        trace.event(i, perfetto_writer.INSTANT, track=i + 1, name=f"e{i}")
    return b"".join(trace.packets)


def graph():
    nodes = [{"name": "a", "ts": i, "duration": 1, "id": 0, "adj": [0]} for i in range(15000)]
    return json.dumps({"version": "1.0.0", "nodes": nodes, "edges": []}).encode()


def nsys_ranges(texts, ids):
    """NVTX ranges of an export: each names one of the texts."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.sqlite")
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        connection.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER,"
                           " eventType INTEGER, textId INTEGER, globalTid INTEGER)")
        connection.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(texts))
        connection.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, 1)",
                               ((i, i + 1, id_) for i, id_ in enumerate(ids)))
        connection.commit()
        connection.close()
        return path.read_bytes()


def rpd_rows(texts, calls, details=(), ids=()):
    """A database of rocmProfileData: calls are (id, text), details (id of a call, text)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.rpd")
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT)")
        connection.execute("CREATE TABLE rocpd_api (id, pid, tid, start, end, apiName_id, args_id)")
        connection.execute("CREATE TABLE rocpd_op (id, start, end, opType_id)")
        connection.execute("CREATE TABLE rocpd_api_ops (api_id, op_id)")
        connection.execute("CREATE TABLE ext_autogradapi (api_ptr_id, autogradName_id, seq)")
        connection.execute("CREATE TABLE rocpd_kernelapi (api_ptr_id, " +
                           ", ".join(f"c{i}" for i in range(90)) + ")")
        connection.executemany("INSERT INTO rocpd_string VALUES (?, ?)",
                               enumerate(["UserMarker", "hipLaunchKernel", *texts]))
        connection.executemany("INSERT INTO rocpd_api VALUES (?, 1, 1, ?, ?, ?, ?)",
                               ((id_, i, i + 1, int(text is None), text)
                                for i, (id_, text) in enumerate(calls)))
        connection.executemany("INSERT INTO ext_autogradapi VALUES (?, ?, ?)",
                               ((id_, text, i) for i, (id_, text) in enumerate(details)))
        connection.executemany("INSERT INTO rocpd_kernelapi VALUES (?" + ", 1" * 90 + ")",
                               ((id_,) for id_ in ids))
        connection.executemany("INSERT INTO rocpd_op VALUES (?, ?, ?, 1)",
                               ((id_, i, i + 1) for i, (id_, _) in enumerate(calls)))
        connection.executemany("INSERT INTO rocpd_api_ops VALUES (?, ?)",
                               ((id_, id_) for id_ in {id_ for id_, _ in calls}))
        connection.commit()
        connection.close()
        return path.read_bytes()


RPD = {"ranges that share parts": lambda: rpd_rows(["a" + ", seq = 1" * 1800 + "x"],
                                                   [(i, 2) for i in range(15000)]),
       "a name of many numbers": lambda: rpd_rows(["a" * 500], [(i, 2) for i in range(12000)],
                                                  [(i, 2) for i in range(12000)]),
       "one call of many rows": lambda: rpd_rows([], [(7, None)] * 15000, ids=[7] * 2500)}
NSYS = {"one name of parts": lambda: nsys_ranges([", seq = 1" * (BYTES // 9) + "x"], [0]),
        "ranges that share parts": lambda: nsys_ranges(["a" + ", seq = 1" * (BYTES // 20) + "x"],
                                                       [0] * 25000)}
BINARY = {".xplane.pb": {"planes": planes, "lines": lines, "compressed texts": compressed_texts},
          ".perfetto-trace": {"packets": perfetto_bombs, "tracks": perfetto_tracks},
          ".json": {"graph": graph}, ".sqlite": NSYS, ".rpd": RPD}
CASES = ([(".json", name, make) for name, make in CHROME.items()] +
         [(suffix, name, make) for suffix, made in BINARY.items() for name, make in made.items()] +
         [(f"{suffix}.gz", "bomb", make) for suffix, make in BOMBS.items()])


@pytest.mark.parametrize("suffix, name, make", CASES, ids=[f"{name}{suffix}".replace(" ", "_")
                                                           for suffix, name, _ in CASES])
def test_a_megabyte_is_read_in_bounds(varve, tmp_path, suffix, name, make):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(make())
    assert path.stat().st_size <= 1.3 * BYTES, name
    run = measured([varve, "info", "--no-cache", path], tmp_path)
    assert run.code == 0 or (run.code == 3 and run.err.startswith("varve: ")), run.err
    assert run.cpu_s < CPU_S and run.peak_bytes < PEAK_BYTES, (run.cpu_s, run.peak_bytes >> 20)


def own_threads(path):
    trace = trace_writer.Trace(path)
    for pid in range(40):
        process = trace.process(pid=pid + 1)
        for tid in range(10):
            thread = process.thread(tid=tid + 1)
            thread.begin_name(f"n{tid}", "OP", at=100)
            thread.end(at=200)
    trace.write()


def own_depth(path):
    trace = trace_writer.Trace(path)
    thread = trace.process(pid=1).thread(tid=1)
    for i in range(60000):
        thread.begin_name("a", "OP", at=100 + i)
    trace.write()


def own_ends(path):
    trace = trace_writer.Trace(path)
    thread = trace.process(pid=1).thread(tid=1)
    for i in range(60000):
        thread.end(at=100 + i)
    trace.write()


@pytest.mark.parametrize("make", [own_threads, own_depth, own_ends], ids=lambda make: make.__name__)
def test_a_trace_of_our_own_is_read_in_bounds(varve, tmp_path, make):
    make(tmp_path / "a.varve")
    run = measured([varve, "info", "--no-cache", tmp_path / "a.varve"], tmp_path)
    assert run.code == 0, run.err
    assert run.cpu_s < CPU_S and run.peak_bytes < PEAK_BYTES, (run.cpu_s, run.peak_bytes >> 20)


def of_processes(path, string_id):
    trace = trace_writer.Trace(path)
    for pid in range(300):
        process = trace.process(pid=pid + 1)
        process._note(2, 0, struct.pack("<II8s", string_id, 8, b"a"))
        process._note(5, 0, struct.pack("<Q", string_id))
    trace.write()
    return path


def test_high_numbers_of_strings_cost_what_low_ones_do(varve, tmp_path):
    """No memory and no time for the numbers between: 64 MB and 28 ms a process."""
    low, high = (measured([varve, "info", "--no-cache", of_processes(tmp_path / f"{i:x}.varve", i)],
                          tmp_path) for i in (1, (1 << 24) - 1))
    assert low.code == high.code == 0 and low.out.count("a") > 0, high.err
    assert high.cpu_s < 4 * low.cpu_s + 0.5 and high.peak_bytes < low.peak_bytes + (16 << 20), (
        low, high)


def test_a_packed_trace_does_not_swell(varve, tmp_path):
    """Packets of one mark, at one instant, 1,000 times: 66 MB become less than 21 kB. Who trusts it
    may allow more."""
    trace, packed = tmp_path / "a.varve", tmp_path / "b.varve"
    made = trace_writer.Trace(trace)
    process = made.process(pid=1)
    site, thread = process.site("mark", "m", layer="OP"), process.thread(tid=1)
    for _ in range(8180):
        thread.mark(site, at=1000)
    made.write()
    file = next(trace.glob("1/thread.*"))
    packet = bytearray(file.read_bytes().ljust(65536, b"\0"))
    packet[40:48] = (8 * len(packet)).to_bytes(8, "little")  # packet_size
    with open(file, "wb") as stream:
        for sequence in range(1000):
            packet[56:64] = sequence.to_bytes(8, "little")
            stream.write(packet)
    subprocess.run([varve, "pack", trace, "-o", packed], check=True, capture_output=True)
    assert sum(path.stat().st_size for path in packed.rglob("*")) < 21_000
    run = measured([varve, "info", "--no-cache", packed], tmp_path)
    assert (run.code == 3 and "it needs more memory than the" in run.err
            and "--max-memory SIZE" in run.err)
    assert run.cpu_s < CPU_S and run.peak_bytes < PEAK_BYTES, (run.cpu_s, run.peak_bytes >> 20)
    told = subprocess.run([varve, "info", "--no-cache", "--json", "--max-memory", "2G", packed],
                          check=True, capture_output=True, text=True)
    assert "8180000" in told.stdout

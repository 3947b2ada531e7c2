# SPDX-License-Identifier: Apache-2.0
"""XSpace (.xplane.pb) and its JSON: real traces with known answers, and small ones written by
hand."""
import base64
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402
from model_tables import dump, health, refusal  # noqa: E402
from protobuf_bytes import message, signed, walk  # noqa: E402
from xspace_bytes import Plane, camel, environment, space, to_json  # noqa: E402

START = 1_700_000_000_000_000_000
REAL = ["mlirgraph/profiler_ops.pb", "xplane/jax_mi300_conv.xplane.pb",
        "xplane/jax_tpu_inference.xplane.pb"]


def write(folder, data, name="host.xplane.pb"):
    path = folder / name
    path.write_bytes(data)
    return path


# ---- real traces ----

def events_of(data):
    """(plane, line id, begin, end, long name) of each event, in ns: by a walker that knows nothing
    of varve."""
    planes = [dict_of(value) for number, _, value in walk(data) if number == 1]
    start = 0
    for plane in planes:
        if plane[2] == [b"Task Environment"]:
            names = metadata(plane, 5)
            for stat in map(dict_of, plane[6]):
                if names[stat[1][0]][2] == [b"profile_start_time"]:
                    start = stat[3][0]
    for plane in planes:
        names = metadata(plane, 4)
        for line in map(dict_of, plane[3]):
            base = start + (line[3] or [0])[0]
            for event in map(dict_of, line[4]):
                offset, duration = signed((event[2] or [0])[0]), signed((event[3] or [0])[0])
                name = names[event[1][0]][2][0].decode()
                yield (plane[2][0].decode(), signed((line[1] or [0])[0]), base + offset // 1000,
                       base + (offset + duration) // 1000, name)


def dict_of(data):
    out = collections.defaultdict(list)
    for number, _, value in walk(data):
        out[number].append(value)
    return out


def metadata(plane, number):
    entries = [dict_of(entry) for entry in plane[number]]
    return {entry[1][0]: dict_of(entry[2][0]) for entry in entries}


def content(build, path):
    """All but where it was read from."""
    tables = dump(build, path)
    tables.pop("inputs")
    return tables


@pytest.mark.parametrize("name, events", list(zip(REAL, (39, 3650, 26_723))))
def test_every_event_of_real_traces(build, traces, name, events):
    tables = dump(build, traces / name)
    assert tables["run"][0]["events"] == events
    processes, tracks = tables["processes"], tables["tracks"]
    ours = collections.Counter()
    for row in tables["slices"] + tables["marks"]:
        track = tracks[row["track"]]
        begin = row.get("begin_ns", row.get("time_ns"))
        long_name = dict(row["args"]).get("long_name", row["name"])
        ours[processes[track["process"]]["name"], track["tid"], begin, begin +
             row.get("duration_ns", 0), long_name] += 1
    theirs = collections.Counter(events_of((traces / name).read_bytes()))
    assert sum(theirs.values()) == events
    assert ours == theirs
    assert sum(process["events"] for process in processes) == events


def test_work_of_the_mi300(build, traces):
    tables = dump(build, traces / REAL[1])
    assert [process["pid"] for process in tables["processes"]] == [1, 2, 3, 4, 5, 6, 7, 8, 701]
    assert {process["host"] for process in tables["processes"]} == {"tw003"}
    kinds = collections.Counter(row["kind"] for row in tables["activities"])
    assert kinds[1] == 235  # kernels: 60 on the first device, 25 on each of the others
    kernels = {row["correlation"] for row in tables["activities"] if row["kind"] == 1}
    calls = {row["correlation"] for row in tables["activities"] if row["kind"] == 0}
    assert len(kernels) == 234 and kernels <= calls  # one correlation stands on two kernels
    assert len(tables["memory"]) == 230
    facts = {(fact["process"], fact["key"]): fact["value"] for fact in tables["facts"]}
    assert facts[0, "device_vendor"] == "AMD" and facts[0, "core_count"] == 304


def test_operators_of_the_tpu(build, traces):
    tables = dump(build, traces / REAL[2])
    names = {track["row"]: track["name"] for track in tables["tracks"]}
    ops = [row for row in tables["slices"] if names[row["track"]] == "XLA Ops"]
    assert len(ops) == 1504 + 3 * 1503
    fusion = next(row for row in ops if row["name"] == "broadcast_add_fusion.2")
    op = tables["ops"][fusion["op"]]
    assert (op["flop"], op["bytes"], op["shapes"]) == (1342177280, 10737418240,
                                                       "[5,1024,1024,256] f32")
    assert fusion["category"] == "loop fusion"
    source = tables["sources"][fusion["source"]]
    assert source["file"].endswith("host_offload_stress_test.py") and source["line"] > 0
    assert {row["name"] for row in tables["collectives"]} == {"all_reduce"}
    assert len(tables["collectives"]) == 12
    launches = [flow for flow in tables["flows"] if flow["name"] == "tpu_launch"]
    modules = [flow for flow in launches if names[flow["to_track"]] == "XLA Modules"]
    # each ends at a module and at its callbacks on the host
    assert (len(launches), len(modules)) == (828, 414)


def test_mangled_text_is_refused_with_its_place(build, traces):
    said = refusal(build, traces / "xplane" / "bad_utf8_mangled.xplane.pb")
    assert "bad_utf8_mangled.xplane.pb" in said and "at byte 27" in said


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("spell", [str, camel], ids=["snake_case", "camelCase"])
def test_json_gives_the_same_model(build, traces, tmp_path, name, spell):
    data = (traces / name).read_bytes()
    path = write(tmp_path, to_json(data, spell).encode(), "trace.json")
    assert content(build, path) == content(build, traces / name)


def test_gzip_gives_the_same_model(build, traces, tmp_path):
    path = write(tmp_path, gzip.compress((traces / REAL[1]).read_bytes()))
    assert content(build, path) == content(build, traces / REAL[1])


# ---- written by hand ----

def host(*events, plane=None, **more):
    plane = plane or Plane("/host:CPU")
    plane.line(7, [event(plane) if callable(event) else event for event in events], "main", **more)
    return plane


def test_statistics_of_every_kind(build, tmp_path):
    plane = Plane("/host:CPU")
    stats = [plane.stat("real", -2.5), plane.stat("unsigned", 5, 3),
             plane.stat("large", (1 << 64) - 1, 3), plane.stat("negative", -7),
             plane.stat("text", "naïve"), plane.stat("bytes", b"\x00\xff", 6),
             plane.stat("reference", "the text", 7),
             plane.stat("packed", gzip.compress(b"unpacked"), 8),
             plane.stat("zlib", zlib.compress(b"too"), 8), plane.stat("long", b"x" * 5000, 6),
             plane.stat("damaged", b"no gzip", 8), plane.stat("zero", 0)]
    plane.metadata("op", stats=[plane.stat("constant", 1)])
    tables = dump(build, write(tmp_path, space(host(plane.event("op", 0, 1000, stats),
                                                    plane=plane))))
    assert tables["slices"][0]["args"] == [
        ["constant", 1], ["real", -2.5], ["unsigned", 5], ["large", "18446744073709551615"],
        ["negative", -7], ["text", "naïve"], ["bytes", "AP8="], ["reference", "the text"],
        ["packed", "unpacked"], ["zlib", "too"], ["long", "(5000 bytes)"],
        ["damaged", "bm8gZ3ppcA=="], ["zero", 0]]
    assert health(tables) == {"ignored": 2}


def test_times(build, tmp_path):
    """Relative to the start where one is known, or since 1970; both ends rounded down; order and
    nesting stay."""
    plane = Plane("/host:CPU")
    events = [plane.event("outer", 1_500, 3_000), plane.event("inner", 1_999, 1_001),
              plane.event("instant", 4_499), plane.event("before", -1, 1),
              plane.event("negative", 9_000, -5)]
    plane.line(1, events, "relative", timestamp_ns=100)
    plane.line(2, [plane.event("outer", 500, 1_000)], "since 1970", timestamp_ns=START + 5)
    tables = dump(build, write(tmp_path, space(plane, environment(START, START + 9))))
    assert [(row["name"], row["begin_ns"] - START, row["duration_ns"], row["depth"])
            for row in tables["slices"]] == [
        ("before", 99, 1, 0), ("outer", 101, 3, 0), ("inner", 101, 2, 1), ("instant", 104, 0, 0),
        ("negative", 109, 0, 0), ("outer", 5, 1, 0)]
    assert health(tables) == {"zero_length": 2, "negative": 1}
    assert (tables["run"][0]["begin_ns"], tables["run"][0]["end_ns"]) == (START + 5, START + 109)


def test_without_an_environment_times_stay_relative(build, tmp_path):
    tables = dump(build, write(tmp_path,
                               space(host(lambda plane: plane.event("op", 5_000, 1_000)))))
    assert tables["slices"][0]["begin_ns"] == 5


def test_events_without_a_place_are_facts(build, tmp_path):
    plane = Plane("/host:CPU")
    events = [plane.event("sum", None, 9_000, [plane.stat("bytes", 5)], occurrences=3),
              plane.event("beyond", (1 << 63) - 1, 5)]
    tables = dump(build, write(tmp_path, space(host(*events, plane=plane))))
    assert {fact["key"]: fact["value"] for fact in tables["facts"]} == {
        "sum: num_occurrences": 3, "sum: duration_ps": 9000, "sum: bytes": 5,
        "beyond: offset_ps": (1 << 63) - 1, "beyond: duration_ps": 5}
    assert health(tables) == {"unplaced": 2}
    assert tables["run"][0]["events"] == 2


def test_steps(build, tmp_path):
    plane = Plane("/host:CPU")
    root = [plane.stat("_r", 1)]
    events = [plane.event("train", 0, 5_000, [plane.stat("step_num", 7), *root]),
              plane.event("op", 1_000, 1_000, [plane.stat("group_id", 0)]),
              plane.event("train", 6_000, 5_000, [plane.stat("group_id", 8), *root])]
    device = Plane("/device:TPU:0", 1)
    device.line(1, [device.event("41", 0, 4_000),
                    device.event("warm", 5_000, 1_000, [device.stat("group_id", 42)])],
                "Steps")
    tables = dump(build, write(tmp_path, space(host(*events, plane=plane), device)))
    assert sorted((step["index"], step["begin_ns"], step["duration_ns"])
                  for step in tables["steps"]) == [
        (7, 0, 5), (8, 6, 5), (41, 0, 4), (42, 5, 1)]
    op = next(row for row in tables["slices"] if row["name"] == "op")
    assert tables["steps"][op["step"]]["index"] == 7


def device_steps():
    """Two devices with steps, the first with more; a host thread without."""
    plane = Plane("/host:CPU")
    events = [plane.event("MatMul", 1_000 * n, 500) for n in range(6)]
    devices = []
    for number, count in ((0, 3), (1, 2)):
        device = Plane(f"/device:GPU:{number}", 1 + number)
        device.line(1, [device.event(str(n), 2_000_000 * n, 1_500_000) for n in range(count)],
                    "Steps")
        device.line(2, [device.event("gemm", 2_000_000 * n + 100, 900_000)
                        for n in range(count)], "Stream #1")
        device.line(3, [device.event("MatMul", 2_000_000 * n, 1_000_000)
                        for n in range(count)], "TensorFlow Ops")
        devices.append(device)
    return space(host(*events, plane=plane), *devices)


def test_steps_of_devices_alone_are_those_of_the_host_thread(varve, build, tmp_path):
    path = write(tmp_path, device_steps())
    tables = dump(build, path)
    assert [(step["index"], step["begin_ns"], step["duration_ns"])
            for step in tables["steps"]] == [(0, 0, 1500), (1, 2000, 1500), (2, 4000, 1500)]
    assert {tables["tracks"][step["track"]]["kind"] for step in tables["steps"]} == {0}
    told = subprocess.run([varve, "steps", "--no-cache", path], capture_output=True, text=True,
                          check=True).stdout
    assert "3 steps" in told and "no steps" not in told


def test_an_export_writes_annotations_of_devices_as_such(varve, tmp_path):
    path = write(tmp_path, device_steps())
    subprocess.run([varve, "export", "--no-cache", "-q", "-o", tmp_path / "b.json", path],
                   check=True)
    events = json.loads((tmp_path / "b.json").read_text())["traceEvents"]
    found = collections.Counter((event["cat"], event["name"]) for event in events
                                if event["ph"] == "X")
    assert found["gpu_user_annotation", "MatMul"] == 5
    assert found["cpu_op", "MatMul"] == 6


def test_memory(build, tmp_path):
    plane = Plane("/host:CPU")
    common = [plane.stat("bytes_allocated", 700), plane.stat("bytes_reserved", 9),
              plane.stat("allocator_name", "GPU_3_bfc"), plane.stat("fragmentation", 0.25),
              plane.stat("peak_bytes_in_use", 800)]
    events = [plane.event("MemoryAllocation", 0, None,
                          [plane.stat("addr", 4096), plane.stat("allocation_bytes", 512),
                                                       *common]),
              plane.event("MemoryDeallocation", 3_000, None,
                          [plane.stat("addr", 4096), plane.stat("index_on_host", 2),
                                                              plane.stat("fragmentation", 2.5)])]
    tables = dump(build, write(tmp_path, space(host(*events, plane=plane))))
    rows = [{key: row[key] for key in ("time_ns", "address", "bytes", "allocated_bytes",
                                       "reserved_bytes",
                                    "fragmentation", "device")}
            for row in tables["memory"]]
    assert rows == [
        {"time_ns": 0, "address": 4096, "bytes": 512, "allocated_bytes": 700, "reserved_bytes": 9,
         "fragmentation": 0.25, "device": 1 << 16 | 3},
        {"time_ns": 3, "address": 4096, "bytes": 0, "allocated_bytes": -1, "reserved_bytes": -1,
         "fragmentation": -1, "device": 3 << 16 | 2}]  # which no share is
    assert [mark["args"] for mark in tables["marks"]] == [
        [["allocator_name", "GPU_3_bfc"], ["peak_bytes_in_use", 800]],
        [["index_on_host", 2], ["fragmentation", 2.5]]]
    assert not tables["slices"]


def test_how_what_is_free_lies(varve, tmp_path):
    """At the peak of the run, and at that of each step: the last event up to it that says so."""
    plane = Plane("/host:CPU")

    def change(at_ps, address, size, share):
        stats = [plane.stat("addr", address), plane.stat("allocation_bytes", size),
                 plane.stat("allocator_name", "GPU_0_bfc")]
        return plane.event("MemoryAllocation" if size > 0 else "MemoryDeallocation", at_ps, None,
                           stats + ([] if share is None else [plane.stat("fragmentation", share)]))
    events = [plane.event("train", 4_000 * n, 4_000, [plane.stat("step_num", n),
                                                      plane.stat("_r", 1)]) for n in range(2)]
    events += [change(1_000, 64, 100, 0.5), change(2_000, 256, 100, None),
               change(3_000, 64, -100, 0.125),
              change(5_000, 64, 200, 0.75), change(6_000, 64, -200, 0.25)]
    path = write(tmp_path, space(host(*events, plane=plane)))
    read = table_reader.tables(varve, "memory", "--no-cache", "--warm-up", path)
    row = read["memory"][0]
    assert (row["peak_bytes"], row["free_fragmentation"]) == (300, 0.75)
    assert (row["reserved_peak_bytes"], row["fragmentation"], row["slack_bytes"]) == (None, None,
                                                                                      None)
    assert [(row["peak_bytes"], row["free_fragmentation"])
            for row in read["memory_steps"]] == [(200, 0.5), (300, 0.75)]
    shown = subprocess.run([varve, "memory", "--no-cache", "--table", "memory", path],
                           capture_output=True, text=True,
                           check=True).stdout
    assert "in pieces" in shown and "reserved" not in shown


def test_counters(build, tmp_path):
    plane = Plane("/host:CPU")
    plane.line((1 << 63) - 1, [plane.event("power", 2_000, None,
                                           [plane.stat("watts", 1.5), plane.stat("mw", 3)])],
               "_counters_")
    tables = dump(build, write(tmp_path, space(plane)))
    assert [(row["name"], row["series"], row["time_ns"], row["value"])
            for row in tables["counters"]] == [
        ("power", "watts", 2, 1.5), ("power", "mw", 2, 3)]


def test_flows(build, tmp_path):
    plane = Plane("/host:CPU")
    produce = [plane.stat("_pt", 12), plane.stat("_p", -5)]
    consume = [plane.stat("_ct", 12), plane.stat("_c", -5)]
    flow = lambda number, direction: [plane.stat("flow", 9 << 58 | number << 2 | direction,
                                                 3)]  # noqa: E731
    events = [plane.event("produce", 0, 1_000, produce),
              plane.event("consume", 2_000, 1_000, consume),
              plane.event("again", 3_000, 1_000, consume),
              plane.event("alone", 4_000, 1_000, flow(77, 2)),
              plane.event("out", 5_000, 1_000, flow(78, 2)),
              plane.event("through", 6_000, 1_000, flow(78, 3)),
              plane.event("in", 7_000, 1_000, flow(78, 1)),
              plane.event("other type", 8_000, 1_000, [plane.stat("_ct", 11),
                                                       plane.stat("_c", -5)]),
              plane.event("large", 9_000, 1_000, [plane.stat("_pt", 2),
                                                plane.stat("_p", 2**63 + 7, 3)]),
              plane.event("to large", 10_000, 1_000, [plane.stat("_ct", 2),
                                                   plane.stat("_c", 2**63 + 7, 3)])]
    tables = dump(build, write(tmp_path, space(host(*events, plane=plane))))
    assert sorted((row["category"], row["name"], row["from_ns"], row["to_ns"])
                  for row in tables["flows"]) == [
        ("flow", "gpu_launch", 5, 6), ("flow", "gpu_launch", 6, 7),
        ("producer_consumer", "tf_executor", 9, 10),
        ("producer_consumer", "tpu_launch", 0, 2), ("producer_consumer", "tpu_launch", 0, 3)]
    assert health(tables) == {"unmatched_flows": 2}


def test_device_work(build, tmp_path):
    device = Plane("/device:GPU:2", 2)
    device.stats = [device.stat("device_vendor", "Nvidia")]
    copy = [device.stat("correlation_id", 5, 3),
            device.stat("memcpy_details", "kind:H2D\nnum_bytes:640", 7),
            device.stat("context_id", 1)]
    device.metadata("ncclDevKernel_AllReduce_Sum_f32", stats=[device.stat("flops", 9)])
    device.line(14, [device.event("MemcpyH2D", 0, 1_000, copy),
                     device.event("Memset", 1_000, 1_000),
                     device.event("ncclDevKernel_AllReduce_Sum_f32", 2_000, 1_000,
                                  [device.stat("correlation_id", 6)])],
                "Stream #14(MemcpyH2D)")
    plane = Plane("/host:CPU")
    call = plane.event("cudaMemcpyAsync", 0, 500, [plane.stat("correlation_id", 5)])
    tables = dump(build, write(tmp_path, space(device, host(call, plane=plane))))
    rows = [tuple(row[key] for key in ("kind", "correlation", "context", "stream", "bytes",
                                       "device"))
            for row in tables["activities"]]
    assert rows == [(2, 5, 1, 14, 640, 1 << 16 | 2), (3, 0, -1, 14, 0, 1 << 16 | 2),
                    (1, 6, -1, 14, 0, 1 << 16 | 2), (0, 5, -1, -1, 0, None)]
    layers = {row["name"]: row["layer"] for row in tables["slices"]}
    assert layers == {"MemcpyH2D": 0x20, "Memset": 0x20, "ncclDevKernel_AllReduce_Sum_f32": 0x40,
                      "cudaMemcpyAsync": 8}
    assert tables["collectives"][0]["name"] == "all_reduce" and tables["ops"][0]["flop"] == 9


def test_lines_of_one_id_are_one_line(build, tmp_path):
    first, second = Plane("/host:CPU"), Plane("/host:CUPTI")
    first.line(7, [first.event("outer", 0, 9_000)], "main")
    second.line(7, [second.event("inner", 1_000, 1_000)])
    first.line(7, [first.event("later", 10_000, 1_000)], "main")
    tables = dump(build, write(tmp_path, space(first, second)))
    assert [track["tid"] for track in tables["tracks"]] == [7]
    assert [(row["name"], row["depth"]) for row in tables["slices"]] == [("outer", 0), ("inner", 1),
                                                                         ("later", 0)]


def test_names_of_metadata(build, tmp_path):
    plane = Plane("/host:CPU")
    plane.metadata("model/dense/MatMul:MatMul", display="MatMul", children=[3, 4])
    data = space(host(plane.event("model/dense/MatMul:MatMul", 0, 1_000),
                      message((1, 99), (2, 5_000)), plane=plane),
                 errors=["no GPU"], warnings=["slow"], hosts=["box"])
    tables = dump(build, write(tmp_path, data))
    assert [(row["name"], row["layer"], row["args"]) for row in tables["slices"]] == [
        ("MatMul", 4, [["long_name", "model/dense/MatMul:MatMul"], ["child_id", "[3,4]"]]),
        ("event 99", 2, [])]
    assert {fact["key"]: fact["value"] for fact in tables["facts"]} == {
        "error": "no GPU", "warning": "slow", "hostname": "box"}
    assert tables["processes"][0]["host"] == tables["run"][0]["host"] == "box"


def test_fields_may_stand_in_any_order(build, tmp_path):
    plane = Plane("/host:CPU")
    stat = plane.stat("text", "here")
    event = plane.event_id("op")
    backwards = message((4, message((5, "here"), (1, plane.stat_id("text")))), (3, 1_000),
                        (2, 5_000), (1, event))
    plane.lines = [message((4, backwards), (4, backwards), (3, 50), (2, "main"), (1, 7))]
    straight = Plane("/host:CPU")
    straight.stat("text", "here")
    straight.line(7, [straight.event("op", 5_000, 1_000, [stat])] * 2, "main", timestamp_ns=50)
    one = dump(build, write(tmp_path, space(plane), "backwards.pb"))
    two = dump(build, write(tmp_path, space(straight), "straight.pb"))
    assert one["slices"] == two["slices"] and len(one["slices"]) == 2
    assert one["health"] == two["health"]


def test_a_cut_file_keeps_what_stands_before_the_cut(build, tmp_path):
    plane = host(*[(lambda number: lambda plane: plane.event(f"op {number}", number * 1000,
                                                             500))(number)
                   for number in range(5)])
    whole = space(plane, environment(START, START))
    events = []
    for length in range(20, len(whole)):
        tables = dump(build, write(tmp_path, whole[:length])) if length % 7 == 0 else None
        if tables is not None:
            events.append(len(tables["slices"]))
            at_the_end_of_a_field = length == len(whole) - len(
                message((1, environment(START, START).bytes())))
            assert health(tables).get("truncated_files", 0) == (0 if at_the_end_of_a_field else 1)
    assert events == sorted(events) and events[0] == 0 and events[-1] == 5


def metadata_first(plane):
    fields = list(walk(plane.bytes()))
    return b"".join(message((number, value))
                    for number, _, value in sorted(fields, key=lambda one: -(one[0] in (4, 5))))


@pytest.mark.parametrize("order, names", [(Plane.bytes, "event {}"), (metadata_first, "op {}")])
def test_names_outlive_a_cut_where_they_stand_before_it(build, tmp_path, order, names):
    plane = Plane("/host:CPU")
    plane.line(7, [plane.event(f"op {i}", i * 1_000_000, 500) for i in range(50)], "main")
    fields = order(plane)
    whole = message((1, fields))
    line = whole.index(message((2, "main")))
    tables = dump(build, write(tmp_path, whole[:line + 300]))
    assert 20 < len(tables["slices"]) < 50 and health(tables)["truncated_files"] == 1
    assert [row["name"] for row in tables["slices"]] == [names.format(i + (names[0] == "e"))
                                                        for i in range(len(tables["slices"]))]


def test_modules_are_kept_whole(build, tmp_path):
    plane = Plane("/host:metadata")
    module = bytes(range(256)) * 600
    plane.metadata("jit_f", stats=[plane.stat("Hlo Proto", module, 6)])
    tables = dump(build, write(tmp_path, space(plane)))
    facts = {fact["key"]: fact["value"] for fact in tables["facts"]}
    assert base64.b64decode(facts["jit_f: Hlo Proto"]) == module and not health(tables)


def test_a_zero_byte_at_the_end_is_passed_over(build, tmp_path):
    data = space(host(lambda plane: plane.event("op", 0, 1_000)))
    assert content(build, write(tmp_path, data + b"\0")) == content(build, write(tmp_path, data))


@pytest.mark.parametrize("name, data, words", [
    ("text", message((1, message((2, "/host:CPU"), (3, message((2, b"\xff")))))),
     "a line's name is not UTF-8"),
    ("length", message((1, message((2, "/host:CPU")) + b"\x1a\x7f")),
     "longer than the message around it"),
    ("group", message((1, message((2, "/host:CPU"), (3, message((1, 1), (4, b"\x0b")))))),
     "wire type"),
    ("number", message((1, message((2, "/host:CPU"), (3, message((3, 1 << 62)))))),
     "begins at 4611686018427387904 ns"),
])
def test_damage_is_refused_with_its_place(build, tmp_path, name, data, words):
    said = refusal(build, write(tmp_path, data, name))
    assert words in said and " at byte " in said


@pytest.mark.parametrize("text, words", [
    ('{"planes": [{"id": "x"}]}', "id is wrong"), ('{"planes": [5]}', "no object"),
    ('{"planes": [{}]} 5', "not JSON"),
    ('{"planes": [{"name": "/host:CPU", "stats": [{"bytes_value": "a"}]}]}',
     "bytes_value is wrong"),
])
def test_wrong_json_is_refused_with_its_place(build, tmp_path, text, words):
    said = refusal(build, write(tmp_path, text.encode(), "trace.json"))
    assert words in said and " at byte " in said


def test_json_as_people_write_it(build, tmp_path):
    """Numbers as numbers, in either spelling, unknown names, null; cut short, what stands before
    the cut."""
    text = """ { "hostnames": ["box"], "planes": [{"name": "/host:CPU", "lines": [{"id": 7, "timestampNs": 1e3, "events": [
        {"metadata_id": 1, "offsetPs": 5000, "durationPs": "1000", "isNew": {"a": [1]}, "stats": null},
        {"metadataId": 1, "offset_ps": 7.0e3}]}], "eventMetadata": {"1": {"name": "op"}}}]}"""
    tables = dump(build, write(tmp_path, text.encode(), "trace.json"))
    assert [(row["name"], row["begin_ns"], row["duration_ns"]) for row in tables["slices"]] == [
        ("op", 1005, 1), ("op", 1007, 0)]
    assert health(tables) == {"ignored": 1, "zero_length": 1}
    cut = dump(build, write(tmp_path, text[:text.index('{"metadataId"') + 5].encode(), "cut.json"))
    assert [row["begin_ns"] for row in cut["slices"]] == [1005]
    assert health(cut) == {"ignored": 1, "truncated_files": 1}


def test_a_place_in_what_json_was_converted_to_is_none_in_the_file(build, tmp_path):
    line = '{"id": "1", "timestamp_ns": "4611686018427387904"}'
    text = '{"planes": [{"name": "/host:CPU", "lines": [' + line + "]}]}"
    said = refusal(build, write(tmp_path, text.encode(), "trace.json"))
    assert re.search(r" ns at byte \d+ of the message that the JSON stands for$",
                     said.splitlines()[0])

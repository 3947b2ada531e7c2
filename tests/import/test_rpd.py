# SPDX-License-Identifier: Apache-2.0
"""rocmProfileData's databases (.rpd), made by hand. Four real ones are in doc/strangers.md."""
import collections
import gzip
import pathlib
import sqlite3
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402
from model_tables import dump, health, refusal  # noqa: E402
from rpd_writer import OTHER_PID, PID, START_NS, TABLES, TID, schema_3, write  # noqa: E402

CALL, KERNEL, COPY, SET, SYNC, OTHER = 0, 1, 2, 3, 4, 6
LAYERS = {"API": 1, "HOST": 2, "OP": 4, "RUNTIME": 8, "DEVICE": 32}
CUDA = 1 << 16


def arguments(row):
    return {key: value for key, value in row["args"]}


@pytest.fixture(name="read")
def read_database(build, tmp_path):
    def reader(tables=None, name="small.rpd"):
        return dump(build, write(tmp_path / name, tables))
    return reader


def work_of(tables):
    """Each piece of device work: (row of slices, row of activities)."""
    pairs = [(row, tables["activities"][row["activity"]]) for row in tables["slices"]
             if row["activity"] is not None]
    return [(row, activity) for row, activity in pairs if activity["kind"] != CALL]


def process_of(tables, row):
    return tables["processes"][tables["tracks"][row["track"]]["process"]]["pid"]


# ---- by hand ----

def test_device_work_by_hand(read):
    tables = read()
    found = sorted((row["begin_ns"] - START_NS, row["duration_ns"], row["name"],
                    activity["kind"], activity["device"], activity["stream"],
                    process_of(tables, row), activity["bytes"])
                   for row, activity in work_of(tables))
    assert found == [
        (110, 20, "CopyHostToDevice", COPY, CUDA | 2, 0, PID, 4096),
        (170, 20, "relu", KERNEL, CUDA | 3, 0, OTHER_PID, 0),
        (195, 4, "later", OTHER, CUDA | 3, 0, OTHER_PID, 0),
        (205, 50, "gemm(float*)", KERNEL, CUDA | 2, 0, PID, 0),
        (260, 20, "gemm(float*)", KERNEL, CUDA | 2, 0, PID, 0),
        (310, 20, "relu", KERNEL, CUDA | 2, 0, PID, 0),
        (330, 15, "gemm(float*)", KERNEL, CUDA | 2, 0, PID, 0),
        (345, 5, "CopyHostToDevice", COPY, CUDA | 2, 0, PID, 0),
        (410, 4, "FillBuffer", SET, CUDA | 2, 0, PID, 0),
        (420, 1, "Barrier", SYNC, CUDA | 2, 0, PID, 0),
        (430, 10, "relu", KERNEL, CUDA | 2, 1, PID, 0)]
    names = {track["name"] for track in tables["tracks"] if track["device"] is not None}
    assert names >= {"GPU 2 queue 0", "GPU 2 queue 1", "GPU 3 queue 0"}
    assert tables["inputs"][0]["format"] == "rpd"


def test_each_piece_of_work_hangs_on_its_call(read):
    tables = read()
    launches = collections.Counter(
        (tables["slices"][activity["launch"]]["name"], process_of(tables, row))
        for row, activity in work_of(tables) if activity["launch"] is not None)
    assert launches == {("hipMemcpyAsync", PID): 1, ("hipLaunchKernel", PID): 1,
                        ("hipExtModuleLaunchKernel", PID): 1, ("hipGraphLaunch", PID): 3,
                        ("hipMemsetAsync", PID): 1, ("hipLaunchKernel", OTHER_PID): 1}
    assert health(tables) == {"unlinked": 1, "ignored": 1 + 2}


def test_the_shape_of_a_launch(read):
    """Of HIP's two ways to count a grid, only the call's name says which it is. A graph's call
    describes none of the kernels that it starts."""
    tables = read()
    shapes = {row["begin_ns"] - START_NS: tables["launch_shapes"][activity["shape"]]
              for row, activity in work_of(tables) if activity["shape"] is not None}
    assert {at: [shape[f"{of}_{axis}"] for of in ("grid", "block") for axis in "xyz"]
            + [shape["shared_bytes"]] for at, shape in shapes.items()} == {
        205: [7, 3, 1, 256, 1, 1, 1024], 260: [4, 1, 1, 256, 1, 1, 0]}
    kernel = next(row for row, _ in work_of(tables) if row["begin_ns"] == START_NS + 205)
    assert arguments(kernel) == {
        "stream": "0x0", "gridX": 7, "gridY": 3, "gridZ": 1, "workgroupX": 256, "workgroupY": 1,
        "workgroupZ": 1, "groupSegmentSize": 1024, "privateSegmentSize": 0,
        "kernelName": "gemm(float*)", "opType": "KernelExecution"}
    copy = next(row for row in tables["slices"] if row["name"] == "hipMemcpyAsync")
    assert arguments(copy) == {"stream": "0x10", "size": 4096, "kind": 1, "dst": "0xa0",
                               "src": "0xb0", "sync": 0, "args": "size=0x774"}


def test_grids_of_rocprofiler_sdk_are_in_work_items(read):
    tables = dict(TABLES)
    columns, rows = tables["rocpd_string"]
    tables["rocpd_string"] = columns, [*rows, (900, "RocprofDataSource::buffer_callback")]
    model = read(tables)
    grids = {row["begin_ns"] - START_NS: model["launch_shapes"][activity["shape"]]["grid_x"]
             for row, activity in work_of(model) if activity["shape"] is not None}
    assert grids == {205: 1, 260: 4}


def test_the_host_by_hand(read):
    tables = read()
    rows = {(row["name"], row["category"]): row for row in tables["slices"]
            if row["layer"] != LAYERS["DEVICE"]}
    assert {key: row["layer"] for key, row in rows.items()} == {
        ("hipMemcpyAsync", "cuda_runtime"): LAYERS["RUNTIME"],
        ("hipLaunchKernel", "cuda_runtime"): LAYERS["RUNTIME"],
        ("hipExtModuleLaunchKernel", "cuda_runtime"): LAYERS["RUNTIME"],
        ("hipGraphLaunch", "cuda_runtime"): LAYERS["RUNTIME"],
        ("hipMemsetAsync", "cuda_runtime"): LAYERS["RUNTIME"],
        ("forward", "roctx"): LAYERS["API"], ("aten::mm", "roctx"): LAYERS["OP"],
        ("aten::add", "roctx"): LAYERS["OP"], ("OpTable::writeRows", "overhead"): LAYERS["HOST"]}
    ops = {name: tables["ops"][rows[name, "roctx"]["op"]] for name in ("aten::mm", "aten::add")}
    assert {name: (op["sequence"], op["shapes"]) for name, op in ops.items()} == {
        "aten::mm": (5, "[2,3], [3,4]"), "aten::add": (-1, "[8]")}
    assert arguments(rows["aten::add", "roctx"]) == {"op_id": 31}
    mark, = tables["marks"]
    assert (mark["name"], mark["time_ns"]) == ("a mark", START_NS + 270)
    threads = {(process_of(tables, row), tables["tracks"][row["track"]]["tid"])
               for row in tables["slices"] if row["layer"] != LAYERS["DEVICE"]}
    assert threads == {(PID, TID), (OTHER_PID, OTHER_PID)}


def test_sensors_are_counters(read):
    tables = read()
    assert sorted((row["name"], row["series"], row["time_ns"] - START_NS, row["value"])
                  for row in tables["counters"]) == [
        ("sclk", "gpu 0", 50, 800), ("sclk", "gpu 0", 150, 1700), ("sclk", "gpu 0", 450, 1700),
        ("sclk", "gpu 1", 60, 131.5), ("sclk", "gpu 1", 440, 131.5)]
    facts = {row["key"]: row["value"] for row in tables["facts"]}
    assert facts == {"schema_version": "2", "session_count": "2",
                     "not read: rows of ext_callstack": 2}


def picture(tables, without=()):
    return sorted((row["name"], row["category"], row["begin_ns"], row["duration_ns"],
                   sorted(map(str, (pair for pair in row["args"] if pair[0] not in without))))
                  for row in tables["slices"])


def test_schema_3_reads_the_same(read):
    old, new = read(), read(schema_3(), "new.rpd")
    assert picture(old) == picture(new, without=["domain"])
    assert len(work_of(new)) == 11
    call = next(row for row in new["slices"] if row["name"] == "hipMemsetAsync")
    assert arguments(call) == {"domain": "hip"}


def test_order_changes_nothing(read):
    turned = {name: (columns, rows[::-1]) for name, (columns, rows) in reversed(TABLES.items())}
    turned["rocpd_api_ops"] = TABLES["rocpd_api_ops"]
    assert picture(read()) == picture(read(turned, "turned.rpd"))


def test_missing_tables_and_columns_are_normal(read):
    for name in TABLES:
        tables = read({other: TABLES[other] for other in TABLES if other != name},
                      f"without_{name}.rpd")
        assert len(work_of(tables)) == (0 if name == "rocpd_op" else 11), name
        assert health(tables).get("truncated_files", 0) == 0, name
    bare = read({"rocpd_op": ("start INTEGER, end INTEGER", [(5, 9)])}, "bare.rpd")
    row, = bare["slices"]
    assert (row["begin_ns"], row["duration_ns"], row["name"]) == (5, 4, "")
    assert [process["pid"] for process in bare["processes"]] == [0]
    empty = read({"rocpd_api": TABLES["rocpd_api"][:1] + ([],)}, "empty.rpd")
    assert not empty["slices"] and not empty["processes"]


def test_cupti_says_streams(read):
    """rpd_tracer on NVIDIA's devices: a queue is a context, and a sequence a stream."""
    tables = dict(TABLES)
    strings = [*TABLES["rocpd_string"][1], (200, "Memcpy"), (201, "ConcurrentKernel")]
    tables["rocpd_string"] = TABLES["rocpd_string"][0], strings
    columns = TABLES["rocpd_op"][0]
    tables["rocpd_op"] = columns, [
        (1, 0, 1, 7, "", 110, 130, 1, 200), (2, 0, 1, 7, "", 140, 150, 12, 201)]
    model = read(tables)
    assert sorted((row["name"], activity["stream"], activity["context"], activity["bytes"])
                  for row, activity in work_of(model)) == [("Memcpy HtoD", 7, 1, 4096),
                                                           ("gemm(float*)", 7, 1, 0)]
    assert {track["name"] for track in model["tracks"] if track["device"] is not None} == {
        "GPU 0 stream 7"}


def test_of_two_links_of_work_the_first_counts(read):
    tables = dict(TABLES)
    columns, rows = tables["rocpd_api_ops"]
    tables["rocpd_api_ops"] = columns, [*rows, (50, 3, 2)]
    model = read(tables)
    launch = {row["begin_ns"] - START_NS: model["slices"][activity["launch"]]["begin_ns"]
              for row, activity in work_of(model) if activity["launch"] is not None}
    assert launch[205] == START_NS + 200
    assert health(model)["ignored"] == 4


# ---- the file ----

def test_a_compressed_database_reads_the_same(build, tmp_path, read):
    plain = read()
    path = tmp_path / "small.rpd.gz"
    path.write_bytes(gzip.compress((tmp_path / "small.rpd").read_bytes()))
    packed = dump(build, path)
    assert packed["slices"] == plain["slices"] and packed["facts"] == plain["facts"]


def test_the_tables_may_stand_anywhere(build, tmp_path):
    """The format is not told by the first bytes alone: here a table of 200 kB comes first."""
    big = {"aaa": ("text TEXT", [("x" * 1000,)] * 200)}
    tables = dump(build, write(tmp_path / "late.rpd", {**big, **TABLES}))
    assert len(work_of(tables)) == 11 and tables["inputs"][0]["format"] == "rpd"


def test_views_are_no_tables(build, tmp_path, read):
    read({name: TABLES[name] for name in ("rocpd_string", "rocpd_api")})
    path = tmp_path / "small.rpd"
    with sqlite3.connect(path) as database:
        database.execute("CREATE VIEW rocpd_op AS WITH RECURSIVE n(id, start, end) AS (SELECT 1, "
                         "2, 3 UNION ALL SELECT id + 1, start, end FROM n) SELECT * FROM n")
    database.close()
    tables = dump(build, path)
    assert not work_of(tables) and "truncated_files" not in health(tables)


def test_a_rocpd_database_of_rocprofv3_is_refused_with_a_way(build, tmp_path):
    suffix = "_0199aaaa_bbbb"
    path = write(tmp_path / "a.db", {
        f"rocpd_string{suffix}": ("id INTEGER, string TEXT", [(1, "a")]),
        f"rocpd_info_agent{suffix}": ("id INTEGER", []),
        f"rocpd_kernel_dispatch{suffix}": ("id INTEGER, start INTEGER", [(1, 2)])})
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE VIEW rocpd_string AS SELECT * FROM rocpd_string{suffix}")
    database.close()
    says = refusal(build, path)
    assert "a database of rocprofv3" in says and "rocpd convert --output-format pftrace" in says
    other = write(tmp_path / "b.db", {"songs": ("title TEXT", [("a",)])})
    assert "a SQLite database without tables of" in refusal(build, other)


def test_cut_at_every_256th_byte_it_is_a_part_or_an_error(varve, tmp_path):
    whole = write(tmp_path / "whole.rpd", page_bytes=512).read_bytes()
    path = tmp_path / "cut.rpd"
    read = 0
    for end in range(100, len(whole), 256):
        path.write_bytes(whole[:end])
        done = subprocess.run([varve, "info", "--json", "--no-cache", path], capture_output=True,
                              text=True, check=False, timeout=60)
        assert done.returncode == 3 and done.stderr.startswith("varve: ") or \
            done.returncode == 0 and "truncated_files" in done.stdout, (end, done.stderr)
        read += done.returncode == 0
    assert read > 5


def test_numbers_beyond_all_bounds_do_no_harm(varve, tmp_path, read):
    huge, least = 2**63 - 1, -2**63
    tables = dict(TABLES)
    tables["rocpd_api"] = "id, pid, tid, start, end, apiName_id, args_id", [
        (huge, huge, least, huge, least, 3, 1), (least, least, huge, least, huge, huge, least),
        (None, None, None, None, None, None, None), ("x", "y", "z", "a", "b", "c", "d"),
        (2, 1, 1, 5, 5000, 3, 1), (2, 1, 1, 5, 6, 3, 1)]
    tables["rocpd_op"] = "id, gpuId, queueId, sequenceId, start, end, description_id, opType_id", [
        (huge, huge, least, huge, huge, least, huge, huge), (None,) * 8,
        (least, least, huge, least, least, huge, least, 8), (2, 70000, 1, 1, 5, 9000, 12, 8)]
    tables["rocpd_api_ops"] = "id, api_id, op_id", [(1, huge, least), (2, least, huge),
                                                    (3, None, 4), (4, 2, 2)]
    tables["rocpd_kernelapi"] = KERNEL_COLUMNS, [(2, "0x0", huge, least, 0, huge, 0, -1)] * 20
    tables["rocpd_copyapi"] = "api_ptr_id, size, width, height, kind", [
        (huge, least, huge, huge, 77), (least, None, 3, 4, least)]
    tables["rocpd_monitor"] = "deviceType, deviceId, monitorType, start, end, value", [
        ("gpu" * 100, huge, "a", huge, least, "1e999"), (None, None, None, None, None, None),
        ("gpu", 0, "a", 1, 2, "12 W")]
    done = subprocess.run([varve, "info", "--no-cache", write(tmp_path / "far.rpd", tables)],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3 and "more than can be counted in nanoseconds" in done.stderr
    for name in ("rocpd_api", "rocpd_op"):
        columns, rows = tables[name]
        at = [columns.split(", ").index(word) for word in ("start", "end")]
        tables[name] = columns, [tuple(5 if i in at and cell in (huge, least) else cell
                                       for i, cell in enumerate(row)) for row in rows]
    tables["rocpd_monitor"] = tables["rocpd_monitor"][0], tables["rocpd_monitor"][1][1:]
    model = read(tables)
    assert len(model["slices"]) == 10 and not model["counters"]
    assert health(model)["unplaced"] == 2


KERNEL_COLUMNS = "api_ptr_id, stream, gridX, gridY, gridZ, workgroupX, workgroupY, kernelName_id"


# ---- the verbs ----

def test_the_verbs_give_the_figures(varve, tmp_path):
    path = write(tmp_path / "small.rpd")

    def of(name, *more):
        return table_reader.tables(varve, "report", "--no-cache", "--table", name, *more,
                                   path)[name]
    devices = {row["device"]: row for row in of("devices") if row["row"] == "device"}
    assert {name: (row["events"], row["memcpy_ns"], row["memset_ns"])
            for name, row in devices.items()}["cuda:2"][1:] == (25, 4)
    # one piece of an unknown type counts, too
    assert sum(row["computation_ns"] for row in devices.values()) == 50 + 20 + 20 + 15 + 10 + 24
    launches = {row["name"]: (row["works"], row["work_ns"]) for row in of("launches")
                if row["row"] == "call"}
    assert launches["hipGraphLaunch"] == (3, 40) and launches["hipMemcpyAsync"] == (1, 20)
    assert [(row["direction"], row["copies"], row["bytes"]) for row in of("copies")
            if row["row"] == "copy"] == [("HtoD", 2, 4096), ("set", 1, None)]
    kernels = {row["name"]: (row["calls"], row["total_ns"], row["grid"], row["block"],
                             row["shared_bytes"], row["launch_shapes"])
               for row in of("kernels", "--top", "0") if row["row"] == "group"}
    assert kernels["gemm(float*)"] == (3, 85, "7\u00d73", "256", 1024, 2)
    assert kernels["relu"] == (3, 50, None, None, None, None)


def test_an_exported_database_comes_back(varve, build, tmp_path):
    path, out = write(tmp_path / "small.rpd"), tmp_path / "out.json"
    subprocess.run([varve, "export", "--to", "chrome", "-o", out, path], check=True,
                   capture_output=True)
    first, again = dump(build, path), dump(build, out)
    count = lambda tables: collections.Counter(
        (row["name"], row["duration_ns"], activity["kind"], activity["bytes"])
        for row, activity in work_of(tables) if row["name"] != "later") # of no known kind
    assert count(again) == count(first)

# SPDX-License-Identifier: Apache-2.0
"""Exports of Nsight Systems: the real one against Python's sqlite3, and small ones by hand."""
import collections
import gzip
import pathlib
import sqlite3
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402
from model_tables import dump, health  # noqa: E402
from nsys_writer import EPOCH_NS, GLOBAL_PID, GLOBAL_TID, PID, TABLES, TID, write  # noqa: E402

CALL, KERNEL, COPY, SET, SYNC = 0, 1, 2, 3, 4
THREAD, ASYNC, DEVICE = 0, 1, 2
LAYERS = {"API": 1, "HOST": 2, "RUNTIME": 8, "DEVICE": 32, "COMM": 64}


def arguments(row):
    return {key: value for key, value in row["args"]}


# ---- the real one ----

@pytest.fixture(name="real", scope="module")
def real_export(build, traces):
    path = traces / "nsys" / "saxpy_mpi_cuda.sqlite"
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    yield database, dump(build, path)
    database.close()


def test_counts_of_the_real_trace(real):
    database, tables = real
    count = lambda table: database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
    found = collections.Counter(row["category"] for row in tables["slices"])
    ranges = database.execute(
        "SELECT COUNT(*) FROM NVTX_EVENTS WHERE eventType IN (59, 60)").fetchone()[0]
    assert found == {"kernel": 5, "gpu_memcpy": count("CUPTI_ACTIVITY_KIND_MEMCPY"),
                     "cuda_runtime": count("CUPTI_ACTIVITY_KIND_RUNTIME"), "nvtx": ranges,
                     "overhead": count("PROFILER_OVERHEAD")}
    assert found["kernel"] == count("CUPTI_ACTIVITY_KIND_KERNEL") == 5
    assert sum(row["events"] for row in tables["processes"]) == sum(found.values()) == 153
    not_read = {row["key"]: row["value"] for row in tables["facts"]
                if row["key"].startswith("not read")}
    assert not_read == {f"not read: rows of {table}": count(table) for table in (
        "SCHED_EVENTS", "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS", "CUDA_CALLCHAINS",
        "ProcessStreams", "UnwindMethodType")}
    assert health(tables)["ignored"] == sum(not_read.values())


def test_every_call_and_every_piece_of_device_work(real):
    database, tables = real
    epoch, = database.execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").fetchone()
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    found = collections.Counter()
    for row in tables["slices"]:
        if row["activity"] is not None:
            activity = tables["activities"][row["activity"]]
            found[row["begin_ns"] - epoch, row["duration_ns"], activity["correlation"],
                  activity["kind"], activity["bytes"],
                  arguments(row).get("nameId", row["name"])] += 1
    expected = collections.Counter()
    for start, end, correlation, name in database.execute(
            "SELECT start, end, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME"):
        expected[start, end - start, correlation, CALL, 0, strings[name]] += 1
    for start, end, correlation, name in database.execute(
            "SELECT start, end, correlationId, demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL"):
        expected[start, end - start, correlation, KERNEL, 0, strings[name]] += 1
    kinds = {1: "Memcpy HtoD", 2: "Memcpy DtoH"}
    for start, end, correlation, kind, size in database.execute(
            "SELECT start, end, correlationId, copyKind, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY"):
        expected[start, end - start, correlation, COPY, size, kinds[kind]] += 1
    assert found == expected
    assert {row["name"] for row in tables["slices"] if row["category"] == "cuda_runtime"} >= {
        "cudaLaunchKernel", "cudaMemcpy"}


def test_who_ran_the_real_trace(real):
    _, tables = real
    process, = tables["processes"]
    assert (process["pid"], process["name"], process["rank"], process["host"]) == (
        1230493, "./saxpy-mpi-cuda", 0, "nid001608")
    main = next(row for row in tables["tracks"] if row["tid"] == 1230493)
    assert main["name"] == "MPI Rank 0"
    layers = {row["name"]: row["layer"] for row in tables["slices"] if row["category"] == "nvtx"}
    assert layers["saxpy"] == LAYERS["API"]
    assert {layer for name, layer in layers.items() if name.startswith("MPI_")} == {LAYERS["COMM"]}


def test_nothing_is_written_beside_it(build, traces, tmp_path):
    path = tmp_path / "a?b#c%20.sqlite"
    path.write_bytes((traces / "nsys" / "saxpy_mpi_cuda.sqlite").read_bytes())
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    assert len(dump(build, path)["slices"]) == 153
    tmp_path.chmod(0o755)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


# ---- by hand ----

@pytest.fixture(name="read")
def read_export(build, tmp_path):
    def reader(tables=None, name="small.sqlite"):
        return dump(build, write(tmp_path / name, tables))
    return reader


def test_every_table_by_hand(read):
    tables = read()
    rows = {}
    for row in tables["slices"]:
        rows.setdefault(row["category"], []).append(row)
    assert {category: len(group) for category, group in rows.items()} == {
        "kernel": 2, "gpu_memcpy": 1, "gpu_memset": 1, "cuda_sync": 1, "cuda_runtime": 2,
        "cuda_driver": 1, "nvtx": 3, "mpi": 1, "osrt": 1, "later_events": 1}
    kernel = rows["kernel"][0]
    assert (kernel["name"], kernel["begin_ns"], kernel["duration_ns"], kernel["layer"]) == (
        "saxpy(float *)", EPOCH_NS + 1000, 500, LAYERS["DEVICE"])
    assert arguments(kernel) == {"shortName": "saxpy", "mangledName": "_Z5saxpy", "gridX": 4}
    track = tables["tracks"][kernel["track"]]
    assert (track["kind"], track["tid"], track["device"], track["name"]) == (DEVICE, 7, 1 << 16,
                                                                             "GPU 0 stream 7")
    kinds = {category: tables["activities"][group[0]["activity"]]["kind"]
             for category, group in rows.items()
             if group[0]["activity"] is not None}
    assert kinds == {"kernel": KERNEL, "gpu_memcpy": COPY, "gpu_memset": SET, "cuda_sync": SYNC,
                     "cuda_runtime": CALL, "cuda_driver": CALL}
    assert rows["gpu_memcpy"][0]["name"] == "Memcpy HtoD" and arguments(
        rows["gpu_memcpy"][0])["copyKind"] == 1
    assert arguments(rows["gpu_memset"][0]) == {"value": 0}
    call = rows["cuda_runtime"][0]
    assert call["name"] == "cudaLaunchKernel" and arguments(
        call)["nameId"] == "cudaLaunchKernel_v7000"
    assert rows["cuda_driver"][0]["name"] == "cuLaunch"
    assert (rows["mpi"][0]["name"], rows["mpi"][0]["layer"]) == ("MPI_Allreduce", LAYERS["COMM"])
    assert rows["later_events"][0]["name"] == "forward"


def test_calls_launch_work_of_their_own_process(read):
    """CUPTI counts calls in each process: two processes of a file have the same numbers."""
    other = 5000 << 24 | 1 << 48
    tables = {**TABLES}
    for name, rows in (("CUPTI_ACTIVITY_KIND_KERNEL",
                        [(1100, 1200, 1, 1, 7, 21, other, 1, 2, None, 8)]),
                       ("CUPTI_ACTIVITY_KIND_RUNTIME",
                        [(1000, 1010, 0, other | 5001, 21, 4, 0, None),
                         (1020, 1025, 0, other | 5001, 22, 9, 0, None)])):
        columns, known = tables[name]
        tables[name] = (columns, known + rows)
    read_of = read(tables, "two.sqlite")
    pids = [row["pid"] for row in read_of["processes"]]

    def pid_of(slice_):
        return pids[read_of["tracks"][read_of["slices"][slice_]["track"]]["process"]]
    launched = [(pid_of(row["slice"]), pid_of(row["launch"]), row["correlation"])
                for row in read_of["activities"] if row["launch"] is not None]
    assert sorted(launched) == [(4711, 4711, 21), (4711, 4711, 22), (5000, 5000, 21)]
    assert "duplicate_correlations" not in health(read_of)


def test_nvtx_by_hand(read):
    tables = read()
    nvtx = {row["name"]: row for row in tables["slices"] if row["category"] == "nvtx"}
    assert set(nvtx) == {"forward", "never ended", "crossing"}
    last = EPOCH_NS + 2000
    assert nvtx["never ended"]["begin_ns"] + nvtx["never ended"]["duration_ns"] == last
    assert arguments(nvtx["never ended"]) == {"category": "steps", "color": 255, "int64Value": -5,
                                              "jsonText": '{"a": 1}'}
    crossing = nvtx["crossing"]
    assert tables["tracks"][crossing["track"]]["kind"] == ASYNC
    assert crossing["layer"] == LAYERS["COMM"]
    assert arguments(crossing) == {"domain": "MPI", "rangeId": 77, "endGlobalTid": GLOBAL_TID,
                                   "doubleValue": 0.5}
    mark, = tables["marks"]
    assert (mark["name"], mark["time_ns"]) == ("here", EPOCH_NS + 930)
    thread = tables["tracks"][nvtx["forward"]["track"]]
    assert (thread["kind"], thread["tid"], thread["name"]) == (THREAD, TID, "MPI Rank 3")
    process, = tables["processes"]
    assert (process["pid"], process["name"], process["rank"], process["host"], process["begin_ns"],
            process["end_ns"]) == (PID, "./train", 3, "node1", EPOCH_NS + 300, last)


def test_what_is_odd_is_counted(read):
    tables = read()
    assert health(tables) == {"unfinished": 1, "negative": 1, "zero_length": 1, "unlinked": 2,
                              "ignored": 3 + 1}
    facts = {row["key"]: row["value"] for row in tables["facts"]}
    assert facts["not read: rows of SCHED_EVENTS"] == 3
    assert facts["OS"] == "linux" and facts["TARGET_INFO_GPU[0].smCount"] == 108


def test_missing_tables_and_columns_are_normal(read):
    tables = read({
        "StringIds": TABLES["StringIds"], "CUPTI_ACTIVITY_KIND_KERNEL": (
            "start INTEGER, end INTEGER, deviceId INTEGER, shortName INTEGER", [(5, 9, 2, 2)])
    })
    row, = tables["slices"]
    assert (row["begin_ns"], row["duration_ns"], row["name"]) == (5, 4, "kernel")
    assert tables["tracks"][0]["device"] == 1 << 16 | 2
    empty = read({"StringIds": TABLES["StringIds"]}, "empty.sqlite")
    assert not empty["slices"] and not empty["processes"]


def test_events_without_a_time_stand_where_the_trace_begins(read):
    """As Nsight Systems writes CUDA's events: without a column for the time."""
    tables = read({
        "StringIds": TABLES["StringIds"], "CUPTI_ACTIVITY_KIND_KERNEL": (
            "start INTEGER, end INTEGER, deviceId INTEGER, shortName INTEGER", [(500, 900, 2, 2)]),
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT": ("deviceId INTEGER, eventId INTEGER", [(2, 7), (2, 8)])})
    events = [row for row in tables["slices"] if row["category"] == "cuda_event"]
    assert [(row["begin_ns"], row["duration_ns"]) for row in events] == [(500, 0), (500, 0)]
    assert [(row["begin_ns"], row["end_ns"], row["events"]) for row in tables["processes"]] == [
        (500, 900, 3)]
    assert health(tables)["unplaced"] == 2


def test_order_changes_nothing(read):
    turned = {name: (columns, rows[::-1]) for name, (columns, rows) in reversed(TABLES.items())}
    picture = lambda tables: sorted((row["name"], row["category"], row["begin_ns"],
                                     row["duration_ns"], sorted(map(str, row["args"])))
                                     for row in tables["slices"])
    assert picture(read()) == picture(read(turned, "turned.sqlite"))


def test_a_compressed_export_reads_the_same(build, tmp_path, read):
    plain = read()
    path = tmp_path / "small.sqlite.gz"
    path.write_bytes(gzip.compress((tmp_path / "small.sqlite").read_bytes()))
    packed = dump(build, path)
    assert packed["slices"] == plain["slices"] and packed["facts"] == plain["facts"]


def test_a_view_with_a_known_name_is_no_table(build, tmp_path, read):
    """A schema is somebody's program: it is not run."""
    read({"StringIds": TABLES["StringIds"]})
    path = tmp_path / "small.sqlite"
    database = sqlite3.connect(path)
    database.execute(
        "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start, end, deviceId) AS "
        "(SELECT 1, 2, 0 UNION ALL SELECT start + 1, end + 1, 0 FROM n) SELECT * "
        "FROM n")
    database.execute("CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(start, eventType) AS "
                     "(SELECT 1, 34 UNION ALL SELECT start + 1, 34 FROM n) SELECT * FROM n")
    database.commit()
    database.close()
    tables = dump(build, path)
    assert not tables["slices"]
    assert len(tables["marks"]) <= path.stat().st_size


def test_a_cut_export_gives_a_prefix_or_an_error(build, traces, tmp_path, varve):
    import subprocess  # pylint: disable=import-outside-toplevel
    whole = (traces / "nsys" / "saxpy_mpi_cuda.sqlite").read_bytes()
    path = tmp_path / "cut.sqlite"
    for part in range(1, 20):
        path.write_bytes(whole[:len(whole) * part // 20])
        done = subprocess.run([varve, "info", "--json", "--no-cache", path], capture_output=True,
                              text=True, check=False, timeout=240)
        assert done.returncode == 3 and done.stderr.startswith("varve: ") or \
            done.returncode == 0 and "truncated_files" in done.stdout, done.stderr


def test_no_stream_is_no_number(build, tmp_path):
    """CUPTI's number for no stream is the largest of 32 bits."""
    tables = dict(TABLES)
    columns, rows = tables["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"]
    at = [column.split()[0] for column in columns.split(", ")].index("streamId")
    tables["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"] = (
        columns, [tuple(2**32 - 1 if i == at else cell for i, cell in enumerate(row))
                  for row in rows])
    model = dump(build, write(tmp_path / "made.sqlite", tables))
    names = {track["name"] for track in model["tracks"]}
    assert "GPU 0, no stream" in names
    assert not any("4294967295" in name for name in names)


def torch_ranges(folder):
    """Ranges of emit_nvtx(record_shapes=True): an operator, what the engine ran for it on another
    thread, a user's range, and names that only look like such."""
    forward, backward = GLOBAL_TID, GLOBAL_PID | 99
    ranges = [
        (1000, 1900, "Optimizer.step#SGD.step, op_id = 7", forward),
        (1010, 1400, "aten::linear, op_id = 8, sizes = [[2, 3], [4, 3], []], "
                     "input_op_ids = [(1,0), (2,0)]", forward),
        (1020, 1300, "aten::addmm, seq = 12, op_id = 9, sizes = [[4], [2, 3], [3, 4]]", forward),
        (1500, 1520, "fit, seq = many", forward), (1530, 1540, "a, b, op_id = 1x", forward),
        (1550, 1560, "sizes, sizes = [[1, 2]", forward),
        (1600, 1800, "autograd::engine::evaluate_function: AddmmBackward0, seq = 12, op_id = 20",
         backward),
        (1610, 1790, "AddmmBackward0, seq = 12, op_id = 21", backward),
        (1620, 1700, "aten::mm, op_id = 22, sizes = [[2, 4], [4, 3]]", backward)]
    columns = "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER"
    tables = {**TABLES, "NVTX_EVENTS": (columns, [(begin, end, 59, text, tid)
                                                  for begin, end, text, tid in ranges])}
    return write(folder / "torch.sqlite", tables)


def test_ranges_of_pytorch_are_operators(build, tmp_path):
    model = dump(build, torch_ranges(tmp_path))
    rows = {row["name"]: row for row in model["slices"] if row["category"] == "nvtx"}
    assert set(rows) == {"Optimizer.step#SGD.step", "aten::linear", "aten::addmm",
                         "fit, seq = many", "a, b, op_id = 1x", "sizes, sizes = [[1, 2]",
                         "autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0",
                         "aten::mm"}
    ops = {name: model["ops"][row["op"]] for name, row in rows.items() if row["op"] is not None
           and 0 <= row["op"] < len(model["ops"])}
    assert {name: (op["sequence"], op["shapes"]) for name, op in ops.items()} == {
        "aten::linear": (-1, "[2,3], [4,3], []"), "aten::addmm": (12, "[4], [2,3], [3,4]"),
        "autograd::engine::evaluate_function: AddmmBackward0": (12, ""),
        "AddmmBackward0": (12, ""), "aten::mm": (-1, "[2,4], [4,3]")}
    assert [argument for argument in rows["aten::linear"]["args"]
            if argument[0] in ("op_id", "input_op_ids")] == [
        ["op_id", 8], ["input_op_ids", "[(1,0), (2,0)]"]]
    assert ["op_id", 7] in rows["Optimizer.step#SGD.step"]["args"]


def test_what_only_looks_like_a_list_of_parts_is_a_name(build, tmp_path):
    """Parts alone, a list without end before real parts, lists of lists, and a text so long that
    ranges which share it would read it for hours."""
    texts = {", seq = 5": (", seq = 5", None), "a, sizes = [[1, seq = 7": ("a, sizes = [[1", 7),
             "b, seq = 1x, op_id = 3": ("b, seq = 1x", None),
             "aten::cat, seq = 8, sizes = [[[2, 3], [4]], [5]]": ("aten::cat", 8),
             "c" * 20000 + ", seq = 9": ("c" * 20000 + ", seq = 9", None)}
    columns = "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER"
    model = dump(build, write(tmp_path / "odd.sqlite", {**TABLES, "NVTX_EVENTS": (columns, [
        (1000 + 10 * i, 1005 + 10 * i, 59, text, GLOBAL_TID) for i, text in enumerate(texts)])}))
    ranges = sorted((row for row in model["slices"] if row["category"] == "nvtx"),
                    key=lambda row: row["begin_ns"])
    ops = [model["ops"][row["op"]] if row["op"] is not None and
           0 <= row["op"] < len(model["ops"]) else None for row in ranges]
    assert [row["name"] for row in ranges] == [name for name, _ in texts.values()]
    assert [op and op["sequence"] for op in ops] == [number for _, number in texts.values()]
    assert ops[3]["shapes"] == "[2,3], [4], [5]"


def test_backward_operators_of_pytorch_name_their_forward_one(varve, tmp_path):
    links = table_reader.tables(varve, "report", "--no-cache", "--table", "links",
                                torch_ranges(tmp_path))["links"]
    assert [(row["forward_op"], row["backward_op"]) for row in links if row["row"] == "link"] == [
        ("aten::addmm", "AddmmBackward0")]


@pytest.mark.parametrize("name, words", [
    ("RegisterPostBackwardFunction", "no backward pass of PyTorch's"),
    ("AddmmBackward0", "no backward operator here names its forward one")])
def test_a_window_without_a_backward_pass_says_so(varve, tmp_path, name, words):
    """Links need both passes; forward operators have numbers as well."""
    columns = "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER"
    path = write(tmp_path / "window.sqlite", {**TABLES, "NVTX_EVENTS": (columns, [
        (1000, 1100, 59, "aten::addmm, seq = 6, op_id = 2", GLOBAL_TID),
        (1200, 1300, 59, name + ", seq = 7, op_id = 3", GLOBAL_TID)])})
    told = subprocess.run([varve, "report", "--no-cache", "--table", "links", path],
                          capture_output=True, text=True, check=True).stdout
    assert words in told

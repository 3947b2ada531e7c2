# SPDX-License-Identifier: Apache-2.0
"""rocprofv3's JSON: the real trace against Python's json, and a small one by hand."""
import collections
import gzip
import json
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402
from model_tables import dump, health  # noqa: E402
from rocprof_writer import results as rocprof_results  # noqa: E402

KERNEL, COPY, CALL = 1, 2, 0


@pytest.fixture(name="read")
def read_results(build, tmp_path):
    def reader(results, name="results.json"):
        path = tmp_path / name
        path.write_text(results if isinstance(results, str) else json.dumps(results))
        return dump(build, path)
    return reader


def plain(value):
    """Arrays and objects are kept as their JSON text."""
    return json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value


def arguments(row):
    return {key: plain(value) for key, value in row["args"]}


def test_every_dispatch_of_the_real_trace(build, traces):
    path = traces / "tracelens" / "rocprofv3_results.json.gz"
    with gzip.open(path) as file:
        process, = json.load(file)["rocprofiler-sdk-tool"]
    names = {symbol["kernel_id"]: symbol["formatted_kernel_name"]
             for symbol in process["kernel_symbols"]}
    gpus = {agent["id"]["handle"]: agent["logical_node_type_id"] for agent in process["agents"]
            if agent["type"] == 2}
    tables = dump(build, path)
    expected = collections.Counter()
    for record in process["buffer_records"]["kernel_dispatch"]:
        info = record["dispatch_info"]
        expected[names[info["kernel_id"]], record["start_timestamp"],
                 record["end_timestamp"] - record["start_timestamp"],
                 record["correlation_id"]["internal"],
                 3 << 16 | gpus[info["agent_id"]["handle"]], info["queue_id"]["handle"],
                 info["dispatch_id"], json.dumps(info["grid_size"])] += 1
    found = collections.Counter()
    for row in tables["slices"]:
        activity, track = tables["activities"][row["activity"]], tables["tracks"][row["track"]]
        args = arguments(row)
        found[row["name"], row["begin_ns"], row["duration_ns"], activity["correlation"],
              activity["device"], track["tid"], args["dispatch_id"],
              json.dumps(args["grid_size"])] += 1
    assert len(tables["slices"]) == 43915
    assert found == expected
    assert {activity["kind"] for activity in tables["activities"]} == {KERNEL}
    assert tables["processes"][0]["pid"] == 908 and tables["processes"][0]["events"] == 43915
    assert tables["processes"][0]["host"] == "smci350-zts-gtu-c6-25"
    used = {record["dispatch_info"]["kernel_id"]
            for record in process["buffer_records"]["kernel_dispatch"]}
    kept = {row["key"]: row["value"] for row in tables["facts"] if row["key"].startswith("kernel ")}
    assert set(kept) == {f"kernel {number}" for number in used}
    assert sum(row["key"].startswith("agent ") for row in tables["facts"]) == 10


def test_every_kind_of_record(read):
    tables = read(rocprof_results())
    rows = {row["category"]: row for row in tables["slices"]}
    assert {category: row["name"] for category, row in rows.items()} == {
        "kernel_dispatch": "gemm", "memory_copy": "hipLaunchKernel", "hip_api": "hipLaunchKernel",
        "hsa_api": "hipLaunchKernel", "marker_api": "forward",
        "memory_allocation": "hipLaunchKernel", "scratch_memory": "hipLaunchKernel",
        "of_a_later_version": "of_a_later_version"}
    activity = lambda category: tables["activities"][rows[category]["activity"]]
    kernel = activity("kernel_dispatch")
    assert (kernel["kind"], kernel["correlation"], kernel["external"], kernel["stream"],
            kernel["device"]) == (
        KERNEL, 5, 6, 2, 3 << 16)
    assert (activity("memory_copy")["kind"], activity("memory_copy")["bytes"]) == (COPY, 4096)
    assert (activity("hip_api")["kind"], activity("hip_api")["correlation"]) == (CALL, 5)
    tracks = {row["name"]: row for row in tables["tracks"]}
    assert set(tracks) == {"", "GPU 0 queue 3", "GPU 0 copies", "agent queue 0"}
    assert arguments(rows["kernel_dispatch"])["grid_size"] == {"x": 8, "y": 1, "z": 1}
    assert arguments(rows["memory_copy"])["src_agent_id"] == 69
    process, = tables["processes"]
    assert (process["pid"], process["name"], process["host"], process["events"]) == (12, "./train",
                                                                                     "gpu1", 8)
    facts = {row["key"]: plain(row["value"]) for row in tables["facts"]}
    assert facts["not read: callback_records.counter_collection"] == 2
    assert facts["kernel 4"]["kernel_name"] == "gemm.kd"
    assert facts["strings.files"] == ["a"] and facts["code_objects"] == [{"code_object_id": 1}]
    assert health(tables)["ignored"] == 3  # two counters and a record that is a number
    assert health(tables)["negative"] == 1


def test_order_changes_nothing(read):
    base = rocprof_results()
    process = base["rocprofiler-sdk-tool"][0]

    def picture(tables):
        return sorted((row["name"], row["category"], row["begin_ns"], row["duration_ns"],
                       tables["tracks"][row["track"]]["name"],
                       json.dumps(arguments(row), sort_keys=True))
                      for row in tables["slices"])
    first = picture(read(base))
    shuffle = random.Random(3)
    for _ in range(10):
        names = list(process)
        shuffle.shuffle(names)
        records = list(process["buffer_records"])
        shuffle.shuffle(records)
        other = {name: process[name] for name in names}
        other["buffer_records"] = {name: process["buffer_records"][name] for name in records}
        assert picture(read({"rocprofiler-sdk-tool": [other]})) == first


def test_processes_have_their_own_numbers(read):
    one, two = rocprof_results(), rocprof_results()
    second = two["rocprofiler-sdk-tool"][0]
    second["metadata"]["pid"] = 13
    second["kernel_symbols"][0]["formatted_kernel_name"] = "other"
    tables = read({"rocprofiler-sdk-tool": [one["rocprofiler-sdk-tool"][0], second]})
    kernels = {tables["processes"][tables["tracks"][row["track"]]["process"]]["pid"]: row["name"]
               for row in tables["slices"] if row["category"] == "kernel_dispatch"}
    assert kernels == {12: "gemm", 13: "other"}


def test_a_cut_file_gives_what_is_whole(read):
    text = json.dumps(rocprof_results())
    former = 0
    for cut in range(60, len(text), 41):
        tables = read(text[:cut])
        assert health(tables)["truncated_files"] == 1
        assert len(tables["slices"]) >= former
        former = len(tables["slices"])
    assert former == 8


# ---- rocmProfileData's Chrome JSON: texts for numbers, no categories, arrows "api_op" ----

def rpd_events(is_rpd=True):
    events = [{}, {"name": "process_name", "ph": "M", "pid": "2", "args": {"name": "GPU2"}},
              {"name": "thread_name", "ph": "M", "pid": "71", "tid": "72",
               "args": {"name": "Hip 72"}},
              {"pid": "71", "tid": "72", "name": "hipMalloc", "ts": "50", "dur": "5", "ph": "X",
               "args": {"desc": "size=0x774"}}]
    work = [("hipMemcpyWithStream", 100, 40, "CopyHostToDevice", 105, 30),
            ("hipLaunchKernel", 200, 10, "void gemm<float>(float*)", 205, 50),
            ("hipLaunchKernel", 215, 5, "Cijk_Ailk_Bljk_SB", 260, 20),
            ("hipMemsetAsync", 300, 10, "FillBuffer", 308, 4)]
    for number, (call, at, lasts, name, begins, runs) in enumerate(work):
        begin = min(begins, at + lasts - 1)
        place = {"cat": "api_op" if is_rpd else "flow", "name": "api_op", "id": str(number + 1)}
        events += [{"pid": "71", "tid": "72", "name": call, "ts": str(at), "dur": str(lasts),
                    "ph": "X", "args": {"desc": ""}},
                   {"pid": "2", "tid": "0", "name": name, "ts": str(begins), "dur": str(runs),
                    "ph": "X", "args": {"desc": name}},
                   {"pid": "71", "tid": "72", "ts": str(begin), "ph": "s", **place},
                   {"pid": "2", "tid": "0", "ts": str(begins), "ph": "f", "bp": "e", **place}]
    return events


def test_rocm_profile_data_has_device_work(varve, tmp_path):
    path = tmp_path / "rpd.json"
    path.write_text(json.dumps(rpd_events()))

    def of(name):
        return table_reader.tables(varve, "report", "--no-cache", "--table", name, path)[name]
    assert [(row["device"], row["computation_ns"], row["memcpy_ns"], row["memset_ns"],
             row["events"], row["unlinked"]) for row in of("devices")
            if row["row"] == "device"] == [("cuda:2", 74000, 30000, 4000, 4, 0)]
    assert [(row["name"], row["works"], row["work_ns"]) for row in of("launches")
            if row["row"] == "call"] == [("hipMemcpyWithStream", 1, 30000),
                                         ("hipLaunchKernel", 2, 70000),
                                         ("hipMemsetAsync", 1, 4000)]
    assert [row["direction"] for row in of("copies") if row["row"] == "copy"] == ["HtoD", "set"]


def test_a_process_called_gpu_is_a_device_only_where_such_arrows_are(varve, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(json.dumps(rpd_events(False)))
    assert not table_reader.tables(varve, "report", "--no-cache", "--table", "devices",
                                   path)["devices"]

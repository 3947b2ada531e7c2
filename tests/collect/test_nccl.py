# SPDX-License-Identifier: Apache-2.0
"""The collector `nccl`, with stand-ins for NCCL and for NVIDIA's driver and CUPTI (tests/drivers):
what NCCL says of its collectives is in the trace, and belongs to the kernels that run them. No GPU
takes part."""
import collections
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support")]

from cuda_recording import work_of  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402

# The versions of NCCL's interface for profilers, and the NCCL that had each first.
VERSIONS = {1: "2.23.4", 2: "2.24.3", 3: "2.26.2", 4: "2.27.3", 5: "2.28.3"}
GROUP = "world 5f21b8ac93d07e44"
SOME = ("name", "calls", "in_elements", "out_elements", "dtype", "group_size", "group", "place")


def run(folder, mode, *under, **more):
    folders = binary("tests/drivers/recorded/libcuda.so.1").parent
    assert binary("tests/drivers/recorded/libnccl.so.2").parent == folders
    environment = quiet_environment(**{"LD_LIBRARY_PATH": str(folders), **more})
    for name in ("CUDA_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN"):
        if name not in more:
            environment.pop(name, None)
    return subprocess.run([*under, binary("tests/programs/nccl_program"), mode], cwd=folder,
                          env=environment, capture_output=True, text=True, check=False)


def record(varve, folder, mode, *options, **more):
    done = run(folder, mode, varve, "record", *options, "-o", "t.varve", "--", **more)
    assert done.returncode == 0 or mode == "kill", done.stderr
    return folder / "t.varve", done.stderr


def kinds(varve, trace, *names):
    """The rows of collective_kinds, as tuples of some columns."""
    rows = tables(varve, "report", "--table", "collective_kinds", "--top", "0",
                  trace)["collective_kinds"]
    return sorted((tuple(row[name] for name in names or SOME)
                   for row in rows if row["row"] == "collective"), key=str)


def collectives(trace, kind):
    """Those of ranges of threads (kind 0) or of device work (2), in order of time."""
    rows = work_of(trace)
    slices, tracks = rows["slices"], rows["tracks"]
    found = [row for row in rows["collectives"]
             if tracks[slices[row["slice"]]["track"]]["kind"] == kind]
    return sorted(found, key=lambda row: slices[row["slice"]]["begin_ns"])


def note(varve, trace, process=0):
    rows = tables(varve, "info", "--table", "collectors", trace)["collectors"]
    return [(row["state"], row["text"]) for row in rows if row["collector"] == "nccl"][process]


@pytest.fixture(name="amd")
def fixture_amd():
    """Variables with which a program finds the stand-ins for HIP and rocprofiler-sdk, too."""
    folders = [binary(f"tests/drivers/{name}").parent for name in (
        "recorded/libnccl.so.2", "hip/libamdhip64.so.7", "rocprofiler/librocprofiler-sdk.so.1")]
    return {"NO_CUDA": "1", "WITH_HIP": "1", "STANDIN_NCCL": "5",
            "LD_LIBRARY_PATH": ":".join(map(str, folders))}


# ---- what is recorded ----


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_tells_what_the_kernels_communicate(varve, tmp_path, version):
    """All 15 kernels are collectives of devices, and no range of the host counts beside them. NCCL
    counts bytes in two of them; version 5 tells what the program asked for, too. The number of
    ranks is known from version 4 on."""
    trace, said = record(varve, tmp_path, "plain", STANDIN_NCCL=str(version))
    assert f"nccl attached (NCCL {VERSIONS[version]}, interface {version}, 1 communicator)" in said
    size = 2 if version >= 4 else None
    gathered = (100, 200, "bf16") if version == 5 else (200, 400 if size else None, "i8")
    broadcast = (30, 30, "i64") if version == 5 else (240, 240, "i8")
    rest = (size, GROUP, "device")
    assert kinds(varve, trace) == sorted([
        ("all_reduce", 10, 1000, 1000, "f32", *rest), ("all_gather", 1, *gathered, *rest),
        ("reduce_scatter", 1, 200 if size else None, 100, "f16", *rest),
        ("broadcast", 1, *broadcast, *rest), ("send_recv", 1, 64, 32, "f64", *rest),
        ("all_reduce", 1, 1500, 1500, "u8", *rest)], key=str)


def test_kernels_of_rccl_have_their_collectives(varve, tmp_path, amd):
    """AMD's library has NCCL's interface; HIP tells a kernel's name only when it has run."""
    trace, said = record(varve, tmp_path, "plain", **amd)
    assert "nccl attached" in said and "rocm attached" in said
    rest = (2, GROUP, "device")
    assert kinds(varve, trace) == sorted([
        ("all_reduce", 10, 1000, 1000, "f32", *rest), ("all_gather", 1, 100, 200, "bf16", *rest),
        ("reduce_scatter", 1, 200, 100, "f16", *rest), ("broadcast", 1, 30, 30, "i64", *rest),
        ("send_recv", 1, 64, 32, "f64", *rest), ("all_reduce", 1, 1500, 1500, "u8", *rest)],
                                         key=str)
    names = {row["name"] for row in work_of(trace)["slices"] if "Kernel" in row["name"]}
    assert {"ncclDevKernel_AllReduce_RING_LL", "ncclDevKernel_Send_RING_LL"} <= names


def test_threads_of_rccl_keep_their_collectives_apart(varve, tmp_path, amd):
    trace, _ = record(varve, tmp_path, "threads", **amd)
    assert len(collectives(trace, 2)) == 16 * 50
    assert collections.Counter(row["group"] for row in collectives(trace, 2)) == {
        f"{0x5f21b8ac93d07e44 + number:016x}": 50 for number in range(16)}


@pytest.mark.parametrize("version", VERSIONS)
def test_ranges_say_each_collective_with_bytes_and_number(varve, tmp_path, version):
    trace, _ = record(varve, tmp_path, "plain", STANDIN_NCCL=str(version), RANK="1")
    told = [(row["name"], row["sequence"], row["bytes"], row["rank"], row["peer"])
            for row in collectives(trace, 0)]
    assert told == [("all_reduce", number, 4000, 1, -1) for number in range(10)] + [
        ("all_gather", 0, 200, 1, -1),
        ("reduce_scatter", 0, 400 if version >= 4 else 0, 1, -1),
        ("broadcast", 0, 240, 1, 1), ("send", -1, 512, 1, 0), ("recv", -1, 0, 1, 0),
        *(("all_reduce", number, 500, 1, -1) for number in (10, 11, 12))]
    assert [row["sequence"] for row in collectives(trace, 2)] == [*range(10), 0, 0, 0, -1, 10]
    args = [dict(row["args"]) for row in work_of(trace)["slices"] if row["name"] == "ncclAllReduce"]
    assert args == [{"channels": 8, "algorithm": "RING", "protocol": "LL"}] * 13


def test_a_collective_is_under_the_operator_that_asked_for_it(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "plain")
    slices = work_of(trace)["slices"]
    parents = collections.Counter(
        slices[row["parent"]]["name"] for row in slices
        if row["name"].startswith("nccl") and "Kernel" not in row["name"]
        and row["parent"] is not None)
    assert parents == {"backward": 13}
    rows = tables(varve, "report", "--table", "operators", "--top", "0", trace)["operators"]
    assert [row["kernels"] for row in rows if row["name"] == "backward"] == [13]


def test_two_ranks_number_their_collectives_alike(varve, tmp_path):
    folders = binary("tests/drivers/recorded/libcuda.so.1").parent
    program = binary("tests/programs/nccl_program")
    environment = quiet_environment(LD_LIBRARY_PATH=str(folders))
    subprocess.run([varve, "record", "-q", "-o", "t.varve", "--", "sh", "-c",
                    f"RANK=0 {program} plain & RANK=1 {program} plain & wait"], cwd=tmp_path,
                   env=environment, check=True, capture_output=True)
    trace = tmp_path / "t.varve"
    by_rank = collections.defaultdict(list)
    for row in collectives(trace, 2):
        by_rank[row["rank"]].append((row["group"], row["name"], row["sequence"]))
    assert set(by_rank) == {0, 1} and by_rank[0] == by_rank[1] and len(by_rank[0]) == 15
    devices = tables(varve, "report", "--table", "devices", trace)["devices"]
    assert [(row["device"], row["rank"], row["events"]) for row in devices if row["row"] == "device"
            ] == [("cuda:0", 0, 15), ("cuda:0", 1, 15)]
    rows = kinds(varve, trace, "name", "dtype", "rank", "calls")
    assert [row for row in rows if row[:2] == ("all_reduce", "f32")] == [
        ("all_reduce", "f32", 0, 10), ("all_reduce", "f32", 1, 10)]


def test_threads_with_a_communicator_each(varve, tmp_path):
    trace, said = record(varve, tmp_path, "threads")
    assert "16 communicators" in said
    rows = kinds(varve, trace, "group", "calls")
    assert len(rows) == 16 and {calls for _, calls in rows} == {50}
    assert len({group for group, _ in rows}) == 16


def test_without_cuda_the_ranges_count(varve, tmp_path):
    """… where no work of devices is recorded."""
    for options, more in ((["--collect", "-cuda"], {}), ([], {"NO_CUDA": "1"})):
        trace, _ = record(varve, tmp_path, "threads", *options, **more)
        rows = kinds(varve, trace, "name", "place", "calls")
        assert rows == [("all_reduce", "host", 50)] * 16


def test_what_is_told_on_another_thread_is_of_no_kernel(varve, tmp_path):
    """As in a CUDA graph: the kernel has its own name, and the range has the rest."""
    trace, _ = record(varve, tmp_path, "elsewhere")
    assert kinds(varve, trace, "name", "group", "calls") == [
        ("ncclDevKernel_AllReduce_RING_LL", None, 1)]
    assert [row["bytes"] for row in collectives(trace, 0)] == [4000]


def test_a_kernel_of_the_programs_own_is_none_of_nccls(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "between")
    assert kinds(varve, trace, "name", "group", "calls") == [("all_reduce", GROUP, 1)]


# ---- what is left alone, and what is missing ----


def test_a_forked_child_and_its_parent(varve, tmp_path):
    trace, said = record(varve, tmp_path, "fork")
    assert "a forked child cannot use its parent's CUDA" in said
    told = collections.Counter((row["name"], row["group"].split()[0])
                               for row in collectives(trace, 0))
    assert told == {("all_reduce", "parent"): 2, ("all_gather", "child"): 1}


def test_a_killed_program_keeps_its_collective(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "kill")
    assert [(row["name"], row["bytes"]) for row in collectives(trace, 0)] == [("all_reduce", 4000)]


def test_while_nothing_is_recorded(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "pause")
    assert [row["in_elements"] for row in collectives(trace, 0)] == [1000, 1000]
    assert kinds(varve, trace, "in_elements", "calls") == [(1000, 2)]


def test_more_communicators_than_are_kept(varve, tmp_path):
    trace, _ = record(varve, tmp_path, "many")
    state, text = note(varve, trace)
    assert (state, text) == ("partly attached", "NCCL 2.28.3, interface 5, 600 communicators; "
                             "88 more at once than are kept")
    assert len(collectives(trace, 0)) == 512


def test_the_source_can_be_left_out(varve, tmp_path):
    trace, said = record(varve, tmp_path, "plain", "--collect", "-nccl")
    assert "nccl" not in said.splitlines()[1]
    assert collectives(trace, 0) == []
    assert {name for name, in kinds(varve, trace, "name")} == {
        f"ncclDevKernel_{name}_RING_LL" for name in ("AllReduce", "AllGather", "ReduceScatter",
                                                     "Broadcast", "Send")}


@pytest.mark.parametrize("plugin", ["none", "/nowhere/libtool.so"])
def test_another_plugin_keeps_its_variable(varve, tmp_path, plugin):
    trace, said = record(varve, tmp_path, "plain", NCCL_PROFILER_PLUGIN=plugin)
    assert "another tool may have looked on, and was let: NCCL_PROFILER_PLUGIN" in said
    assert collectives(trace, 0) == []


@pytest.mark.parametrize("version, plugin, why", [
    ("0", None, "NCCL 2.21.5 has no interface for profilers, 2.23 is the first: names of kernels "
     "alone"),
    ("5", "/nowhere/libtool.so", "NCCL_PROFILER_PLUGIN names another tool, which was let: "
     "/nowhere/libtool.so"),
])
def test_why_nothing_is_told(varve, tmp_path, version, plugin, why):
    """… by a program that is linked to NCCL."""
    library = binary("tests/drivers/recorded/libnccl.so.2")
    more = {} if plugin is None else {"NCCL_PROFILER_PLUGIN": plugin}
    trace, said = record(varve, tmp_path, "plain", STANDIN_NCCL=version, LD_PRELOAD=str(library),
                         **more)
    assert f"nccl not attached ({why})" in said
    assert note(varve, trace) == ("not attached", why)


@pytest.mark.parametrize("mode", ["plain", "threads", "fork", "elsewhere", "pause"])
def test_the_program_runs_as_without(varve, tmp_path, mode):
    alone = run(tmp_path, mode)
    under = run(tmp_path, mode, varve, "record", "-q", "-o", "t.varve", "--")
    assert (under.returncode, under.stdout) == (alone.returncode, alone.stdout)

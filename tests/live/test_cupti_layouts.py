# SPDX-License-Identifier: Apache-2.0
"""The places of fields in CUPTI's records, as the collector `cuda` has them, are those of NVIDIA's
headers: of the newest struct for each kind of record, in each version whose headers are there."""
import re
import subprocess
import sys
import pathlib

from environments import python_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
from recording import ROOT, binary  # noqa: E402

# Kind: (NVIDIA's name for its struct, without the number; {our field: their member}).
COMMON = {"START": "start", "END": "end", "DEVICE": "deviceId", "CONTEXT": "contextId",
          "STREAM": "streamId", "CORRELATION": "correlationId", "BYTES": "bytes",
          "GRAPH": "graphId", "GRAPH_NODE": "graphNodeId", "TEXT": "name"}
KINDS = {
    "KERNEL": ("Kernel", {
        "GRID_X": "gridX", "GRID_Y": "gridY", "GRID_Z": "gridZ", "BLOCK_X": "blockX",
        "BLOCK_Y": "blockY", "BLOCK_Z": "blockZ", "REGISTERS": "registersPerThread",
        "SHARED": "staticSharedMemory", "SHARED_DYNAMIC": "dynamicSharedMemory"}),
    "MEMCPY": ("Memcpy", {"SORT": "copyKind", "FROM": "srcKind", "TO": "dstKind"}),
    "MEMCPY_PEERS": ("MemcpyPtoP", {"SORT": "copyKind", "FROM": "srcKind", "TO": "dstKind",
                                    "FROM_DEVICE": "srcDeviceId", "TO_DEVICE": "dstDeviceId"}),
    "MEMSET": ("Memset", {"TO": "memoryKind"}),
    "SYNCHRONIZATION": ("Synchronization", {"SORT": "type", "EVENT": "cudaEventId",
                                            "EVENT_SYNC": "cudaEventSyncId"}),
    "EVENT": ("CudaEvent", {"EVENT": "eventId", "EVENT_SYNC": "cudaEventSyncId"}),
    "GRAPH": ("GraphTrace", {}),
    "MEMORY": ("Memory", {"START": "timestamp", "SORT": "memoryOperationType",
                          "TO": "memoryKind"}),
    "POOL": ("MemoryPool", {"START": "timestamp", "SORT": "memoryPoolOperationType",
                            "BYTES": "size", "ADDRESS": "address", "USED": "utilizedSize"}),
    "UNIFIED": ("UnifiedMemoryCounter", {
        "SORT": "counterKind", "BYTES": "value", "ADDRESS": "address", "FROM_DEVICE": "srcId",
        "TO_DEVICE": "dstId"}),
    "OVERHEAD": ("Overhead", {"SORT": "overheadKind", "OBJECT": "objectKind",
                              "THREAD": "objectId.pt.threadId"}),
    "CONTEXT": ("Context", {}),
    "NAME": ("Name", {"OBJECT": "objectKind", "DEVICE": "objectId.dcs.deviceId",
                      "CONTEXT": "objectId.dcs.contextId", "STREAM": "objectId.dcs.streamId"}),
}
SINCE_12_9 = {("SYNCHRONIZATION", "EVENT_SYNC"), ("EVENT", "EVENT_SYNC")}

# What CUPTI's headers take from CUDA's, as far as sizes need it.
CUDA_H = """#ifndef CUDA_H
#define CUDA_H
#include <stddef.h>
#include <stdint.h>
typedef void *CUcontext, *CUstream, *CUevent, *CUgraph, *CUgraphNode, *CUgraphExec, *CUmodule;
typedef void *CUfunction;
typedef int CUdevice, CUresult, CUgraphNodeType, CUdevice_attribute, CUstreamAttrID;
typedef int CUstreamAttrValue;
typedef int CUlaunchAttributeID, CUlaunchAttributeValue;
typedef struct { char bytes[16]; } CUuuid;
typedef struct { void *first; } CUaccessPolicyWindow;
typedef unsigned long long CUdeviceptr, cuuint64_t;
#endif
"""


def numbers_of(enum):
    """{name without prefix: number} of an enum of src/collect/cuda/layouts.h."""
    text = (ROOT / "src/collect/cuda/layouts.h").read_text()
    prefix = "VV_CUPTI_" if enum == "vv_cupti_kind" else "VV_F_"
    body = re.sub(r"/\*.*?\*/", "", re.search(r"enum %s \{(.*?)\};" % enum, text, re.S)[1],
                  flags=re.S)
    numbers, following = {}, 0
    for name, number in re.findall(prefix + r"(\w+)(?: = (\d+))?", body):
        following = int(number) if number else following
        numbers[name] = following
        following += 1
    return numbers


def ours():
    done = subprocess.run([binary("tests/tools/cuda_layouts")], capture_output=True, text=True,
                          check=True)
    kinds = {number: name for name, number in numbers_of("vv_cupti_kind").items()}
    fields = {number: name for name, number in numbers_of("vv_cupti_field").items()}
    rows = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    return {(kinds[kind], fields[field]): (offset, size) for kind, field, offset, size in rows}


def newest(header, name):
    numbers = re.findall(r"^\} *CUpti_Activity%s(\d*);" % name, header, re.M)
    return f"CUpti_Activity{name}{max(numbers, key=lambda number: int(number or 0))}"


def theirs(include, folder, wanted):
    """What the headers say of the fields that are wanted."""
    header = (include / "cupti_activity.h").read_text()
    (folder / "cuda.h").write_text(CUDA_H)
    (folder / "builtin_types.h").write_text("")
    lines = ['#include <stdio.h>', '#include <cupti_activity.h>', "int main(void) {"]
    for kind, field in wanted:
        name, members = KINDS[kind]
        struct, member = newest(header, name), members.get(field, COMMON.get(field))
        lines.append(f'printf("{kind} {field} %zu %zu\\n", offsetof({struct}, {member}), '
                     f'sizeof(({struct} *)0)->{member});')
    (folder / "places.c").write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run(["cc", "-w", f"-I{folder}", f"-I{include}", folder / "places.c", "-o",
                    folder / "places"], check=True)
    done = subprocess.run([folder / "places"], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {(kind, field): (int(offset), int(size)) for kind, field, offset, size in rows}


def test_the_fields_are_where_the_headers_have_them(tmp_path):
    packages = python_of("cupti").parents[1]
    includes = sorted(path.parent for path in packages.glob("lib/python*/site-packages/nvidia/"
                                                            "**/cupti_activity.h"))
    assert len(includes) == 2  # 11.8 and 12.9 share a folder: the one that was installed later
    places = ours()
    assert {kind for kind, _ in places} == set(KINDS)
    for number, include in enumerate(includes):
        folder = tmp_path / str(number)
        folder.mkdir()
        is_old = "cudaEventSyncId" not in (include / "cupti_activity.h").read_text()
        wanted = [key for key in places if not (is_old and key in SINCE_12_9)]
        assert theirs(include, folder, wanted) == {key: places[key] for key in wanted}


def parameters_of_ours():
    """[(our struct, NVIDIA's name, fields)] of src/cli/metrics/sampling_parameters.h."""
    text = (ROOT / "src/cli/metrics/sampling_parameters.h").read_text().replace("\\\n", " ")
    rows = re.findall(r'\bP\((\w+), \w+, "(\w+)",([^)]*)\)', text)
    return [(name, theirs, re.findall(r"(\w+);", fields)) for name, theirs, fields in rows]


def test_parameters_of_sampling_are_as_the_headers_have_them(tmp_path):
    packages = python_of("cupti").parents[1]
    includes = sorted(path.parent for path in packages.glob("lib/python*/site-packages/nvidia/"
                                                            "**/cupti_pmsampling.h"))
    ours = parameters_of_ours()
    assert len(includes) == 2 and len(ours) == 19  # 12.9 and 13.5
    for number, include in enumerate(includes):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "cuda.h").write_text(CUDA_H)
        text = "".join((include / f"cupti_{name}.h").read_text()
                       for name in ("pmsampling", "profiler_host", "target"))
        checks = []
        for name, nvidia, fields in ours:
            if not fields:
                continue
            body = re.search(r"typedef struct CUpti_%s_Params\s*\{(.*?)\n\}" % nvidia, text,
                             re.S)[1]
            members = re.findall(r"(\w+);", re.sub(r"//.*", "", body))
            assert members[:2] == ["structSize", "pPriv"] and len(members) >= len(fields) + 2
            for field, member in zip(fields, members[2:]):
                a, b = f"vv_cupti_{name}", f"CUpti_{nvidia}_Params"
                checks.append(f"static_assert(offsetof({a}, {field}) == offsetof({b}, {member}) && "
                              f"sizeof({a}::{field}) == sizeof({b}::{member}), \"{b}\");")
        (folder / "check.cc").write_text("\n".join([
            "#include <cstddef>", "#include <cupti_pmsampling.h>", "#include <cupti_target.h>",
            "#include <cupti_profiler_host.h>",
            f'#include "{ROOT}/src/cli/metrics/sampling_parameters.h"', *checks]))
        done = subprocess.run(["c++", "-w", "-fsyntax-only", f"-I{folder}", f"-I{include}",
                               folder / "check.cc"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Runs tests/programs/cuda_program on the stand-ins for NVIDIA's driver and CUPTI (tests/drivers),
and says what a recording of it has."""
import collections
import json
import subprocess

from recording import binary, quiet_environment
from table_reader import tables


KILLED = ("kill", "dumps", "stops", "waits")  # modes that end in SIG

def environment_of(cupti="", **more):
    """… in which programs find the stand-ins. `cupti` has the words of standin_cupti.c."""
    folders = binary("tests/drivers/recorded/libcuda.so.1").parent
    assert binary("tests/drivers/recorded/libcupti.so.12").parent == folders
    environment = quiet_environment(LD_LIBRARY_PATH=str(folders), STANDIN_CUPTI=cupti, **more)
    environment.pop("CUDA_INJECTION64_PATH", None)
    environment.update({name: value for name, value in more.items() if name.startswith("CUDA_")})
    return environment


def run(folder, mode, *under, cupti="", **more):
    return subprocess.run([*under, binary("tests/programs/cuda_program"), mode], cwd=folder,
                          env=environment_of(cupti, **more), capture_output=True, text=True,
                          check=False)


def record(varve, folder, mode, *options, cupti="", **more):
    done = run(folder, mode, varve, "record", *options, "-o", "t.varve", "--", cupti=cupti, **more)
    assert done.returncode == 0 or mode in KILLED, done.stderr
    return folder / "t.varve", done.stderr


def kernels(varve, trace):
    """{name: number of calls}, kernels, copies and sets."""
    rows = tables(varve, "report", "--table", "kernels", "--top", "0", trace)["kernels"]
    counts = collections.Counter()
    for row in rows:
        if row["row"] == "group":
            counts[row["name"]] += row["calls"]
    return dict(counts)


def collector(varve, trace, name="cuda"):
    """(state, text) as varve info says them."""
    rows = tables(varve, "info", "--table", "collectors", trace)["collectors"]
    return [(row["state"], row["text"]) for row in rows if row["collector"] == name]


def work_of(trace):
    """[{name, begin, end, duration, stream …}] of the model's device work, and {name of the
    operator: names of the work under it} by launch numbers."""
    done = subprocess.run([binary("tests/tools/model_dump"), trace], capture_output=True,
                          text=True, check=True)
    rows = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        rows[row.pop("table")].append(row)
    return rows


def work_by_operator(trace):
    rows = work_of(trace)
    activities, slices = rows["activities"], rows["slices"]
    parent_of_call, under = {}, collections.defaultdict(list)
    for row in slices:
        if row["activity"] is not None and rows["tracks"][row["track"]]["kind"] != 2:
            parent = row["parent"]
            name = slices[parent]["name"] if parent is not None else None
            parent_of_call[activities[row["activity"]]["correlation"]] = name
    for row in slices:
        if row["activity"] is not None and rows["tracks"][row["track"]]["kind"] == 2:
            call = parent_of_call.get(activities[row["activity"]]["correlation"])
            under[call].append(row["name"])
    return under

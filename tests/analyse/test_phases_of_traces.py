# SPDX-License-Identifier: Apache-2.0
"""Forward and backward operators of real traces: against the profiler's own arrows, with them and
without."""
import gzip
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

ARROWS = [("hta/ns_resolution", 905), ("hta/cpu_only_rank34", 55), ("hta/mi250_minitoy", 4)]


def table(varve, path, name, *arguments):
    return table_reader.tables(varve, "report", "--no-cache", "--table", name, *arguments,
                               path)[name]


def ns(microseconds):
    whole, _, rest = str(microseconds).partition(".")
    return int(whole) * 1000 + int((rest + "000")[:3])


def linked(varve, path, begin_ns):
    rows = table(varve, path, "links")
    return {(row["forward_at_ns"] + begin_ns, row["backward_at_ns"] + begin_ns)
            for row in rows if row["row"] == "link" and row["ordinal"] == 1}


@pytest.mark.parametrize("name, count", ARROWS)
def test_links_are_the_arrows_of_the_profiler(varve, traces, tmp_path, name, count):
    path = traces / f"{name}.json.gz"
    with gzip.open(path) as file:
        document = json.load(file, parse_float=str)
    ends = {"s": {}, "f": {}}
    for event in document["traceEvents"]:
        if event.get("cat") == "fwdbwd":
            ends[event["ph"]][event["id"]] = ns(event["ts"])
    arrows = {(begin, ends["f"][number]) for number, begin in ends["s"].items()}
    assert len(arrows) == count
    begin_ns = table_reader.tables(varve, "info", "--no-cache", path)["trace"][0]["begin_ns"]
    base_ns = int(document.get("baseTimeNanoseconds", 0))
    arrows = {(start + base_ns, end + base_ns) for start, end in arrows}
    assert linked(varve, path, begin_ns) == arrows
    # PyTorch makes its arrows from numbers that are in the file: without the arrows they are found
    # again.
    document["traceEvents"] = [event for event in document["traceEvents"]
                               if event.get("cat") != "fwdbwd"]
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(document))
    assert linked(varve, bare, begin_ns) == arrows


@pytest.mark.parametrize("name", ["kineto/resnet50_workers0", "hta/ns_resolution", "dlrm8/rank0",
                                  "hta/cpu_only_rank34", "hta/sampled_rank0", "hta/rank_non_gpu"])
def test_found_phases_divide_the_steps(varve, traces, name):
    path = traces / f"{name}.json.gz"
    rows = table(varve, path, "phases")
    phases = {row["phase"]: row["total_ns"] for row in rows}
    total = phases.pop("total")
    assert sum(phases.values()) == total
    assert min(phases.values()) >= 0
    if name != "hta/rank_non_gpu":
        assert {"forward", "backward", "optimizer"} < phases.keys()
    steps = table_reader.tables(varve, "steps", "--no-cache", path)
    by_step = {}
    for row in steps["step_phases"]:
        key = (row["process"], row["thread"], row["step"])
        by_step[key] = by_step.get(key, 0) + row["duration_ns"]
    for row in steps["steps"]:
        assert by_step[row["process"], row["thread"], row["step"]] == row["duration_ns"]


def test_operators_lie_in_the_phases_that_their_links_say(varve, traces):
    path = traces / "kineto" / "resnet50_workers0.json.gz"
    by_phase = {}
    for row in table(varve, path, "operators", "--by", "phase"):
        if row["row"] == "operator":
            by_phase.setdefault(row["name"], {})[row["phase"]] = row["calls"]
    assert by_phase["CudnnConvolutionBackward"] == {"backward": 318}
    assert by_phase["aten::conv2d"] == {"forward": 318}
    assert by_phase["Optimizer.step#SGD.step"] == {"optimizer": 6}
    assert by_phase["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"] == {"data": 6}
    kernels = {row["name"]: row["total_ns"] for row in table(varve, path, "kernels", "--by",
                                                             "phase")}
    assert kernels["total"] == sum(value for name, value in kernels.items() if name != "total")
    assert kernels["backward"] > kernels["forward"] > kernels["optimizer"] > 0

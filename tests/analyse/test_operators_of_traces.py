# SPDX-License-Identifier: Apache-2.0
"""Operators with their device side on real traces, against known answers and a slow, plain
reference."""
import collections
import gzip
import json
import sys
import pathlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

OPERATORS = {"Operator", "cpu_op"}
DEVICE = {"Kernel", "Memcpy", "Memset", "kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"Runtime", "cuda_runtime", "cuda_driver"}


def ns(microseconds):
    whole, _, rest = str(microseconds).partition(".")
    return int(whole) * 1000 + int((rest + "000")[:3])


class Reference:
    """The rules of analysis 2.10, read from the JSON: a tree by containment, work by the external
    id of the operator."""

    def __init__(self, path):
        with gzip.open(path) as file:
            events = json.load(file, parse_float=str)["traceEvents"]
        self.calls, self.total, self.own = collections.Counter(), collections.Counter(
        ), collections.Counter()
        self.device, self.device_total = collections.Counter(), collections.Counter()
        work = self._work(events)
        threads = collections.defaultdict(list)
        for event in events:
            if event.get("ph") == "X" and event.get(
                    "cat") in OPERATORS | CALLS | {"user_annotation"}:
                begin = ns(event["ts"])
                threads[event["pid"], event["tid"]].append((begin, -ns(event["dur"]), event))
        for items in threads.values():
            items.sort(key=lambda item: item[:2])
            self._walk(items, work)

    @staticmethod
    def _work(events):
        found = collections.Counter()
        for event in events:
            if event.get("cat") in DEVICE:
                found[event["args"].get("External id",
                                        event["args"].get("external id"))] += ns(event["dur"])
        return found

    def _walk(self, items, work):
        stack = []  # [end, name, own time, own work, work with children]
        for begin, negative, event in items + [(float("inf"), 0, None)]:
            while stack and stack[-1][0] <= begin:
                _, name, own, device, device_total = stack.pop()
                self.own[name] += own
                self.device[name] += device
                if stack:
                    stack[-1][4] += device_total
                if not stack or stack[-1][1] != name:
                    self.device_total[name] += device_total
            if event is None:
                break
            duration = -negative
            if stack:
                stack[-1][2] -= duration
            if not stack or stack[-1][1] != event["name"]:
                self.calls[event["name"]] += 1
                self.total[event["name"]] += duration
            args = event.get("args", {})
            device = work[
                args["External id"]] if event["cat"] in OPERATORS and "External id" in args else 0
            stack.append([begin + duration, event["name"], duration, device, device])


def operators(varve, path, *arguments):
    rows = table_reader.tables(varve, "report", "--no-cache", "--table", "operators", *arguments,
                               path)["operators"]
    return {row["name"]: row for row in rows if row["row"] == "operator"}, rows


def test_the_operator_table_of_the_tensorboard_plug_in(varve, traces):
    rows, _ = operators(varve, traces / "kineto" / "resnet50_workers0.json.gz")
    weight = rows["aten::cudnn_convolution_backward_weight"]
    assert ([weight[column] for column in ("calls", "device_self_ns", "device_total_ns", "self_ns",
                                           "total_ns")] ==
        [318, 142461000, 142461000, 22804000, 40246000])
    assert rows["aten::div"]["calls"] == 198


@pytest.mark.parametrize("name", ["kineto/resnet50_workers0", "hta/mi250_minitoy"])
def test_every_operator_is_that_of_the_reference(varve, traces, name):
    path = traces / f"{name}.json.gz"
    rows, _ = operators(varve, path)
    reference = Reference(path)
    assert len(reference.calls) > 30
    for operator, calls in reference.calls.items():
        if operator.startswith("ProfilerStep"):
            continue
        row = rows[operator]
        got = (row["calls"], row["total_ns"], row["self_ns"], row["device_self_ns"],
               row["device_total_ns"])
        assert got == (calls, reference.total[operator], reference.own[operator],
                       reference.device[operator], reference.device_total[operator]), operator


@pytest.mark.parametrize("name, arguments", [
    ("kineto/resnet50_workers0", ()), ("kineto/resnet50_workers0", ("--steps", "6..7")),
    ("dlrm8/rank0", ()), ("tracelens/h100_Falconsai", ("--thread", "5617")),
    ("tracelens/b200_eager", ()), ("ascend/trace_view", ())])
def test_device_work_adds_up_however_grouped(varve, traces, name, arguments):
    path = traces / f"{name}.json.gz"
    totals = set()
    for by in ("op", "shape", "module", "source", "phase", "stream", "thread", "layer", "rank"):
        _, rows = operators(varve, path, "--by", by, "--top", 3, *arguments)
        total = next(row for row in rows if row["row"] == "total")
        for column in ("self_ns", "device_self_ns", "kernels", "step_device_self_ns"):
            assert sum(row[column] or 0 for row in rows if row["row"] != "total") == (total[column]
                                                                                      or 0), by
        for row in rows:
            if row["row"] == "operator" and row["device_self_ns"]:
                assert row["device_busy_ns"] <= row["device_self_ns"] <= row["device_total_ns"]
        totals.add((total["self_ns"], total["device_self_ns"], total["kernels"]))
    assert len(totals) == 1

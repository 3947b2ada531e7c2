# SPDX-License-Identifier: Apache-2.0
"""torch_and_varve.py — trains a model while torch.profiler and varve.profile watch, and says what
both saw.

    torch_and_varve.py FOLDER           rows.json, windows.json, plans.json, attached.json,
                                        run.json.gz
    torch_and_varve.py FOLDER memory    memory.json; only under varve record

rows: key_averages() of both. windows: at which steps each called back, and what it had seen, for
some schedules. plans: for how many steps of how many schedules varve.schedule was asked, and where
it differs from torch's. attached: has PyTorch callbacks, before a profile, in it and after it; and
the names that torch's own handler of a ready trace gave to files. memory: the rows of a window of
three steps, with each operator's own bytes.
"""
import ctypes
import itertools
import json
import pathlib
import sys
import warnings

import torch
from torch.profiler import (ProfilerActivity, profile, record_function, schedule,
                            tensorboard_trace_handler)
from torch_models import conv_net, train

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))

import varve  # noqa: E402

ROW = ("key", "count", "cpu_time_total", "self_cpu_time_total")


def rows_of(averages):
    return [{name: getattr(row, name) for name in ROW} for row in averages]


def both_at_once(folder):
    parts = conv_net()
    train(parts, None, 1)
    with varve.profile() as ours:
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as theirs:
            with varve.record_function("warm"):
                pass
            train(parts, None, 3)
    ours.export_chrome_trace(folder / "run.json.gz")
    by_shape = [{**dict(zip(ROW, (row.key, row.count))), "shapes": row.input_shapes}
                for row in ours.key_averages(True)]
    return {"ours": rows_of(ours.key_averages()), "theirs": rows_of(theirs.key_averages()),
            "by_shape": by_shape, "table": ours.table(row_limit=5)}


PLANS = [{"wait": 1, "warmup": 1, "active": 2, "repeat": 2}, {"wait": 0, "warmup": 0, "active": 1,
                                                              "repeat": 3},
         {"wait": 2, "warmup": 1, "active": 3, "skip_first": 2},
         {"wait": 0, "warmup": 2, "active": 1, "repeat": 1}]
STEPS = 11


def windows_of(profiler):
    """[[step of the call, names of the steps' own ranges in it]], and the step at which it ends."""
    seen = []

    def ready(prof):
        names = {row.key for row in prof.key_averages()}
        seen.append([prof.step_num, sorted(name for name in names if name.startswith("of step"))])
    with profiler(ready) as prof:
        for step in range(STEPS):
            with record_function(f"of step {step}"):
                torch.ones(2) + 1
            prof.step()
    return seen


def all_windows():
    return [{"plan": plan,
             "theirs": windows_of(lambda ready, plan=plan: profile(
                 activities=[ProfilerActivity.CPU], schedule=schedule(**plan),
                 on_trace_ready=ready)),
             "ours": windows_of(lambda ready, plan=plan: varve.profile(
                 schedule=varve.schedule(**plan), on_trace_ready=ready)),
             "ours_by_their_plan": windows_of(lambda ready, plan=plan: varve.profile(
                 schedule=schedule(**plan), on_trace_ready=ready))} for plan in PLANS]


def all_plans():
    asked, wrong = 0, []
    names = ("wait", "warmup", "active", "repeat", "skip_first", "skip_first_wait")
    for numbers in itertools.product(range(4), range(3), range(1, 4), range(3), range(3), range(2)):
        plan = dict(zip(names, numbers))
        theirs, ours = schedule(**plan), varve.schedule(**plan)
        for step in range(40):
            asked += 1
            if theirs(step).name != ours(step).name:
                wrong.append([plan, step])
    return {"asked": asked, "wrong": wrong}


def attached(folder):
    has_callbacks = ctypes.CDLL(
        str(next(pathlib.Path(
            torch.__file__).parent.glob("lib/libtorch_cpu.so"))))["_ZN2at12hasCallbacksEv"]
    has_callbacks.restype = ctypes.c_bool
    seen = [has_callbacks()]
    with varve.profile(on_trace_ready=tensorboard_trace_handler(str(folder / "board"), "worker")):
        seen.append(has_callbacks())
    return {"seen": [*seen, has_callbacks()],
            "files": [path.name for path in (folder / "board").iterdir()]}


class Both:
    def __init__(self, *profilers):
        self.profilers = profilers

    def step(self):
        for profiler in self.profilers:
            profiler.step()


def memory_of_a_window():
    parts = conv_net()
    train(parts, None, 1)
    plan = {"wait": 0, "warmup": 1, "active": 3, "repeat": 1}
    with varve.profile(profile_memory=True, schedule=varve.schedule(**plan)) as ours:
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True,
                     schedule=schedule(**plan)) as theirs:
            train(parts, Both(theirs, ours), 5)
    return {side: {row.key: [row.count, row.self_cpu_memory_usage]
                   for row in profiler.key_averages()}
            for side, profiler in (("ours", ours), ("theirs", theirs))}


def main():
    folder = pathlib.Path(sys.argv[1])
    warnings.simplefilter("ignore")
    torch.manual_seed(1)
    torch.set_num_threads(1)
    if sys.argv[2:] == ["memory"]:
        (folder / "memory.json").write_text(json.dumps(memory_of_a_window()))
        return
    for name, numbers in (("rows", both_at_once(folder)), ("windows", all_windows()),
                          ("plans", all_plans()), ("attached", attached(folder))):
        (folder / f"{name}.json").write_text(json.dumps(numbers))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""turns.py: how the programs of this folder run a plant, its twin, or both in turns."""
import json
import statistics
import sys
import time

import torch


def time_of(step):
    begin_ns = time.perf_counter_ns()
    step()
    return time.perf_counter_ns() - begin_ns


def measure(plant, steps):
    """Prints the time of a step, with and without the problem: the lower quartile, since other
    programs only make steps longer."""
    ways = {"planted_ns": plant(False), "mended_ns": plant(True)}
    times = {name: [] for name in ways}
    for number in range(steps + 2):
        for name, step in ways.items():
            took_ns = time_of(step)
            if number >= 2:  # warm
                times[name].append(took_ns)
    print(json.dumps({name: statistics.quantiles(took, n=4)[0] for name, took in times.items()}))


def run(plants, steps=14):
    """`plants`: {name: function(is_mended) that returns the function of one step}."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if sys.argv[1] == "--measure":
        measure(plants[sys.argv[2]], steps)
        return
    step = plants[sys.argv[1]](sys.argv[2] == "mended")
    for _ in range(steps):
        step()

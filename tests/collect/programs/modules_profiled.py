# SPDX-License-Identifier: Apache-2.0
"""modules_profiled.py — calls of modules, and what PyTorch's own profiler saw of them.

    python modules_profiled.py FILE        writes {"version", "calls": [[name, depth], …]}

Runs on PyTorch 1.13 and later. Depth counts the modules whose call a call is in; in order of their
begin. A third run in a thread of its own, which the profiler does not see, is recorded behind the
range "window".
"""
import json
import sys
import threading

import torch
from torch import nn
from torch.profiler import profile, record_function


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.act = nn.LayerNorm(width), nn.ReLU()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, rows):
        return rows + self.down(self.act(self.up(self.norm(rows))))


class Again(nn.Module):
    """Calls itself, and ends in an exception that it raises at the bottom."""
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleDict({"last": nn.Linear(8, 8)})

    def forward(self, rows, depth):
        if depth > 0:
            self(rows, depth - 1)
        self.inner["last"](rows)
        raise ValueError(depth)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Block(8) for _ in range(3))
        self.head = nn.Sequential(nn.Linear(8, 4), nn.Sequential(nn.Tanh(), nn.Linear(4, 2)))

    def forward(self, rows):
        for layer in self.layers:
            rows = layer(rows)
        return self.head(rows)


def run(net, again):
    net(torch.ones(2, 8)).sum().backward()
    net.layers[1](torch.ones(2, 8))  # by itself
    try:
        again(torch.ones(2, 8), 3)
    except ValueError:
        pass


def name_of(event):
    try:
        return event.name
    except UnicodeDecodeError:  # PyTorch 2.2, of what is no module
        return ""


def seen(events, depth=0):
    for event in sorted(events, key=lambda event: event.start_time_ns):
        is_module = name_of(event).startswith("nn.Module: ")
        if is_module:
            yield event.name, depth
        yield from seen(event.children, depth + is_module)


def main():
    net, again = Net(), Again()
    with profile(with_stack=True) as profiler:
        with record_function("window"):
            run(net, again)
            run(net, again)
    with record_function("thread"):
        thread = threading.Thread(target=run, args=(net, again))
        thread.start()
        thread.join()
    calls = list(seen(profiler.profiler.kineto_results.experimental_event_tree()))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"version": torch.__version__, "calls": calls}, file)


if __name__ == "__main__":
    main()

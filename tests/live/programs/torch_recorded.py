# SPDX-License-Identifier: Apache-2.0
"""torch_recorded.py — trains a model while torch.profiler watches.

    torch_recorded.py FOLDER conv|transformer [beside]      NAME.json, its trace; beside: each step
    another thread runs
                                                            CALLS operators

Its data come from a DataLoader, so that each step has all that a training step has.
"""
import pathlib
import sys
import threading

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, TensorDataset

from torch_models import conv_net

STEPS = 3
CALLS = 10


def transformer():
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
    return nn.TransformerEncoder(layer, 4), torch.randn(2, 12,
                                                        32), nn.MSELoss(), torch.randn(2, 12, 32)


MODELS = {"conv": conv_net, "transformer": transformer}


def call(tensor):
    for _ in range(CALLS):
        tensor.zero_()


def run_beside(tensor):
    thread = threading.Thread(target=call, args=(tensor,))
    thread.start()
    thread.join()


def train(parts, profiler, steps, with_thread):
    net, data, loss_of, target = parts
    loader = DataLoader(TensorDataset(data, target), batch_size=len(data))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(steps):
        for batch, wanted in loader:
            optimizer.zero_grad()
            with record_function("forward pass"):
                loss = loss_of(net(batch), wanted)
            loss.backward()
            optimizer.step()
        if with_thread:
            run_beside(wanted.clone())
        profiler.step()


def main():
    folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    parts = MODELS[name]()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
                 schedule=schedule(wait=0, warmup=1, active=STEPS, repeat=1)) as profiler:
        train(parts, profiler, 1 + STEPS, sys.argv[3:] == ["beside"])
    profiler.export_chrome_trace(str(folder / f"{name}.json"))


if __name__ == "__main__":
    main()

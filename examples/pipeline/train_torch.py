# SPDX-License-Identifier: Apache-2.0
"""Trains a small network in PyTorch and keeps what doc/pipeline.md works with:

    trace.json      the profile of three runs of the trained network, by torch.profiler
    model.mlir      the network in torch-mlir's dialect torch, each operation named by its module
    linalg.mlir     the same in the dialects that a compiler such as IREE begins with
"""
import pathlib

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch_mlir import fx

import varve.mlir

STEPS = 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 16, 5, padding=2), nn.BatchNorm2d(16)
        self.conv2, self.norm2 = nn.Conv2d(16, 32, 5, padding=2), nn.BatchNorm2d(32)
        self.head = nn.Linear(7 * 7 * 32, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.norm1(self.conv1(x))), 2)
        x = nn.functional.max_pool2d(torch.relu(self.norm2(self.conv2(x))), 2)
        return self.head(x.flatten(1))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Net()
    images, labels = torch.randn(32, 1, 28, 28), torch.arange(32) % 10
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for number in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        print(f"step {number}  loss {loss.item():.3f}")

    net.eval()
    with torch.no_grad():
        net(images)
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                     with_stack=True) as prof:
            for number in range(STEPS):
                with record_function(f"ProfilerStep#{number}"):
                    net(images)
    prof.export_chrome_trace("trace.json")

    program = torch.export.export(net, (images,))
    for form, name in (("raw", "model.mlir"), ("linalg-on-tensors", "linalg.mlir")):
        with varve.mlir.torch_names():
            module = fx.export_and_import(program, output_type=form, decomposition_table={})
        pathlib.Path(name).write_text(module.operation.get_asm(enable_debug_info=True))


if __name__ == "__main__":
    main()

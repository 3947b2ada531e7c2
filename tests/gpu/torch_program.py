# SPDX-License-Identifier: Apache-2.0
"""torch_program.py MODEL STEPS FOLDER [profiled]: trains a small model on the GPU, for
tests/gpu/run. Prints the least time of a step in ms; with `profiled`, PyTorch's profiler writes
FOLDER/kineto.json."""
import contextlib
import sys
import time

import torch


def convolutions():
    """Residual blocks of convolutions, in the shapes of ResNet-50's first stage."""
    class Block(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.inner = torch.nn.Sequential(
                torch.nn.Conv2d(width, width, 3, padding=1, bias=False),
                torch.nn.BatchNorm2d(width), torch.nn.ReLU(),
                torch.nn.Conv2d(width, width, 3, padding=1, bias=False),
                torch.nn.BatchNorm2d(width))

        def forward(self, x):
            return torch.relu(x + self.inner(x))

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 7, stride=2, padding=3),
                                *[Block(64) for _ in range(8)], torch.nn.AdaptiveAvgPool2d(1),
                                torch.nn.Flatten(), torch.nn.Linear(64, 10))
    return model, torch.randn(16, 3, 96, 96), torch.randint(0, 10, (16,))


def transformer():
    """Two layers of a transformer's encoder, and a head."""
    layer = torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True, dropout=0)
    model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 2), torch.nn.Flatten(),
                                torch.nn.Linear(64 * 256, 10))
    return model, torch.randn(8, 64, 256), torch.randint(0, 10, (8,))


def main(name, steps, folder, *words):
    torch.manual_seed(0)
    model, inputs, targets = {"convolutions": convolutions, "transformer": transformer}[name]()
    model, inputs, targets = model.cuda(), inputs.pin_memory(), targets.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    times = []

    def step():
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs.cuda(non_blocking=True)), targets)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)

    for _ in range(5):  # libraries choose their kernels
        step()
    profiler = contextlib.nullcontext()
    if "profiled" in words:
        activities = torch.profiler.ProfilerActivity
        profiler = torch.profiler.profile(activities=[activities.CPU, activities.CUDA])
    with profiler:
        times.clear()
        with torch.profiler.record_function("measured"):
            for _ in range(int(steps)):
                step()
    if "profiled" in words:
        profiler.export_chrome_trace(f"{folder}/kineto.json")
    print(f"step_ms {1000 * min(times):.4f}")


main(*sys.argv[1:])

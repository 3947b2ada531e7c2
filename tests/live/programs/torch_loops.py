# SPDX-License-Identifier: Apache-2.0
"""torch_loops.py — loops that people write, in small, while torch.profiler watches.

    torch_loops.py FOLDER LOOP      NAME.json, its trace; no loop says where a step begins

lbfgs and closure hand the optimizer a closure, as Lightning does; gan has two optimizers in each
iteration; manual has none and updates its parameters itself; dry has one step alone; leak keeps
all outputs to its end.
"""
import pathlib
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, TensorDataset

STEPS = 6


def net(*sizes):
    layers = []
    for wide, narrow in zip(sizes, sizes[1:]):
        layers += [nn.Linear(wide, narrow), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def batches(size, count):
    return DataLoader(TensorDataset(torch.randn(count * 16, size)), batch_size=16)


def lbfgs():
    model, data = net(20, 64, 1), torch.randn(256, 20)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(data), data.sum(1, keepdim=True))
        loss.backward()
        return loss

    for _ in range(STEPS):
        optimizer.step(closure)


def closure_loop():
    model, loader = net(20, 64, 20), batches(20, STEPS)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for batch, in loader:

        def closure(batch=batch):
            loss = model(batch).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            return loss

        optimizer.step(closure)
    with torch.no_grad():
        for batch, in batches(20, 3):
            model(batch).mean()


def gan():
    makes, judges = net(8, 48, 20), net(20, 32, 1)
    optimizers = [torch.optim.Adam(part.parameters(), lr=1e-3) for part in (judges, makes)]
    score = nn.functional.binary_cross_entropy_with_logits
    for batch, in batches(20, STEPS):
        noise = torch.randn(len(batch), 8)
        ones, zeros = torch.ones(len(batch), 1), torch.zeros(len(batch), 1)
        optimizers[0].zero_grad()
        loss = score(judges(batch), ones) + score(judges(makes(noise).detach()), zeros)
        loss.backward()
        optimizers[0].step()
        optimizers[1].zero_grad()
        score(judges(makes(noise)), ones).backward()
        optimizers[1].step()


def manual(steps=STEPS):
    model = net(20, 64, 20)
    for _ in range(steps):
        model.zero_grad()
        model(torch.randn(16, 20)).pow(2).mean().backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(parameter.grad, alpha=-0.01)


def dry():
    model, data = net(20, 64, 20), torch.randn(4, 20)
    for row in range(60):  # what repeats itself is the making of the data
        data[row % 4].add_(1).mul_(0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(data).pow(2).mean().backward()
    optimizer.step()


def leak():
    model, outputs = net(20, 64, 20), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4 * STEPS):
        optimizer.zero_grad()
        outputs.append(model(torch.randn(16, 20)))
        outputs[-1].pow(2).mean().backward()
        optimizer.step()


LOOPS = {"lbfgs": lbfgs, "closure": closure_loop, "gan": gan, "manual": manual, "dry": dry,
         "leak": leak}


def main():
    folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        LOOPS[name]()
    profiler.export_chrome_trace(str(folder / f"{name}.json"))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""A training loop with one slow step in ten: it writes a checkpoint. Found in doc/slow-step.md.

    varve record -- python3 examples/torch/checkpoints.py
    varve steps
"""
import argparse
import io

import torch
from torch import nn


class Checkpoints:
    def __init__(self, model):
        self.model = model

    def write(self):
        """As a disk that takes its time: the weights are written, read again, and compared."""
        memory = io.BytesIO()
        for _ in range(4):
            memory.seek(0)
            torch.save({name: weight.double() for name, weight in self.model.state_dict().items()},
                       memory)
            memory.seek(0)
            for name, weight in torch.load(memory, weights_only=True).items():
                assert torch.equal(weight.float(), self.model.state_dict()[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--every", type=int, default=10)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(),
                          nn.Linear(2048, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    checkpoints = Checkpoints(model)
    for step in range(1, arguments.steps + 1):
        inputs, labels = torch.randn(256, 512), torch.randint(0, 10, (256,))
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % arguments.every == 0:
            checkpoints.write()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()

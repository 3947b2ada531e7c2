# SPDX-License-Identifier: Apache-2.0
"""A training loop whose memory grows with each step: the losses' sum keeps every step's graph.

Found in doc/slow-step.md.

    varve record -- python3 examples/torch/kept_graphs.py
    varve memory
"""
import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--item", action="store_true",
                        help="add up numbers, not tensors: the remedy")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU(),
                          nn.Linear(1024, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    total = 0.0
    for _ in range(arguments.steps):
        inputs, labels = torch.randn(128, 256), torch.randint(0, 10, (128,))
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward(retain_graph=not arguments.item)  # "it complained, so I added this"
        optimizer.step()
        total = total + (loss.item() if arguments.item else loss)
    print(f"mean loss {float(total) / arguments.steps:.3f}")


if __name__ == "__main__":
    main()

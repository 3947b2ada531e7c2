# SPDX-License-Identifier: Apache-2.0
"""A small image classifier, trained on numbers drawn at random. It is README's example.

    varve record -- python3 examples/torch/train.py
    varve report

Nothing here knows of Varve. The loader decodes in the training process (num_workers=0), as many a
first program does."""
import argparse

import torch
from torch import nn


class Images(torch.utils.data.Dataset):
    """Images that are "decoded" when asked for: resized, flipped, normalised."""

    def __init__(self, count):
        self.raw = torch.randint(0, 256, (count, 3, 64, 64), dtype=torch.uint8)
        self.labels = torch.randint(0, 10, (count,))

    def __len__(self):
        return len(self.raw)

    def __getitem__(self, i):
        image = self.raw[i : i + 1].float() / 255
        image = nn.functional.interpolate(image, size=96, mode="bicubic", antialias=True)
        image = nn.functional.interpolate(image, size=32, mode="bicubic", antialias=True)
        return (image[0].flip(-1) - 0.5) / 0.25, self.labels[i]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--workers", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Flatten(), nn.Linear(64 * 8 * 8, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loader = torch.utils.data.DataLoader(Images(32 * arguments.steps), batch_size=32,
                                         num_workers=arguments.workers)
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()

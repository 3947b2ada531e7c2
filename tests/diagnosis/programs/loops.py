# SPDX-License-Identifier: Apache-2.0
"""Training loops on the processor that do something in their steps that is no operator's fault:
they wait for data, keep graphs, sleep, collect garbage, save.

What a plant does is in its function's first line."""
import io
import time

import torch
from torch import nn

import turns

BATCH, WIDTH = 16, 256


class Net(nn.Sequential):
    def __init__(self, depth=6):
        super().__init__(*(layer for _ in range(depth) for layer in (nn.Linear(WIDTH, WIDTH),
                                                                       nn.ReLU())))


def training(batches, net=None, after=lambda net, rows: None):
    """A step: a batch, forward, backward, optimizer, and what comes after it."""
    net = net or Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)

    def step():
        rows = next(batches)
        loss = net(rows).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        after(net, rows)

    return step


def one_batch():
    rows = torch.ones(BATCH, WIDTH)
    while True:
        yield rows


class Images(torch.utils.data.Dataset):
    """Images that are scaled when asked for, or were ahead of training."""

    def __init__(self, is_ahead):
        self.rows = self.make(0) if is_ahead else None

    @staticmethod
    def make(number):
        image = torch.full((1, 1, 24, 24), float(number % 7))
        for size in (96, 16):
            image = nn.functional.interpolate(image, size=size, mode="bicubic", antialias=True)
        return image.flatten()

    def __len__(self):
        return 10 ** 6

    def __getitem__(self, i):
        return self.rows if self.rows is not None else self.make(i)


def loader(is_mended):
    """The data is made in the training process, image by image."""
    return training(iter(torch.utils.data.DataLoader(Images(is_mended), batch_size=BATCH)))


def kept(is_mended):
    """A list keeps the graphs of all losses."""
    total = []

    def after(net, rows):
        loss = net(rows).square().mean()
        total.append(loss.item() if is_mended else loss)
    return training(one_batch(), after=after)


def pause(is_mended):
    """The loop sleeps in each step."""
    return training(one_batch(), after=lambda net, rows: time.sleep(0 if is_mended else 0.01))


def one_step(is_mended):
    """A step saves the model many times."""
    count = [0]

    def after(net, _):
        count[0] += 1
        for _ in range(30 if count[0] == 9 and not is_mended else 0):
            file = io.BytesIO()
            torch.save(net.state_dict(), file)
            torch.load(io.BytesIO(file.getvalue()))
    return training(one_batch(), after=after)


if __name__ == "__main__":
    turns.run({function.__name__: function for function in (loader, kept, pause, one_step)})

# SPDX-License-Identifier: Apache-2.0
"""A training loop on the processor with one fault, or with it mended.

    planted.py FAULT [--mended]

The faults: `loader`, the data is made in the training process, image by image; `optimizer`, Adam
goes parameter by parameter; `copies`, activations are copied and cast to and fro; `pause`, the loop
sleeps in each step; `one_step`, a step writes a checkpoint and reads it back; `kept`, a list keeps
the graphs of all losses."""
import argparse
import io
import time

import torch
from torch import nn

STEPS, BATCH, WIDTH = 24, 64, 256


class Rows(torch.utils.data.Dataset):
    """Rows that are made when asked for, or ahead of training."""

    def __init__(self, is_ahead):
        self.rows = [self.make(i) for i in range(STEPS * BATCH)] if is_ahead else None

    @staticmethod
    def make(number):
        image = torch.full((1, 1, 24, 24), float(number % 7))
        for size in (96, 16):
            image = nn.functional.interpolate(image, size=size, mode="bicubic", antialias=True)
        return image.flatten()

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, i):
        return self.rows[i] if self.rows is not None else self.make(i)


class Net(nn.Module):
    def __init__(self, depth, has_copies):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(depth))
        self.has_copies = has_copies

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
            for _ in range(30 if self.has_copies else 0):
                x = x.double().t().contiguous().t().float()
        return x


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fault")
    parser.add_argument("--mended", action="store_true")
    arguments = parser.parse_args()
    fault = arguments.fault if not arguments.mended else "none"
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Net(60 if arguments.fault == "optimizer" else 12, fault == "copies")
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4,
                                 fused=arguments.fault == "optimizer" and arguments.mended,
                                 foreach=False if fault == "optimizer" else None)
    loader = torch.utils.data.DataLoader(Rows(fault != "loader"), batch_size=BATCH)
    kept = []
    for number, rows in enumerate(loader):
        loss = net(rows).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if fault == "kept":
            kept.append(net(rows).square().mean())
        if fault == "pause":
            time.sleep(0.02)
        if fault == "one_step" and number == STEPS // 2:
            for _ in range(40):
                file = io.BytesIO()
                torch.save(net.state_dict(), file)
                torch.load(io.BytesIO(file.getvalue()))
    print(f"{len(kept)} kept, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()

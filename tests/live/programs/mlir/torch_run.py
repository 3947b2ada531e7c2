# SPDX-License-Identifier: Apache-2.0
"""torch_run.py — runs a PyTorch net a few steps, to be recorded by `varve record`.

    torch_run.py FOLDER gpt|resnet small|large
"""
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "python"))

import varve  # noqa: E402
from torch_nets import net_of  # noqa: E402

STEPS = 3


def main():
    torch.set_num_threads(1)
    net, data = net_of(*sys.argv[2:4])
    with torch.no_grad():
        for _ in range(STEPS):
            net(data)
            varve.step()


if __name__ == "__main__":
    main()

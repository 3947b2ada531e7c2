# SPDX-License-Identifier: Apache-2.0
"""resnet18.py — ResNet-18 in PyTorch with random weights, as an MLIR module, and an input for it.

    python examples/mlir/resnet18.py FOLDER

Writes FOLDER/resnet18.mlir (linalg on tensors, with locations) and FOLDER/image.npy. Needs torch,
torch-mlir and NumPy; nothing is downloaded.
"""
import pathlib
import sys

import numpy
import torch
from torch import nn
from torch_mlir import fx

PIXELS = 112


class Block(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(into, out, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.short = nn.Sequential()
        if (into, stride) != (out, 1):
            self.short = nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False),
                                       nn.BatchNorm2d(out))

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(y)) + self.short(x))


class ResNet18(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.norm, self.pool = nn.BatchNorm2d(64), nn.MaxPool2d(3, 2, 1)
        widths = [64, 64, 128, 256, 512]
        self.blocks = nn.Sequential(*(
            Block(into if first else out, out, 2 if first and into != out else 1)
            for into, out in zip(widths, widths[1:]) for first in (True, False)))
        self.head = nn.Linear(512, classes)

    def forward(self, image):
        x = self.pool(torch.relu(self.norm(self.stem(image))))
        return self.head(self.blocks(x).mean((2, 3)))


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    net, image = ResNet18().eval(), torch.randn(1, 3, PIXELS, PIXELS)
    module = fx.export_and_import(net, image, output_type="linalg-on-tensors")
    (folder / "resnet18.mlir").write_text(module.operation.get_asm(enable_debug_info=True))
    numpy.save(folder / "image.npy", image.numpy())


if __name__ == "__main__":
    main()

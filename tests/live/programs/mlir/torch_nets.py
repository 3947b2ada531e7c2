# SPDX-License-Identifier: Apache-2.0
"""torch_nets.py: a transformer and a residual network, of any size, with random weights."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x):
        batch, tokens, width = x.shape

        def split(y):
            return y.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = map(split, self.qkv(x).chunk(3, -1))
        scores = (q @ k.transpose(-1, -2)) * (width // self.heads) ** -0.5
        mixed = scores.softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.fc2(nn.functional.gelu(self.fc1(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, words, tokens):
        super().__init__()
        self.embed, self.place = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.register_buffer("places", torch.arange(tokens))

    def forward(self, words):
        x = self.embed(words) + self.place(self.places)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Residual(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        self.c1 = nn.Conv2d(into, out, 3, stride, 1, bias=False)
        self.c2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.b1, self.b2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.short = nn.Sequential() if (into, stride) == (out, 1) else nn.Sequential(
            nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = torch.relu(self.b1(self.c1(x)))
        return torch.relu(self.b2(self.c2(y)) + self.short(x))


class Resnet(nn.Module):
    """With two blocks a stage and four stages from 64 channels on it is ResNet-18."""

    def __init__(self, stages, width, classes):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.norm, self.pool = nn.BatchNorm2d(width), nn.MaxPool2d(3, 2, 1)
        sizes = [width << max(0, i) for i in range(-1, stages)]
        self.layers = nn.ModuleList(
            Residual(into if first else out, out, 2 if first and stage else 1)
            for stage, (into, out) in enumerate(zip(sizes, sizes[1:])) for first in (1, 0))
        self.head = nn.Linear(sizes[-1], classes)

    def forward(self, x):
        x = self.pool(torch.relu(self.norm(self.stem(x))))
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean((2, 3)))


# Name: (net, inputs) of the size "small" or "large".
def net_of(name, size):
    torch.manual_seed(0)
    large = size == "large"
    if name == "gpt":
        layers, width, heads, words, tokens = (12, 384, 6, 2000, 64) if large else (2, 64, 2, 100,
                                                                                   16)
        net = Gpt(layers, width, heads, words, tokens)
        data = torch.randint(0, words, (1, tokens))
    else:
        net = Resnet(4 if large else 2, 64 if large else 8, 1000 if large else 10)
        data = torch.randn(1, 3, 112 if large else 32, 112 if large else 32)
    return net.eval(), data

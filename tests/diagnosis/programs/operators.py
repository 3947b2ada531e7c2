# SPDX-License-Identifier: Apache-2.0
"""Training loops on the processor whose operators are more, larger or slower than they need be.

What a plant does is in its function's first line."""
import torch
from torch import nn

import turns


def training(net, rows, optimizer=None, loss_of=None, set_to_none=True):
    """A step: forward, backward, optimizer."""
    optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=1e-4)

    def step():
        out = net(rows)
        loss = loss_of(out) if loss_of else out.square().mean()
        optimizer.zero_grad(set_to_none=set_to_none)
        loss.backward()
        optimizer.step()

    return step


class Between(nn.Module):
    """Layers with an activation, and something more, between them."""

    def __init__(self, layers, between=lambda x: x):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.between = between

    def forward(self, x):
        for layer in self.layers:
            x = self.between(torch.relu(layer(x)))
        return x


def linears(depth, width):
    return [nn.Linear(width, width) for _ in range(depth)]


def optimizer(is_mended):
    """Adam works parameter by parameter."""
    net = Between(linears(60, 24))
    adam = torch.optim.Adam(net.parameters(), lr=1e-4, fused=is_mended, foreach=False)
    return training(net, torch.ones(8, 24), adam)


def copies(is_mended):
    """Activations are transposed and cast to and fro."""
    def between(x):
        for _ in range(0 if is_mended else 8):
            x = x.double().t().contiguous().t().float()
        return x
    return training(Between(linears(8, 256), between), torch.ones(64, 256))


def layout(is_mended):
    """Each convolution gets another memory format than the one before left."""
    formats = (torch.channels_last, torch.contiguous_format)

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Conv2d(16, 16, 1) for _ in range(6))

        def forward(self, x):
            for layer in self.layers:
                for form in formats if not is_mended else ():
                    x = x.contiguous(memory_format=form)
                x = layer(x)
            return x

    return training(Mixed(), torch.ones(8, 16, 32, 32))


def clones(is_mended):
    """A clone is made of each activation, though nothing writes to it."""
    def between(x):
        for _ in range(0 if is_mended else 8):
            x = x.clone()
        return x
    return training(Between(linears(8, 256), between), torch.ones(64, 256))


def doubles(is_mended):
    """The model is in double precision."""
    dtype = torch.float32 if is_mended else torch.float64
    return training(Between(linears(6, 384)).to(dtype), torch.ones(128, 384, dtype=dtype))


def tiny(is_mended):
    """A recurrence goes over single rows, a few small operators each."""
    net = Between(linears(4, 64))

    def loss_of(out):
        if is_mended:
            return out.mul(0.5).add(1).square().mean()
        total = 0
        for row in out.unbind():
            total = total + row.mul(0.5).add(1).square().mean()
        return total / len(out)
    return training(net, torch.ones(128, 64), loss_of=loss_of)


def items(is_mended):
    """A metric reads each number of the result by itself."""
    net = Between(linears(6, 256))

    def loss_of(out):
        best = out.detach().amax(1)
        _ = best.sum().item() if is_mended else sum(best[i].item() for i in range(len(best)))
        return out.square().mean()
    return training(net, torch.ones(1024, 256), loss_of=loss_of)


def zeros(is_mended):
    """Gradients are set to zero, and not to None."""
    net = nn.EmbeddingBag(20000, 64)
    return training(net, torch.arange(64).reshape(8, 8), set_to_none=is_mended)


def norms(is_mended):
    """Gradients are clipped parameter by parameter."""
    net = Between(linears(40, 32))
    step_of = training(net, torch.ones(16, 32))

    def step():
        for parameter in () if is_mended else net.parameters():
            for _ in range(8):
                if parameter.grad is not None:
                    torch.linalg.vector_norm(parameter.grad)
        step_of()
    return step


def noise(is_mended):
    """Noise is drawn anew for each layer."""
    def between(x):
        return x if is_mended else x + torch.randn_like(x)
    return training(Between(linears(6, 256), between), torch.ones(64, 256))


def masks(is_mended):
    """A mask is made in each layer."""
    mask = torch.ones(64, 256, 16)

    def between(x):
        for _ in range(4):
            x = x * (mask if is_mended else torch.ones(64, 256, 16))[:, :, 0]
        return x
    return training(Between(linears(6, 256), between), torch.ones(64, 256))


def selections(is_mended):
    """Rows are selected by values, so that sizes depend on them."""
    def between(x):
        kept = (x > 0)
        if is_mended:
            return x * kept
        return x * torch.zeros_like(x).index_put_(tuple(kept.nonzero().t()), torch.ones(()))
    return training(Between(linears(6, 256), between), torch.ones(64, 256))


if __name__ == "__main__":
    turns.run({function.__name__: function for function in
               (optimizer, copies, layout, clones, doubles, tiny, items, zeros, norms, noise, masks,
                selections)})

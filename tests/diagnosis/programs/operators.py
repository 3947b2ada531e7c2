# SPDX-License-Identifier: Apache-2.0
"""Training loops on the processor whose operators are more, larger or slower than they need be.

What a plant does is in its function's first line."""
import torch
import torch.utils.checkpoint
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
    """Activations are cast to and fro."""
    def between(x):
        for _ in range(0 if is_mended else 8):
            x = x.double().float()
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
    """Clones are made of each activation, though nothing writes to them."""
    def between(x):
        for _ in range(0 if is_mended else 8):
            x = x.clone()
        return x
    return training(Between(linears(8, 32), between), torch.ones(1024, 32))


def doubles(is_mended):
    """The model is in double precision."""
    dtype = torch.float32 if is_mended else torch.float64
    return training(Between(linears(6, 384)).to(dtype), torch.ones(128, 384, dtype=dtype))


def tiny(is_mended):
    """A metric goes over single rows, a few small operators each."""
    def loss_of(out):
        rows = out.detach()
        for row in () if is_mended else rows.unbind():
            row.mul(0.5).add(1).square().mean()
        rows.mul(0.5).add(1).square().mean(1)
        return out.square().mean()
    return training(Between(linears(2, 128)), torch.ones(256, 128), loss_of=loss_of)


def items(is_mended):
    """The loss is read for the log many times."""
    net = Between(linears(4, 64))

    def loss_of(out):
        loss = out.square().mean()
        for _ in range(0 if is_mended else 800):
            loss.item()
        return loss
    return training(net, torch.ones(256, 64), loss_of=loss_of)


def zeros(is_mended):
    """Gradients are set to zero, and not to None."""
    return training(Between(linears(12, 512)), torch.ones(1, 512), set_to_none=is_mended)


def norms(is_mended):
    """Gradients are watched parameter by parameter."""
    net = Between(linears(16, 64))
    step_of = training(net, torch.ones(64, 64))

    def step():
        step_of()
        for parameter in () if is_mended else net.parameters():
            for order in (1, 2, 3, 4) * 4:
                torch.linalg.vector_norm(parameter.grad, order)
    return step


def noise(is_mended):
    """Noise is drawn anew for each layer, four times."""
    noise_once = torch.randn(64, 128)

    def between(x):
        for _ in range(4):
            drawn = noise_once if is_mended else torch.randn_like(x)
        return x + drawn
    return training(Between(linears(6, 128), between), torch.ones(64, 128))


def masks(is_mended):
    """Masks are made in each layer."""
    mask = torch.ones(1024, 64)

    def between(x):
        for _ in range(40):
            made = mask if is_mended else torch.ones(1024, 64)
        return x * made
    return training(Between(linears(6, 64), between), torch.ones(1024, 64))


def selections(is_mended):
    """A metric selects by values, so that sizes depend on them."""
    def between(x):
        if is_mended:
            _ = torch.where(x.detach() > 0, x.detach(), 0).sum()
        else:
            _ = x.detach()[x.detach() > 0].sum()
        return x
    return training(Between(linears(6, 64), between), torch.ones(256, 64))


class Words(nn.Module):
    def __init__(self, rows, is_sparse):
        super().__init__()
        self.table = nn.Embedding(rows, 32, sparse=is_sparse)
        self.out = nn.Linear(32, 1)

    def forward(self, words):
        return self.out(self.table(words))


def words(is_mended):
    """The gradient of an embedding table is as large as the table, and larger than what an
    allocator keeps: each step gets its memory anew from the system."""
    return training(Words(300000, is_mended), torch.arange(320).reshape(16, 20))


class Recurrent(nn.Module):
    """A cell time step by time step, or a layer over all of them."""

    def __init__(self, is_layer, width=64):
        super().__init__()
        self.part = (nn.LSTM if is_layer else nn.LSTMCell)(width, width)
        self.is_layer, self.width = is_layer, width

    def forward(self, x):
        if self.is_layer:
            return self.part(x)[0]
        state, outs = (torch.zeros(x.shape[1], self.width),) * 2, []
        for now in x:
            state = self.part(now, state)
            outs.append(state[0])
        return torch.stack(outs)


def cells(is_mended):
    """A recurrent cell is called for each time step."""
    return training(Recurrent(is_mended), torch.ones(100, 8, 64))


def joined(is_mended, kept=16384, width=64):
    """A queue of the last outputs is joined anew in each layer."""
    queue, at = torch.zeros(kept, width), [0]

    def between(x):
        rows = x.detach()
        if is_mended:
            queue[at[0]:at[0] + len(rows)] = rows
            at[0] = (at[0] + len(rows)) % kept
        else:
            torch.cat((queue[len(rows):], rows))
        return x
    return training(Between(linears(6, width), between), torch.ones(64, width))


def passes(is_mended):
    """Each of four losses has a backward pass of its own."""
    net = Between(linears(6, 256))
    rows, optimizer_of = torch.ones(256, 256), torch.optim.SGD(net.parameters(), lr=1e-4)

    def step():
        out = net(rows)
        losses = [part.square().mean() for part in out.chunk(4, 1)]
        optimizer_of.zero_grad()
        for loss in (sum(losses),) if is_mended else losses:
            loss.backward(retain_graph=not is_mended)
        optimizer_of.step()
    return step


def recomputed(is_mended):
    """Each block is checkpointed, though memory is not short."""
    class Checkpointed(Between):
        def forward(self, x):
            for block in self.layers:
                x = block(x) if is_mended else torch.utils.checkpoint.checkpoint(
                    block, x, use_reentrant=False)
            return x
    blocks = [nn.Sequential(*(layer for linear in linears(4, 384) for layer in (linear, nn.GELU())))
              for _ in range(3)]
    return training(Checkpointed(blocks), torch.ones(256, 384, requires_grad=True))


def anomaly(is_mended):
    """The search for NaN in gradients is on."""
    torch.autograd.set_detect_anomaly(not is_mended)
    return training(Between(linears(6, 256)), torch.ones(64, 256))


def evaluated(is_mended):
    """A model is evaluated in training mode, with dropout."""
    net = nn.Sequential(*(layer for _ in range(6) for layer in (nn.Linear(256, 256),
                                                                nn.Dropout(0.1))))
    rows = torch.ones(512, 256)

    def step():
        net.train(not is_mended)
        with torch.no_grad():
            net(rows)
    return step


class Heads(nn.Module):
    """A small layer for each output, or one for all."""

    def __init__(self, count, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(256, width) for _ in range(count))

    def forward(self, x):
        return torch.cat([layer(x) for layer in self.layers], 1)


def heads(is_mended):
    """A model ends in many small layers, one after the other."""
    return training(Heads(*((1, 256) if is_mended else (64, 4))), torch.ones(16, 256))


def printed(is_mended):
    """The log has the text of tensors."""
    def loss_of(out):
        for rows in out.detach()[:64].split(8):
            _ = None if is_mended else f"{rows[:, :8]}"
        return out.square().mean()
    return training(Between(linears(2, 128)), torch.ones(256, 128), loss_of=loss_of)


def numbers(is_mended):
    """A metric is taken in NumPy, row by row."""
    def loss_of(out):
        for row in () if is_mended else out.detach().unbind():
            row.numpy().std()
        return out.square().mean()
    return training(Between(linears(2, 128)), torch.ones(256, 128), loss_of=loss_of)


def graphs(is_mended):
    """A model is evaluated with a graph for a backward pass that nobody wants."""
    net, rows = Between(linears(12, 128)), torch.ones(64, 128)

    def step():
        with torch.set_grad_enabled(not is_mended):
            net(rows)
    return step


if __name__ == "__main__":
    turns.run({function.__name__: function for function in
               (optimizer, copies, layout, clones, doubles, tiny, items, zeros, norms, noise, masks,
                selections, words, cells, joined, passes, recomputed, anomaly, evaluated, heads,
                printed, numbers, graphs)})

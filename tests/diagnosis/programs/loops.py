# SPDX-License-Identifier: Apache-2.0
"""Training loops on the processor that do something in their steps that is no operator's fault:
they wait for data, keep graphs, sleep, collect garbage, save.

What a plant does is in its function's first line."""
import gc
import io
import itertools
import mmap
import os
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

    def __init__(self, is_ahead, size=96):
        self.size = size
        self.rows = self.make(0) if is_ahead else None

    def make(self, number):
        image = torch.full((1, 1, 24, 24), float(number % 7))
        for size in (self.size, 16):
            image = nn.functional.interpolate(image, size=size, mode="bicubic", antialias=True)
        return image.flatten()

    def __len__(self):
        return 10 ** 6

    def __getitem__(self, i):
        return self.rows if self.rows is not None else self.make(i)


def loader(is_mended):
    """The data is made in the training process, image by image."""
    return training(iter(torch.utils.data.DataLoader(Images(is_mended), batch_size=BATCH)))


def collated(is_mended):
    """Rows are put together number by number, in Python."""
    rows = torch.ones(64, WIDTH)

    class Lists(Images):
        def __getitem__(self, i):
            return [float(i % 7)] * WIDTH

    def collate(items):
        return rows if is_mended else torch.tensor([[0.5 * number for number in item]
                                                    for item in items])
    return training(iter(torch.utils.data.DataLoader(Lists(True), batch_size=64,
                                                     collate_fn=collate)))


class Crops(Images):
    """Each one takes many short operators that a pool shares."""

    def __init__(self):
        super().__init__(False)

    def __getitem__(self, i):
        image = torch.full((1, 64, 32, 32), float(i % 7))
        for size in (24, 16) * 4:
            image = nn.functional.interpolate(image, size=size, mode="bicubic", antialias=True)
        return image[0, 0].flatten()


def crowd(is_mended):
    """Each worker of the loader has a pool of 16 threads."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # else pools stop the machine
    count = 1 if is_mended else 16
    crops = torch.utils.data.DataLoader(Crops(), batch_size=BATCH, num_workers=2,
                                        worker_init_fn=lambda _: torch.set_num_threads(count))
    return training(iter(crops))


class Few(Images):
    """A set of a few batches, which has its images."""

    def __init__(self):
        super().__init__(True)

    def __len__(self):
        return 2 * BATCH


def epochs(is_mended):
    """The workers are forked anew for each epoch of two batches."""
    few = torch.utils.data.DataLoader(Few(), batch_size=BATCH, num_workers=2,
                                      persistent_workers=is_mended)
    return training(itertools.chain.from_iterable(itertools.repeat(few)))


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


def collect(is_mended):
    """Garbage is collected in each step."""
    return training(one_batch(), after=lambda net, rows: None if is_mended else gc.collect())


def interpreter(is_mended):
    """A moving average is taken in Python, number by number. Beside operators of this size, the
    calls of a step are little."""
    rows = torch.ones(4 * BATCH, WIDTH)

    def average(numbers):
        mean = 0.0
        for number in numbers:
            mean = 0.9 * mean + 0.1 * number
        return mean

    def after(net, _):
        return None if is_mended else average(range(200000))
    return training(iter(lambda: rows, None), after=after)


def checkpoint(is_mended):
    """Each step saves the model and its optimizer."""
    def after(net, _):
        if not is_mended:
            torch.save(net.state_dict(), io.BytesIO())
    return training(one_batch(), after=after)


def shapes(is_mended):
    """Each step has another shape, so each step compiles anew."""
    torch._dynamo.config.recompile_limit = 1000
    net = torch.compile(Net(2), backend="eager", dynamic=False)

    def batches():
        size = BATCH
        while True:
            yield torch.ones(size, WIDTH)
            size += 0 if is_mended else 1
    return training(batches(), net)


def workers(is_mended):
    """The only worker makes each image anew."""
    loader_of_one = torch.utils.data.DataLoader(Images(is_mended, 1200), batch_size=BATCH,
                                                num_workers=1)
    return training(iter(loader_of_one), Net(100))


def blocks(is_mended):
    """One layer is much wider than the others."""
    wide = 256 if is_mended else 4096
    net = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()) for _ in range(4)),
                        nn.Sequential(nn.Linear(WIDTH, wide), nn.ReLU(), nn.Linear(wide, WIDTH)))
    return training(one_batch(), net)


def map_rows(count=12 << 20):
    pages = mmap.mmap(-1, 4 * count)
    pages.madvise(getattr(mmap, "MADV_NOHUGEPAGE", 15))
    return torch.frombuffer(pages, dtype=torch.float32)


def fresh(is_mended):
    """Each step pads its batch in memory that it has just got from the system."""
    kept = map_rows() if is_mended else None

    def after(net, _):
        rows = kept if is_mended else map_rows()
        rows[::1024].fill_(0)
    return training(one_batch(), after=after)


def threads(is_mended):
    """Each operator shares its work among many more threads than there are processors."""
    torch.set_num_threads(os.cpu_count() * (1 if is_mended else 16))
    rows = torch.ones(512, WIDTH)
    return training(iter(lambda: rows, None))


if __name__ == "__main__":
    turns.run({function.__name__: function for function in
               (loader, crowd, epochs, kept, pause, one_step, collect, interpreter, checkpoint,
                shapes, workers, blocks, fresh, threads, collated)})

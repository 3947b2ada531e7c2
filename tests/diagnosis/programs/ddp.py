# SPDX-License-Identifier: Apache-2.0
"""Two ranks that train one model over gloo, with a planted problem. The program begins both itself.

What a plant does is in its function's first line. Both ranks measure, and rank 0 prints."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch import nn

import turns

RANKS = 2


def training(net, rows, before=lambda: None, **options):
    """A step of DistributedDataParallel."""
    shared = nn.parallel.DistributedDataParallel(net, **options)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)

    def step():
        before()
        optimizer.zero_grad()
        shared(rows).square().mean().backward()
        optimizer.step()
    return step


def layers(count, width):
    return nn.Sequential(*(layer for _ in range(count) for layer in (nn.Linear(width, width),
                                                                     nn.Tanh())))


def late(is_mended):
    """Rank 1 reads its shard for 30 ms in each step."""
    def read():
        if dist.get_rank() == 1 and not is_mended:
            with torch.profiler.record_function("read_shard"):
                time.sleep(0.03)
    return training(layers(4, 64), torch.ones(16, 64), read)


def forked(is_mended):
    """The same, and no environment says which rank is which: the program forks them."""
    return late(is_mended)


def buckets(is_mended):
    """Each gradient is reduced by itself."""
    return training(layers(40, 16), torch.ones(4, 16), bucket_cap_mb=25 if is_mended else 1e-6)


def unused(is_mended):
    """DDP searches the graph for unused parameters in each step, and there are none."""
    return training(layers(20, 4), torch.ones(2, 4), find_unused_parameters=not is_mended)


PLANTS = {function.__name__: function for function in (late, forked, buckets, unused)}


def work(rank, meeting):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=RANKS)
    with contextlib.redirect_stdout(sys.stdout if rank == 0 else io.StringIO()):
        turns.run(PLANTS)
    sys.stdout.flush()
    dist.barrier()
    time.sleep(0.3)  # threads of gloo's outlive the process group
    os._exit(0)


def main():
    if "DDP_MEETING" in os.environ:
        work(int(os.environ["RANK"]), os.environ["DDP_MEETING"])
    with tempfile.TemporaryDirectory() as folder:
        meeting = os.path.join(folder, "meeting")
        if "forked" in sys.argv:
            multiprocessing.start_processes(work, args=(meeting,), nprocs=RANKS,
                                            start_method="fork")
            return
        ranks = [subprocess.Popen([sys.executable, *sys.argv],
                                  env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(RANKS),
                                       "DDP_MEETING": meeting}) for rank in range(RANKS)]
        sys.exit(max(rank.wait() for rank in ranks))


if __name__ == "__main__":
    main()

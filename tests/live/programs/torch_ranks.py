# SPDX-License-Identifier: Apache-2.0
"""torch_ranks.py — two processes train one model over gloo, and each is profiled.

    torch_ranks.py FOLDER       rankN.json, a trace, and rankN.numbers.json for N = 0, 1
"""
import json
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

from torch_models import numbers_of

WORLD = 2
STEPS = 2


def step(net, optimizer, data):
    optimizer.zero_grad()
    net(data).square().mean().backward()
    optimizer.step()
    total = torch.ones(5)
    dist.all_reduce(total)
    dist.broadcast(total, src=0)
    parts = [torch.empty(3) for _ in range(WORLD)]
    dist.all_gather(parts, torch.full((3,), 1.0))
    dist.barrier()


def work(rank, folder):
    torch.manual_seed(rank)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank,
                            world_size=WORLD)
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(16, 8), nn.Tanh(),
                                                            nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    data = torch.randn(4, 16)
    plan = schedule(wait=0, warmup=1, active=STEPS, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, record_shapes=True) as profiler:
        for _ in range(1 + STEPS):
            step(net, optimizer, data)
            profiler.step()
    profiler.export_chrome_trace(f"{folder}/rank{rank}.json")
    pathlib.Path(folder, f"rank{rank}.numbers.json").write_text(json.dumps(numbers_of(profiler)))
    dist.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.start_processes(work, args=(sys.argv[1],), nprocs=WORLD, start_method="fork")

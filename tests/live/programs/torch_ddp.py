# SPDX-License-Identifier: Apache-2.0
"""torch_ddp.py — trains one model on all ranks over gloo. By torch.distributed.run, which says who
is which.

    torch_ddp.py FOLDER         rankN.json: {"pid", "rank", "all_reduce": [elements of each one
                                called by name]}
"""
import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

STEPS = 3

# Threads of gloo's outlive the process group, and let go of the last tensors after the barrier. One
# that does so while the interpreter ends kills the process (PyTorch 2.15, without us as well).
AT_REST_S = 0.5


def step(net, optimizer, data):
    optimizer.zero_grad()
    net(data).square().mean().backward()
    optimizer.step()
    total = torch.ones(5, dtype=torch.float64)
    dist.all_reduce(total)
    dist.broadcast(total, src=0)
    parts = [torch.empty(3) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, torch.full((3,), 1.0))
    dist.barrier()


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(16, 8), nn.Tanh(),
                                                            nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(STEPS):
        step(net, optimizer, torch.randn(4, 16))
    rank = dist.get_rank()
    said = {"pid": os.getpid(), "rank": rank, "world_size": dist.get_world_size()}
    pathlib.Path(sys.argv[1], f"rank{rank}.json").write_text(json.dumps(said))
    dist.destroy_process_group()
    time.sleep(AT_REST_S)


if __name__ == "__main__":
    main()

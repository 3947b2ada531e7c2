# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training on two processes: rank 1 has twice the work, and rank 0 waits for it.

    varve record -- python3 examples/torch/ddp.py
    varve report --rank 0

`varve record` follows the processes that the program starts, and keeps all of them in one trace."""
import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch import nn


def train(rank, world_size, steps, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE=str(world_size))
    dist.init_process_group("gloo")
    torch.manual_seed(rank)
    torch.set_num_threads(1)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(512, 1024), nn.ReLU(),
                                                              nn.Linear(1024, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch = 64 if rank == 0 else 128
    for _ in range(steps):
        inputs, labels = torch.randn(batch, 512), torch.randint(0, 10, (batch,))
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(f"loss {loss.item():.3f}")
    dist.destroy_process_group()


def free_port():
    import socket
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    processes.spawn(train, (2, arguments.steps, free_port()), nprocs=2)


if __name__ == "__main__":
    main()

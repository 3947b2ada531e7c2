# SPDX-License-Identifier: Apache-2.0
"""ddp_program.py STEPS: one rank of PyTorch's DistributedDataParallel on NCCL, for tests/gpu/run,
with the variables that torchrun sets. Prints the bytes of the parameters. Exit code 77: PyTorch has
no GPU, or no NCCL."""
import os
import sys

import torch
import torch.distributed


def main(steps):
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if not torch.cuda.is_available() or not torch.distributed.is_nccl_available():
        sys.exit(77)
    if torch.cuda.device_count() < ranks:  # NCCL wants a GPU for each rank of a machine
        os.environ |= {"NCCL_HOSTID": f"rank{rank}", "NCCL_SOCKET_IFNAME": "lo"}
    device = rank % torch.cuda.device_count()
    torch.cuda.set_device(device)
    torch.distributed.init_process_group("nccl")
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(8)]).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[device])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(32, 512, device="cuda")).square().mean().backward()
        optimizer.step()
    torch.cuda.synchronize()
    torch.distributed.destroy_process_group()
    print("parameter_bytes", sum(p.numel() * p.element_size() for p in model.parameters()))


main(int(sys.argv[1]))

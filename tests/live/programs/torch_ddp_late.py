# SPDX-License-Identifier: Apache-2.0
"""torch_ddp_late.py — trains one model on two ranks over gloo. The second rank is late in each
step: it sleeps in a range of its own. By torch.distributed.run, which says who is which.

    torch_ddp_late.py FOLDER ddp|fsdp2        all of the model on each rank, or a half of each layer
"""
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

# So late is far more than a busy machine takes from the first rank.
STEPS, LATE_S = 6, 0.15

# As in torch_ddp.py: threads of gloo's outlive the process group.
AT_REST_S = 0.5


def shared(net, how):
    if how == "ddp":
        return nn.parallel.DistributedDataParallel(net)
    from torch.distributed.device_mesh import init_device_mesh  # not in every version
    from torch.distributed.fsdp import fully_shard
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in net:
        if not isinstance(layer, nn.Tanh):
            fully_shard(layer, mesh=mesh)
    return fully_shard(net, mesh=mesh)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    how, = sys.argv[2:]
    net = shared(nn.Sequential(nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 2)), how)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        if dist.get_rank() == 1:
            with torch.profiler.record_function("late load"):
                time.sleep(LATE_S)
        net(torch.randn(4, 16)).square().mean().backward()
        optimizer.step()
    dist.destroy_process_group()
    time.sleep(AT_REST_S)


if __name__ == "__main__":
    main()

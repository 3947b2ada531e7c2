# SPDX-License-Identifier: Apache-2.0
"""groups.py — three ranks, and two of the groups of two among them, over gloo.

    python groups.py FOLDER        writes rankN.json: [[collective, group, its size, elements], …]
                                   as that rank asked for them
"""
import json
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

RANKS = 3


def work(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank,
                            world_size=RANKS)
    groups = [dist.group.WORLD, dist.new_group([0, 1]), dist.new_group([0, 2])]
    # from 2.0 on
    name_of = getattr(dist.distributed_c10d, "_get_process_group_name", lambda group: "")
    told, kept = [], []

    def ones(elements):  # freed by a thread of gloo's, a tensor may keep PyTorch 2.6 from ending
        kept.append(torch.ones(elements))
        return kept[-1]

    def tell(name, group, elements):
        told.append([name, name_of(group), dist.get_world_size(group), elements])

    for elements in range(1, 5):
        for group in groups:
            if group == dist.GroupMember.NON_GROUP_MEMBER:
                continue
            dist.all_reduce(ones(elements), group=group)
            tell("allreduce", group, elements)
            if elements % 2:
                dist.broadcast(ones(2 * elements), src=0, group=group)
                tell("broadcast", group, 2 * elements)
    if rank < 2:
        (dist.send if rank == 0 else dist.recv)(ones(7), 1 - rank)
        tell("send" if rank == 0 else "recv", groups[0], 7)
    pathlib.Path(folder, f"rank{rank}.json").write_text(json.dumps(told), encoding="utf-8")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.start_processes(work, args=(sys.argv[1],), nprocs=RANKS, start_method="fork")

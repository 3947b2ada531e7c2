# SPDX-License-Identifier: Apache-2.0
"""torch_workers.py — a DataLoader's workers make the data of a small model.

    torch_workers.py FOLDER fork|spawn|forkserver       said.json: {"pid", "workers": [pids],
                                                        "items"}
"""
import json
import os
import pathlib
import sys

import torch
from torch.utils.data import DataLoader, Dataset

WORKERS = 2
ITEMS = 24
BATCH = 4


class Squares(Dataset):
    """Each item takes one aten::pow in whichever process makes it."""

    def __len__(self):
        return ITEMS

    def __getitem__(self, index):
        return torch.full((3,), float(index)).pow(2), os.getpid()


def main():
    torch.set_num_threads(1)
    loader = DataLoader(Squares(), batch_size=BATCH, num_workers=WORKERS,
                        multiprocessing_context=sys.argv[2])
    pids, total = set(), torch.zeros(3)
    for batch, makers in loader:
        total.add_(batch.sum(0))
        pids |= set(makers.tolist())
    said = {"pid": os.getpid(), "workers": sorted(pids), "total": total.tolist()}
    pathlib.Path(sys.argv[1], "said.json").write_text(json.dumps(said))


if __name__ == "__main__":
    main()

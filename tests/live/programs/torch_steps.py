# SPDX-License-Identifier: Apache-2.0
"""torch_steps.py — trains a small transformer, and says how much memory the process ever held.

    torch_steps.py FOLDER STEPS         said.json: {"peak_kb"}
"""
import json
import pathlib
import re
import sys

import torch
from torch import nn


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 4)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    data, wanted = torch.randn(2, 2, 12, 32)
    for _ in range(int(sys.argv[2])):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(data), wanted).backward()
        optimizer.step()
    status = pathlib.Path("/proc/self/status").read_text()
    said = {"peak_kb": int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1])}
    pathlib.Path(sys.argv[1], "said.json").write_text(json.dumps(said))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""matmul.py — PyTorch's profiler on the device "varve" prints device columns.

    VARVE_PREFIX=build python3 examples/torch-device/matmul.py
    build/varve record -- python3 examples/torch-device/matmul.py       the same, seen by Varve
"""
import json
import sys

import torch
from torch.autograd.profiler import profile as autograd_profile
from torch.profiler import record_function

import varve_device


def main(trace="varve_device_trace.json", size=512):
    with autograd_profile(use_device="varve", record_shapes=True) as prof:
        with record_function("matmul"):
            x = torch.randn(size, size, device="varve")
            y = torch.randn(size, size, device="varve")
            z = x @ y
    print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
    prof.export_chrome_trace(trace)
    # what PyTorch counted, and what Varve was told, before the copy back
    device_us = sum(event.device_time_total for event in prof.function_events)
    print(json.dumps({"torch_us": device_us, "asked": varve_device.extension.elapsed(),
                      "told": varve_device.extension.told(), "norm": z.cpu().norm().item()}))


if __name__ == "__main__":
    main(*sys.argv[1:2])

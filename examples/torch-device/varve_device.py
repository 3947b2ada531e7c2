# SPDX-License-Identifier: Apache-2.0
"""varve_device.py — the device "varve" for PyTorch, timed by a backend of Varve.

    import varve_device                  compiles the extension at the first import: a minute
    x = torch.randn(4, 4, device="varve")
    with torch.autograd.profiler.profile(use_device="varve") as prof: …

VARVE_PREFIX says where Varve lies: a build folder, or where it is installed. VARVE_DEVICE_BACKEND
names the backend of Varve ("host")."""
import os
import pathlib
import types

import torch
from torch.utils import cpp_extension

HERE = pathlib.Path(__file__).resolve().parent


def find_varve():
    """(folder of headers, folder of libvarve.so)"""
    prefix = pathlib.Path(os.environ.get("VARVE_PREFIX", HERE.parents[1] / "build")).resolve()
    if (prefix / "libvarve.so").exists():
        return HERE.parents[1] / "include", prefix
    return prefix / "include", prefix / "lib"


def load():
    """Compiles the extension if need be, and loads it."""
    headers, library = find_varve()
    return cpp_extension.load(
        "varve_torch_device", [str(HERE / name) for name in ("device.cpp", "stubs.cpp")],
        extra_include_paths=[str(headers)], extra_cflags=["-O1", "-std=c++20"],
        extra_ldflags=[f"-L{library}", "-lvarve", f"-Wl,-rpath,{library}"])


extension = load()
extension.open(os.environ.get("VARVE_DEVICE_BACKEND", "host"))
torch.utils.rename_privateuse1_backend("varve")
module = types.ModuleType("torch.varve")
module.is_available = lambda: True
module.is_initialized = lambda: True
module.device_count = lambda: 1
module.current_device = lambda: 0
module.set_device = lambda device: None
module.synchronize = lambda device=None: None
module._is_in_bad_fork = lambda: False  # pylint: disable=protected-access
torch._register_device_module("varve", module)  # pylint: disable=protected-access

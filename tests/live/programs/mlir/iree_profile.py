# SPDX-License-Identifier: Apache-2.0
"""iree_profile.py — a net as IREE runs it, and what IREE's own tools say of the run.

    iree_profile.py FOLDER gpt|resnet small|large

linalg.mlir with the names of varve.mlir's hook; flow.mlir and hal.mlir are later phases of it;
task.ireeprof and sync.ireeprof are profiles on two devices, with NAME.jsonl of iree-profile;
statistics.json is of --dispatch_statistics.
"""
import pathlib
import subprocess
import sys

import numpy
import torch
from torch_mlir import fx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "python"))

import varve.mlir  # noqa: E402
from torch_nets import net_of  # noqa: E402

TOOLS = pathlib.Path(sys.executable).parent
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=host"]
MODES = ("--device_profiling_mode=host-execution,executable-metadata,queue-events,"
         "command-region-events,memory-events")
RUNS = 3


def tool(name, *words, out=None):
    with open(out or "tool.log", "w", encoding="utf-8") as stream:
        subprocess.run([str(TOOLS / f"iree-{name}"), *map(str, words)], check=True, stdout=stream)


def benchmark(*words, out=None):
    tool("benchmark-module", "--module=net.vmfb", "--function=main", "--input=@input.npy",
         f"--benchmark_min_time={RUNS}x", *words, out=out)


def main():
    folder, name, size = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    torch.set_num_threads(1)
    net, data = net_of(name, size)
    with varve.mlir.torch_names():
        module = fx.export_and_import(net, data, output_type="linalg-on-tensors").operation
    (folder / "linalg.mlir").write_text(module.get_asm(enable_debug_info=True))
    numpy.save(folder / "input.npy", data.numpy())
    tool("compile", *FLAGS, "linalg.mlir", "-o", "net.vmfb")
    for phase in ("flow", "hal"):
        tool("compile", *FLAGS, "linalg.mlir", f"--compile-to={phase}", "--mlir-print-debuginfo",
             "-o", f"{phase}.mlir")
    for device in ("task", "sync"):
        benchmark(f"--device=local-{device}", MODES,
                  f"--device_profiling_output={device}.ireeprof")
        tool("profile", "export", "--format=ireeperf-jsonl", f"{device}.ireeprof",
             out=f"{device}.jsonl")
    benchmark("--device=local-task", "--dispatch_statistics", "--benchmark_format=json",
              out="statistics.json")


if __name__ == "__main__":
    main()

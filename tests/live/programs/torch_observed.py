# SPDX-License-Identifier: Apache-2.0
"""Runs torch_data.py under PyTorch's profiler and its observer of execution traces, which write
trace.json and execution_trace.json into the folder."""
import pathlib
import runpy
import sys

from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

folder = pathlib.Path(sys.argv[1])
observer = ExecutionTraceObserver()
observer.register_callback(str(folder / "execution_trace.json"))
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
    observer.start()
    runpy.run_path(str(pathlib.Path(__file__).with_name("torch_data.py")))
    observer.stop()
observer.unregister_callback()
profiler.export_chrome_trace(str(folder / "trace.json"))

#!/usr/bin/env -S python3 -I -S
# SPDX-License-Identifier: Apache-2.0
"""iree-compile, iree-run-module and iree-benchmark-module, by the name that it is called by, for
tests of what happens around them. A module is JSON: what each set of flags does.

    {"time_us": 1000, "dispatch_us": 400, "tiles": {"8,7": 100}, "value": 1.0,
     "root": "product", "flags": {"--iree-opt-level=O3": {"do": "hang"}}}

"do": "hang", "crash", "fail", "hang at run", or nothing; "value" is what it computes. "root" is the
dispatch: a convolution, a product, or one of them with constants. "twin": there is a second one
with an equal root, "main_dispatch_1_conv".
"""
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import ireeprof_writer as writer  # noqa: E402

FUNCTION = "main_dispatch_0_conv"
CONFIGURATION = """hal.executable public @main_dispatch_0 {
  hal.executable.export public @main_dispatch_0_conv ordinal(0)
    %9 = linalg.fill {lowering_config = #c.lowering_config<vector_common_parallel = [1, 4, 1, 4]>}
    %11 = linalg.generic {lowering_config = #c.lowering_config<distribution = [0, 4, 7, 14, 0], \
vector_common_parallel = [1, 4, 1, 4, 0], vector_reduction = [0, 0, 0, 0, 8]>} {
    } -> tensor<1x128x14x14xf32>
}
"""

WINDOWS = """hal.executable public @main_dispatch_0 {
  hal.executable.export public @main_dispatch_0_conv ordinal(0)
    func.func @f() attributes {translation_info = #c.translation_info<pipeline = #c.pipeline<P>>} {
    %c = arith.constant dense_resource<w>
    %11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>]} ins(%4 : \
tensor<64x14xf32>) outs(%9 : tensor<128x14xf32>) attrs =  {lowering_config = \
#c.lowering_config<distribution = [4, 7, 0], vector_common_parallel = [4, 4, 0]>} {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x14xf32>
}
"""

PRODUCT = """hal.executable public @main_dispatch_0 {
  hal.executable.export public @main_dispatch_0_conv ordinal(0)
    func.func @f() attributes {translation_info = #c.translation_info<pipeline = #c.pipeline<P>>} {
    %9 = linalg.fill {lowering_config = #c.lowering_config<vector_common_parallel = [4, 4]>}
    %11 = linalg.matmul {lowering_config = #c.lowering_config<distribution = [4, 7, 0], \
vector_common_parallel = [4, 4, 0], vector_reduction = [0, 0, 8]>} ins(%4, %5 : \
tensor<128x64xf32>, tensor<64x14xf32>) outs(%9 : tensor<128x14xf32>) -> tensor<128x14xf32>
}
"""
DUMPED = {"convolution": CONFIGURATION, "product": PRODUCT, "product with constants":
          PRODUCT.replace("    %9", "    %c = arith.constant dense_resource<w>\n    %9"),
          "convolution with constants": WINDOWS}


def option(name, standard=None):
    found = [word.partition("=")[2] for word in sys.argv if word.startswith(f"--{name}=")]
    return found[-1] if found else standard


def misbehave(what):
    if what == "hang":
        child = subprocess.Popen(["sleep", "600"])
        pathlib.Path(os.environ["FAKE_IREE_CHILDREN"]).open("a").write(f"{child.pid}\n")
        time.sleep(600)
    elif what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif what == "fail":
        sys.exit("net.mlir:3:1: error: 'linalg.generic' op large vector sizes are forbidden\n"
                 f"in @{FUNCTION}")


def chosen_tile(module):
    """What the module says of the tile that a file gives the dispatch; None: no file does."""
    substitute = option("iree-hal-substitute-executable-configuration")
    spec = option("iree-codegen-tuning-spec-path")
    if substitute:
        text = pathlib.Path(substitute.partition("=")[2]).read_text()
        assert "dense_resource" not in text
    elif spec:
        text = pathlib.Path(spec).read_text()
        assert text.count("transform.match.operation_name") == 1
        if "linalg.generic" in text:
            assert "^bb0(%varve_in_0: tensor<64x14xf32>, %varve_out: tensor<128x14xf32>):" in text
            assert "-insert-batch-dim-for-batchless-conv" in text
        else:
            assert '["linalg.matmul"]' in text and "tensor<64x14xf32> : !transform" in text
        assert "#c.translation_info<pipeline = #c.pipeline<P>>> -> !transform.any_param" in text
    else:
        return None
    outer, inner = re.search(r"distribution.*parallel = \[(?:1, )?(\d+), (?:1, )?(\d+), 0\]",
                             text).groups()
    if substitute:
        assert re.search(rf"<vector_common_parallel = \[(1, )?{outer}, (1, )?{inner}\]>", text)
    return module.get("tiles", {}).get(f"{outer},{inner}")


def compile_module():
    module = json.loads(pathlib.Path(sys.argv[-3]).read_text())
    program = {key: module[key] for key in ("time_us", "dispatch_us", "value", "twin")
               if key in module}
    for flag, change in module.get("flags", {}).items():
        if flag in sys.argv:
            program.update(change)
    misbehave(program.get("do"))
    tile = chosen_tile(module)
    if isinstance(tile, str):
        misbehave(tile)
    saved = program["dispatch_us"] - (tile or program["dispatch_us"])
    program["dispatch_us"] -= saved
    program["time_us"] -= saved
    dump = option("iree-hal-dump-executable-configurations-to")
    if dump:
        os.makedirs(dump, exist_ok=True)
        for number in range(1 + module.get("twin", 0)):
            pathlib.Path(dump, f"configured_{number}.mlir").write_text(
                DUMPED[module.get("root", "convolution")].replace("dispatch_0",
                                                                  f"dispatch_{number}"))
    pathlib.Path(sys.argv[-1]).write_text(json.dumps(program))


def run_module(program):
    print("EXEC @main\nresult[0]: hal.buffer_view\n2xf32=1 2")
    output = option("output")
    if output:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }".ljust(117) + b"\n"
        pathlib.Path(output[1:]).write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head
                                             + struct.pack("<2f", program["value"], 2.0))


def benchmark_module(program):
    runs = int(option("benchmark_min_time")[:-1])
    row = {"name": "BM_main", "run_type": "iteration", "iterations": runs, "time_unit": "us",
           "real_time": program["time_us"], "cpu_time": 1.0}
    print(json.dumps({"context": {"executable": "/x/iree-benchmark-module"}, "benchmarks": [row]}))
    profile = option("device_profiling_output")
    if profile:
        took_ns = int(program["dispatch_us"] * 1000)
        functions = events = b""
        for number in range(1 + program.get("twin", 0)):
            begin_ns = 1000 + number * (took_ns + 1000)
            functions += writer.function(1, number, FUNCTION.replace("0", str(number)))
            events += writer.execution(writer.DISPATCH, (begin_ns, begin_ns + took_ns), 3, 5,
                                       command=number, function=number)
        pathlib.Path(profile).write_bytes(writer.bundle(
            writer.record(2, "executable-functions", functions),
            writer.record(2, "host-execution-events", events)))


def main():
    tool = pathlib.Path(sys.argv[0]).name
    if tool == "iree-compile":
        compile_module()
        return
    program = json.loads(pathlib.Path(option("module")).read_text())
    if program.get("do") == "hang at run":
        misbehave("hang")
    (run_module if tool == "iree-run-module" else benchmark_module)(program)


if __name__ == "__main__":
    main()

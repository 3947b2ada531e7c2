# SPDX-License-Identifier: Apache-2.0
"""torch_compiled.py — a compiled model, forward and backward, and how long PyTorch says that each
phase of compiling took.

    torch_compiled.py FOLDER aot_eager|inductor [VERSION|profiled]
    said.json: {"backend", "calls", "phases": {name: [seconds]}}
"""
import contextlib
import json
import os
import pathlib
import sys

os.environ["TORCHINDUCTOR_CACHE_DIR"] = sys.argv[1]
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # else each imports PyTorch
# which takes longer than what it is for
os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch._dynamo.utils import compilation_time_metrics  # noqa: E402

CALLS = 3


def spare_the_processor():
    """None of its instructions: else a dozen files are compiled to see what it has."""
    from torch._inductor import cpu_vec_isa  # not in every version
    cpu_vec_isa.valid_vec_isa_list = list


def main():
    folder, backend, *how = sys.argv[1:]
    if backend == "inductor":
        spare_the_processor()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))
    compiled = torch.compile(net, backend=backend)
    data = torch.randn(3, 6)
    expected = net(data).detach()
    with torch.profiler.profile() if how == ["profiled"] else contextlib.nullcontext():
        for _ in range(CALLS):
            with torch.profiler.record_function("one call"):
                answer = compiled(data)
                answer.sum().backward()
    assert torch.allclose(answer, expected)
    said = {"backend": backend, "calls": CALLS, "phases": dict(compilation_time_metrics)}
    pathlib.Path(folder, "said.json").write_text(json.dumps(said))


if __name__ == "__main__":
    main()

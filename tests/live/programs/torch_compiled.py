# SPDX-License-Identifier: Apache-2.0
"""torch_compiled.py — a compiled model, forward and backward.

    torch_compiled.py FOLDER aot_eager|inductor         said.json: {"backend", "calls"}
"""
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
from torch._inductor import cpu_vec_isa  # noqa: E402

# none: else a dozen files are compiled to see what the processor has
cpu_vec_isa.valid_vec_isa_list = list

CALLS = 3


def main():
    folder, backend = sys.argv[1:]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))
    compiled = torch.compile(net, backend=backend)
    data = torch.randn(3, 6)
    expected = net(data).detach()
    for _ in range(CALLS):
        with torch.profiler.record_function("one call"):
            answer = compiled(data)
            answer.sum().backward()
    assert torch.allclose(answer, expected)
    pathlib.Path(folder, "said.json").write_text(json.dumps({"backend": backend, "calls": CALLS}))


if __name__ == "__main__":
    main()

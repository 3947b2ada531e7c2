# SPDX-License-Identifier: Apache-2.0
"""torch_overhead.py — what recording PyTorch costs, against the floor that PyTorch itself charges
for any observer.

    PYTHON bench/torch_overhead.py [--data] [ROUNDS]  from the folder of the sources, with a Python
                                                     that has torch

One process; each round takes one short sample of each variant, in an order drawn anew, so that all
see the same machine. Shown is what is added to bare, nanoseconds an operator in a loop of C,
microseconds a training step: least, the difference of the smallest samples; median, of the
differences in the same round; and what part both are of what torch.profiler adds, without and with
shapes. The floor is a callback that does nothing. The least observers read
the clock twice, and store 16 bytes, or the sizes of all inputs, too (torch_least.c): into memory
that is there, or into new pages of a file, as a recorder does whose records survive SIGKILL.
"""
import ctypes
import os
import pathlib
import random
import shutil
import statistics
import sys
import time

# else the profiler writes two lines for each of its runs
os.environ.setdefault("KINETO_LOG_LEVEL", "99")
import torch  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[1]
LOOP = ROOT / "build" / "bench" / "lib" / "torch_loop.so"
TRACE = ROOT / "build" / "bench.varve"
MODES = ["bare", "varve: names and numbers", "varve: with shapes", "empty callback: the floor",
         "empty callback, inputs boxed", "least, times", "least, shapes",
         "least, times, in new pages", "least, shapes, in new pages"]
if "--data" in sys.argv:  # beside it "with shapes" costs some 13 ns more: PyTorch keeps outputs
    sys.argv.remove("--data")
    MODES.append("varve: with data")
PROFILERS = {"torch.profiler": False, "torch.profiler, record_shapes": True}
COUNT = 2000


def open_loop():
    loop = ctypes.CDLL(str(LOOP))
    loop.bench_open.restype = ctypes.c_char_p
    loop.bench_loop.restype = ctypes.c_double
    loop.bench_loop.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_long]
    loop.bench_operators.restype = ctypes.c_double
    loop.bench_operators.argtypes = [ctypes.c_void_p, ctypes.c_int]
    shutil.rmtree(TRACE, ignore_errors=True)
    begin = time.perf_counter()
    missing = loop.bench_open(str(TRACE).encode())
    took_ms = (time.perf_counter() - begin) * 1000
    if missing:
        sys.exit(f"torch_overhead: {missing.decode()} is missing in torch {torch.__version__}")
    print(f"torch {torch.__version__}: attached in {took_ms:.1f} ms, with the self-test and a new "
          f"trace")
    return loop


def implementations(tensors):
    """Addresses of the TensorImpls: what a Python tensor holds behind its head."""
    return (ctypes.c_void_p * 4)(*(ctypes.c_void_p.from_address(id(tensor) + 16).value
                                   for tensor in tensors))


def profiled(run, with_shapes):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                record_shapes=with_shapes):
        run()
        return run()


def rounds(loop, run, count):
    """{variant: its values}, of `run` under each."""
    values = {name: [] for name in [*MODES, *PROFILERS]}
    for _ in range(count):
        for name in random.sample(list(values), len(values)):
            if name in PROFILERS:
                value = profiled(run, PROFILERS[name])
            else:
                loop.bench_mode(MODES.index(name))
                run()
                value = run()
                loop.bench_mode(0)
            values[name].append(value)
    return values


def show(title, unit, values):
    bare = values.pop("bare")
    floor = added(values["empty callback: the floor"], bare)
    print(f"\n{title}: bare {min(bare):.1f} {unit}, median {statistics.median(bare):.1f}")
    profilers = [added(values[name], bare) for name in PROFILERS]
    print(f"{'added ' + unit:32}{'least':>10}{'over floor':>12}{'median':>10}{'over floor':>12}"
          f"{'x profiler':>12}{'with shapes':>12}")
    for name, list_of in values.items():
        least, median = added(list_of, bare)
        print(
            f"{name:32}{least:10.1f}{least - floor[0]:12.1f}{median:10.1f}{median - floor[1]:12.1f}"
            + "".join(f"{least / other[0]:6.2f}{median / other[1]:6.2f}" for other in profilers)
        )


def added(values, bare):
    return min(values) - min(bare), statistics.median(value - base
                                                      for value, base in zip(values, bare))


def step_of(model, inputs, targets):
    """Microseconds of one training step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=False)

    def run():
        begin = time.thread_time_ns()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
        return (time.thread_time_ns() - begin) / 1000
    return run


class Gates(torch.nn.Module):
    """A recurrent layer as people write it: small operators, one after the other."""

    def __init__(self):
        super().__init__()
        self.of_input = torch.nn.ModuleList(torch.nn.Linear(32, 64) for _ in range(4))
        self.of_state = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(4))

    def forward(self, inputs):
        state = cell = torch.zeros(len(inputs), 64)
        for at in range(inputs.shape[1]):
            gates = [a(inputs[:, at]) + b(state) for a, b in zip(self.of_input, self.of_state)]
            cell = gates[0].sigmoid() * cell + gates[1].sigmoid() * gates[2].tanh()
            state = gates[3].sigmoid() * cell.tanh()
        return state


def operators_of(run):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        run()
    return len(profile.events())


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loop = open_loop()
    tensors = [torch.zeros(1) for _ in range(4)]
    addresses = implementations(tensors)
    print(f"{count} rounds")
    for with_four, title in ((0, "zero_ in a loop of C"),
                             (1, "lerp.out, four tensors, in a loop of C")):
        title += f", operators a pass: {loop.bench_operators(addresses, with_four):g}"
        show(title, "ns", rounds(loop, lambda: loop.bench_loop(addresses, with_four, COUNT), count))
    nn = torch.nn
    mlp = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                        nn.Linear(64, 10))
    conv = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 14 * 14, 10))
    targets = torch.randint(0, 10, (8,))
    for title, run in (
            ("a small MLP", step_of(mlp, torch.randn(8, 64), targets)),
            ("a conv net", step_of(conv, torch.randn(8, 3, 32, 32), targets)),
            ("a loop of gates", step_of(Gates(), torch.randn(8, 20, 32), targets))):
        show(f"a training step of {title}, {operators_of(run)} operators", "us",
             rounds(loop, run, count))


if __name__ == "__main__":
    main()

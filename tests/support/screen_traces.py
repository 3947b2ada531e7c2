# SPDX-License-Identifier: Apache-2.0
"""screen_traces.py: traces whose first screens are kept (tests/cli/test_screens.py), each of its
own kind. No part is drawn by chance, so they are the same for ever."""
import gzip

import kineto_writer as kineto
import trace_writer
import xspace_bytes

US, MS = 1000, 1_000_000
ELEMENTWISE = ("void at::native::vectorized_elementwise_kernel<4, at::native::{}<float>, "
               "at::detail::Array<char*, 3> >(int, at::native::{}<float>, "
               "at::detail::Array<char*, 3>)")
KERNELS = {
    "aten::addmm": "ampere_sgemm_128x64_tn",
    "aten::convolution": "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(int)",
    "aten::add_": ELEMENTWISE.format("CUDAFunctor_add", "CUDAFunctor_add"),
    "aten::mul": ELEMENTWISE.format("MulFunctor", "MulFunctor"),
}


class Program:
    """A thread that calls operators, and a stream that works them off."""

    def __init__(self, rank=None):
        self.events, self.now, self.free, self.correlation = [], 0, 0, 0
        self.rank = rank

    def call(self, name, host_ns, device_ns=0):
        begin = self.now
        self.now += host_ns
        self.events.append(kineto.span(name, begin, self.now))
        if device_ns == 0:
            return
        self.correlation += 1
        start = max(self.free, begin + host_ns // 2)
        self.free = start + device_ns
        self.events += kineto.launched(KERNELS.get(name, name), self.correlation,
                                       (begin + host_ns // 4, begin + host_ns // 2),
                                       (start, self.free))

    def wait(self):
        self.correlation += 1
        begin, self.now = self.now, max(self.now + 5 * US, self.free)
        self.events.append(kineto.span("cudaDeviceSynchronize", begin, self.now, "cuda_runtime",
                                       correlation=self.correlation))

    def step(self, number, *, load_ns=0, host_ns=20 * US, device_ns=0, collective_ns=0):
        begin = self.now
        if load_ns:
            self.events.append(kineto.span(
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", self.now,
                self.now + load_ns, "user_annotation"))
            self.call("aten::_upsample_bicubic2d_aa", load_ns * 4 // 5)
            self.now += load_ns - load_ns * 4 // 5
        for name in KERNELS:
            for _ in range(3):
                self.call(name, host_ns, device_ns)
        if collective_ns:
            self.call("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", host_ns,
                      collective_ns)
        if device_ns:
            self.wait()
        self.events.append(kineto.span("Optimizer.step#SGD.step", self.now, self.now + 30 * US,
                                       "user_annotation"))
        self.call("aten::_foreach_add_", 30 * US)
        self.events.append(kineto.step(number, begin, self.now))
        self.now += 10 * US

    def write(self, path):
        head = dict(kineto.HEAD)
        if self.rank is not None:
            head["distributedInfo"] = {"backend": "nccl", "rank": self.rank, "world_size": 2}
        kineto.write(path, kineto.names() + self.events, head)


def gpu(folder):
    """A device is the bound."""
    program = Program()
    for number in range(8):
        program.step(number, device_ns=900 * US + 10 * US * number)
    program.write(folder / "gpu.json")
    return "gpu.json"


def loader(folder):
    """The steps wait for data."""
    program = Program()
    for number in range(12):
        program.step(number, load_ns=9 * MS + MS * (number % 3), host_ns=300 * US)
    program.write(folder / "loader.json")
    return "loader.json"


def ranks(folder):
    """A folder of two ranks, the second slower."""
    (folder / "ranks").mkdir()
    for rank in range(2):
        program = Program(rank)
        for number in range(6):
            program.step(number, device_ns=200 * US * (1 + rank), collective_ns=500 * US)
        path = folder / f"ranks/rank{rank}.json"
        program.write(path)
        path.with_suffix(".json.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()
    return "ranks"


def own(folder):
    """A recording of our own, of a program in C."""
    trace = trace_writer.Trace(folder / "own.varve", trace_writer.manifest())
    process = trace.process(pid=100)
    sites = [process.site("begin", name) for name in ("conv2d", "matmul", "softmax", "save")]
    process.layers(0x7ff, at=500)
    process.sample(500, 1000, trace_writer.EPOCH_NS + 500, 30)
    process.thread_name(100, "train")
    process.name("train")
    main, now = process.thread(100), 1000
    for number in range(20):
        main.step_begin(number, at=now)
        for place, site in enumerate(sites):
            if place == 3 and number != 12:
                continue
            now += 700
            main.begin(site, at=now)
            now += (40000, 25000, 3000, 400000)[place]
            main.end(at=now)
        now += 500
        main.step_end(at=now)
        now += 200
    process.layers(0, at=now)
    trace.write()
    return "own.varve"


def xla(folder):
    """XLA's operations on a TPU, as JAX writes them."""
    start = 1_700_000_000 * 1_000_000_000
    plane = xspace_bytes.Plane("/device:TPU:0", 2)
    names = ["%fusion.3 = bf16[128,1024]{1,0} fusion(%p0, %p1), kind=kOutput",
             "%convolution.7 = bf16[128,64,56,56]{3,2,1,0} convolution(%p0, %p1)",
             "%all-reduce.2 = f32[1024]{0} all-reduce(%p0)",
             "%copy-done.5 = f32[8]{0} copy-done(%c)"]
    steps, operations = [], []
    for number in range(5):
        at = number * MS
        steps.append(plane.event(str(number), at * 1000, 900 * US * 1000))
        for place, name in enumerate(names):
            operations.append(plane.event(name, (at + 200 * US * place) * 1000,
                                          (150 - 30 * place) * US * 1000))
    plane.line(1, steps, "Steps", start)
    plane.line(2, operations, "XLA Ops", start)
    host = xspace_bytes.Plane("/host:CPU", 1)
    host.line(1, [host.event("PjitFunction(step)", number * 1000 * US * 1000, 400 * US * 1000)
                  for number in range(5)], "python", start)
    run = folder / "xla/plugins/profile/2024_05_01_10_00_00"
    run.mkdir(parents=True)
    (run / "host.xplane.pb").write_bytes(xspace_bytes.space(
        host, plane, xspace_bytes.environment(start, start + 10 * MS)))
    return "xla"


ALL = [gpu, loader, own, xla]

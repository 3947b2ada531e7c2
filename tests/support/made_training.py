# SPDX-License-Identifier: Apache-2.0
"""made_training.py: random training runs as Kineto events (kineto_writer.py): a main thread and
autograd's, steps, operators inside operators, annotations, launches with kernels, copies, sets and
collectives on streams of two devices, links from forward to backward, allocations, counters.

No two slices of one track begin and last alike, since those nest in the order of the file
(doc/formats.md); all else may coincide.
"""
import random

from kineto_writer import HEAD, counter, flow, launched, memory, names, span, step, work

OPERATORS = ["aten::mm", "aten::conv2d", "aten::add", "aten::relu", "aten::copy_"]
KERNELS = ["gemm", "conv", "elementwise", "Memcpy HtoD (Pageable -> Device)", "Memset (Device)",
           "ncclDevKernel_AllReduce_Sum_f32"]
SYNCS = ["cudaDeviceSynchronize", "cudaMalloc", "cudaStreamSynchronize"]
SHAPES = [[[8, 4], [4, 2]], [[16, 4], [4, 2]]]


class Run:
    """Plays a run; `grain` is what all times are multiples of: a coarse one makes many of them
    equal."""

    def __init__(self, seed, grain):
        self.draw, self.grain = random.Random(seed), grain
        self.events = []
        self.now = {1: 0, 2: 0}                     # of each thread
        self.free = {}                              # of each stream: when its last work ends
        self.correlation = self.external = self.sequence = 0
        self.addresses = []                         # of what is live
        # begins of forward operators that wait for their backward
        self.forward = []

    def pause(self, tid, most=8000):
        self.now[tid] += self.grain * self.draw.randint(1, max(1, most // self.grain))

    def launch(self, tid):
        begin = self.now[tid]
        self.pause(tid, 9000)
        end = self.now[tid]
        device = self.draw.choice([0, 0, 1])
        stream = 7 + 2 * device + self.draw.randrange(2)
        late = self.grain * self.draw.randint(1, max(1, 40000 // self.grain))
        at = max(self.free.get(stream, 0) + self.grain * self.draw.randrange(3), begin + late
                 if self.draw.random() < 0.5 else end)
        until = at + self.grain * self.draw.randint(1, max(1, 20000 // self.grain))
        self.free[stream] = until
        self.correlation += 1
        name = self.draw.choice(KERNELS)
        both = launched(name, self.correlation, (begin, end), (at, until), tid=tid, stream=stream,
                        device=device)
        if name.startswith("Mem"):
            both[1]["args"]["bytes"] = self.draw.randint(1, 10000)
        # some calls are not in the trace
        self.events += both[1:] if self.draw.random() < 0.1 else both

    def touch_memory(self, tid):
        if self.addresses and self.draw.random() < 0.4:
            address, size, device = self.addresses.pop(self.draw.randrange(len(self.addresses)))
            self.events.append(memory(self.now[tid], -size, address, device, tid))
        else:
            self.external += 1
            held = (4096 * self.external, self.draw.randint(1, 5000), self.draw.randrange(2))
            self.addresses.append(held)
            self.events.append(memory(self.now[tid], held[1], held[0], held[2], tid))
        self.pause(tid, 10)

    def operator(self, tid, depth=0):
        begin, sequence = self.now[tid], None
        self.pause(tid, 3000)
        for _ in range(self.draw.randrange(3)):
            what = self.draw.random()
            if what < 0.4 and depth < 3:
                self.operator(tid, depth + 1)
            elif what < 0.7:
                self.launch(tid)
            elif what < 0.85:
                self.touch_memory(tid)
            elif what < 0.95:
                at = self.now[tid]
                self.pause(tid, 30000)
                self.events.append(span(self.draw.choice(SYNCS), at, self.now[tid], "cuda_runtime",
                                        tid))
            self.pause(tid, 5000)
        self.external += 1
        args = {"External id": self.external, "Input Dims": self.draw.choice(SHAPES),
                "Input type": ["float", "float"]}
        if tid == 1 and depth == 0 and self.draw.random() < 0.6:
            self.sequence += 1
            self.forward.append((begin, self.sequence))
            args |= {"Sequence number": self.sequence, "Fwd thread id": 0}
        elif tid == 2 and depth == 0 and self.forward:
            at, sequence = self.forward.pop()
            args |= {"Sequence number": sequence, "Fwd thread id": 1}
            self.events += flow(sequence, at, begin)
        self.events.append(span(self.draw.choice(OPERATORS) if sequence is None
                                else "autograd::engine::evaluate_function: MmBackward0", begin,
                                self.now[tid], tid=tid, **args))
        self.pause(tid)

    def annotate(self, name, count, tid=1):
        begin = self.now[tid]
        self.pause(tid, 500)
        for _ in range(count):
            self.operator(tid)
        self.events.append(span(name, begin, self.now[tid], "user_annotation", tid))
        self.pause(tid)

    def step(self, number):
        begin = self.now[1]
        self.pause(1, 500)
        if self.draw.random() < 0.7:
            self.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                          self.draw.randrange(2))
        self.annotate("forward", self.draw.randrange(4))
        self.now[2] = max(self.now[2], self.now[1])
        for _ in range(self.draw.randrange(3)):
            self.operator(2)
        self.now[1] = max(self.now[1], self.now[2])
        self.annotate("Optimizer.step#SGD.step", self.draw.randrange(3))
        self.events.append(counter("loss", self.now[1], round(self.draw.random(), 3)))
        self.events.append(step(number, begin, self.now[1]))
        self.pause(1)


def events(seed, steps, grain=1):
    """Of a run of so many steps, without a head; 0: of operators outside steps."""
    run = Run(seed, grain)
    for _ in range(run.draw.randrange(2) if steps else 3):
        run.operator(1)
    for number in range(steps):
        run.step(number)
    # nobody launched it
    run.events.append(work("graph kernel", run.now[1], run.now[1] + 5 * grain, stream=99))
    return names() + run.events


def head(rank=None):
    """What a trace says of itself; of a rank, which one it is."""
    return HEAD if rank is None else HEAD | {"distributedInfo": {"backend": "nccl", "rank": rank,
                                                                 "world_size": 2}}

# SPDX-License-Identifier: Apache-2.0
"""simulated.py: training steps on a simulated host with one thread and a GPU with streams, written
as PyTorch's profiler writes them. The host goes on when a call lets it, and the GPU when work and
what it depends on are there. So what a planted problem costs is known to the nanosecond: a plant
and its twin are both simulated.

Times are whole microseconds here and nanoseconds in the events."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable-next=wrong-import-position
import kineto_writer as kineto  # noqa: E402

US = 1000
LAUNCH, LATENCY, BETWEEN = 4, 3, 1  # of a call; until work begins; between two pieces of work
COMPUTE, COPY, COMM = 7, 20, 30     # streams


class Run:
    """What one rank does."""

    def __init__(self, rank=None, launch=LAUNCH):
        self.now, self.free, self.events, self.launch = 0, {}, [], launch
        self.correlation, self.took, self.rank = 0, [], rank

    def span(self, name, begin, end, cat="cpu_op", **args):
        self.events.append(kineto.span(name, begin * US, end * US, cat, **args))

    # ---- the host ----

    def busy(self, name, time, cat="cpu_op"):
        """The host alone."""
        self.span(name, self.now, self.now + time, cat)
        self.now += time

    def pause(self, time):
        """Nothing that is recorded."""
        self.now += time

    def inside(self, name, what, cat="cpu_op", after=0):
        """A range around what a function does, and some time of its own."""
        begin = self.now
        what()
        self.now += after
        self.span(name, begin, self.now, cat)

    # ---- the GPU ----

    def enqueue(self, name, time, stream, behind, call):
        """Work, and the call that launches it. `behind`: a stream whose work it needs."""
        self.correlation += 1
        begin = self.now
        self.now += self.launch
        starts = max(self.now + LATENCY, self.free.get(stream, 0) + BETWEEN,
                     self.free.get(behind, 0) + BETWEEN)
        self.free[stream] = starts + time
        self.events += kineto.launched(name, self.correlation, (begin * US, self.now * US),
                                       (starts * US, (starts + time) * US), stream=stream, by=call)

    def kernel(self, operator, name, time, host=6):
        """An operator that launches one kernel."""
        self.inside(operator, lambda: self.enqueue(name, time, COMPUTE, None, "cudaLaunchKernel"),
                    after=host)

    def collective(self, name, time):
        self.enqueue(name, time, COMM, COMPUTE, "cudaLaunchKernel")

    def wait(self, call="cudaStreamSynchronize", stream=COMPUTE):
        end = max(self.now + 2, self.free.get(stream, 0))
        self.span(call, self.now, end, "cuda_runtime")
        self.now = end

    def await_stream(self, stream):
        """The GPU's compute stream waits for another one."""
        self.free[COMPUTE] = max(self.free.get(COMPUTE, 0), self.free.get(stream, 0))

    def item(self):
        def read():
            self.enqueue("Memcpy DtoH (Device -> Pageable)", 1, COMPUTE, None, "cudaMemcpyAsync")
            self.wait()
        self.inside("aten::item",
                    lambda: self.inside("aten::_local_scalar_dense", read, after=1), after=1)

    def upload(self, time, pinned=False):
        """A batch to the GPU: pageable memory holds up the host and the kernels."""
        def copy():
            stream, kind = (COPY, "Pinned") if pinned else (COMPUTE, "Pageable")
            self.enqueue(f"Memcpy HtoD ({kind} -> Device)", time, stream, None, "cudaMemcpyAsync")
            if not pinned:
                self.wait()
        self.inside("aten::to", lambda: self.inside("aten::copy_", copy))

    # ---- steps ----

    def steps(self, count, step):
        """Runs them one after the other; at its end each waits for the GPU."""
        for number in range(count):
            begin = self.now
            step(self, number)
            self.end_step(number, begin)
        return self

    def meet(self, name, end):
        """A collective of two ranks that ends at the same instant on both."""
        self.enqueue(name, 0, COMM, COMPUTE, "cudaLaunchKernel")
        event = self.events[-1]
        event["dur"] = end * US - event["ts"]
        self.free[COMM] = end
        self.await_stream(COMM)

    def end_step(self, number, begin):
        self.wait("cudaDeviceSynchronize")
        self.events.append(kineto.step(number, begin * US, self.now * US))
        self.took.append(self.now - begin)

    def step_us(self):
        """The mean."""
        return sum(self.took) / len(self.took)

    def write(self, path):
        head = dict(kineto.HEAD)
        if self.rank is not None:
            head["distributedInfo"] = {"rank": self.rank, "world_size": 2}
        return kineto.write(path, self.events, head)

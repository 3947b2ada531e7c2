# SPDX-License-Identifier: Apache-2.0
"""critical_reference.py: a small machine that plays a program on threads and streams and writes a
Kineto trace of it, and the longest path through what it did, found slowly and obviously.
doc/metrics.md §14 has the rules.

Times are whole microseconds, each event at its own instant, so that order is never in doubt.
"""
import collections

QUEUE_GAP_MAX = 1500

Work = collections.namedtuple("Work", "name begin end launch stream")


class Machine:
    """One host thread, inside one step, and streams that do their work in order."""

    def __init__(self, tid=100):
        self.now, self.tid = 10, tid
        # (time, (event, "begin" or "end"), whose time lies before)
        self.points = [(10, "step", None)]
        self.points[0] = (10, (0, "begin"), None)
        self.open, self.names = [0], ["ProfilerStep#1"]
        self.events = {0: [10, None, "user_annotation", {}]}
        self.streams = collections.defaultdict(list)
        # work -> call; waiting call -> its streams' work that it awaited
        self.launches, self.waits = {}, {}
        self.syncs, self.weighs = [], {}

    def _point(self, event, what):
        self.points.append((self.now, (event, what), self.open[-1]))

    def begin(self, name, pause, category="cpu_op", **args):
        self.now += pause
        event = len(self.names)
        self.names.append(name)
        self._point(event, "begin")
        self.open.append(event)
        self.events[event] = [self.now, None, category, args]
        return event

    def end(self, pause):
        self.now += pause
        event = self.open[-1]
        self._point(event, "end")
        self.open.pop()
        self.events[event][1] = self.now
        return event

    def launch(self, name, stream, delay, gap, duration, pause):
        call = self.begin("cudaLaunchKernel", pause, "cuda_runtime", correlation=len(self.names))
        self.end(1)
        before = self.streams[stream][-1].end if self.streams[stream] else 0
        begin = max(self.events[call][0] + delay, before + gap)
        self.streams[stream].append(Work(name, begin, begin + duration, call, stream))

    def sync(self, stream, pause, tail):
        """Waits for a stream, or with None for all of them."""
        whole = stream is None
        call = self.begin("cudaDeviceSynchronize" if whole else "cudaStreamSynchronize", pause,
                          "cuda_runtime", correlation=len(self.names))
        awaited = [works[-1] for key, works in self.streams.items() if works
                   and (whole or key == stream)]
        awaited = [work for work in awaited if work.end > self.now]
        self.now = max([self.now] + [work.end for work in awaited])
        self.end(tail)
        self.waits[call] = awaited
        self.syncs.append((call, stream))

    def finish(self):
        while self.open:
            self.end(1)

    def trace(self, shift=0):
        """The events of a Kineto trace."""
        found = []
        for event, (begin, end, category, args) in self.events.items():
            found.append({"ph": "X", "name": self.names[event], "cat": category, "pid": self.tid,
                          "tid": self.tid, "ts": begin + shift, "dur": end - begin,
                          "args": dict(args)})
        for stream, works in self.streams.items():
            for work in works:
                found.append({"ph": "X", "name": work.name, "cat": "kernel", "pid": 0,
                              "tid": stream, "ts": work.begin + shift, "dur": work.end - work.begin,
                              "args": {"device": 0, "stream": stream, "correlation": work.launch}})
        for call, stream in self.syncs:
            begin, end = self.events[call][:2]
            args = {"device": 0, "stream": -1 if stream is None else stream, "correlation": call}
            found.append({"ph": "X", "name": "Context Sync" if stream is None else "Stream Sync",
                          "cat": "cuda_sync", "pid": 0, "tid": -1 if stream is None else 1000 +
                          stream, "ts": begin + shift, "dur": end - begin, "args": args})
        return found

    # ---- the graph, as doc/metrics.md §14 words it ----

    def edges(self):
        """(from, to, weight, whose): nodes are (event, "begin" or "end"); events of devices are
        Work."""
        found = []
        for (before_time, before, _), (time, point, owner) in zip(self.points, self.points[1:]):
            waits = "Synchronize" in self.names[owner]
            found.append((before, point, 0 if waits else time - before_time, None if waits
                          else self.names[owner]))
        for call, awaited in self.waits.items():
            found += [((work, "end"), (call, "end"), 0, None) for work in awaited]
        for works in self.streams.values():
            for before, work in zip([None] + works, works):
                call = self.events[work.launch][0]
                found.append(((work, "begin"), (work, "end"), work.end - work.begin, work.name))
                is_empty = before is None or before.end <= call
                found.append(((work.launch, "begin"), (work, "begin"), work.begin - call if is_empty
                              else 0, "launch" if is_empty else None))
                if not is_empty:
                    gap = work.begin - before.end
                    found.append(((before, "end"), (work, "begin"), gap if gap < QUEUE_GAP_MAX
                                  else 0, None))
        return found

    def longest(self, scaled=None, factor=1, launch=True):
        """The longest path's weight in microseconds, with the operator `scaled` `factor` times as
        fast."""
        best = collections.defaultdict(int)
        edges = []
        for start, end, weight, whose in self.edges():
            weight *= 1000
            if scaled is not None and whose == scaled:
                weight = weight // factor
            if whose == "launch" and not launch:
                weight = 0
            edges.append((start, end, weight))
        changed = True
        while changed:
            changed = False
            for start, end, weight in edges:
                if best[start] + weight > best[end]:
                    best[end] = best[start] + weight
                    changed = True
        return max(best.values(), default=0)

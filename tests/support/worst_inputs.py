# SPDX-License-Identifier: Apache-2.0
"""worst_inputs.py: traces made to be the worst that a table can be given: as many as possible of
one thing, in the worst order.

    for name, make in KINDS.items():
        kineto_writer.write(path, make(count))
"""
from kineto_writer import HOST, flow, launched, memory, span, step, work

FAR_NS = 10**9


def of_names(count):
    return [span(f"op {n}", 10 * n, 10 * n + 7) for n in range(count)]


def of_names_beside(count):
    """On two threads that wait for each other all the time: no path is longer than the other."""
    return ([span(f"op {n // 2}.{n % 2}", 10 * (n // 2), 10 * (n // 2) + 7, tid=1 + n % 2)
             for n in range(count)] +
        [event for n in range(count // 8) for event in flow(n, 40 * n, 40 * n + 20)])


def of_devices(count):
    return [work("k", 10 * n, 10 * n + 7, n + 1, device=n) for n in range(count)]


def of_devices_launched(count):
    return [event for n in range(count // 2) for event in
            launched("k", n + 1, (10 * n, 10 * n + 5), (10 * n + 6, 10 * n + 90), device=n)]


def of_streams(count):
    return [work("k", 10 * n, 10 * n + 17, n + 1, stream=n) for n in range(count)]


def of_streams_launched(count):
    return [event for n in range(count // 2) for event in
            launched("k", n + 1, (10 * n, 10 * n + 5), (10 * n + 6, 10 * n + 90), stream=n)]


def of_threads(count):
    return [span("op", 10 * n, 10 * n + 700, tid=n) for n in range(count)]


def of_processes(count):
    return [span("op", 10 * n, 10 * n + 700, pid=n + 1) for n in range(count)]


def of_steps(count):
    return [event for n in range(count // 2) for event in (step(n, 100 * n, 100 * n + 90),
                                                           span("op", 100 * n + 1, 100 * n + 50))]


def of_steps_with_names(count):
    return [event for n in range(count // 2) for event in
            (step(n, 100 * n, 100 * n + 90), span(f"op {n}", 100 * n + 1, 100 * n + 50))]


def of_steps_with_devices(count):
    return [event for n in range(count // 3) for event in
            [step(n, 100 * n, 100 * n + 90)] + launched("k", n + 1, (100 * n, 100 * n + 5),
                                                        (100 * n + 6, 100 * n + 60),
                                                        device=n % 500)]


def of_open_steps(count):
    """Each begins in all of those before."""
    return [event for n in range(count // 2) for event in
            (step(n, n, FAR_NS - n, tid=n), span("op", n, n + 1, tid=n))]


def of_phases(count):
    return [step(n, 1000 * n, 1000 * n + 900) for n in range(count // 10)] + \
        [span(f"phase {n}", 100 * n + n // 10 % 2, 100 * n + 50, "user_annotation")
         for n in range(count)]


def of_levels(count):
    return [span(f"op {n}", n, FAR_NS - n) for n in range(count)]


def of_one_name_in_itself(count):
    return [span("op", n, FAR_NS - n) for n in range(count)]


def of_levels_that_launch(count):
    """The innermost of many levels calls; each call looks outwards for its operator."""
    half = count // 3
    levels = [span(f"python {n}", n, FAR_NS - n, "python_function") for n in range(half)]
    return levels + [event for n in range(half) for event in
                     launched("k", n + 1, (half + 10 * n, half + 10 * n + 5),
                              (half + 10 * n + 6, half + 10 * n + 9))]


def of_levels_that_allocate(count):
    half = count // 2
    levels = [span(f"python {n}", n, FAR_NS - n, "python_function") for n in range(half)]
    return levels + [memory(half + n, 64, 4096 + 64 * n) for n in range(half)]


def of_overlaps(count):
    return [span(f"op {n % 5}", 10 * n, 10 * n + FAR_NS) for n in range(count)]


def of_one_instant(count):
    return [span(f"op {n % 50}", 1000, 1000) for n in range(count)]


def of_one_interval(count):
    return [span(f"op {n % 50}", 1000, 2000) for n in range(count // 2)] + \
        [work(f"k {n % 50}", 1000, 2000, n + 1) for n in range(count // 2)]


def of_allocations(count):
    return [memory(10 * n, 512 + n, 1 << 20 | n << 12) for n in range(count)]


def of_allocations_released_backwards(count):
    half = count // 2
    return [memory(10 * n, 512, 1 << 20 | n << 12) for n in range(half)] + \
        [memory(10 * (half + n), -512, 1 << 20 | (half - 1 - n) << 12) for n in range(half)]


def of_allocations_in_steps(count):
    half = count // 2
    return [step(n, 100 * n, 100 * n + 90) for n in range(half)] + \
        [memory(100 * n + 5, 512 + n, 1 << 20 | n << 12) for n in range(half)]


def of_pools(count):
    return [memory(10 * n, 512, 4096, device=n) for n in range(count)]


def of_allocating_paths(count):
    third = count // 3
    return [event for n in range(third) for event in
            (step(n, 100 * n, 100 * n + 90), span(f"op {n}", 100 * n + 1, 100 * n + 50),
             memory(100 * n + 5, 64, 4096 + 64 * n))]


def of_categories(count):
    return [span("op", 10 * n, 10 * n + 7, f"category {n}") for n in range(count)]


def of_shapes(count):
    return [span("op", 10 * n, 10 * n + 7, **{"Input Dims": [[n]], "Input type": ["float"]})
            for n in range(count)]


def of_modules(count):
    return [span("op", 10 * n, 10 * n + 7, **{"Module Hierarchy": f"net.layer{n}"})
            for n in range(count)]


def of_flows(count):
    third = count // 4
    return [event for n in range(third) for event in
            [span("forward", 10 * n, 10 * n + 7), span("backward", 10 * n, 10 * n + 7, tid=2),
             *flow(n, 10 * n + 1, 10 * n + 2)]]


def of_flows_from_one(count):
    return [span("forward", 0, FAR_NS), span("backward", 0, FAR_NS, tid=2)] + \
        [event for n in range(count // 2) for event in flow(n, n, FAR_NS - n)]


def of_sequences(count):
    half = count // 2
    return ([span("mm", 10 * n, 10 * n + 7, **{"Sequence number": n % 7, "Fwd thread id": 0})
             for n in range(half)] +
        [span("MmBackward0", 10 * (half + n), 10 * (half + n) + 7, tid=2,
              **{"Sequence number": n % 7, "Fwd thread id": 1})
         for n in range(half)])


def of_one_correlation(count):
    return [event for n in range(count // 2) for event in
            launched("k", 7, (10 * n, 10 * n + 5), (10 * n + 6, 10 * n + 9))]


def of_queues(count):
    """All is launched before anything runs."""
    half = count // 2
    return ([span("cudaLaunchKernel", 10 * n, 10 * n + 5, "cuda_runtime", correlation=n + 1)
             for n in range(half)] +
        [work(f"k {n}", 10 * (half + n), 10 * (half + n) + 9, n + 1) for n in range(half)])


def of_waits(count):
    """Each call waits for the device, and each stream for every other."""
    half = count // 2
    return ([span("cudaDeviceSynchronize", 10 * n, 10 * n + 9, "cuda_runtime", correlation=n + 1)
             for n in range(half)] +
        [work("k", 10 * n, 10 * n + 8, half + n, stream=n % 100) for n in range(half)])


def of_gaps_of_devices(count):
    """Each device stands still while the thread that launches for all of them does everything
    else."""
    part = count // 6
    return [span("op", 20 * n, 20 * n + 9) for n in range(part)] + \
        [event for n in range(part) for event in [work("k", n, n + 1, device=n)] +
         launched("k", n + 1, (20 * part + 10 * n, 20 * part + 10 * n + 5),
                  (40 * part + 10 * n, 40 * part + 10 * n + 9), device=n)]


def of_processes_that_wait(count):
    half = count // 2
    return ([span("cudaDeviceSynchronize", 10 * n, 10 * n + 9, "cuda_runtime", pid=1000 + n)
             for n in range(half)] +
        [work("k", 10 * n, 10 * n + 8, n + 1) for n in range(half)])


def of_processes_that_load(count):
    half = count // 2
    return ([span("enumerate(DataLoader)#_It.__next__", 10 * n, 10 * n + 9, pid=1000 + n)
             for n in range(half)] +
        [work("k", 10 * n, 10 * n + 8, n + 1) for n in range(half)])


def of_collectives(count):
    return [work("ncclDevKernel_AllReduce", 10 * n, 10 * n + 15, n + 1, stream=n % 9,
                 **{"Collective name": f"all_reduce {n}", "Process Group Name": str(n),
                    "In msg nelems": n, "dtype": "Float", "Group size": 8}) for n in range(count)]


def of_ranges(count):
    """Annotations in annotations, around all that is launched."""
    third = count // 3
    return [span(f"range {n}", n, FAR_NS - n, "user_annotation") for n in range(third)] + \
        [event for n in range(third) for event in
         launched("k", n + 1, (third + 10 * n, third + 10 * n + 5),
                  (third + 10 * n + 6, third + 10 * n + 9))]


def of_counters(count):
    return [{"ph": "C", "name": f"counter {n}", "pid": HOST, "ts": 10 * n, "args": {"value": n}}
            for n in range(count)]


def of_async(count):
    return [{"ph": "be"[n // (count // 2)], "cat": "async", "name": "work", "id": n % (count // 2),
             "pid": HOST, "tid": 1, "ts": 10 * n}
            for n in range(count)]


def of_begins(count):
    return [{"ph": "BE"[n // (count // 2)], "cat": "cpu_op", "name": f"op {n % 9}", "pid": HOST,
             "tid": 1, "ts": 10 * n}
            for n in range(count)]


def of_repeats(count):
    """Nearly a loop, over and over: what looks for blocks must look far."""
    return [span("ab"[bin(n).count("1") % 2], 10 * n, 10 * n + 7) for n in range(count)]


def of_squares(count):
    """Lengths of loops that grow."""
    events, n, length = [], 0, 1
    while n < count:
        events += [span("a" if i else "b", 10 * (n + i), 10 * (n + i) + 7) for i in range(length)]
        n, length = n + length, length + 1
    return events


KINDS = {name.removeprefix("of_"): make for name, make in list(globals().items())
         if name.startswith("of_")}

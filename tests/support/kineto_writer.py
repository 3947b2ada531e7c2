# SPDX-License-Identifier: Apache-2.0
"""kineto_writer.py: traces as PyTorch's Kineto writes them, from events with times in whole
nanoseconds.

    events = [span("aten::mm", 1000, 5000)] + launched("gemm", 7, call=(2000, 2500), work=(4000,
    9000)) write(tmp_path / "a.json", events)
"""
import json

HOST, DEVICES = 1000, 2  # the program's pid; those of devices are their numbers
HEAD = {"schemaVersion": 1, "displayTimeUnit": "ms"}


def span(name, begin_ns, end_ns, cat="cpu_op", tid=1, pid=HOST, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": begin_ns,
            "dur": end_ns - begin_ns, "args": args}


def step(number, begin_ns, end_ns, tid=1):
    return span(f"ProfilerStep#{number}", begin_ns, end_ns, "user_annotation", tid)


def work(name, begin_ns, end_ns, correlation=None, stream=7, device=0, **args):
    """What a device does: a copy or a set if it is called Mem…."""
    cat = {"Memc": "gpu_memcpy", "Mems": "gpu_memset"}.get(name[:4], "kernel")
    args |= {"device": device, "stream": stream} | ({} if correlation is None
                                                    else {"correlation": correlation})
    return span(name, begin_ns, end_ns, cat, stream, device, **args)


def launched(name, correlation, call, work_at, *, tid=1, stream=7, device=0, by="cudaLaunchKernel"):
    """The call [begin, end) and the work [begin, end) that it starts."""
    return [span(by, *call, "cuda_runtime", tid, correlation=correlation),
            work(name, *work_at, correlation, stream, device)]


def memory(at_ns, size, address, device=0, tid=1, **args):
    args |= {"Device Type": 1, "Device Id": device, "Bytes": size, "Addr": address}
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": HOST,
            "tid": tid, "ts": at_ns, "args": args}


def counter(name, at_ns, value):
    return {"ph": "C", "name": name, "pid": HOST, "ts": at_ns, "args": {"value": value}}


def flow(number, begin_ns, end_ns, tids=(1, 2)):
    """From the forward call around the one instant to the backward call around the other."""
    shared = {"cat": "fwdbwd", "name": "fwdbwd", "id": number, "pid": HOST}
    return [shared | {"ph": "s", "tid": tids[0], "ts": begin_ns},
            shared | {"ph": "f", "bp": "e", "tid": tids[1], "ts": end_ns}]


def names(program="python"):
    """What Kineto says of processes and threads."""
    def meta(kind, pid, tid, **args):
        return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args}
    told = [meta("process_name", HOST, 0, name=program),
            meta("process_labels", HOST, 0, labels="CPU")]
    for device in range(DEVICES):
        told += [meta("process_name", device, 0, name=program),
                 meta("process_labels", device, 0, labels=f"GPU {device}")]
    return told + [meta("thread_name", HOST, tid, name=f"thread {tid} (python)") for tid in (1, 2)]


def microseconds(ns):
    return f"{'-' if ns < 0 else ''}{abs(ns) // 1000}.{abs(ns) % 1000:03}"


def event_text(event):
    """An event as JSON; its times, where they are whole nanoseconds, in microseconds to the last
    digit."""
    times = {key: event[key] for key in ("ts", "dur") if isinstance(event.get(key), int)}
    text = json.dumps({key: value for key, value in event.items() if key not in times})
    return text[:-1] + "".join(f', "{key}": {microseconds(ns)}' for key, ns in times.items()) + "}"


def write(path, events, head=None):
    """Writes the file and returns its path."""
    head = json.dumps(HEAD if head is None else head)
    path.write_text(f'{head[:-1]}, "traceEvents": [\n' + ",\n".join(map(event_text, events)) +
                    "\n]}\n", encoding="utf-8")
    return path

# SPDX-License-Identifier: Apache-2.0
"""fluid_report.py: the report of PaddlePaddle Fluid's profiler, made again from a dump of a model
(model_tables.py), step by step as Fluid makes it: lists of begins and ends, a search from the back
for each end, a look at each pair of rows for children.

It shares nothing with src/analyse/paddle but doc/truth.md. Sums are whole nanoseconds, so that the
text can be compared to the last digit; Fluid adds up milliseconds.
"""
import ctypes
import dataclasses
import fractions
import heapq

THREAD, UNFINISHED, WORK = 0, 1, {1, 2, 3}  # of tracks, of slices, of activities
SORTS = {"default": (None, "event first end time"),
         "calls": (lambda row: row.calls, "number of calls"),
         "total": (lambda row: row.total_ns, "total time"),
         "min": (lambda row: row.min_ns, "minimum time"),
         "max": (lambda row: row.max_ns, "maximum time"),
         "ave": (lambda row: fractions.Fraction(row.total_ns, row.calls), "average time"),
         "cpu": (lambda row: row.cpu_ns, "CPU time"), "gpu": (lambda row: row.gpu_ns, "GPU time")}
LINE = "-" * 25


def f32(value):
    return ctypes.c_float(value).value


@dataclasses.dataclass
class Event:
    """A begin, or an end."""
    is_begin: bool
    name: str
    at_ns: int
    gpu_ns: int


@dataclasses.dataclass
class Row:
    name: str
    calls: int = 0
    total_ns: int = 0
    cpu_ns: int = 0
    gpu_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0
    is_child: bool = False

    def add(self, cpu_ns, gpu_ns):
        time_ns = cpu_ns + gpu_ns
        self.min_ns = min(self.min_ns, time_ns) if self.calls else time_ns
        self.max_ns = max(self.max_ns, time_ns)
        self.calls += 1
        self.total_ns += time_ns
        self.cpu_ns += cpu_ns
        self.gpu_ns += gpu_ns


# ---- what was recorded ----

def device_times(tables):
    """{slice: the device work launched in it or below it}, and whether there is any."""
    times, has_work = {}, False
    for activity in tables["activities"]:
        if activity["kind"] not in WORK or activity["slice"] is None:
            continue
        has_work = True
        at = activity["launch"] if activity["launch"] is not None else activity["caller"]
        while at is not None:
            times[at] = times.get(at, 0) + tables["slices"][activity["slice"]]["duration_ns"]
            at = tables["slices"][at]["parent"]
    return times, has_work


def events_of(slices, times):
    """The begins and ends of a thread, in order."""
    events, ends = [], []

    def end_until(at_ns):
        while ends and (at_ns is None or ends[0][0] <= at_ns):
            end_ns, _, name = heapq.heappop(ends)
            events.append(Event(False, name, end_ns, 0))
    for row in slices:
        end_until(row["begin_ns"])
        events.append(Event(True, row["name"], row["begin_ns"], times.get(row["row"], 0)))
        if not row["flags"] & UNFINISHED:
            heapq.heappush(ends, (row["begin_ns"] + row["duration_ns"], -row["row"], row["name"]))
    end_until(None)
    return events


def threads_of(tables, times):
    """[(number, events)], the newest thread first."""
    by_track = {}
    for row in tables["slices"]:
        if tables["tracks"][row["track"]]["kind"] == THREAD:
            by_track.setdefault(row["track"], []).append(row)

    def place(slices):
        track = tables["tracks"][slices[0]["track"]]
        process = tables["processes"][track["process"]] if track["process"] is not None else {}
        return (slices[0]["begin_ns"], process.get("begin_ns", 0), process.get("pid", 0),
                track["sort_index"], track["tid"])
    order = sorted(by_track.values(), key=place)
    return [(number, events_of(slices, times)) for number, slices in enumerate(order)][::-1]


def number_fragments(threads):
    """'%…%' becomes a number, by name after name."""
    seen = {}
    for _, events in threads:
        for event in events:
            pieces, made = event.name.split("%"), event.name
            for which in range(1, len(pieces)):
                if made.count("%") < 2:
                    break
                known = seen.setdefault("%".join(pieces[:which]), [])
                if pieces[which] not in known:
                    known.append(pieces[which])
                head, _, tail = made.split("%", 2)
                made = f"{head}{known.index(pieces[which])}{tail}"
            event.name = made


# ---- its rows ----

def rows_of(events, prefix):
    """The rows of a list of begins and ends, in order of their first ends."""
    begun, rows = [], {}
    for event in events:
        if event.is_begin:
            begun.append(event)
            continue
        at = next((i for i in reversed(range(len(begun))) if begun[i].name == event.name), None)
        if at is None:
            continue
        begin = begun.pop(at)
        name = prefix + event.name
        rows.setdefault(name, Row(name)).add(event.at_ns - begin.at_ns, begin.gpu_ns)
    return list(rows.values())


def children_of(rows):
    """{name: [rows]}; marks the rows that are children."""
    children = {}
    for parent in rows:
        for row in rows:
            rest = row.name[len(parent.name):]
            if row.name.startswith(parent.name) and rest.startswith("/") and rest.count("/") == 1:
                children.setdefault(parent.name, []).append(row)
                row.is_child = True
    return children


class Block:
    """The rows of one thread, or of all."""

    def __init__(self, number, events, sort):
        rows = rows_of(events, "" if number is None else f"thread{number}::")
        self.number, self.children = number, children_of(rows)
        self.roots = [row for row in rows if not row.is_child]
        self.rows = rows
        self.total_ns = sum(row.total_ns for row in self.roots)
        if SORTS[sort][0] is not None:
            self.roots.sort(key=SORTS[sort][0], reverse=True)

    def walk(self, rows=None, depth=0):
        for row in self.roots if rows is None else rows:
            yield row, depth
            yield from self.walk(self.children.get(row.name, []), depth + 1)


class Report:
    def __init__(self, tables, sort="default"):
        times, self.has_gpu = device_times(tables)
        threads = threads_of(tables, times)
        number_fragments(threads)
        merged = [event for _, events in threads for event in events]
        self.says = SORTS[sort][1]
        self.merged = Block(None, merged, sort) if len(threads) > 1 else None
        self.threads = [Block(number, events, sort) for number, events in threads]

    def rows(self):
        """What table event_summary has to hold: (report, event, depth, …), in order."""
        found = []
        for name, blocks in (("merged", [self.merged] if self.merged else []),
                             ("threads", self.threads)):
            for block in blocks:
                for row, depth in block.walk():
                    parts = (row.cpu_ns, row.gpu_ns) if self.has_gpu else (None, None)
                    found.append((name, row.name, block.number, depth, row.calls, row.total_ns,
                                  *parts, row.min_ns, row.max_ns, row.total_ns // row.calls,
                                  row.total_ns / block.total_ns if block.total_ns else None))
        return found

    # ---- its text ----

    def text(self):
        """Without any rows there is one report, without sums; Fluid sums up nothing there."""
        merged = self.merged if self.merged and self.merged.rows else None
        reports = [self.one(True, [merged], True)] if merged else []
        is_alone = len(self.threads) == 1 and self.threads[0].rows
        return "".join(reports + [self.one(False, self.threads, is_alone)])

    def one(self, is_merged, blocks, has_overhead):
        place = "All" if self.has_gpu and any(block.rows for block in blocks) else "CPU"
        out = [f"\n{LINE}>     Profiling Report     <{LINE}\n\n"]
        if is_merged:
            out.append("Note! This Report merge all thread info into one.\n")
        out.append(f"Place: {place}\nTime unit: ms\nSorted by {self.says} in descending order in "
                   "the same thread\n\n")
        if has_overhead:
            out += overhead(blocks[0])
        out.append(f"\n{LINE}       Event Summary       {LINE}\n\n")
        width = max((len(row.name) for block in blocks for row in block.rows), default=0) + 8
        gpu = [("CPU Time (Ratio)", 24), ("GPU Time (Ratio)", 24)] if place == "All" else []
        out.append(line([("Event", width), ("Calls", 12), ("Total", 12), *gpu, ("Min.", 12),
                         ("Max.", 12), ("Ave.", 12), ("Ratio.", 12)]))
        for block in blocks:
            for row, depth in block.walk():
                out.append(self.row(row, depth, block.total_ns, width, place))
        return "".join(out)

    def row(self, row, depth, whole_ns, width, place):
        total = row.total_ns / 1e6
        gpu = [(part(row.cpu_ns / 1e6, total), 24), (part(row.gpu_ns / 1e6, total), 24)]
        share = f32(row.total_ns / whole_ns) if whole_ns else float("nan")
        return line([("  " * depth + row.name, width), (str(row.calls), 12), (digits(total), 12),
                     *(gpu if place == "All" else []), (digits(row.min_ns / 1e6), 12),
                     (digits(row.max_ns / 1e6), 12), (digits(total / row.calls), 12),
                     (digits(share), 12)])


def digits(value):
    return f"{value:g}"


def part(value, whole):
    return f"{value:f} ({value / whole:f})" if whole else f"{value:f} (nan)"


def line(cells):
    """Cells to the left of their columns; one that fills it has a blank behind it."""
    return "".join(text.ljust(width) if len(text) < width else text + " "
                   for text, width in cells) + "\n"


def labelled(label, *cells):
    return label.ljust(25) + "".join(f"{name}: {value}".ljust(len(name) + 14)
                                     for name, value in cells)


def overhead(block):
    def share(rows):
        found = 0.0
        for row in rows:
            found = f32(found + f32(row.total_ns / block.total_ns))
        return found

    def percent(value):
        return f"Ratio: {digits(f32(value * 100))}%\n"

    def copies(label, calls, total_ms, ratio):
        return labelled(label, ("Calls", calls), ("Total", digits(total_ms))) + percent(ratio)
    children = [row for row, depth in block.walk() if depth > 0]
    computing = share(row for row in children if "compute" in row.name)
    total = block.total_ns / 1e6
    yield f"Total time: {digits(total)}\n"
    yield labelled("  Computation time", ("Total", digits(total * computing))) + percent(computing)
    rest = f32(1 - computing)
    yield labelled("  Framework overhead", ("Total", digits(total * rest))) + percent(rest)
    yield f"\n{LINE}     GpuMemCpy Summary     {LINE}\n\n"
    a_sync = [row for row in children if "GpuMemcpyAsync" in row.name]
    sync = [row for row in children if "GpuMemcpySync" in row.name and row not in a_sync]
    kinds = [(word, sum(row.calls for row in rows), sum(row.total_ns / 1e6 for row in rows),
              share(rows)) for word, rows in (("  GpuMemcpyAsync", a_sync),
                                              ("  GpuMemcpySync", sync))]
    yield copies("GpuMemcpy", *(sum(kind[i] for kind in kinds) for i in (1, 2)),
                 f32(kinds[0][3] + kinds[1][3]))
    for kind in kinds:
        if kind[1]:
            yield copies(*kind)

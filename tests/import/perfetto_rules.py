# SPDX-License-Identifier: Apache-2.0
"""What Perfetto's trace processor (version 52) makes of a trace in Chrome's format, told from what
Varve has read of it: one function a rule by which the two differ. Each rule counts what it touched,
so that every difference has a name."""
import collections
import dataclasses
import math
from decimal import Decimal

SQL = """
SELECT 'slice' AS kind, s.id, s.name, s.category, s.ts, s.dur, t.tid, p.pid, tr.type AS track, NULL AS slice_in, NULL AS value
  FROM slice s JOIN track tr ON s.track_id = tr.id LEFT JOIN thread_track tt ON tt.id = tr.id
  LEFT JOIN thread t USING (utid) LEFT JOIN process p USING (upid)
UNION ALL SELECT 'flow', f.slice_out, extract_arg(f.arg_set_id, 'name'), extract_arg(f.arg_set_id, 'cat'),
  NULL, NULL, NULL, NULL, NULL, f.slice_in, NULL FROM flow f
UNION ALL SELECT 'counter', c.id, k.name, NULL, c.ts, NULL, NULL, p.pid, NULL, NULL, c.value
  FROM counter c JOIN counter_track k ON c.track_id = k.id LEFT JOIN process_counter_track pc ON pc.id = k.id
  LEFT JOIN process p USING (upid)"""


@dataclasses.dataclass(eq=False)
class Row:
    """A slice, or an instant (`phase` i), as Varve has it; rules change it into Perfetto's."""
    phase: str        # X, B, i, P; E, s and f are ends, which have no row of their own
    place: tuple      # pid and tid, or what takes their place
    name: str
    category: str
    ts: int
    dur: int = 0
    flow: int = -1    # of s and f: row in the model's table, and id
    id: int = 0
    event: dict = dataclasses.field(default_factory=dict) # what the file says
    order: int = 0    # its number in the file

    def key(self):
        return self.place, self.name, self.category, self.ts, self.dur


class Judged:
    """One trace on its way from Varve's rows to Perfetto's."""

    def __init__(self, tables, document):
        self.tables = tables
        self.document = document
        self.touched = collections.Counter()
        self.written = self.events_by_what_they_say()
        self.rows = [self.slice_row(row) for row in tables["slices"]] + [self.mark_row(row)
                                                                         for row in tables["marks"]]
        self.rows += [self.row("i", row["track"], "[memory]", "", row["time_ns"])
                      for row in tables["memory"]]
        self.ends = [Row("E", document.place(event), str(event.get("name", "")),
                         event.get("cat", ""), document.time(event), event=event, order=order)
                     for order, event in enumerate(document.events) if event["ph"] == "E"]
        for number, flow in enumerate(tables["flows"]):
            for phase, side in (("s", "from"), ("f", "to")):
                end = self.row(phase, flow[f"{side}_track"], flow["name"], flow["category"],
                               flow[f"{side}_ns"])
                end.flow, end.id = number, flow["id"]
                self.ends.append(end)
        self.flows = []

    def events_by_what_they_say(self):
        """{(phase, place, name, time): [(number, event), …]}, for what a model does not keep of an
        event."""
        found = collections.defaultdict(list)
        for order, event in enumerate(self.document.events):
            if event.get("ph", "") in "XBiIsf":
                key = event["ph"].lower(), self.document.place(event), str(event.get(
                    "name", "")), self.document.time(event)
                found[key].append((order, event))
        return found

    def row(self, phases, track, name, category, time_ns, dur=0):
        row = self.tables["tracks"][track]
        place = self.tables["processes"][row["process"]]["pid"], row["tid"]
        for phase in phases:
            events = self.written[phase.lower(), place, name, time_ns]
            if events:
                order, event = events.pop(0) if len(events) > 1 else events[0]
                return Row(phase, place, name, category, time_ns, dur, event=event, order=order)
        return Row("P", place, name, category, time_ns, dur)

    def slice_row(self, row):
        return self.row("XB", row["track"], row["name"], row["category"], row["begin_ns"],
                        row["duration_ns"])

    def mark_row(self, row):
        return self.row("i", row["track"], row["name"], row["category"], row["time_ns"])

    def counters(self):
        """A series without a name is called by the key of its value."""
        rows = collections.Counter()
        for row in self.tables["counters"]:
            process = self.tables["tracks"][row["track"]]["process"]
            rows[self.tables["processes"][process]["pid"],
                 f"{row['name']} {row['series'] or 'value'}",
                 through_a_double(row["time_ns"] - self.document.base), row["value"]] += 1
        return rows

    def keep(self, rule, kept):
        """Only the rows that `kept` says; the others are the rule's."""
        former = len(self.rows)
        self.rows = [row for row in self.rows if kept(row)]
        self.touched[rule] += former - len(self.rows)

    def change(self, rule, change):
        for row in self.rows + self.ends:
            before = row.key()
            change(row)
            self.touched[rule] += before != row.key()


# ---- one event at a time ----

def samples_are_not_read(judged):
    judged.keep("samples_are_not_read", lambda row: row.phase != "P")


def a_complete_event_needs_a_duration(judged):
    judged.keep("a_complete_event_needs_a_duration", lambda row: row.phase != "X"
                or "dur" in row.event)


def the_base_of_times_is_not_added(judged):
    def change(row):
        row.ts -= judged.document.base
    judged.change("the_base_of_times_is_not_added", change)


def through_a_double(time_ns):
    """Microseconds as a double: whole ones are exact, others are a product that is rounded to a
    double and then to a whole number; beyond 2^53 ns that is a multiple of 2, 4 … 256."""
    value = float(Decimal(time_ns) / 1000)
    if value.is_integer():
        return int(value) * 1000
    whole = math.floor(value * 1000.0)
    return whole + (value * 1000.0 - whole >= 0.5)


def times_are_doubles(judged):
    def change(row):
        row.ts, row.dur = through_a_double(row.ts), through_a_double(row.dur)
    judged.change("times_are_doubles", change)


def an_instant_of_more_than_a_thread_has_a_track_of_its_own(judged):
    def change(row):
        if row.phase == "i" and row.event.get("s", "t") != "t":
            row.place = (row.event["s"],)
    judged.change("an_instant_of_more_than_a_thread_has_a_track_of_its_own", change)


def an_id_out_of_range_is_none(judged):
    """A thread without a number, or 0, is called as its process; a process without one is 0."""
    def change(row):
        if row.place[-1] != "text" and len(row.place) > 1:
            pid, tid = (number if 0 < number < 2**32 else 0 for number in row.place)
            row.place = pid, tid or pid
    judged.change("an_id_out_of_range_is_none", change)


def an_id_in_text_is_no_number(judged):
    """"7" is another thread than 7."""
    def change(row):
        texts = [row.event.get(key) for key in ("pid", "tid")]
        if len(row.place) > 1 and any(isinstance(text, str) for text in texts):
            row.place = (*(text if isinstance(text, str) else number
                           for text, number in zip(texts, row.place)), "text")
    judged.change("an_id_in_text_is_no_number", change)


# ---- what depends on the events before ----

def in_order(judged):
    """By time; of one instant complete events first, the longer ones before; the others as they
    stand in the file."""
    def key(row):
        is_complete = row.phase == "X"
        return row.ts, not is_complete, -row.dur if is_complete else 0, row.order
    return sorted(judged.rows + judged.ends, key=key)


class Thread:
    """The slices of a thread that are open."""

    def __init__(self, touched):
        self.touched = touched
        self.stack = []

    def close(self, ts, dur):
        """Takes off what is over at `ts`. False if what stays ends while what is to begin goes
        on."""
        has_open = False
        for index in range(len(self.stack) - 1, -1, -1):
            row = self.stack[index]
            end = row.ts + row.dur
            if row.dur < 0:
                has_open = True
            elif has_open:
                if ts > end:
                    self.cut_short(index, end)
                    has_open = False
            elif end < ts or (end == ts and (row.dur != 0 or dur != 0)):
                self.stack.pop()
            elif dur > 0 and ts < end < ts + dur:
                return False
        return True

    def cut_short(self, index, end):
        for row in self.stack[index + 1:]:
            row.dur = end - row.ts
            self.touched["a_begin_does_not_outlast_what_is_around_it"] += 1
        del self.stack[index:]

    def begin(self, row):
        if not self.close(row.ts, row.dur):
            return False
        self.stack.append(row)
        return True

    def end(self, end):
        """Closes the innermost begin of its name and category; an end of another name closes
        none."""
        self.close(end.ts, -1)
        for row in reversed(self.stack):
            if row.dur < 0 and end.name in ("", row.name) and end.category in ("", row.category):
                row.dur = end.ts - row.ts
                if row is self.stack[-1]:
                    self.stack.pop()
                return


def events_in_order(judged):
    """The rules that need all events of a thread: dropped slices, ends of begins, ends of flows."""
    threads = collections.defaultdict(lambda: Thread(judged.touched))
    by_varve = {id(row): row.dur for row in judged.rows if row.phase == "B"}
    dropped, starts = set(), {}
    for row in judged.rows:
        row.dur = -1 if row.phase == "B" else row.dur
    for row in in_order(judged):
        thread = threads[row.place]
        if row.phase == "E":
            thread.end(row)
        elif row.phase in "sf":
            end_of_flow(judged, starts, row, thread.stack[-1] if thread.stack else None)
        elif not thread.begin(row):
            dropped.add(id(row))
    judged.keep("a_partly_overlapping_event_is_dropped", lambda row: id(row) not in dropped)
    judged.touched["an_end_closes_only_its_own_name"] += sum(by_varve.get(id(row),
                                                                          row.dur) != row.dur
                                                                          for row in judged.rows)


def end_of_flow(judged, starts, end, around):
    """Belongs to the slice that is innermost at that instant; a start is taken once and stands
    before its ends."""
    key = end.name, end.category, end.id
    if around is None:
        judged.touched["an_arrow_needs_a_slice_at_both_ends"] += 1
    elif end.phase == "s":
        starts.setdefault(key, around)
    elif key not in starts:
        judged.touched["an_arrow_needs_its_start_first"] += 1
    else:
        out, into = starts[key], around
        if out.ts > into.ts:
            judged.touched["an_arrow_backwards_is_turned_round"] += 1
            out, into = into, out
        judged.flows.append((end.name, end.category, out, into))


RULES = [samples_are_not_read, a_complete_event_needs_a_duration, the_base_of_times_is_not_added,
         times_are_doubles, an_instant_of_more_than_a_thread_has_a_track_of_its_own,
         an_id_in_text_is_no_number, an_id_out_of_range_is_none, events_in_order]

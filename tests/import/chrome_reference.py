# SPDX-License-Identifier: Apache-2.0
"""chrome_reference.py: a slow and obvious reader of Chrome's trace format, by Python's json and
Decimal, written from doc/formats.md. It gives what the model must hold, as counted rows without row
numbers."""
import collections
import decimal
import gzip
import json
import math
import re

OP = {"cpu_op", "user_annotation", "Operator", "Node"}
CALL = {"cuda_runtime", "cuda_driver", "Runtime", "mtia_runtime"}
WORK = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", "cuda_event",
        "cuda_profiler_range", "mtia_ccp_events", "Kernel", "Memcpy", "Memset"}
COLLECTIVE = {"Collective name": "name", "Process Group Name": "group",
              "Process Group Ranks": "ranks", "dtype": "dtype", "Group size": "group_size",
              "In msg nelems": "in_elements", "Out msg nelems": "out_elements", "Seq": "sequence"}
OP_KEYS = {"External id": "external", "external id": "external", "Sequence number": "sequence",
           "Fwd thread id": "forward_tid", "Call stack": "stack", "Module Hierarchy": "module"}
ACTIVITY_KEYS = {"External id": "external", "external id": "external", "correlation": "correlation",
                 "correlation_id": "correlation", "connection_id": "correlation",
                 "device": "device", "context": "context", "stream": "stream",
                 "Stream Id": "stream", "bytes": "bytes"}
LATER_KEYS = {"correlation", "correlation_id", "connection_id", "Stream Id"}
SCALARS = "Concrete Inputs"
SHAPES = {"Input Dims", "Input type", "input_type_shape"}


def open_text(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")


def load(text):
    """The document; an array that is not closed is closed."""
    for ending in ("", "]", "}]", "]}"):
        try:
            return json.loads(re.sub(r",\s*$", "", text) + ending if ending else text,
                              parse_float=decimal.Decimal, strict=False)
        except json.JSONDecodeError as problem:
            first = problem
    raise first


def to_ns(value):
    number = decimal.Decimal(value) * 1000
    return int(number.quantize(decimal.Decimal(1), rounding=decimal.ROUND_HALF_UP))


def ident(value):
    """pid or tid: the number that it is; -1 for a text, 0 for none."""
    if value is None:
        return 0
    if isinstance(value, str):
        value = re.sub(r"^stream ", "", value)
        return int(value) if re.fullmatch(r"-?[0-9]+", value) else -1
    return int(value)


def written(value):
    """An array or object as the model keeps it: its text without blanks."""
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{written(key)}:{written(item)}"
                              for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def plain(value):
    if isinstance(value, decimal.Decimal):
        return float(value)
    return written(value) if isinstance(value, (list, dict)) else value


def frozen(pairs):
    """Numbers by their value: 4.0 is 4."""
    return tuple(sorted((key, json.dumps(int(value) if isinstance(value, float)
                                         and value.is_integer() else value))
                        for key, value in pairs))


def whole(value):
    """Columns take whole numbers, also those written as strings."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, str) and re.fullmatch("-?[0-9]+", value) is not None)


class Document:
    """The events of a document, and where and when they are."""

    def __init__(self, document):
        self.top = document if isinstance(document, dict) else {}
        events = document["traceEvents"] if isinstance(document, dict) else document
        self.events = [event for event in events if isinstance(event, dict) and event]
        tells = self.top if "baseTimeNanoseconds" in self.top else self.top.get(
            "viztracer_metadata", {})
        self.base = int(tells.get("baseTimeNanoseconds", 0))

    def time(self, event):
        return to_ns(event["ts"]) + self.base

    def place(self, event):
        return ident(event.get("pid")), ident(event.get("tid"))


class Reference(Document):
    def __init__(self, document):
        super().__init__(document)
        self.rows = collections.defaultdict(collections.Counter)
        self.open = collections.defaultdict(list)
        self.flows = collections.defaultdict(list)
        self.last = collections.defaultdict(lambda: -math.inf)
        self.health = collections.Counter()
        self.memory = 0
        for order, event in enumerate(self.events):
            self.note(event)
        for event in self.events:
            self.read(event)
        self.pair()
        self.join_flows()

    def note(self, event):
        """The last instant of each track, for what has no end."""
        if event.get("ph") in ("X", "B", "E", "i", "I"):
            end = self.time(event) + max(0, to_ns(event.get("dur", event.get("tdur", 0))))
            self.last[self.place(event)] = max(self.last[self.place(event)], end)

    def arguments(self, event):
        """What stays an argument, and what goes into columns of ops, activities and collectives."""
        category = event.get("cat")
        rest, op, activity, collective = [], {}, {}, {}
        for key, value in (event.get("args") or {}).items():
            is_list, value = isinstance(value, list), plain(value)
            if category in OP and key in SHAPES and is_list:
                op.setdefault("shapes", True)
            elif category in OP and key == SCALARS and is_list:
                op["scalars"] = value
            elif category in OP and key in OP_KEYS:
                op[OP_KEYS[key]] = value
            elif (category in OP | WORK and key in COLLECTIVE and
                  "Collective name" in event["args"]):
                collective[COLLECTIVE[key]] = value
            elif (ACTIVITY_KEYS.get(key) in ("external", "correlation") and whole(value) and
                  int(value) < 0 and category not in OP):
                rest.append((key, value))
            elif category in CALL | WORK and key in ACTIVITY_KEYS and whole(value):
                activity[ACTIVITY_KEYS[key]] = int(value)
            elif category is None and key in LATER_KEYS and whole(value):
                activity[ACTIVITY_KEYS[key]] = int(value)
            else:
                rest.append((key, value))
        if category == "user_annotation" and event["name"].startswith("gloo:"):
            collective["name"] = event["name"].removeprefix("gloo:")
            collective["in_elements"] = sum(math.prod(dims)
                                            for dims in (event.get("args") or {}).get("Input Dims",
                                                                                      []))
        own = ["id", "bp", "s", "tts", "esf", "cname"] + ["tdur"] * ("dur" in event
                                                                     or event["ph"] != "X")
        for key in own:
            if key in event and not (key == "s" and event[key] == "t"):
                rest.append((key, plain(event[key])))
        if "sf" in event:
            rest.append(("stack", self.stack(event["sf"])))
        return rest, op, activity, collective

    def stack(self, frame):
        frames, names = self.top.get("stackFrames", {}), []
        while frame is not None and str(frame) in frames:
            names.append(frames[str(frame)]["name"])
            frame = frames[str(frame)].get("parent")
        return ";".join(names)

    def slice(self, event, begin, end, extra=()):
        rest, op, activity, collective = self.arguments(event)
        rest += [pair for pair in extra if pair not in rest]
        columns = {f"op.{key}": value for key, value in op.items() if key != "shapes"}
        columns |= {f"activity.{key}": value for key, value in activity.items()}
        columns |= {f"collective.{key}": value for key, value in collective.items()}
        self.rows["slices"][(*self.place(event), str(event.get("name", "")), event.get("cat", ""),
                             begin, end - begin, frozen(rest), frozen(columns.items()))] += 1

    def read(self, event):
        phase = event.get("ph")
        getattr(self, f"read_{phase}", self.read_other)(event)

    def read_other(self, event):
        if event["ph"] not in "M":
            self.health["ignored"] += 1

    def read_X(self, event):
        begin = self.time(event)
        duration = event.get("dur", event.get("tdur"))
        if duration is None:
            self.open[self.place(event)].append((begin, event))
        else:
            self.slice(event, begin, begin + max(0, to_ns(duration)))

    def read_B(self, event):
        self.open[self.place(event)].append((self.time(event), event))

    read_E = read_B

    def read_i(self, event):
        args = event.get("args", {})
        if event["name"] == "[memory]" and "Bytes" in args:
            self.rows["memory"][(*self.place(event), self.time(event), args.get("Addr", 0),
                                 args["Bytes"], args.get("Total Allocated", -1),
                                 args.get("Total Reserved", -1),
                                 {6: 1}.get(args["Device Type"], args["Device Type"]),
                                 max(0, args["Device Id"]))] += 1
            return
        self.mark(event, event.get("cat", ""))

    read_I = read_i

    def mark(self, event, category, extra=()):
        rest = self.arguments(dict(event, cat="-"))[0] + list(extra)
        self.rows["marks"][(*self.place(event), event["name"], category, self.time(event),
                            frozen(rest))] += 1

    def read_P(self, event):
        self.mark(event, "sample", [("cat", event["cat"])])

    def read_C(self, event):
        for key, value in event["args"].items():
            series = "" if key in ("", "value") else key
            self.rows["counters"][(ident(event.get("pid")), event["name"], series, self.time(event),
                                   float(value))] += 1

    def read_s(self, event):
        number = event["id"]
        number = int(number, 0) if isinstance(number, str) else number
        key = (event.get("cat", ""), event["name"], number)
        self.flows[key].append((self.time(event), "stf".index(event["ph"]), event))

    read_t = read_f = read_s

    def pair(self):
        for place, halves in self.open.items():
            halves.sort(key=lambda half: half[0])
            stack = []
            for time, event in halves:
                if event["ph"] != "E":
                    stack.append((time, event))
                    continue
                named = [i for i, (_, begin) in enumerate(stack)
                         if event.get("name") and begin.get("name") == event["name"]]
                if not stack:
                    self.health["unmatched_ends"] += 1
                    continue
                begin_time, begin = stack.pop(named[-1] if named else -1)
                self.slice(begin, begin_time, time, self.arguments(event)[0])
            for time, event in stack:
                self.health["unfinished"] += 1
                self.slice(event, time, max(time, self.last[place]))

    def join_flows(self):
        for (category, name, number), ends in self.flows.items():
            ends.sort(key=lambda end: end[:2])
            starts = [end for end in ends if end[1] == 0]
            used = set()
            tails = {}
            for time, kind, event in ends:
                if kind == 0:
                    continue
                before = [i for i, start in enumerate(starts) if start[0] <= time]
                if not starts:
                    self.health["unmatched_flows"] += 1
                    continue
                start = before[-1] if before else 0
                used.add(start)
                tail = tails.get(start, starts[start])
                self.rows["flows"][(category, name, number, tail[0], time, *self.place(tail[2]),
                                    *self.place(event))] += 1
                if kind == 1:
                    tails[start] = (time, kind, event)
            self.health["unmatched_flows"] += len(starts) - len(used)

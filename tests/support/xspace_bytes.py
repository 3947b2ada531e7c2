# SPDX-License-Identifier: Apache-2.0
"""XSpace messages by hand, and as protobuf JSON: written from the field numbers of xplane.proto,
knowing nothing of varve."""
import base64
import json
import struct

from protobuf_bytes import message, signed, walk

# name, number -> (name in JSON, type); a type in capitals is a message, "[…]" repeated, "{…}" a
# map.
SCHEMA = {
    "SPACE": {1: ("planes", "[PLANE]"), 2: ("errors", "[text]"), 3: ("warnings", "[text]"),
              4: ("hostnames", "[text]")},
    "PLANE": {1: ("id", "int"), 2: ("name", "text"), 3: ("lines", "[LINE]"),
              4: ("event_metadata", "{EVENT_METADATA}"), 5: ("stat_metadata", "{STAT_METADATA}"),
              6: ("stats", "[STAT]")},
    "LINE": {1: ("id", "int"), 2: ("name", "text"), 3: ("timestamp_ns", "int"),
             4: ("events", "[EVENT]"), 9: ("duration_ps", "int"), 10: ("display_id", "int"),
             11: ("display_name", "text")},
    "EVENT": {1: ("metadata_id", "int"), 2: ("offset_ps", "int"), 3: ("duration_ps", "int"),
              4: ("stats", "[STAT]"), 5: ("num_occurrences", "int")},
    "STAT": {1: ("metadata_id", "int"), 2: ("double_value", "real"), 3: ("uint64_value", "uint"),
             4: ("int64_value", "int"), 5: ("str_value", "text"), 6: ("bytes_value", "bytes"),
             7: ("ref_value", "uint"), 8: ("compressed_str_value", "bytes")},
    "EVENT_METADATA": {1: ("id", "int"), 2: ("name", "text"), 3: ("metadata", "bytes"),
                       4: ("display_name", "text"), 5: ("stats", "[STAT]"),
                       6: ("child_id", "[int]")},
    "STAT_METADATA": {1: ("id", "int"), 2: ("name", "text"), 3: ("description", "text")},
}


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def scalar(kind, value):
    if kind == "int":
        return str(signed(value))
    if kind == "uint":
        return str(value)
    if kind == "real":
        number = struct.unpack("<d", value)[0]
        return number if number - number == 0 else {True: "NaN"}.get(
            number != number, f"{'-' * (number < 0)}Infinity")
    return value.decode() if kind == "text" else base64.b64encode(value).decode()


def to_dict(data, kind="SPACE", spell=lambda name: name):
    """What MessageToJson makes of the message: 64-bit numbers as texts, keys of maps as texts,
    bytes in base64."""
    out = {}
    for number, wire, value in walk(data):
        name, form = SCHEMA[kind][number]
        inner = form.strip("[]{}")
        if form.startswith("{"):
            entry = {number: value for number, _, value in walk(value)}
            out.setdefault(spell(name),
                           {})[str(signed(entry.get(1, 0)))] = to_dict(entry.get(2, b""), inner,
                                                                       spell)
            continue
        item = to_dict(value, inner, spell) if inner.isupper() else None
        if item is None and inner == "int" and wire == 2:  # packed
            raise AssertionError("no packed numbers here")
        item = scalar(inner, value) if item is None else item
        if form.startswith("["):
            out.setdefault(spell(name), []).append(item)
        else:
            out[spell(name)] = item
    return out


def to_json(data, spell=lambda name: name):
    return json.dumps(to_dict(data, spell=spell), indent=1)


class Plane:
    """Lines, events and statistics of one plane; ids of metadata are given out as names come."""

    def __init__(self, name, plane_id=0):
        self.name, self.plane_id = name, plane_id
        self.lines, self.stats = [], []
        self.event_ids, self.stat_ids = {}, {}
        self.event_fields = {}

    def stat_id(self, name):
        return self.stat_ids.setdefault(name, len(self.stat_ids) + 1)

    def stat(self, name, value, kind=None):
        """`kind` forces a field of XStat: 3 unsigned, 6 bytes, 7 reference, 8 compressed."""
        kind = kind or (2 if isinstance(value, float) else 4 if isinstance(value, int) else 5)
        if kind == 7:
            value = self.stat_id(value)
        return message((1, self.stat_id(name)), (kind, value))

    def metadata(self, name, display=None, stats=(), children=()):
        """What all events of this name have in common."""
        fields = [] if display is None else [(4, display)]
        fields += [(5, one) for one in stats] + [(6, child) for child in children]
        self.event_fields[name] = fields
        self.event_id(name)

    def event_id(self, name):
        return self.event_ids.setdefault(name, len(self.event_ids) + 1)

    def event(self, name, offset_ps=None, duration_ps=None, stats=(), occurrences=None):
        fields = [(1, self.event_id(name))]
        fields += [(2, offset_ps)] if offset_ps is not None else [(5, occurrences)]
        fields += [] if duration_ps is None else [(3, duration_ps)]
        return message(*fields, *[(4, one) for one in stats])

    def line(self, line_id, events, name=None, timestamp_ns=0, more=()):
        fields = [(1, line_id)] + ([] if name is None else [(2, name)])
        fields += [(3, timestamp_ns)] if timestamp_ns else []
        self.lines.append(message(*fields, *[(4, event) for event in events], *more))

    def bytes(self):
        fields = [(1, self.plane_id)] if self.plane_id else []
        fields += [(2, self.name)] + [(3, line) for line in self.lines]
        for name, number in self.event_ids.items():
            inner = message((1, number), (2, name), *self.event_fields.get(name, ()))
            fields.append((4, message((1, number), (2, inner))))
        for name, number in self.stat_ids.items():
            fields.append((5, message((1, number), (2, message((1, number), (2, name))))))
        return message(*fields, *[(6, one) for one in self.stats])


def environment(start_ns, stop_ns):
    plane = Plane("Task Environment")
    plane.stats = [plane.stat("profile_start_time", start_ns, 3),
                   plane.stat("profile_stop_time", stop_ns, 3)]
    return plane


def space(*planes, errors=(), warnings=(), hosts=()):
    texts = [(2, text) for text in errors] + [(3, text) for text in warnings] + [(4, text)
                                                                                 for text in hosts]
    return message(*[(1, plane.bytes()) for plane in planes], *texts)

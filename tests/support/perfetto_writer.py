# SPDX-License-Identifier: Apache-2.0
"""Perfetto protobuf traces by hand, packet by packet: field numbers as in
perfetto/trace/*.proto."""
from protobuf_bytes import Fixed64, field, message

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6


def annotation(name, value):
    """`name` is a text, or an int: an interned one."""
    head = ((1, name),) if isinstance(name, int) else ((10, name),) if name is not None else ()
    return message(*head, *value_fields(value))


def value_fields(value):
    if isinstance(value, bool):
        return ((2, int(value)),)
    if isinstance(value, int):
        return ((4, value),) if value < 1 << 63 else ((3, value),)
    if isinstance(value, float):
        return ((5, value),)
    if isinstance(value, str):
        return ((6, value),)
    if isinstance(value, dict):
        return tuple((11, annotation(key, item)) for key, item in value.items())
    return tuple((12, annotation(None, item)) for item in value)


def clock(clock_id, timestamp, incremental=False, multiplier=None):
    fields = [(1, clock_id), (2, timestamp)]
    if incremental:
        fields.append((3, 1))
    if multiplier is not None:
        fields.append((4, multiplier))
    return message(*fields)


def event(kind, *, track=None, name=None, categories=(), args=None, value=None, flows=(), ends=(),
          more=()):
    fields = [(9, kind)]
    if track is not None:
        fields.append((11, track))
    if name is not None:
        fields.append((10 if isinstance(name, int) else 23, name))
    fields += [(3 if isinstance(category, int) else 22, category) for category in categories]
    fields += [(4, annotation(key, item)) for key, item in (args or {}).items()]
    if value is not None:
        fields.append((44 if isinstance(value, float) else 30, value))
    fields += [(47, Fixed64(flow)) for flow in flows] + [(48, Fixed64(flow)) for flow in ends]
    return message(*fields, *more)


class Trace:
    """Packets of one sequence unless another is named; `sequence` 0 leaves it out."""

    def __init__(self, path):
        self.path, self.packets = path, []

    def packet(self, *fields, at=None, sequence=1, clock_id=None):
        head = [] if at is None else [(8, at)]
        if clock_id is not None:
            head.append((58, clock_id))
        tail = [(10, sequence)] if sequence else []  # as the service does: last
        self.packets.append(field(1, message(*head, *fields, *tail)))

    def snapshot(self, *clocks, **more):
        self.packet((6, message(*[(1, one) for one in clocks])), **more)

    def clear(self, *fields, **more):
        """The sequence's interned names and defaults begin anew."""
        self.packet((13, 1), *fields, **more)

    def intern(self, *, names=None, categories=None, keys=None, sources=None, texts=None, **more):
        entries = [(2, message((1, iid), (2, text))) for iid, text in (names or {}).items()]
        entries += [(1, message((1, iid), (2, text))) for iid, text in (categories or {}).items()]
        entries += [(3, message((1, iid), (2, text))) for iid, text in (keys or {}).items()]
        entries += [(4, message((1, iid), (2, file), (4, line)))
                    for iid, (file, line) in (sources or {}).items()]
        entries += [(29, message((1, iid), (2, text))) for iid, text in (texts or {}).items()]
        self.packet((12, message(*entries)), **more)

    def track(self, uuid, *, name=None, parent=None, process=None, thread=None, counter=None):
        fields = [(1, uuid)]
        if name is not None:
            fields.append((2, name))
        if process is not None:
            fields.append((3, message((1, process[0]), (6, process[1]))))
        if thread is not None:
            fields.append((4, message((1, thread[0]), (2, thread[1]), (5, thread[2]))))
        if parent is not None:
            fields.append((5, parent))
        if counter is not None:
            fields.append((8, message(*counter)))
        self.packet((60, message(*fields)))

    def event(self, at, kind, *, sequence=1, clock_id=None, flags=0, **more):
        head = ((13, flags),) if flags else ()
        self.packet(*head, (11, event(kind, **more)), at=at, sequence=sequence, clock_id=clock_id)

    def write(self):
        self.path.write_bytes(b"".join(self.packets))
        return self.path

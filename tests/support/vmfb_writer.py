# SPDX-License-Identifier: Apache-2.0
"""Programs of IREE (.vmfb), as far as their locations go: a flatbuffer, alone or in a zip archive.
The schema is IREE's bytecode_module_def.fbs."""
import struct

CALLSITE, FILE, FUSED, NAME = 1, 2, 3, 4
MODULE_FIELDS, MODULE_NAME, MODULE_DEBUG = 16, 0, 15


class Buffer:
    """Everything that an offset leads to stands behind it."""
    def __init__(self):
        self.bytes, self.texts = bytearray(8), {}
        self.bytes[4:8] = b"IREE"

    def align(self):
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        return len(self.bytes)

    def link(self, at, target):
        struct.pack_into("<I", self.bytes, at, target - at)

    def string(self, at, text):
        data = text.encode()
        self.link(at, self.align())
        self.bytes += struct.pack("<I", len(data)) + data + b"\0"

    def finish(self):
        """Shared texts stand behind everything that leads to them."""
        for text, places in self.texts.items():
            for at in places:
                self.link(at, self.align())
            data = text.encode()
            self.bytes += struct.pack("<I", len(data)) + data + b"\0"
        return struct.pack("<I", len(self.bytes)) + bytes(self.bytes)

    def vector(self, at, form, items):
        self.link(at, self.align())
        start = len(self.bytes) + 4
        self.bytes += struct.pack("<I", len(items)) + b"".join(
            struct.pack(form, *(item if isinstance(item, tuple) else (item,))) for item in items)
        return start

    def table(self, at, fields):
        """Of fields by number: where each stands. `at` leads to the table."""
        last = max(fields) + 1
        vtable = self.align()
        size = 4 + 2 * last
        size += -size % 4
        offsets = [4 + 4 * sorted(fields).index(number) if number in fields else 0
                   for number in range(last)]
        self.bytes += struct.pack(f"<2H{last}H", 4 + 2 * last, 4 + 4 * len(fields), *offsets)
        self.bytes += b"\0" * (vtable + size - len(self.bytes))
        place = len(self.bytes)
        self.bytes += struct.pack("<i", place - vtable)
        for number in sorted(fields):
            self.bytes += struct.pack("<i", fields[number])
        self.link(at, place)
        return {number: place + offsets[number] for number in fields}


def put_location(buffer, at, kind, *values):
    if kind == CALLSITE:
        buffer.table(at, dict(enumerate(values)))
    elif kind == FILE:
        places = buffer.table(at, {0: 0, 1: values[1], 2: values[2]})
        buffer.string(places[0], values[0])
    elif kind == NAME:
        places = buffer.table(at, {0: 0, 1: values[1]})
        buffer.string(places[0], values[0])
    elif kind == FUSED:
        places = buffer.table(at, {0: 0, 1: 0} if values[0] else {1: 0})
        if values[0]:
            buffer.texts.setdefault(values[0], []).append(places[0])
        buffer.vector(places[1], "<i", list(values[1]))
    else:
        buffer.table(at, {0: 0})


def flatbuffer(locations, functions):
    """`locations`: (kind, values …); `functions`: (name, [(offset, location), …])."""
    buffer = Buffer()
    places = buffer.table(0, {MODULE_NAME: 0, MODULE_DEBUG: 0})
    buffer.string(places[MODULE_NAME], "module")
    debug = buffer.table(places[MODULE_DEBUG], {0: 0, 1: 0, 2: 0})
    buffer.vector(debug[0], "<B", [location[0] for location in locations])
    start = buffer.vector(debug[1], "<I", [0] * len(locations))
    for number, location in enumerate(locations):
        put_location(buffer, start + 4 * number, *location)
    start = buffer.vector(debug[2], "<I", [0] * len(functions))
    for number, (name, code) in enumerate(functions):
        of_function = buffer.table(start + 4 * number, {0: 0, 1: 0})
        buffer.string(of_function[0], name)
        buffer.vector(of_function[1], "<2i", code)
    return buffer.finish()


def in_zip(data):
    """As iree-compile writes it: the flatbuffer is the archive's first file, module.fb."""
    head = struct.pack("<4s5H3I2H", b"PK\3\4", 45, 0, 0, 0, 33, 0, 0xFFFFFFFF, 0xFFFFFFFF, 9, 25)
    return head + b"module.fb" + b"\xca\xfe" + b"\0" * 23 + data


PROFILE = "{varve.profile = {count = 3 : i64, total = 81 : i64}}"
LOCATIONS = [(0,), (FILE, "model.py", 24, 0), (FILE, 'a "b".py', 9, 7), (CALLSITE, 2, 1),
             (NAME, "block/mm", 3), (FUSED, PROFILE, [4]), (FUSED, "", [1, 4, 99]),
             (NAME, "alone", 0), (FUSED, PROFILE, [7])]  # the text of another
FUNCTIONS = [("__init", [(0, 5), (4, 1), (9, 5)]),
             ("main", [(0, 6), (7, 5), (9, 7), (12, -1), (15, 8)])]


def small():
    return in_zip(flatbuffer(LOCATIONS, FUNCTIONS))

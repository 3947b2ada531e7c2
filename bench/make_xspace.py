# SPDX-License-Identifier: Apache-2.0
"""make_xspace.py: a large XSpace out of a small one, for bench/import.

    python3 bench/make_xspace.py TRACE.xplane.pb OUTPUT MEGABYTES

It is the same program, running for longer: each line comes again and again in its plane, every time
later by the length of the whole trace, and correlations, producers and consumers and flows get
numbers of their own each time. Metadata comes once. The numbers keep their lengths (short ones
first become 5 bytes), so that events stay as large as they were.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))

from protobuf_bytes import field, varint, walk  # noqa: E402

SHIFTED = (b"correlation_id", b"_p", b"_c", b"flow")
SHORT_BYTES = 5          # a number below 2^35
SHORT_STRIDE = 1 << 16   # ids of one copy that are short
LONG_SHIFT = 14          # where a long id, which is a hash or an address, gets the copy's number


class Line:
    """Its id and timestamp, and the rest as bytes with the places of the ids."""

    def __init__(self, message, shifted):
        self.id, self.timestamp_ns, self.end_ps = 0, 0, 0
        self.body, self.places = bytearray(), []
        for number, _, value in walk(message):
            if number == 1:
                self.id = value
            elif number == 3:
                self.timestamp_ns = value
            elif number == 4:
                self.add_event(value, shifted)
            else:
                self.body += field(number, value)

    def add_event(self, message, shifted):
        event, places, times = bytearray(), [], [0, 0]
        for number, _, value in walk(message):
            if number in (2, 3):
                times[number - 2] = value
            parts = list(walk(value)) if number == 4 else []
            if len(parts) == 2 and parts[0][2] in shifted and parts[1][1] == 0:
                item = parts[1][2]
                size = max(SHORT_BYTES, len(varint(item)))
                head = field(1, parts[0][2]) + varint(parts[1][0] << 3)
                event += varint(4 << 3 | 2) + varint(len(head) + size) + head
                places.append((len(event), size, item))
                event += bytes(size)
            else:
                event += field(number, value)
        head = varint(4 << 3 | 2) + varint(len(event))
        self.places += [(len(self.body) + len(head) + at, size, item) for at, size, item in places]
        self.body += head + event
        if times[0] < 1 << 62:
            self.end_ps = max(self.end_ps, sum(times))

    def written(self, copy, length_ns):
        body = bytearray(self.body)
        for at, size, item in self.places:
            if size > SHORT_BYTES or item >= SHORT_STRIDE:
                item = item ^ copy << LONG_SHIFT
            else:
                item += (1 << 28) + copy * SHORT_STRIDE
            body[at:at + size] = varint(item)
        return field(1, self.id) + field(3, self.timestamp_ns + copy * length_ns) + bytes(body)


def take_apart(plane):
    """Its head, its lines, and what follows them."""
    fields = list(walk(plane))
    entries = [dict((number, value) for number, _, value in walk(value))
               for number, _, value in fields if number == 5]
    shifted = {entry[1] for entry in entries for number, _, name in walk(entry[2]) if number == 2
               and name in SHIFTED}
    head = b"".join(field(number, value) for number, _, value in fields if number < 3)
    tail = b"".join(field(number, value) for number, _, value in fields if number > 3)
    return head, [Line(value, shifted) for number, _, value in fields if number == 3], tail


def write(source, output, size_bytes):
    planes = [take_apart(value) for number, _, value in walk(source) if number == 1]
    lines = [line for _, own, _ in planes for line in own]
    length_ns = max(line.timestamp_ns + line.end_ps // 1000 for line in lines) + 1_000_000
    copies = max(1, round(size_bytes / sum(len(line.body) + 12 for line in lines)))
    for head, own, tail in planes:
        size = sum(len(field(3, line.written(copy, length_ns))) for copy in range(copies)
                   for line in own)
        output.write(varint(1 << 3 | 2) + varint(len(head) + size + len(tail)) + head)
        for line in own:
            for copy in range(copies):
                output.write(field(3, line.written(copy, length_ns)))
        output.write(tail)
    for number, _, value in walk(source):
        if number != 1:
            output.write(field(number, value))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[2], "wb") as output:
        write(pathlib.Path(sys.argv[1]).read_bytes(), output, int(sys.argv[3]) * 10**6)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""make_kineto.py: a large Kineto trace out of a small one, for bench/import.

    python3 bench/make_kineto.py TRACE OUTPUT MEGABYTES        TRACE "made": operators with the work
    that they start

The events are written again and again; each time their instants and ids move on by what they span,
so that the copies follow each other and nothing joins what lies in different ones.
"""
import gzip
import pathlib
import re
import sys

# Ids that are compared with each other move on together.
FAMILIES = [["id", "correlation", "External id", "external id"], ["Ev Idx"], ["Sequence number"],
            ["Python id", "Python parent id"]]
FAMILY = {key.encode(): number for number, keys in enumerate(FAMILIES) for key in keys}
NUMBER = re.compile(rb'"(ts|' + b"|".join(FAMILY) + rb')":\s*([0-9]+(?:\.[0-9]+)?)(?=\s*[,}\s])')


def events_of(text):
    """Where the list of events begins and ends."""
    begin = text.index(b"[", text.index(b'"traceEvents"')) + 1
    depth, in_string = 1, False
    for match in re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]]', re.DOTALL).finditer(text, begin):
        depth += {b"[": 1, b"]": -1}.get(match.group(), 0)
        if depth == 0:
            return begin, match.start()
    raise ValueError("the list of events has no end")


def take_apart(text):
    """Literal pieces, and between them numbers as (key, value, has a fraction)."""
    pieces, numbers, at = [], [], 0
    for match in NUMBER.finditer(text):
        key = match.group(1)
        whole, _, fraction = match.group(2).partition(b".")
        pieces.append(text[at:match.start(2)])
        value = int(whole) * 1000 + int(fraction.ljust(3, b"0")[:3]) if key == b"ts" else int(whole)
        numbers.append((key, value, bool(fraction)))
        at = match.end(2)
    pieces.append(text[at:])
    return pieces, numbers


def width_of(numbers, key):
    values = [value for other, value, _ in numbers if other == key and value > 0]
    return max(values) - min(values) + 1 if values else 0


def spans_of(numbers):
    """How far each copy lies behind the one before: in time, and in the ids of each family, which
    producers count up by about one an event."""
    times = [value for key, value, _ in numbers if key == b"ts"]
    spans = {key: len(times) for key in FAMILY}
    for family in FAMILIES[1:]:
        spans |= {key.encode(): max(width_of(numbers, other.encode()) for other in family)
                  for key in family}
    for key in FAMILIES[0]:
        spans[key.encode()] = max(len(times), width_of(numbers, b"correlation"))
    spans[b"ts"] = (max(times) - min(times)) // 1_000_000 * 1_000_000 + 10_000_000
    return spans


def write_copy(out, pieces, numbers, spans, copy):
    parts = []
    for piece, (key, value, has_fraction) in zip(pieces, numbers):
        parts.append(piece)
        moved = value + copy * spans[key] if value > 0 else value
        if key != b"ts":
            parts.append(b"%d" % moved)
        elif has_fraction:
            parts.append(b"%d.%03d" % divmod(moved, 1000))
        else:
            parts.append(b"%d" % (moved // 1000))
    parts.append(pieces[-1])
    out.write(b"".join(parts))


def made():
    """A trace in Kineto's manner: 2,000 operators, each with a call, a kernel and the arrow between
    them."""
    events = []
    for i in range(1, 2001):
        ts = 1_700_000_000_000_000 + i * 20
        place = '"pid": 1102, "tid": 1262'
        events.append(f'''  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::op_{i % 40}", {place}, "ts": {ts}.123, "dur": 17.500,
    "args": {{
      "External id": {i}, "Sequence number": {i}, "Fwd thread id": 0, "Ev Idx": {i},
      "Input Dims": [[{2 ** (i % 8)}, 64], []], "Input type": ["float", "Scalar"]
    }}
  }},
  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", {place}, "ts": {ts + 4}.250, "dur": 5.125,
    "args": {{
      "External id": {i}, "cbid": 211, "correlation": {i}
    }}
  }},
  {{
    "ph": "s", "id": {i}, {place}, "ts": {ts + 4}.250, "cat": "ac2g", "name": "ac2g"
  }},
  {{
    "ph": "X", "cat": "kernel", "name": "void kernel_{i % 60}<float, 128>(float const*, float*, int)", "pid": 0, "tid": 7,
    "ts": {ts + 9}.875, "dur": 8.000,
    "args": {{
      "External id": {i}, "device": 0, "context": 1, "stream": 7, "correlation": {i},
      "registers per thread": 32, "block": [128, 1, 1], "grid": [{i % 512}, 1, 1]
    }}
  }},
  {{
    "ph": "f", "id": {i}, "pid": 0, "tid": 7, "ts": {ts + 9}.875, "cat": "ac2g", "name": "ac2g", "bp": "e"
  }}''')
    return ('{\n  "schemaVersion": 1,\n  "traceEvents": [\n' + ",\n".join(events) +
            "\n  ]\n}\n").encode()


def read(source):
    if source == "made":
        return made()
    data = pathlib.Path(source).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def main():
    source, output, size = sys.argv[1], sys.argv[2], int(sys.argv[3]) * 1_000_000
    text = read(source)
    begin, end = events_of(text)
    pieces, numbers = take_apart(text[begin:end].strip())
    spans = spans_of(numbers)
    with open(output, "wb") as out:
        out.write(text[:begin])
        copy = 0
        while copy == 0 or out.tell() < size:
            if copy > 0:
                out.write(b",\n")
            write_copy(out, pieces, numbers, spans, copy)
            copy += 1
        out.write(text[end:])
    print(f"{output}: {copy} copies of {pathlib.Path(source).name}")


if __name__ == "__main__":
    main()

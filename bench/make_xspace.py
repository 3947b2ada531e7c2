# SPDX-License-Identifier: Apache-2.0
"""make_xspace.py: a large XSpace out of a small one, for bench/import.

    python3 bench/make_xspace.py TRACE.xplane.pb OUTPUT MEGABYTES

The planes are written again and again; each time devices, lines and the planes' ids get numbers of their own, so that no
two copies are the same timeline. Ids of flows and correlations stay.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))

from protobuf_bytes import field, walk  # noqa: E402

ENVIRONMENT = b"Task Environment"
LINES_APART = 1 << 20
DEVICES_APART = 64


def raw(number, wire, value):
    """The field as it was; XSpace has no fixed numbers outside of statistics, which stay whole."""
    assert wire in (0, 2)
    return field(number, value)


def take_apart(plane):
    """Its name and id, its lines as (id, the rest), and all that is neither."""
    name, plane_id, lines, rest = b"", 0, [], []
    for number, wire, value in walk(plane):
        if number == 2:
            name = value
        elif number == 1:
            plane_id = value
        elif number == 3:
            fields = list(walk(value))
            line_id = next((item for kind, _, item in fields if kind == 1), 0)
            lines.append((line_id, b"".join(raw(*one) for one in fields if one[0] != 1)))
        else:
            rest.append(raw(number, wire, value))
    return name, plane_id, lines, b"".join(rest)


def renamed(name, copy):
    """/device:GPU:3 of copy 2 becomes /device:GPU:131."""
    head, colon, number = name.rpartition(b":")
    if not name.startswith(b"/device:") or not number.isdigit():
        return name
    return head + colon + str(int(number) + copy * DEVICES_APART).encode()


def write(source, output, size_bytes):
    planes, rest = [], b""
    for number, wire, value in walk(source):
        if number == 1:
            planes.append(take_apart(value))
        else:
            rest += raw(number, wire, value)
    written = copy = 0
    while written < size_bytes:
        for name, plane_id, lines, others in planes:
            if name == ENVIRONMENT and copy > 0:
                continue
            body = field(1, plane_id + copy * DEVICES_APART) + field(2, renamed(name, copy))
            body += b"".join(field(3, field(1, line_id + copy * LINES_APART) + line) for line_id, line in lines)
            written += output.write(field(1, body + others))
        copy += 1
    output.write(rest)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[2], "wb") as output:
        write(pathlib.Path(sys.argv[1]).read_bytes(), output, int(sys.argv[3]) * 10**6)


if __name__ == "__main__":
    main()

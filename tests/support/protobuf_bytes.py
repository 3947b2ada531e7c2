# SPDX-License-Identifier: Apache-2.0
"""Protocol buffers by hand: enough to write messages field by field, and to walk them, for tests of
readers.

    message((1, 5), (2, "name"), (3, message(...)), (4, fixed64(7)), (5, 2.5))

An int is a varint (negative: two's complement), a str or bytes is length-delimited, a float is a
double."""
import struct

MASK = (1 << 64) - 1


class Fixed64(int):
    """A number to be written in 8 bytes."""


def varint(value):
    value &= MASK
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, Fixed64):
        return varint(number << 3 | 1) + struct.pack("<Q", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(field(number, value) for number, value in fields)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & MASK, at


def walk(data):
    """(number, wire type, value): an int, or bytes for lengths and fixed numbers."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = read_varint(data, at)
        else:
            if wire == 2:
                size, at = read_varint(data, at)
            else:
                size = {1: 8, 5: 4}[wire]
            value = data[at:at + size]
            assert len(value) == size
            at += size
        yield tag >> 3, wire, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value

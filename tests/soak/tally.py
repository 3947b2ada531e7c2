# SPDX-License-Identifier: Apache-2.0
"""What a trace kept of the sequences of tests/programs/tally.h, and what the program says of
them."""
import glob
import os
import re
import struct
from collections import namedtuple

from streams import lost_by_process, stream

SLOTS = 64
CLASS = re.compile(rb'event \{ id = (\d+); name = "slot (\d+)"')
END, BEGIN = 1, 7  # varve.end, varve.begin
MARK, KINDS, FIRST_SITE = 2, 8, 64

# values: {slot: [each value, in the order of the streams' numbers]}; lost: records; processes:
# {folder: {slot: number}};
# marks: their number, of whichever site
Kept = namedtuple("Kept", "values lost processes marks")


def acknowledged(path):
    return struct.unpack(f"<{SLOTS}Q", path.read_bytes())


def slots_of(folder):
    with open(f"{folder}/metadata", "rb") as file:
        return {int(number): int(slot) for number, slot in CLASS.findall(file.read())}


def sequences(words, slots):
    """({slot: values}, number of marks) of one thread's records; asserts that its clock never runs
    backwards."""
    found, at, before, marks = {}, 0, 0, 0
    while at < len(words):
        number, ticks = words[at] & 0xFFFFF, words[at] >> 20
        assert ticks >= before
        before = ticks
        is_mark = number >= FIRST_SITE and number % KINDS == MARK
        if number in slots:
            found.setdefault(slots[number], []).append(words[at + 1])
        else:
            assert number in (END, BEGIN) or is_mark, number
        marks += is_mark
        at += 1 if number == END or is_mark else 2
    return {slot: list(struct.unpack(f"<{len(bits)}d", struct.pack(f"<{len(bits)}Q", *bits)))
            for slot, bits in found.items()}, marks


def kept(trace):
    values, processes, lost, marks = {}, {}, lost_by_process(trace), 0
    for folder in sorted(glob.glob(f"{trace}/[0-9]*")):
        slots, numbers = slots_of(folder), {}
        bases = {path.rpartition(".")[0] for path in glob.glob(f"{folder}/thread.*")}
        for base in sorted(bases, key=lambda name: int(name.rpartition(".")[2])):
            words, lost_here, _ = stream(base)
            lost += lost_here
            found, marks_here = sequences(words, slots)
            marks += marks_here
            for slot, sequence in found.items():
                values.setdefault(slot, []).extend(sequence)
                numbers[slot] = numbers.get(slot, 0) + len(sequence)
        processes[os.path.basename(folder)] = numbers
    return Kept(values, lost, processes, marks)


def is_unbroken(values, at_least, at_most=None):
    """0, 1, 2 … at_least times or more."""
    return values == list(range(
        len(values))) and at_least <= len(values) <= (at_most or len(values))

# SPDX-License-Identifier: Apache-2.0
"""Reads thread streams straight from their files (doc/format.md §4), fast enough for millions of
records."""
import array
import glob
import os
import struct
from collections import namedtuple

HEADER = struct.Struct("<IIQQQQQQQQQ")  # magic … tid


def stream(base):
    """(words of all records, records lost, tid) of FOLDER/thread.N, all parts."""
    words, lost, tid, number = array.array("Q"), 0, 0, 0
    for part in range(len(glob.glob(f"{base}.*"))):
        size = os.path.getsize(f"{base}.{part}")
        with open(f"{base}.{part}", "rb") as file:
            at = 0
            while at < size:
                file.seek(at)
                (magic, _, _, _, _, content, total, _, sequence, lost,
                 tid) = HEADER.unpack(file.read(HEADER.size))
                assert magic == 0xC1FC1FC1 and sequence == number, (base, part, at)
                assert HEADER.size * 8 <= content <= total and at + total // 8 <= size, (base, part,
                                                                                         at)
                words.frombytes(file.read(content // 8 - HEADER.size))
                number += 1
                at += total // 8
    return words, lost, tid


def thread_streams(trace):
    """Every thread's stream in all processes of a trace."""
    bases = {path.rsplit(".", 1)[0] for path in glob.glob(f"{trace}/*/thread.*")}
    return [stream(base) for base in sorted(bases)]


def lost_by_process(trace):
    """Records that no thread's stream could count: the sum over the processes' own streams, and the
    trace's page."""
    return sum(stream(path.rsplit(".", 1)[0])[1]
               for path in glob.glob(f"{trace}/*/process.0")) + lost_page(trace).records


LOST = struct.Struct("<8sIIQQQ")
Lost = namedtuple("Lost", "magic version os_errno records processes pid")


def lost_page(trace):
    """The file `lost` (doc/format.md §12)."""
    try:
        with open(f"{trace}/lost", "rb") as file:
            page = file.read()
    except FileNotFoundError:
        return Lost(b"", 0, 0, 0, 0, 0)
    found = Lost(*LOST.unpack_from(page))
    assert (len(page), found.magic, found.version) == (4096, b"VRVELOST",
                                                       1) and not any(page[LOST.size:])
    return found


def alternates(words):
    """Do begins of one class and ends take turns, with time never running backwards?"""
    begins = {word & 0xFFFFF for word in words[0::2]}
    ends = {word & 0xFFFFF for word in words[1::2]}
    times = [word >> 20 for word in words]
    return len(begins) <= 1 and ends <= {1} and begins.isdisjoint(ends) and times == sorted(times)

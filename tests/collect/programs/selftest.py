# SPDX-License-Identifier: Apache-2.0
"""selftest.py — runs the self-test of the PyTorch collector with damaged reads, and writes what
came of it.

    python selftest.py LIBRARY SEED RUNS        LIBRARY is build/tests/collect/selftest.so
"""
import ctypes
import json
import sys

import torch

LAYOUT = ("rung", "schema", "kind", "sequence", "forward_thread", "handle", "is_async", "values",
          "tag_bool", "rank", "device", "list_values", "tag_list", "knows_data")
GUARD_BYTES, TENSOR_BYTES = 512, 320  # of the reads that show one


class Layout(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in LAYOUT]

    def as_dict(self):
        return {name: getattr(self, name) for name in LAYOUT}


class Outcome(ctypes.Structure):
    _fields_ = [("truth", Layout), ("wrong", Layout), ("reads", ctypes.c_uint32),
                ("by_rung", ctypes.c_uint32 * 5), ("wrong_count", ctypes.c_uint32),
                ("wrong_run", ctypes.c_uint32)]


class Future(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint32), ("at", ctypes.c_uint32), ("added", ctypes.c_uint32)]


def damaged(library, seed, runs, is_all):
    outcome = Outcome()
    library.selftest_run.argtypes = [ctypes.c_uint64, ctypes.c_uint32, ctypes.c_bool,
                                     ctypes.c_void_p]
    assert library.selftest_run(seed, runs, is_all, ctypes.byref(outcome)) == 0
    return {"truth": outcome.truth.as_dict(), "reads": outcome.reads,
            "by_rung": list(outcome.by_rung), "wrong": outcome.wrong.as_dict(),
            "wrong_count": outcome.wrong_count, "wrong_run": outcome.wrong_run}


def future(library, size, at, added):
    layout = Layout()
    assert library.selftest_future(ctypes.byref(Future(size, at, added)), ctypes.byref(layout)) == 0
    return {"bytes": size, "at": at, "added": added, "found": layout.as_dict()}


def main():
    library, seed, runs = ctypes.CDLL(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    futures = [future(library, size, at, added) for size in (GUARD_BYTES, TENSOR_BYTES)
               for at in range(0, size - 16, 8) for added in (8, 16)]
    print(json.dumps({"version": torch.__version__, "one": damaged(library, seed, runs, False),
                      "all": damaged(library, seed, runs, True), "futures": futures}))


if __name__ == "__main__":
    main()

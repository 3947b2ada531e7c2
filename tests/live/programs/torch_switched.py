# SPDX-License-Identifier: Apache-2.0
"""torch_switched.py — threads train while another changes what is collected, thousands of times.

    torch_switched.py FOLDER        run.varve, and counts.json: changes made, and rounds of each
                                    thread
"""
import ctypes
import json
import pathlib
import sys
import threading
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))

import varve  # noqa: E402

THREADS, SECONDS = 4, 1.0
SOURCES = [b"auto", b"none", b"torch", b"torch,shapes,strides", b"none"]


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    # gives the interpreter's lock away: nothing here needs it any more
    collect = varve.library.calls.varve_collect
    collect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    rounds, over = [0] * THREADS, threading.Event()

    def work(index):
        values = torch.randn(8, 8, requires_grad=True)
        while not over.is_set():
            (values @ values).relu().sum().backward()
            rounds[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(THREADS)]
    with varve.profile(output=folder / "run.varve"):
        for thread in threads:
            thread.start()
        changes, end = 0, time.monotonic() + SECONDS
        while time.monotonic() < end or changes <= 100 or min(rounds) <= 100:
            assert collect(SOURCES[changes % len(SOURCES)], None) == 0
            changes += 1
            if changes % 7 == 0:
                time.sleep(0.0005)
        over.set()
        for thread in threads:
            thread.join()
    (folder / "counts.json").write_text(json.dumps({"changes": changes, "rounds": rounds}))


if __name__ == "__main__":
    main()

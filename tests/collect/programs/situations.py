# SPDX-License-Identifier: Apache-2.0
"""situations.py — work that a collector records, in a situation that it must survive.

    python situations.py torch|python SITUATION FILE LIBRARY

Each unit of work that was done while it was to be recorded is one byte in FILE: `u` of this
process, `c` of a child.
For torch a unit is one call of a module Unit, with one aten::trunc_ and one block of BLOCK_BYTES,
for python one call of unit_of_work.
"""
import atexit
import ctypes
import os
import signal
import sys
import threading
import time

COLLECTOR, SITUATION, FILE, LIBRARY = sys.argv[1:]
BLOCK_BYTES = 49380
UNITS, THREADS = 50, 64
READ_OF_MEMORY = 310  # process_vm_readv on x86-64

TOLD = os.open(FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def refuse_reads_of_memory():
    """A sandbox, by seccomp: process_vm_readv is answered with EPERM."""
    class Step(ctypes.Structure):
        _fields_ = [("code", ctypes.c_uint16), ("true", ctypes.c_uint8), ("false", ctypes.c_uint8),
                    ("k", ctypes.c_uint32)]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint16), ("steps", ctypes.POINTER(Step))]

    steps = (Step * 4)(Step(0x20, 0, 0, 0), Step(0x15, 0, 1, READ_OF_MEMORY),
                       Step(0x06, 0, 0, 0x00050001), Step(0x06, 0, 0, 0x7FFF0000))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # no new privileges: anyone may
    assert libc.prctl(22, 2, ctypes.byref(Program(4, steps)), 0, 0) == 0
    assert libc.process_vm_readv(os.getpid(), None, 0, None, 0, 0) == -1 and ctypes.get_errno() == 1


if SITUATION == "sandbox":
    refuse_reads_of_memory()
if SITUATION in ("full", "no room"):
    import resource
    room = 4096 if SITUATION == "no room" else 1 << 20
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

if COLLECTOR == "torch":
    import torch
    TENSOR = torch.ones(8)

    class Unit(torch.nn.Module):
        def forward(self):
            TENSOR.clone().trunc_()
            torch.empty(BLOCK_BYTES // 4)

    unit_of_work = Unit()

    def fail():
        """An exception of C++ goes through what is recorded, and through our allocator."""
        for wrong in (lambda: torch.empty(1 << 60), lambda: torch.ones(2) + torch.ones(3)):
            try:
                wrong()
            except RuntimeError as error:
                print(str(error).partition("\n")[0][:60])
else:
    def unit_of_work():
        return 1

    def fail():
        try:
            raise_within()
        except RuntimeError as error:
            print(error)

    def raise_within():
        raise RuntimeError("as it should")


def work(count=UNITS, byte=b"u"):
    for _ in range(count):
        unit_of_work()
    os.write(TOLD, byte * count)


def crowd():
    barrier = threading.Barrier(THREADS)

    def one():
        barrier.wait()
        work()
    threads = [threading.Thread(target=one) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def twice():
    """A program that collects by itself, in a process that is recorded; and libraries that come
    later."""
    library = ctypes.CDLL(LIBRARY)
    for _ in range(3):
        assert library.varve_collect(None, None) == 0
    import sqlite3  # pylint: disable=import-outside-toplevel,unused-import
    work()


def fork():
    work()
    child = os.fork()
    if child == 0:
        work(UNITS, b"c")
        grandchild = os.fork()
        work(UNITS, b"c")
        if grandchild != 0:
            os.waitpid(grandchild, 0)
        os._exit(0)
    work()
    assert os.waitpid(child, 0)[1] == 0


class Late:
    def __del__(self):
        work()


def at_exit():
    """In an atexit function, and in a destructor that runs when the modules are torn down."""
    atexit.register(work)
    globals()["_late"] = Late()  # names with an underscore go first


def daemons():
    def forever():
        while True:
            work(1)
    for _ in range(4):
        threading.Thread(target=forever, daemon=True).start()
    time.sleep(0.2)
    while os.fstat(TOLD).st_size <= 100:
        time.sleep(0.01)
    os._exit(3)


def close_libraries():
    """What the collectors looked up in is closed as often as nobody should."""
    import _ctypes  # pylint: disable=import-outside-toplevel
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps
                 if any(name in line for name in ("libtorch_cpu.so", "libc10.so", "libvarve.so"))}
    for path in sorted(paths):
        for _ in range(100):
            _ctypes.dlclose(ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)._handle)
    work()


def interrupted():
    """A signal each 200 us, whose handler does a unit of its own."""
    done = [0]

    def handler(*_):
        unit_of_work()
        done[0] += 1
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 2e-4, 2e-4)
    end = time.monotonic() + 0.5
    while time.monotonic() < end or done[0] <= 20:
        work(1)
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.write(TOLD, b"u" * done[0])


def throw():
    for _ in range(3):
        work(1)
        fail()
    work()


def stop_and_start():
    """Detached from outside, and attached again."""
    import subprocess  # pylint: disable=import-outside-toplevel
    varve = os.path.join(os.path.dirname(LIBRARY), "varve")
    for _ in range(3):
        work()
        subprocess.run([varve, "stop", str(os.getpid())], check=True, capture_output=True, env={})
        unit_of_work()
        subprocess.run([varve, "start", str(os.getpid())], check=True, capture_output=True, env={})
    work()


SITUATIONS = {"plain": work, "sandbox": work, "full": lambda: work(20000), "no room": work,
              "starved": work, "copied": twice, "crowd": crowd,
              "twice": twice, "fork": fork, "exit": at_exit, "daemons": daemons,
              "closed": close_libraries, "interrupted": interrupted, "thrown": throw,
              "stopped": stop_and_start}

if __name__ == "__main__":
    SITUATIONS[SITUATION]()

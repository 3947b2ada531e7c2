# SPDX-License-Identifier: Apache-2.0
"""Where traces go: each a folder of its own; the processes of a job that run at once share one."""
from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import weakref
from typing import Iterator


def _is_running(name: str) -> bool:
    """Is a process's folder, PID or PID.N, that of another process that runs?"""
    number = name.partition(".")[0]
    if not number.isdigit() or int(number) == os.getpid():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def made_free(path: str) -> Iterator[None]:
    """While it lasts nobody else looks at `path`, or at its neighbours. A former run's trace there
    becomes `path`.old, as `varve record` does it; one that another running process records into is
    shared."""
    folder = os.open(os.path.dirname(os.path.abspath(path)),
                     os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if os.path.isdir(path):
            names = os.listdir(path)
            if names and not any(map(_is_running, names)):
                shutil.rmtree(path + ".old", ignore_errors=True)
                os.rename(path, path + ".old")
        yield
    finally:
        os.close(folder)


def numbered(path: str, window: int) -> str:
    """run.varve, run.2.varve, run.3.varve …"""
    if window == 1:
        return path
    return f"{path[:-len('.varve')]}.{window}.varve"


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child leaves it to its parent
        shutil.rmtree(path, ignore_errors=True)


class Scratch:
    """A folder that goes with this object, or with the process."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="varve-python-")
        weakref.finalize(self, _remove, self.path, os.getpid())

    def free(self, name: str) -> str:
        """The path of that name, where nothing is any more."""
        path = os.path.join(self.path, name)
        shutil.rmtree(path, ignore_errors=True)
        return path

# SPDX-License-Identifier: Apache-2.0
"""made_once.py: what several tests look at and none of them changes, made by the first that asks,
whichever of the processes that run the tests that is."""
import contextlib
import fcntl
import hashlib
import pathlib
import tempfile


def top_of(tmp_path_factory):
    """A folder that all processes of this run share: one of several (gw0, gw1 …) has its own inside
    of it."""
    top = tmp_path_factory.getbasetemp()
    return top.parent if top.name.startswith("popen-gw") else top


@contextlib.contextmanager
def turn(path):
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def folder_of(tmp_path_factory, key, make):
    """The folder that make(FOLDER) filled for this key, a tuple whose second word names a file.
    After a failure the next that asks tries again, elsewhere: what failed may still be writing."""
    top = top_of(tmp_path_factory) / "made_once"
    top.mkdir(exist_ok=True)
    name = hashlib.sha256(repr(key).encode()).hexdigest()[:12]
    ready = top / f"{name}.ready"
    with turn(top / f"{name}.lock"):
        if not ready.exists():
            stem = pathlib.Path(key[1]).stem
            folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{stem}-{name}.", dir=top))
            make(folder)
            part = top / f"{name}.part"
            part.write_text(folder.name, encoding="utf-8")
            part.rename(ready)
        return top / ready.read_text(encoding="utf-8")

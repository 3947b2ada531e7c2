# SPDX-License-Identifier: Apache-2.0
"""libvarve.so: where it is, and what of it Python calls (include/varve/varve.h).

What records is called with the interpreter's lock held (PyDLL): it never blocks, and giving the
lock away would cost more.
"""
from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
from typing import Iterable, Iterator, List, Optional, Tuple

NAME = "libvarve.so.0"
LAYER_API, LAYER_STEP, LAYER_METRIC = 0x001, 0x100, 0x400
STATE = 12  # VARVE_STATE


class Error(Exception):
    """What the library or the program `varve` says went wrong; `code` is the library's enum
    varve_code, or None.

    >>> try:
    ...     varve.profile(collect="tirch").start()
    ... except varve.Error as error:
    ...     print(error)            # nothing to collect is called 'tirch'; nearest: torch. …
    """

    def __init__(self, message: str, code: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code


class ErrorStruct(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("os_errno", ctypes.c_int), ("offset", ctypes.c_uint64),
                ("message", ctypes.c_char * 512)]


class SessionOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("layers", ctypes.c_uint32),
                ("output", ctypes.c_char_p), ("max_bytes", ctypes.c_uint64),
                ("keep_bytes", ctypes.c_uint64), ("keep_ns", ctypes.c_uint64),
                ("when_full", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class Site(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32),
                ("layer", ctypes.c_uint32), ("state", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)]


class Control(ctypes.Structure):
    _fields_ = [("layers", ctypes.c_uint32), ("observers", ctypes.c_uint32),
                ("steps", ctypes.c_uint32), ("epoch", ctypes.c_uint32)]


def _around(folder: pathlib.Path, name: str) -> Iterator[pathlib.Path]:
    """Where the library lies if `folder` is a build folder, a prefix, or a prefix's bin or lib."""
    yield folder / name
    for prefix in (folder, folder.parent):
        for pattern in (f"lib/{name}", f"lib64/{name}", f"lib/*/{name}"):
            yield from sorted(prefix.glob(pattern))


def candidates(name: str) -> Iterator[pathlib.Path]:
    """Where a library of Varve's may lie."""
    here = pathlib.Path(__file__).resolve()
    yield here.parent / "native" / name  # of a wheel
    if (here.parents[2] / "include" / "varve" / "varve.h").exists():  # a checkout
        yield from _around(here.parents[2] / "build", name)
    if here.parts[-5:-1] == ("share", "varve", "python", "varve"):
        yield from _around(here.parents[4], name)
    command = shutil.which(os.environ.get("VARVE") or "varve")
    if command is not None:
        yield from _around(pathlib.Path(command).resolve().parent, name)


def load_first(paths: Iterable[str], what: str, variable: str) -> str:
    """The first path that can be loaded."""
    looked: List[str] = []
    for path in paths:
        try:
            ctypes.CDLL(path)
            return path
        except OSError as error:
            looked.append(f"  {path}: {error}" if os.path.exists(path) else f"  {path}: not there")
    raise ImportError(f"varve: {what} was not found. Looked at\n" + "\n".join(looked)
                      + f"\nSet {variable} to its path, or install Varve with it: pip install "
                        f"CHECKOUT/python, or make install")


def _load() -> Tuple[str, bool]:
    """The path to load, and whether the program had it from its start, before PyTorch's
    libraries."""
    program = ctypes.CDLL(None)
    if hasattr(program, "varve_version"):
        return "", True
    wanted = os.environ.get("VARVE_LIBRARY")
    return load_first([wanted] if wanted else [*map(str, candidates(NAME)), NAME], "libvarve.so",
                      "VARVE_LIBRARY"), False


PATH, IS_PRELOADED = _load()
calls = ctypes.CDLL(PATH or None)    # may wait for the disk
emits = ctypes.PyDLL(PATH or None)
if not hasattr(emits, "varve_collect"):
    raise ImportError(f"varve: the libvarve.so that is loaded ({PATH or 'by LD_PRELOAD'}) is "
                      f"older than this module")
control = Control.in_dll(calls, "varve_control_page")

_error = ctypes.POINTER(ErrorStruct)
for _name, _arguments in (("varve_session_start", [ctypes.POINTER(SessionOptions), _error]),
                          ("varve_session_stop", [_error]),
                          ("varve_session_dump", [ctypes.c_char_p, _error])):
    getattr(calls, _name).argtypes = _arguments
for _name, _arguments in (("varve_collect", [ctypes.c_char_p, _error]),
                          ("varve_emit_begin_name", [ctypes.c_char_p, ctypes.c_uint32]),
                          ("varve_emit_end", []),
                          ("varve_emit_mark", [ctypes.POINTER(Site)]),
                          ("varve_emit_counter", [ctypes.POINTER(Site), ctypes.c_double]),
                          ("varve_emit_step_begin", [ctypes.c_int64]), ("varve_emit_step_end", []),
                          ("varve_emit_schedule", [ctypes.c_int]),
                          ("varve_layers_set", [ctypes.c_uint32])):
    getattr(emits, _name).argtypes = _arguments
    getattr(emits, _name).restype = ctypes.c_int if _name == "varve_collect" else None
emits.varve_layers_set.restype = ctypes.c_uint32
emits.varve_version.restype = ctypes.c_char_p


def check(function, *arguments) -> None:
    """Calls it with an error struct behind the arguments; raises what that says."""
    error = ErrorStruct()
    code = function(*arguments, ctypes.byref(error))
    if code != 0:
        raise Error(error.message.decode("utf-8", "replace"), code)


def program() -> str:
    """The program `varve`: what VARVE names, what lies with the library, or what is on PATH."""
    named = os.environ.get("VARVE")
    if named:
        found = shutil.which(named)
        if found is None:
            raise Error(f"VARVE names '{named}', and there is no such program")
        return found
    libraries = [PATH] if PATH else [word for word in os.environ.get("LD_PRELOAD",
                                                                     "").replace(":", " ").split()
                                     if os.path.basename(word).startswith("libvarve.so")]
    for library in libraries:
        folder = pathlib.Path(library).resolve().parent
        for place in (folder / "varve", folder.parent / "bin" / "varve",
                      folder.parent.parent / "bin" / "varve"):
            if os.sep in library and place.is_file() and os.access(place, os.X_OK):
                return str(place)
    found = shutil.which("varve")
    if found is None:
        raise Error("the program `varve` is not beside libvarve.so and not on PATH: set VARVE to "
                    "its path")
    return found


def environment() -> dict:
    """For programs of our own: they are not recorded."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("VARVE_")}
    words = [word for word in kept.pop("LD_PRELOAD", "").replace(":", " ").split()
             if not os.path.basename(word).startswith("libvarve.so")]
    return {**kept, "LD_PRELOAD": ":".join(words)} if words else kept

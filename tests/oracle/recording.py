# SPDX-License-Identifier: Apache-2.0
"""recording.py: where the programs under test are, and the environment they run in."""
import collections
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("VARVE_BUILD", "build")
DECODER = ROOT / "tools" / "varve_decode.py"

Run = collections.namedtuple("Run", "trace stdout exit_code")


def quiet_environment(**more):
    """The caller's environment without what a recording would set."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("VARVE_") and key not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
    return {**kept, **more}


def without_handlers(*more):
    """The environment in which sanitizers install no handlers that may interrupt themselves. In a
    program that has such handlers, callbacks are told in varve_profiling_poll alone."""
    options = [f"handle_{name}=0" for name in ("segv", "sigbus", "sigfpe")] + list(more)
    return {name: ":".join(filter(None, [os.environ.get(name), *options]))
            for name in ("ASAN_OPTIONS", "TSAN_OPTIONS")}


def switches(process):
    """When the layers that are recorded became what, as tools/varve_decode.py reads it: [(ns,
    layers)]."""
    return [(process.ns(record.ticks), record.fields["layers"]) for stream in process.streams
            for record in stream.records if record.id == 6]


def binary(name):
    path = BUILD / name
    if not path.exists():
        pytest.skip(
            f"needs {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}: make tests")
    return path

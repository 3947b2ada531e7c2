# SPDX-License-Identifier: Apache-2.0
"""What a program says of itself: ranges, marks, counters, steps. Where nothing is recorded each
costs a look at one word."""
from __future__ import annotations

import contextlib
from typing import Dict, Optional, Tuple

from . import library
from .library import control, emits

_sites: Dict[Tuple[str, int], library.Site] = {}


class record_function(contextlib.ContextDecorator):
    """A range of the calling thread, as torch.profiler.record_function: for a block, or around each
    call of a function.
    What is between the begin and the end of a coroutine or a generator is not one range of a
    thread: use it inside.

    >>> with varve.record_function("load"):
    ...     batch = load()
    >>> @varve.record_function("augment")
    ... def augment(batch): ...
    """

    def __init__(self, name: str, args: Optional[str] = None) -> None:
        self.name = name
        self.args = args
        self._bytes = (name if args is None else f"{name}: {args}").encode("utf-8", "replace")

    def __enter__(self) -> "record_function":
        if control.layers:
            emits.varve_emit_begin_name(self._bytes, library.LAYER_API)
        return self

    def __exit__(self, *_exception) -> None:
        if control.layers:
            emits.varve_emit_end()


def _site(name: str, layer: int) -> library.Site:
    site = _sites.get((name, layer))
    if site is None:
        site = _sites.setdefault((name, layer), library.Site(name=name.encode("utf-8", "replace"),
                                                             layer=layer))
    return site


def mark(name: str) -> None:
    """An instant on the calling thread.

    >>> varve.mark("checkpoint written")
    """
    if control.layers & library.LAYER_API:
        emits.varve_emit_mark(_site(name, library.LAYER_API))


def counter(name: str, value: float) -> None:
    """The value of a counter from now on.

    >>> varve.counter("loss", loss.item())
    """
    if control.layers & library.LAYER_METRIC:
        emits.varve_emit_counter(_site(name, library.LAYER_METRIC), value)


def step_begin(index: int) -> None:
    """As varve_step_begin: on the calling thread, where no step is open."""
    if control.steps:
        emits.varve_emit_schedule(1)
    if control.layers:
        emits.varve_emit_step_begin(index)


def step_end() -> None:
    """As varve_step_end."""
    if control.layers:
        emits.varve_emit_step_end()
    if control.steps:
        emits.varve_emit_schedule(0)

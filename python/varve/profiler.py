# SPDX-License-Identifier: Apache-2.0
"""varve.profile: what torch.profiler.profile is, recorded by libvarve."""
from __future__ import annotations

import ctypes
import gzip
import os
import shutil
import sys
import tempfile
import threading
import warnings
from typing import Any, Callable, Optional

from . import averages, command, folders, library, ranges, shown
from .actions import ProfilerAction, Schedule, action_of
from .library import Error, calls, emits

_lock = threading.Lock()
_running: Optional["profile"] = None  # in this process; a forked child finds its parent's

NONE, WARMUP, RECORD, SAVE = (ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.RECORD,
                              ProfilerAction.RECORD_AND_SAVE)


def _always(_step: int) -> ProfilerAction:
    return RECORD


def _collect(sources: str) -> None:
    library.check(emits.varve_collect, sources.encode())
    sys.audit("varve.collect", sources)  # calls of Python functions begin and end with an event


class profile:
    """Records this process: a context manager, or start(), step(), stop(), as
    torch.profiler.profile.

    schedule         which steps are recorded (varve.schedule, or torch.profiler's); without one all
                     is
    on_trace_ready   called with the profile at the end of each window of recorded steps
    record_shapes    shapes, types and scalars of each operator's inputs too
    profile_memory   blocks of memory too; only where `varve record` started the program
    with_stack       each call of a Python function too
    with_modules     each call of an nn.Module too
    output           the trace folder, NAME.varve, kept; the second window goes to NAME.2.varve. A
                     former run's trace becomes NAME.varve.old. Without it the trace goes away with
                     the profile
    collect          instead of the switches: what `varve record --collect` takes
    activities, with_flops    taken for torch's sake, without effect

    All threads are recorded, and children that are forked meanwhile: those into the same trace. One
    profile runs at a time in a process. Under `varve record` that decides what is recorded: a
    profile marks its steps and reads what there is. Not thread-safe; start, step and stop are for
    one thread.

    >>> with varve.profile(schedule=varve.schedule(wait=1, warmup=1, active=3),
    ...                    on_trace_ready=lambda prof: print(prof.table(row_limit=10))) as prof:
    ...     for batch in batches:
    ...         train(batch)
    ...         prof.step()
    """

    def __init__(self, *, activities: Any = None, schedule: Optional[Schedule] = None,
                 on_trace_ready: Optional[Callable[["profile"], Any]] = None,
                 record_shapes: bool = True,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, output: Optional["os.PathLike[str] | str"] = None,
                 collect: Optional[str] = None) -> None:
        del activities, with_flops
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self._plan: Schedule = schedule or _always
        self._marks_steps = schedule is not None
        self._collect = collect if collect is not None else ",".join(
            ["torch", *["shapes"] * record_shapes, *["memory"] * profile_memory,
             *["modules"] * with_modules, *["python"] * with_stack])
        self._profile_memory = profile_memory
        self._output = None if output is None else os.path.abspath(os.fspath(output))
        if self._output is not None and not self._output.endswith(".varve"):
            raise ValueError(f"output is a trace folder, NAME.varve, and '{os.fspath(output)}' is "
                             f"not called so")
        self._scratch: Optional[folders.Scratch] = None
        self._owner = 0             # process that started it
        self._action: Optional[ProfilerAction] = None  # of the step that runs; None: not started
        self._is_guest = False      # somebody else's session runs: nothing is switched
        self._step_is_open = False
        self._windows = 0
        self._is_open = False       # a window of ours, or a guest's
        self._layers = 0            # of the paused session
        self._trace: Optional[str] = None  # of the latest window
        self._first_step = self._last_step = 0  # of it

    # ---- as torch has it ----

    def __enter__(self) -> "profile":
        self.start()
        return self

    def __exit__(self, *_exception) -> None:
        self.stop()

    def start(self) -> None:
        """Begins with step 0, or with the one at which it was stopped. Error if another profile
        runs."""
        global _running
        with _lock:
            if _running is not None and _running._owner == os.getpid():
                raise Error("this varve.profile is started already: stop it first"
                            if _running is self else
                            "another varve.profile runs in this process: one records all threads, "
                            "and they do not "
                            "nest. Use that one, or end it: varve.profile.running().stop()")
            former, _running = _running, self
        try:
            if self._owner != os.getpid():  # also one that a parent had before the fork
                self._owner, self._windows, self._is_open, self._scratch = os.getpid(
                ), 0, False, None
            if former is not None:  # the parent's, whose session goes on in this child
                self._leave_parent()
            action = action_of(self._plan, self.step_num)
            self._switch(NONE, action)
            self._action = action
            if self._marks_steps:
                self._begin_step()
        except BaseException:
            self._give_up()
            raise

    def step(self) -> None:
        """The next step begins here."""
        if self._action is None:
            raise Error(
                "this varve.profile is not started: step() comes between start() and stop()")
        self._end_step()
        self.step_num += 1
        if self._owner == os.getpid():
            former, self._action = self._action, action_of(self._plan, self.step_num)
            self._switch(former, self._action)
        self._begin_step()

    def stop(self) -> None:
        """Ends it. In a forked child, whose parent's profile this is, the child's recording goes on
        to its end."""
        if self._action is None:
            raise Error("this varve.profile is not started: stop() comes after start()")
        self._end_step()
        former, self._action = self._action, None
        if self._owner == os.getpid():
            try:
                self._switch(former, None)
            finally:
                self._give_up()

    @staticmethod
    def running() -> Optional["profile"]:
        """The profile that this process has started and not stopped: in a notebook, also one whose
        name is lost.

        >>> varve.profile.running().stop()
        """
        return _running if _running is not None and _running._owner == os.getpid() else None

    # ---- what it found ----

    def key_averages(self, group_by_input_shape: bool = False) -> averages.Averages:
        """A row an operator, largest self time first: of the latest window, or of the one that runs
        so far.

        >>> prof.key_averages()[0].self_cpu_time_total
        """
        trace, steps = self._read()
        with_memory = self._profile_memory and library.IS_PRELOADED
        return averages.averages_of(trace, group_by_input_shape, steps, with_memory)

    def table(self, sort_by: Optional[str] = None, row_limit: int = 100,
              group_by_input_shape: bool = False) -> str:
        """key_averages() as text.

        >>> print(prof.table(sort_by="cpu_time_total", row_limit=10))
        """
        return self.key_averages(group_by_input_shape).table(sort_by=sort_by, row_limit=row_limit)

    def export_chrome_trace(self, path: "os.PathLike[str] | str",
                            use_python_export: bool = False) -> None:
        """For Perfetto, chrome://tracing and HTA. A name that ends in .gz is compressed.
        `use_python_export` is what torch.profiler.tensorboard_trace_handler says; it is without
        effect.

        >>> prof.export_chrome_trace("trace.json.gz")
        """
        del use_python_export
        trace, _ = self._read()
        name = os.fspath(path)
        if not name.endswith(".gz"):
            command.run("export", "--to", "chrome", "-o", name, trace)
            return
        with tempfile.TemporaryDirectory(prefix="varve-python-") as folder:
            plain = os.path.join(folder, "trace.json")
            command.run("export", "--to", "chrome", "-o", plain, trace)
            with open(plain, "rb") as source, gzip.open(name, "wb", compresslevel=6) as target:
                shutil.copyfileobj(source, target)

    @property
    def trace(self) -> Optional[str]:
        """The trace folder of the latest window; None before the first, and where `varve record`
        records."""
        return None if self._is_guest else self._trace

    def report(self, **options: Any) -> shown.Report:
        """The text of `varve report` for the latest window, and for its options.

        >>> prof.report(by="module", top=5)
        """
        trace, steps = self._read()
        return shown.report_of([trace], {"steps": steps, **options})

    def __repr__(self) -> str:
        state = "running" if self._action is not None else "stopped"
        return (f"<varve.profile: {state}, {self._windows} "
                f"window{'' if self._windows == 1 else 's'} recorded>")

    def _repr_html_(self) -> Optional[str]:
        return self.report()._repr_html_() if self._windows > 0 else None

    # ---- steps and windows ----

    def _begin_step(self) -> None:
        ranges.step_begin(self.step_num)
        self._step_is_open = True

    def _end_step(self) -> None:
        if self._step_is_open:
            ranges.step_end()
        self._step_is_open = False

    def _switch(self, former: ProfilerAction, now: Optional[ProfilerAction]) -> None:
        """From one step's action to the next one's, as torch does it; None: it is stopped."""
        if former is WARMUP and now is NONE or former is RECORD and now in (NONE, WARMUP):
            warnings.warn(f"Incorrect schedule: {former.name} followed by {now.name}", stacklevel=3)
        if self._is_open and (former is SAVE or now in (None, NONE) or former is RECORD
                              and now is WARMUP):
            self._close()
            if self.on_trace_ready is not None and (former is SAVE or former is RECORD
                                                    and now is None):
                self.on_trace_ready(self)
        if now in (WARMUP, RECORD, SAVE) and not self._is_open:
            self._open()
        if now not in (RECORD, SAVE):
            return
        self._last_step = self.step_num
        if former is not RECORD:
            self._first_step = self.step_num
            if not self._is_guest:
                emits.varve_layers_set(self._layers)

    def _open(self) -> None:
        """A session that is paused, with all attached; or, where one runs already, that one as it
        is."""
        self._windows += 1
        path = folders.numbered(
            self._output,
            self._windows) if self._output is not None else self._scratch_path("window")
        try:
            with folders.made_free(path):
                options = library.SessionOptions(struct_size=ctypes.sizeof(library.SessionOptions),
                                                 output=os.fsencode(path))
                library.check(calls.varve_session_start, ctypes.byref(options))
        except OSError as error:
            raise Error(f"cannot record into '{path}': {error.strerror}") from error
        except Error as error:
            if error.code != library.STATE:
                raise
            self._is_guest = self._is_open = True
            return
        self._layers = emits.varve_layers_set(0)
        self._is_guest, self._is_open, self._trace = False, True, path
        _collect(self._collect)
        if self._profile_memory and not library.IS_PRELOADED:
            warnings.warn("varve.profile: PyTorch's memory is told only under `varve record`",
                          stacklevel=5)

    def _close(self) -> None:
        self._is_open = False
        if not self._is_guest:
            library.check(calls.varve_session_stop)
            _collect("none")

    def _give_up(self) -> None:
        """Whatever happened: the process is as before, and another profile may start."""
        global _running
        self._action = None
        try:
            if self._is_open:
                self._close()
        finally:
            with _lock:
                if _running is self:
                    _running = None

    def _leave_parent(self) -> None:
        try:
            library.check(calls.varve_session_stop)
        except Error as error:  # STATE: none runs, or it is not the parent profile's
            if error.code != library.STATE:
                raise

    # ---- traces ----

    def _scratch_path(self, name: str) -> str:
        """A path where nothing is."""
        if self._scratch is None:
            self._scratch = folders.Scratch()
        return self._scratch.free(f"{name}.varve")

    def _read(self) -> "tuple[str, Optional[str]]":
        """A trace to read, and the steps of the latest window where it holds more."""
        if self._owner not in (0, os.getpid()):
            raise Error("this varve.profile belongs to the process that started it: read it there")
        if self._windows == 0:
            raise Error("this varve.profile has recorded nothing yet: start it, and run a step "
                        "that the schedule records")
        if not self._is_open and not self._is_guest and self._trace is not None:
            return self._trace, None
        path = self._scratch_path("dump")
        library.check(calls.varve_session_dump, os.fsencode(path))
        return (path, f"{self._first_step}..{self._last_step}" if self._is_guest
                and self._marks_steps else None)


def step() -> None:
    """The next step begins here, on this thread: of the profile that runs, else of `varve record`,
    counted from 0. There it is for the begin of each iteration.

    >>> for batch in batches:
    ...     varve.step()
    ...     train(batch)
    """
    running = _running
    if running is not None and running._action is not None:
        running.step()
        return
    ranges.step_end()
    ranges.step_begin(_own_steps.next())


class _Count:
    """Steps of a program without a profile."""

    def __init__(self) -> None:
        self._count = 0

    def next(self) -> int:
        with _lock:
            self._count += 1
            return self._count - 1


_own_steps = _Count()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # whoever held it is not in this process


os.register_at_fork(after_in_child=_after_fork)

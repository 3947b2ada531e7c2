# SPDX-License-Identifier: Apache-2.0
"""phases_compiled.py — tells a stand-in of PyTorch's log of events what it compiles, in all the
ways that go wrong, calls a stand-in of what it compiled, and prints what comes of it.

    phases_compiled.py FOLDER_OF_THE_STAND_IN
"""
import functools
import sys
import threading

sys.path[:0] = sys.argv[1:]
from torch._dynamo import utils  # noqa: E402
from torch._inductor.output_code import CompiledFxGraph as Graph  # noqa: E402
import torch.autograd.profiler as profiler  # noqa: E402

log = utils.ChromiumEventLogger()


def call(function, *arguments, **more):
    """By a function of C: up to 3.11 the interpreter hides calls of Python by Python."""
    try:
        print(functools.partial(function, *arguments, **more)())
    except Exception as error:  # pylint: disable=broad-except
        print(type(error).__name__, error)


def phase(name, *within):
    call(log.log_event_start, name)
    for inner in within:
        inner()
    call(log.log_event_end, name)


def both():
    phase("both outer", lambda: phase("both inner"))


def left_open():
    call(log.log_event_start, "left open")


def deep(levels):
    phase(f"deep {levels}", *([lambda: deep(levels - 1)] if levels > 1 else []))


both()
phase("closes", left_open)                      # its end ends what is open within
call(log.log_event_end, "never begun")
call(log.log_event_start, "refused")            # raises, so PyTorch asks for no end
call(log.log_event_start, 7)
call(log.log_event_start, "\ud800")
call(utils.ChromiumEventLogger.log_event_start)
call(log.log_event_start, event_name="by its keyword")
deep(70)
profiler._is_profiler_enabled = True
phase("profiled")
profiler._is_profiler_enabled = False
thread = threading.Thread(target=both)
thread.start()
thread.join()
try:
    raise KeyError("kept")
except KeyError:
    phase("in a handler")
    print(sys.exc_info()[1])

call(Graph("outer", lambda: Graph("inner")(1)), 2)
call(Graph("raises", lambda: {}["a key"]), 3)
call(Graph(None), 4)


class Other:
    def log_event_start(self, name, time=None):
        return "other", name, time

    log_event_end = log_event_start


utils.ChromiumEventLogger = Other
log = Other()
phase("of another class")
print(sorted(vars(utils)))

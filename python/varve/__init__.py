# SPDX-License-Identifier: Apache-2.0
"""Varve from Python: record a program, or a part of it, operator by operator, and read where the
time went.

    import varve

    with varve.profile() as prof:
        train()
    print(prof.table(row_limit=10))

In the manner of torch.profiler, and without torch: what PyTorch runs is recorded if the program
imports it. Needs libvarve.so and, to read what was recorded, the program `varve`; VARVE_LIBRARY and
VARVE name them where they are not found.
"""
from .actions import ProfilerAction, schedule
from .averages import Average, Averages
from .library import Error, emits as _emits
from .profiler import profile, step
from .ranges import counter, mark, record_function
from .reader import NO_ROW, Trace, graph, report, table
from .shown import Report

__version__: str = _emits.varve_version().decode()
__all__ = ["Average", "Averages", "Error", "NO_ROW", "ProfilerAction", "Report", "Trace", "counter",
           "graph", "mark", "profile", "record_function", "report", "schedule", "step", "table"]


def load_ipython_extension(ipython) -> None:
    """%load_ext varve: cells that begin with %%varve are recorded, and show where their time went.
    """
    from . import notebook  # needed in notebooks alone
    notebook.load(ipython)

# SPDX-License-Identifier: Apache-2.0
"""%load_ext varve: the cell magic %%varve, for IPython and Jupyter."""
from __future__ import annotations

import argparse
import shlex
from typing import Any

from . import averages, command, library, profiler, shown

NOTHING = "nothing was recorded: " + averages.NOTHING.replace('collect="+python"',
                                                              "%%varve --collect +python")


class _Line(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise library.Error(f"%%varve: {message}")


def _parsed(line: str) -> Any:
    parser = _Line(prog="%%varve", add_help=False, allow_abbrev=False)
    parser.add_argument("-o", "--output", metavar="NAME.varve")
    parser.add_argument("--collect", metavar="LIST")
    return parser.parse_known_args(shlex.split(line))


def run_cell(ipython: Any, line: str, cell: str) -> shown.Report:
    """Runs the cell as it is, records it, and returns the report, which IPython shows.

        %%varve [-o NAME.varve] [--collect LIST] [options of varve report]

    -o keeps the trace. Options of `varve report` shape what is shown: --top 5, --by shape,
    --table steps …"""
    options, of_report = _parsed(line)
    prof = profiler.profile(output=options.output, collect=options.collect)
    with prof:
        ipython.run_cell(cell)  # shows the cell's own result, or its error
    if not prof.key_averages():
        report = shown.Report(NOTHING)
    else:
        trace, steps = prof._read()
        chosen = ["--steps", steps] if steps is not None else []
        report = shown.Report(command.run("report", *chosen, *of_report, trace))
    report.profile = prof  # keeps the trace, too
    return report


def load(ipython: Any) -> None:
    def varve(line: str, cell: str) -> shown.Report:
        return run_cell(ipython, line, cell)
    varve.__doc__ = run_cell.__doc__
    ipython.register_magic_function(varve, "cell", "varve")

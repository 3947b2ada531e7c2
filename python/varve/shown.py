# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of tables, reports and graphs. All text of a trace is escaped, and pictures
are images, in which nothing runs: no trace becomes markup or a script."""
from __future__ import annotations

import base64
import html
import os
import tempfile
from typing import Any, Dict, Iterable, List, Sequence

from . import command, library, units

ROWS_MAX = 40


def _cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if column.endswith("_ns"):
        return units.time_text(value / 1e3)
    if column.endswith("bytes"):
        return units.bytes_text(int(value))
    if column.endswith("share"):
        return f"{value:.1%}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table_html(rows: Sequence[Dict[str, Any]]) -> str:
    """A table of the first rows; names first, and only columns that have a value in some row."""
    columns = [name for name in (rows[0] if rows else ())
               if any(row[name] is not None for row in rows)]
    columns.sort(key=lambda name: name not in ("row", "name"))

    def line(tag: str, cells: Iterable[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
    lines = [line("th", columns), *(line("td", (_cell(name, row[name]) for name in columns))
                                    for row in rows[:ROWS_MAX])]
    more = f"<p>{len(rows) - ROWS_MAX} more rows</p>" if len(rows) > ROWS_MAX else ""
    return f"<table>{''.join(lines)}</table>{more}" if rows else "<p>no rows</p>"


class Rows(List[Dict[str, Any]]):
    """A table: a list of dicts, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return table_html(self)


class Report(str):
    """The text of `varve report`. `profile` is what recorded it, for `%%varve`.

    >>> print(varve.report("run.varve", top=5))
    """
    profile: Any = None

    def __repr__(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


def report_of(paths: Sequence["str | os.PathLike[str]"], options: Dict[str, Any]) -> Report:
    """What `varve report` prints of the traces; steps="2..8" is --steps 2..8, warm_up=True is
    --warm-up."""
    words: List[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return Report(command.run("report", *words, *map(os.fspath, paths)))


def graph_html(graph: Any) -> str:
    """The picture of a graph, as an image; its nodes, where the trace that it is of is gone, or no
    picture can be drawn of it."""
    try:
        with tempfile.TemporaryDirectory(prefix="varve-python-") as folder:
            path = os.path.join(folder, "graph.svg")
            graph.draw(path)
            with open(path, "rb") as file:
                data = base64.b64encode(file.read()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" style="max-width: 100%">'
    except (library.Error, OSError, TypeError):
        return table_html([{"name": node.get("name"), "calls": node.get("count"),
                            "self_ns": node.get("self_ns"), "total_ns": node.get("total_ns")}
                           for _, node in graph.nodes(data=True)])

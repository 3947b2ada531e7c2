# SPDX-License-Identifier: Apache-2.0
"""The operators of a trace, one row a name, as `varve report` counts them and torch's
key_averages() calls them."""
from __future__ import annotations

import collections
from typing import Dict, List, Optional, Sequence

from . import command, shown
from .units import bytes_text, time_text


class Average:
    """One row: torch's FunctionEventAvg, times in microseconds. A call within one of its own name
    is part of that one: it counts neither in `count` nor twice in `cpu_time_total`."""

    def __init__(self, row: dict) -> None:
        self.key: str = row["name"]
        self.count: int = row["calls"]
        self.self_cpu_time_total: float = row["self_ns"] / 1e3
        self.cpu_time_total: float = row["total_ns"] / 1e3
        self.self_device_time_total: float = (row.get("device_self_ns") or 0) / 1e3
        self.device_time_total: float = (row.get("device_total_ns") or 0) / 1e3
        self.input_shapes: str = row.get("shapes") or ""
        # bytes taken less bytes given back, by the operator itself
        self.self_cpu_memory_usage: int = 0

    @property
    def cpu_time(self) -> float:
        """Mean of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return (f"<Average {self.key}: {self.count} calls, self "
                f"{time_text(self.self_cpu_time_total)}>")


NOTHING = ("no operator of PyTorch ran here, and no range was marked (varve.record_function). "
           "collect=\"+python\" also records calls of Python's functions")
SORTS = ("self_cpu_time_total", "cpu_time_total", "cpu_time", "count", "key",
         "self_device_time_total", "device_time_total", "self_cpu_memory_usage")


class Averages(List[Average]):
    """Rows, largest self time first.

    >>> for row in prof.key_averages():
    ...     print(row.key, row.count, row.self_cpu_time_total)
    """

    def __init__(self, rows: Sequence[Average], by_shape: bool = False) -> None:
        super().__init__(rows)
        self.by_shape = by_shape

    @property
    def self_cpu_time_total(self) -> float:
        return sum(row.self_cpu_time_total for row in self)

    def _cells(self, row: Average, total_us: float, with_memory: bool) -> Dict[str, str]:
        cells = {"Name": row.key,
                 "Self CPU %": f"{row.self_cpu_time_total / total_us:.2%}" if total_us else "--",
                 "Self CPU": time_text(row.self_cpu_time_total),
                 "CPU total %": f"{row.cpu_time_total / total_us:.2%}" if total_us else "--",
                 "CPU total": time_text(row.cpu_time_total),
                 "CPU time avg": time_text(row.cpu_time)}
        if with_memory:
            cells["Self CPU Mem"] = bytes_text(row.self_cpu_memory_usage)
        cells["# of Calls"] = str(row.count)
        if self.by_shape:
            cells["Input Shapes"] = row.input_shapes
        return cells

    def _repr_html_(self) -> str:
        memory = any(row.self_cpu_memory_usage for row in self)
        return shown.table_html([self._cells(row, self.self_cpu_time_total, memory)
                                 for row in self])

    def table(self, sort_by: Optional[str] = None, row_limit: int = 100,
              max_name_column_width: int = 55, header: Optional[str] = None) -> str:
        """The rows as text, in the manner of torch's key_averages().table(). `sort_by` is an
        attribute of the rows;
        -1 rows are all.

        >>> print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
        """
        order = sort_by or SORTS[0]
        if order not in SORTS:
            raise ValueError(f"sort_by cannot be '{order}'. There are {', '.join(SORTS)}")
        rows = sorted(self, key=lambda row: getattr(row, order), reverse=order != "key")
        total_us, with_memory = self.self_cpu_time_total, any(row.self_cpu_memory_usage
                                                              for row in self)
        cells = [self._cells(row, total_us, with_memory)
                 for row in (rows if row_limit < 0 else rows[:row_limit])]
        for line in cells:
            if len(line["Name"]) > max_name_column_width:
                line["Name"] = line["Name"][:max(max_name_column_width - 3, 0)] + "..."
        names = list(cells[0]) if cells else ["Name", "Self CPU", "CPU total", "# of Calls"]
        widths = {name: max([len(name), *(len(line[name]) for line in cells)]) for name in names}

        def text_of(line: Dict[str, str]) -> str:
            return "  ".join(line[name].ljust(widths[name]) if name in ("Name", "Input Shapes")
                             else line[name].rjust(widths[name]) for name in names).rstrip()

        rule = "  ".join("-" * widths[name] for name in names)
        head = [rule, text_of({name: name for name in names}), rule]
        return "\n".join([*([header] if header else []), *head, *map(text_of, cells), rule,
                          f"Self CPU time total: {time_text(total_us)}",
                          *([] if self else [f"No rows: {NOTHING}"]), ""])


def _own_bytes(trace: str, steps: Optional[str]) -> Dict[str, int]:
    """{operator: bytes taken less bytes given back by it itself}, from the first of the steps to
    the last one's end."""
    begin_ns, end_ns = 0, None
    if steps is not None:
        found = command.rows_of("steps", "steps", "--steps", steps, trace)
        begin_ns = min(row["at_ns"] for row in found)
        end_ns = max(row["at_ns"] + row["duration_ns"] for row in found)

    def is_inside(at_ns: int) -> bool:
        return begin_ns <= at_ns and (end_ns is None or at_ns < end_ns)

    own_bytes: Dict[str, int] = collections.Counter()
    for block in command.rows_of("memory", "allocations", trace):
        if is_inside(block["at_ns"]):
            own_bytes[block["name"]] += block["bytes"]
        if block["released_by"] and is_inside(block["at_ns"] + block["lifetime_ns"]):
            own_bytes[block["released_by"]] -= block["bytes"]
    return own_bytes


def averages_of(trace: str, by_shape: bool, steps: Optional[str], with_memory: bool) -> Averages:
    """Of a trace folder; of the steps "A..B" only, if said."""
    chosen = ["--steps", steps] if steps is not None else []
    by = ["--by", "shape"] if by_shape else []
    found = command.rows_of("report", "operators", "--warm-up", "--thread", "all", "--top", "0",
                            *chosen, *by, trace)
    rows = [Average(row) for row in found if row["row"] == "operator"]
    if with_memory and not by_shape:
        own_bytes = _own_bytes(trace, steps)
        for row in rows:
            row.self_cpu_memory_usage = own_bytes[row.key]
    return Averages(sorted(rows, key=lambda row: -row.self_cpu_time_total), by_shape)

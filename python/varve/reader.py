# SPDX-License-Identifier: Apache-2.0
"""libvarve-reader.so: traces as Python's own lists, dicts and graphs (include/varve/reader.h)."""
from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import threading
from typing import Any, Dict, Iterator, List, Optional, Union

from . import library, shown

NAME = "libvarve-reader.so.0"
NONE, STRING, TEXT = 0, 8, 9
NO_ROW = 2**32 - 1
KINDS = ["data", "flow", "nesting", "stream", "sync", "order"]  # of edges, the best known first
_NUMBERS = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 3: ctypes.c_uint32, 4: ctypes.c_uint64,
            5: ctypes.c_int32, 6: ctypes.c_int64, 7: ctypes.c_double, STRING: ctypes.c_uint32,
            TEXT: ctypes.c_uint64}
Row = Dict[str, Any]


class _Column(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("type", ctypes.c_uint32),
                ("name", ctypes.c_char_p), ("title", ctypes.c_char_p), ("unit", ctypes.c_char_p),
                ("cells", ctypes.c_void_p), ("present", ctypes.c_void_p),
                ("stride_bytes", ctypes.c_uint64)]


class _Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("threads", ctypes.c_uint32),
                ("max_memory_bytes", ctypes.c_uint64), ("step_by", ctypes.c_char_p),
                ("step_thread", ctypes.c_char_p)]


class _Info(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("path_count", ctypes.c_uint32),
                ("format", ctypes.c_char_p), ("events", ctypes.c_uint64),
                ("lost", ctypes.c_uint64), ("findings", ctypes.c_uint64),
                ("truncated_files", ctypes.c_uint64), ("begin_ns", ctypes.c_int64),
                ("end_ns", ctypes.c_int64)]


class _Question(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                *((name, ctypes.c_char_p) for name in
                  ("steps", "thread", "rank", "device", "filter", "by", "sort", "compat",
                   "annotation")),
                ("instance", ctypes.c_int64), ("scale", ctypes.c_char_p), ("top", ctypes.c_int64),
                ("of", ctypes.c_char_p), ("edges", ctypes.c_char_p), ("around", ctypes.c_char_p),
                ("hops", ctypes.c_int64)]


class _Drawing(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                *((name, ctypes.c_char_p) for name in ("form", "metric", "colours", "theme"))]


_FLAGS = {"warm_up": 1, "break_cycles": 2}
_pointer, _error = ctypes.c_void_p, ctypes.POINTER(library.ErrorStruct)
_FUNCTIONS = {
    "varve_reader_version": ([], ctypes.c_char_p),
    "varve_trace_open": ([ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t,
                          ctypes.POINTER(_Options), ctypes.POINTER(_pointer), _error],
                         ctypes.c_int),
    "varve_trace_close": ([_pointer], None),
    "varve_trace_describe": ([_pointer, ctypes.POINTER(_Info), _error], ctypes.c_int),
    "varve_trace_table": ([_pointer, ctypes.c_char_p, ctypes.POINTER(_pointer), _error],
                          ctypes.c_int),
    "varve_trace_ask": ([_pointer, ctypes.c_char_p, ctypes.POINTER(_Question),
                         ctypes.POINTER(_pointer), _error], ctypes.c_int),
    "varve_dag_make": ([_pointer, ctypes.POINTER(_Question), ctypes.POINTER(_pointer), _error],
                       ctypes.c_int),
    "varve_dag_close": ([_pointer], None),
    "varve_dag_table": ([_pointer, ctypes.c_char_p, ctypes.POINTER(_pointer), _error],
                        ctypes.c_int),
    "varve_dag_write": ([_pointer, ctypes.c_char_p, ctypes.POINTER(_Drawing), _error],
                        ctypes.c_int),
    "varve_table_rows": ([_pointer], ctypes.c_uint64),
    "varve_table_columns": ([_pointer], ctypes.c_uint32),
    "varve_table_column": ([_pointer, ctypes.c_uint32, ctypes.POINTER(_Column), _error],
                           ctypes.c_int),
    "varve_table_string": ([_pointer, ctypes.c_uint32], ctypes.c_char_p),
    "varve_table_word": ([_pointer, ctypes.c_uint32, ctypes.c_uint64], ctypes.c_char_p),
    "varve_table_close": ([_pointer], None),
}
_loaded: List[ctypes.CDLL] = []
_loading = threading.Lock()


def _places() -> Iterator[str]:
    """Where it may lie: beside the library that records, beside the program, in a prefix."""
    if library.PATH and os.sep in library.PATH:
        yield str(pathlib.Path(library.PATH).resolve().parent / NAME)
    yield from map(str, library.candidates(NAME))
    yield NAME


def _calls() -> ctypes.CDLL:
    """The library, loaded when it is first needed."""
    with _loading:
        if _loaded:
            return _loaded[0]
        wanted = os.environ.get("VARVE_READER_LIBRARY")
        found = library.load_first([wanted] if wanted else _places(), "libvarve-reader.so",
                                   "VARVE_READER_LIBRARY")
        calls = ctypes.CDLL(found)
        for name, (arguments, result) in _FUNCTIONS.items():
            function = getattr(calls, name, None)
            if function is None:
                raise library.Error(f"{found} is older than this module: it has no {name}")
            function.argtypes, function.restype = arguments, result
        _loaded.append(calls)
        return calls


def _text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


def _bytes(value: Any) -> Optional[bytes]:
    return None if value is None else os.fsencode(value)


def _fill(struct, values: Dict[str, Any], what: str):
    """Sets fields by name; None is the default. Flags are fields, too, for who calls."""
    fields = dict(struct._fields_)
    struct.struct_size = ctypes.sizeof(struct)
    for name, value in values.items():
        if name in _FLAGS and "flags" in fields:
            struct.flags |= _FLAGS[name] if value else 0
        elif name not in fields or name in ("struct_size", "flags"):
            known = sorted({*fields, *(_FLAGS if "flags" in fields else ())}
                           - {"struct_size", "flags"})
            raise TypeError(f"{what} has no option '{name}': {', '.join(known)}")
        elif value is not None:
            is_text = fields[name] is ctypes.c_char_p
            setattr(struct, name, _bytes(str(value)) if is_text else int(value))
    return struct


def _column(calls: ctypes.CDLL, table: int, number: int, rows: int) -> tuple:
    """(name, [value, …])"""
    about = _Column(struct_size=ctypes.sizeof(_Column))
    library.check(calls.varve_table_column, table, number, ctypes.byref(about))
    name = about.name.decode()
    if rows == 0:
        return name, []
    kind = _NUMBERS[about.type]
    step = about.stride_bytes // ctypes.sizeof(kind)
    values = (kind * ((rows - 1) * step + 1)).from_address(about.cells)[::step]
    if about.type == STRING:
        texts = {number: _text(calls.varve_table_string(table, number)) for number in set(values)}
        values = [texts[value] for value in values]
    elif about.type == TEXT:
        values = [_text(ctypes.string_at(value)) if value else None for value in values]
    elif name == "kind":
        words = {value: _text(calls.varve_table_word(table, number, value))
                 for value in set(values)}
        values = [value if words[value] is None else words[value] for value in values]
    if about.present:
        there = (ctypes.c_uint8 * ((rows - 1) * about.stride_bytes + 1)).from_address(about.present)
        values = [value if present else None
                  for value, present in zip(values, there[::about.stride_bytes])]
    return name, values


def _columns(calls: ctypes.CDLL, table: int) -> Dict[str, list]:
    rows = calls.varve_table_rows(table)
    return dict(_column(calls, table, number, rows)
                for number in range(calls.varve_table_columns(table)))


def _hand_out(columns: Dict[str, list], pandas: bool) -> Any:
    if pandas:
        import pandas as package  # needed by who asks for it alone
        return package.DataFrame(columns)
    return shown.Rows(dict(zip(columns, row)) for row in zip(*columns.values()))


class Trace:
    """A trace that is open: of Varve or of another profiler; or several that are of one run. Ask it
    as often as you like. Close it, or use it by `with`. Threads may share it.

    >>> with varve.Trace("run.varve") as trace:
    ...     slowest = trace.table("operators", steps="2..8", top=10)
    """

    def __init__(self, *paths: Union[str, os.PathLike], step_by: Optional[str] = None,
                 step_thread: Optional[str] = None, threads: int = 0,
                 max_memory_bytes: int = 0) -> None:
        self._handle: Optional[int] = None
        self._calls = _calls()
        self._paths = paths
        self._reading = {"step_by": step_by, "step_thread": step_thread}
        names = (ctypes.c_char_p * len(paths))(*map(os.fsencode, paths))
        options = _fill(_Options(), {"step_by": step_by, "step_thread": step_thread,
                                     "threads": threads, "max_memory_bytes": max_memory_bytes},
                        "Trace")
        handle = _pointer()
        library.check(self._calls.varve_trace_open, names, len(paths), ctypes.byref(options),
                      ctypes.byref(handle))
        self._handle = handle.value

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Frees it. Lists and graphs that were made of it stay."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            self._calls.varve_trace_close(handle)

    def _open(self) -> int:
        if self._handle is None:
            raise library.Error("the trace is closed")
        return self._handle

    @property
    def info(self) -> Row:
        """What was read, and whether to trust it: format, events, lost, findings …"""
        about = _Info(struct_size=ctypes.sizeof(_Info))
        library.check(self._calls.varve_trace_describe, self._open(), ctypes.byref(about))
        found = {name: getattr(about, name) for name, _ in _Info._fields_ if name != "struct_size"}
        return {**found, "format": found["format"].decode()}

    def table(self, name: str, pandas: bool = False, **question: Any) -> Any:
        """A table that `varve report --table NAME` prints, as a list of dicts or, with pandas=True,
        a DataFrame. The question is the command's options: steps, thread, rank, device, filter, by,
        sort, top, compat, warm_up …"""
        table = _pointer()
        library.check(self._calls.varve_trace_ask, self._open(), name.encode(),
                      ctypes.byref(_fill(_Question(), question, "table")), ctypes.byref(table))
        try:
            return _hand_out(_columns(self._calls, table.value), pandas)
        finally:
            self._calls.varve_table_close(table)

    def report(self, **options: Any) -> shown.Report:
        """The text that `varve report` prints of this trace, for its options: by, top, table …"""
        return shown.report_of(self._paths, {**self._reading, **options})

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def recorded(self, name: str, pandas: bool = False) -> Any:
        """What was recorded, as a table of the model: "slices", "ops", "tracks", "steps", "flows"
        … Columns named as another table hold rows of it, or varve.NO_ROW."""
        table = _pointer()
        library.check(self._calls.varve_trace_table, self._open(), name.encode(),
                      ctypes.byref(table))
        return _hand_out(_columns(self._calls, table.value), pandas)

    def _make_graph(self, question: Row) -> ctypes.c_void_p:
        dag = _pointer()
        library.check(self._calls.varve_dag_make, self._open(),
                      ctypes.byref(_fill(_Question(), question, "graph")), ctypes.byref(dag))
        return dag

    def write_graph(self, path: Union[str, os.PathLike], form: Optional[str] = None,
                    metric: Optional[str] = None, colours: Optional[str] = None,
                    theme: Optional[str] = None, **question: Any) -> None:
        """Writes the graph of `varve dag -o PATH`, for its options. The extension says the form, or
        `form` does."""
        drawing = _fill(_Drawing(), {"form": form, "metric": metric, "colours": colours,
                                     "theme": theme}, "write_graph")
        dag = self._make_graph(question)
        try:
            library.check(self._calls.varve_dag_write, dag, os.fsencode(path),
                          ctypes.byref(drawing))
        finally:
            self._calls.varve_dag_close(dag)

    def graph_tables(self, pandas: bool = False, **question: Any) -> Dict[str, Any]:
        """The graph of `varve dag` as its tables: "nodes", "edges" (whose from and to are rows of
        nodes), "occurrences" and "notes"."""
        dag = self._make_graph(question)
        try:
            parts = {}
            for name in ("nodes", "edges", "occurrences", "notes"):
                part = _pointer()
                library.check(self._calls.varve_dag_table, dag, name.encode(), ctypes.byref(part))
                parts[name] = _hand_out(_columns(self._calls, part.value), pandas)
            return parts
        finally:
            self._calls.varve_dag_close(dag)

    def graph(self, multigraph: bool = False, **question: Any) -> Any:
        """What ran, and what followed from what, as a networkx.DiGraph: the graph of `varve dag`,
        for its options: by, of, edges, top, around, hops, steps, filter, compat, break_cycles …

        A node's key is its id, and its attributes are all columns of doc/graph.md; `parent` is the
        id of the group that it stands in, or None, and `occurrences` has a dict for each step. The
        notes are graph.graph. Edges of several kinds between two nodes are one: `kind` is the best
        known, `kinds` has all of them, and counts and bytes are sums. With multigraph=True the
        result is a networkx.MultiDiGraph, in which each kind has its own edge."""
        try:
            import networkx  # needed by who asks for it alone
            from . import graphs
        except ImportError as error:
            raise library.Error("varve.graph needs NetworkX: pip install networkx") from error
        parts = self.graph_tables(**question)
        graph: networkx.DiGraph = graphs.MultiGraph() if multigraph else graphs.Graph()
        graph.draw = functools.partial(_draw, self._paths, self._reading, question)
        graph.graph.update((note["key"], note["text"]) for note in parts["notes"])
        ids = [node["id"] for node in parts["nodes"]]
        for node in parts["nodes"]:
            first, count = node.pop("first_occurrence"), node.pop("occurrence_count")
            for column, values in (("parent", ids), ("level", None)):
                row = node[column]
                node[column] = None if row == NO_ROW else row if values is None else values[row]
            graph.add_node(node["id"], **node,
                           occurrences=parts["occurrences"][first:first + count])
        for edge in parts["edges"]:
            _add_edge(graph, ids[edge.pop("from")], ids[edge.pop("to")], edge, multigraph)
        return graph


def _draw(paths: Any, reading: Dict[str, Any], question: Dict[str, Any], path: str) -> None:
    """Writes the picture of a graph, of its trace, which is opened again."""
    with Trace(*paths, **reading) as trace:
        trace.write_graph(path, **question)


def _add_edge(graph: Any, start: int, end: int, edge: Row, multigraph: bool) -> None:
    """Rows come by kind, the best first, or are merged so."""
    if multigraph:
        graph.add_edge(start, end, key=edge["kind"], **edge)
        return
    former = graph.get_edge_data(start, end)
    if former is None:
        graph.add_edge(start, end, **edge, kinds=[edge["kind"]])
        return
    if KINDS.index(edge["kind"]) < KINDS.index(former["kind"]):
        former.update(kind=edge["kind"], name=edge["name"])
    former["kinds"] = sorted({*former["kinds"], edge["kind"]}, key=KINDS.index)
    former["count"] += edge["count"]
    former["bytes"] += edge["bytes"]
    former["longest_ns"] = max(former["longest_ns"], edge["longest_ns"])
    former["flags"] |= edge["flags"]


def graph(trace: Union[str, os.PathLike, Trace], multigraph: bool = False, **question: Any) -> Any:
    """Trace.graph, of a trace that is open or of the path of one.

    >>> networkx.dag_longest_path_length(varve.graph("run.varve", by="module"))
    """
    if isinstance(trace, Trace):
        return trace.graph(multigraph, **question)
    with Trace(trace) as opened:
        return opened.graph(multigraph, **question)


def table(trace: Union[str, os.PathLike, Trace], name: str, pandas: bool = False,
          **question: Any) -> Any:
    """Trace.table, of a trace that is open or of the path of one.

    >>> varve.table("run.varve", "steps")[0]["duration_ns"]
    """
    if isinstance(trace, Trace):
        return trace.table(name, pandas, **question)
    with Trace(trace) as opened:
        return opened.table(name, pandas, **question)


def report(*traces: Union[str, os.PathLike], **options: Any) -> shown.Report:
    """The text that `varve report` prints, for its options: steps="2..8", by="shape", top=5,
    warm_up=True … Several traces are read as one. A notebook shows it as it is.

    >>> varve.report("run.varve", top=5)
    """
    return shown.report_of(traces, options)

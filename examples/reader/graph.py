# SPDX-License-Identifier: Apache-2.0
"""graph.py: what graph.c does, by ctypes alone: python3 graph.py LIBVARVE-READER.SO TRACE"""
import ctypes
import sys
from ctypes import byref, c_char_p, c_double, c_int64, c_uint32, c_uint64, c_void_p


class Error(ctypes.Structure):
    _fields_ = [("numbers", c_uint64 * 2), ("message", ctypes.c_char * 512)]


class Cell(ctypes.Structure):
    _fields_ = [("type", c_uint32), ("reserved", c_uint32), ("integer", c_int64),
                ("real", c_double), ("text", c_char_p)]


def call(name, *arguments):
    error = Error()
    if getattr(reader, name)(*arguments, byref(error)) != 0:
        sys.exit(error.message.decode())


def at(table, row, name):
    column, cell = c_uint32(), Cell()
    call("varve_table_find", table, name, byref(column))
    call("varve_table_cell", table, c_uint64(row), column, byref(cell))
    return cell.integer if cell.text is None else cell.text.decode()


reader = ctypes.CDLL(sys.argv[1])
reader.varve_table_rows.restype = c_uint64
trace, dag, nodes, edges = c_void_p(), c_void_p(), c_void_p(), c_void_p()
call("varve_trace_open", (c_char_p * 1)(sys.argv[2].encode()), 1, None, byref(trace))
call("varve_dag_make", trace, None, byref(dag))
call("varve_dag_table", dag, b"nodes", byref(nodes))
call("varve_dag_table", dag, b"edges", byref(edges))
for row in range(reader.varve_table_rows(nodes)):
    print(f"{at(nodes, row, b'kind')} {at(nodes, row, b'name')}: {at(nodes, row, b'total_ns')} ns")
for row in range(reader.varve_table_rows(edges)):
    print(f"{at(nodes, at(edges, row, b'from'), b'name')} -> "
          f"{at(nodes, at(edges, row, b'to'), b'name')} ({at(edges, row, b'kind')})")

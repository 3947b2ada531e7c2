# SPDX-License-Identifier: Apache-2.0
"""graph.py: what graph.c does, by ctypes alone: python3 graph.py LIBVARVE-READER.SO TRACE"""
import ctypes
import sys
from ctypes import byref, c_char_p, c_int64, c_uint64, c_void_p


class Error(ctypes.Structure):
    _fields_ = [("numbers", c_uint64 * 2), ("message", ctypes.c_char * 512)]


def call(name, *arguments):
    error = Error()
    if getattr(reader, name)(*arguments, byref(error)) != 0:
        sys.exit(error.message.decode())


reader = ctypes.CDLL(sys.argv[1])
reader.varve_table_rows.restype = c_uint64
text, integer = reader.varve_table_text, reader.varve_table_integer
text.restype, integer.restype = c_char_p, c_int64
text.argtypes = integer.argtypes = [c_void_p, c_uint64, c_char_p]
trace, dag, nodes, edges = c_void_p(), c_void_p(), c_void_p(), c_void_p()
call("varve_trace_open", (c_char_p * 1)(sys.argv[2].encode()), 1, None, byref(trace))
call("varve_dag_make", trace, None, byref(dag))
call("varve_dag_table", dag, b"nodes", byref(nodes))
call("varve_dag_table", dag, b"edges", byref(edges))
for row in range(reader.varve_table_rows(nodes)):
    print(f"{text(nodes, row, b'kind').decode()} {text(nodes, row, b'name').decode()}: "
          f"{integer(nodes, row, b'total_ns')} ns")
for row in range(reader.varve_table_rows(edges)):
    ends = [text(nodes, integer(edges, row, end), b"name").decode() for end in (b"from", b"to")]
    print(f"{ends[0]} -> {ends[1]} ({text(edges, row, b'kind').decode()})")

# SPDX-License-Identifier: Apache-2.0
"""Small databases of rocmProfileData, written by hand: two processes in two sessions, as schema 2
and as schema 3 have them."""
from nsys_writer import write as write_tables

PID, TID, OTHER_PID = 71, 72, 90
SESSION = 1 << 32  # ids of a session count from its number times this
START_NS = 8_000_000_000_000

STRINGS = ["", "hipMemcpyAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipGraphLaunch",
           "UserMarker", "CopyHostToDevice", "KernelExecution", "Task", "FillBuffer", "Barrier",
           "gemm(float*)", "relu", "OpTable::writeRows", "hipMemsetAsync", "forward",
           "aten::mm, seq = 5, op_id = 9, sizes = [[2, 3], [3, 4]]", "a mark", "count=3",
           "aten::add", "later", "hip", "size=0x774", "aten::relu, op_id = 4"]
NUMBER = {text: number + 1 for number, text in enumerate(STRINGS)}
NONE = NUMBER[""]


def api(number, begin, end, name, args="", who=(PID, TID)):
    return number, *who, START_NS + begin, START_NS + end, NUMBER[name], NUMBER[args]


def op(number, begin, end, kind, name="", where=(2, 0)):
    return number, *where, 0, "", START_NS + begin, START_NS + end, NUMBER[name], NUMBER[kind]


CALLS = [
    api(1, 100, 140, "hipMemcpyAsync", "size=0x774"), api(2, 200, 210, "hipLaunchKernel"),
    api(3, 220, 230, "hipExtModuleLaunchKernel"), api(4, 300, 320, "hipGraphLaunch"),
    api(5, 400, 404, "hipMemsetAsync"), api(6, 90, 500, "UserMarker", "forward"),
    api(7, 190, 260, "UserMarker", "aten::mm, seq = 5, op_id = 9, sizes = [[2, 3], [3, 4]]"),
    api(8, 270, 270, "UserMarker", "a mark"), api(9, 600, 700, "OpTable::writeRows", "count=3"),
    api(10, 295, 325, "UserMarker", "aten::add"),
    api(SESSION + 1, 150, 160, "hipLaunchKernel", who=(OTHER_PID, OTHER_PID))]
WORK = [
    op(1, 110, 130, "CopyHostToDevice"), op(2, 205, 255, "KernelExecution", "gemm(float*)"),
    op(3, 260, 280, "KernelExecution", "gemm(float*)"), op(4, 310, 330, "Task", "relu"),
    op(5, 330, 345, "Task", "gemm(float*)"), op(6, 345, 350, "CopyHostToDevice"),
    op(7, 410, 414, "FillBuffer"), op(8, 420, 421, "Barrier"),
    op(9, 430, 440, "KernelExecution", "relu", (2, 1)),  # no call is said to have started it
    op(SESSION + 1, 170, 190, "KernelExecution", "relu", (3, 0)),
    op(SESSION + 2, 195, 199, "later", where=(3, 0))]
LINKS = [(1, 1), (2, 2), (3, 3), (4, 4), (4, 5), (4, 6), (5, 7), (SESSION + 1, SESSION + 1)]

API = "id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, " \
      "apiName_id INTEGER, args_id INTEGER"
OP = "id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, " \
     "completionSignal TEXT, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER"
KERNEL = "api_ptr_id INTEGER PRIMARY KEY, stream TEXT, gridX INTEGER, gridY INTEGER, " \
         "gridZ INTEGER, workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER, " \
         "groupSegmentSize INTEGER, privateSegmentSize INTEGER, codeObject_id INTEGER, " \
         "kernelName_id INTEGER"
COPY = "api_ptr_id INTEGER PRIMARY KEY, stream TEXT, size INTEGER, width INTEGER, " \
       "height INTEGER, kind INTEGER, dst TEXT, src TEXT, sync INTEGER"
MONITOR = "id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER, monitorType TEXT, " \
          "start INTEGER, end INTEGER, value TEXT"

TABLES = {
    "rocpd_string": ("id INTEGER PRIMARY KEY, string TEXT",
                     [(number, text) for text, number in NUMBER.items()]),
    "rocpd_metadata": ("id INTEGER PRIMARY KEY, tag TEXT, value TEXT",
                       [(1, "schema_version", "2"), (2, "session_count", "2")]),
    "rocpd_api": (API, CALLS),
    "rocpd_op": (OP, WORK),
    "rocpd_api_ops": ("id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER",
                      [(number + 1, *link) for number, link in enumerate(LINKS)]),
    "rocpd_kernelapi": (KERNEL, [
        (2, "0x0", 7, 3, 1, 256, 1, 1, 1024, 0, "", NUMBER["gemm(float*)"]),
        (3, "0x0", 1000, 1, 1, 256, 1, 1, 0, 0, "", NUMBER["gemm(float*)"]),
        (4, "0x0", 5, 1, 1, 64, 1, 1, 0, 0, "", NUMBER["relu"])]),
    "rocpd_copyapi": (COPY, [(1, "0x10", 4096, "", "", 1, "0xa0", "0xb0", 0)]),
    "rocpd_monitor": (MONITOR, [
        (1, "gpu", 0, "sclk", START_NS + 50, START_NS + 150, "800"),
        (2, "gpu", 0, "sclk", START_NS + 150, START_NS + 450, "1700"),
        (3, "gpu", 1, "sclk", START_NS + 60, START_NS + 440, "131.5"),
        (4, "gpu", 1, "sclk", START_NS + 440, START_NS + 450, "unknown")]),
    "ext_autogradapi": ("api_ptr_id INTEGER PRIMARY KEY, autogradName_id INTEGER, seq INTEGER, "
                        "op_id INTEGER, sizes TEXT, input_op_ids TEXT",
                        [(10, NUMBER["aten::add"], "", 31, "[[8]]", "")]),
    "ext_callstack": ("id INTEGER PRIMARY KEY, parent_id INTEGER", [(1, 2), (2, 3)]),
    "rocpd_barrierop": ("op_ptr_id INTEGER PRIMARY KEY, signalCount INTEGER", []),
}


def schema_3():
    """Arguments have a table of texts of their own, calls have a domain and a category."""
    tables = dict(TABLES)
    moved = 1000  # where the ids of arguments begin
    tables["rocpd_metadata"] = (tables["rocpd_metadata"][0], [(1, "schema_version", "3")])
    tables["rocpd_ustring"] = ("id INTEGER PRIMARY KEY, string TEXT",
                               [(number + moved, text) for text, number in NUMBER.items()])
    tables["rocpd_api"] = (
        API.replace("apiName_id INTEGER", "apiName_id INTEGER, category_id INTEGER, "
                    "domain_id INTEGER"),
        [(*row[:6], NONE, NUMBER["hip"], row[6] + moved) for row in CALLS])
    tables["rocpd_op"] = (OP.replace("completionSignal TEXT, ", ""),
                          [(*row[:4], *row[5:]) for row in WORK])
    return tables


def write(path, tables=None, page_bytes=1024):
    return write_tables(path, TABLES if tables is None else tables, page_bytes)

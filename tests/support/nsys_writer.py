# SPDX-License-Identifier: Apache-2.0
"""Small exports of Nsight Systems, written by hand: SQLite with the tables and columns that tests
need."""
import sqlite3

EPOCH_NS = 1_700_000_000_000_000_000
PID, TID = 4711, 4712
GLOBAL_PID = PID << 24 | 1 << 48
GLOBAL_TID = GLOBAL_PID | TID

STRINGS = ["", "saxpy(float *)", "saxpy", "_Z5saxpy", "cudaLaunchKernel_v7000", "main", "forward",
           "MPI_Allreduce", "write", "cuLaunch", "Hostname"]

TABLES = {
    "StringIds": ("id INTEGER PRIMARY KEY, value TEXT", list(enumerate(STRINGS))),
    "TARGET_INFO_SESSION_START_TIME": ("utcEpochNs INTEGER", [(EPOCH_NS,)]),
    "TARGET_INFO_SYSTEM_ENV": ("name TEXT, value TEXT", [("Hostname", "node1"), ("OS", "linux")]),
    "TARGET_INFO_GPU": ("id INTEGER, name TEXT, smCount INTEGER", [(0, "A100", 108)]),
    "PROCESSES": ("globalPid INTEGER, pid INTEGER, name TEXT",
                  [(GLOBAL_PID, PID, "./train"), (9 << 24, 9, "idle")]),
    "ThreadNames": ("nameId INTEGER, priority INTEGER, globalTid INTEGER", [(5, 10, GLOBAL_TID)]),
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
        "correlationId INTEGER, "
        "globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, gridX "
        "INTEGER",
        [(1000, 1500, 0, 1, 7, 21, GLOBAL_PID, 1, 2, 3, 4), (1400, 1900, 0, 1, 7, 22, GLOBAL_PID, 1,
                                                             2, None, 8)]),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (
        "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
        "correlationId INTEGER, "
        "globalPid INTEGER, bytes INTEGER, copyKind INTEGER",
        [(500, 900, 0, 1, 9, 20, GLOBAL_PID, 4096, 1)]),
    "CUPTI_ACTIVITY_KIND_MEMSET": (
        "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
        "correlationId INTEGER, "
        "globalPid INTEGER, value INTEGER, bytes INTEGER",
        [(300, 320, 0, 1, 9, 19, GLOBAL_PID, 0, 256)]),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": (
        "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
        "correlationId INTEGER, "
        "globalPid INTEGER, syncType INTEGER, eventId INTEGER",
        [(1600, 1950, 0, 1, 7, 30, GLOBAL_PID, 3, 0)]),
    "CUPTI_ACTIVITY_KIND_RUNTIME": (
        "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId "
        "INTEGER, nameId INTEGER, "
        "returnValue INTEGER, callchainId INTEGER",
        [(950, 980, 0, GLOBAL_TID, 21, 4, 0, None), (985, 990, 0, GLOBAL_TID, 22, 4, 0, None)]),
    "CUPTI_ACTIVITY_KIND_DRIVER": (
        "start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER",
        [(991, 992, GLOBAL_TID, 40, 9)]),
    "NVTX_EVENTS": (
        "start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, color "
        "INTEGER, text TEXT, "
        "globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, int64Value "
        "INTEGER, "
        "doubleValue REAL, jsonText TEXT",
        [(900, 2000, 59, None, None, None, None, GLOBAL_TID, None, 6, 0, None, None, None),
         (910, None, 59, None, 3, 255, "never ended", GLOBAL_TID, None, None, 0, -5, None,
          '{"a": 1}'),
         (920, 1200, 60, 77, None, None, "crossing", GLOBAL_TID, GLOBAL_TID, None, 2, None, 0.5,
          None),
         (930, None, 34, None, None, None, "here", GLOBAL_TID, None, None, 0, None, None, None),
         (10, None, 75, None, None, None, "MPI", GLOBAL_TID, None, None, 2, None, None, None),
         (11, None, 33, None, 3, None, "steps", GLOBAL_TID, None, None, 0, None, None, None),
         (12, None, 39, None, None, None, "MPI Rank 3", GLOBAL_TID, None, None, 0, None, None,
          None),
         (13, None, 999, None, None, None, "of a later version", GLOBAL_TID, None, None, 0, None,
          None, None)]),
    "MPI_COLLECTIVES_EVENTS": ("start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, "
                               "size INTEGER",
                               [(1210, 1300, GLOBAL_TID, 7, 64)]),
    "OSRT_API": ("start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, returnValue "
                 "INTEGER",
                 [(1310, 1305, GLOBAL_TID, 8, 3)]),
    "LATER_EVENTS": ("start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER",
                     [(1400, 1410, GLOBAL_TID, 6)]),
    "SCHED_EVENTS": ("start INTEGER, cpu INTEGER", [(1, 0), (2, 1), (3, 0)]),
    "ENUM_CUDA_MEMCPY_OPER": ("id INTEGER, name TEXT", [(1, "HtoD")]),
}


def write(path, tables=None, page_bytes=1024):
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA page_size = {page_bytes}")
    for name, (columns, rows) in (TABLES if tables is None else tables).items():
        database.execute(f'CREATE TABLE "{name}" ({columns})')
        if rows:
            database.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(rows[0]))})',
                                 rows)
    database.commit()
    database.close()
    return path

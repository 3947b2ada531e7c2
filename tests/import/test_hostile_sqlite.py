# SPDX-License-Identifier: Apache-2.0
"""A database is a program in SQL, and its pages may lead anywhere: each of these ends within
seconds, with a table less or a sentence, whatever its schema asks for."""
import pathlib
import sqlite3
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import nsys_writer  # noqa: E402
import rpd_writer  # noqa: E402
from measured_run import measured  # noqa: E402

CPU_S, PEAK_BYTES = 10, 200 << 20
ENDLESS = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a AS {} FROM n"
BY_NAME = {"StringIds": "id, a AS value", "TARGET_INFO_SESSION_START_TIME": "utcEpochNs",
           "PROCESSES": "globalPid", "ThreadNames": "nameId", "NVTX_EVENTS": "start"}


def database(path, *statements, without=(), page_bytes=1024):
    tables = {name: table for name, table in nsys_writer.TABLES.items() if name not in without}
    nsys_writer.write(path, tables, page_bytes)
    with sqlite3.connect(path, isolation_level=None) as file:
        file.execute("BEGIN")
        for statement in statements:
            file.execute(statement)
        file.execute("COMMIT")
    file.close()


def view_by_name(path):
    database(path, *[f"CREATE VIEW {name} AS {ENDLESS.format(columns)}"
                     for name, columns in BY_NAME.items()], without=BY_NAME)


def view_within_a_view(path):
    database(path, f"CREATE VIEW inner_one AS {ENDLESS.format('start')}",
             "CREATE VIEW NVTX_EVENTS AS SELECT * FROM inner_one", without=["NVTX_EVENTS"])


def view_that_says_it_is_a_table(path):
    database(path, f"CREATE VIEW NVTX_EVENTS AS {ENDLESS.format('start')}",
             "PRAGMA writable_schema = 1",
             "UPDATE sqlite_master SET type = 'table', rootpage = 2 WHERE name = 'NVTX_EVENTS'",
             without=["NVTX_EVENTS"])


def computed_column(path):
    database(path, "CREATE TABLE NVTX_EVENTS (start INTEGER, eventType INTEGER, globalTid INTEGER, "
             "text TEXT AS (hex(zeroblob(30000000))), a TEXT AS (printf('%.*c', 30000000, 'x')))",
             "INSERT INTO NVTX_EVENTS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 "
             "FROM n WHERE a < 20000) "
             "SELECT a, 34, 5 FROM n", without=["NVTX_EVENTS"])


def computed_from_itself(path):
    """No function: each column is twice the one before it."""
    columns = ", ".join(f"c{i} TEXT AS (c{i - 1} || c{i - 1})" for i in range(1, 22))
    database(path, f"CREATE TABLE TARGET_INFO_X (c0 TEXT, {columns})",
             *["INSERT INTO TARGET_INFO_X VALUES ('aaaaaaaa')"] * 400)


def virtual_table(path):
    database(path, "CREATE VIRTUAL TABLE NVTX_EVENTS USING fts3(start)", without=["NVTX_EVENTS"])


def sqlite_varint(value):
    out = [value & 127]
    while value > 127:
        value >>= 7
        out.append(value & 127 | 128)
    return bytes(reversed(out))


def texts_that_lead_in_a_circle(path, rows=40, length=20000, page_bytes=1024):
    """Each row says that it is a megabyte, and its pages lead round: 40 MB of text in 0.8."""
    nsys_writer.write(path, {"TARGET_INFO_TEXTS": ("value TEXT",
                                                   [(f"{i:08}" + "x" * (length - 8),)
                                                    for i in range(rows)])}, page_bytes)
    data = bytearray(path.read_bytes())
    usable = page_bytes - 4
    longer = length + 960 * usable  # leaves as much of it in the row's own page
    local = (page_bytes - 12) * 32 // 255 - 23
    rest = local + (length + 4 - local) % usable
    local = rest if rest <= page_bytes - 35 else local
    for i in range(rows):
        cell = data.index(b"\x04" + sqlite_varint(2 * length + 13) + f"{i:08}".encode())
        first = sqlite_varint(length + 4) + sqlite_varint(i + 1)
        assert data[cell - len(first):cell] == first
        head = sqlite_varint(longer +
                             4) + sqlite_varint(i + 1) + b"\x04" + sqlite_varint(2 * longer + 13)
        data[cell - len(first):cell - len(first) + len(head)] = head
        page, = struct.unpack_from(">I", data, cell + local)
        while True:
            onward, = struct.unpack_from(">I", data, (page - 1) * page_bytes)
            if onward == 0:
                struct.pack_into(">I", data, (page - 1) * page_bytes, page)
                break
            page = onward
    path.write_bytes(data)


def many_tables(path):
    database(path, *[f"CREATE TABLE TARGET_INFO_{i} (a)" for i in range(1500)])


def deep_expressions(path):
    database(path, "CREATE TABLE LATER (start, end, globalTid, nameId, CHECK (start" + "+1" * 900 +
             "))")


def rpd_views_and_computed_columns(path):
    """The tables of the other format that is read from a database."""
    kept = ("rocpd_string", "rocpd_api", "rocpd_kernelapi")
    rpd_writer.write(path, {name: rpd_writer.TABLES[name] for name in kept})
    with sqlite3.connect(path, isolation_level=None) as file:
        file.execute("BEGIN")
        file.execute(f"CREATE VIEW rocpd_op AS {ENDLESS.format('start')}")
        file.execute(f"CREATE VIEW rocpd_api_ops AS {ENDLESS.format('op_id')}")
        file.execute("CREATE TABLE rocpd_monitor (start INTEGER, value TEXT AS "
                     "(hex(zeroblob(30000000))))")
        file.executemany("INSERT INTO rocpd_monitor VALUES (?)", [(i,) for i in range(20)])
        file.execute("CREATE TABLE rocpd_lateapi (api_ptr_id INTEGER, a TEXT AS "
                     "(printf('%.*c', 30000000, 'x')))")
        file.executemany("INSERT INTO rocpd_lateapi VALUES (?)", [(i,) for i in range(20)])
        file.execute("COMMIT")
    file.close()


MADE = [rpd_views_and_computed_columns, view_by_name, view_within_a_view,
        view_that_says_it_is_a_table, computed_column,
        computed_from_itself, virtual_table, texts_that_lead_in_a_circle, many_tables,
        deep_expressions]


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_it_ends(varve, tmp_path, make):
    path = tmp_path / "a.sqlite"
    try:
        make(path)
    except sqlite3.OperationalError as error:
        pytest.skip(f"needs a Python whose SQLite has it: {error}")
    assert path.stat().st_size < 2 << 20
    run = measured([varve, "info", "--no-cache", path], tmp_path)
    assert run.code == 0 or (run.code == 3 and run.err.startswith("varve: ")), run.err
    assert run.cpu_s < CPU_S and run.peak_bytes < PEAK_BYTES, run


def test_a_view_gives_no_rows(varve, tmp_path):
    """The budget is no answer to it: the tables beside it are read to their end."""
    view_by_name(tmp_path / "a.sqlite")
    run = measured([varve, "info", "--json", "--no-cache", tmp_path / "a.sqlite"], tmp_path)
    assert run.code == 0 and '["truncated_files", ' not in run.out


def test_pages_that_lead_in_a_circle_are_a_torn_file(varve, tmp_path):
    texts_that_lead_in_a_circle(tmp_path / "a.sqlite")
    run = measured([varve, "info", "--json", "--no-cache", tmp_path / "a.sqlite"], tmp_path)
    assert run.code == 0 and '["truncated_files", ' in run.out, run.err

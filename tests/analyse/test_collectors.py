# SPDX-License-Identifier: Apache-2.0
"""Table "collectors": the latest that each process says of each, and processes that say the same in
one row."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position


def test_processes_that_say_the_same_share_a_row(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "t.varve")
    for pid in (1, 2, 3):
        process = trace.process(pid=pid)
        process.collector("torch", "absent", "no libtorch_cpu.so")
        if pid != 2:
            process.collector("torch", "attached", "2.15.0: names, numbers, shapes")
        process.collector("python", "off", "")
    trace.process(pid=4)
    rows = table_reader.tables(varve, "info", trace.write())["collectors"]
    assert [tuple(row[key] for key in ("collector", "state", "processes", "text"))
            for row in rows] == [
        ("torch", "attached", 2, "2.15.0: names, numbers, shapes"), ("python", "off", 3, None),
        ("torch", "absent", 1, "no libtorch_cpu.so")]


def test_a_trace_without_any_has_no_such_block(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "t.varve")
    trace.process(pid=1)
    assert table_reader.tables(varve, "info", trace.write())["collectors"] == []
    printed = subprocess.run([varve, "info", trace.path], capture_output=True, text=True,
                             check=True).stdout
    assert "HEALTH" in printed and "COLLECTORS" not in printed

# SPDX-License-Identifier: Apache-2.0
"""Table longest (doc/metrics.md)."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position


def test_it_is_the_slice_that_lasts_longest(varve, tmp_path):
    written = trace_writer.Trace(tmp_path / "a.varve")
    process = written.process(pid=100)
    thread = process.thread(tid=100)
    for name, begin, end in (("short", 100, 110), ("long", 120, 170), ("other", 180, 200)):
        thread.begin(process.site("begin", name), begin)
        thread.end(end)
    rows = table_reader.tables(varve, "report", "--table", "longest", written.write())["longest"]
    assert rows == [{"name": "long", "duration_ns": 50}]

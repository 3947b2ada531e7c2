# SPDX-License-Identifier: Apache-2.0
"""varve.beat (doc/format.md §6), as it is written here and by the recorder."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import table_reader  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position
import varve_decode  # pylint: disable=wrong-import-position


def written(folder, _varve, _build):
    trace = trace_writer.Trace(folder / "a.varve")
    process = trace.process(pid=100)
    process.beat(7)
    thread = process.thread(tid=100)
    thread.begin(process.site("begin", "conv"), 100)
    thread.end(200)
    return trace.write()


def recorded(folder, varve, build):
    program = [build / "tests/programs/emitter", "counts", "1", "10"]
    subprocess.run([varve, "record", "--quiet", "--collect", "none", "-o", "a.varve", "--",
                    *program], cwd=folder, check=True)
    return folder / "a.varve"


@pytest.mark.parametrize("make", [written, recorded])
def test_every_reader_finds_it(varve, build, tmp_path, make):
    trace = make(tmp_path, varve, build)
    beats = {(row["collector"], row["state"], row["text"])
             for row in table_reader.tables(varve, "info", trace)["collectors"]}
    assert beats == {("beat", "note", "7")}
    streams = [stream for process in varve_decode.open_trace(str(trace)).processes
               for stream in process.streams]
    records = [record for stream in streams for record in stream.records]
    assert {record.fields["count"] for record in records if record.name == "varve.beat"} == {7}

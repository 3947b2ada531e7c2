# SPDX-License-Identifier: Apache-2.0
"""varve doctor: what it says of this machine, and the peaks that it measures and keeps."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import trace_writer  # pylint: disable=wrong-import-position

CHECKS = ["record programs", "clock", "write traces here", "read .gz", "read .zst, pack", "read .sqlite", "peaks of this machine"]


@pytest.fixture(name="tell")
def tell_tables(varve, tmp_path):
    def tables(verb, *words):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        done = subprocess.run([str(varve), verb, "--json", *map(str, words)], env=environment, cwd=tmp_path,
                              capture_output=True, text=True, check=True)
        document = json.loads(done.stdout)["tables"]
        return {name: [dict(zip((column["name"] for column in table["columns"]), row)) for row in table["rows"]]
                for name, table in document.items()}
    return tables


def test_every_check_has_a_row(tell):
    rows = tell("doctor")["doctor"]
    assert [row["check"] for row in rows] == CHECKS
    assert {row["state"] for row in rows} <= {"yes", "no"}
    assert rows[0]["state"] == "yes" and rows[0]["detail"].endswith((".so", ".so.0", ".so.0.1.0"))
    assert rows[-1] == {"check": CHECKS[-1], "state": "no", "detail": "not measured: varve doctor --peaks"}


def test_a_folder_that_cannot_be_written(varve, tmp_path):
    if os.geteuid() == 0:
        folder = "/proc"
    else:
        folder = tmp_path / "closed"
        folder.mkdir(mode=0o500)
    done = subprocess.run([str(varve), "doctor", "--csv", "--table", "doctor"], cwd=folder, capture_output=True, text=True, check=True)
    assert "write traces here,no," in done.stdout


def test_peaks_are_measured_kept_and_used(tell, tmp_path):
    """Operators of the host have a roof afterwards: 1000 FLOP and 10 bytes in 10 us."""
    trace = trace_writer.Trace(tmp_path / "host.varve")
    process = trace.process(pid=100)
    thread, site = process.thread(tid=100), process.site("begin", "mine")
    thread.begin(site, 0)
    thread.op([], 5, flop=1000, size=10)
    thread.end(10000)
    path = trace.write()
    before = tell("report", "--table", "roofline", path)["roofline"][0]
    assert (before["flop"], before["bytes"], before["efficiency"], before["bound"]) == (1000, 10, None, None)
    peaks = tell("doctor", "--peaks")["peaks"]
    assert len(peaks) == 1 and min(peaks[0][name] for name in ("f32_flop_per_s", "f64_flop_per_s", "bytes_per_s")) > 1e8
    assert tell("doctor")["peaks"] == peaks
    kept = json.loads((tmp_path / "cache/varve/peaks.json").read_text())
    assert kept["schema"] == "varve.peaks/1" and [entry["cpus"] for entry in kept["machines"]] == [peaks[0]["cpus"]]
    after = tell("report", "--table", "roofline", path)["roofline"][0]
    least_s = max(1000 / peaks[0]["f32_flop_per_s"], 10 / peaks[0]["bytes_per_s"])
    assert after["efficiency"] == pytest.approx(least_s / 10e-6)
    assert after["bound"] == ("compute" if 100 >= peaks[0]["f32_flop_per_s"] / peaks[0]["bytes_per_s"] else "memory")


def test_a_damaged_file_of_peaks_is_none(tell, tmp_path):
    file = tmp_path / "cache/varve/peaks.json"
    file.parent.mkdir(parents=True)
    for text in ("", "{", "[1, 2]", '{"machines": [{"machine": 3}]}', '{"machines": [{"machine": "x", "cpus": "y"'):
        file.write_text(text)
        assert tell("doctor")["peaks"] == []

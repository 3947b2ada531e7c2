# SPDX-License-Identifier: Apache-2.0
"""No table costs more than its share, whatever the file: of 40,000 events made to be the worst
(support/worst_inputs.py) each table takes at most a second of the processor's, and all of them
together, with reading, no more than a hundred times the file's size.

Doing something with every pair of so many things takes ten seconds and more.
"""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer  # pylint: disable=wrong-import-position
import worst_inputs  # pylint: disable=wrong-import-position
from measured_run import measured  # pylint: disable=wrong-import-position

EVENTS = 40000
TABLE_S = 1.0
READ_S = 3.0
MEMORY_RATIO = 100
LIMIT_S = 600  # only what never ends gets there


def measure(build, path):
    """Seconds of the processor's by table, and the most memory held, in bytes."""
    tool = build / "tests" / "tools" / "all_tables"
    if not tool.exists():
        pytest.skip("needs all_tables: make tests")
    done = measured([tool, "--times", path], path.parent, cpu_limit_s=LIMIT_S)
    assert done.code == 0
    said_by_table = map(json.loads, done.out.splitlines())
    return {said["table"]: said["processor_s"] for said in said_by_table}, done.peak_bytes


def check(build, path):
    if "sanitize" in build.name or "thread" in build.name:
        pytest.skip("sanitizers have times and memory of their own")
    times, memory_bytes = measure(build, path)
    assert times.pop("read") < READ_S
    assert {table: spent for table, spent in times.items() if spent >= TABLE_S} == {}
    assert memory_bytes < MEMORY_RATIO * path.stat().st_size


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("kind", worst_inputs.KINDS)
def test_no_table_takes_long(build, tmp_path, kind):
    check(build, kineto_writer.write(tmp_path / "worst.json", worst_inputs.KINDS[kind](EVENTS)))


def test_buffers_that_all_overwrite_each_other(build, tmp_path):
    path = tmp_path / "plan.csv"
    rows = [f"op {n},0,4096,{n},{EVENTS}" for n in range(EVENTS)]
    path.write_text("\n".join(["name,offset,size,first_use,last_use", *rows]) + "\n",
                    encoding="utf-8")
    check(build, path)

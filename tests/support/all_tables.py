# SPDX-License-Identifier: Apache-2.0
"""all_tables.py: every table of one trace, or of two sides, as build/tests/tools/all_tables prints
them."""
import dataclasses
import json
import subprocess

import pytest

PLAIN, REMAINDER, TOTAL = range(3)


@dataclasses.dataclass
class Table:
    policy: str | None
    units: dict   # of each column; of an instant "time"
    kinds: list   # of each row: PLAIN …
    rows: list    # of {column: value}
    error: str | None


def run(build, *arguments, timeout=240):
    """The finished process."""
    tool = build / "tests" / "tools" / "all_tables"
    if not tool.exists():
        pytest.skip("needs all_tables: make tests")
    return subprocess.run([str(tool), *map(str, arguments)], capture_output=True, timeout=timeout,
                          check=False)


def parse(output):
    """{table: Table} of what it printed."""
    tables = {}
    for line in output.decode("utf-8").splitlines():
        said = json.loads(line)
        units = dict(said.get("columns", []))
        tables[said["table"]] = Table(said.get("policy"), units, said.get("kinds", []),
                                      [dict(zip(units, row, strict=True))
                                       for row in said.get("rows", [])], said.get("error"))
    return tables


def read(build, *arguments):
    """{table: Table} of a trace that every table has an answer to."""
    done = run(build, *arguments)
    assert done.returncode == 0, done.stderr.decode()
    tables = parse(done.stdout)
    assert {name: table.error for name, table in tables.items() if table.error is not None} == {}
    return tables

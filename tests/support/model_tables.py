# SPDX-License-Identifier: Apache-2.0
"""The tables of a model as build/tests/tools/model_dump prints them."""
import collections
import json
import subprocess

import pytest


def dump(build, *paths):
    """{"slices": [row, …], …}; slices and marks have their arguments in "args", a list of [key,
    value]."""
    tool = build / "tests" / "tools" / "model_dump"
    if not tool.exists():
        pytest.skip("needs model_dump: make tests")
    done = subprocess.run([str(tool), *map(str, paths)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    tables = collections.defaultdict(list)
    rows = done.stdout.decode("utf-8", "replace").strip().replace("}\n{", "},{")
    for row in json.loads(f"[{rows}]"):
        tables[row.pop("table")].append(row)
    return tables


def refusal(build, path):
    """What is said about a file that is not read."""
    done = subprocess.run([str(build / "tests" / "tools" / "model_dump"), str(path)],
                          capture_output=True, text=True,
                          check=False)
    assert done.returncode == 3, done.stdout[:400] + done.stderr
    return done.stderr


def health(tables):
    """The counters that are not zero."""
    return {name: count for name, count in tables["health"][0].items() if count and name != "row"}

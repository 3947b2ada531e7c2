# SPDX-License-Identifier: Apache-2.0
"""built_graph.py: the graph of a trace before it is folded, as build/tests/tools/built_graph prints
it."""
import dataclasses
import json
import subprocess

import pytest


@dataclasses.dataclass
class Graph:
    notes: dict
    nodes: list   # of {column: value}; an edge names them by their places here
    edges: list
    processor_s: float


def run(build, *arguments, timeout=240):
    """The finished process."""
    tool = build / "tests" / "tools" / "built_graph"
    if not tool.exists():
        pytest.skip("needs built_graph: make tests")
    return subprocess.run([str(tool), *map(str, arguments)], capture_output=True, timeout=timeout,
                          check=False)


def read(build, *arguments):
    done = run(build, *arguments)
    assert done.returncode == 0, done.stderr.decode()
    said = json.loads(done.stdout)
    return Graph(said["notes"],
                 [dict(zip(said["node_columns"], row, strict=True)) for row in said["nodes"]],
                 [dict(zip(said["edge_columns"], row, strict=True)) for row in said["edges"]],
                 said["processor_s"])

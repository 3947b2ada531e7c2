# SPDX-License-Identifier: Apache-2.0
"""The forms of a graph: what is written is what other programs expect, and reads again as the same
graph."""
import subprocess

import pytest


@pytest.fixture(name="form")
def write_form(build):
    tool = build / "tests" / "tools" / "graph_form"
    if not tool.exists():
        pytest.skip("needs graph_form: make tests")

    def write(name, *arguments):
        done = subprocess.run([str(tool), name, *map(str, arguments)], capture_output=True,
                              timeout=120, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout
    return write


def test_the_published_graph_byte_for_byte(form, traces):
    """mlirgraph/profiler_ops.json is what the program wrote that the format comes from."""
    published = (traces / "mlirgraph" / "profiler_ops.json").read_bytes()
    for name in ("profiler_ops.pb", "profiler_ops.json"):
        assert form("mlirgraph", "--compat", "mlirgraph", traces / "mlirgraph" / name) == published

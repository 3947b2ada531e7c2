# SPDX-License-Identifier: Apache-2.0
"""The source `heartbeat` (doc/collectors.md)."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position


@pytest.mark.parametrize("sources, states", [("heartbeat", [("attached", "beats")]), ("none", [])])
def test_it_is_there_where_it_is_asked_for(varve, build, tmp_path, sources, states):
    program = [build / "tests/programs/emitter", "counts", "1", "10"]
    subprocess.run([varve, "record", "--quiet", "--collect", sources, "-o", "a.varve", "--",
                    *program], cwd=tmp_path, check=True)
    rows = table_reader.tables(varve, "info", tmp_path / "a.varve")["collectors"]
    assert [(row["state"], row["text"]) for row in rows
            if row["collector"] == "heartbeat"] == states

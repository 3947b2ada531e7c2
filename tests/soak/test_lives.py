# SPDX-License-Identifier: Apache-2.0
"""Random lives of a process: what was acknowledged is in the trace it belongs to, what is not is
counted, and nothing is in a trace where it did not happen. doc/threading.md has the table,
doc/safety.md the figures of a long campaign."""
import collections
import os
import shutil

import pytest

from lives import live, traces_of
from recording import quiet_environment

PARTS = 4


@pytest.fixture(scope="module")
def count():
    """Lives in each part."""
    return 10000 // PARTS if os.environ.get("VARVE_SOAK") else 25


@pytest.mark.parametrize("part", range(PARTS))
def test_lives(tmp_path, program, three_readers, count, part):
    totals = collections.Counter()
    for seed in range(part, PARTS * count, PARTS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        totals.update(live(program("lives"), folder, seed, quiet_environment())._asdict())
        if seed % (20 * PARTS) == part:
            for trace in traces_of(folder / "traces"):
                three_readers(trace, decode=False)
        shutil.rmtree(folder)
    print(f"{count} lives: {dict(totals)}")
    assert totals["acknowledged"] > 10 * count and totals["processes"] > count
    assert totals["found"] + totals["gone"] + totals["lost"] >= totals["acknowledged"]

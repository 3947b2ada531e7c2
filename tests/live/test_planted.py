# SPDX-License-Identifier: Apache-2.0
"""Real programs with one planted fault each, and their mended twins: the findings name the fault
with its place and what to try, and do not speak of the twin."""
import json
import pathlib
import subprocess

import pytest

from environments import python_of, run_in

PROGRAM = pathlib.Path(__file__).resolve().parent / "programs" / "planted.py"

# fault, options of record, rule, what the finding or its evidence names, what it says to try
PLANTED = [
    ("loader", (), "data_wait", "DataLoader", "num_workers"),
    ("optimizer", (), "optimizer_loop", "aten::", "fused=True"),
    ("copies", (), "conversions", "aten::", "channels_last"),
    ("pause", (), "outside_operators", "nothing ran that was recorded", "+python"),
    ("one_step", (), "slow_step", " took ", None),
    ("kept", (), "leak", "aten::", "loss.item()"),
]


def findings(varve, folder, fault, options, *more):
    """{rule: row} of all findings."""
    trace = folder / f"{fault}{'-'.join(more)}.varve"
    run_in(folder, varve, "record", "-q", *options, "-o", trace, "--", python_of("torch"), PROGRAM,
           fault, *more)
    shown = subprocess.run([varve, "report", "--json", "--table", "advice", trace],
                           capture_output=True, text=True, check=True).stdout
    table = json.loads(shown)["tables"]["advice"]
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    return {row["rule"]: row for row in rows}


@pytest.mark.parametrize("fault, options, rule, place, remedy", PLANTED,
                         ids=[planted[0] for planted in PLANTED])
def test_a_planted_fault_is_named_and_its_twin_has_none(varve, tmp_path, fault, options, rule,
                                                        place, remedy):
    found = findings(varve, tmp_path, fault, options)
    assert rule in found, list(found)
    row = found[rule]
    assert place in row["finding"] + (row["why"] or "")
    assert remedy is None or remedy in row["try"]
    assert rule not in findings(varve, tmp_path, fault, options, "--mended")

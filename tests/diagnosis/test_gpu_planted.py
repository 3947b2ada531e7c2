# SPDX-License-Identifier: Apache-2.0
"""Simulated steps of a GPU with a planted problem, and their mended twins: the first finding names
cause and place, the twin has no such finding, and the promise is what mending saves, within a
factor of 1.5."""
import plants_of_gpus
import pytest

from judged_traces import advice, assert_command_tells
from plants_of_gpus import GPU_PLANTS
from simulated import Run

FACTOR = 1.5
RANKS = 2


def ask(varve, folder, plant, mended):
    """The findings, and the mean step."""
    made = plant.make(mended)
    runs = made if isinstance(made, list) else [made]
    paths = [run.write(folder / f"{plant.name}-{mended}-{number}.json")
             for number, run in enumerate(runs)]
    return advice(varve, *paths), 1000 * sum(run.step_us() for run in runs) / len(runs)


@pytest.mark.parametrize("plant", GPU_PLANTS, ids=lambda plant: plant.name)
def test_the_first_finding_is_the_plant_and_its_twin_has_none(varve, tmp_path, plant):
    rows, step_ns = ask(varve, tmp_path, plant, 0)
    twin_rows, twin_step_ns = ask(varve, tmp_path, plant, 1)
    assert rows[0]["rule"] == plant.rule, [row["rule"] for row in rows]
    text = "\n".join(filter(None, (rows[0][part] for part in ("finding", "why", "try"))))
    for place in plant.places:
        assert place in text
    assert_command_tells(varve, rows[0], [])
    assert plant.rule not in [row["rule"] for row in twin_rows]
    saved_ns = step_ns - twin_step_ns
    if not plant.promises:
        assert rows[0]["saves_ns"] is None and saved_ns > 0
        return
    assert 1 / FACTOR <= rows[0]["saves_ns"] / saved_ns <= FACTOR


def test_where_ranks_are_several_the_finding_says_whose_device_it_is(varve, tmp_path):
    """Of two ranks the second alone copies pageable memory."""
    paths = [Run(rank=rank).steps(
        14, lambda run, number, rank=rank: plants_of_gpus.pageable(run, number, rank == 0)).write(
            tmp_path / f"{rank}.json") for rank in range(RANKS)]
    findings = {row["rule"]: row["finding"] for row in advice(varve, *paths)}
    assert findings["exposed_copies"].startswith("cuda:0 of rank 1 copies memory "), findings
    alone = {row["rule"]: row["finding"] for row in advice(varve, paths[1])}
    assert alone["exposed_copies"].startswith("cuda:0 copies memory "), alone

# SPDX-License-Identifier: Apache-2.0
"""Loops of PyTorch with a planted problem that is no operator's."""
import pytest

from plants import TORCH_LOOPS


@pytest.mark.parametrize("plant", TORCH_LOOPS, ids=lambda plant: plant.id)
def test_the_first_finding_is_the_plant_and_its_twin_has_none(clinic, plant):
    assert not clinic.diagnose(plant).faults(plant)


def test_the_bytes_of_a_leak_are_what_mending_frees(clinic):
    """Of the steps that the finding is about: all but the last."""
    plant = next(plant for plant in TORCH_LOOPS if plant.name == "kept")
    clinic.diagnose(plant)
    kept = []
    for way in ("planted", "mended"):
        trace = sorted(clinic.folder.glob(f"{plant.id}-{way}-*/run.varve"))[-1]
        kept.append(sum(row["kept_bytes"] for row in clinic.table(trace, "memory_steps")[:-1]))
        if way == "planted":
            leaked = sum(row["bytes"] for row in clinic.table(trace, "memory_leaks"))
    assert leaked == kept[0] - kept[1] > 0

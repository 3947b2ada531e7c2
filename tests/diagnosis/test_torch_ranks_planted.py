# SPDX-License-Identifier: Apache-2.0
"""Ranks of PyTorch with a planted problem."""
import pytest

from plants import TORCH_RANKS, Plant


@pytest.mark.parametrize("plant", TORCH_RANKS, ids=lambda plant: plant.id)
def test_the_first_finding_is_the_plant_and_its_twin_has_none(clinic, plant):
    assert not clinic.diagnose(plant).faults(plant)


def test_a_search_for_unused_parameters_is_named_and_its_twin_has_none(clinic):
    """What it costs is mostly waiting, and has no promise: so it is seldom first."""
    plant = Plant("unused", "ddp.py", "ddp_search", ())
    found = [{row["rule"]: row for row in clinic.table(clinic.record(plant, way, 0), "advice",
                                                       ("--top", "0"))}
             for way in ("planted", "mended")]
    assert "ddp_search" not in found[1]
    assert "which of 40 were used" in found[0]["ddp_search"]["finding"]
    assert "find_unused_parameters=False" in found[0]["ddp_search"]["try"]

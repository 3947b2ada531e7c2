# SPDX-License-Identifier: Apache-2.0
"""Ranks of PyTorch with a planted problem."""
import pytest

from plants import TORCH_RANKS


@pytest.mark.parametrize("plant", TORCH_RANKS, ids=lambda plant: plant.id)
def test_the_first_finding_is_the_plant_and_its_twin_has_none(clinic, plant):
    assert not clinic.diagnose(plant).faults(plant)

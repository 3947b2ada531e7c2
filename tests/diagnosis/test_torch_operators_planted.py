# SPDX-License-Identifier: Apache-2.0
"""Programs of PyTorch whose operators are planted problems."""
import pytest

from plants import TORCH_OPERATORS


@pytest.mark.parametrize("plant", TORCH_OPERATORS, ids=lambda plant: plant.id)
def test_the_first_finding_is_the_plant_and_its_twin_has_none(clinic, plant):
    assert not clinic.diagnose(plant).faults(plant)

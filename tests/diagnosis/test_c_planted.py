# SPDX-License-Identifier: Apache-2.0
"""C programs that mark what they do, with a planted problem."""
import pytest

from plants_of_c import OF_C


@pytest.mark.parametrize("plant", OF_C, ids=lambda plant: plant.name)
def test_the_first_finding_is_the_plant_and_its_twin_has_none(clinic, plant):
    assert not clinic.diagnose(plant).faults(plant)

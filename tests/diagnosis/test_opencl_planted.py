# SPDX-License-Identifier: Apache-2.0
"""Programs of OpenCL with a planted problem, on whatever device there is."""
import subprocess

import pytest

from plants_of_c import OPENCL


@pytest.fixture(scope="module", name="has_opencl")
def fixture_has_opencl(clinic):
    tried = subprocess.run(clinic.command("opencl"), capture_output=True, text=True, check=False)
    if tried.returncode == 77:
        pytest.skip(f"needs OpenCL ({tried.stdout.strip()}): tools/setup check")
    assert tried.returncode == 2, tried.stderr  # how it is called


@pytest.mark.parametrize("plant", OPENCL, ids=lambda plant: plant.name)
@pytest.mark.usefixtures("has_opencl")
def test_the_first_finding_is_the_plant_and_its_twin_has_none(clinic, plant):
    assert not clinic.diagnose(plant).faults(plant)

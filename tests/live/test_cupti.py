# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own CUPTI, of three versions of CUDA, in a program that has no GPU: it says that there
is no driver, the note says so, and the program runs as without Varve."""
import pathlib
import subprocess
import sys

import pytest

from environments import python_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
from recording import binary, quiet_environment  # noqa: E402

LIBRARIES = ["libcupti.so.11.8", "libcupti.so.12", "libcupti.so.13"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_without_a_driver_the_program_runs_as_without_us(varve, tmp_path, name):
    (library,) = python_of("cupti").parents[1].glob(f"lib/python*/site-packages/nvidia/**/{name}")
    driver = binary("tests/drivers/recorded/libcuda.so.1")
    folder = tmp_path / "driver"  # the stand-in for the driver, and none for CUPTI
    folder.mkdir()
    (folder / driver.name).symlink_to(driver)
    environment = quiet_environment(LD_LIBRARY_PATH=str(folder), VARVE_CUPTI=str(library),
                                    STANDIN_DRIVER="13050", CUDA_INJECTION64_PATH="")
    program = [binary("tests/programs/cuda_program"), "plain"]
    alone = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    under = subprocess.run([varve, "record", "-o", tmp_path / "t.varve", "--", *program],
                           env=environment, capture_output=True, text=True, check=False)
    assert (under.returncode, under.stdout) == (alone.returncode, alone.stdout)
    assert (alone.returncode, alone.stdout) == (0, "kernels 20 copies 10\n")
    assert "varve: cuda not attached (CUPTI " in under.stderr

# SPDX-License-Identifier: Apache-2.0
"""The Pythons with a PyTorch of each kind that Varve promises to record: wheels in
build/venv-torch…, and Debian's."""
import functools
import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"  # wherever VARVE_BUILD points
DEBIAN = pathlib.Path("/usr/bin/python3")
WHEELS = {"2.15": "venv-torch", "2.9": "venv-torch-2.9", "2.6": "venv-torch-2.6",
          "2.2": "venv-torch-2.2"}
VERSIONS = ("1.13", *reversed(WHEELS))
NEWEST = "2.15"


@functools.cache
def has_debians():
    ask = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    return DEBIAN.exists() and subprocess.run([DEBIAN, "-c", ask], check=False).returncode == 0


def python_of(version):
    """The interpreter, or a skip that says what to install."""
    if version not in WHEELS:
        if not has_debians():
            pytest.skip("needs Debian's PyTorch: tools/setup clients")
        return DEBIAN
    folder = BUILD / WHEELS[version]
    if not (folder / "ready").exists():
        pytest.skip(f"needs PyTorch {version}: make check-clients")
    return folder / "bin" / "python"


def environment(**more):
    """Without what would have each run compile a framework anew, or look for a device."""
    kept = {name: value for name, value in os.environ.items()
            if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("VARVE_")}
    return {**kept, "PYTHONWARNINGS": "ignore", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "2",
            **more}

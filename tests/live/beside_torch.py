# SPDX-License-Identifier: Apache-2.0
"""beside_torch.py — lets this environment import PyTorch from build/venv-torch, which has 1.4 GB.

    build/venv-mlir/bin/python beside_torch.py

Its own packages come first.
"""
import pathlib
import sys
import sysconfig

HERE = pathlib.Path(sysconfig.get_path("purelib"))
ENVIRONMENT = pathlib.Path(sys.prefix).resolve()
(HERE / "torch.pth").write_text(
    f"{ENVIRONMENT.with_name('venv-torch') / HERE.relative_to(sys.prefix)}\n", encoding="utf-8")

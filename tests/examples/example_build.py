# SPDX-License-Identifier: Apache-2.0
"""Builds a test program from sources of an example, as a user would: one compiler call, no build
system."""
import os
import shlex
import shutil
import subprocess

import pytest


def call_compiler(root, build, *arguments):
    """Skips the test where a compiler or libvarve.so is missing."""
    compiler = shlex.split(os.environ.get("CC") or "cc")
    if shutil.which(compiler[0]) is None:
        pytest.skip("needs a C compiler: apt-get install gcc")
    if not (build / "libvarve.so").exists():
        pytest.skip("needs libvarve.so: make")
    subprocess.run([*compiler, "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-g", "-pthread",
                    f"-I{root / 'include'}", *arguments], check=True)


def build_objects(root, build, sources, *options):
    """An object of each source, in the working folder."""
    call_compiler(root, build, *options, "-c", *sources)


def build_program(root, build, sources, output, *options):
    """Skips the test where a compiler, OpenBLAS or libvarve.so is missing."""
    if shutil.which("pkg-config") is None:
        pytest.skip("needs pkg-config: apt-get install pkg-config")
    openblas = subprocess.run(["pkg-config", "--cflags", "--libs", "openblas"], capture_output=True,
                              text=True, check=False)
    if openblas.returncode != 0:
        pytest.skip("needs OpenBLAS: apt-get install libopenblas-dev")
    call_compiler(root, build, *options, "-o", output, *sources, build / "libvarve.so",
                  f"-Wl,-rpath,{build}", *openblas.stdout.split(), "-lm")

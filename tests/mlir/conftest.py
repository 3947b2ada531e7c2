# SPDX-License-Identifier: Apache-2.0
"""MLIR from Debian's LLVM 19, and from the wheels of torch-mlir and IREE (build/venv-mlir)."""
import shutil
import subprocess

import pytest

TOOLS = ("mlir-opt-19", "mlir-translate-19", "llc-19", "opt-19")


@pytest.fixture(scope="session")
def debian(tmp_path_factory):
    """run(TOOL, ARGUMENT…, text=…): what a tool of Debian's LLVM 19 prints, as bytes."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: tools/setup clients")

    def run(tool, *arguments, given=b""):
        given = given.encode() if isinstance(given, str) else given
        done = subprocess.run([tool, *map(str, arguments)], input=given, capture_output=True,
                              check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout

    return run


@pytest.fixture(scope="session")
def llvm_converter(build):
    """The converter with LLVM 19 inside."""
    program = build / "mlir/varve-mlir-llvm"
    if not program.exists():
        pytest.skip("needs libmlir-19-dev and llvm-19-dev, and then make: tools/setup clients")
    return program


@pytest.fixture(scope="session")
def text_of(build):
    """text_of(FILE, OPTION…): the engines' answer to a file."""
    tool = build / "tests/tools/mlir_text"
    if not tool.exists():
        pytest.skip("needs the tests' own programs: make tests")

    def run(file, *options, **more):
        converters = () if "--converters" in options else ("--converters", build / "mlir")
        return subprocess.run([tool, *map(str, (*converters, *options, file))],
                              capture_output=True, check=False, **more)

    return run


@pytest.fixture(scope="session")
def plugin(build):
    """The options of mlir-opt-19 that load the plugin."""
    library = build / "mlir/varve-mlir-opt-19.so"
    if not library.exists():
        pytest.skip("needs libmlir-19-dev and llvm-19-dev, and then make: tools/setup clients")
    return (f"--load-pass-plugin={library}", "--allow-unregistered-dialect")


@pytest.fixture
def command(varve, tmp_path):
    """command("annotate", …) runs varve in an empty folder."""
    def start(*words, **more):
        return subprocess.run([varve, *map(str, words)], cwd=tmp_path, capture_output=True,
                              text=True, timeout=120, check=False, **more)
    return start

# SPDX-License-Identifier: Apache-2.0
"""src/mlir/engine: a module in any form becomes text by a converter in a process of its own, and
what a converter does wrong is an error that says so."""
import os
import pathlib
import stat
import subprocess
import time

import pytest

UNSUPPORTED, CORRUPT, LIMIT, NOT_FOUND = 8, 9, 7, 2
BYTECODE = pathlib.Path(__file__).resolve().parents[1] / "fuzz/corpus/mlir_bytecode/v6"
WEIGHTS = 'module {} {-# dialect_resources: { builtin: { blob: "" } }, ' \
          'external_resources: { mytool: { a: "", b: "" } } #-}'  # of the same names


@pytest.fixture(name="stand_in")
def stand_in_for(tmp_path):
    """stand_in(SHELL): a folder whose converters are this line of shell."""
    def make(line):
        folder = tmp_path / "converters"
        folder.mkdir(exist_ok=True)
        for name in ("varve-mlir-library", "varve-mlir-llvm"):
            program = folder / name
            program.write_text(f"#!/bin/sh\n{line}\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return folder
    return make


@pytest.fixture(name="bytecode")
def bytecode_file(tmp_path):
    """A module in bytecode, which stand-ins do not read."""
    file = tmp_path / "m.mlirbc"
    file.write_bytes(BYTECODE.read_bytes())
    return file


def quiet(**variables):
    """The environment without an active Python."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    return {**kept, **variables}


def test_a_crash_names_its_signal(text_of, stand_in, bytecode):
    done = text_of(bytecode, "--converters", stand_in("kill -SEGV $$"), env=quiet())
    assert done.returncode == UNSUPPORTED and done.stdout == b""
    assert b"varve-mlir-llvm crashed while it read" in done.stderr
    assert b"(signal 11, Segmentation fault)" in done.stderr


def test_what_hangs_is_ended_with_its_children(text_of, stand_in, bytecode, tmp_path):
    folder = stand_in(f"sleep 1000 & echo $! >{tmp_path}/child; wait")
    begin = time.monotonic()
    done = text_of(bytecode, "--converters", folder, "--limit-ms", 400, env=quiet())
    assert done.returncode == LIMIT
    assert b"after 0 s, and was ended" in done.stderr
    assert time.monotonic() - begin < 60
    child = int((tmp_path / "child").read_text())
    for _ in range(600):
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True,
                               check=False).stdout
        if not state or state.startswith(b"Z"):
            return
        time.sleep(0.1)
    raise AssertionError("the converter's child lives on")


@pytest.mark.parametrize("status, code, said", [
    (3, CORRUPT, b"x.mlir:3:1: why not"), (4, UNSUPPORTED, b"x.mlir:3:1: why not"),
    (5, UNSUPPORTED, b"x.mlir:3:1: why not"), (77, UNSUPPORTED, b"ended with status 77")])
def test_its_own_words_are_kept(text_of, stand_in, bytecode, status, code, said):
    folder = stand_in(f"echo 'x.mlir:3:1: why not' >&2; exit {status}")
    done = text_of(bytecode, "--converters", folder, env=quiet())
    assert done.returncode == code
    assert said in done.stderr and done.stderr.count(b"\n") == 1


def test_words_come_whole_and_the_module_too(text_of, stand_in, bytecode):
    folder = stand_in(f"echo \"$1 $(basename $2)\"; head -c 4 | od -An -tx1; echo '{WEIGHTS}'")
    done = text_of(bytecode, "--converters", folder, env=quiet())
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == f"text m.mlirbc\n 4d 4c ef 52\n{WEIGHTS}\n"
    assert done.stderr == b"bytecode llvm\n"


def test_standard_input_is_converted_too(text_of, stand_in):
    done = text_of("-", "--engine", "llvm", "--converters", stand_in("wc -c"), env=quiet(),
                   input=b"module {}\n" * 300000)
    assert done.stdout == b"3000000\n"


def test_lost_weights_are_refused_with_the_list(text_of, stand_in, tmp_path):
    file = tmp_path / "m.mlir"
    keys = ", ".join(f'w{i}: "0x04000000AA"' for i in range(9))
    file.write_text("module {\n}\n{-# dialect_resources: { builtin: { " + keys + " } } #-}\n")
    keeps = 'module {} {-# dialect_resources: { builtin: { w1: "0x04000000AA" } } #-}'
    folder = stand_in(f"echo '{keeps}'")
    done = text_of(file, "--engine", "llvm", "--converters", folder, env=quiet())
    assert done.returncode == UNSUPPORTED and done.stdout == b""
    assert b"8 of its 9 resources (weights) would be lost: w0, w2, w3, w4, w5 and 3 more" \
        in done.stderr
    assert text_of(file, "--engine", "llvm", "--converters", stand_in("cat"),
                   env=quiet()).stdout == file.read_bytes()


def test_no_library_is_guessed(text_of, stand_in, bytecode, tmp_path):
    folder = stand_in("echo module")
    for library, words in (("python", b"no Python environment is active"),
                           (tmp_path / "none.so", b"there is no library")):
        done = text_of(bytecode, "--library", library, "--converters", folder, env=quiet())
        assert done.returncode == NOT_FOUND and words in done.stderr
    empty = tmp_path / "environment"
    empty.mkdir()
    done = text_of(bytecode, "--library", "python", "--converters", folder,
                   env=quiet(VIRTUAL_ENV=str(empty)))
    assert done.returncode == NOT_FOUND and b"neither torch-mlir nor iree" in done.stderr
    done = text_of(bytecode, "--engine", "library", "--converters", folder, env=quiet())
    assert done.returncode == UNSUPPORTED and b"--mlir-lib=PATH" in done.stderr
    done = text_of(bytecode, "--engine", "text", "--converters", folder, env=quiet())
    assert done.returncode == UNSUPPORTED and b"X-opt --mlir-print-debuginfo" in done.stderr


def test_the_active_python_comes_first_and_the_next_library_if_it_refuses(text_of, stand_in,
                                                                          bytecode, tmp_path):
    packages = tmp_path / "environment/lib/python3.11/site-packages"
    names = ("torch_mlir/_mlir_libs/libTorchMLIRAggregateCAPI.so",
             "iree/compiler/_mlir_libs/libIREECompiler.so")
    for name in names:
        (packages / name).parent.mkdir(parents=True)
        (packages / name).touch()
    environment = quiet(VIRTUAL_ENV=str(tmp_path / "environment"))
    answers = f"echo \"$1\"; echo '{WEIGHTS}'"
    done = text_of(bytecode, "--converters", stand_in(answers), env=environment)
    assert done.stdout.decode() == f"{packages / names[0]}\n{WEIGHTS}\n"
    assert done.stderr == b"bytecode library\n"
    second = stand_in(f'case "$1" in *torch*) echo no >&2; exit 3;; esac; {answers}')
    done = text_of(bytecode, "--converters", second, env=environment)
    assert done.stdout.decode() == f"{packages / names[1]}\n{WEIGHTS}\n"
    none = stand_in('echo "no $1" >&2; exit 3')
    done = text_of(bytecode, "--converters", none, env=environment)
    assert done.returncode == CORRUPT and b"m.mlirbc: no /" in done.stderr
    assert names[0].encode() in done.stderr

# SPDX-License-Identifier: Apache-2.0
"""varve-mlir-library with the libraries in the wheels of torch-mlir and IREE: what they write, they
read, byte for byte; what LLVM 19 cannot read, they can."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))
from environments import python_of  # noqa: E402  pylint: disable=wrong-import-position

CORRUPT, UNSUPPORTED = 9, 8
WEIGHTS = "0x04000000" + "0000803F" * 16
MODULE = f"""
module {{
  func.func @main(%x: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {{
    %w = torch.vtensor.literal(dense_resource<w> : tensor<4x4xf32>) : !torch.vtensor<[4,4],f32> loc("w")
    %0 = torch.aten.mm %x, %w : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>
         -> !torch.vtensor<[4,4],f32> loc("mm"(callsite("a.py":1:0 at "b.py":2:0)))
    %1 = torch.aten.relu %0 : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32> loc("relu")
    return %1 : !torch.vtensor<[4,4],f32>
  }}
}}
{{-# dialect_resources: {{ builtin: {{ w: "{WEIGHTS}" }} }} #-}}
"""
STABLEHLO = """
module {
  func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4x4xf32> loc("jit(f)/add"("m.py":6:26))
    return %0 : tensor<4x4xf32>
  }
}
"""


@pytest.fixture(name="wheels", scope="module")
def wheels_folder():
    """site-packages of torch-mlir and IREE."""
    python = python_of("mlir")
    return next(python.parents[1].glob("lib/python3*/site-packages"))


@pytest.fixture(name="torch_mlir", scope="module")
def torch_mlir_library(wheels):
    return wheels / "torch_mlir/_mlir_libs/libTorchMLIRAggregateCAPI.so"


@pytest.fixture(name="iree", scope="module")
def iree_library(wheels):
    return wheels / "iree/compiler/_mlir_libs/libIREECompiler.so"


@pytest.fixture(name="torch_opt", scope="module")
def torch_opt_program(wheels):
    """torch_opt(TEXT, OPTION...): what torch-mlir's own tool makes of it."""
    program = wheels.parents[2] / "bin/torch-mlir-opt"

    def run(text, *options):
        done = subprocess.run([program, "--mlir-print-debuginfo", *options],
                              input=text.encode() if isinstance(text, str) else text,
                              capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout

    return run


def written(tmp_path, module, name="m.mlir"):
    file = tmp_path / name
    file.write_bytes(module)
    return file


@pytest.mark.parametrize("version", (None, 0, 4, 6))
def test_torch_mlir_reads_its_bytecode_byte_for_byte(text_of, torch_mlir, torch_opt, tmp_path,
                                                     version):
    text = torch_opt(MODULE)
    more = () if version is None else (f"--emit-bytecode-version={version}",)
    bytecode = written(tmp_path, torch_opt(MODULE, "--emit-bytecode", *more))
    done = text_of(bytecode, "--library", torch_mlir)
    assert (done.returncode, done.stderr) == (0, b"bytecode library\n")
    assert done.stdout == text


def test_its_pretty_text_goes_through_and_back(text_of, torch_mlir, torch_opt, tmp_path):
    file = written(tmp_path, torch_opt(MODULE))
    done = text_of(file, "--engine", "library", "--library", torch_mlir)
    assert (done.stdout, done.stderr) == (file.read_bytes(), b"text library\n")
    generic = text_of(file, "--library", torch_mlir, "--emit", "generic").stdout
    assert generic == torch_opt(MODULE, "--mlir-print-op-generic")
    bytecode = text_of(file, "--library", torch_mlir, "--emit", "bytecode").stdout
    assert bytecode.startswith(b"ML\xefR") and torch_opt(bytecode) == file.read_bytes()


def test_iree_reads_torch_mlirs_bytecode(text_of, iree, torch_opt, tmp_path):
    bytecode = written(tmp_path, torch_opt(MODULE, "--emit-bytecode"))
    done = text_of(bytecode, "--library", iree)
    assert (done.returncode, done.stderr) == (0, b"bytecode library\n")
    assert done.stdout == torch_opt(MODULE)



def portable_artifact(library, text, version=b"1.0.0"):
    """What StableHLO's own function makes of a module, in a process of its own."""
    program = """
import ctypes, sys
class S(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]
put = ctypes.CFUNCTYPE(None, S, ctypes.c_void_p)
write = ctypes.CDLL(sys.argv[1]).stablehloSerializePortableArtifactFromStringRef
write.argtypes, write.restype = [S, S, put, ctypes.c_void_p], ctypes.c_int8
text, out = sys.stdin.buffer.read(), bytearray()
string = lambda b: S(ctypes.cast(ctypes.c_char_p(b), ctypes.c_void_p), len(b))
assert write(string(text), string(sys.argv[2].encode()),
             put(lambda s, _: out.extend(ctypes.string_at(s.data, s.length))), None)
sys.stdout.buffer.write(out)
"""
    done = subprocess.run([sys.executable, "-c", program, library, version.decode()],
                          input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_a_portable_artifact_of_stablehlo(text_of, torch_mlir, iree, torch_opt, tmp_path):
    artifact = written(tmp_path, portable_artifact(torch_mlir, STABLEHLO))
    done = text_of(artifact, "--library", torch_mlir)
    assert (done.returncode, done.stderr) == (0, b"bytecode library\n")
    assert b"stablehlo.add" in done.stdout and b'loc("jit(f)/add"(' in done.stdout
    assert torch_opt(done.stdout) == done.stdout
    for other in (("--library", iree), ("--engine", "llvm")):
        done = text_of(artifact, *other)
        assert done.returncode == UNSUPPORTED
        assert b"portable artifact of StableHLO" in done.stderr or b"no LLVM" in done.stderr


def test_other_libraries_are_refused(text_of, build, tmp_path, torch_mlir):
    file = written(tmp_path, MODULE.encode())
    done = text_of(file, "--engine", "library", "--library", build / "libvarve.so")
    assert done.returncode == UNSUPPORTED
    assert b"is no library with MLIR's C API: it has no mlirContext" in done.stderr
    done = text_of(file, "--engine", "library", "--library", file)
    assert done.returncode == UNSUPPORTED and b"cannot open the library" in done.stderr
    done = text_of(written(tmp_path, b"module {\n  torch.nothing %a\n}\n"), "--engine", "library",
                   "--library", torch_mlir)
    assert done.returncode == CORRUPT and b"m.mlir:2:3: " in done.stderr

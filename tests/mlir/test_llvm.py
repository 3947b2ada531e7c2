# SPDX-License-Identifier: Apache-2.0
"""varve-mlir-llvm: what LLVM 19 reads without any dialect, and what it would damage."""
import subprocess

import pytest

UNSUPPORTED, CORRUPT = 8, 9
MODULE = """
module {
  func.func @main(%a: tensor<2x2xf32> loc("a.py":1:1)) -> tensor<2x2xf32> {
    %w = arith.constant dense_resource<weights> : tensor<2x2xf32> loc("w"("a.py":3:4))
    %0 = "torch.aten.mm"(%a, %w) {k = 1 : i64} :
      (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc(fused<"m">["mm", "a.py":4:4])
    return %0 : tensor<2x2xf32> loc(callsite("r" at "b.py":1:1))
  } loc("a.py":1:1)
} loc("a.py":0:0)
{-# dialect_resources: { builtin: { weights: "0x040000000000803F0000803F0000803F0000803F" } } #-}
"""


def generic(debian, *options):
    """The module by mlir-opt-19, which knows func and arith."""
    return debian("mlir-opt-19", "--allow-unregistered-dialect", "--mlir-print-debuginfo",
                  *options, given=MODULE)


def through(text_of, tmp_path, module, *options):
    file = tmp_path / "m.mlir"
    file.write_bytes(module)
    return text_of(file, "--engine", "llvm", *options)


@pytest.mark.usefixtures("llvm_converter")
def test_generic_text_goes_through_byte_for_byte(text_of, debian, tmp_path):
    module = generic(debian, "--mlir-print-op-generic")
    assert through(text_of, tmp_path, module, "--emit", "generic").stdout == module
    done = through(text_of, tmp_path, module)
    assert (done.returncode, done.stderr) == (0, b"text llvm\n")
    assert done.stdout == module.replace(b'"builtin.module"() ({', b"module {").replace(
        b"}) : () -> () loc(#loc)", b"} loc(#loc)")


@pytest.mark.usefixtures("llvm_converter")
@pytest.mark.parametrize("version", range(5))
def test_bytecode_without_native_properties_is_read_whole(text_of, debian, tmp_path, version):
    module = generic(debian, "--emit-bytecode", f"--emit-bytecode-version={version}")
    done = through(text_of, tmp_path, module)
    assert (done.returncode, done.stderr) == (0, b"bytecode llvm\n")
    again = debian("mlir-opt-19", "--allow-unregistered-dialect", "--mlir-print-debuginfo",
                   given=done.stdout)
    assert again == generic(debian)


@pytest.mark.usefixtures("llvm_converter")
@pytest.mark.parametrize("version", (5, 6))
def test_bytecode_with_native_properties_is_refused_with_the_list(text_of, debian, tmp_path,
                                                                  version):
    module = generic(debian, "--emit-bytecode", f"--emit-bytecode-version={version}")
    done = through(text_of, tmp_path, module)
    assert done.returncode == UNSUPPORTED and done.stdout == b""
    assert b"would be lost, for here is no dialect func (2 operations), arith (1 operations)" \
        in done.stderr


@pytest.mark.usefixtures("llvm_converter")
def test_bytecode_that_others_could_not_read_is_not_written(text_of, debian, tmp_path):
    """LLVM 19 writes it, and says nothing; mlir-opt-19 then refuses it."""
    done = through(text_of, tmp_path, generic(debian, "--mlir-print-op-generic"), "--emit",
                   "bytecode")
    assert done.returncode == UNSUPPORTED and done.stdout == b""
    assert b"tools that know func.func, which is not known here" in done.stderr


@pytest.mark.usefixtures("llvm_converter")
def test_text_to_bytecode_and_back(text_of, debian, tmp_path):
    module = debian("mlir-opt-19", "--allow-unregistered-dialect", "--mlir-print-debuginfo",
                    "--mlir-print-op-generic", given=b"""
        "tf.A"() ({ %a = "tf.B"() {w = dense_resource<k> : tensor<1xf32>} : () -> i1 loc("b") })
        : () -> () loc(fused<{varve.profile = {count = 1 : i64}}>["a"])
        {-# dialect_resources: { builtin: { k: "0x0400000000000000" } } #-}""")
    done = through(text_of, tmp_path, module, "--emit", "bytecode")
    assert done.returncode == 0 and done.stdout.startswith(b"ML\xefR")
    assert debian("mlir-opt-19", "--allow-unregistered-dialect", "--mlir-print-debuginfo",
                  "--mlir-print-op-generic", given=done.stdout) == module
    assert through(text_of, tmp_path, done.stdout, "--emit", "generic").stdout == module


@pytest.mark.usefixtures("llvm_converter")
@pytest.mark.parametrize("module, words", [
    (b"module {\n  foo.bar %a\n}\n", b"m.mlir:2:3: "),
    (b'"a.b"() : () -> () loc("x\n', b"m.mlir:1:"),
    (b"HloModule x", b"as_text"),
])
def test_malformed_text_has_line_and_column(text_of, tmp_path, module, words):
    done = through(text_of, tmp_path, module)
    assert done.returncode == CORRUPT and words in done.stderr


@pytest.mark.usefixtures("llvm_converter")
def test_several_operations_without_a_module(text_of, tmp_path):
    done = through(text_of, tmp_path, b'"a.b"() : () -> ()\n"a.c"() : () -> () loc("n")\n')
    assert done.returncode == 0, done.stderr
    assert b'"a.b"() : () -> () loc(' in done.stdout and b'= loc("n")' in done.stdout


def test_ranges_that_it_does_not_read_are_left_out_on_request(command, debian, tmp_path):
    """As JAX writes places. All else is as it was."""
    text = ('"builtin.module"() ({\n  "t.a"() {s = "\\22f.py\\22:1:2 to :3"} : () -> () '
            'loc(callsite("f"("f.py":6:26 to :41) at "g.py":9:3 to 10:7))\n}) : () -> ()\n')
    (tmp_path / "net.mlir").write_text(text)
    refused = subprocess.run(["mlir-opt-19", "--allow-unregistered-dialect", "net.mlir"],
                             cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode != 0 and "expected ')'" in refused.stderr
    for verb in (("tag",), ("annotate", "--compat", "mlirgraph")):
        (tmp_path / "p.csv").write_text("name,ts,duration\nt.a,1,2\n")
        words = ["net.mlir"] + ["p.csv"] * (len(verb) > 1)
        done = command(verb[0], *words, *verb[1:], "--no-ranges", "-o", "out.mlir")
        assert done.returncode == 0, done.stderr
        written = (tmp_path / "out.mlir").read_text()
        assert 'to :3"' in written and "to :41" not in written and "to 10" not in written
        assert '"f"("f.py":6:26) at "g.py":9:3' in written
        debian("mlir-opt-19", "--allow-unregistered-dialect", given=written)

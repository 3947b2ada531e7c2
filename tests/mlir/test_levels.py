# SPDX-License-Identifier: Apache-2.0
"""What Debian's LLVM 19 keeps of measurements, level by level: in attributes and in locations; and
what locations do to the machine code, which is nothing."""
import pytest

import marked

BUFFERS = "one-shot-bufferize{bufferize-function-boundaries=1}"
TO_LOOPS = "func.func(convert-linalg-to-loops)"
TO_LLVM = ("convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-arith-to-llvm,"
           "convert-math-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
           "convert-cf-to-llvm,reconcile-unrealized-casts")
FROM_TOSA = "func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor)"
TILE = marked.PROGRAMS / "tile.mlir"

# program, pipeline, operations that had a mark, kept in attributes, kept in locations
LEVELS = [
    ("tensors", "canonicalize", 15, 15, 15),
    ("tensors", "cse", 15, 15, 15),
    ("tensors", "loop-invariant-code-motion", 15, 15, 15),
    ("tensors", "inline", 15, 13, 14),
    ("tensors", "linalg-generalize-named-ops", 15, 13, 15),
    ("tensors", "inline,linalg-fuse-elementwise-ops", 15, 8, 10),
    ("tensors", BUFFERS, 15, 13, 15),
    ("tensors", f"{BUFFERS},{TO_LOOPS}", 15, 7, 13),
    ("tensors", f"{BUFFERS},{TO_LOOPS},{TO_LLVM}", 15, 7, 13),
    ("tensors", f"transform-preload-library{{transform-library-paths={TILE}}},"
                "transform-interpreter", 15, 15, 15),
    ("elementwise", "convert-elementwise-to-linalg", 5, 5, 5),
    ("tosa", "canonicalize", 8, 8, 8),
    ("tosa", FROM_TOSA, 8, 1, 8),
    ("tosa", f"{FROM_TOSA},linalg-fuse-elementwise-ops,{BUFFERS},{TO_LOOPS}", 8, 1, 8),
    ("tosa", f"{FROM_TOSA},linalg-fuse-elementwise-ops,{BUFFERS},{TO_LOOPS},{TO_LLVM}", 8, 1, 8),
    ("loops", "func.func(affine-loop-unroll{unroll-factor=4})", 12, 12, 12),
    ("loops", "lower-affine", 12, 5, 12),
    ("loops", "lower-affine,convert-scf-to-cf", 12, 5, 12),
    ("loops", f"lower-affine,{TO_LLVM}", 12, 5, 12),
    ("gpu", "gpu-kernel-outlining", 9, 7, 9),
    ("gpu", "gpu-kernel-outlining,gpu.module(convert-gpu-to-nvvm)", 9, 5, 9),
]
WHOLE = {
    "tensors": f"{BUFFERS},{TO_LOOPS},{TO_LLVM}",
    "tosa": f"{FROM_TOSA},{BUFFERS},{TO_LOOPS},{TO_LLVM}",
    "loops": f"lower-affine,{TO_LLVM}",
}


@pytest.fixture(name="annotated", scope="module")
def annotated_modules(debian, plugin, tmp_path_factory):
    """annotated(PROGRAM, CARRIER): its module, measured."""
    modules = {}

    def annotate(program, carrier):
        if (program, carrier) not in modules:
            text, names = marked.named(debian, program)
            trace = marked.trace_of(names, tmp_path_factory.mktemp(program) / "t.json")
            line = f"annotate-operations-profile{{profile={trace} carrier={carrier} report=0}}"
            modules[program, carrier] = debian(
                "mlir-opt-19", *plugin, *marked.PRINT,
                f"--pass-pipeline=builtin.module({line})", given=text).decode()
        return modules[program, carrier]

    return annotate


@pytest.mark.parametrize("program, pipeline, all_marks, in_attributes, in_locations", LEVELS)
def test_levels(debian, annotated, program, pipeline, all_marks, in_attributes, in_locations):
    before = marked.marks(annotated(program, "both"))
    assert [len(found) for found in before] == [all_marks, all_marks]
    lowered = debian("mlir-opt-19", *marked.PRINT, f"--pass-pipeline=builtin.module({pipeline})",
                     given=annotated(program, "both")).decode()
    after = marked.marks(lowered)
    assert [len(found) for found in after] == [in_attributes, in_locations]
    assert after[0] <= before[0] and after[1] <= before[1]


@pytest.mark.parametrize("program", ("tensors", "tosa", "loops"))
def test_round_trips_are_exact(debian, annotated, program):
    module = annotated(program, "both")
    assert debian("mlir-opt-19", *marked.PRINT, given=module).decode() == module
    assert debian("mlir-opt-19", *marked.PRINT,
                  given=debian("mlir-opt-19", "--emit-bytecode", given=module)).decode() == module


def compile_to_elf(debian, module, pipeline, *more):
    lowered = debian("mlir-opt-19", "--mlir-print-debuginfo",
                     f"--pass-pipeline=builtin.module({','.join((pipeline, *more))})",
                     given=module)
    return debian("llc-19", "-O2", "-filetype=obj", "-relocation-model=pic", "-o", "-",
                  given=debian("opt-19", "-O2", "-S",
                               given=debian("mlir-translate-19", "--mlir-to-llvmir",
                                            given=lowered)))


@pytest.mark.parametrize("program", WHOLE)
def test_locations_leave_the_machine_code_as_it_is(debian, annotated, program):
    bare, _ = marked.named(debian, program)
    elf = compile_to_elf(debian, bare, WHOLE[program])
    assert elf.startswith(b"\x7fELF")
    assert compile_to_elf(debian, annotated(program, "location"), WHOLE[program]) == elf
    lines = "ensure-debug-info-scope-on-llvm-func"
    with_lines = compile_to_elf(debian, bare, WHOLE[program], lines)
    assert b".debug_line" in with_lines
    assert compile_to_elf(debian, annotated(program, "location"), WHOLE[program],
                          lines) == with_lines

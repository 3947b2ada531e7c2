# SPDX-License-Identifier: Apache-2.0
"""mlir_engines.py: what the engines cost that read MLIR by MLIR's own code.

    build/venv-mlir/bin/python bench/mlir_engines.py [OPERATIONS] [ROUNDS]

Programs take turns; the least wall time and the largest memory of each count. Wanted: the library
engine within 1.3 times of the same library that parses and prints (torch-mlir-opt); the compiler's
time for a module with measurements in its locations as for the bare one: there processor time
counts, and the ratio of each round."""
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
TEXT = BUILD / "bench/lib/mlir_text"
WHEELS = pathlib.Path(sys.prefix)
LIBRARY = "lib/python3*/site-packages/torch_mlir/_mlir_libs/libTorchMLIRAggregateCAPI.so"
TYPE = "!torch.vtensor<[4,4],f32>"
TO_LLVM = ("lower-affine,convert-scf-to-cf,convert-arith-to-llvm,finalize-memref-to-llvm,"
           "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts")


def torch_module(file, operations, is_generic=False):
    """One function of unary operations; each has a name of its own."""
    with file.open("w") as out:
        out.write(f"module {{\nfunc.func @main(%0: {TYPE}) -> {TYPE} {{\n")
        for i in range(operations):
            out.write(f"%{i + 1} = torch.aten.relu %{i} : {TYPE} -> {TYPE} "
                      f'loc("blocks.{i // 9}.relu_{i}"("model.py":{i % 999 + 1}:0))\n')
        out.write(f"return %{operations} : {TYPE}\n}}\n}}\n")
    if is_generic:
        generic = file.with_suffix(".generic.mlir")
        run([WHEELS / "bin/torch-mlir-opt", "--mlir-print-op-generic", "--mlir-print-debuginfo",
             file, "-o", generic])
        return generic
    return file


def loop_module(file, functions, is_measured):
    """Functions with loops over memory; each operation with a measurement, or with its place."""
    def place(line):
        at = f'"net.mlir":{line}:1'
        if not is_measured:
            return f"loc({at})"
        times = {"max": line + 9, "mean": line, "min": line - 9, "p50": line + 1, "p95": line + 8,
                 "self": 3 * line, "total": 3 * line}
        words = ", ".join(f"{word}={time}" for word, time in times.items())
        return f'loc(fused<{{varve.profile = "count=3, first={7 * line}, match=source line, ' \
               f'{words}"}}>[{at}])'

    with file.open("w") as out:
        for f in range(functions):
            line = 10 * f
            out.write(f"func.func @f{f}(%a: memref<64x64xf32>) {{\n"
                      f"%k = arith.constant 1.0 : f32 {place(line + 1)}\n"
                      "affine.for %i = 0 to 64 {\naffine.for %j = 0 to 64 {\n"
                      f"%x = affine.load %a[%i, %j] : memref<64x64xf32> {place(line + 2)}\n"
                      f"%y = arith.mulf %x, %k : f32 {place(line + 3)}\n"
                      f"affine.store %y, %a[%i, %j] : memref<64x64xf32> {place(line + 4)}\n"
                      f"}} {place(line + 5)}\n}} {place(line + 6)}\nreturn\n}}\n")
    return file


def run(command):
    """Wall time in s, and the largest memory in MB, of a program that must succeed."""
    wall, usage = spend(command)
    return wall, usage.ru_maxrss / 1024


def spend(command):
    """Wall time in s, and what the system counted of a program that must succeed."""
    begin = time.monotonic()
    nothing = os.open(os.devnull, os.O_RDWR)
    pid = os.posix_spawn(str(command[0]), [str(word) for word in command], os.environ,
                         file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 1),
                                       (os.POSIX_SPAWN_DUP2, nothing, 2)])
    os.close(nothing)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"{command[0]} ended with {status}")
    return time.monotonic() - begin, usage


def compare(title, rounds, commands):
    """Prints the least of each, and what it is of the first."""
    least = {}
    for _ in range(rounds):
        for name, command in commands.items():
            seconds, megabytes = run(command)
            former = least.get(name, (seconds, megabytes))
            least[name] = min(former[0], seconds), max(former[1], megabytes)
    print(title)
    first = next(iter(least.values()))[0]
    for name, (seconds, megabytes) in least.items():
        print(f"  {name:44s}{seconds:8.3f} s {seconds / first:7.2f} x {megabytes:8.0f} MB")


def compare_compilers(folder, functions, rounds):
    """What a compiler takes for a measured module, over what it takes for the bare one: by rounds,
    in processor time. Each stage reads what the one before it wrote."""
    stages = {
        "mlir-opt-19, to the LLVM dialect": lambda file: [
            shutil.which("mlir-opt-19"), f"--pass-pipeline=builtin.module({TO_LLVM})",
            "--mlir-print-debuginfo", file, "-o", file.with_suffix(".llvm.mlir")],
        "mlir-translate-19": lambda file: [
            shutil.which("mlir-translate-19"), "--mlir-to-llvmir", file.with_suffix(".llvm.mlir"),
            "-o", file.with_suffix(".ll")],
        "llc-19 -O2": lambda file: [
            shutil.which("llc-19"), "-O2", "-filetype=obj", file.with_suffix(".ll"), "-o",
            file.with_suffix(".o")]}
    files = [loop_module(folder / f"{name}.mlir", functions, name == "measured")
             for name in ("bare", "measured")]
    ratios = {name: [] for name in (*stages, "in all")}
    for _ in range(rounds):
        seconds = [{}, {}]
        for name, stage in stages.items():
            for file, spent in zip(files, seconds, strict=True):
                usage = spend(stage(file))[1]
                spent[name] = usage.ru_utime + usage.ru_stime
        for spent in seconds:
            spent["in all"] = sum(spent.values())
        for name, found in ratios.items():
            found.append(seconds[1][name] / seconds[0][name])
    if files[0].with_suffix(".o").read_bytes() != files[1].with_suffix(".o").read_bytes():
        raise SystemExit("the object files differ")
    print(f"{functions} functions, measured over bare: median of {rounds} rounds, least, most; "
          "equal object files")
    for name, found in ratios.items():
        print(f"  {name:44s}{statistics.median(found):7.3f}{min(found):7.3f}{max(found):7.3f}")


def main():
    operations = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    library = next(WHEELS.glob(LIBRARY), None)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if library is not None:
            module = torch_module(folder / "torch.mlir", operations)
            size = module.stat().st_size / 1e6
            compare(f"{operations} operations of torch, {size:.0f} MB of text", rounds, {
                "torch-mlir-opt: parse, print": [WHEELS / "bin/torch-mlir-opt",
                                                 "--mlir-print-debuginfo", module],
                "varve, library engine": [TEXT, "--converters", BUILD / "mlir", "--engine",
                                          "library", "--library", library, module],
                "varve, text engine": [TEXT, module]})
        llvm = shutil.which("mlir-opt-19")
        if llvm is None or not (BUILD / "mlir/varve-mlir-llvm").exists():
            return
        if library is not None:
            module = torch_module(folder / "torch.mlir", operations, is_generic=True)
            compare("the same in generic form", rounds, {
                "mlir-opt-19: parse, print": [llvm, "--allow-unregistered-dialect",
                                              "--mlir-print-debuginfo", module],
                "varve, LLVM 19": [TEXT, "--converters", BUILD / "mlir", "--engine", "llvm",
                                   module]})
        compare_compilers(folder, 2000, 3 * rounds)


if __name__ == "__main__":
    main()

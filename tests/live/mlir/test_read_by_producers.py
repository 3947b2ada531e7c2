# SPDX-License-Identifier: Apache-2.0
"""Modules that `varve annotate` has written, read by the producer's own tool: the annotations that
come out of it are those that went in. IREE makes the same code of an annotated module as of the
bare one, and its program carries the annotations."""
import collections
import json
import pathlib
import subprocess
import sys

import pytest

from environments import HERE, python_of, run_in

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from table_reader import tables  # noqa: E402

FORMS = ("raw", "torch", "linalg", "stablehlo", "tosa")
IREE = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host", "--mlir-print-debuginfo")


@pytest.fixture(name="annotate")
def fixture_annotate(varve, tmp_path):
    """annotate(MODULE, TRACE): the annotated module's path."""
    def annotate(module, trace, *options):
        run_in(tmp_path, varve, "annotate", module, trace, "-o", tmp_path / "annotated.mlir",
               "--quiet", *options)
        return tmp_path / "annotated.mlir"
    return annotate


def annotations(varve, module):
    """How often each annotation stands in the module: by name, executions and total."""
    rows = tables(varve, "annotate", "--read", module)["annotations"]
    return collections.Counter((row["source"], row["count"], row["total_ns"]) for row in rows
                               if row["operation"] != "total")


def tool(name):
    return python_of("mlir").with_name(name)


def check(varve, annotated, again):
    written = annotations(varve, annotated)
    assert sum(written.values()) > 20 and annotations(varve, again) == written


@pytest.mark.parametrize("form", FORMS)
def test_torch_mlir(varve, produce, annotate, tmp_path, form):
    folder = produce("mlir", "mlir/torch_modules.py", "gpt", "small")
    annotated = annotate(folder / f"{form}.named.mlir", folder / "profile.json")
    run_in(tmp_path, tool("torch-mlir-opt"), "--mlir-print-debuginfo", annotated, "-o",
           tmp_path / "again.mlir")
    check(varve, annotated, tmp_path / "again.mlir")


def test_torch_mlir_of_onnx(varve, produce, annotate, tmp_path):
    folder = produce("onnxruntime", "mlir/onnx_model.py", "small")
    module = produce("mlir", "mlir/onnx_modules.py", folder / "model.onnx") / "onnx.mlir"
    annotated = annotate(module, folder / "off.json")
    run_in(tmp_path, tool("torch-mlir-opt"), "--mlir-print-debuginfo", annotated, "-o",
           tmp_path / "again.mlir")
    check(varve, annotated, tmp_path / "again.mlir")


@pytest.mark.parametrize("kind", ["scoped", "scan", "grad"])
def test_jax(varve, produce, annotate, tmp_path, kind):
    folder = produce("jax", "mlir/jax_modules.py", kind, "small")
    annotated = annotate(folder / "tagged.mlir", folder / "tagged.xplane.pb")
    run_in(tmp_path, python_of("jax"), HERE / "programs/mlir/jax_read.py", tmp_path, annotated)
    check(varve, annotated, tmp_path / "again.mlir")


@pytest.mark.parametrize("form, options", [
    ("standard", ()), ("executor", ()), ("standard", ("--attr", "profiler_data", "--fields",
                                                      "ts,dur"))])
def test_tensorflow(varve, produce, annotate, tmp_path, form, options):
    folder = produce("tensorflow", "mlir/tf_modules.py", "gpt", "small")
    annotated = annotate(folder / f"{form}.mlir", folder / "level3.xplane.pb", *options)
    run_in(tmp_path, python_of("tensorflow"), HERE / "programs/mlir/tf_read.py", tmp_path,
           annotated)
    if options:
        texts = [path.read_text().count("profiler_data = {dur = ")
                 for path in (annotated, tmp_path / "again.mlir")]
        assert texts[0] == texts[1] > 20
    else:
        check(varve, annotated, tmp_path / "again.mlir")


def code_of(folder, module, name):
    """IREE's program of the module, and its instructions and constants."""
    program, code = folder / f"{name}.vmfb", folder / name
    run_in(folder, tool("iree-compile"), module, *IREE, "-o", program,
           f"--iree-hal-dump-executable-binaries-to={code}",
           "--iree-scheduling-dump-statistics-format=json",
           f"--iree-scheduling-dump-statistics-file={folder}/{name}.json")
    library, = code.iterdir()
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "-j", ".rodata", library,
                    folder / f"{name}.code"], check=True)
    return program, (folder / f"{name}.code").read_bytes()


@pytest.mark.parametrize("form", ["raw", "linalg"])
def test_iree_makes_the_same_code(varve, produce, annotate, tmp_path, form):
    folder = produce("mlir", "mlir/torch_modules.py", "resnet", "small")
    module = folder / f"{form}.named.mlir"
    annotated = annotate(module, folder / "profile.json")
    _, bare_code = code_of(tmp_path, module, "bare")
    program, code = code_of(tmp_path, annotated, "with")
    assert len(code) > 10000 and code == bare_code
    written, carried = annotations(varve, annotated), annotations(varve, program)
    extra = {entry[1:] for entry in carried} - {entry[1:] for entry in written}
    assert len(carried) > 10 and not extra, (carried, written)


def test_iree_makes_the_same_program_of_a_large_module(varve, produce, annotate, tmp_path):
    """A transformer of 12 layers and 91 MB: as many executables and dispatches, and the same file
    of machine code."""
    folder = produce("mlir", "mlir/torch_modules.py", "gpt", "large", "linalg")
    module = folder / "linalg.named.mlir"
    annotated = annotate(module, folder / "profile.json")
    programs = [code_of(tmp_path, path, name)[0]
                for path, name in ((module, "bare"), (annotated, "with"))]
    bare, marked = [next((tmp_path / name).iterdir()).read_bytes() for name in ("bare", "with")]
    assert len(bare) > 40_000 and marked == bare
    counts = [json.loads((tmp_path / f"{name}.json").read_text())["stream-aggregate"]
              for name in ("bare", "with")]
    assert counts[0] == counts[1]
    assert counts[0]["execution"]["dispatch-count"] == 208
    assert counts[0]["executable"]["executable-count"] == 16
    written, carried = annotations(varve, annotated), annotations(varve, programs[1])
    assert len(carried) > 30 and not (
        {entry[1:] for entry in carried} - {entry[1:] for entry in written})

# SPDX-License-Identifier: Apache-2.0
"""varve annotate and IREE's compiler: what was written into a module of PyTorch's is read back from
every phase, from the LLVM dialect and from the deployed program, as it was written."""
import json
import subprocess

import pytest

from environments import python_of, run_in

FLAGS = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=generic")
VALUES = ("count", "total_ns", "self_ns", "mean_ns", "min_ns", "max_ns", "p50_ns", "p95_ns",
          "first_ns", "members", "match")


def read_back(varve, path):
    """{group: values} of the annotations that have a time, and the sum that is printed."""
    done = run_in(path.parent, varve, "annotate", "--read", "--json", path)
    table = json.loads(done.stdout)["tables"]["annotations"]
    names = [column["name"] for column in table["columns"]]
    rows = [row if isinstance(row, dict) else dict(zip(names, row)) for row in table["rows"]]
    timed = [row for row in rows[:-1] if row["total_ns"] is not None]
    found = {row["group"]: tuple(row[name] for name in VALUES) for row in timed}
    assert all(found[row["group"]] == tuple(row[name] for name in VALUES) for row in timed)
    assert sum(values[1] for values in found.values()) == rows[-1]["total_ns"]
    return found


@pytest.fixture(scope="module", name="annotated")
def fixture_annotated(produce, varve, tmp_path_factory):
    made, folder = (produce("mlir", "mlir/torch_modules.py", "gpt", "small"),
                    tmp_path_factory.mktemp("annotated"))
    run_in(made, varve, "annotate", "raw.named.mlir", "profile.json", "-o",
           folder / "annotated.mlir")
    return folder / "annotated.mlir"


@pytest.mark.parametrize("phase", ["input", "flow", "stream", "executable-targets", "hal", "vm",
                                   "end"])
def test_what_is_read_from_a_phase_is_what_was_written(annotated, varve, phase):
    written = read_back(varve, annotated)
    output = annotated.parent / (f"{phase}.mlir" if phase != "end" else "net.vmfb")
    run_in(annotated.parent, python_of("mlir").parent / "iree-compile", annotated, *FLAGS,
           f"--compile-to={phase}", "--mlir-print-debuginfo", "-o", output)
    read = read_back(varve, output)
    assert read and read.items() <= written.items()
    # some are compiled away, or into others: at the end about half of them are left
    assert len(read) >= len(written) * 0.4


def test_the_producers_tools_read_what_was_written(annotated):
    for tool in ("torch-mlir-opt", "iree-opt"):
        done = subprocess.run([python_of("mlir").parent / tool, annotated, "-o", "/dev/null"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]

# SPDX-License-Identifier: Apache-2.0
"""mlir_shares.py: how much of a profile's time varve annotate finds, on programs made anew.

    python3 bench/mlir_shares.py [small|large]

Each producer's program (tests/live/programs/mlir) runs in its environment, build/venv-NAME, and
leaves modules and profiles. Prints a table in Markdown: the share of the recorded time that is
found in the module, and what of it is found as one operation. "large" takes many minutes."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "tests/live/programs/mlir"
VARVE = ROOT / "build/varve"
TORCH = [("profile.json", f"{form}.mlir") for form in ("raw", "torch", "linalg", "stablehlo",
                                                       "tosa")]
TENSORFLOW = [("level3.xplane.pb", f"{form}.mlir")
              for form in ("executor", "standard", "frozen", "saved_model")]
TENSORFLOW += [("jit.xplane.pb", "standard.mlir"), ("jit.xplane.pb", "stablehlo.mlir")]
JAX = [("plain.xplane.pb", "plain.mlir"), ("tagged.xplane.pb", "tagged.mlir")]
IREE = [("task.ireeprof", "flow.mlir"), ("sync.ireeprof", "flow.mlir")]
MODELS = [*(("PyTorch", "mlir", "torch_modules.py", net, TORCH) for net in ("gpt", "resnet")),
          *(("JAX", "jax", "jax_modules.py", kind, JAX)
            for kind in ("plain", "scoped", "scan", "grad")),
          *(("TensorFlow", "tensorflow", "tf_modules.py", net, TENSORFLOW)
            for net in ("gpt", "resnet")),
          *(("IREE", "mlir", "iree_profile.py", net, IREE) for net in ("gpt", "resnet"))]


def run(environment, program, *arguments):
    subprocess.run([ROOT / f"build/venv-{environment}/bin/python", PROGRAMS / program,
                    *map(str, arguments)], cwd=arguments[0], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)


def share(module, trace):
    """Percent of the time that is found, and that is found as one operation."""
    done = subprocess.run([VARVE, "annotate", module, trace, "--json"], capture_output=True,
                          text=True, check=True)
    table = json.loads(done.stdout)["tables"]["coverage"]
    row = dict(zip((column["name"] for column in table["columns"]), table["rows"][0]))
    return 100 * row["matched_share"], 100 * (row["matched_share"] - row["ambiguous_share"])


def line(producer, net, trace, module):
    found, one = share(module, trace)
    print(f"| {producer} | {net} | `varve annotate {module.name} {trace.name}` | {found:.1f} | "
          f"{one:.1f} |", flush=True)


def onnx(folder, size):
    run("onnxruntime", "onnx_model.py", folder, size)
    modules = folder / "modules"
    modules.mkdir()
    run("mlir", "onnx_modules.py", modules, folder / "model.onnx")
    for trace in ("off.json", "on.json"):
        line("ONNX Runtime", "gpt", folder / trace, modules / "onnx.mlir")


def main():
    size = sys.argv[1] if len(sys.argv) > 1 else "small"
    print("| producer | net | command | found, % | as one operation, % |\n"
          "| --- | --- | --- | --- | --- |")
    for producer, environment, program, net, pairs in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run(environment, program, folder, net, size)
            for trace, module in pairs:
                line(producer, net, folder / trace, folder / module)
    with tempfile.TemporaryDirectory() as folder:
        onnx(pathlib.Path(folder), size)


if __name__ == "__main__":
    main()

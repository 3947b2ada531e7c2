# SPDX-License-Identifier: Apache-2.0
"""torch_modules.py — a PyTorch net as MLIR in torch-mlir's forms, and its profile.

    torch_modules.py FOLDER gpt|resnet small|large [FORM…]

FORM.mlir, FORM.generic.mlir; FORM.named.mlir has the names of varve.mlir's hook; profile.json is of
torch.profiler, numbers.json has the names of the program's nodes. The exported program is not
decomposed: one operation of the form "raw" for each that the profiler sees. A large net is text
alone, 183 MB of it.
"""
import json
import pathlib
import sys

import torch
from torch_mlir import fx
from torch.profiler import ProfilerActivity

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "python"))

import varve.mlir  # noqa: E402
from torch_nets import net_of  # noqa: E402

STEPS = 3
TEXT_ALONE = 100_000_000  # bytes
FORMS = {"raw": "raw", "torch": "torch", "linalg": "linalg-on-tensors", "stablehlo": "stablehlo",
         "tosa": "tosa"}


def module_of(program, form):
    return fx.export_and_import(program, output_type=FORMS[form], decomposition_table={}).operation


def write_module(folder, stem, module):
    (folder / f"{stem}.mlir").write_text(module.get_asm(enable_debug_info=True))
    if (folder / f"{stem}.mlir").stat().st_size > TEXT_ALONE:
        return
    (folder / f"{stem}.generic.mlir").write_text(
        module.get_asm(enable_debug_info=True, print_generic_op_form=True))
    with open(folder / f"{stem}.mlirbc", "wb") as out:
        module.write_bytecode(out)


def write_modules(folder, net, data, forms):
    """Returns the names of the program's nodes, and in which forms the hook changed more than
    locations."""
    program = torch.export.export(net, (data,))
    changed = []
    for form in forms:
        plain = module_of(program, form)
        with varve.mlir.torch_names():
            named = module_of(program, form)
        write_module(folder, form, plain)
        write_module(folder, f"{form}.named", named)
        if plain.get_asm() != named.get_asm():
            changed.append(form)
    nodes = [varve.mlir.torch_path(node) for node in program.graph.nodes
             if node.op == "call_function"]
    return {"nodes": nodes, "changed": changed}


def profile(folder, net, data):
    with torch.no_grad():
        net(data)
        with torch.profiler.profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                                    with_stack=True) as prof:
            for step in range(STEPS):
                with torch.profiler.record_function(f"ProfilerStep#{step}"):
                    net(data)
    prof.export_chrome_trace(str(folder / "profile.json"))


def main():
    folder, name, size = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    torch.set_num_threads(1)
    net, data = net_of(name, size)
    profile(folder, net, data)
    (folder / "numbers.json").write_text(json.dumps(
        write_modules(folder, net, data, sys.argv[4:] or FORMS)))


if __name__ == "__main__":
    main()

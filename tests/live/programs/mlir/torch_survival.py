# SPDX-License-Identifier: Apache-2.0
"""torch_survival.py — which marks on operations torch-mlir's own passes keep, form by form.

    torch_survival.py FOLDER gpt|resnet small|large [MODEL.onnx]

numbers.json: what is left in each form of a program from PyTorch, or from ONNX. FORM.mlir are the
lowered modules, marks and all; source.mlir is the marked one.
"""
import json
import pathlib
import sys

import onnx
import torch
from torch_mlir import fx, ir
from torch_mlir.compiler_utils import (BackendLoweringOptions, OutputType, lower_mlir_module,
                                       run_pipeline_with_repro_report)
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras import onnx_importer

import marks
from torch_nets import net_of

LINALG = OutputType.LINALG_ON_TENSORS
FORMS = {"pytorch": {"torch": OutputType.TORCH, "linalg": LINALG,
                     "stablehlo": OutputType.STABLEHLO, "tosa": OutputType.TOSA},
         "onnx": {"torch": OutputType.TORCH, "linalg": LINALG}}
TO_TORCH = {"pytorch": "builtin.module(torchdynamo-export-to-torch-backend-pipeline)",
            "onnx": "builtin.module(func.func(convert-torch-onnx-to-torch),"
                    "torch-lower-to-backend-contract{max-iterations=10 decompose=true},"
                    "func.func(cse,canonicalize))"}


def from_pytorch(name, size):
    net, data = net_of(name, size)
    return fx.export_and_import(torch.export.export(net, (data,)), output_type="raw",
                                decomposition_table={})


def from_onnx(path):
    context = ir.Context()
    torch_dialect.register_dialect(context)
    info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(onnx.load(path),
                                                                     data_prop=True))
    module = info.create_module(context=context)
    onnx_importer.NodeImporter.define_function(info.main_graph, module.operation).import_all()
    return ir.Module.parse(module.operation.get_asm(enable_debug_info=True), context)


def write(folder, form, module):
    (folder / f"{form}.mlir").write_text(module.operation.get_asm(enable_debug_info=True))


def main():
    folder, name, size, *model = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    source = "onnx" if model else "pytorch"
    numbers = {}
    for form, output in FORMS[source].items():
        module = from_onnx(model[0]) if model else from_pytorch(name, size)
        numbers["source"] = marks.mark(module.operation, ir)
        write(folder, "source", module)
        run_pipeline_with_repro_report(module, TO_TORCH[source], "to the torch backend form")
        if form != "torch":
            module = lower_mlir_module(False, output, module, BackendLoweringOptions())
        write(folder, form, module)
        numbers[form] = marks.count(module.operation)
    (folder / "numbers.json").write_text(json.dumps(numbers))


if __name__ == "__main__":
    main()

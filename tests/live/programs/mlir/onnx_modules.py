# SPDX-License-Identifier: Apache-2.0
"""onnx_modules.py — an ONNX model as MLIR with locations, by torch-mlir's importer.

    onnx_modules.py FOLDER MODEL.onnx       onnx.mlir, onnx.generic.mlir, onnx.mlirbc

The program torch-mlir-import-onnx does the same without locations.
"""
import pathlib
import sys

import onnx
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras import onnx_importer
from torch_mlir.ir import Context


def main():
    folder, model = pathlib.Path(sys.argv[1]), onnx.load(sys.argv[2])
    context = Context()
    torch_dialect.register_dialect(context)
    info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))
    module = info.create_module(context=context)
    importer = onnx_importer.NodeImporter.define_function(info.main_graph, module.operation)
    importer.import_all()
    (folder / "onnx.mlir").write_text(module.operation.get_asm(enable_debug_info=True))
    (folder / "onnx.generic.mlir").write_text(
        module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True))
    with open(folder / "onnx.mlirbc", "wb") as out:
        module.operation.write_bytecode(out)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""jax_read.py — JAX's own MLIR reads a module and prints it again.

    jax_read.py FOLDER MODULE       again.mlir
"""
import pathlib
import sys

from jax._src.interpreters import mlir
from jaxlib.mlir import ir


def main():
    with mlir.make_ir_context():
        module = ir.Module.parse(pathlib.Path(sys.argv[2]).read_text())
        module.operation.verify()
        pathlib.Path(sys.argv[1], "again.mlir").write_text(
            module.operation.get_asm(enable_debug_info=True))


if __name__ == "__main__":
    main()

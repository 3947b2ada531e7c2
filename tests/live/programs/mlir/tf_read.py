# SPDX-License-Identifier: Apache-2.0
"""tf_read.py — TensorFlow's own MLIR reads a module and prints it again.

    tf_read.py FOLDER MODULE        again.mlir
"""
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402  pylint: disable=wrong-import-position


def main():
    text = pathlib.Path(sys.argv[2]).read_text()
    pathlib.Path(sys.argv[1], "again.mlir").write_text(
        tf.mlir.experimental.run_pass_pipeline(text, "", show_debug_info=True))


if __name__ == "__main__":
    main()

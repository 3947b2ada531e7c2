# SPDX-License-Identifier: Apache-2.0
"""tf_survival.py — which marks TensorFlow's own passes keep.

    tf_survival.py FOLDER       numbers.json; source.mlir and lowered.mlir
"""
import json
import os
import pathlib
import re
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402  pylint: disable=wrong-import-position

from tf_modules import net_of  # noqa: E402  pylint: disable=wrong-import-position

OPERATION = re.compile(r'^( +%\S+ = "tf\.\w+"\(.*\{)(device = .*) loc\((#\w+)\)$', re.MULTILINE)
PASSES = "canonicalize,cse,tf-standard-pipeline,func.func(tf-optimize)"


def marked(text):
    """The text with varve.mark = N as an attribute, as metadata and as a name on each operation;
    and how many these are."""
    aliases = []

    def mark(match):
        head, rest, old = match.groups()
        number = f"varve.mark = {len(aliases)} : i64"
        aliases.append(f'#mark{len(aliases)} = loc(fused<{{{number}}}>'
                       f'["varve mark {len(aliases)}"({old})])\n')
        return f"{head}{number}, {rest} loc(#mark{len(aliases) - 1})"
    text = OPERATION.sub(mark, text)
    return text + "".join(aliases), len(aliases)


def main():
    folder = pathlib.Path(sys.argv[1])
    net, data = net_of("gpt", "small")
    concrete = tf.function(net.__call__).get_concrete_function(data)
    mlir = tf.mlir.experimental
    source, count = marked(mlir.convert_function(concrete, "tf-standard-pipeline",
                                                 show_debug_info=True))
    (folder / "source.mlir").write_text(source)
    lowered = mlir.run_pass_pipeline(source, PASSES, show_debug_info=True)
    (folder / "lowered.mlir").write_text(lowered)
    operations = re.findall(r'^ +%\S+ = "tf\..*', lowered, re.MULTILINE)
    attributes = {number for line in operations
                  for number in re.findall(r"varve\.mark = (\d+)", line.rpartition(" loc(")[0])}
    numbers = {"source": count, "operations": len(operations), "attributes": len(attributes),
               "metadata": len(set(re.findall(r"fused<\{varve\.mark = (\d+)", lowered))),
               "names": len(set(re.findall(r'"varve mark (\d+)"', lowered)))}
    (folder / "numbers.json").write_text(json.dumps(numbers))


if __name__ == "__main__":
    main()

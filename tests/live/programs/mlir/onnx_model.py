# SPDX-License-Identifier: Apache-2.0
"""onnx_model.py — a transformer as ONNX, and ONNX Runtime's profile of it.

    onnx_model.py FOLDER small|large

model.onnx; off.json and on.json are the profiles without and with ONNX Runtime's graph
optimizations. numbers.json: for each node of the optimized graph the nodes of the model that it
does the work of.
"""
import json
import pathlib
import shutil
import sys

import numpy
import onnxruntime
from onnx import TensorProto, helper, load, numpy_helper, save

RUNS = 3
SIZES = {"small": (2, 64, 2, 100, 16), "large": (12, 384, 6, 2000, 64)}
LEVELS = {"off": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
          "on": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}


class Graph:
    def __init__(self):
        self.nodes, self.weights = [], []
        self.random = numpy.random.default_rng(1)

    def value(self, name, array):
        if all(weight.name != name for weight in self.weights):
            self.weights.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, name, *shape):
        return self.value(name, (self.random.standard_normal(shape) * 0.05).astype(numpy.float32))

    def add(self, kind, path, *inputs, outputs=1, **attributes):
        """A node called /PATH/KIND, with the name of each output made of that."""
        name = f"/{path}"
        names = [f"{name}_output_{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=name, **attributes))
        return names[0] if outputs == 1 else names

    def dense(self, path, x, into, out):
        product = self.add("MatMul", f"{path}/MatMul", x, self.weight(f"{path}.weight", into, out))
        return self.add("Add", f"{path}/Add", product, self.weight(f"{path}.bias", out))

    def norm(self, path, x, width):
        ones = self.value(f"{path}.scale", numpy.ones(width, numpy.float32))
        zeros = self.value(f"{path}.shift", numpy.zeros(width, numpy.float32))
        return self.add("LayerNormalization", f"{path}/LayerNormalization", x, ones, zeros, axis=-1)

    def gelu(self, path, x):
        def number(value):
            return self.value(f"number {value:.3f}", numpy.array(value, numpy.float32))
        inner = self.add("Erf", f"{path}/Erf",
                         self.add("Div", f"{path}/Div", x, number(2 ** 0.5)))
        outer = self.add("Mul", f"{path}/Mul", x,
                         self.add("Add", f"{path}/Add", inner, number(1)))
        return self.add("Mul", f"{path}/Mul_1", outer, number(0.5))

    def shape(self, *sizes):
        return self.value("shape " + " ".join(map(str, sizes)), numpy.array(sizes, numpy.int64))

    def attention(self, path, x, width, heads, tokens):
        flat = self.dense(f"{path}/qkv", x, width, 3 * width)
        parts = self.add("Split", f"{path}/Split", flat, outputs=3, axis=-1, num_outputs=3)
        q, k, v = (self.add("Transpose", f"{path}/Transpose_{number}",
                            self.add("Reshape", f"{path}/Reshape_{number}", part,
                                     self.shape(tokens, heads, width // heads)),
                            perm=(1, 2, 0) if number == 1 else (1, 0, 2))
                   for number, part in enumerate(parts))
        scale = self.value("scale", numpy.array((width // heads) ** -0.5, numpy.float32))
        scores = self.add("Mul", f"{path}/Mul", self.add("MatMul", f"{path}/MatMul", q, k), scale)
        mixed = self.add("MatMul", f"{path}/MatMul_1",
                         self.add("Softmax", f"{path}/Softmax", scores, axis=-1), v)
        mixed = self.add("Reshape", f"{path}/Reshape_3",
                         self.add("Transpose", f"{path}/Transpose_3", mixed, perm=(1, 0, 2)),
                         self.shape(tokens, width))
        return self.dense(f"{path}/out", mixed, width, width)


def model_of(layers, width, heads, words, tokens):
    graph = Graph()
    x = graph.add("Add", "Add", graph.add("Gather", "embed/Gather",
                                          graph.weight("embed", words, width), "words"),
                  graph.weight("place", tokens, width))
    for number in range(layers):
        path = f"blocks.{number}"
        mixed = graph.attention(f"{path}/attn", graph.norm(f"{path}/ln1", x, width), width, heads,
                                tokens)
        x = graph.add("Add", f"{path}/Add", x, mixed)
        hidden = graph.dense(f"{path}/fc1", graph.norm(f"{path}/ln2", x, width), width, 4 * width)
        hidden = graph.dense(f"{path}/fc2", graph.gelu(f"{path}/gelu", hidden), 4 * width, width)
        x = graph.add("Add", f"{path}/Add_1", x, hidden)
    scores = graph.add("MatMul", "head/MatMul", graph.norm("norm", x, width),
                       graph.weight("head.weight", width, words))
    made = helper.make_graph(graph.nodes, "main",
                             [helper.make_tensor_value_info("words", TensorProto.INT64, [tokens])],
                             [helper.make_tensor_value_info(scores, TensorProto.FLOAT,
                                                            [tokens, words])], graph.weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def profile(folder, name, model, words):
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / name)
    options.intra_op_num_threads = 1
    options.graph_optimization_level = LEVELS[name]
    options.optimized_model_filepath = str(folder / f"{name}.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    for _ in range(RUNS):
        session.run(None, {"words": words})
    shutil.move(session.end_profiling(), folder / f"{name}.json")


def parts_of(model, optimized):
    """{optimized node: nodes of the model between its inputs and its outputs}."""
    maker = {output: node for node in model.graph.node for output in node.output}
    parts = {}
    for node in optimized.graph.node:
        open_, found = list(node.output), set()
        while open_:
            made = maker.get(open_.pop())
            if made is not None and made.name not in found:
                found.add(made.name)
                open_ += [name for name in made.input if name not in node.input]
        parts[node.name] = sorted(found)
    return parts


def main():
    folder, size = pathlib.Path(sys.argv[1]), sys.argv[2]
    layers, width, heads, words, tokens = SIZES[size]
    model = model_of(layers, width, heads, words, tokens)
    save(model, folder / "model.onnx")
    for name in LEVELS:
        profile(folder, name, model, numpy.arange(tokens) % words)
    (folder / "numbers.json").write_text(json.dumps(
        {name: parts_of(model, load(folder / f"{name}.onnx")) for name in LEVELS}))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""ort_model.py — ONNX Runtime runs a small network under its profiler.

    ort_model.py FOLDER     profile.json and numbers.json: nodes, runs and threads of the session
"""
import json
import pathlib
import shutil
import sys

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RUNS = 5


def network():
    random = numpy.random.default_rng(1)
    weights = [numpy_helper.from_array(random.standard_normal(shape).astype(numpy.float32), name)
               for name, shape in (("w1", (64, 128)), ("b1", (128,)), ("w2", (128, 10)))]
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["h1"], name="first"),
             helper.make_node("Add", ["h1", "b1"], ["h2"], name="bias"),
             helper.make_node("Tanh", ["h2"], ["h3"], name="activation"),
             helper.make_node("MatMul", ["h3", "w2"], ["h4"], name="second"),
             helper.make_node("Softmax", ["h4"], ["y"], name="softmax", axis=1),
             helper.make_node("ArgMax", ["y"], ["best"], name="best", axis=1, keepdims=0)]
    graph = helper.make_graph(nodes, "network",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 64])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10]),
                               helper.make_tensor_value_info("best", TensorProto.INT64, ["n"])],
                               weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    folder = pathlib.Path(sys.argv[1])
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "session")
    options.intra_op_num_threads = 2
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(network().SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    batches = [4, 4, 4, 32, 4][:RUNS]
    for batch in batches:
        session.run(None, {"x": numpy.ones((batch, 64), numpy.float32)})
    start_ns = session.get_profiling_start_time_ns()
    shutil.move(session.end_profiling(), folder / "profile.json")
    (folder / "numbers.json").write_text(json.dumps({
        "version": onnxruntime.__version__, "batches": batches, "start_ns": start_ns,
        "nodes": [["first", "MatMul"], ["bias", "Add"], ["activation", "Tanh"],
                  ["second", "MatMul"], ["softmax", "Softmax"], ["best", "ArgMax"]]}))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Real traces, joined with small modules that have some of their operations, as their producers
would print them. The traces lie beside the checkout (../shared/traces/README.md)."""
import json
import subprocess

import pytest


@pytest.fixture(name="join")
def join_of(build, tmp_path):
    """join(TRACE, TEXT of a module, OPTION…): the sums, and the records by what they are called."""
    def run(trace, text, *options):
        module = tmp_path / "net.mlir"
        module.write_text(text)
        printed = subprocess.run([build / "tests/tools/mlir_match", *options, trace, module],
                                 stdout=subprocess.PIPE, check=True).stdout
        sums, *records = map(json.loads, printed.splitlines())
        assert sums["self_ns"] == sum(record["self_ns"] for record in records)
        assert sums["matched_ns"] == sum(r["self_ns"] for r in records if "level" in r)
        return sums, records
    return run


def called(records, name):
    return [record for record in records
            if name in (record.get("name"), record.get("op_name"), record.get("type"))]


XLA = """
func.func public @main(%arg0: t) -> t {
  %0 = stablehlo.convolution(%arg0, %arg0) : (t, t) -> t loc(#conv)
  %1 = stablehlo.add %0, %0 : t loc("jit(forward_3d_conv)/add")
  return %1 : t
}
#conv = loc("jit(forward_3d_conv)/conv_general_dilated"("a.py":23:1))
"""


def test_instructions_of_xla_are_named_by_their_program(traces, join):
    """The convolution is a library call and fusions around it; copies of data have no name."""
    sums, records = join(traces / "xplane/jax_mi300_conv.xplane.pb", XLA)
    assert sums["producer"] == "XLA" and sums["is_device"]
    assert sums["self_ns"] == 28137077
    assert sums["matched_ns"] == 14344140 + 12531616
    found = called(records, "jit(forward_3d_conv)/conv_general_dilated")
    assert {record["primary"]["type"] for record in found} == {"stablehlo.convolution"}
    assert {record["level"] for record in found} == {"name"}
    assert len({record["group"] for record in found}) == 1


ONNX = """
%0 = torch.operator "onnx.MatMul"(%a, %b) : (t, t) -> t loc("layer0/fc1/matmul")
%1 = torch.operator "onnx.Add"(%0, %b) : (t, t) -> t loc("layer0/fc1/add")
%2 = torch.operator "onnx.Erf"(%1) : (t) -> t loc("layer0/gelu/erf")
%3 = torch.operator "onnx.MatMul"(%2, %b) : (t, t) -> t loc("layer0/fc2/matmul")
%4 = torch.operator "onnx.Relu"(%3) : (t) -> t loc("layer0/res1")
"""


def test_nodes_of_onnx_runtime(traces, join):
    """By name and type; a fused node by its first one's path; another type is no plain match."""
    sums, records = join(traces / "onnxruntime/ort_sequential.json.gz", ONNX)
    assert (sums["producer"], sums["steps"]) == ("ONNX Runtime", 12)
    assert sums["self_ns"] == 241843000
    wanted = {"layer0/fc1/matmul": ("name", 16204000, False),
              "layer0/fc1/add": ("name", 1691000, False),
              "layer0/gelu/erf": ("name", 2636000, False),
              "layer0/fc2/matmul/MatMulScaleFusion": ("fused name", 12931000, False),
              "layer0/res1": ("name", 175000, True)}
    found = {record["name"]: (record["level"], record["self_ns"], record["is_ambiguous"])
             for record in records if "level" in record}
    assert found == wanted
    assert sums["ambiguous_ns"] == 175000
    assert all(record["count"] == 12 for record in records)


EAGER = """
%0 = "tf.MatMul"(%a, %b) : (t, t) -> t loc("x")
%1 = "tf.AddV2"(%0, %b) : (t, t) -> t loc("y")
%2 = "tf.Relu"(%1) : (t) -> t loc("z")
%3 = "tf.Sum"(%2, %b) : (t, t) -> t loc("w")
%4 = "tf.Sum"(%3, %b) : (t, t) -> t loc("v")
"""


def test_eager_operators_of_tensorflow_have_types_alone(traces, join):
    """So they come in order, and only where both sides have as many: not the sums."""
    sums, records = join(traces / "mlirgraph/profiler_ops.pb", EAGER)
    assert (sums["producer"], sums["self_ns"], sums["unnamed_ns"]) == ("TensorFlow", 19665000,
                                                                      247000)
    found = {record["type"]: (record["level"], record["primary"]["op"], record["self_ns"])
             for record in records if "level" in record}
    assert found == {"MatMul": ("order", 0, 7139000), "AddV2": ("order", 1, 6849000),
                     "Relu": ("order", 2, 1922000)}


TORCH = """
%0 = torch.aten.max_pool2d %x : t loc(callsite(#functional at #resnet))
%1 = torch.aten.adaptive_avg_pool2d %0 : t loc("x/torchvision/models/resnet.py":242:0)
%2 = torch.aten.relu %0 : t loc("x/other/resnet.py":232:0)
#resnet = loc("x/torchvision/models/resnet.py":235:0)
#functional = loc("x/torch/nn/functional.py":718:0)
"""


def test_kernels_of_a_gpu_belong_to_operators(traces, join):
    """The time is that of the device, over the six steps; the call stack finds the operator."""
    sums, records = join(traces / "kineto/resnet50_workers0.json.gz", TORCH)
    assert (sums["producer"], sums["is_device"], sums["steps"]) == ("PyTorch", True, 6)
    found = {record["type"]: (record["level"], record["primary"]["op"], record["count"],
                              record["total_ns"])
             for record in records if "level" in record and not record["is_ambiguous"]}
    assert found == {"aten::max_pool2d": ("call stack", 0, 6, 1420000),
                     "aten::adaptive_avg_pool2d": ("call stack", 1, 6, 212000)}
    whole = join(traces / "kineto/resnet50_workers0.json.gz", TORCH, "--steps", "7..8")
    assert [pool["count"] for pool in called(whole[1], "aten::max_pool2d")] == [2]

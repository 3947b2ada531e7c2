# SPDX-License-Identifier: Apache-2.0
"""What the producers' own passes leave of marks on operations: as an attribute, as metadata of a
location, as a name. Why `varve annotate` writes locations."""
import json

import pytest

# Share of the marked operations, percent, that each form still names at least: of gpt, of resnet,
# of ONNX. Operations that passes merged or folded lose theirs.
KEPT = {"torch": (70, 65, 85), "linalg": (40, 20, 60), "stablehlo": (65, 45), "tosa": (40, 20)}


@pytest.fixture(scope="module", name="numbers", params=["gpt", "resnet", "onnx"])
def fixture_numbers(produce, request):
    if request.param == "onnx":
        model = produce("onnxruntime", "mlir/onnx_model.py", "small") / "model.onnx"
        folder = produce("mlir", "mlir/torch_survival.py", "gpt", "small", model)
    else:
        folder = produce("mlir", "mlir/torch_survival.py", request.param, "small")
    return request.param, json.loads((folder / "numbers.json").read_text())


def test_locations_outlive_attributes(numbers):
    source, counts = numbers
    place = ("gpt", "resnet", "onnx").index(source)
    for form, least in KEPT.items():
        if place < len(least):
            left, marked = counts[form], counts["source"]
            assert left["same"], form  # what lost its metadata lost its name, too
            assert 100 * left["names"] >= least[place] * marked, (form, left)
            assert left["attributes"] <= left["names"], form


def test_attributes_end_with_the_dialect(numbers):
    """They stay as long as the operation is of the dialect torch: not through a conversion."""
    source, counts = numbers
    assert (counts["torch"]["attributes"] > 0) == (source != "onnx")
    assert all(counts[form]["attributes"] == 0 for form in ("linalg", "stablehlo", "tosa")
               if form in counts)


def test_nine_in_ten_of_the_lowered_operations_say_where_they_come_from(numbers):
    _, counts = numbers
    for form in KEPT.keys() & counts.keys():
        assert counts[form]["located"] >= 0.88 * counts[form]["operations"], form


def test_tensorflow_keeps_all(produce):
    counts = json.loads((produce("tensorflow", "mlir/tf_survival.py")
                         / "numbers.json").read_text())
    assert counts["source"] > 100 and set(counts.values()) == {counts["source"]}


NAME, FRAME = {"op_name": "jit(<lambda>)/dot_general"}, {"stack_frame_id": "5"}
WHOLE = {**NAME, **FRAME}
JOINED = {"op_name": "jit(<lambda>)/dot_general;varve#7"}
XLA = {  # carrier: metadata, frontend attributes
    "none": (WHOLE, ""),
    "tag": ({"op_type": "varve#7", **WHOLE}, ""),
    "name with a suffix": ({**JOINED, **FRAME}, ""),
    "fused with a dictionary": (NAME, ""),
    "fused with a string": (NAME, ""),
    "fused with XLA's payload": (NAME, ""),
    "fused names": (JOINED, ""),
    "attribute varve.profile": (WHOLE, ""),
    "attribute mhlo.varve": (WHOLE, ""),
    "attribute mhlo.frontend_attributes": (WHOLE, 'varve="7"'),
}


def test_what_xla_keeps(produce):
    """A tag alone is kept with the name and the stack frame; metadata of a location costs the frame
    and is lost."""
    found = json.loads((produce("jax", "mlir/jax_survival.py") / "numbers.json").read_text())
    assert found == {carrier: {"metadata": metadata, "frontend_attributes": attributes}
                     for carrier, (metadata, attributes) in XLA.items()}


# How many marks IREE's phases keep at least, percent: of PyTorch's own dialect, its linalg form,
# JAX, ONNX.
SOURCES = {"raw": ("mlir", "mlir/torch_modules.py", "gpt", "small"),
           "linalg": ("mlir", "mlir/torch_modules.py", "gpt", "small"),
           "plain": ("jax", "mlir/jax_modules.py", "plain", "small"),
           "onnx": None}
PHASES = {"input": (40, 80, 60, 60), "global-optimization": (40, 60, 55, 60),
          "flow": (30, 30, 25, 50), "stream": (30, 30, 20, 50),
          "executable-targets": (30, 20, 20, 50), "hal": (25, 8, 10, 30), "vm": (25, 8, 10, 30)}


@pytest.fixture(scope="module", name="iree", params=SOURCES)
def fixture_iree(produce, request):
    if request.param == "onnx":
        model = produce("onnxruntime", "mlir/onnx_model.py", "small") / "model.onnx"
        folder = produce("mlir", "mlir/onnx_modules.py", model)
    else:
        folder = produce(*SOURCES[request.param])
    source = folder / f"{request.param}.generic.mlir"
    numbers = produce("mlir", "mlir/iree_survival.py", source) / "numbers.json"
    return request.param, json.loads(numbers.read_text())


def test_marks_in_iree_s_phases(iree):
    source, numbers = iree
    place = list(SOURCES).index(source)
    for kind in ("locations", "attributes"):
        for phase, least in PHASES.items():
            left = numbers[kind]["phases"][phase]
            assert left["metadata"] == left["names"], (kind, phase)
            assert 100 * left["names"] >= least[place] * numbers[kind]["marked"], (kind, phase)
            assert left["attributes"] <= left["names"], (kind, phase)
    attributes = {phase: left["attributes"]
                  for phase, left in numbers["attributes"]["phases"].items()}
    assert attributes["hal"] == attributes["vm"] == 0
    assert (attributes["input"] > 0) == (source in ("linalg", "plain"))


def test_locations_change_no_code(iree):
    _, numbers = iree
    bare, located = numbers["bare"], numbers["locations"]
    assert bare["code"] and located["code"] == bare["code"]
    assert (located["executables"], located["dispatches"]) == (bare["executables"],
                                                               bare["dispatches"])


def test_attributes_keep_layers_apart(iree):
    """Equal layers share an executable, until attributes make them unequal."""
    source, numbers = iree
    bare, marked = numbers["bare"], numbers["attributes"]
    assert marked["executables"] >= bare["executables"]
    if source in ("linalg", "plain"):
        assert marked["executables"] > bare["executables"]

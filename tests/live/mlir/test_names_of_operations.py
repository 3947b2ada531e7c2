# SPDX-License-Identifier: Apache-2.0
"""varve.mlir with torch-mlir and JAX: which names and tags it puts on operations, and that nothing
else changes."""
import json
import re

import pytest

NAMED = re.compile(r'loc\("([^"]*)"\(')
TAG = re.compile(r'loc\("varve#(\d+):"')
METADATA = re.compile(r', metadata=\{[^{}]*\}')
FORMS = ("raw", "torch", "linalg", "stablehlo", "tosa")


@pytest.fixture(scope="module", name="torch_folder", params=["gpt", "resnet"])
def fixture_torch_folder(produce, request):
    return produce("mlir", "mlir/torch_modules.py", request.param, "small")


@pytest.fixture(scope="module", name="jax_folder", params=["plain", "scoped", "scan", "grad"])
def fixture_jax_folder(produce, request):
    return produce("jax", "mlir/jax_modules.py", request.param, "small")


def test_torch_mlir_names_each_node(torch_folder):
    numbers = json.loads((torch_folder / "numbers.json").read_text())
    names = set(NAMED.findall((torch_folder / "raw.named.mlir").read_text()))
    missing = set(numbers["nodes"]) - names
    assert all("getitem" in name for name in missing), missing  # a part of a list is no operation
    assert len(names) > 30 and any(name.startswith(("blocks.1.fc2/", "layers.1.c2/"))
                                   for name in names)
    assert not NAMED.findall((torch_folder / "raw.mlir").read_text())


def test_names_change_nothing_but_locations_in_any_form(torch_folder):
    assert json.loads((torch_folder / "numbers.json").read_text())["changed"] == []


@pytest.mark.parametrize("form", FORMS)
def test_names_stay_in_each_form(torch_folder, form):
    """At least nine in ten of the operations of a lowered form know their node."""
    text = (torch_folder / f"{form}.named.mlir").read_text()
    nodes = json.loads((torch_folder / "numbers.json").read_text())["nodes"]
    names = set(NAMED.findall(text))
    assert names & set(nodes) and len(names) >= len(nodes) // 4


def test_jax_tags_each_operation_once(jax_folder):
    text = (jax_folder / "tagged.mlir").read_text()
    tags = TAG.findall(text)
    operations = re.findall(r'^ *(?:%[\w:, ]+ = )?"?((?:stablehlo|func|chlo)\.[\w.]+)', text,
                            re.MULTILINE)
    # A scatter's sum and its return have the scatter's tag.
    parts = 2 * len(re.findall(r'"stablehlo\.(?:scatter|sort|reduce)"\(', text))
    assert 0 <= len(tags) - len(set(tags)) <= parts
    assert len(set(tags)) >= len(operations) - parts > 100


def test_tags_are_the_types_of_instructions(jax_folder):
    tags = set(TAG.findall((jax_folder / "tagged.mlir").read_text()))
    found = re.findall(r'op_type="varve#(\d+)"', (jax_folder / "tagged.hlo").read_text())
    assert set(found) <= tags and len(set(found)) > 100


def code_of(path):
    """What XLA made of a module, without metadata, instructions numbered in their order. (The table
    of source lines before it differs: the program calls twice.)"""
    text = path.read_text()
    numbers = {}
    return re.sub(r"%[\w.-]+", lambda name: f"%{numbers.setdefault(name[0], len(numbers))}",
                  METADATA.sub("", text[text.index("\n\n%"):]))


def test_tags_change_nothing_but_metadata(jax_folder):
    assert code_of(jax_folder / "tagged.hlo") == code_of(jax_folder / "bare.hlo")

# SPDX-License-Identifier: Apache-2.0
"""varve.mlir where the framework is absent, or another release than it knows: an Error that says
what to do, and nothing is changed."""
import sys
import types

import pytest


@pytest.fixture(name="mlir")
def fixture_mlir(module):
    import varve.mlir  # pylint: disable=import-outside-toplevel,import-error
    return module.mlir


def place(monkeypatch, name, **names):
    """A module NAME, with the packages around it."""
    made = types.ModuleType(name)
    vars(made).update(names)
    parts = name.split(".")
    for depth in range(1, len(parts)):
        package = types.ModuleType(".".join(parts[:depth]))
        package.__path__ = []
        monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setitem(sys.modules, name, made)
    return made


def enter(hook):
    with hook:
        raise AssertionError("it must refuse")


@pytest.mark.parametrize("hook, package", [("torch_names", "torch-mlir"), ("jax_tags", "jax")])
def test_an_absent_framework(mlir, module, hook, package, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_mlir", None)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(module.Error, match=f"varve.mlir: {package} cannot be imported"):
        enter(getattr(mlir, hook)())


def test_a_function_that_is_not_there(mlir, module, monkeypatch):
    place(monkeypatch, "jax._src.compiler")
    with pytest.raises(module.Error, match="jax._src.compiler.backend_compile_and_load of jax .* "
                                           "is not there; known is .*Use `varve tag`"):
        enter(mlir.jax_tags())


def test_a_function_of_another_form(mlir, module, monkeypatch):
    def backend_compile_and_load(module, options):
        return module, options
    compiler = place(monkeypatch, "jax._src.compiler",
                     backend_compile_and_load=backend_compile_and_load)
    with pytest.raises(module.Error, match=r"takes \(module, options\)"):
        enter(mlir.jax_tags())
    assert compiler.backend_compile_and_load is backend_compile_and_load


def test_the_old_function_comes_back(mlir, monkeypatch):
    class ContextCache:
        def get_node_location(self, node):
            return node
    old = ContextCache.get_node_location
    place(monkeypatch, "torch_mlir.extras.fx_importer", ContextCache=ContextCache)
    with pytest.raises(KeyError), mlir.torch_names():
        assert ContextCache.get_node_location is not old
        raise KeyError
    assert ContextCache.get_node_location is old


@pytest.mark.parametrize("stack, path", [
    ({}, "add_1"),
    ({"L": ("", "Gpt")}, "add_1"),
    ({"L": ("", "Gpt"), "L.b": ("blocks.3", "Block"), "L.b.q": ("blocks.3.qkv", "Linear")},
     "blocks.3.qkv/add_1")])
def test_the_path_of_a_node(mlir, stack, path):
    node = types.SimpleNamespace(name="add_1", meta={"nn_module_stack": stack})
    assert mlir.torch_path(node) == path

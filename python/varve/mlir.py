# SPDX-License-Identifier: Apache-2.0
"""Names for the operations of a program, put into its MLIR while a framework makes it, so that a
profile's records find them: `varve annotate` reads both.

    with varve.mlir.torch_names():          # torch-mlir: "blocks.3.qkv/linear_4" on each operation
        module = torch_mlir.fx.export_and_import(net, data)

    with varve.mlir.jax_tags("modules"):    # JAX: "varve#N:" on each operation of what is compiled
        step(parameters, batch)             # … and the modules as files in the folder

Both change locations only: the code that a compiler makes is the same. They replace a private
function of the framework while they are in force, and raise varve.Error where this function is not
as they know it. Neither torch-mlir nor JAX is imported before they are called.
"""
from __future__ import annotations

import contextlib
import importlib
import inspect
import itertools
import pathlib
import threading
from typing import Callable, Iterator, Optional, Union

from .library import Error

__all__ = ["jax_tags", "tag_operations", "torch_names"]

# Their regions say how values are put together: what stands there is a part of the operation, and
# some texts do not even print it.
_WHOLE = {f"stablehlo.{name}" for name in ("all_reduce", "map", "reduce", "reduce_scatter",
                                           "reduce_window", "scatter", "select_and_scatter",
                                           "sort")}

_lock = threading.Lock()
_numbers = itertools.count(1)  # a tag is of one operation of this process, whatever module it is in


@contextlib.contextmanager
def _replaced(distribution: str, module: str, path: str, parameters: "tuple[str, ...]",
              make: Callable[[Callable], Callable]) -> Iterator[None]:
    """Puts make(old) in the place of module.path while the body runs. `parameters` are those that
    the function must have, in their order: another release's function is not touched."""
    try:
        holder = importlib.import_module(module)
    except ImportError as error:
        raise Error(f"varve.mlir: {distribution} cannot be imported: {error}") from error
    *owners, name = path.split(".")
    try:
        for owner in owners:
            holder = getattr(holder, owner)
        old = getattr(holder, name)
        theirs = tuple(inspect.signature(old).parameters)
    except (AttributeError, TypeError, ValueError):
        theirs = None
    if theirs is None or theirs[:len(parameters)] != parameters:
        what = "is not there" if theirs is None else f"takes ({', '.join(theirs)})"
        raise Error(f"varve.mlir: {module}.{path} of {distribution} {_version(distribution)} "
                    f"{what}; known is ({', '.join(parameters)}). Use `varve tag` on the module's "
                    "text instead")
    new = make(old)
    with _lock:
        setattr(holder, name, new)
    try:
        yield
    finally:
        with _lock:
            setattr(holder, name, old)


def _version(distribution: str) -> str:
    from importlib import metadata
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "(no version)"


def torch_path(node) -> str:
    """Where a node of an exported program stands: the path of its module and its own name,
    "blocks.3.qkv/linear_4". A module that several callers share is named as it is called."""
    stack = node.meta.get("nn_module_stack") or {}
    paths = [path if isinstance(path, str) else path[0] for path in stack.values()]
    return f"{paths[-1]}/{node.name}" if paths and paths[-1] else node.name


@contextlib.contextmanager
def torch_names() -> Iterator[None]:
    """While it is in force torch-mlir's importer names each operation by its module and node:
    loc("blocks.3.qkv/linear_4"(OLD)). In all threads. Raises varve.Error, before anything is
    changed, where torch-mlir is absent or its importer another."""
    def make(old: Callable) -> Callable:
        def get_node_location(self, node):
            from torch_mlir.ir import Location
            inner = old(self, node)
            return Location.name(torch_path(node), childLoc=inner or Location.unknown(self._c),
                                 context=self._c)
        return get_node_location

    with _replaced("torch-mlir", "torch_mlir.extras.fx_importer",
                   "ContextCache.get_node_location", ("self", "node"), make):
        yield


def tag_operations(operation, location: Callable) -> int:
    """Gives each operation inside of `operation`, at any depth, the location
    loc("varve#N:"(OLD)), and returns how many tags that took. N counts on through the process; what
    stands in a region of a reduction, a sort or a scatter has the tag of that. `location` is the
    class Location of the MLIR bindings that the operation is of: jaxlib.mlir.ir.Location,
    torch_mlir.ir.Location, iree.compiler.ir.Location."""
    return _tag(operation, location, None)


def _tag(operation, location: Callable, tag: "Optional[str]") -> int:
    count = 0
    for region in operation.regions:
        for block in region:
            for inner in block:
                inner = inner.operation
                own = tag or f"varve#{next(_numbers)}:"
                count += tag is None
                inner.location = location.name(own, childLoc=inner.location)
                count += _tag(inner, location, own if tag or inner.name in _WHOLE else None)
    return count


@contextlib.contextmanager
def jax_tags(folder: "Optional[Union[str, pathlib.Path]]" = None) -> Iterator["list[str]"]:
    """While it is in force each operation of a module that JAX compiles is tagged varve#N, which
    XLA keeps in its profile as the op_type of an instruction. Modules are written into `folder`,
    which is made, as NAME.N.mlir, N from 0; `as` gives the list of these paths, which
    grows. What was compiled before, or comes from JAX's persistent cache, has no tags. In all
    threads. Raises varve.Error, before anything is changed, where JAX is absent or its compiler
    another."""
    written: "list[str]" = []
    place = None if folder is None else pathlib.Path(folder)

    def make(old: Callable) -> Callable:
        def backend_compile_and_load(backend, module, *rest, **named):
            from jaxlib.mlir import ir
            with _lock, module.context:
                tag_operations(module.operation, ir.Location)
                if place is not None:
                    written.append(_write(place, len(written), module.operation))
            return old(backend, module, *rest, **named)
        return backend_compile_and_load

    if place is not None:
        place.mkdir(parents=True, exist_ok=True)
    with _replaced("jax", "jax._src.compiler", "backend_compile_and_load",
                   ("backend", "module", "executable_devices", "options"), make):
        yield written


def _write(folder: pathlib.Path, number: int, operation) -> str:
    name = str(operation.attributes["sym_name"]).strip('"').replace("/", "_")
    path = folder / f"{name}.{number}.mlir"
    path.write_text(operation.get_asm(enable_debug_info=True), encoding="utf-8")
    return str(path)

# SPDX-License-Identifier: Apache-2.0
"""jax_survival.py — what XLA makes of what stands on an operation of StableHLO.

    jax_survival.py FOLDER      numbers.json: for each carrier the instruction's metadata and
                                frontend attributes, as its text has them
"""
import json
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
from jaxlib.mlir import ir


def fused(metadata):
    return lambda old: ir.Location.fused([old], metadata=ir.Attribute.parse(metadata))


def renamed(text):
    """The location's own name with `text` behind it."""
    def make(old):
        name = re.match(r'loc\("([^"]*)"', str(old))[1]
        return ir.Location.name(name + text, childLoc=old)
    return make


LOCATIONS = {
    "none": lambda old: old,
    "tag": lambda old: ir.Location.name("varve#7:", childLoc=old),
    "name with a suffix": renamed(";varve#7"),
    "fused with a dictionary": fused("{varve.profile = {count = 3 : i64}}"),
    "fused with a string": fused('"varve"'),
    "fused with XLA's payload": fused('{xla_metadata_payload = "varve"}'),
    "fused names": lambda old: ir.Location.fused([old, ir.Location.name("varve#7")]),
}
ATTRIBUTES = {
    "attribute varve.profile": {"varve.profile": "{count = 3 : i64}"},
    "attribute mhlo.varve": {"mhlo.varve": '"7"'},
    "attribute mhlo.frontend_attributes": {"mhlo.frontend_attributes": '{varve = "7"}'},
}


def dots_of(operation):
    for region in operation.regions:
        for block in region:
            for inner in block:
                yield from dots_of(inner.operation)
                if inner.operation.name == "stablehlo.dot_general":
                    yield inner.operation


def instruction_of(name):
    data = jnp.ones((8, 8))
    jax.clear_caches()
    lowered = jax.jit(lambda x, y: x @ y + 1).lower(data, data)
    module = lowered.compiler_ir().operation
    dot, = dots_of(module)
    with module.context:
        dot.location = LOCATIONS.get(name, LOCATIONS["none"])(dot.location)
        for key, value in ATTRIBUTES.get(name, {}).items():
            dot.attributes[key] = ir.Attribute.parse(value)
    text = lowered.compile().as_text()
    line = next(line for line in text.splitlines() if " dot(" in line)
    metadata = re.search(r"metadata=\{([^}]*)\}", line)
    attributes = re.search(r"frontend_attributes=\{([^}]*)\}", line)
    found = dict(re.findall(r'(\w+)=("[^"]*"|\w+)', metadata[1] if metadata else ""))
    return {"metadata": {key: value.strip('"') for key, value in found.items()},
            "frontend_attributes": attributes[1] if attributes else ""}


def main():
    numbers = {name: instruction_of(name) for name in (*LOCATIONS, *ATTRIBUTES)}
    pathlib.Path(sys.argv[1], "numbers.json").write_text(json.dumps(numbers))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""marks.py: marks each operation of a module three ways, and counts what a compiler left of them.

The attribute varve.mark = N, the location loc(fused<{varve.mark = N}>["varve mark N"(OLD)]): an
attribute, metadata and a name. Works with the bindings of torch-mlir and of IREE.
"""
import re

# Operations that a profile never names.
UNMARKED = {"func.func", "func.return", "torch.constant.int"}


def operations_of(operation):
    for region in operation.regions:
        for block in region:
            for inner in block:
                yield inner.operation
                yield from operations_of(inner.operation)


def mark(operation, ir, with_attributes=True):
    """Marks all operations in functions, and returns how many these are."""
    count = 0
    with operation.context:
        number_of = ir.IntegerAttr.get
        word = ir.IntegerType.get_signless(64)
        for inner in operations_of(operation):
            if inner.name in UNMARKED:
                continue
            number = number_of(word, count)
            name = ir.Location.name(f"varve mark {count}", childLoc=inner.location)
            inner.location = ir.Location.fused(
                [name], metadata=ir.DictAttr.get({"varve.mark": number}))
            if with_attributes:
                inner.attributes["varve.mark"] = number
            count += 1
    return count


def numbers_of(location):
    """(by metadata, by name): the marks in a location."""
    text = str(location)
    return (set(map(int, re.findall(r"fused<\{varve\.mark = (\d+)", text))),
            set(map(int, re.findall(r'"varve mark (\d+)"', text))))


def count(operation):
    """What is left: marks by attribute, by metadata, by name; operations, and those of them with a
    mark in their location."""
    attributes, metadata, names, total, located = set(), set(), set(), 0, 0
    for inner in operations_of(operation):
        if inner.name in UNMARKED:
            continue
        total += 1
        if "varve.mark" in inner.attributes:
            attributes.add(int(re.search(r"\d+", str(inner.attributes["varve.mark"]))[0]))
        by_metadata, by_name = numbers_of(inner.location)
        located += bool(by_name)
        metadata |= by_metadata
        names |= by_name
    return {"attributes": len(attributes), "metadata": len(metadata), "names": len(names),
            "operations": total, "located": located, "same": metadata == names}

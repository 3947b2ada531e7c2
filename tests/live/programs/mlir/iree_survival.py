# SPDX-License-Identifier: Apache-2.0
"""iree_survival.py — which marks IREE keeps, phase by phase, and whether they change what it makes.

    iree_survival.py FOLDER MODULE      numbers.json

MODULE is compiled for this processor bare, with marks in locations, and with marks in attributes,
too. For each: executables, dispatches, a hash of each executable's instructions and constants, and
for each phase what is left of the marks.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys

from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect

import marks

FLAGS = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=host", "--mlir-print-debuginfo")
METADATA = re.compile(r"fused<\{varve\.mark = (\d+) : i64\}>")


def write_marked(path, source, kind):
    context = ir.Context()
    torch_dialect.register_dialect(context)
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(source.read_text(), context).operation
    count = marks.mark(module, ir, with_attributes=kind == "attributes") if kind != "bare" else 0
    path.write_text(module.get_asm(enable_debug_info=True))
    return count


def left(text):
    rest = METADATA.sub("", text)
    return {"attributes": len(set(re.findall(r"varve\.mark = (\d+)", rest))),
            "metadata": len(set(METADATA.findall(text))),
            "names": len(set(re.findall(r'"varve mark (\d+)"', text)))}


def hash_of(library):
    """Of instructions and constants: beside them an executable has places for debuggers, and one
    word for each dispatch that is made of its location."""
    bare = library.with_suffix(".code")
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "-j", ".rodata", library, bare],
                   check=True)
    assert bare.stat().st_size > 1000
    return hashlib.sha256(bare.read_bytes()).hexdigest()


def compiled(folder, source, kind):
    place = folder / kind
    place.mkdir()
    count = write_marked(place / "marked.mlir", source, kind)
    program = pathlib.Path(sys.executable).with_name("iree-compile")
    subprocess.run([program, place / "marked.mlir", *FLAGS, "-o", place / "program.vmfb",
                    f"--dump-compilation-phases-to={place / 'phases'}",
                    f"--iree-hal-dump-executable-binaries-to={place / 'code'}"],
                   check=True, timeout=200)
    phases = {re.match(r".*\.\d+\.(.*)\.mlir", path.name)[1]: path.read_text()
              for path in (place / "phases").iterdir()}
    code = sorted(path for path in (place / "code").iterdir())
    return {"marked": count, "executables": len(re.findall(r"flow\.executable private",
                                                           phases["flow"])),
            "dispatches": len(re.findall(r"= flow\.dispatch @", phases["flow"])),
            "code": [hash_of(path) for path in code],
            "phases": {name: left(text) for name, text in phases.items()}}


def main():
    folder, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    numbers = {kind: compiled(folder, source, kind) for kind in ("bare", "locations", "attributes")}
    (folder / "numbers.json").write_text(json.dumps(numbers))


if __name__ == "__main__":
    main()

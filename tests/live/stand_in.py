# SPDX-License-Identifier: Apache-2.0
"""stand_in.py — lets PyTorch's CUDA wheel run on a machine without NVIDIA's 4 GB of libraries.

    VENV/bin/python stand_in.py

PyTorch's libraries name cuDNN, cuBLAS, NCCL and others as needed, and the loader asks for them
though nothing of them is called without a GPU. Each missing name becomes an empty library, which
needs another that defines every symbol asked for: the loader takes no symbol without a version from
a library of the very name that it expects it from. A call ends the process.
"""
import pathlib
import re
import subprocess
import sysconfig

TORCH = pathlib.Path(sysconfig.get_path("purelib")) / "torch" / "lib"
FIRST = TORCH / "libtorch_python.so"  # needs all the others
KNOWN = "libcudart.so"                # is installed: the others would lie beside it


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def symbols(*options):
    """Names in the dynamic symbol tables of the libraries, without versions and weak ones."""
    lines = map(str.split, output_of("nm", "--dynamic", "--format=posix",
                                     *map(str, options)).splitlines())
    return {words[0].split("@")[0] for words in lines if len(words) > 1 and words[1] not in "wv"}


def link(library, source, *options):
    subprocess.run(["cc", "-shared", "-nostdlib", "-Wl,-z,noexecstack", "-o", str(library), "-x",
                    "assembler", "-", "-x", "none", *options], input=source, text=True, check=True)


def main():
    needed = re.findall(r"^\s*(\S+) => (.+?)(?: \(0x.*)?$", output_of("ldd", str(FIRST)),
                        re.MULTILINE)
    missing = sorted({name for name, where in needed if where == "not found"})
    present = {pathlib.Path(where) for _, where in needed if where.startswith("/")}
    if not missing:
        return
    folder = next(path.parent.resolve() for path in present if path.name.startswith(KNOWN))
    torch = {path for path in present if path.parent.resolve() == TORCH.resolve()} | {FIRST}
    wanted = symbols("--undefined-only", *torch) - symbols("--defined-only", *present, FIRST)
    source = ".text\n" + "".join(f".globl {name}\n{name}:\n"
                                 for name in sorted(wanted)) + ".zero 64\n"
    link(folder / "libstand_in.so", source)
    link(folder / "libstand_in_name.so", ".text\n", "-Wl,--no-as-needed", f"-L{folder}",
         "-lstand_in", "-Wl,-rpath,$ORIGIN")
    for name in missing:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to("libstand_in_name.so")
    print(f"stand_in: {len(wanted)} symbols of {', '.join(missing)}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What pip calls (PEP 517), and `make wheel`: a wheel is a zip of files and three files about it.
Kept by hand for the sake of machines without a network: nothing has to be fetched.

    pip install ./python                                     the checkout's build, made if absent
    pip install PREFIX/share/varve/python                    what is installed there
    python3 python/build_wheel.py FOLDER [LICENCE…]          the same wheel, as a file

The wheel carries the libraries and the command in varve/native/, where the module, the command and
the libraries find each other by where they lie. So it may be moved, and nothing else must be
installed. `python3 -m venv` has what its script needs.
"""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = "Record ML programs operator by operator, and read where the time goes"
SCRIPT = '''#!python
# Runs the program that lies with the package, without importing the package.
import os
import sys

for folder in sys.path:
    for place in ("varve/native/varve", "../build/varve"):
        program = os.path.join(folder, place)
        if os.path.exists(os.path.join(folder, "varve", "library.py")) and \\
                os.access(program, os.X_OK):
            os.execv(program, [program, *sys.argv[1:]])
sys.exit("varve: the program is not beside its Python package. Type: pip install --force-reinstall "
         "varve")
'''


def _give_up(sentence):
    """pip prints what a backend said, and a traceback would hide it."""
    print(f"varve: {sentence}", file=sys.stderr)
    raise SystemExit(1)


class _Installed:
    """Where things are in a prefix: this file is in PREFIX/share/varve/python."""

    def __init__(self, prefix):
        self.header = prefix / "include" / "varve" / "varve.h"
        self.program = prefix / "bin" / "varve"
        self.share = prefix / "share"
        self.man = self.share / "man" / "man1"
        self.completions = {shell: self.share / path for shell, path in COMPLETIONS.items()}
        self.doc = self.share / "doc" / "varve"
        self.license = self.doc / "LICENSE"
        self.prefix = prefix

    def library(self, name):
        found = [path for pattern in (f"lib/{name}", f"lib64/{name}", f"lib/*/{name}")
                 for path in sorted(self.prefix.glob(pattern))]
        return found[0] if found else self.prefix / "lib" / name

    def make(self):
        missing = [path for path in (self.program, self.library("libvarve.so.0"),
                                     self.library("libvarve-reader.so.0")) if not path.exists()]
        if missing:
            _give_up(f"{missing[0]} is not there. Install Varve whole: make install "
                     f"PREFIX={self.prefix}")


COMPLETIONS = {"bash": "bash-completion/completions/varve", "zsh": "zsh/site-functions/_varve",
               "fish": "fish/vendor_completions.d/varve.fish"}


class _Checkout:
    """The same of a checkout, built in build/ or in what VARVE_BUILD names."""

    def __init__(self, root):
        self.root = root
        self.build = root / os.environ.get("VARVE_BUILD", "build")
        self.header = root / "include" / "varve" / "varve.h"
        self.program = self.build / "varve"
        self.man = self.build / "man"
        self.completions = {shell: self.build / "completions" / pathlib.PurePath(path).name
                            for shell, path in COMPLETIONS.items()}
        self.doc = root / "doc"
        self.license = root / "LICENSE"

    def library(self, name):
        return self.build / name.replace("varve/varve-mlir", "mlir/varve-mlir")

    def make(self):
        """Builds what is not built."""
        wanted = [self.program, self.library("libvarve.so.0"), self.library("libvarve-reader.so.0")]
        if all(path.exists() for path in wanted):
            return
        print("varve: not built yet: make", file=sys.stderr, flush=True)
        try:
            done = subprocess.run(["make", "--no-print-directory", "-C", str(self.root), "all"],
                                  stdout=sys.stderr, check=False)
        except OSError:
            _give_up(f"make is missing, to compile the library. Type: {self.root}/tools/setup "
                     f"build")
        if done.returncode != 0 or not all(path.exists() for path in wanted):
            _give_up(f"the library could not be compiled: the lines above say why. What it needs "
                     f"is installed by: {self.root}/tools/setup build")


def _source():
    for source in (_Checkout(HERE.parent), _Installed(HERE.parents[2])):
        if source.header.exists():
            return source
    return _give_up(f"{HERE} is a part of a checkout, alone, and the library is in the rest. Type: "
                    f"pip install CHECKOUT/python")


def _version(source):
    """The library's."""
    return ".".join(re.findall(r"#define VARVE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                               source.header.read_text()))


def _package():
    return {f"varve/{path.name}": path.read_bytes() for path in sorted((HERE / "varve").iterdir())
            if path.suffix == ".py" or path.name == "py.typed"}


def _native(source):
    """The libraries under the names that the loader asks for, and programs."""
    files = {"varve/native/varve": source.program}
    for name in ("libvarve.so.0", "libvarve-reader.so.0"):
        files[f"varve/native/{name}"] = source.library(name)
    files["varve/native/mlir/varve-mlir-library"] = source.library("varve/varve-mlir-library")
    return {name: path.read_bytes() for name, path in files.items() if path.exists()}


def _share(source):
    """Man pages, completions and documents: an environment's share/ is read as a prefix's."""
    files = {f"man/man1/{path.name}": path for path in sorted(source.man.glob("varve*.1"))}
    files.update((COMPLETIONS[shell], path) for shell, path in source.completions.items())
    found = {name: path.read_bytes() for name, path in files.items() if path.exists()}
    found.update((f"doc/varve/{path.name}", _page(path))
                 for path in sorted(source.doc.glob("*.md")))
    return found


def _page(path):
    """A page without links to what no wheel has: examples, headers, the source tree."""
    return re.sub(r"\[([^]]*)\]\((?:\.\./|examples/)[^)]*\)", r"\1", path.read_text()).encode()


def _digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _write(folder, version, tag, files, licenses):
    """Writes the zip, its files in the order of their names; returns its name."""
    about = f"varve-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", "Name: varve", f"Version: {version}",
                f"Summary: {SUMMARY}", "License: Apache-2.0", "Requires-Python: >=3.9",
                "Platform: linux", "Keywords: profiler,machine-learning,pytorch,tracing",
                "Classifier: License :: OSI Approved :: Apache Software License",
                "Classifier: Operating System :: POSIX :: Linux",
                "Classifier: Programming Language :: Python :: 3",
                "Classifier: Topic :: Software Development :: Debuggers"]
    for path in licenses:
        metadata.append(f"License-File: {_license_name(path)}")
        files[f"{about}/licenses/{_license_name(path)}"] = path.read_bytes()
    metadata += ["Description-Content-Type: text/markdown", "",
                 "`varve record -- python3 train.py`, then `varve report`. The wheel has the "
                 "command, its libraries", "and the module `varve`. `varve help` is the way in."]
    files[f"{about}/METADATA"] = ("\n".join(metadata) + "\n").encode()
    files[f"{about}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: varve\nRoot-Is-Purelib: false\n"
                               f"Tag: {tag}\n").encode()
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()
    name = f"varve-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)  # of 1980: the same files are the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            is_program = data[:4] == b"\x7fELF" or data[:2] == b"#!"
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            wheel.writestr(entry, data)
    return name


def _license_name(path):
    """LICENSE, and of Debian's /usr/share/doc/PACKAGE/copyright the package's name."""
    return f"{path.parent.name}.copyright" if path.name == "copyright" else path.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None, licenses=()):
    """Writes varve-VERSION-py3-none-PLATFORM.whl there; returns its name. It is no extension
    module, and so of every Python."""
    del config_settings, metadata_directory
    source = _source()
    source.make()
    version = _version(source)
    platform = re.sub(r"[^A-Za-z0-9]", "_", sysconfig.get_platform())
    data = f"varve-{version}.data"
    files = {**_package(), **_native(source), f"{data}/scripts/varve": SCRIPT.encode(),
             **{f"{data}/data/share/{name}": page for name, page in _share(source).items()}}
    own = [source.license] if source.license.exists() else []
    return _write(wheel_directory, version, f"py3-none-{platform}", files, [*own, *licenses])


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """pip install --editable ./python: package and build of the checkout, where they are."""
    del config_settings, metadata_directory
    source = _source()
    source.make()
    version = _version(source)
    return _write(wheel_directory, version, "py3-none-any",
                  {"varve.pth": f"{HERE}\n".encode(),
                   f"varve-{version}.data/scripts/varve": SCRIPT.encode()}, [])


def build_sdist(sdist_directory, config_settings=None):
    """There is none: the source is the repository's."""
    del sdist_directory, config_settings
    _give_up("there is no source distribution of the Python module alone: use the repository")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: build_wheel.py FOLDER [LICENCE…]")
    print(build_wheel(sys.argv[1], licenses=[pathlib.Path(path) for path in sys.argv[2:]]))

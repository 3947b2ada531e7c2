# SPDX-License-Identifier: Apache-2.0
"""debian/: every file that is installed goes into one package, under the library's version. `make
deb` builds the packages, and lintian checks them; tools/try_debs uses them in a fresh Debian."""
import fnmatch
import re
import subprocess

import pytest

# what debian/rules leaves out
LEFT_OUT = {"usr/share/doc/varve/LICENSE", "usr/share/varve/python/build_wheel.py",
            "usr/share/varve/python/pyproject.toml"}


@pytest.fixture(scope="module", name="installed")
def fixture_installed(build, varve, tmp_path_factory):
    """The files as Debian's prefix and folder of libraries have them."""
    assert varve.exists()
    prefix = tmp_path_factory.mktemp("install") / "usr"
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                   capture_output=True)
    names = {str(path.relative_to(prefix.parent)) for path in prefix.rglob("*")
             if not path.is_dir()}
    return {name.replace("usr/lib/", "usr/lib/x86_64-linux-gnu/", 1) for name in names}


def patterns(root):
    """[(package, pattern)]"""
    return [(path.name.removesuffix(".install"), line.split()[0])
            for path in sorted((root / "debian").glob("*.install"))
            for line in path.read_text().splitlines()]


def holds(pattern, name):
    """A name in the pattern's folder, or the pattern's own."""
    depth = pattern.count("/") + 1
    return fnmatch.fnmatchcase("/".join(name.split("/")[:depth]), pattern)


def test_every_file_goes_into_one_package(root, installed):
    # LLVM's archives are for this machine; debian/rules leaves out what is made of them
    without_llvm = {name for name in installed if "mlir-llvm" not in name and "mlir-opt" not in name
                    and "/varve/mlir/" not in name}
    for name in sorted(without_llvm - LEFT_OUT):
        found = {package for package, pattern in patterns(root) if holds(pattern, name)}
        assert len(found) == 1, f"{name}: {found}"
    for package, pattern in patterns(root):
        assert any(holds(pattern, name) for name in installed), f"{package}: {pattern}"


def test_the_packages_are_of_the_library_s_version(root):
    header = (root / "include" / "varve" / "varve.h").read_text()
    version = ".".join(re.findall(r"#define VARVE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
    assert (root / "debian" / "changelog").read_text().startswith(f"varve ({version}) ")
    packages = set(re.findall(r"^Package: (\S+)", (root / "debian" / "control").read_text(),
                              re.MULTILINE))
    assert packages == {package for package, _ in patterns(root)}

# SPDX-License-Identifier: Apache-2.0
"""The wheel: what is in it, and a fresh environment of each Python, where `import varve` and
`varve` work with nothing else of Varve on the machine.

VARVE_WHEEL names the wheel to try, as `make wheel` wrote it; without it the tests make one of the
build folder."""
import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

PROGRAM = """
import sys, varve
with varve.record_function("range"):
    pass
print(varve.library.IS_PRELOADED, varve.library.program())
"""
READS = """
import varve
print(varve.library.PATH, [row["calls"] for row in varve.table("run.varve", "operators")
                           if row["name"] == "range"])
"""
PYTHONS = [f"3.{minor}" for minor in range(9, 14)]


def run(*command, status=0, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, timeout=240, **options)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout if status == 0 else done.stdout + done.stderr


@pytest.fixture(name="bare")
def fixture_bare():
    """An environment that names nothing of Varve, nor of the Python that runs the tests."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("VARVE", "LD_", "PYTHON", "PIP_", "VIRTUAL_ENV"))}
    folders = [path for path in kept["PATH"].split(os.pathsep)
               if not (pathlib.Path(path) / "varve").exists()]
    return {**kept, "PATH": os.pathsep.join(folders)}


@pytest.fixture(scope="module", name="wheel")
def fixture_wheel(root, build, varve, tmp_path_factory):
    named = os.environ.get("VARVE_WHEEL")
    if named:
        return root / named
    assert varve.exists()
    folder = tmp_path_factory.mktemp("wheel")
    name = run(sys.executable, root / "python" / "build_wheel.py", folder,
               env={**os.environ, "VARVE_BUILD": str(build)}).strip()
    return folder / name


def python_of(version):
    """The interpreter of that version: pyenv's, uv's, or on PATH."""
    versions = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    of_uv = pathlib.Path.home() / ".local" / "share" / "uv" / "python"
    found = [*sorted(of_uv.glob(f"cpython-{version}.*/bin/python{version}")),
             *sorted((versions / "versions").glob(f"{version}.*/bin/python"))]
    python = str(found[-1]) if found else shutil.which(f"python{version}")
    if python is None and sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    return python


def fresh(python, wheel, folder, environment):
    """A new environment with the wheel and nothing else; returns its bin/."""
    run(python, "-m", "venv", folder, env=environment)  # with the pip that its Python brings
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-compile",
        "--disable-pip-version-check", wheel, env=environment)
    return folder / "bin"


def check_environment(place, folder, environment):
    """The command records a Python program, and reads; the module finds its own libraries."""
    at = {"cwd": folder, "env": {**environment,
                                 "PATH": f"{place}{os.pathsep}{environment['PATH']}"}}
    (folder / "program.py").write_text(PROGRAM)
    (folder / "reads.py").write_text(READS)
    assert run("varve", "version", **at).startswith("varve 0.1.0")
    said = run("varve", "record", "-q", "-o", "run.varve", "--", "python", "program.py", **at)
    preloaded, program = said.split()
    assert preloaded == "True" and pathlib.Path(program).is_relative_to(place.parent)
    library, calls = run("python", "reads.py", **at).split()
    assert pathlib.Path(library).is_relative_to(place.parent) and calls == "[1]"
    table = json.loads(run("python", "-m", "varve", "report", "--json", "--table", "operators",
                           "run.varve", **at))
    assert "range" in str(table)


def test_the_wheel_says_what_is_in_it(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist() if name[-1] != "/"}
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    for line in files["varve-0.1.0.dist-info/RECORD"].decode().splitlines():
        name, digest, size = line.split(",")
        if not name.endswith("RECORD"):
            found = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest())
            assert digest == "sha256=" + found.rstrip(b"=").decode()
            assert int(size) == len(files[name])
    assert files.keys() >= {f"varve/native/{name}" for name in (
        "varve", "libvarve.so.0", "libvarve-reader.so.0", "mlir/varve-mlir-library")}
    data = "varve-0.1.0.data/data/share"
    assert files.keys() >= {f"{data}/man/man1/varve-record.1", f"{data}/doc/varve/metrics.md",
                            f"{data}/bash-completion/completions/varve"}
    pages = [text.decode() for name, text in files.items() if name.startswith(f"{data}/doc/")]
    assert len(pages) > 20 and not any("](../" in page or "](examples/" in page for page in pages)
    assert modes["varve/native/varve"] & 0o111
    about = files["varve-0.1.0.dist-info/WHEEL"].decode()
    assert re.search(r"^Tag: py3-none-(manylinux|linux)_", about, re.MULTILINE)
    assert re.fullmatch(r"varve-0\.1\.0-py3-none-[a-z0-9_]+\.whl", wheel.name)
    said = files["varve-0.1.0.dist-info/METADATA"].decode()
    assert "\nSummary: " in said and "\nRequires-Python: >=3.9\n" in said


def test_no_library_in_it_names_a_folder_of_this_machine(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    programs = [path for path in tmp_path.rglob("*") if path.is_file()
                and path.read_bytes()[:4] == b"\x7fELF"]
    assert len(programs) >= 4
    for path in programs:
        for found in re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", run("readelf", "-dW", path)):
            assert all(part.startswith("$ORIGIN") for part in found.split(":")), path


def test_this_python(wheel, bare, tmp_path):
    place = fresh(sys.executable, wheel, tmp_path / "venv", bare)
    check_environment(place, tmp_path, bare)
    other = tmp_path / "other"
    run(sys.executable, "-m", "venv", "--without-pip", other, env=bare)
    for command, environment, expected in (
            ([], bare, place), ([], {**bare, "VIRTUAL_ENV": str(other)}, other / "bin"),
            ([other / "bin" / "python"], bare, other / "bin")):
        said = run(place / "varve", "doctor", "--table", "sources", *command, env=environment)
        assert f"programs of {expected}/python are recorded" in said


@pytest.mark.parametrize("version", PYTHONS)
def test_every_python_that_is_here(version, wheel, bare, tmp_path):
    if os.environ.get("VARVE_CLIENTS") != "1":
        pytest.skip("needs the clients' run: make check-clients")
    check_environment(fresh(python_of(version), wheel, tmp_path / "venv", bare), tmp_path, bare)


def test_the_package_may_be_moved(wheel, bare, tmp_path):
    """Copied out of the environment, it finds what lies with it."""
    place = fresh(sys.executable, wheel, tmp_path / "venv", bare)
    packages, = place.parent.glob("lib/python*/site-packages")
    shutil.move(packages, tmp_path / "moved")
    found = run(sys.executable, "-c", "import varve; print(varve.library.PATH)", cwd=tmp_path,
                env={**bare, "PYTHONPATH": str(tmp_path / "moved")}).strip()
    assert pathlib.Path(found) == tmp_path / "moved" / "varve" / "native" / "libvarve.so.0"


def test_a_part_of_a_checkout_is_refused_in_a_sentence(root, tmp_path):
    shutil.copytree(root / "python", tmp_path / "copied" / "python")
    said = run(sys.executable, tmp_path / "copied" / "python" / "build_wheel.py", tmp_path,
               status=1)
    assert said.count("\n") == 1 and "pip install CHECKOUT/python" in said


def test_without_a_compiler_it_says_what_to_type(root, tmp_path):
    """pip install ./python of a checkout that nobody has built, where nothing can build it."""
    checkout, bare_path = tmp_path / "checkout", tmp_path / "bin"
    for name in ("python", "include", "tools"):
        shutil.copytree(root / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "Makefile", checkout)
    bare_path.mkdir()
    for program in ("sh", "sed", "paste", "find", "echo", "id", "env", "cat"):
        (bare_path / program).symlink_to(shutil.which(program))
    command = (sys.executable, checkout / "python" / "build_wheel.py", tmp_path)
    environment = {"PATH": str(bare_path)}
    said = run(*command, status=1, env=environment)
    assert "make is missing" in said and f"Type: {checkout}/tools/setup build" in said
    (bare_path / "make").symlink_to(shutil.which("make"))
    said = run(*command, status=1, env=environment)
    assert "missing: build-essential cmake" in said and "Traceback" not in said
    assert f"is installed by: {checkout}/tools/setup build" in said

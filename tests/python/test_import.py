# SPDX-License-Identifier: Apache-2.0
"""How the module is found, what it finds, and how it is installed."""
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

IMPORT = """
    import sys, varve
    print(varve.__version__, *(name for name in ("torch", "numpy") if name in sys.modules))
"""


def test_it_imports_nothing_large(run):
    assert run(IMPORT) == "0.1.0\n"


@pytest.mark.parametrize("minor", range(9, 14))
def test_it_runs_on_every_python_that_is_here(minor, around, tmp_path):
    versions = os.path.join(os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"),
                            "versions")
    found = [os.path.join(versions, name, "bin", "python") for name in sorted(os.listdir(versions))
             if name.startswith(f"3.{minor}.")] if os.path.isdir(versions) else []
    python = found[-1] if found else shutil.which(f"python3.{minor}")
    if python is None:
        pytest.skip(f"there is no Python 3.{minor} on this machine")
    text = (
        "import varve\nwith varve.profile() as prof, varve.record_function('range'):\n    pass\n"
        "print([(row.key, row.count) for row in prof.key_averages()])\n")
    done = subprocess.run([python, "-c", text], cwd=tmp_path, env=around, capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[('range', 1)]\n", "")


def test_it_says_where_it_looked(run):
    said = run(IMPORT, status=1, VARVE_LIBRARY="/nowhere/libvarve.so")
    assert "ImportError: varve: libvarve.so was not found" in said
    assert "/nowhere/libvarve.so: not there" in said and "Set VARVE_LIBRARY" in said


def test_it_says_that_the_program_is_missing(run):
    assert "VARVE names 'nothing-like-it'" in run("""
    import varve
    with varve.profile() as prof:
        pass
    try:
        prof.table()
    except varve.Error as error:
        print(error)
    """, VARVE="nothing-like-it")


def test_record_s_own_library_is_used(run, varve):
    """Also where VARVE_LIBRARY names another by now: what records is what is asked."""
    assert run("""
    import os
    os.environ["VARVE_LIBRARY"] = "/nowhere/libvarve.so"
    import varve
    print(varve.library.IS_PRELOADED, varve.library.control.layers)
    """, varve, "record", "-q", "-o", "run.varve", "--") == "True 2047\n"


def test_pip_needs_no_network(root, tmp_path):
    sys.path.insert(0, str(root / "python"))
    import build_wheel  # pylint: disable=import-outside-toplevel,import-error
    name = build_wheel.build_wheel(tmp_path)
    with zipfile.ZipFile(tmp_path / name) as wheel:
        names = set(wheel.namelist())
        assert wheel.testzip() is None
        record = wheel.read("varve-0.1.0.dist-info/RECORD").decode().splitlines()
    assert {line.split(",")[0] for line in record} == names
    assert names >= {f"varve/{path.name}"
                     for path in (root / "python" / "varve").glob("*.py")} | {"varve/py.typed"}
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True,
                      check=False).returncode != 0:
        pytest.skip("pip is not part of this environment")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
                    "--target", tmp_path / "target", root / "python"], check=True,
                    capture_output=True)
    assert (tmp_path / "target" / "varve" / "py.typed").exists()


def test_an_installed_module_finds_what_is_installed(build, varve, around, tmp_path):
    assert varve.exists()
    subprocess.run(["cmake", "--install", build, "--prefix", tmp_path / "prefix"], check=True,
                   capture_output=True)
    kept = {key: value for key, value in around.items() if not key.startswith("VARVE")}
    text = ("import varve\nprint(varve.library.PATH, varve.library.program())\n"
            "with varve.profile() as prof, varve.record_function('range'):\n    "
            "pass\nprint(len(prof.key_averages()))\n")
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**kept, "PYTHONPATH": str(tmp_path / "prefix" / "share" / "varve" / "python")})
    assert done.returncode == 0, done.stderr
    library, program = done.stdout.splitlines()[0].split()
    assert library.startswith(str(tmp_path / "prefix" / "lib")) and program == str(
        tmp_path / "prefix" / "bin" / "varve")
    assert done.stdout.splitlines()[1] == "1"

# SPDX-License-Identifier: Apache-2.0
"""The interface of libvarve.so against abi/MAJOR.MINOR.xml, that of libvarve-reader.so against
abi/reader-MAJOR.MINOR.xml, and those of libprofapi.so and libmsprofiler.so against abi/NAME.xml, as
abidw told them when they were last agreed. What abi/private.suppr names is no interface.

What is added passes. What is removed or changes its layout fails: programs built before would
break. A change that they survive by struct_size is agreed by `make abi`, which writes the file
anew."""
import platform
import re
import shutil
import subprocess

import pytest
import sources

LIBRARY = sources.BUILD / "libvarve.so"
# bits of abidiff's exit code: 1 an error, 2 wrong usage, 4 changed, 8 certainly incompatible
CHANGED = 4


def agreed(of=""):
    header = (sources.ROOT / "include" / "varve" / "varve.h").read_text()
    numbers = dict(re.findall(r"#define VARVE_VERSION_(MAJOR|MINOR) (\d+)", header))
    return sources.ROOT / "abi" / f"{of}{numbers['MAJOR']}.{numbers['MINOR']}.xml"


@pytest.fixture
def differences():
    """differences(dump) is abidiff's exit code and its words, from the dump to the library."""
    if shutil.which("abidiff") is None:
        pytest.skip("needs abigail-tools: tools/setup abi")
    if platform.machine() != "x86_64":
        pytest.skip("abi/ tells of x86-64")
    if not LIBRARY.exists():
        pytest.skip("needs libvarve.so: make")

    def run(dump, library=LIBRARY):
        done = subprocess.run(["abidiff", "--no-added-syms", "--suppressions",
                               sources.ROOT / "abi" / "private.suppr", dump, library],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    return run


def test_programs_built_before_still_run(differences):
    code, words = differences(agreed())
    assert code == 0, f"{words}\nIf that is meant, and no program can break: make abi"


def test_programs_that_read_traces_still_run(differences):
    code, words = differences(agreed("reader-"), sources.BUILD / "libvarve-reader.so")
    assert code == 0, f"{words}\nIf that is meant, and no program can break: make abi"


def test_a_change_of_the_reader_is_told(differences, tmp_path):
    text = agreed("reader-").read_text()
    assert "name='varve_table_cell'" in text and "vv_" not in text
    changed = tmp_path / "changed.xml"
    changed.write_text(text.replace("'varve_table_cell'", "'varve_table_cells'"))
    code, words = differences(changed, sources.BUILD / "libvarve-reader.so")
    assert code & CHANGED and not code & 3, words


@pytest.mark.parametrize("name", ["profapi", "msprofiler"])
def test_programs_for_the_vendor_s_libraries_still_run(differences, name):
    code, words = differences(sources.ROOT / "abi" / f"{name}.xml",
                              sources.BUILD / "compat" / f"lib{name}.so")
    assert code == 0, f"{words}\nIf that is meant: make abi"


@pytest.mark.parametrize("former, latter", [
    ("'varve_version'", "'varve_former'"),                       # a function is gone
    ("name='varve_control' size-in-bits='32768'", "name='varve_control' size-in-bits='65536'"),
    ("name='VARVE_INTERNAL' value='13'", "name='VARVE_INTERNAL' value='12'")])
def test_a_change_is_told(differences, tmp_path, former, latter):
    text = agreed().read_text()
    assert former in text
    changed = tmp_path / "changed.xml"
    changed.write_text(text.replace(former, latter))
    code, words = differences(changed)
    assert code & CHANGED and not code & 3, words


@pytest.mark.parametrize("path, soname", [
    (agreed(), "libvarve.so.0"), (agreed("reader-"), "libvarve-reader.so.0"),
    (sources.ROOT / "abi" / "profapi.xml", "libprofapi.so"),
    (sources.ROOT / "abi" / "msprofiler.xml", "libmsprofiler.so")])
def test_the_file_tells_of_this_library_alone(path, soname):
    text = path.read_text()
    assert f"soname='{soname}'" in text
    assert not re.search(r"path='/", text)

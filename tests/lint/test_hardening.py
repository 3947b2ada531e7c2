# SPDX-License-Identifier: Apache-2.0
"""What the linked files owe to hostile input: stack protector, checked copies, full RELRO, no fixed
addresses."""
import re
import subprocess

import pytest
import sources

FILES = ("varve", "libvarve.so")


def readelf(name, *options):
    file = sources.BUILD / name
    if not file.exists():
        pytest.skip(f"needs {name}: make")
    return subprocess.run(["readelf", "-W", *options, file], capture_output=True, text=True,
                          check=True).stdout


def is_sanitized():
    cache = sources.BUILD / "CMakeCache.txt"
    return cache.exists() and re.search(r"^VARVE_SANITIZE:\w+=.", cache.read_text(),
                                        re.MULTILINE) is not None


@pytest.mark.parametrize("name", FILES)
def test_tables_of_links_are_read_only_from_the_start(name):
    assert re.search(r"^ *GNU_RELRO ", readelf(name, "-l"), re.MULTILINE)
    assert re.search(r"\(FLAGS_1\) .*\bNOW\b", readelf(name, "-d"))


@pytest.mark.parametrize("name", FILES)
def test_the_stack_is_not_executable(name):
    stack = re.search(r"^ *GNU_STACK .* (\S+) +0x\w+$", readelf(name, "-l"), re.MULTILINE)
    assert stack[1] == "RW"


@pytest.mark.parametrize("name", FILES)
def test_it_lies_at_no_fixed_address(name):
    assert "Type:                              DYN" in readelf(name, "-h")
    assert "TEXTREL" not in readelf(name, "-d")


@pytest.mark.parametrize("name", FILES)
def test_arrays_on_the_stack_are_guarded_and_copies_checked(name):
    if is_sanitized():
        pytest.skip("the sanitizers' builds have checks of their own")
    called = set(re.findall(r" UND (\w+)", readelf(name, "--dyn-syms")))
    assert "__stack_chk_fail" in called
    assert {"__memcpy_chk", "__snprintf_chk"} <= called


UNBOUNDED = re.compile(r"\b(?:strcpy|strcat|vsprintf|gets)\s*\(")


def test_no_copy_is_without_a_bound():
    found = [f"{path.relative_to(sources.ROOT)}:{number}" for path in sources.code(".c", ".h")
             if path.relative_to(sources.ROOT).parts[0] == "src"
             for number, line in enumerate(path.read_text().splitlines(), 1)
             if UNBOUNDED.search(line)]
    assert found == [], "use snprintf, or memcpy with a size that was checked"

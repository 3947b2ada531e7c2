# SPDX-License-Identifier: Apache-2.0
"""libvarve-reader.so as a file: what it exports and to whom, and that the command `varve` has its
code from there."""
import hashlib
import re
import subprocess

import pytest
import sources

LIBRARY = sources.BUILD / "libvarve-reader.so"
PROGRAM = sources.BUILD / "varve"
HEADER = sources.ROOT / "include" / "varve" / "reader.h"
DECLARATION = re.compile(r"VARVE_READER_API\b[^;{]*?\b(varve_\w+)\s*[(;]")
MAY_NEED = re.compile(r"lib(c|m|z|zstd|isal|pthread|dl)\.so\.\d+|ld-linux-[\w-]+\.so\.\d")


def readelf(file, *options):
    if not file.exists():
        pytest.skip(f"needs {file.name}: make")
    return subprocess.run(["readelf", "-W", *options, file], capture_output=True, text=True,
                          check=True).stdout


def symbols(file):
    """[(name, version, is it defined here)] of the dynamic symbols."""
    found = []
    for row in map(str.split, readelf(file, "--dyn-syms").splitlines()):
        if len(row) >= 8 and row[4] in ("GLOBAL", "WEAK") and row[6] != "ABS":
            name, _, version = row[7].replace("@@", "@").partition("@")
            found.append((name, version, row[6] != "UND"))
    return found


def declared():
    text = re.sub(r"/\*.*?\*/|^#define.*?$", "", HEADER.read_text(), flags=re.DOTALL | re.MULTILINE)
    return set(DECLARATION.findall(text))


def digest():
    """Of the sources that the build lists, as cmake/private_node.cmake says."""
    listed = sorted((sources.BUILD / "libvarve-reader.sources").read_text().split())
    lines = "".join(f"{hashlib.sha256(open(path, 'rb').read()).hexdigest()} "
                    f"{path.removeprefix(str(sources.ROOT) + '/')}\n" for path in listed)
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def test_it_exports_what_the_header_declares_and_else_what_is_the_command_s_alone():
    assert {"varve_trace_open", "varve_table_cell"} <= declared()
    private = f"VARVE_PRIVATE_{digest()}"
    offered = {}
    for name, version, is_ours in symbols(LIBRARY):
        if is_ours:
            offered.setdefault(version, set()).add(name)
    assert offered.keys() == {"VARVE_READER_0.1", private}
    assert offered["VARVE_READER_0.1"] == declared()
    assert len(offered[private]) > 500
    assert [name for name in offered[private] if not name.startswith("vv_")] == []


def test_the_map_names_them_in_order():
    text = (sources.ROOT / "src" / "reader" / "libvarve-reader.map.in").read_text()
    names = re.findall(r"^    (varve_\w+);$", text, re.MULTILINE)
    assert names == sorted(names) and set(names) == declared()


def test_it_needs_few_libraries_and_calls_itself_directly():
    dynamic = readelf(LIBRARY, "-d")
    assert "[libvarve-reader.so.0]" in dynamic and "(SYMBOLIC)" in dynamic
    assert "TEXTREL" not in dynamic and "RUNPATH" not in dynamic and "NOW" in dynamic
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    assert [name for name in needed if not MAY_NEED.fullmatch(name)] == []
    # through the procedure linkage table go calls of others alone
    jumps = re.findall(r"JUMP?_SLOT\w*\s+[0-9a-f]+\s+(\w+)", readelf(LIBRARY, "-r"))
    assert "malloc" in jumps
    assert [name for name in jumps if name.startswith(("vv_", "varve_"))] == []


def test_the_library_never_ends_the_program_nor_prints():
    """What a library in somebody's program may not do, it cannot: it does not name it. It starts
    Graphviz, by posix_spawn."""
    wanted = {name for name, _, is_ours in symbols(LIBRARY) if not is_ours}
    forbidden = {"exit", "_exit", "quick_exit", "fork", "vfork", "execve", "execvpe",
                 "system", "signal", "printf", "puts", "putchar", "perror", "stdout",
                 "stderr", "setenv", "putenv", "chdir", "setlocale", "__printf_chk"}
    assert wanted & forbidden == set()


def test_the_command_has_its_code_from_the_library():
    """And none of it twice: what it defines is src/cli."""
    private = {name for name, version, is_ours in symbols(LIBRARY)
               if is_ours and version.startswith("VARVE_PRIVATE_")}
    rows = map(str.split, readelf(PROGRAM, "-s").partition(".symtab")[2].splitlines())
    own = {row[7] for row in rows if len(row) >= 8 and row[6] not in ("UND", "ABS")
           and row[4] in ("GLOBAL", "WEAK")}
    assert "main" in own and own & private == set()
    taken = {(name, version) for name, version, is_ours in symbols(PROGRAM)
             if not is_ours and name.startswith("vv_")}
    assert ("vv_import_all", f"VARVE_PRIVATE_{digest()}") in taken
    # no table of the library's is copied into the program, where the library would not see it
    assert not re.search(r"_COPY\s.*\bvv_", readelf(PROGRAM, "-r"))


def test_the_command_finds_it_beside_itself_or_in_its_prefix():
    (path,) = re.findall(r"\(RUNPATH\).*\[(.*)\]", readelf(PROGRAM, "-d"))
    folders = path.split(":")
    assert folders[0] == "$ORIGIN" and len(folders) == 2
    assert re.fullmatch(r"\$ORIGIN/\.\./lib[\w/-]*", folders[1])

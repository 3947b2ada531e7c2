# SPDX-License-Identifier: Apache-2.0
"""What src/ and compat/ define is used: a function or an object that other files may see by another
file, a macro or an inline function of a header at all."""
import collections
import json
import re
import subprocess

import pytest
import sources

DEFINITION = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
INLINE = re.compile(r"^static inline\b[^;{}=]*?\b(\w+)\(", re.MULTILINE)
PASTED = re.compile(r"\b(\w+?_)[ \t]*##")
OUTPUT = re.compile(r" -o (\S+\.o) ")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
EMBEDDED = "vv_page_"  # labels of pages, which the assembler only hands on if they are global


def seen_in_vain(listing):
    """Names vv_… that one file defines and no other one needs, in what `nm -A` says of objects. Two
    objects of one source are one file."""
    defined, needed = {}, collections.defaultdict(set)
    for line in listing.splitlines():
        words = line.split()
        file = words[0].split(":")[0].rpartition(".dir/")[2]
        if words[-2] == "U":
            needed[words[-1]].add(file)
        elif words[-2] in "TDBR" and file.startswith(("src/", "compat/")):
            defined[words[-1]] = file
    return {f"{file}: {name}" for name, file in defined.items()
            if name.startswith("vv_") and not needed[name] - {file}}


def test_names_that_other_files_see_are_used_there():
    listed = sources.BUILD / "compile_commands.json"
    commands = json.loads(listed.read_text()) if listed.exists() else []
    objects = sorted(name for command in commands for name in OUTPUT.findall(command["command"])
                     if (sources.BUILD / name).exists())
    if not any(name.startswith("tests/") for name in objects):
        pytest.skip("needs the programs of the tests: make tests")
    listing = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True,
                             cwd=sources.BUILD).stdout
    assert [name for name in sorted(seen_in_vain(listing)) if EMBEDDED not in name] == []
    assert len(listing) > 1000000


def test_a_name_that_should_be_static_is_told():
    listing = ("b/a.dir/src/x/one.c.o:00 T vv_alone\nb/a.dir/src/x/one.c.o:00 T vv_used\n"
               "b/a.dir/src/x/one.c.o:00 t own\nb/b.dir/src/x/one.c.o:   U vv_alone\n"
               "b/b.dir/src/x/two.c.o:   U vv_used\nb/b.dir/tests/t.c.o:00 T vv_helps\n")
    assert seen_in_vain(listing) == {"src/x/one.c.o: vv_alone"}


def unused(texts):
    """Macros and inline functions of {file: text} that are named once, where they are defined."""
    counts, found = collections.Counter(), set()
    plain = {name: COMMENT.sub("", text) for name, text in texts.items()}
    for text in plain.values():
        counts.update(re.findall(r"\w+", text))
    for name, text in plain.items():
        pasted = tuple(PASTED.findall(text)) or ("\0",)
        words = DEFINITION.findall(text) + (INLINE.findall(text) if name.endswith(".h") else [])
        found |= {f"{name}: {word}" for word in words
                  if counts[word] == 1 and not word.startswith(pasted)}
    return found


def test_macros_and_inline_functions_are_used():
    texts = {str(path.relative_to(sources.ROOT)): path.read_text(encoding="utf-8")
             for path in sources.code(".c", ".h") if path.suffix in (".c", ".h")}
    assert sorted(name for name in unused(texts) if name.startswith(("src/", "compat/"))) == []


def test_an_unused_macro_is_told():
    texts = {"a.h": "#define DEAD 1 /* DEAD is not used */\n#define LIVE 2\n#define TYPE_int 3\n"
                    "#define X(name) TYPE_##name\nstatic inline int dead(void)\n",
             "a.c": "int a = LIVE + X(int);\n"}
    assert unused(texts) == {"a.h: DEAD", "a.h: dead"}

# SPDX-License-Identifier: Apache-2.0
"""Programs that are not linked to libvarve.so (include/varve/unlinked.h). With VARVE_DISABLE no
trace of the marks is left. With VARVE_WEAK the library is used where the process has it: in every
form of program, from every compiler, and else a mark is one load and one branch."""
import json
import os
import platform
import re
import shutil
import subprocess

import pytest

EXAMPLES = ["c-loop", "graphrun", "runtime", "train"]
MARKED = """
#include <varve/backend.h>
#include <varve/control.h>
#include <varve/exec.h>
#include <varve/observer.h>
#include <varve/past.h>
#include <varve/trace_points.h>
#include <varve/values.h>

VARVE_SITE(inner, "inner", VARVE_LAYER_OP);

#ifdef __cplusplus
extern "C"
#endif
int work(int step);
int work(int step)
{
#ifndef UNMARKED
    VARVE_SCOPE("outer"); VARVE_SCOPE("beside it");
    varve_step_begin(step);
    varve_begin(&inner);
    varve_counter(&inner, step);
    varve_next(&inner);
    varve_execute_begin(0, 0);
    varve_end();
    varve_step_end();
#else
    (void)&inner;
#endif
    return step * 3;
}
"""
PROBE = """
#include <varve/varve.h>
VARVE_SITE(site, "site", VARVE_LAYER_OP);
int probe(void);
int probe(void)
{
    varve_begin(&site);
    return 1;
}
"""
MAIN = """
#include <stdio.h>
#include <varve/values.h>

#ifdef __cplusplus
extern "C"
#endif
int work(int step);
VARVE_SITE(of_main, "of main", VARVE_LAYER_OP);

int main(void)
{
    struct varve_error error;
    struct varve_backward backward;
    int sum = 0;
    for (int step = 0; step < 10; step++) {
        varve_begin(&of_main);
        sum += work(step);
        varve_end();
    }
    varve_backward_take(&backward);
#ifdef __cplusplus
    varve::range range("by its name");
#endif
    printf("%d %s %u %d\\n", sum, varve_version(), varve_layers(),
           varve_session_stop(&error) != VARVE_STATE);
    return 7;
}
"""
C, CPP = ("-x", "c", "-std=c99"), ("-x", "c++", "-std=c++11")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
COMPILERS = [("gcc", C), ("g++", CPP), ("clang-14", C), ("clang-14", CPP)]


def run(*command, status=0, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, timeout=240, **options)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(name="compiled")
def fixture_compiled(root, tmp_path):
    """compiled(NAME, TEXT, COMPILER, OPTIONS…): the object file."""
    def compiled(name, text, compiler, *options):
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed; gcc and g++ see the same headers")
        (tmp_path / f"{name}.c").write_text(text)
        run(compiler, *options, *STRICT, "-I", root / "include", "-c", f"{name}.c", "-o",
            f"{name}.o", cwd=tmp_path)
        return tmp_path / f"{name}.o"
    return compiled


def symbols(path, *options):
    return {line.split()[-1] for line in run("nm", *options, path).splitlines()}


def text_bytes(path):
    """Of the code, without what describes the stack to debuggers."""
    rows = [line.split() for line in run("size", "-A", path).splitlines()]
    return {row[0]: int(row[1]) for row in rows
            if len(row) == 3 and row[0].startswith((".text", ".data", ".rodata", ".bss"))
            and row[1] != "0"}


@pytest.mark.parametrize("compiler, language", COMPILERS)
def test_disabled_marks_are_nothing(compiler, language, compiled):
    """The object is that of the same program without marks."""
    options = (*language, "-O2", "-DVARVE_DISABLE")
    marked = compiled("marked", MARKED, compiler, *options)
    # the second is C++'s own, of clang
    assert symbols(marked) - {"__gxx_personality_v0"} == {"work"}
    assert text_bytes(marked) == text_bytes(compiled("unmarked", MARKED, compiler, *options,
                                                     "-DUNMARKED"))
    unoptimised = compiled("unoptimised", MARKED, compiler, *language, "-O0", "-DVARVE_DISABLE")
    assert not {name for name in symbols(unoptimised, "--undefined-only") if "varve" in name}


@pytest.mark.parametrize("way", ["VARVE_DISABLE", "VARVE_WEAK"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_compiles_without_the_library(name, way, root, tmp_path):
    for source in sorted((root / "examples" / name).glob("*.c")):
        out = tmp_path / f"{source.stem}.o"
        run("gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", *STRICT, f"-D{way}", "-I",
            root / "include", "-I", root / "examples" / name, "-c", source, "-o", out, cwd=root)
        assert not {found for found in symbols(out, "--undefined-only") if "varve" in found}


@pytest.mark.parametrize("way", ["VARVE_DISABLE", "VARVE_WEAK"])
def test_an_example_says_the_same_without_the_library(way, root, build, tmp_path):
    """graphrun uses graphs, models, trace points, observers and tasks."""
    with_library = build / "examples" / "graphrun"
    if not with_library.exists():
        pytest.skip("this build has no examples")
    sources = [*sorted((root / "examples" / "graphrun").glob("*.c")),
               *(root / "examples" / "train" / f"{name}.c"
                 for name in ("digits", "loader", "buffer"))]
    run("gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", f"-D{way}", "-I", root / "include", "-I",
        root / "examples" / "graphrun", *sources, "-o", tmp_path / "graphrun", "-lm", "-lpthread",
        cwd=root)
    options = ("--steps", "3", "--every", "1", "--held-out", "0")
    assert run(tmp_path / "graphrun", *options, cwd=tmp_path) == run(with_library, *options,
                                                                     cwd=tmp_path)


FORMS = {
    "pie": [(), ("main.o", "work.o")],
    "no-pie": [("-no-pie",), ("main.o", "work.o")],
    "archive": [(), ("main.o", "libwork.a")],
    "shared": [("-Wl,-rpath,$ORIGIN",), ("main.o", "./libwork.so")],
}


def check_records(program, folder, varve):
    """Unrecorded it says that there is no library; recorded, its ranges and steps are there."""
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("VARVE", "LD_"))}
    at = {"cwd": folder, "env": environment, "status": 7}
    assert run(program, **at) == "135 0.0.0 0 1\n"
    assert run(varve, "record", "-q", "-o", "own.varve", "--", program,
               **at) == "135 0.1.0 2047 0\n"
    found = json.loads(run(varve, "report", "--json", "--table", "operators", "--warm-up", "--top",
                           "0", "own.varve", cwd=folder))["tables"]["operators"]
    names = [column["name"] for column in found["columns"]]
    rows = [dict(zip(names, row)) for row in found["rows"]]
    calls = {row["name"]: row["calls"] for row in rows if row["row"] == "operator"}
    assert calls["inner"] == 20 and calls["outer"] == calls["beside it"] == 10


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("compiler, language", COMPILERS)
def test_a_weak_program_uses_the_library_that_is_loaded(compiler, language, form, compiled, varve,
                                                        tmp_path):
    code = ("-fno-pie",) if form == "no-pie" else ("-fPIC",)
    options = (*language, *code, "-O1", "-DVARVE_WEAK")
    work = compiled("work", MARKED, compiler, *options)
    compiled("main", MAIN, compiler, *options)
    if form == "archive":
        run("ar", "rcs", "libwork.a", work, cwd=tmp_path)
    elif form == "shared":
        run(compiler, "-shared", work, "-o", "libwork.so", cwd=tmp_path)
    linking, objects = FORMS[form]
    run("g++" if language == CPP else compiler, *objects, *linking, "-o", "program", cwd=tmp_path)
    needed = run("readelf", "-dW", tmp_path / "program")
    assert "libvarve" not in needed
    check_records(tmp_path / "program", tmp_path, varve)


def test_linked_weak_and_disabled_files_go_into_one_program(compiled, build, varve, tmp_path):
    """Each file keeps its own way."""
    compiled("main", MAIN, "gcc", *C, "-DVARVE_DISABLE")
    compiled("work", MARKED, "gcc", *C, "-DVARVE_WEAK")
    compiled("probe", PROBE, "gcc", *C)
    run("gcc", "main.o", "work.o", "probe.o", f"-L{build}", "-lvarve", f"-Wl,-rpath,{build}", "-o",
        "program", cwd=tmp_path)
    run(varve, "record", "-q", "-o", "own.varve", "--", "./program", cwd=tmp_path, status=7)
    said = run(varve, "report", "--csv", "--table", "operators", "--warm-up", "own.varve",
               cwd=tmp_path)
    assert "inner" in said and "of main" not in said


def test_a_library_that_only_python_loaded_is_found(compiled, build, tmp_path, root):
    """ctypes loads it out of sight of others: then a shared library with marks finds it by name."""
    compiled("work", MARKED, "gcc", *C, "-fPIC", "-DVARVE_WEAK")
    run("gcc", "-shared", "work.o", "-o", "libwork.so", cwd=tmp_path)
    program = ("import ctypes, varve\n"
               "work = ctypes.CDLL('./libwork.so').work\n"
               "with varve.profile() as prof:\n    work(5)\n"
               "print({row.key: row.count for row in prof.key_averages()}['inner'])\n")
    environment = {**os.environ, "PYTHONPATH": str(root / "python"),
                   "VARVE_LIBRARY": str(build / "libvarve.so")}
    assert run("python3", "-c", program, cwd=tmp_path,
               env=environment) == "2\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="counts instructions of x86-64")
@pytest.mark.parametrize("compiler", ["gcc", "clang-14"])
def test_a_weak_mark_costs_a_load_and_a_branch(compiler, compiled):
    """Without the library these run: a load, a test, a jump; and what the function itself needs."""
    path = compiled("probe", PROBE, compiler, *C, "-O2", "-DVARVE_WEAK")
    lines = run("objdump", "-d", "--no-show-raw-insn", path).partition("<probe>:\n")[2]
    instructions = [line.partition(":\t")[2].split()[0] for line in lines.splitlines()
                    if ":\t" in line]
    branch = next(at for at, word in enumerate(instructions) if re.match("j[a-z]+", word))
    assert [word for word in instructions[:branch + 1] if word != "push"] == ["mov", "test", "je"]


def test_a_static_program_runs_as_if_nothing_were_recorded(compiled, tmp_path):
    compiled("main", MAIN, "gcc", *C, "-DVARVE_WEAK")
    compiled("work", MARKED, "gcc", *C, "-DVARVE_WEAK")
    run("gcc", "-static", "main.o", "work.o", "-o", "program", cwd=tmp_path)
    assert run("./program", cwd=tmp_path, status=7) == "135 0.0.0 0 1\n"


def test_the_list_has_every_function_of_the_headers(root):
    """By name and parameters, in the words of the headers."""
    def words(text):
        return " ".join(re.sub(r"/\*.*?\*/|\\\n", " ", text, flags=re.DOTALL).split())
    declared = set()
    for header in (root / "include" / "varve").glob("*.h"):
        for found in re.findall(r"^VARVE_API (?!struct )(.*?);", header.read_text(),
                                re.DOTALL | re.MULTILINE):
            declared.add(words(found).replace("VARVE_DIRECT ", "").replace("* varve_", "*varve_"))
    text = words((root / "include" / "varve" / "unlinked.h").read_text())
    listed = set()
    for row in re.findall(r"(?:DOES|GIVES)\(T, (.*?\)), \(", text):
        kind, name, parameters = re.match(r"(?:(.*?), )?(varve_\w+), (\(.*\))", row).groups()
        kind = "void " if kind is None else kind if kind.endswith("*") else f"{kind} "
        listed.add(f"{kind}{name}{parameters}")
    assert len(declared) > 90 and declared == listed

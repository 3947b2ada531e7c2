# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone; the public ones as C99 and as C++11, under a user's strict
warnings."""
import shutil
import subprocess

import pytest
import sources

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
INCLUDES = ["-I", "include", "-I", "src"]
PUBLIC = sorted(path.relative_to(sources.ROOT / "include") for path in sources.code(".h")
                if path.is_relative_to(sources.ROOT / "include"))
INTERNAL = sorted(path.relative_to(sources.ROOT / "src") for path in sources.code(".h")
                  if path.is_relative_to(sources.ROOT / "src"))
# Everything that varve.h and observer.h offer as a macro: its expansion must pass the user's
# warnings, too.
MACROS = """
#include <varve/observer.h>
#include <varve/varve.h>
VARVE_SITE(site, "name", VARVE_LAYER_OP);
void use(double value);
void use(double value)
{
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    struct varve_observer observer = VARVE_OBSERVER_INIT;
    struct varve_observer_state known = VARVE_OBSERVER_STATE_INIT;
    struct varve_observers_of_thread former = VARVE_OBSERVERS_OF_THREAD_INIT;
    struct varve_guard guard = VARVE_GUARD_INIT(&site);
    uint64_t handle = 0;
    VARVE_SCOPE("outer");
    varve_begin(&site);
    { VARVE_SCOPE("one line"); VARVE_SCOPE_LAYER("inner", VARVE_LAYER_HOST); varve_op(&info); }
    varve_counter(&site, value);
    varve_alloc(&info, sizeof info, VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1));
    varve_end();
    info.input_count = varve_guard_needs(&guard) & VARVE_NEED_INPUTS;
    varve_guard_begin(&guard, &info);
    varve_guard_end(&guard, info.inputs, info.input_count);
    if (varve_observer_add(&observer, &handle, &error) == VARVE_OK &&
        varve_observer_query(handle, &known, &error) == VARVE_OK)
        varve_observers_restore(&former, &former, NULL);
    if (varve_session_start(&options, &error) == VARVE_OK)
        varve_session_stop(NULL);
}
"""
LANGUAGES = [("gcc", "c", "c99"), ("gcc", "c", "c17"), ("g++", "c++", "c++11"),
             ("g++", "c++", "c++20"), ("clang-14", "c", "c99"), ("clang-14", "c++", "c++11")]


def compiled(text, compiler, language, standard, *options):
    """What the compiler says about the text; "" if it accepts it."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed; gcc and g++ see the same headers")
    done = subprocess.run([compiler, "-x", language, f"-std={standard}", *STRICT, *INCLUDES,
                           *options, "-"],
                          input=text, text=True, capture_output=True, cwd=sources.ROOT, check=False)
    return done.stderr if done.returncode else ""


def test_there_are_headers():
    assert len(PUBLIC) >= 2 and len(INTERNAL) >= 20


# linked to the library, and the two ways without: include/varve/unlinked.h
WAYS = [(), ("-DVARVE_DISABLE",), ("-DVARVE_WEAK",)]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("compiler, language, standard", LANGUAGES)
def test_public_headers_compile_alone(compiler, language, standard, way):
    for header in PUBLIC:
        twice = f'#include "{header}"\n#include "{header}"\nextern int some_declaration;\n'
        assert compiled(twice, compiler, language, standard, *way) == ""


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("compiler, language, standard", LANGUAGES)
def test_public_macros_expand_without_a_warning(compiler, language, standard, way):
    assert compiled(MACROS, compiler, language, standard, *way) == ""


# as CMakeLists.txt compiles what is internal
INSIDE = ("-D_GNU_SOURCE", "-include", sources.ROOT / "src/base/must_use.h")


@pytest.mark.parametrize("header", INTERNAL, ids=str)
def test_internal_headers_compile_alone(header):
    text = f'#include "{header}"\n#include "{header}"\nextern int some_declaration;\n'
    assert compiled(text, "gcc", "c", "gnu17", *INSIDE) == ""


@pytest.mark.parametrize("call", ["vv_fail(NULL, VARVE_IO, \"x\")", "vv_arena_alloc(arena, 1)"])
def test_a_result_that_is_not_looked_at_is_told(call):
    text = '#include "base/arena.h"\n#include "base/error.h"\nvoid f(struct vv_arena *arena);\n' \
           "void f(struct vv_arena *arena)\n{ (void)arena; %s; }\n"
    assert "ignoring return value" in compiled(text % call, "gcc", "c", "gnu17", *INSIDE)
    assert compiled(text % f"(void){call}", "gcc", "c", "gnu17", *INSIDE) == ""


def test_a_header_that_needs_another_is_told():
    assert "uint32_t" in compiled("uint32_t f(void);\n", "gcc", "c", "c99")
    assert "ISO C90" in compiled("int f(int a);\nint f(int a)\n{ a++; int b = a; return b; }\n",
                                 "gcc", "c", "c89")

# SPDX-License-Identifier: Apache-2.0
"""What `make install` puts on a machine: a user's program builds against it, from any prefix, and
runs."""
import os
import pathlib
import subprocess

import pytest

PROGRAM = """
#include <stdio.h>
#include <varve/varve.h>

VARVE_SITE(forward, "forward", VARVE_LAYER_STEP);

int main(void)
{
    for (int step = 0; step < 3; step++) {
        varve_step_begin(step);
        varve_begin(&forward);
        { VARVE_SCOPE("inner"); }
        varve_end();
        varve_step_end();
    }
    printf("%s %u\\n", varve_version(), varve_layers());
    return 7;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES C CXX)
find_package(varve 0.1 REQUIRED)
add_executable(in_c program.c)
target_link_libraries(in_c PRIVATE varve::varve)
add_executable(in_cpp program.cpp)
target_link_libraries(in_cpp PRIVATE varve::varve)
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def clean_environment(**more):
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("VARVE", "LD_", "PKG_CONFIG", "CMAKE_", "MAKE", "MFLAGS"))}
    return {**kept, **more}


def cache_entry(build, name):
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.partition("=")[2]
    raise KeyError(name)


@pytest.fixture(scope="module")
def prefix(build, varve, tmp_path_factory):
    """A prefix that the build has never heard of."""
    assert varve.exists()
    folder = tmp_path_factory.mktemp("install") / "prefix"
    run("cmake", "--install", build, "--prefix", folder)
    return folder


@pytest.fixture(scope="module")
def libraries(build, prefix):
    return prefix / cache_entry(build, "CMAKE_INSTALL_LIBDIR")


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "program.cpp").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    return tmp_path


def check_unrecorded(program, folder, libraries):
    """It prints what it prints, ends as it ends, and leaves nothing behind."""
    before = sorted(os.listdir(folder))
    done = subprocess.run([program], cwd=folder, capture_output=True, text=True, check=False,
                          env=clean_environment(LD_LIBRARY_PATH=str(libraries)))
    assert (done.returncode, done.stdout, done.stderr) == (7, "0.1.0 0\n", "")
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("compiler, source, standard", [
    ("cc", "program.c", "c99"), ("c++", "program.cpp", "c++11")])
def test_pkg_config(compiler, source, standard, sources, libraries):
    environment = clean_environment(PKG_CONFIG_PATH=str(libraries / "pkgconfig"))
    assert run("pkg-config", "--modversion", "varve", env=environment) == "0.1.0\n"
    # A shell splits what pkg-config quotes.
    run("sh", "-c",
        f"{compiler} -std={standard} -Wall -Wextra -Wpedantic -Werror -o program {source}"
        ' $(pkg-config --cflags --libs varve | sed "s/\\\\\\\\ /?/g")', cwd=sources,
        env=environment)
    check_unrecorded(sources / "program", sources, libraries)


def test_ascend_s_interfaces(sources, prefix, libraries):
    """Headers and libraries are apart: only who asks for them finds them."""
    environment = clean_environment(PKG_CONFIG_PATH=str(libraries / "pkgconfig"))
    assert not (libraries / "libprofapi.so").exists() and not (prefix / "include/acl").exists()
    (sources / "p.cpp").write_text("#include <ge/ge_prof.h>\n#include <profiling/aprof_pub.h>\n"
                                   "int main() { return ge::aclgrphProfFinalize() + "
                                   "(MsprofGetHashId(\"a\", 1) != 0x6100000061ull); }\n")
    run("sh", "-c", "c++ -std=c++11 -o p p.cpp $(pkg-config --cflags --libs varve-compat) "
        f"-Wl,-rpath-link,{libraries}", cwd=sources, env=environment)
    # They find libvarve.so by where they lie.
    run("./p", cwd=sources, env=clean_environment(
        LD_LIBRARY_PATH=str(libraries / "varve" / "compat")))


def test_cmake_package(sources, prefix, libraries):
    environment = clean_environment()
    run("cmake", "-S", sources, "-B", sources / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        env=environment)
    run("cmake", "--build", sources / "build", env=environment)
    for name in ("in_c", "in_cpp"):
        check_unrecorded(sources / "build" / name, sources, libraries)


def test_installed_varve_records_with_the_installed_library(sources, prefix, libraries):
    run("cc", "-o", sources / "program", sources / "program.c", "-I", prefix / "include", "-L",
        libraries, "-lvarve", env=clean_environment())
    done = subprocess.run([prefix / "bin" / "varve", "record", "-o", "own.varve", "--",
                           "./program"], cwd=sources,
                          env=clean_environment(LD_LIBRARY_PATH=str(libraries)),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 7, done.stderr
    assert done.stdout == "0.1.0 2047\n"
    assert (sources / "own.varve" / "manifest.json").exists()


def test_everything_lies_where_it_is_looked_for(prefix, libraries):
    installed = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
    library = str(libraries.relative_to(prefix))
    verbs = [path.name.removeprefix("cmd_").removesuffix(".c")
             for path in (pathlib.Path(__file__).parents[2] / "src" / "cli").glob("cmd_*.c")]
    assert len(verbs) >= 8
    expected = {"bin/varve", "include/varve/varve.h", "include/varve/error.h",
                "share/man/man1/varve.1", "share/bash-completion/completions/varve",
                "share/zsh/site-functions/_varve", "share/fish/vendor_completions.d/varve.fish",
                f"{library}/varve/compat/libprofapi.so", f"{library}/varve/compat/libmsprofiler.so",
                f"{library}/pkgconfig/varve.pc", f"{library}/pkgconfig/varve-compat.pc",
                f"{library}/libvarve.so",
                f"{library}/libvarve.so.0", f"{library}/libvarve.so.0.1.0",
                f"{library}/cmake/varve/varve-config.cmake"}
    expected |= {f"share/man/man1/varve-{verb}.1" for verb in verbs}
    assert expected - installed == set()
    python = pathlib.Path(__file__).parents[2] / "python"
    expected |= {f"share/varve/python/{path.relative_to(python)}" for path in python.rglob("*")
                 if path.is_file() and path.suffix != ".pyc"}
    strangers = {name for name in installed - expected
                 if not name.startswith(("include/", f"{library}/cmake/varve/"))}
    assert strangers == set()


def test_make_install_obeys_destdir_and_prefix(root, build, tmp_path):
    if build != root / "build":
        pytest.skip("the Makefile installs from build/, and VARVE_BUILD names another folder")
    run("make", "install", f"DESTDIR={tmp_path}/stage", "PREFIX=/opt/varve", cwd=root,
        env=clean_environment())
    assert (tmp_path / "stage" / "opt" / "varve" / "bin" / "varve").exists()
    assert [path.name for path in (tmp_path / "stage").iterdir()] == ["opt"]

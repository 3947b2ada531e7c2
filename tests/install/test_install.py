# SPDX-License-Identifier: Apache-2.0
"""What `make install` puts on a machine: a user's program builds against it, from any prefix, and
runs."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

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
READER = """
#include <stdio.h>
#include <varve/reader.h>

int main(int argc, char **argv)
{
    struct varve_trace *trace = NULL;
    const struct varve_table *slices = NULL;
    struct varve_error error;
    if (varve_trace_open((const char *const *)(argv + 1), (size_t)(argc - 1), NULL, &trace,
                         &error) != VARVE_OK ||
        varve_trace_table(trace, "slices", &slices, &error) != VARVE_OK) {
        puts(error.message);
        return 1;
    }
    printf("%s %llu\\n", varve_reader_version(), (unsigned long long)varve_table_rows(slices));
    varve_trace_close(trace);
    return 7;
}
"""
TRACE = """{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2},
                            {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 4, "dur": 2}]}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES C CXX)
find_package(varve 0.1 REQUIRED)
add_executable(in_c program.c)
target_link_libraries(in_c PRIVATE varve::varve)
add_executable(in_cpp program.cpp)
target_link_libraries(in_cpp PRIVATE varve::varve)
add_executable(reads_in_c reader.c)
target_link_libraries(reads_in_c PRIVATE varve::reader)
add_executable(reads_in_cpp reader.cpp)
target_link_libraries(reads_in_cpp PRIVATE varve::reader)
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
    (tmp_path / "reader.c").write_text(READER)
    (tmp_path / "reader.cpp").write_text(READER)
    (tmp_path / "trace.json").write_text(TRACE)
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


def test_the_readme_s_own_line(root, libraries, tmp_path):
    line, = re.findall(r"^    (cc .*pkg-config.*)$", (root / "README.md").read_text(), re.MULTILINE)
    run("sh", "-c", line.replace("examples/", f"{root}/examples/") + f" -o {tmp_path}/program",
        env=clean_environment(PKG_CONFIG_PATH=str(libraries / "pkgconfig")))
    run(tmp_path / "program", cwd=tmp_path,
        env=clean_environment(LD_LIBRARY_PATH=str(libraries)))


def test_links_of_the_installed_pages_lead_somewhere(prefix):
    pages = prefix / "share" / "doc" / "varve"
    links = {(str(page.relative_to(pages)), link) for page in pages.rglob("*.md")
             for link in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text())}
    assert {("slow-step.md", "examples/torch/ddp.py"), ("examples/mlir/README.md", "../../tune.md"),
            ("reader.md", "../../../include/varve/reader.h")} < links
    assert {(page, link) for page, link in links
            if not (pages / page).parent.joinpath(link).exists()} == set()


def check_reads(program, folder, libraries):
    done = subprocess.run([program, "trace.json"], cwd=folder, capture_output=True, text=True,
                          check=False, env=clean_environment(LD_LIBRARY_PATH=str(libraries)))
    assert (done.returncode, done.stdout, done.stderr) == (7, "0.1.0 2\n", "")


@pytest.mark.parametrize("compiler, source, standard", [
    ("cc", "reader.c", "c99"), ("c++", "reader.cpp", "c++11")])
def test_pkg_config_of_the_reader(compiler, source, standard, sources, libraries):
    environment = clean_environment(PKG_CONFIG_PATH=str(libraries / "pkgconfig"))
    assert run("pkg-config", "--modversion", "varve-reader", env=environment) == "0.1.0\n"
    run("sh", "-c",
        f"{compiler} -std={standard} -Wall -Wextra -Wpedantic -Werror -o program {source}"
        ' $(pkg-config --cflags --libs varve-reader | sed "s/\\\\\\\\ /?/g")', cwd=sources,
        env=environment)
    check_reads(sources / "program", sources, libraries)


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
    for name in ("reads_in_c", "reads_in_cpp"):
        check_reads(sources / "build" / name, sources, libraries)


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


def test_the_command_finds_its_library_wherever_the_prefix_is(prefix, libraries, sources):
    """Renamed as a whole, or both in one folder, with nothing in the environment."""
    moved = sources / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    together = sources / "together"
    together.mkdir()
    for file in (prefix / "bin" / "varve", libraries / "libvarve-reader.so.0"):
        shutil.copy(file, together)
    for program in (moved / "bin" / "varve", together / "varve"):
        assert run(program, "version", cwd="/", env=clean_environment()).startswith("varve 0.1.0")
        maps = run("sh", "-c", 'LD_TRACE_LOADED_OBJECTS=1 "$0"', program, env=clean_environment())
        (found,) = [line.split()[2] for line in maps.splitlines() if "libvarve-reader" in line]
        assert pathlib.Path(found).resolve().is_relative_to(program.parents[1])


@pytest.mark.parametrize("what", ["another build's", "none"])
def test_a_library_of_another_build_is_refused_in_one_line(what, prefix, libraries, sources):
    """The command takes internal functions from the library: only its own will do."""
    together = sources / "together"
    together.mkdir()
    shutil.copy(prefix / "bin" / "varve", together)
    if what != "none":
        library = (libraries / "libvarve-reader.so.0").read_bytes()
        (node,) = set(re.findall(rb"VARVE_PRIVATE_[0-9a-f]{16}", library))
        # a name and its hash, which readers of symbol versions compare first
        other = node[:-16] + b"0123456789abcdef"
        library = library.replace(node, other)
        library = library.replace(elf_hash(node), elf_hash(other))
        (together / "libvarve-reader.so.0").write_bytes(library)
    done = subprocess.run([together / "varve", "version"], capture_output=True, text=True,
                          check=False, env=clean_environment())
    assert done.returncode not in (0, -11) and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "libvarve-reader.so.0" in line
    assert what == "none" or f"`{node.decode()}' not found" in line


def elf_hash(name):
    """Of a symbol version's name, as System V has it; little-endian."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xf0000000
        value = (value ^ (high >> 24)) & ~high
    return value.to_bytes(4, "little")


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
                f"{library}/libvarve.so", f"{library}/libvarve-reader.so",
                f"{library}/libvarve-reader.so.0", f"{library}/libvarve-reader.so.0.1.0",
                f"{library}/pkgconfig/varve-reader.pc", "include/varve/reader.h",
                f"{library}/libvarve.so.0", f"{library}/libvarve.so.0.1.0",
                f"{library}/cmake/varve/varve-config.cmake"}
    expected |= {f"share/man/man1/varve-{verb}.1" for verb in verbs}
    expected.add(f"{library}/varve/varve-mlir-library")
    expected |= {f"share/doc/varve/{name}" for name in ("CHANGELOG.md", "LICENSE", "metrics.md",
                                                        "report.svg")}
    assert expected - installed == set()
    python = pathlib.Path(__file__).parents[2] / "python"
    expected |= {f"share/varve/python/{path.relative_to(python)}" for path in python.rglob("*")
                 if path.is_file() and path.suffix != ".pyc"}
    with_llvm = {f"{library}/varve/{name}" for name in ("varve-mlir-llvm", "varve-mlir-opt-19.so")}
    strangers = {name for name in installed - expected - with_llvm
                 if not name.startswith(("include/", f"{library}/cmake/varve/",
                                         "share/doc/varve/examples/"))
                 and not re.fullmatch(r"share/doc/varve/[a-z-]+\.md", name.lower())}
    assert strangers == set()


def test_pip_installs_from_the_prefix(prefix, tmp_path):
    """The wheel of an installed Varve has what is installed."""
    name = run(sys.executable, prefix / "share" / "varve" / "python" / "build_wheel.py", tmp_path,
               env=clean_environment()).strip()
    with zipfile.ZipFile(tmp_path / name) as wheel:
        for inside, installed in (
                ("native/varve", "bin/varve"),
                ("native/libvarve.so.0", "lib*/**/libvarve.so.0"),
                ("native/mlir/varve-mlir-library", "lib*/**/varve-mlir-library")):
            found = next(prefix.glob(installed))
            assert wheel.read(f"varve/{inside}") == found.read_bytes()
        names = set(wheel.namelist())
    assert {"varve-0.1.0.data/data/share/man/man1/varve.1",
            "varve-0.1.0.dist-info/licenses/LICENSE",
            "varve-0.1.0.data/data/share/doc/varve/metrics.md"} <= names


def test_make_install_obeys_destdir_and_prefix(root, build, tmp_path):
    if build != root / "build":
        pytest.skip("the Makefile installs from build/, and VARVE_BUILD names another folder")
    run("make", "install", f"DESTDIR={tmp_path}/stage", "PREFIX=/opt/varve", cwd=root,
        env=clean_environment())
    assert (tmp_path / "stage" / "opt" / "varve" / "bin" / "varve").exists()
    assert [path.name for path in (tmp_path / "stage").iterdir()] == ["opt"]

# SPDX-License-Identifier: Apache-2.0
"""Whatever a program is made of, it runs under varve record as it runs alone: its exit code, its
output, its errors."""
import json
import os
import shutil
import subprocess

import pytest

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char *copy = strdup(argc > 1 ? argv[1] : "none");
    printf("out %s\n", copy);
    fprintf(stderr, "err %d\n", argc);
    free(copy);
    if (argc > 1 && strcmp(argv[1], "fault") == 0)
        abort();
    return 3;
}
"""
# name: (compiler and options, what to install, the clause that says why it is not recorded; "" = it
# is)
GCC, CLANG, MUSL = ("gcc: apt-get install gcc", "clang: apt-get install clang libclang-rt-14-dev",
                    "musl-gcc: apt-get install musl-tools")
MULTILIB = "gcc -m32: apt-get install gcc-12-multilib"
STATIC, OTHER_LIBC = "is statically linked", "is a program of musl"
OTHER_CLASS = "is a 32-bit program, and libvarve.so has 64 bits"
KINDS = {
    "plain": (["gcc"], GCC, ""),
    "static": (["gcc", "-static"], GCC, STATIC),
    "static-pie": (["gcc", "-static-pie"], GCC, STATIC),
    "gcc-asan": (["gcc", "-fsanitize=address"], GCC, ""),
    "gcc-asan-static": (["gcc", "-fsanitize=address", "-static-libasan"], GCC, ""),
    "gcc-tsan": (["gcc", "-fsanitize=thread"], GCC, ""),
    "gcc-tsan-static": (["gcc", "-fsanitize=thread", "-static-libtsan"], GCC, ""),
    "gcc-ubsan": (["gcc", "-fsanitize=undefined"], GCC, ""),
    "gcc-lsan": (["gcc", "-fsanitize=leak"], GCC, ""),
    "gcc-asan-ubsan": (["gcc", "-fsanitize=address,undefined"], GCC, ""),
    "clang-asan": (["clang", "-fsanitize=address"], CLANG, ""),
    "clang-asan-shared": (["clang", "-fsanitize=address", "-shared-libasan"], CLANG, ""),
    "clang-tsan": (["clang", "-fsanitize=thread"], CLANG, ""),
    "clang-msan": (["clang", "-fsanitize=memory"], CLANG, ""),
    "clang-ubsan": (["clang", "-fsanitize=undefined"], CLANG, ""),
    "musl": (["musl-gcc"], MUSL, OTHER_LIBC),
    "musl-static": (["musl-gcc", "-static"], MUSL, STATIC),
    "32-bit": (["gcc", "-m32"], MULTILIB, OTHER_CLASS),
    "32-bit-static": (["gcc", "-m32", "-static"], MULTILIB, OTHER_CLASS),
}


def compiler_of(word):
    return shutil.which(word) or (shutil.which("clang-14") if word == "clang" else None)


@pytest.fixture(scope="module", name="made")
def fixture_made(tmp_path_factory):
    """made(KIND) is the path of such a program."""
    folder, known = tmp_path_factory.mktemp("kinds"), {}
    (folder / "p.c").write_text(SOURCE)

    def make(kind):
        words, needs, _ = KINDS[kind]
        compiler = compiler_of(words[0])
        if kind not in known:
            more = []
            if "-shared-libasan" in words and compiler:
                runtime = subprocess.run([compiler, "-print-file-name=libclang_rt.asan-x86_64.so"],
                                         capture_output=True,
                                         text=True, check=True).stdout
                more = [f"-Wl,-rpath,{os.path.dirname(runtime)}"]
            known[kind] = compiler is not None and subprocess.run(
                [compiler, *words[1:], *more, "-g", "-o", folder / kind, folder / "p.c"],
                capture_output=True,
                check=False).returncode == 0
        if not known[kind]:
            pytest.skip(f"needs {needs}")
        return str(folder / kind)
    return make


def bare(words, tmp_path, environment):
    return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True,
                          check=False, timeout=240)


def assert_same(run, tmp_path, environment, words, **more):
    alone = bare(words, tmp_path, {**environment, **more})
    done = run("record", "-q", "-o", "t.varve", "--", *words, env=more)
    assert (done.returncode, done.stdout, done.stderr) == (
        alone.returncode if alone.returncode >= 0 else 128 - alone.returncode, alone.stdout,
        alone.stderr)
    return alone


@pytest.mark.parametrize("kind", KINDS)
def test_it_runs_as_it_runs_alone(run, made, tmp_path, environment, kind):
    program = made(kind)
    assert assert_same(run, tmp_path, environment, [program, "a"]).returncode == 3
    assert "libvarve" not in bare([program], tmp_path, environment).stderr


@pytest.mark.parametrize("kind", KINDS)
def test_why_it_is_not_recorded_is_said(run, made, tmp_path, kind):
    program, why = made(kind), KINDS[kind][2]
    said = run("record", "-o", "t.varve", "--", program)
    (collector,) = json.loads((tmp_path / "t.varve" / "manifest.json").read_text())["collectors"]
    assert collector["attached"] is False
    assert collector["why"].startswith(why or "marks nothing that varve can hear")
    assert f"'{program}' {collector['why']}\n" in said.stderr
    assert ("record a build of it for this machine" in said.stderr) == (why in (OTHER_LIBC,
                                                                                OTHER_CLASS))


# ld.so itself writes a line for each child of another class; doc/collectors.md says so.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "32-bit"])
def test_the_child_of_a_recorded_shell_runs_as_it_does_alone(run, made, tmp_path, environment,
                                                             kind):
    program = made(kind)
    assert_same(run, tmp_path, environment, ["sh", "-c",
                                             f"'{program}' fault; echo $?; '{program}' b; exit $?"])
    assert_same(run, tmp_path, environment, ["env", "A=b", program, "b"])


def test_a_child_of_another_class_runs_with_one_line_more(run, made, tmp_path, environment):
    program = made("32-bit")
    words = ["sh", "-c", f"{program}; exit $?"]
    alone, done = bare(words, tmp_path, environment), run("record", "-q", "-o", "t.varve", "--",
                                                          *words)
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout)
    (line,) = set(done.stderr.splitlines()) - set(alone.stderr.splitlines())
    assert line.startswith("ERROR: ld.so: object '") and line.endswith(
        "(wrong ELF class: ELFCLASS64): ignored.")


@pytest.mark.parametrize("kind, first", [
    ("musl", "#!{}\n"), ("32-bit", "#!  {} word\n"), ("musl", "#!{script}\n"),
    ("gcc-asan", "#!{}\n"), ("plain", "exec {} text\n"), ("gcc-asan", "exec {} text\n")])
def test_a_script_is_what_its_first_line_names(run, made, tmp_path, environment, kind, first):
    inner, script = tmp_path / "inner", tmp_path / "script"
    inner.write_text(f"#!{made(kind)}\n")
    script.write_text(first.format(made(kind), script=inner))
    inner.chmod(0o755)
    script.chmod(0o755)
    # execvp gives a text without a first line to the shell, as varve does; Python's own does not
    words = ["env", "./script", "b"] if not first.startswith("#!") else ["./script", "b"]
    alone = bare(words, tmp_path, environment)
    done = run("record", "-q", "-o", "t.varve", "--", "./script", "b")
    assert (done.returncode, done.stdout, done.stderr) == (alone.returncode, alone.stdout,
                                                           alone.stderr)
    (collector,) = json.loads((tmp_path / "t.varve" / "manifest.json").read_text())["collectors"]
    assert collector["why"].startswith(KINDS[kind][2] or "marks nothing")


def test_a_handmade_program_of_another_machine_is_looked_at_only(run, tmp_path):
    """Sparc, most significant byte first; and headers that lie about their sizes."""
    head = bytearray(b"\x7fELF" + bytes([2, 2, 1]) + bytes(9) + b"\0\2\0\2" + bytes(4096))
    (tmp_path / "p").write_bytes(head)
    (tmp_path / "p").chmod(0o755)
    assert "LD_PRELOAD" not in run("record", "--dry-run", "--", "./p").stdout
    for field in range(16, 64):
        mine = bytearray(open("/proc/self/exe", "rb").read(4096))
        mine[field] ^= 0xFF
        (tmp_path / "p").write_bytes(mine)
        assert run("record", "--dry-run", "--", "./p").returncode == 0


def test_what_the_user_preloads_comes_first(run, made, tmp_path, environment):
    """A sanitizer's runtime refuses to come second."""
    made("gcc-asan")
    runtime = bare(["gcc", "-print-file-name=libasan.so"], tmp_path, environment).stdout.strip()
    for runtime in (runtime, "libasan.so.8"):
        alone = assert_same(run, tmp_path, environment, ["python3", "-c", "print(1 + 1)"],
                            LD_PRELOAD=runtime, ASAN_OPTIONS="detect_leaks=0")
        assert alone.stdout == "2\n"


def test_a_sanitized_program_is_recorded(run, root, build, tmp_path):
    """And the sanitizer finds nothing in it, or in us."""
    for kind in ("address", "thread", "undefined"):
        words = ["gcc", f"-fsanitize={kind}", "-g", f"-I{root}/include", "-o", tmp_path / kind,
                 root / "tests" / "programs" / "every_record.c", f"-L{build}", "-lvarve",
                 f"-Wl,-rpath,{build}", "-lm"]
        if subprocess.run(words, check=False, capture_output=True).returncode != 0:
            pytest.skip(f"needs {GCC}")
        done = run("record", "-o", f"{kind}.varve", "--", f"./{kind}", "5")
        assert done.returncode == 5, done.stderr
        assert "Sanitizer" not in done.stderr and "none lost" in done.stderr


def test_sandboxes_without_our_library(run, tmp_path, environment):
    """The program runs; ld.so writes a line where the library's path is not."""
    if shutil.which("bwrap") is None:
        pytest.skip("needs bwrap: apt-get install bubblewrap")
    sandbox = ["bwrap", "--unshare-user", "--dev-bind", "/", "/"]
    if bare([*sandbox, "true"], tmp_path, environment).returncode != 0:
        pytest.skip("this machine lets nobody make a user namespace")
    assert_same(run, tmp_path, environment, [*sandbox, "sh", "-c", "echo in; exit 4"])
    hidden = ["bwrap", "--unshare-user", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib",
              "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin", "--proc",
              "/proc", "sh", "-c", "echo in; exit 4"]
    alone, done = bare(hidden, tmp_path, environment), run("record", "-q", "-o", "t.varve", "--",
                                                           *hidden)
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout) == (4, "in\n")
    more = set(done.stderr.splitlines()) - set(alone.stderr.splitlines())
    assert all(line.startswith("ERROR: ld.so: object '") for line in more)


@pytest.mark.parametrize("words", [
    ["env", "-i", "/bin/sh", "-c", "echo $LD_PRELOAD; exit 6"], ["su", "--version"],
    ["sh", "-c", "su --version; exit 7"]])
def test_who_clears_the_environment_or_has_more_rights(run, tmp_path, environment, words):
    assert_same(run, tmp_path, environment, words)


def test_more_rights_are_said(run, tmp_path):
    shutil.copy("/bin/true", tmp_path / "p")
    (tmp_path / "p").chmod(0o4755)
    lines = run("record", "--", "./p").stderr
    assert ("'./p' is set-user-id, so no library may be loaded into it" in lines
            and "record a copy of it" in lines)

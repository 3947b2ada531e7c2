# SPDX-License-Identifier: Apache-2.0
"""The command under limits of the shell: a failure says why, and what it can do without it does
without."""
import resource
import signal
import subprocess

import pytest

TRACE = "kineto/resnet50_workers0.json.gz"
MB = 1 << 20
SMALL_STACK = 1 << 15
"""Linux begins the stack up to 8 KiB below its top, by chance, and glibc's loader takes 8 KiB for
each library of LD_PRELOAD. So 16 KiB are too few for some starts of any program."""


def limited(varve, kind, most, *arguments, **options):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(kind, (most, most))
    return subprocess.run([varve, *map(str, arguments)], capture_output=True, text=True,
                          check=False, preexec_fn=limit, **options)


def test_with_little_address_space_a_failure_says_that_there_is_no_memory(varve, traces):
    """Not a word is lost where there is no memory for it, either."""
    wanted = limited(varve, resource.RLIMIT_AS, resource.RLIM_INFINITY, "report", traces / TRACE)
    results = set()
    for most in range(8 * MB, 72 * MB, 4 * MB):
        done = limited(varve, resource.RLIMIT_AS, most, "report", "--no-cache", traces / TRACE)
        if done.returncode != 127:  # the loader found no room for the libraries
            results.add(done.returncode)
            assert (done.stdout == wanted.stdout if done.returncode == 0
                    else done.returncode == 5 and "no memory" in done.stderr), (most, done)
    assert results == {0, 5}


@pytest.mark.parametrize("verb", ["report", "info", "memory"])
def test_a_small_stack_is_enough(varve, traces, verb):
    """Also for each thread that reads."""
    wanted = limited(varve, resource.RLIMIT_AS, resource.RLIM_INFINITY, verb, "--no-cache",
                     traces / TRACE, env={})
    done = limited(varve, resource.RLIMIT_STACK, SMALL_STACK, verb, "--no-cache", traces / TRACE,
                   env={})
    assert (done.returncode, done.stdout) == (wanted.returncode, wanted.stdout)


def test_a_recorded_program_has_the_stack_that_it_would_have(varve, tmp_path):
    done = limited(varve, resource.RLIMIT_STACK, SMALL_STACK, "record", "-q", "--", "/bin/sh",
                   "-c", "ulimit -s; exit 7", cwd=tmp_path, env={})
    assert (done.returncode, done.stdout, done.stderr) == (7, "32\n", "")


@pytest.mark.parametrize("most", [4, 5])
def test_with_too_few_files_the_limit_is_named(varve, tmp_path, most):
    done = limited(varve, resource.RLIMIT_NOFILE, most, "record", "--", "/bin/true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (125, (
        "varve: cannot make the folder 'true.varve': Too many open files\n"
        "  the shell grants too few files: raise it:  ulimit -n 64\n"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("most", [0, 4096])
def test_a_limit_of_files_ends_nothing(varve, traces, tmp_path, most):
    wanted = limited(varve, resource.RLIMIT_FSIZE, 1 << 30, "report", traces / TRACE)
    done = limited(varve, resource.RLIMIT_FSIZE, most, "report", "--cache", traces / TRACE)
    assert (done.returncode, done.stdout) == (0, wanted.stdout)
    done = limited(varve, resource.RLIMIT_FSIZE, most, "export", traces / TRACE, "-o",
                   tmp_path / "out.json")
    assert done.returncode == 4 and "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_recorded_program_has_the_signals_that_it_would_have(varve, tmp_path):
    """The limit is 64 KiB: below, nothing is recorded."""
    command = ["grep", "^Sig[IC]", "/proc/self/status"]
    alone = limited("/usr/bin/env", resource.RLIMIT_FSIZE, 1 << 16, *command)
    done = limited(varve, resource.RLIMIT_FSIZE, 1 << 16, "record", "-q", "--", *command,
                   cwd=tmp_path)
    assert "SigCgt" in alone.stdout and done.stdout == alone.stdout, done

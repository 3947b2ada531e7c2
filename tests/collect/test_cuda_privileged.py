# SPDX-License-Identifier: Apache-2.0
"""A set-user-id program that initialises CUDA loads the library that CUDA_INJECTION64_PATH names:
the driver does. Ours does nothing there. It opens no CUPTI, which a variable names too, and writes
nothing."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "oracle")]

from recording import binary, quiet_environment  # noqa: E402

USER = 65534
PROGRAM = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
int main(int argc, char **argv)
{
    char line[4096];
    int (*init)(unsigned), has_cupti = 0, has_ours = 0;
    void *driver = dlopen(argv[argc - 1], RTLD_NOW), *found;
    if (driver == NULL)
        return 2;
    found = dlsym(driver, "cuInit");
    memcpy(&init, &found, sizeof init);
    init(0);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        has_cupti |= strstr(line, "libcupti") != NULL;
        has_ours |= strstr(line, "libvarve") != NULL;
    }
    printf("secure %d ours %d cupti %d\n", getauxval(AT_SECURE) != 0, has_ours, has_cupti);
    return 0;
}
"""


def test_a_privileged_program_is_left_alone(build):
    compiler = shutil.which("cc")
    if os.geteuid() != 0 or compiler is None:
        pytest.skip("only root, with a C compiler, makes a set-user-id program of another user's")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        driver = binary("tests/drivers/recorded/libcuda.so.1")
        for library in (driver, driver.parent / "libcupti.so.12", build / "libvarve.so.0"):
            shutil.copy(library, folder)
        subprocess.run([compiler, "-x", "c", "-", "-o", folder / "program"], input=PROGRAM,
                       text=True, check=True)
        trace = folder / "t.varve"
        trace.mkdir()
        os.chown(trace, USER, USER)

        def run():
            done = subprocess.run(
                [folder / "program", folder / "libcuda.so.1"], user=USER, group=USER,
                extra_groups=[], cwd=folder, capture_output=True, text=True, check=False,
                env=quiet_environment(CUDA_INJECTION64_PATH=str(folder / "libvarve.so.0"),
                                      VARVE_CUPTI=str(folder / "libcupti.so.12"),
                                      VARVE_COLLECT="cuda", VARVE_OUTPUT=str(trace)))
            assert (done.returncode, done.stderr) == (0, "")
            return done.stdout
        assert run() == "secure 0 ours 1 cupti 1\n"
        assert len(os.listdir(trace)) == 1
        shutil.rmtree(trace / os.listdir(trace)[0])
        (folder / "program").chmod(0o4755)
        told = run()
        if told.startswith("secure 0"):
            pytest.skip("the temporary folder lies on a file system without set-user-id")
        assert told == "secure 1 ours 1 cupti 0\n"
        assert os.listdir(trace) == []

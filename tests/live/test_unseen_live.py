# SPDX-License-Identifier: Apache-2.0
"""What the recorder notes of the libraries and the CPU time of a process, and what varve record
then says: programs that are built here, linked to libraries of the names of real ones."""
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUSY = """
#include <pthread.h>
#include <dlfcn.h>
#include <time.h>
%s
static void *burn(void *ms)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < (long)ms);
    return ms;
}
int main(void)
{
    pthread_t thread;
    %s
    (void)thread, (void)burn;
    return 0;
}
"""
RANGE = 'static void range(void) { VARVE_SCOPE("work"); }'
OTHER_THREAD = "pthread_create(&thread, 0, burn, (void *)300L); pthread_join(thread, 0);"


@pytest.fixture(name="record")
def recorder(varve, build, tmp_path):
    """record(MAIN, LIBRARIES) builds such a program, linked to empty libraries of these names,
    records it, and returns what varve record said and the rows of table unseen."""
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler: apt-get install gcc")

    def run(main, libraries=(), head=""):
        source, program = tmp_path / "busy.c", tmp_path / "busy"
        source.write_text(BUSY % (head, main))
        (tmp_path / "empty.c").write_text("int nothing_of_note;\n")
        for library in libraries:
            subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / library,
                            tmp_path / "empty.c", f"-Wl,-soname,{library}"], check=True)
        subprocess.run([compiler, "-std=gnu17", "-O1", "-o", program, source, "-I",
                        ROOT / "include", "-L", tmp_path, "-L", build,
                        f"-Wl,-rpath,{tmp_path}:{build}", "-Wl,--no-as-needed",
                        *(f"-l:{library}" for library in libraries),
                        *(["-l:libvarve.so.0"] if head else []), "-lpthread", "-ldl"], check=True)
        done = subprocess.run([varve, "record", "-o", "t.varve", "--", program], cwd=tmp_path,
                              capture_output=True, text=True, check=True, timeout=240)
        rows = table_reader.tables(varve, "report", "--table", "unseen", tmp_path / "t.varve")
        return done.stderr, {row["what"]: row for row in rows["unseen"]}
    return run


def test_a_program_that_loads_cuda_without_a_record_of_its_own(record):
    said, rows = record("", ["libcuda.so.1"])
    assert rows["gpu"]["finding"].startswith("CUDA is loaded in 1 process")
    assert "varve: CUDA is loaded in 1 process, and no work of a device was recorded\n" in said
    assert "\n  to record it:  " in said
    assert "gpu" not in record("", ["libcudart.so.12"])[1]  # without a driver no device works


def test_cuda_that_is_opened_while_the_program_runs(record, tmp_path):
    record("", ["libcuda.so.1"])  # leaves the library there
    open_it = f'dlopen("{tmp_path}/libcuda.so.1", RTLD_NOW); range();'
    head = f"#include <varve/varve.h>\n{RANGE}"
    assert "gpu" in record(open_it, head=head)[1]
    assert "gpu" not in record("range();", head=head)[1]


def test_opencl_is_used_where_a_driver_of_it_is_loaded(record):
    """Debian's libtorch is linked to libOpenCL, and its programs use no device of it."""
    assert "gpu" not in record("", ["libOpenCL.so.1"])[1]
    rows = record("", ["libOpenCL.so.1", "libpocl.so.2", "libamdocl64.so"])[1]
    assert rows["gpu"]["finding"].startswith("OpenCL is loaded in 1 process, ")


def test_a_thread_that_recorded_nothing(record):
    head = f"#include <varve/varve.h>\n{RANGE}"
    said, rows = record(f"range(); {OTHER_THREAD}", head=head)
    assert rows["threads"]["share"] > 0.5 and rows["threads"]["time_ns"] >= 290_000_000
    assert "varve: threads without records took " in said
    assert "threads" not in record("range(); burn((void *)300L);", head=head)[1]


def test_openmp_without_marks(record):
    rows = record(OTHER_THREAD, ["libgomp.so.1"])[1]
    assert set(rows) == {"openmp"} and rows["openmp"]["matters"] == 1
    head = f"#include <varve/varve.h>\n{RANGE}"
    assert "openmp" not in record("range(); burn((void *)300L);", ["libgomp.so.1"], head)[1]


def test_mpi_without_communication(record):
    assert "communication" in record("", ["libmpi.so.40"])[1]
    head = ("#include <varve/varve.h>\n"
            'static void range(void) { varve_begin_name("MPI_Bcast", VARVE_LAYER_COMM); '
            "varve_end(); }")
    assert "communication" not in record("range();", ["libmpi.so.40"], head)[1]


@pytest.mark.parametrize("library, is_heard_of", (("libjax_common.so", True),
                                                  ("libgomp.so.1", False)))
def test_a_framework_that_python_loads_and_no_collector_hears(varve, record, tmp_path, library,
                                                              is_heard_of):
    record("", [library])  # leaves the library there
    (tmp_path / "a.py").write_text(f"import ctypes\nctypes.CDLL('{tmp_path / library}')\n"
                                   "import json\n")
    said = subprocess.run([varve, "record", "-o", "p.varve", "--", sys.executable, "a.py"],
                          cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    assert ("to record it:  jax.profiler.trace(FOLDER) in the program; then varve report FOLDER"
            in said) == is_heard_of
    assert ([path.name for path in (tmp_path / "p.varve").iterdir()] == ["manifest.json"]) != \
        is_heard_of


def test_a_program_without_libraries_of_note_leaves_no_folder(record, tmp_path):
    record("")
    assert not [name for name in (tmp_path / "t.varve").iterdir() if name.is_dir()]

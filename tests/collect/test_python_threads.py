# SPDX-License-Identifier: Apache-2.0
"""The names that a program gives to its threads in Python, which the kernel learns from 3.14 on."""
import os
import subprocess

import pytest
import table_reader

# Each thread but one opens a file, which is an audit event. A class with a property of its own must
# not be asked, and a thread that nobody named has the name that `threading` gave it.
PROGRAM = '''
import os, sys, threading
from concurrent.futures import ThreadPoolExecutor
import _thread

def leaf(name=None):
    with open(os.devnull):
        return len(sys.argv)

class Own(threading.Thread):
    @property
    def name(self):
        os._exit(3)

    def run(self):
        leaf()

def work():
    leaf()

threads = [threading.Thread(target=work, name=f"trainer-{i}") for i in range(3)]
threads += [threading.Thread(target=work), threading.Thread(target=work, name="nom \\u00e9trange\\n"), Own()]
threads[-1]._name = "of a class"
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with ThreadPoolExecutor(1, thread_name_prefix="pool") as pool:
    pool.submit(leaf).result()
done = _thread.allocate_lock()
done.acquire()
_thread.start_new_thread(lambda: (leaf(), done.release()), ())
with done:
    print("done")
'''


def test_threads_have_the_names_of_the_program(python, run_both, varve, tmp_path):
    path = tmp_path / "threads.py"
    path.write_text(PROGRAM)
    run = run_both(python, path)
    assert (run.done.stdout, run.done.stderr, run.done.returncode) == (
        run.plain.stdout, run.plain.stderr, 0)
    rows = table_reader.tables(varve, "info", "--table", "threads", run.trace)["threads"]
    names = {row["name"] for row in rows}
    given = {"trainer-0", "trainer-1", "trainer-2", "nom étrange\n", "of a class", "pool_0"}
    assert given <= names
    assert any(name.startswith("Thread-") for name in names)
    # the main thread, and the one that `threading` knows nothing of, have the kernel's names
    assert "MainThread" not in names and len(rows) == 9
    assert len([name for name in names - given if not name.startswith("Thread-")]) == 2


# No thread causes an audit event once it runs, but for the start of another one. Each calls a
# function of the library, so that it has a track.
LATE = '''
import ctypes, queue, threading
from concurrent.futures import ThreadPoolExecutor

library, done = ctypes.CDLL(None), threading.Event()
mark = library.varve_emit_begin_name
end = library.varve_emit_end

def work():
    mark(b"work", 4)
    end()

def rename():
    work()
    threading.current_thread().name = "named late"

def wait():
    work()
    ready.release()
    done.wait()

def renamed_then_recorded():
    threading.current_thread().name = "named before the first record, and longer than sixty-three bytes"
    work()

with ThreadPoolExecutor(2, thread_name_prefix="pool") as pool:
    both = threading.Barrier(2)
    list(pool.map(lambda _: (work(), both.wait()), range(2)))
ready = threading.Semaphore(0)
waits = threading.Thread(target=wait, name="first")
threads = [threading.Thread(target=rename), waits,
           threading.Thread(target=renamed_then_recorded)]
for thread in threads:
    thread.start()
ready.acquire()
waits.setName("named by another")
done.set()
for thread in threads:
    thread.join()
threading.Thread(target=wait, name="a daemon", daemon=True).start()
ready.acquire()
for _ in range(20):
    threading.Thread(target=len, args=("",), name="silent").start()
threading.Thread.__call__ = 1
print("done")
'''


def test_names_that_come_late_or_without_an_audit_event(python, run_both, varve, tmp_path):
    path = tmp_path / "late.py"
    path.write_text(LATE)
    run = run_both(python, "-W", "ignore", path, collect="torch", with_plain=False)
    assert (run.done.stdout, run.done.stderr, run.done.returncode) == ("done\n", "", 0)
    rows = table_reader.tables(varve, "info", "--table", "threads", run.trace)["threads"]
    assert sorted(row["name"] for row in rows) == [
        "a daemon", "named before the first record, and longer than sixty-three bytes",
        "named by another", "named late", "pool_0", "pool_1"]


def test_a_name_of_varve_s_own_stays(varve, either_python, tmp_path):
    """A thread that named itself with varve_thread_name keeps this name."""
    path = tmp_path / "own.py"
    path.write_text("""
import ctypes, os, threading
library = ctypes.CDLL(None)
def leaf():
    pass
def work():
    library.varve_thread_name(b"by the library")
    with open(os.devnull):
        leaf()
thread = threading.Thread(target=work, name="by Python")
thread.start()
thread.join()
""")
    trace = tmp_path / "own.varve"
    subprocess.run([varve, "record", "-q", "--collect", "+python", "-o", trace, "--", either_python,
                    path], check=True)
    rows = table_reader.tables(varve, "info", "--table", "threads", trace)["threads"]
    assert "by the library" in {row["name"] for row in rows}


def test_an_interpreter_without_its_lock_is_left_alone(varve, either_python, tmp_path):
    """A free-threaded build says so in its version: nothing holds other threads off its dicts."""
    source, library = tmp_path / "version.c", tmp_path / "version.so"
    minor = subprocess.run([either_python, "-c", "import sys; print(sys.version_info[1])"],
                           check=True, capture_output=True, text=True).stdout.strip()
    source.write_text('const char *Py_GetVersion(void) '
                      f'{{ return "3.{minor}.5 free-threading build (x)"; }}')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    said = subprocess.run(
        [either_python, "-c", "import ctypes; say = ctypes.CDLL(None).Py_GetVersion; "
         "say.restype = ctypes.c_char_p; print(say().decode())"],
        env={**os.environ, "LD_PRELOAD": str(library)}, check=True, capture_output=True, text=True)
    if "free-threading" not in said.stdout:
        pytest.skip("this Python's executable has its library: no other can stand before it")
    path, trace = tmp_path / "free.py", tmp_path / "free.varve"
    path.write_text("""
import ctypes, os, threading
library = ctypes.CDLL(None)
def work():
    with open(os.devnull):
        library.varve_emit_begin_name(b"mark", 4)
thread = threading.Thread(target=work, name="by Python")
thread.start()
thread.join()
""")
    subprocess.run([varve, "record", "-q", "--collect", "+python", "-o", trace, "--",
                    either_python, path], env={**os.environ, "LD_PRELOAD": str(library)},
                   check=True)
    tables = table_reader.tables(varve, "info", trace)
    assert [row["text"] for row in tables["collectors"] if row["collector"] == "python"] == [
        f"3.{minor}.5: calls not traced; it lacks the interpreter's lock"], tables["collectors"]
    assert "by Python" not in {row["name"] for row in tables["threads"]}

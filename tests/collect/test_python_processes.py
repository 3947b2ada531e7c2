# SPDX-License-Identifier: Apache-2.0
"""Programs of several processes, and those that end badly: all in one trace, and no different from
what they are by themselves."""
import collections

import pytest

import varve_decode
from table_reader import operators


def processes_of(trace):
    opened = varve_decode.open_trace(trace)
    assert not [problem for problem in opened.problems if not problem.is_cut]
    return opened.processes


def names_by_process(trace):
    out = []
    for process in processes_of(trace):
        built, unmatched = varve_decode.ranges(process)
        assert unmatched == 0
        out.append(collections.Counter(one.name for one in built))
    return out


@pytest.fixture(name="program")
def fixture_program(tmp_path):
    (tmp_path / "work.py").write_text("def leaf(number=0): return number + 1\n")

    def write(text):
        (tmp_path / "train.py").write_text(text)
        return tmp_path / "train.py"
    return write


CHILDREN = {
    "fork": "import os\npid = os.fork()\nwork.leaf()\nif pid == 0:\n    "
            "os._exit(0)\nos.waitpid(pid, 0)\n",
    "fork_in_thread": """
import os, threading
def forks():
    pid = os.fork()
    work.leaf()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
thread = threading.Thread(target=forks)
thread.start()
thread.join()
""",
    "subprocess": "import subprocess, sys\nwork.leaf()\n"
                  "subprocess.run([sys.executable, '-c', 'import work; work.leaf()'], "
                  "check=True)\n",
    **{method: f"""
import multiprocessing
if __name__ == "__main__":
    work.leaf()
    one = multiprocessing.get_context("{method}").Process(target=work.leaf)
    one.start()
    one.join()
""" for method in ("spawn", "forkserver")},
}


@pytest.mark.parametrize("how", CHILDREN)
def test_children_are_in_the_trace(either_python, program, run_both, how):
    run = run_both(either_python, program("import work\n" + CHILDREN[how]),
                   more=["--python-modules", "work"], with_plain=False)
    assert (run.done.stdout, run.done.returncode) == ("", 0)
    assert sorted(names["work.py(1): leaf"] for names in names_by_process(run.trace)
                  if names["work.py(1): leaf"]) == [1, 1]


def test_a_pool_s_workers_are_in_the_trace(either_python, program, run_both):
    run = run_both(either_python, program("""
import multiprocessing, work
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(work.leaf, range(40), chunksize=1)))
"""), more=["--python-modules", "work"])
    assert (run.done.stdout, run.done.stderr, run.done.returncode) == (run.plain.stdout,
                                                                       run.plain.stderr, 0)
    assert sum(names["work.py(1): leaf"] for names in names_by_process(run.trace)) == 40


# ---- ranks ----

LAUNCHERS = {
    "torch": ("RANK", "WORLD_SIZE"), "openmpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    "pmi": ("PMI_RANK", "PMI_SIZE"), "slurm": ("SLURM_PROCID", "SLURM_NTASKS"),
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_each_rank_is_known(varve, program, run_both, launcher):
    rank, world_size = LAUNCHERS[launcher]
    run = run_both(
        "python3",
        program(f"""
import os, subprocess, sys, work
work.leaf()
for rank in range(3):
    subprocess.run([sys.executable, "-c", "import work\\nfor _ in range(%d): work.leaf()" % (10 + rank)], check=True,
                   env={{**os.environ, "{rank}": str(rank), "{world_size}": "3"}})
"""), more=["--python-modules", "work"], with_plain=False)
    assert run.done.returncode == 0
    for rank in range(3):
        (row,) = [row for row in operators(varve, "--rank", rank, run.trace)
                  if row["name"] == "work.py(1): leaf"]
        assert row["calls"] == 10 + rank
    (row,) = [row for row in operators(varve, run.trace) if row["name"] == "work.py(1): leaf"]
    assert row["calls"] == 34
    said = [(process.env.get("rank"), process.env.get("world_size"))
            for process in processes_of(run.trace)]
    assert sorted(map(str, said)) == sorted(map(str, [(None, None),
                                                      *(("012"[rank], "3") for rank in range(3))]))


@pytest.mark.parametrize("settings, expected", [
    ({"RANK": "1", "OMPI_COMM_WORLD_RANK": "7", "OMPI_COMM_WORLD_SIZE": "9"}, ("1", None)),
    ({"RANK": "first", "SLURM_PROCID": "2", "SLURM_NTASKS": "4"}, ("2", "4")),
    ({"WORLD_SIZE": "4"}, (None, None)), ({"RANK": "-1"}, (None, None)),
    ({"RANK": "99999999999"}, (None, None)),
])
def test_the_first_launcher_that_tells_a_rank_is_believed(program, run_both, settings, expected):
    run = run_both("python3", program("import work\nwork.leaf()\n"), with_plain=False,
                   environment=settings)
    (process,) = processes_of(run.trace)
    assert (process.env.get("rank"), process.env.get("world_size")) == expected


# ---- ends ----

ENDS = {
    "raises": "work.leaf()\nraise RuntimeError('no more')\n",
    "exits": "import sys\nwork.leaf()\nsys.exit(7)\n",
    "leaves": "import os\nwork.leaf()\nos._exit(5)\n",
    "aborts": "import os\nwork.leaf()\nos.abort()\n",
    "killed": "import os, signal\nwork.leaf()\nos.kill(os.getpid(), signal.SIGKILL)\n",
    "terminated": "import os, signal\nwork.leaf()\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "syntax": "work.leaf(\n",
    "deep": "def down(): down()\ntry: down()\nexcept RecursionError: print('deep')\nwork.leaf()\n",
    "daemon": "import threading, time\ndef spins():\n    while True: work.leaf()\n"
              "threading.Thread(target=spins, "
              "daemon=True).start()\ntime.sleep(0.05)\nprint('over')\n",
    "at_exit": "import atexit\natexit.register(lambda: print(work.leaf()))\n",
    "threads": "import _thread, time\n_thread.start_new_thread(work.leaf, "
               "())\ntime.sleep(0.05)\nprint('done')\n",
    "greedy": "import sys\nsys.addaudithook(lambda *what: "
              "None)\nwork.leaf()\nprint(sys.getprofile(), sys.gettrace())\n",
    "forbids": "import sys\ndef hook(event, what):\n    if event == 'sys.setprofile': raise "
               "RuntimeError(event)\n"
               "sys.addaudithook(hook)\nimport threading\none = "
               "threading.Thread(target=work.leaf)\none.start()\none.join()\nprint('done')\n",
    "debugger": "import pdb, io, sys\npdb.Pdb(stdin=io.StringIO('n\\nc\\n'), stdout=sys.stdout, "
                "nosigint=True).runcall(work.leaf)\n",
}


@pytest.mark.parametrize("end", ENDS)
def test_it_ends_as_it_would(either_python, program, run_both, end):
    run = run_both(either_python, program("import work\n" + ENDS[end]))
    told = [(done.stdout, done.stderr.replace("varve", ""), done.returncode)
            for done in (run.plain, run.done)]
    if run.plain.returncode < 0:  # varve record ends as a shell would say it
        told[0] = (*told[0][:2], 128 - run.plain.returncode)
    assert told[0] == told[1]
    if end != "syntax":
        names_by_process(run.trace)


def test_subinterpreters_are_left_alone(either_python, program, run_both):
    run = run_both(either_python, program("""
import work
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
for _ in range(3):
    one = interpreters.create()
    run(one, "import sys; print(sum(range(10)), flush=True)")
    interpreters.destroy(one)
work.leaf()
"""), more=["--python-modules", "work"])
    assert (run.done.stdout, run.done.stderr,
            run.done.returncode) == (run.plain.stdout, run.plain.stderr, run.plain.returncode)
    assert run.plain.stdout.count("45") == 3
    assert names_by_process(run.trace)[0]["work.py(1): leaf"] == 1

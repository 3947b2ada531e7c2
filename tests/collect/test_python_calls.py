# SPDX-License-Identifier: Apache-2.0
"""Calls of Python functions, recorded from programs that know nothing of it: beside what Python's
own profile function hears, and beside the same program without Varve."""
import collections
import json
import re

import pytest

import python_programs
import varve_decode


def ranges_of(trace):
    """(Process, ranges) of the first process of the trace."""
    opened = varve_decode.open_trace(trace)
    assert not opened.problems
    built, unmatched = varve_decode.ranges(opened.processes[0])
    assert unmatched == 0
    return opened.processes[0], built


def notes(trace, name="python"):
    """The last state and text that each process notes of a collector."""
    out = []
    for process in varve_decode.open_trace(trace).processes:
        said = [record.fields for stream in process.streams for record in stream.records
                if record.name == "varve.collector"
                and process.strings[record.fields["name"]] == name]
        out += [(said[-1]["state"], process.strings[said[-1]["text"]])] if said else []
    return out


def own_calls(ranges, file):
    """How often each function of the file was begun from each: those of other files do not
    count."""
    pattern = re.compile(re.escape(file) + r"\(\d+\): (.*)")
    names = [match[1] if (match := pattern.fullmatch(one.name)) else None for one in ranges]
    counted = collections.Counter()
    for one, name in zip(ranges, names):
        parent = one.parent
        while parent is not None and names[parent] is None:
            parent = ranges[parent].parent
        if name is not None:
            counted["" if parent is None else names[parent], name] += 1
    return counted


@pytest.fixture(name="program")
def fixture_program(tmp_path):
    def write(text, name="train.py"):
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return write


@pytest.mark.parametrize("collect", ["+python", "+python,-builtins"])
def test_calls_are_those_that_the_profile_function_hears(python, program, run_both, collect):
    told = run_both(python, program(python_programs.CALLS + python_programs.ACCOUNT, "account.py"),
                    collect="none").plain
    expected = {(caller, name): count for caller, name, count in json.loads(told.stdout)}
    run = run_both(python, program(python_programs.CALLS + python_programs.RUN), collect=collect)
    assert (run.done.stdout, run.done.stderr, run.done.returncode) == ("", "", 0)
    process, ranges = ranges_of(run.trace)
    counted = own_calls(ranges, "train.py")
    before_main = [("", "<module>"), ("<module>", "Pair"), ("<module>", "Steps")]
    assert [counted.pop(call) for call in before_main] == [1, 1, 1]
    assert {("" if caller == "<module>" else caller, name): count
            for (caller, name), count in counted.items()} == expected
    assert not any(one.unfinished for one in ranges)
    assert any(one.name.startswith("<built-in") for one in ranges) == (collect == "+python")
    assert ({event.file for event in process.classes.values()
             if event.name.startswith("train.py(")} ==
        {str(program(python_programs.CALLS + python_programs.RUN))})


@pytest.mark.parametrize("how", [["-I"], ["-S", "-E"], ["-X", "dev"], ["-O"], ["-B", "-s"]])
def test_however_it_is_started(python, program, run_both, how):
    run = run_both(python, *how, program("def one(): pass\none()\nprint('done')\n"))
    assert (run.done.stdout, run.done.stderr, run.done.returncode) == ("done\n", "", 0)
    _, ranges = ranges_of(run.trace)
    assert sum(one.name.endswith("train.py(1): one") for one in ranges) == 1


def test_module_package_and_command(python, program, run_both, tmp_path):
    program("import train\ntrain.one()\n", "__main__.py")
    program("def one(): pass\n")
    for command in (["-m", "train"], [tmp_path], ["-c", "import train; train.one()"]):
        run = run_both(python, *command, with_plain=False)
        assert (run.done.stderr, run.done.returncode) == ("", 0)
        names = [one.name for one in ranges_of(run.trace)[1]]
        assert ("train.py(1): one" in names) == (command[0]
                                                 != "-m") and "train.py(1): <module>" in names


def test_calls_are_off_unless_asked_for(python, program, run_both):
    run = run_both(
        python, program("import ctypes, os\nctypes.CDLL(None).varve_emit_begin_name(b'mark', 4)\n"),
        collect="auto")
    assert run.done.returncode == 0
    ((state, text),) = notes(run.trace)
    assert state == 4 and re.fullmatch(r"3\.\d+\.\d+\+?: calls not traced: --collect \+python",
                                       text)


def test_older_ones_are_left_alone(old_python, program, run_both):
    run = run_both(old_python,
                   program("import ctypes\nctypes.CDLL(None).varve_emit_begin_name(b'mark', 4)\n"))
    assert (run.done.stdout, run.done.stderr, run.done.returncode) == ("", "", 0)
    ((state, text),) = notes(run.trace)
    assert state == 2 and re.fullmatch(r"3\.[678]\.\d+: older than 3\.9, left alone", text)


def test_nothing_is_open_that_is_another_s(python, program, run_both):
    """What the program's own ranges hold stays theirs: the frames within end within."""
    run = run_both(python, program("""
import ctypes
library = ctypes.CDLL(None)
def inner(): pass
def outer():
    library.varve_emit_begin_name(b"mine", 4)
    inner()
    library.varve_emit_end()
    inner()
outer()
"""), collect="+python,-builtins")
    _, ranges = ranges_of(run.trace)
    parents = [ranges[one.parent].name for one in ranges if one.name.endswith(": inner")]
    assert parents == ["mine", "train.py(5): outer"]


TRACERS = {
    "profile": "import sys\nsys.setprofile(lambda *what: seen.append(what[1]) if what[1] in "
               "('call', 'return') else None)\nwork()\nsys.setprofile(None)\n",
    "cprofile": "import cProfile\np = cProfile.Profile()\np.enable()\nwork()\np.disable()\n"
                "seen += [entry.code.co_name for entry in p.getstats() if hasattr(entry.code, "
                "'co_name')]\n",
    "trace": "import sys\nsys.settrace(lambda *what: "
             "seen.append(what[1]))\nwork()\nsys.settrace(None)\n",
    "threads": "import threading\nthreading.setprofile(lambda *what: seen.append(what[1]))\n"
               "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\nseen = "
               "[len(seen) > 3]\n",
}


@pytest.mark.parametrize("tracer", TRACERS)
def test_the_programs_own_tracer_comes_first(python, program, run_both, tracer):
    run = run_both(
        python,
        program(f"seen = []\ndef leaf(): pass\ndef work(): leaf(), leaf()\n{TRACERS[tracer]}\n"
                "print(sorted(seen))\nleaf()\n"))
    assert (run.done.stdout, run.done.stderr, run.done.returncode) == (run.plain.stdout,
                                                                       run.plain.stderr, 0)
    assert run.plain.stdout != "[]\n"
    process, ranges = ranges_of(run.trace)
    names = [one.name for one in ranges]
    ((state, text),) = notes(run.trace)
    by_monitoring = tuple(map(int, text.split(":")[0].rstrip("+").split(".")[:2])) >= (3, 12)
    if by_monitoring or tracer == "trace":
        assert (state, names.count("train.py(2): leaf")) == (0, 3)
    elif tracer == "threads":
        assert (state, names.count("train.py(2): leaf")) == (0, 1)
    else:
        assert (state, names.count("train.py(2): leaf")) == (1, 0)
        assert text.endswith("calls, until the program set a profile function of its own")
    assert not any(one.unfinished for one in ranges)


@pytest.mark.parametrize("module", ["cProfile", "profile"])
def test_the_standard_library_s_profilers(python, program, run_both, module):
    """doc/collectors.md says where `profile` cannot run beside ours: up to 3.11."""
    run = run_both(python, "-m", module, program("def leaf(): return len('x')\nleaf()\n"),
                   collect="+python,-builtins")
    version = tuple(map(int, notes(run.trace)[0][1].split(":")[0].rstrip("+").split(".")[:2]))
    if module == "profile" and version < (3, 12):
        assert "Bad return" in run.done.stderr
    else:
        assert (run.done.stderr, run.done.returncode) == ("", 0)
        assert "(leaf)" in run.done.stdout


MODEL = "import leaves\ndef forward():\n    leaves.leaf(), len('')\n"
LEAVES = "def leaf(): return end()\ndef end(): pass\n"
MAIN = ("import sys\nfrom model import net\ndef main():\n    for _ in range(3): "
        "net.forward()\nmain()\n")


@pytest.mark.parametrize("more, expected", [
    (["--python-modules", "model"], {"model/net.py(2): forward": 3, "<built-in function len>": 3}),
    (["--python-modules", "l*s,train"], {"train.py(3): main": 1, "leaves.py(1): leaf": 3,
                                         "leaves.py(2): end": 3}),
    (["--python-modules", "model.net,leaves", "--python-depth", "2"],
     {"model/net.py(2): forward": 3, "leaves.py(1): leaf": 3, "<built-in function len>": 3}),
    (["--python-modules", "nothing"], None),
    (["--python-modules", "train", "--python-depth", "2"], {"train.py(3): main": 1}),
])
def test_modules_and_depth(python, program, run_both, tmp_path, more, expected):
    (tmp_path / "model").mkdir()
    program("", "model/__init__.py"), program(MODEL, "model/net.py"), program(LEAVES, "leaves.py")
    run = run_both(python, program(MAIN), more=more)
    assert (run.done.stdout, run.done.stderr, run.done.returncode) == ("", "", 0)
    if expected is None:
        assert not list(run.trace.glob("*/metadata"))
        return
    counted = collections.Counter(one.name for one in ranges_of(run.trace)[1])
    assert {name: count for name, count in counted.items() if "<module>" not in name
            and "__" not in name} == expected

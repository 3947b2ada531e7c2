# SPDX-License-Identifier: Apache-2.0
"""However a Python program with PyTorch is started and however it ends: what it prints and its exit
code are the same recorded and not, and the trace is whole."""
import json
import os
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from environments import HERE, attempt_in, python_of, run_in  # noqa: E402
from model_tables import dump, health  # noqa: E402

PROGRAM = HERE / "programs" / "endings.py"
OPERATORS = {"aten::full": 1, "aten::square": 1, "aten::item": 1}


def outcome(command, folder):
    done = attempt_in(folder, *command)
    return done.returncode, done.stdout, done.stderr


def recorded(varve, folder, *command):
    """(exit code, output, errors)"""
    return outcome((varve, "record", "-q", "-o", folder / "run.varve", "--", *command), folder)


def whole(build, folder):
    tables = dump(build, folder / "run.varve")
    assert tables["run"][0]["lost"] == 0
    assert health(tables).keys() <= {"zero_length"}
    return tables


def count(tables, name):
    return sum(row["name"] == name for row in tables["slices"])


# A signal's code is a shell's.
@pytest.mark.parametrize("ending, code", [("returns", 0), ("says_5", 5), ("leaves", 3),
                                          ("is_killed", 128 + signal.SIGKILL),
                                          ("is_ended", 128 + signal.SIGTERM)])
def test_an_end(build, varve, tmp_path, ending, code):
    done = recorded(varve, tmp_path, python_of("torch"), PROGRAM, ending)
    assert done == (code, "norm 36.0\n", "0 __main__\n")
    tables = whole(build, tmp_path)
    assert {name: count(tables, name) for name in OPERATORS} == OPERATORS


def test_a_module(build, varve, tmp_path):
    (tmp_path / "endings.py").write_text(PROGRAM.read_text())
    done = recorded(varve, tmp_path, python_of("torch"), "-m", "endings", "says_5")
    assert done == (5, "norm 36.0\n", "0 __main__\n")
    assert count(whole(build, tmp_path), "aten::square") == 1


def test_an_isolated_interpreter(build, varve, tmp_path):
    done = recorded(varve, tmp_path, python_of("torch"), "-I", PROGRAM, "returns")
    assert done == (0, "norm 36.0\n", "1 __main__\n")
    assert count(whole(build, tmp_path), "aten::square") == 1


def test_a_console_script(build, varve, tmp_path):
    """As pip writes one, that an environment's bin has: found by PATH, started by its first
    line."""
    script = tmp_path / "train-it"
    script.write_text(
        f"#!{python_of('torch')}\nimport sys\nsys.path.insert(0, {str(HERE / 'programs')!r})\n"
        "from endings import main\nsys.exit(main())\n")
    script.chmod(0o755)
    done = recorded(varve, tmp_path, "env", f"PATH={tmp_path}:{os.environ['PATH']}", "train-it",
                    "returns")
    assert done == (0, "norm 36.0\n", "0 endings\n")
    assert count(whole(build, tmp_path), "aten::square") == 1


def test_a_failure_in_an_activated_environment(build, varve, tmp_path):
    activate = python_of("torch").parent / "activate"
    if str(activate.parents[1].resolve()) not in activate.read_text():
        pytest.skip("the environment was moved since it was made")
    command = "sh", "-c", f". {activate}; python {PROGRAM} fails"
    done = recorded(varve, tmp_path, *command)
    assert done == outcome(command, tmp_path)
    assert done[0] == 1 and done[2].endswith("ValueError: as it should\n")
    assert count(whole(build, tmp_path), "aten::square") == 1


def test_a_program_without_pytorch(varve, tmp_path):
    done = recorded(varve, tmp_path, sys.executable, "-c", "print(sum(range(10)))")
    assert done == (0, "45\n", "")


def test_a_notebook_s_kernel(build, varve, tmp_path, monkeypatch):
    """The kernel belongs to the program that starts it; both are recorded."""
    packages, = python_of("jupyter").parents[1].glob("lib/python*/site-packages")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(packages),
                                                      os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    run_in(tmp_path, varve, "record", "-o", tmp_path / "run.varve", "--", python_of("torch"),
           HERE / "programs" / "jupyter_cell.py", tmp_path)
    said = json.loads((tmp_path / "said.json").read_text())
    assert (said["status"], said["answer"]) == ("ok", 36)
    tables = whole(build, tmp_path)
    makers = {tables["processes"][tables["tracks"][row["track"]]["process"]]["pid"]
              for row in tables["slices"]
              if row["name"] == "aten::square"}
    assert makers == {said["pid"]}


def test_memory_of_the_program(varve, tmp_path):
    """As long as it runs: the recorder maps a part of a stream and then the next. 19 MB were
    measured."""
    peaks = []
    for command in ((), (varve, "record", "-q", "-o", tmp_path / "run.varve", "--")):
        run_in(tmp_path, *command, python_of("torch"), HERE / "programs" / "torch_steps.py",
               tmp_path, "100")
        peaks.append(json.loads((tmp_path / "said.json").read_text())["peak_kb"])
    assert peaks[1] <= peaks[0] + 64 * 1024

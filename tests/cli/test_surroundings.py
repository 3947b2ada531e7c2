# SPDX-License-Identifier: Apache-2.0
"""What was in the environment before varve record stays there, and is said when the program has
ended."""
import os
import pathlib

import pytest

SHOW = ["/bin/sh", "-c", 'echo "$LD_PRELOAD $NVTX_INJECTION64_PATH"']


@pytest.fixture(name="module")
def fixture_module(build):
    path = build / "tests" / "programs" / "failing_calls.so"
    if not path.exists():
        pytest.skip("needs tests/programs/failing_calls.so: make tests")
    return str(path)


def said(done):
    return [line for line in done.stderr.splitlines() if "LD_PRELOAD" in line or "another" in line]


def test_nothing_is_said_where_nothing_was(run, program):
    done = run("record", "--", program)
    assert (done.returncode, said(done)) == (0, [])


def test_other_libraries_stay_before_ours(run, build, module):
    library = os.path.realpath(build / "libvarve.so")
    for text, kept in ((module, [module]), (f"{module} {library}:{module}:", [module, module])):
        done = run("record", "--", *SHOW, env={"LD_PRELOAD": text})
        assert done.stdout == f"{':'.join(kept)}:{library} \n"
        assert said(done) == [
            f"varve: LD_PRELOAD had others; they stay, before ours: {', '.join(kept)}"
        ]


def test_other_tools_are_let(run, program):
    tools = {"NVTX_INJECTION64_PATH": "/nonesuch/libToolsInjection64.so", "KINETO_USE_DAEMON": "1"}
    done = run("record", "--", *SHOW, env=tools)
    assert done.stdout.endswith(" /nonesuch/libToolsInjection64.so\n")
    line = ("varve: another tool may have looked on, and was let: NVTX_INJECTION64_PATH, "
            "KINETO_USE_DAEMON")
    assert said(done) == said(run("record", "--", program, env=tools)) == [line]
    assert said(run("record", "--quiet", "--", program, env=tools)) == []


def test_a_record_within_a_record(run, varve, tmp_path, program):
    """The inner one has the program; nothing is preloaded twice."""
    done = run("record", "-o", "outer.varve", "--", varve, "record", "-o", "inner.varve", "--",
               program)
    assert said(done) == [
        "varve: another varve record runs around this one, and did not record this program"
    ]
    processes = [entry for entry in pathlib.Path(tmp_path, "inner.varve").iterdir()
                 if entry.is_dir()]
    assert len(processes) == 1
    assert os.listdir(tmp_path / "outer.varve") == ["manifest.json"]

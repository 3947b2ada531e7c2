# SPDX-License-Identifier: Apache-2.0
"""Observers and switches from outside: neither knows of the other."""


def test_observers_see_the_same_whatever_is_recorded(record, run, pid_of, counts):
    program = record("--paused")
    program.do("pairs 5")
    program.do("observe 1")
    program.do("pairs 10")
    assert program.do("observed") == "10"
    assert run("start", pid_of()).returncode == 0
    program.do("pairs 20")
    assert run("start", "--layers", "STEP", pid_of()).returncode == 0
    program.do("steps 30")  # each with a range
    assert run("stop", pid_of()).returncode == 0
    program.do("threads 10")
    assert program.do("observed") == "130"
    program.do("observe 0")
    program.do("pairs 1000")
    assert program.do("observed") == "130"
    assert run("start", pid_of()).returncode == 0
    program.do("pairs 7")
    assert program.finish() == 0
    assert counts()["work"] == 27
    assert "none lost" in program.stderr


def test_switches_under_load_lose_no_range_that_is_observed(record, run, pid_of):
    program = record()
    program.do("observe 1")
    program.do("pairs 1")
    program.send("threads 100000")
    for turn in range(10):
        assert run("start" if turn % 2 else "stop", "-q", pid_of()).returncode == 0
    assert program.answer() == "ok"
    assert program.do("observed") == "400001"
    assert program.finish() == 0


def test_a_child_that_shares_the_page_is_observed_and_switched(record, run, pid_of):
    program = record("--paused")
    program.do("observe 1")
    program.send("fork 10")
    assert program.answer().startswith("ok")
    assert run("start", pid_of()).returncode == 0
    program.send("go")
    assert program.answer() == "ok"
    assert program.do("observed") == "0"  # the child's are the child's
    program.do("pairs 3")
    assert program.do("observed") == "3"
    assert program.finish() == 0

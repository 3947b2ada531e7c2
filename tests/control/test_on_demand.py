# SPDX-License-Identifier: Apache-2.0
"""varve start, stop and status: a running program is switched from outside, exactly and without its
help."""
import json
import os
import re
import subprocess

import pytest
import varve_decode
from recording import switches


def rows(done, name="processes"):
    table = json.loads(done.stdout)["tables"][name]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def opened(tmp_path):
    trace = varve_decode.open_trace(str(tmp_path / "t.varve"))
    assert not trace.problems
    (process,) = trace.processes
    return process, varve_decode.ranges(process)[0]


def test_only_what_was_asked_for_is_recorded(record, run, pid_of, counts):
    program = record("--paused")
    program.do("pairs 1000")
    for pairs in (10, 20, 30):
        assert run("start", pid_of()).returncode == 0
        program.do(f"pairs {pairs}")
        assert run("stop", pid_of()).returncode == 0
        program.do("pairs 1000")
    assert program.finish() == 0
    assert counts()["work"] == 60
    assert "none lost" in program.stderr


def test_a_pause_is_no_part_of_the_step_behind_it(record, run, pid_of, tmp_path):
    """Of steps up to what comes once a step, as --schedule leaves them of a program that marks
    none."""
    program = record()
    program.do("pairs 3")
    run("stop", pid_of())
    program.do("pairs 4")
    run("start", pid_of())
    program.do("pairs 2")
    program.finish()
    process, ranges = opened(tmp_path)
    (*_, (started_ns, _)) = switches(process)
    begins_ns = [ranges[0].begin_ns, ranges[0].end_ns, ranges[1].end_ns, started_ns,
                 ranges[3].end_ns]
    steps = rows(run("steps", "--step-by", "..work", "--json", "t.varve"), "steps")
    assert [(step["begin_ns"], step["duration_ns"]) for step in steps] == [
        (begin_ns, item.end_ns - begin_ns) for begin_ns, item in zip(begins_ns, ranges,
                                                                     strict=True)]


def test_memory_says_what_a_pause_has_hidden(record, run, pid_of):
    program = record()
    program.do("alloc 4096")
    program.do("alloc 8192")
    run("stop", pid_of())
    program.do("free 4096")
    program.do("free 8192")
    run("start", pid_of())
    program.do("alloc 4096")
    program.finish()
    assert "recording paused once: what was released meanwhile" in run("memory", "t.varve").stdout
    (row, *_) = rows(run("memory", "--json", "t.varve"), "memory")
    assert (row["end_bytes"], row["releases_unseen"]) == (2000, 1)


def test_a_range_open_at_a_stop_ends_there(record, run, pid_of, tmp_path, babeltrace2):
    program = record()
    program.do("open")
    run("stop", pid_of())
    program.do("sleep 400")
    run("start", pid_of())
    program.do("pairs 5")
    program.finish()
    process, ranges = opened(tmp_path)
    (left,) = [item for item in ranges if item.name == "left open"]
    (_, first), (stopped_ns, second), (started_ns, third) = switches(process)
    assert (first, second, third) == (0x7FF, 0, 0x7FF)
    assert (left.end_ns, left.unfinished) == (stopped_ns, False)
    assert started_ns - stopped_ns >= 400_000_000
    work = [item for item in ranges if item.name == "work"]
    assert len(work) == 5 and all(item.parent is None and item.begin_ns >= started_ns
                                  for item in work)
    printed = subprocess.run([babeltrace2, tmp_path / "t.varve"], capture_output=True, text=True,
                             check=True)
    assert printed.stderr == ""
    assert len(printed.stdout.splitlines()) == sum(len(stream.records)
                                                   for stream in process.streams)


@pytest.mark.parametrize("word", ["{}", "by-{}", "by-{}.varve"], ids=["program", "trace", "folder"])
def test_a_name_is_that_of_the_program_or_of_the_trace(record, run, own_name, pid_of, word):
    word, trace = word.format(own_name.name), f"by-{own_name.name}.varve"
    program = record("--paused", program=own_name, trace=trace)
    program.do("layers")
    who = f"{pid_of(trace)} ({own_name.name})"
    done = run("start", word, "--layers", "op,STEP")
    assert done.stderr == f"varve: recording OP,STEP of {who} into {trace}\n"
    assert program.do("layers") == str(0x104)
    done = run("start", word, "--layers", "STEP,OP")
    assert done.stderr == f"varve: {who} was recorded like that already\n"
    assert run("stop", word).stderr == f"varve: stopped {who}, which recorded OP,STEP\n"
    assert run("stop", word).stderr == f"varve: {who} was stopped already\n"
    assert run("stop", "-q", word).stderr == ""


def test_a_path_is_not_the_trace_of_that_name_elsewhere(record, run, pid_of, tmp_path):
    (tmp_path / "inner").mkdir()
    here, there = record("--layers", "OP"), record("--layers", "OP", trace="inner/t.varve")
    mask = str(0x4)
    for program in (here, there):
        program.do("pairs 3")
    assert (here.do("layers"), there.do("layers")) == (mask, mask)
    assert run("stop", "-q", "t.varve").returncode == 0
    assert (here.do("layers"), there.do("layers")) == ("0", mask)
    assert run("stop", "-q", "inner/t.varve").returncode == 0
    assert there.do("layers") == "0"
    (row,) = rows(run("status", "--json", "./t.varve"))
    assert row["pid"] == pid_of()
    here.finish()
    done = run("start", "t.varve")
    assert (done.returncode, done.stderr) == (
        3, "varve: no process is recorded into 't.varve'. Those being recorded:  varve status\n")


def test_a_start_means_the_layers_that_record_was_given(record, run, pid_of):
    program = record("--paused", "--layers", "OP,MEMORY")
    assert program.do("layers") == "0"
    run("start", pid_of())
    assert program.do("layers") == str(0x84)


def test_the_status_is_that_of_now(record, run, own_name, pid_of, tmp_path):
    program = record("--layers", "OP", program=own_name)
    program.do("pairs 500")
    (row,) = rows(run("status", "--json", pid_of()))
    before = row["events"]
    assert row == {"pid": pid_of(), "program": own_name.name, "layers": "OP", "schedule": "none",
                   "lost": 0, "events": before,
                   "file": os.path.realpath(tmp_path / "t.varve" / str(pid_of()))}
    program.do("pairs 100")
    (row,) = rows(run("status", "--json", own_name.name))
    # and clock and cost, where a second has gone by
    assert row["events"] in range(before + 200, before + 300, 2)
    run("stop", pid_of())
    assert rows(run("status", "--json", pid_of()))[0]["layers"] == "off"
    # one process has the shape of several
    assert re.search(rf"^ +pid .*\n +{pid_of()} ", run("status", pid_of()).stdout, re.MULTILINE)
    assert json.loads(run("status", "--json").stdout)["schema"] == "varve.status/1"
    program.finish()
    # the stop's record came after
    assert rows(run("info", "--json", "t.varve"), "trace")[0]["events"] >= before + 200 + 1
    assert run("status", own_name.name).returncode == 3


def test_the_count_so_far_is_what_the_reader_counts(record, run, pid_of, tmp_path):
    program = record()
    program.do("steps 100")
    program.do("threads 5000")
    said = rows(run("status", "--json", pid_of()))[0]["events"]
    trace = varve_decode.open_trace(str(tmp_path / "t.varve"))
    # a clock record may have come between
    assert abs(varve_decode.counts(trace)["events"] - said) <= 2


def test_a_target_gets_no_thread_no_descriptor_and_no_signal(record, run, pid_of):
    program = record("--paused")
    program.do("layers")
    pid = pid_of()

    def condition():
        status = open(f"/proc/{pid}/status", encoding="ascii").read()
        return (sorted(os.listdir(f"/proc/{pid}/fd")), sorted(os.listdir(f"/proc/{pid}/task")),
                re.findall(r"^Sig(?:Cgt|Blk|Ign):.*$", status, re.M))
    before = condition()
    run("start", pid)
    program.do("pairs 100")
    run("stop", pid)
    assert condition() == before


def test_switching_under_load_keeps_the_trace_whole(record, run, pid_of, tmp_path, babeltrace2):
    program = record()
    program.do("pairs 1")
    program.send("threads 400000")
    for turn in range(20):
        assert run("start" if turn % 2 else "stop", "-q", pid_of()).returncode == 0
    assert program.answer() == "ok"
    assert program.finish() == 0
    process, ranges = opened(tmp_path)
    assert 1 <= len(ranges) <= 4 * 400000 + 1
    assert sum(packet.discarded for stream in process.streams for packet in stream.packets) == 0
    assert [layers for _, layers in switches(process)] == [0x7FF] + [0, 0x7FF] * 10
    subprocess.run([babeltrace2, "-o", "dummy", tmp_path / "t.varve"], check=True)


def test_a_forked_child_follows_until_it_records_and_then_stands_alone(record, run, pid_of, counts):
    program = record()
    program.do("pairs 1")
    parent = pid_of()
    program.send("fork 10")
    child = int(program.answer()[3:])
    # the child has recorded: it is not the parent's any more
    assert run("stop", parent).returncode == 0
    assert [row["layers"] for row in rows(run("status", "--json", child))] == ["all"]
    program.send("go")
    assert program.answer() == "ok"
    program.do("pairs 100")
    program.finish()
    assert counts()["work"] == 1 + 20


def test_a_forked_child_that_has_nothing_yet_names_its_parent(record, run, pid_of, counts):
    program = record("--paused")
    program.do("layers")
    parent = pid_of()
    program.send("fork 10")
    child = int(program.answer()[3:])
    done = run("start", child)
    assert (done.returncode, done.stderr) == (
        3, f"varve: process {child} (on_command) has recorded nothing of its own yet, and goes on "
           f"and off with the "
           f"one that forked it:  varve start {parent}\n")
    run("start", parent)
    program.send("go")
    assert program.answer() == "ok"
    program.finish()
    assert counts()["work"] == 10


def test_the_page_goes_with_the_process(record, pid_of, tmp_path):
    program = record("--paused")
    program.do("layers")
    page = tmp_path / "t.varve" / str(pid_of()) / ".control"
    assert page.stat().st_mode & 0o7777 == 0o600
    program.finish()
    assert not page.exists()


def test_a_kill_while_stopped_leaves_a_trace_that_ends_there(record, run, pid_of, counts, tmp_path):
    program = record()
    program.do("pairs 7")
    program.do("open")
    run("stop", pid_of())
    program.do("pairs 100")
    program.send("kill")
    program.finish()
    assert (counts()["work"], counts()["left open"]) == (7, 1)
    opened(tmp_path)


def test_a_program_that_holds_the_page_itself_is_switched_too(tmp_path, record, run, root, build,
                                                              counts):
    """Not position-independent: the linker copies the variable into the program (a COPY
    relocation)."""
    program = tmp_path / f"fixed-{os.getpid()}"
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-fno-pic", "-no-pie", f"-I{root / 'include'}",
                    "-o", program, root / "tests" / "programs" / "on_command.c", f"-L{build}",
                    f"-Wl,-rpath,{build}", "-lvarve", "-lpthread"], check=True)
    relocations = subprocess.run(["readelf", "-rW", program], capture_output=True, text=True,
                                 check=True).stdout
    assert re.search(r"_COPY\s.*varve_control_page", relocations)
    process = record("--paused", program=program)
    process.do("pairs 10")
    run("start", program.name)
    process.do("pairs 3")
    run("stop", program.name)
    process.do("pairs 10")
    process.finish()
    assert counts()["work"] == 3


def test_who_is_not_there_or_not_recorded_is_said(request, told, run, on_command):
    alone = told(on_command)
    alone.do("layers")
    pid = alone.process.pid
    stranger = subprocess.Popen(["sleep", "300"])  # pylint: disable=consider-using-with
    request.addfinalizer(stranger.kill)
    for verb in ("start", "stop", "status"):
        done = run(verb, "4194305")
        assert (done.returncode, done.stderr) == (
            3, "varve: no process 4194305. Those being recorded:  varve status\n")
        assert run(verb, pid).stderr == (
            f"varve: process {pid} (on_command) has recorded nothing yet. To wait for a start "
            f"from its beginning on:  "
            "varve record --paused -- PROGRAM\n")
        done = run(verb, stranger.pid)
        assert done.returncode == 3
        assert re.fullmatch(
            rf"varve: process {stranger.pid} \(.*\) is not recorded\. Begin it with:  "
            r"varve record -- PROGRAM\n", done.stderr)
        done = run(verb, "nobody-has-this-name")
        assert (done.returncode, done.stderr) == (
            3, "varve: no process that is being recorded is called 'nobody-has-this-name'. Those "
               "that are:  "
               "varve status\n")


def test_a_wrong_command_line_exits_with_2(run):
    for words, message in [
            (["start"], "start wants a process: varve start PID, or the name of its program. "
                        "Those being recorded:  "
                        "varve status"),
            (["stop"], "stop wants a process: varve stop PID, or the name of its program. Those "
                       "being recorded:  "
                       "varve status"),
            (["stop", "1", "2"], "one process at a time: after '1' came '2'"),
            (["status", "1", "2"], "one process at a time: after '1' came '2'")]:
        done = run(*words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"varve: {message}\n")
    assert run("start", "--layers", "OPS", "1").returncode == 2
    assert "does not take --layers" in run("stop", "--layers", "OP", "1").stderr


def test_another_user_may_not(record, run_as_another, pid_of):
    program = record("--paused")
    program.do("layers")
    for verb in ("start", "stop", "status"):
        done = run_as_another(verb, pid_of())
        assert (done.returncode, done.stderr) == (
            3, f"varve: the system does not let you look into process {pid_of()}: only the user "
               f"whose process it is "
               "may see or switch its recording\n")
    assert program.do("layers") == "0"

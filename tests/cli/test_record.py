# SPDX-License-Identifier: Apache-2.0
"""varve record: the program runs as it would alone, its exit code is kept, and failures leave no
trace."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest


def entries(folder):
    return sorted(entry.name for entry in folder.iterdir())


def make_trace(path, mark):
    path.mkdir()
    (path / "manifest.json").write_text('{"varve_format": 1}')
    (path / mark).write_text("")


CODES = [
    (["true"], 0), (["false"], 1), (["sh", "-c", "exit 77"], 77), (["sh", "-c", "kill -9 $$"], 137),
    (["sh", "-c", "kill -TERM $$"], 143), (["sh", "-c", "exit 125"], 125),
]


@pytest.mark.parametrize("command, code", CODES, ids=lambda value: str(value))
def test_the_exit_code_is_the_programs(run, command, code):
    done = run("record", "-o", "t.varve", "--", *command)
    assert (done.returncode, done.stdout) == (code, "")


def test_the_program_keeps_its_streams_and_arguments(run):
    script = 'cat; echo "$@" >&2; echo out'
    done = run("record", "-q", "--", "sh", "-c", script, "sh", "-o", "--by", "a b", input="in\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "in\nout\n", "-o --by a b\n")


def test_no_descriptor_of_ours_reaches_the_program(run):
    listing = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
    alone = subprocess.run([sys.executable, "-c", listing], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=True)
    done = run("record", "-q", "--", sys.executable, "-c", listing, stdin=subprocess.DEVNULL)
    assert done.stdout == alone.stdout


def test_signal_dispositions_and_mask_are_the_callers(run):
    show = ["sh", "-c", "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"]
    alone = subprocess.run(show, capture_output=True, text=True, check=True)
    assert run("record", "-q", "--", *show).stdout == alone.stdout


def test_the_last_line_says_size_events_loss_time_and_code(run, program):
    done = run("record", "--", program, "3")
    first, second = done.stderr.splitlines()
    assert re.fullmatch(
        r"varve: every_record\.varve  [\d.]+ [kM]B  [\d ]+ events  none lost  [\d.]+ .?s  exit 3",
        first)
    assert second == "varve: next: varve report"
    assert done.returncode == 3


def test_the_next_command_names_a_trace_that_is_not_here(run, tmp_path, program):
    (tmp_path / "sub").mkdir()
    done = run("record", "-o", "sub/my trace.varve", "--", program)
    assert done.stderr.splitlines()[1] == "varve: next: varve report 'sub/my trace.varve'"


def test_the_events_said_are_those_that_info_counts(run, program):
    said = run("record", "--", program).stderr
    table = json.loads(run("info", "--json").stdout)["tables"]["trace"]
    row = dict(zip([column["name"] for column in table["columns"]], table["rows"][0]))
    assert f"  {row['events']} events" in said
    assert row["lost"] == 0


def test_the_recorded_program_prints_what_it_prints_alone(run, program):
    alone = subprocess.run([program], capture_output=True, text=True, check=True)
    assert run("record", "-q", "--", program).stdout == alone.stdout


def test_a_silent_program_gets_two_ways_on(run):
    done = run("record", "--", "true")
    lines = done.stderr.splitlines()
    assert re.fullmatch(
        r"varve: recorded 0 operators in [\d.]+ .?s\. 'true' marks nothing that varve can hear",
        lines[0])
    assert lines[1:3] == ["  it ended with exit code 0", "  Two ways on:"]
    assert lines[-1].endswith("varve info true.varve")


@pytest.mark.parametrize("verb, said", [
    ("rm -rf my.varve", ["varve: 'my.varve' was removed while the program ran, and with it all that"
                         " was recorded"]),
    ("mv my.varve other.varve", None)])
def test_a_folder_that_goes_away_is_not_called_silence(run, tmp_path, program, verb, said):
    done = run("record", "-o", "my.varve", "--", "sh", "-c", f"{program}; {verb}; exit 5")
    lines = done.stderr.splitlines()
    assert done.returncode == 5
    if said is None:
        assert lines[0].startswith(f"varve: {tmp_path}/other.varve  ")
        assert "slices" in run("info", "other.varve").stdout
    else:
        assert lines[:1] == said
        assert lines[1].startswith("  record where nothing cleans up:")


@pytest.mark.parametrize("command", [["python3", "-c", "pass"], ["./tool"]])
def test_a_silent_program_in_python_gets_its_own_ways_on(run, tmp_path, command):
    (tmp_path / "tool").write_text("#!/usr/bin/env python3\n")
    (tmp_path / "tool").chmod(0o755)
    lines = run("record", "--", *command).stderr.splitlines()
    assert lines[2] == "  Three ways on:"
    assert lines[3].endswith("varve record --collect +python -- " +
                             ("python3 -c pass" if len(command) > 1 else "./tool"))
    assert "the Python module varve" in lines[4]
    assert "varve.h" not in "".join(lines)


def test_a_static_program_is_called_that(run, tmp_path):
    (tmp_path / "quiet.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", "-o", tmp_path / "quiet", tmp_path / "quiet.c"], check=True)
    assert "'./quiet' is statically linked" in run("record", "--", "./quiet").stderr


def test_the_manifest_says_what_was_run(run, tmp_path):
    run("record", "-o", "t.varve", "--", "sh", "-c", "kill -9 $$", "\N{SNOWMAN}\n")
    manifest = json.loads((tmp_path / "t.varve" / "manifest.json").read_text())
    assert manifest["varve_format"] == 1
    assert manifest["command"] == ["sh", "-c", "kill -9 $$", "\N{SNOWMAN}\n"]
    assert manifest["directory"] == os.path.realpath(tmp_path)
    assert (manifest["exit_code"], manifest["signal"]) == (137, 9)
    assert 0 < manifest["end_realtime_ns"] - manifest["begin_realtime_ns"] < 60 * 10**9
    assert manifest["collectors"][0]["attached"] is False
    assert "marks nothing" in manifest["collectors"][0]["why"]
    assert {"host", "kernel", "machine", "cpus", "varve_version"} <= manifest.keys()


FAILURES = [
    (["nope"], 127, "varve: cannot run 'nope': no such program in PATH\n"
                    "  check the name:  varve record -- PROGRAM ARGS\n"),
    (["./nope"], 127, "varve: cannot run './nope': no such program\n"
                      "  check the name:  varve record -- PROGRAM ARGS\n"),
    (["plain"], 127, "varve: cannot run 'plain': no such program in PATH\n"
                     "  the one in this folder:  varve record -- ./plain\n"),
    (["./plain"], 126, "varve: cannot run './plain': Permission denied\n  make it executable:  "
                       "chmod +x ./plain\n"
                       "  or name its interpreter:  varve record -- python3 ./plain\n"),
    (["./script"], 127,
     "varve: cannot run './script': the interpreter or loader that it names does not exist\n"
                        "  see its first line:  head -1 ./script\n"),
    (["."], 126,
     "varve: cannot run '.': Permission denied\n  it is a folder: name a program in it\n"),
]


@pytest.mark.parametrize("command, code, message", FAILURES, ids=lambda value: str(value)[:20])
def test_a_program_that_does_not_start_leaves_everything_as_it_was(run, tmp_path, command, code,
                                                                   message):
    (tmp_path / "plain").write_text("")
    (tmp_path / "script").write_text("#!/no/such/interpreter\n")
    (tmp_path / "script").chmod(0o755)
    make_trace(tmp_path / "t.varve", "former")
    make_trace(tmp_path / "t.varve.old", "oldest")
    before = entries(tmp_path)
    done = run("record", "-o", "t.varve", "--", *command)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message)
    assert entries(tmp_path) == before
    assert (tmp_path / "t.varve" / "former").exists() and (tmp_path / "t.varve.old" /
                                                           "oldest").exists()


OURS = [
    (["record"], "varve: record wants a program to run:  varve record -- PROGRAM ARGS\n"),
    (["record", "--"], "varve: record wants a program to run:  varve record -- PROGRAM ARGS\n"),
    (["record", "--laers", "OP", "--", "true"],
     "varve: record has no option '--laers'. Nearest: --layers\n"),
    (["record", "--json", "--", "true"],
     "varve: record does not take --json\n  what it takes:  varve help record\n"),
    (["record", "-o", "", "--", "true"],
     "varve: -o wants the trace's name:  varve record -o NAME.varve -- PROGRAM\n"),
    (["record", "-o", "no/such/t.varve", "--", "true"],
     "varve: cannot make the folder 'no/such/t.varve': No such file or directory\n"
     "  name another place:  varve record -o NAME.varve -- PROGRAM ARGS\n"),
    (["record", "-o", "precious", "--", "true"],
     "varve: 'precious' exists and is not a trace: move it away, or name another with -o "
     "NAME.varve\n"),
]


@pytest.mark.parametrize("words, message", OURS, ids=lambda value: " ".join(value)
                         if isinstance(value, list) else "")
def test_our_own_failures_are_125(run, tmp_path, words, message):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    done = run(*words)
    assert (done.returncode, done.stdout, done.stderr) == (125, "", message)
    assert entries(tmp_path) == ["precious"]


def test_unknown_layers_are_refused(run, tmp_path):
    done = run("record", "--layers", "OP,STEPS", "--", "true")
    assert done.returncode == 125
    assert done.stderr.startswith(
        "varve: --layers: no such layer 'STEPS'; nearest: STEP. Write all, or some of API, ")
    assert entries(tmp_path) == []


def test_a_folder_one_may_not_write_is_125(run, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o555)
    if os.access(tmp_path / "locked", os.W_OK):
        locked = "/proc/t.varve"  # root writes everywhere but there
    else:
        locked = "locked/t.varve"
    done = run("record", "-o", locked, "--", "true")
    assert done.returncode == 125
    assert done.stderr.startswith(f"varve: cannot make the folder '{locked}': ")


@pytest.mark.parametrize("library", ["/no/such/libvarve.so", "blank in name/libvarve.so"])
def test_without_a_library_to_load_nothing_is_run(run, tmp_path, library):
    (tmp_path / "blank in name").mkdir()
    (tmp_path / "blank in name" / "libvarve.so").write_text("")
    done = run("record", "--", "touch", "was-run", env={"VARVE_LIBRARY": library})
    assert done.returncode == 125
    assert done.stderr.startswith("varve: ") and "libvarve.so" in done.stderr
    assert entries(tmp_path) == ["blank in name"]


def test_the_former_trace_becomes_old_and_the_older_goes(run, tmp_path, program):
    for code in ("1", "2", "3"):
        assert run("record", "-q", "-o", "t.varve", "--", program, code).returncode == int(code)
    assert entries(tmp_path) == ["t.varve", "t.varve.old"]
    codes = [json.loads((tmp_path / name / "manifest.json").read_text())["exit_code"]
             for name in ("t.varve", "t.varve.old")]
    assert codes == [3, 2]


def test_an_old_that_is_no_trace_is_not_replaced(run, tmp_path):
    make_trace(tmp_path / "t.varve", "former")
    (tmp_path / "t.varve.old").write_text("notes")
    done = run("record", "-o", "t.varve", "--", "touch", "was-run")
    assert done.returncode == 125
    assert "'t.varve' would become 't.varve.old', which exists and is not a trace" in done.stderr
    assert entries(tmp_path) == ["t.varve", "t.varve.old"]


def test_dry_run_prints_the_environment_and_touches_nothing(run, tmp_path, varve):
    done = run("record", "--dry-run", "--layers", "OP,STEP", "--", "./train", "a b", "it's",
               env={"LD_PRELOAD": "", "ASAN_OPTIONS": "mine=1"})
    library = pathlib.Path(os.path.realpath(varve.parent / "libvarve.so"))
    assert done.stdout.splitlines() == [
        f"VARVE_OUTPUT={os.path.realpath(tmp_path)}/train.varve",
        "VARVE_LAYERS=OP,STEP",
        f"LD_PRELOAD={library}",
        "ASAN_OPTIONS=mine=1:verify_asan_link_order=0",
        f"CUDA_INJECTION64_PATH={library}",
        f"NCCL_PROFILER_PLUGIN={library}",
        './train \'a b\' "it\'s"',
    ]
    assert (done.returncode, done.stderr, entries(tmp_path)) == (0, "", [])


def test_the_program_sees_the_environment_that_dry_run_prints(run, tmp_path):
    show = "echo $VARVE_OUTPUT; echo $VARVE_LAYERS; echo $LD_PRELOAD"
    seen = run("record", "-q", "-o", "t.varve", "--", "sh", "-c", show).stdout.splitlines()
    planned = run("record", "--dry-run", "-o", "t.varve", "--", "sh", "-c",
                  show).stdout.splitlines()
    assert [f"VARVE_OUTPUT={seen[0]}", f"VARVE_LAYERS={seen[1]}",
            f"LD_PRELOAD={seen[2]}"] == planned[:3]
    assert seen[0] == os.path.realpath(tmp_path / "t.varve")


def started(varve, tmp_path, environment, script):
    process = subprocess.Popen([varve, "record", "-o", "t.varve", "--", "sh", "-c", script],
                               cwd=tmp_path,
                               env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_is_passed_on(varve, tmp_path, environment, number):
    script = "trap 'echo asked; exit 9' TERM HUP; echo ready; while :; do sleep 0.05; done"
    with started(varve, tmp_path, environment, script) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=240)
    assert (process.returncode, out) == (9, "asked\n")
    assert "it ended with exit code 9" in err


def test_an_interrupt_is_the_programs_own_affair(varve, tmp_path, environment):
    with started(varve, tmp_path, environment, "echo ready; sleep 0.5; exit 4") as process:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGQUIT)
        process.communicate(timeout=240)
    assert process.returncode == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_what_the_terminal_ends_ends_the_loop_around_it(run, number):
    """As without varve: a shell goes on with the next one where a program exits with 130, and not
    where SIGINT ended it."""
    done = run("record", "-o", "t.varve", "--", "sh", "-c", f"kill -{int(number)} $$")
    assert done.returncode == -number
    assert f"it was ended by signal {int(number)}" in done.stderr
    assert run("info", "--strict", "t.varve").returncode == 0


def test_a_second_hang_up_leaves_the_trace_whole(run, tmp_path, program):
    """A closing terminal hangs up twice; here the second time is just when a stream is being
    cut."""
    (tmp_path / "twice.c").write_text(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include "
        "<signal.h>\n#include <string.h>\n"
        "#include <sys/types.h>\n"
        "int ftruncate(int file, off_t bytes)\n{\n"
        "    int (*real)(int, off_t) = (int (*)(int, off_t))dlsym(RTLD_NEXT, \"ftruncate\");\n"
        "    int result = real(file, bytes);\n"
        "    if (strcmp(program_invocation_short_name, \"varve\") == 0)\n        raise(SIGHUP);\n"
        "    return result;\n}\n"
        "int ftruncate64(int file, off_t bytes) { return ftruncate(file, bytes); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", tmp_path / "twice.so",
                    tmp_path / "twice.c", "-ldl"],
                   check=True)
    for _ in range(2):
        done = run("record", "-o", "t.varve", "--", program,
                   env={"LD_PRELOAD": tmp_path / "twice.so"})
        assert done.returncode == -signal.SIGHUP
    assert run("info", "--strict", "t.varve").returncode == 0
    assert json.loads((tmp_path / "t.varve" / "manifest.json").read_text())["exit_code"] == 0
    assert [name for name in entries(tmp_path) if "varve" in name] == ["t.varve", "t.varve.old"]


def test_a_trace_that_is_being_recorded_is_not_moved(run, varve, tmp_path, environment):
    with started(varve, tmp_path, environment, "echo ready; read line; exit 4") as process:
        before = entries(tmp_path)
        done = run("record", "-o", "t.varve", "--", "touch", "was-run")
        assert (done.returncode, done.stderr) == (
            125, "varve: 't.varve' is being recorded by another varve record: wait for its end, "
                 "or name another "
                 "with -o NAME.varve\n")
        assert entries(tmp_path) == before == ["t.varve"]
        process.communicate("\n", timeout=240)
    assert process.returncode == 4
    assert run("record", "-q", "-o", "t.varve", "--", "true").returncode == 0
    assert entries(tmp_path) == ["t.varve", "t.varve.old"]


def test_streams_are_cut_to_what_they_hold(run, tmp_path, program):
    run("record", "-q", "-o", "t.varve", "--", program)
    streams = [path for path in (tmp_path / "t.varve").glob("*/*.*") if path.name[0] in "pt"]
    assert len(streams) >= 2
    for stream in streams:
        data, offset = stream.read_bytes(), 0
        while offset < len(data):
            content, packet = (int.from_bytes(data[offset + at:offset + at + 8], "little") // 8
                               for at in (32, 40))
            last, offset = content, offset + packet
        assert offset == len(data) and packet == last

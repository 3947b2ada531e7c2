# SPDX-License-Identifier: Apache-2.0
"""No byte that somebody else chose reaches a terminal if that would obey it: on neither stream, in
no form, by no verb."""
import gzip
import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
import tty

import pytest

# Colour, title, bell, DEL, C1 in UTF-8 and bare, overrides and isolates of direction, a line of its
# own, no UTF-8.
EVIL = b"e\x1b[31m\x1b]0;T\x07\x7f\xc2\x9b5m\x9b5m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\rX\nFORGED \xff\xfe=\xc3"
TEXT = EVIL.decode("utf-8", "replace")
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FORMS = ["text", "json", "csv", "md"]


def read_all(controller, process):
    """What comes out until the process ends and the terminal is empty."""
    output, end = b"", time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([controller], [], [], 0.05)
        if ready:
            try:
                piece = os.read(controller, 65536)
            except OSError:  # nobody has the other end any more
                break
            output += piece
        elif process.poll() is not None:
            break
    assert process.wait(timeout=120) is not None
    return output


@pytest.fixture
def shown(tmp_path, varve, environment):
    """shown(b"report", …) runs the command on a terminal and holds what came out against what
    may."""
    def run(*words, **more):
        controller, terminal = pty.openpty()
        tty.setraw(terminal)  # bytes as they are written
        settings = {**environment, "NO_COLOR": "1", "PAGER": "cat", "COLUMNS": "200",
                    **more.pop("env", {})}
        process = subprocess.Popen([varve, *words], cwd=tmp_path, env=settings,
                                   stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal,
                                   **more)
        os.close(terminal)
        output = read_all(controller, process).replace(b"\r\x1b[K", b"")  # our line of progress
        output = re.sub(rb"(?m)^ERROR: ld\.so: .*\n", b"", output)  # the system's own
        os.close(controller)
        text = output.decode("utf-8")  # strict
        assert not OBEYED.search(text), (words, output)
        assert not re.search("^FORGED", text, re.MULTILINE), (words, output)
        return text
    return run


def verbs(varve):
    listing = subprocess.run([varve, "completions", "bash"], capture_output=True, text=True,
                             check=True).stdout
    return re.search(r'compgen -W "([a-z ]+)"', listing).group(1).split()


def options(varve, verb):
    text = subprocess.run([varve, "help", verb], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"--[a-z][a-z-]+", text.partition("Options")[2])))


@pytest.fixture
def hostile(tmp_path):
    """A Chrome trace in which every text is hostile; the same with a fault in the middle of one."""
    events = [{"ph": "M", "pid": 1, "tid": 1, "name": "process_name", "args": {"name": TEXT + "p"}},
              {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": TEXT + "t"}}]
    for step in range(3):
        events.append({"ph": "X", "pid": 1, "tid": 1, "ts": 100 * step, "dur": 90,
                       "name": f"ProfilerStep#{step}", "cat": "user_annotation"})
        for i in range(3):
            events.append({"ph": "X", "pid": 1, "tid": 1, "ts": 100 * step + 10 * i, "dur": 9,
                           "cat": "cpu_op", "name": f"{TEXT}{i}",
                           "args": {TEXT: TEXT, "Input Dims": [[2, 3]], "Input type": [TEXT],
                                    "External id": 3 * step + i}})
            events.append({"ph": "X", "pid": 0, "tid": TEXT, "ts": 100 * step + 10 * i, "dur": 5,
                           "cat": "kernel", "name": TEXT + "k",
                           "args": {"stream": 7, "device": 0, "correlation": 9,
                                    "External id": 3 * step + i}})
        events.append({"ph": "i", "pid": 1, "tid": 1, "ts": 100 * step + 80, "name": TEXT + "m",
                       "cat": TEXT})
        events.append({"ph": "C", "pid": 1, "tid": 1, "ts": 100 * step + 80, "name": TEXT + "c",
                       "args": {TEXT: 1}})
    whole = {"traceEvents": events, "deviceProperties": [{"id": 0, "name": TEXT}], TEXT: TEXT}
    raw = json.dumps(whole, ensure_ascii=False).encode()
    (tmp_path / "evil.json").write_bytes(raw)
    broken = raw.replace(b'"ph": "C"', b'"ph": "C" ' + EVIL.replace(b"\n", b"") + b' "x"')
    (tmp_path / "broken.json").write_bytes(broken)
    with gzip.open(tmp_path / "cut.json.gz", "wb") as file:
        file.write(raw)
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(cut.read_bytes()[:-30])
    return tmp_path / "evil.json"


READING = ["report", "info", "steps", "critical", "memory", "idle", "diff", "validate", "export"]


@pytest.mark.parametrize("form", FORMS)
def test_what_a_trace_says(shown, hostile, form):
    for verb in READING:
        operands = [hostile.name] * (2 if verb == "diff" else 1)
        words = [
            "-o", "-"
        ] if verb == "export" else [] if verb == "diff" and form != "text" else ["--format", form]
        text = shown(verb, *words, *operands)
        assert text
    text = shown("report", "--format", form, hostile.name)
    assert "FORGED" in text  # it was there to be shown


def test_every_table(shown, hostile, varve):
    listing = subprocess.run([varve, "help", "tables"], capture_output=True, text=True,
                             check=False).stdout
    names = re.findall(r"^  ([a-z_]+) ", listing, re.MULTILINE)
    assert len(names) > 10
    for name in names:
        for form in FORMS:
            shown("report", "--table", name, "--format", form, hostile.name)


def test_what_readers_say_of_damage(shown, hostile, tmp_path, trace):
    del hostile
    for verb in READING:
        for name in ("broken.json", "cut.json.gz"):
            shown(verb, name)
    for name, content in {b"metadata": b"/* CTF 1.8 */\n" + EVIL, b"process.0": EVIL * 9,
                          b"thread.1.0": EVIL * 9, b"thread.1." + EVIL: b"x"}.items():
        shutil.rmtree(tmp_path / "d.varve", ignore_errors=True)
        shutil.copytree(trace, tmp_path / "d.varve")
        (process,) = [path for path in (tmp_path / "d.varve").iterdir() if path.is_dir()]
        with open(bytes(process) + b"/" + name, "wb") as file:
            file.write(content)
        for verb in ("report", "info", "pack", "dump"):
            shown(verb, "d.varve")
    (tmp_path / "d.varve/manifest.json").write_bytes(b'{"varve_format": 1, "' + EVIL + b'": ["' +
                                                     EVIL)
    shown("info", "d.varve")


def test_names_of_files_and_folders(shown, hostile, tmp_path, trace, varve):
    name = os.fsencode(tmp_path) + b"/" + EVIL.replace(b"/", b"")
    shutil.copytree(os.fsencode(trace), name + b".varve")
    shutil.copy(os.fsencode(hostile), name + b".json")
    for verb in verbs(varve):
        for operand in (name + b".varve", name + b".json", name + b".gone", os.path.basename(name) +
                        b".varve"):
            if verb != "record":
                shown(verb, operand)
    os.unlink(hostile)
    shown("report")  # "varve: reading …", the newest here
    for extension in (b".json", b".txt", b".csv", b".md", b"/no/such"):
        shown("report", "-o", name + b"2" + extension, name + b".varve")
    shown("export", name + b".varve")
    shown("export", name + b".varve")  # the former becomes .old
    shown("pack", name + b".varve")
    shown("dump", "-o", name + b".dump", name + b".varve")


def test_what_is_typed(shown, hostile, varve):
    shown(EVIL)
    shown(b"-" + EVIL)
    shown("help", EVIL)
    for verb in verbs(varve):
        shown(verb, b"--" + EVIL)
        shown(verb, EVIL, EVIL)
        for option in options(varve, verb):
            words = ["--", "true"] if verb == "record" else [hostile.name]
            shown(verb, os.fsencode(option) + b"=" + EVIL, *words)
            shown(verb, option, EVIL, *words)


def test_what_is_recorded(shown, tmp_path, program):
    name = b"./" + EVIL.replace(b"/", b"")
    shutil.copy(program, os.fsencode(tmp_path) + b"/" + name)
    shown("record", "--", name)
    shown("record", "-v", "-o", name + b".varve", "--", name, EVIL)  # the former becomes .old
    shown("record", "--dry-run", "-o", name + b".varve", "--", name, EVIL)
    shown("report", name + b".varve")
    shown("info", name + b".varve")
    shown("record", "--", name + b"gone")
    shown("record", "-o", name, "--", "true")  # is no trace
    shown("record", "--", "true", EVIL)
    shown("record", "--", "python3", "-c", "pass", EVIL)
    shown("record", "-o", "t.varve", "--", "true",
          env={"LD_PRELOAD": ":" + TEXT.replace(" ", "").replace("\n", ""), "VARVE_OUTPUT": TEXT})
    for variable in ("VARVE_CACHE", "VARVE_LIBRARY", "VARVE_COLLECT", "VARVE_OPTIONS", "COLUMNS",
                     "TERM", "HOME", "XDG_CACHE_HOME"):
        shown("report", env={variable: TEXT})
        shown("record", "-o", "t.varve", "--", program, env={variable: TEXT})


def test_what_can_be_copied_is_the_same_words(shown, tmp_path, program):
    """A command that varve proposes holds nothing that a terminal obeys, and a shell reads the name
    out of it."""
    name = os.fsencode(tmp_path) + b"/it's\\" + EVIL.replace(b"/", b"") + b".varve"
    text = shown("record", "-o", name, "--", program)
    word = re.search(r"varve: next: varve report (.*)", text).group(1)
    said = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True,
                          check=True).stdout
    assert said == name


def test_csv_keeps_texts_as_they_are_for_programs(run, hostile):
    done = run("report", "--table", "operators", "--csv", hostile.name, text=False)
    assert b"\x1b[31m" in done.stdout and b"\xc2\x9b5m" in done.stdout
    done = run("report", "--table", "operators", "--json", hostile.name)
    assert not OBEYED.search(done.stdout)
    assert "\x1b[31m" in json.dumps(json.loads(done.stdout),
                                    ensure_ascii=False).encode().decode("unicode_escape")

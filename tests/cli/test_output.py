# SPDX-License-Identifier: Apache-2.0
"""Where results go and in which form: -o, --format, colour, pagers, full disks, readers that
leave."""
import csv
import io
import json
import re
import os
import pty
import shutil
import subprocess

import pytest


def test_the_extension_decides_the_form(run, tmp_path, trace):
    for name in ("r.json", "r.csv", "r.md", "r.txt"):
        done = run("report", "-o", name, trace)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    texts = {name: (tmp_path / name).read_text() for name in ("r.json", "r.csv", "r.md", "r.txt")}
    assert texts["r.json"] == run("report", "--json", trace).stdout
    assert texts["r.csv"] == run("report", "--csv", trace).stdout
    assert texts["r.md"] == run("report", "--format", "md", trace).stdout
    assert texts["r.txt"] == run("report", trace).stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(texts)


def test_the_option_goes_before_the_extension(run, tmp_path, trace):
    run("report", "-o", "r.csv", "--json", trace)
    assert json.loads((tmp_path / "r.csv").read_text())["schema"] == "varve.report/1"


def test_a_dash_is_standard_output(run, trace):
    assert run("steps", "-o", "-", trace).stdout == run("steps", trace).stdout


def test_two_forms_at_once_are_refused(run, trace):
    done = run("report", "--json", "--csv", trace)
    assert (done.returncode, done.stderr) == (2, "varve: one form at a time: json or csv\n")
    assert run("report", "--json", "--format", "json", trace).returncode == 0
    assert run("report", "--md", trace).stdout == run("report", "--format", "md",
                                                      trace).stdout != run("report", trace).stdout


@pytest.mark.parametrize("verb", ["report", "steps", "info"])
def test_json_is_one_object_of_typed_tables(run, trace, verb):
    document = json.loads(run(verb, "--json", trace).stdout)
    assert document["schema"] == f"varve.{verb}/1"
    assert document["trace"] == str(trace)
    types = {"int": int, "real": (int, float), "text": str}
    for table in document["tables"].values():
        for row in table["rows"]:
            assert len(row) == len(table["columns"])
            for column, value in zip(table["columns"], row):
                assert value is None or isinstance(value, types[column["type"]])


def test_csv_and_json_hold_the_same(run, trace):
    table = json.loads(run("report", "--json", "--table", "operators",
                           trace).stdout)["tables"]["operators"]
    rows = list(csv.reader(io.StringIO(run("report", "--csv", "--table", "operators", trace).stdout,
                                       newline="")))
    assert rows[0] == [column["name"] for column in table["columns"]]
    assert len(rows) - 1 == len(table["rows"]) > 0
    for words, values in zip(rows[1:], table["rows"]):
        for word, value, column in zip(words, values, table["columns"]):
            if value is None:
                assert word == ""
            elif column["type"] == "text":
                assert word == value
            else:
                assert float(word) == value


def test_one_table_is_chosen_by_name(run, trace):
    assert list(json.loads(run("info", "--table", "trace", "--json",
                               trace).stdout)["tables"]) == ["trace"]
    done = run("info", "--table", "thraeds", trace)
    assert (done.returncode,
            done.stderr) == (2, "varve: no table 'thraeds' here. Nearest: threads\n")
    done = run("info", "--table", "zebra", trace)
    assert done.returncode == 2
    assert done.stderr == "varve: no table 'zebra' here. varve help tables lists them\n"
    listed = [line.split()[0] for line in run("help", "tables").stdout.splitlines()
              if re.match(r"  \w", line)]
    assert {"trace", "steps", "operators", "devices"} < set(listed)
    for name in listed:
        assert list(json.loads(run("report", "--table", name, "--json",
                                   trace).stdout)["tables"]) == [name]


def test_fields_choose_the_columns_of_the_verbs_table(run, trace):
    text = run("report", "--table", "operators", "--fields", "operator,calls", trace).stdout
    assert text.splitlines()[1].split() == ["operator", "calls"]
    done = run("report", "--fields", "cals", trace)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "varve: table 'operators' has no column 'cals'. Nearest: calls\n"


@pytest.mark.parametrize("words", [["report"], ["report", "--json"], ["info"],
                                   ["export", "-o", "-"]])
def test_a_full_disk_exits_with_4(run, trace, words):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run(*words, trace, stdout=full)
    assert done.returncode == 4
    assert done.stderr.startswith("varve: ") and "No space left on device" in done.stderr


@pytest.mark.parametrize("words", [["help"], ["help", "--man", "report"], ["version"],
                                   ["completions", "zsh"], []])
def test_a_full_disk_is_seen_by_the_small_verbs_too(run, words):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run(*words, stdout=full)
    assert (done.returncode,
            done.stderr) == (4, "varve: cannot write standard output: No space left on device\n")


def test_a_file_that_cannot_be_written_exits_with_4_and_leaves_nothing(run, tmp_path, trace):
    (tmp_path / "folder").mkdir()
    for name, why in (("no/such/r.json", "No such file or directory"), ("folder", "it is a folder"),
                      ("/dev/full", "No space left on device")):
        done = run("report", "-o", name, trace)
        assert (done.returncode, done.stderr) == (4, f"varve: cannot write '{name}': {why}\n"
                                                            "  name another place:  -o FILE\n")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_former_file_stays_whole_when_writing_fails(run, tmp_path, trace):
    (tmp_path / "r.json").write_text("former")
    assert run("report", "--fields", "nonsense", "-o", "r.json", trace).returncode == 2
    assert (tmp_path / "r.json").read_text() == "former"
    assert run("report", "-o", "r.json", trace).returncode == 0
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "varve.report/1"


def test_a_reader_that_leaves_is_no_news(run, trace):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        assert run("report", trace, stdout=gone).stderr == ""
    done = subprocess.run(["sh", "-c", 'trap "" PIPE; "$0" report "$1" | :', run("version").args[0],
                           trace],
                          stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == ""


def test_without_a_name_the_newest_trace_here_is_read_and_named(run, program):
    for name in ("a.varve", "b.varve"):
        run("record", "-q", "-o", name, "--", program)
    done = run("info", "--json")
    assert json.loads(done.stdout)["trace"] == "b.varve"
    assert done.stderr == "varve: reading b.varve\n"
    assert run("info", "--json", "-q").stderr == ""


def test_a_time_that_is_beyond_all_nanoseconds_is_the_newest(run, program, tmp_path):
    run("record", "-q", "-o", "a.varve", "--", program)
    for name in ("a.json", "b.json"):
        run("export", "-q", "a.varve", "-o", name)
    shutil.rmtree(tmp_path / "a.varve")
    os.utime(tmp_path / "a.json", (2**34, 2**34))
    assert json.loads(run("info", "--json").stdout)["trace"] == "a.json"


def test_an_export_is_not_the_newest_trace_while_a_recording_is_here(run, program, tmp_path):
    run("record", "-q", "-o", "a.varve", "--", program)
    run("export", "-q", "--to", "chrome", "a.varve")
    assert (tmp_path / "a.json").exists()
    assert json.loads(run("info", "--json").stdout)["trace"] == "a.varve"
    shutil.rmtree(tmp_path / "a.varve")
    assert json.loads(run("info", "--json").stdout)["trace"] == "a.json"


@pytest.fixture(name="on_terminal")
def terminal_runner(varve, tmp_path, environment):
    """on_terminal(WORDS…, NAME=VALUE…) is what the command writes to a terminal of 100 columns."""
    def show(*words, **settings):
        main, secondary = pty.openpty()
        with subprocess.Popen([varve, *map(str, words)], stdout=secondary, cwd=tmp_path,
                              stdin=subprocess.DEVNULL, env={**environment, "COLUMNS": "100",
                                                             "LINES": "500",
                                                             **settings}) as process:
            os.close(secondary)
            text = b""
            while True:
                try:
                    part = os.read(main, 65536)
                except OSError:
                    break
                if not part:
                    break
                text += part
        os.close(main)
        return text.decode().replace("\r\n", "\n")
    return show


def test_colour_is_for_terminals(run, on_terminal, trace):
    assert "\033[1mOPERATORS\033[0m" in on_terminal("report", trace)
    assert "\033" not in on_terminal("report", trace, NO_COLOR="1")
    assert "\033" not in on_terminal("report", trace, TERM="dumb")
    assert "\033" not in on_terminal("report", "--color", "never", trace)
    assert "\033" not in run("report", trace).stdout
    assert "\033[1mOPERATORS\033[0m" in run("report", "--color", "always", trace).stdout
    assert "\033" not in run("report", "--color", "always", "--json", trace).stdout


def test_a_pager_gets_what_is_longer_than_the_terminal(on_terminal, trace):
    plain = on_terminal("info", trace)
    assert on_terminal("info", trace, LINES="5", VARVE_PAGER="sed s/^/paged:/") == \
        "".join(f"paged:{line}\n" for line in plain.splitlines())
    assert on_terminal("info", trace, VARVE_PAGER="sed s/^/paged:/") == plain
    assert on_terminal("info", trace, LINES="5", PAGER="cat") == plain
    assert on_terminal("info", trace, LINES="5", VARVE_PAGER="no-such-pager-here").endswith(plain)
    assert "paged" not in on_terminal("info", "--json", trace, LINES="5",
                                      VARVE_PAGER="sed s/^/paged:/")


def test_help_is_paged_too(on_terminal):
    for words in (("help", "report"), ("report", "--help"), ("help", "--all"), ("help", "kernels")):
        plain = on_terminal(*words, PAGER="cat")
        assert on_terminal(*words, LINES="5", VARVE_PAGER="sed s/^/paged:/") == \
            "".join(f"paged:{line}\n" for line in plain.splitlines())


def test_help_begins_with_what_the_verb_alone_takes(run):
    said = run("help", "report").stdout
    own, shared = said.split("\nOptions of most verbs:\n")
    for option in ("--table", "--steps", "--filter", "--by", "--sort", "--compat"):
        assert f"  {option} " in own and f"  {option} " not in shared
    for option in ("--color", "--json", "--strict", "--max-memory", "--no-cache"):
        assert f"  {option}" in shared and f"  {option}" not in own
    assert "-o, --output OUT.varve" not in said
    record = run("help", "record").stdout
    assert "--output FILE" in record.split("\nOptions of most verbs:\n")[0]


def test_a_verdict_beyond_the_noise_has_a_colour(run, tmp_path):
    for name, own_us in (("fast", 100), ("slow", 150)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"traceEvents": [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{n}", "pid": 1, "tid": 1,
             "ts": 1000 * n, "dur": own_us + n % 2} for n in range(6)]}))
    def said(*sides):
        return run("diff", "--no-cache", "--color", "always", *sides).stdout
    assert "\033[31mslower, beyond the noise\033[0m" in said("fast.json", "slow.json")
    assert "\033[32mfaster, beyond the noise\033[0m" in said("slow.json", "fast.json")
    assert "m" not in re.search("verdict +(.)", said("fast.json", "fast.json"))[1]


def test_a_clock_that_does_not_count_from_1970_gives_no_date(run, tmp_path):
    """Two steps, some 40 minutes after the machine began."""
    (tmp_path / "t.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{n}", "pid": 1, "tid": 1,
         "ts": 2_400_000_000 + 1000 * n, "dur": 900} for n in range(2)]}))
    told = run("info", "--no-cache", "t.json").stdout
    assert "1970" not in told and re.search("begin +2400.000000 s", told)
    assert "at an unknown time, 1.90 ms" in run("report", "--no-cache", "t.json").stdout
    told = run("steps", "--no-cache", "--fields", "+begin_ns", "t.json").stdout
    assert "2400.000" in told and "2400.001" in told

# SPDX-License-Identifier: Apache-2.0
"""Verbs, help, and what is said about a wrong command line."""
import re

import pytest

OVERVIEW = """\
varve — operator-level profiler for machine-learning programs

  varve record -- python train.py      run and record; writes train.varve
  varve report                         where the time went

Record:    record  sample
Control:   start  stop  status  dump
Look:      report  steps  critical  memory  idle  dag  diff  info  validate
Carry:     export  pack
MLIR:      annotate  tag  hot  tune
Prepare:   doctor  help  version  completions

varve help VERB for more · varve help tables · varve help --all for everything
"""
VERBS = " ".join(re.findall(r"^\w+: +(.+)$", OVERVIEW, re.MULTILINE)).split()


def test_no_arguments_print_the_overview(run):
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, OVERVIEW, "")


@pytest.mark.parametrize("words", [["help"], ["--help"], ["-h"]])
def test_help_alone_is_the_overview(run, words):
    assert run(*words).stdout == OVERVIEW


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_explains_itself_in_three_ways(run, verb):
    page = run("help", verb)
    assert page.returncode == 0
    assert page.stdout.startswith(f"varve {verb} — ")
    assert f"  varve {verb} [options]" in page.stdout
    assert page.stdout == run(verb, "--help").stdout == run(verb, "-h").stdout
    assert max(map(len, page.stdout.splitlines())) <= 100


@pytest.mark.parametrize("verb", VERBS)
def test_examples_fit_a_terminal_of_80_columns(run, verb):
    examples = run("help", verb).stdout.split("\nExamples:\n")[1].split("\nExit codes:")[0]
    assert [line for line in examples.splitlines() if len(line) > 80 or line.endswith(" ")] == []
    assert f"  varve {verb}" in examples


def test_exit_codes_name_the_verbs_own_options(run):
    for verb, wanted in (("diff", "--strict found loss, --fail-over"), ("report", "--strict found"),
                         ("status", "the answer is no\n")):
        told = run("help", verb).stdout.split("Exit codes:")[1]
        assert wanted in told and ("slower steps" in told) == (verb == "diff")


def test_help_all_holds_every_verbs_page(run):
    everything = run("help", "--all").stdout
    for verb in VERBS:
        assert run("help", verb).stdout in everything


@pytest.mark.parametrize("word", ["version", "--version", "-V"])
def test_version_is_one_line(run, word):
    assert re.fullmatch(r"varve \d+\.\d+\.\d+  trace format 1\n", run(word).stdout)


WRONG = [
    (["reprot"], "varve: no verb 'reprot'. Nearest: report\n"),
    (["frobnicate"], "varve: no verb 'frobnicate'. All of them: varve help\n"),
    (["--json"], "varve: options come after the verb: varve VERB --json. Verbs: varve help\n"),
    (["stat"], "varve: no verb 'stat'. Nearest: status\n"),
    (["top"], "varve: no verb 'top'. All of them: varve help\n"),
    (["kernels"], "varve: 'kernels' is no verb but a table: varve report --table kernels. What it "
                  "shows: varve help kernels\n"),
    (["help", "reprot"], "varve: no verb and no table 'reprot'. Nearest: report\n"),
    (["help", "kernals"], "varve: no verb and no table 'kernals'. Nearest: kernels\n"),
    (["help", "frobnicate"], "varve: no verb and no table 'frobnicate'. Verbs: varve help; tables: "
                             "varve help tables\n"),
    (["help", "table", "kernelz"], "varve: no table 'kernelz' here. Nearest: kernels\n"),
    (["help", "info", "steps"], "varve: help wants one word: after 'info' came 'steps'\n"),
    (["report", "--sotr", "x"], "varve: report has no option '--sotr'. Nearest: --sort\n"),
    (["report", "-z"], "varve: report has no option '-z'\n  what it takes:  varve help report\n"),
    (["steps", "--by", "op"],
     "varve: steps does not take --by\n  what it takes:  varve help steps\n"),
    (["report", "--top"],
     "varve: --top wants a value: --top N\n  what it takes:  varve help report\n"),
    (["report", "--top", "ten"], "varve: --top wants a whole number, 0 or more, not 'ten'\n"
                                 "  what it takes:  varve help report\n"),
    (["report", "--by", "colour"],
     "varve: --by is one of op, name, shape, module, source, phase, stream, thread, layer, "
                                   "rank, step, use, block, execution; not "
                                   "'colour'\n"
                                   "  what it takes:  varve help report\n"),
    (["report", "--filter", "nam~'x'"],
     "varve: column 1 of the filter 'nam~'x'': a slice has no 'nam'. Nearest: name\n"),
    (["steps", "--filter", "self>"], "varve: column 6 of the filter 'self>': wanted is a whole "
                                     "number and a unit, such as 1.5ms\n"),
    (["export", "--to", "crome"],
     "varve: --to is one of chrome, pgle; not 'crome'. Nearest: chrome\n"),
    (["export", "--to", "perfetto"],
     "varve: what perfetto opens is written by --to chrome\n"),
    (["pack", "a", "b"], "varve: one trace at a time: after 'a' came 'b'\n"),
    (["completions", "fsh2"], "varve: no completions for 'fsh2'. There are: bash, zsh, fish\n"),
    (["completions"], "varve: completions wants one shell: bash, zsh or fish\n"),
    (["version", "x"], "varve: version takes no operand: 'x'\n"),
    (["info", "--step", "3"],
     "varve: info does not take --steps\n  what it takes:  varve help info\n"),
]


@pytest.mark.parametrize("words, message", WRONG, ids=lambda value: " ".join(value)
                         if isinstance(value, list) else "")
def test_a_wrong_command_line_is_named_and_exits_with_2(run, words, message):
    done = run(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_one_step_may_be_called_step(run, trace):
    done = run("steps", "--csv", "--step", "1", trace)
    assert (done.returncode, done.stdout) == (0, run("steps", "--csv", "--steps", "1",
                                                     trace).stdout)


@pytest.mark.parametrize("verb", ["report", "steps", "info", "export"])
def test_without_a_trace_the_next_thing_to_type_is_named(run, verb):
    done = run(verb)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("varve: no trace here. Record one:  varve record -- PROGRAM")


@pytest.mark.parametrize("verb", ["report", "steps", "info", "export"])
def test_an_input_that_is_no_trace_exits_with_3(run, tmp_path, verb):
    (tmp_path / "notes.txt").write_text("milk, eggs")
    for name, words in (("notes.txt", "'notes.txt'"), ("missing.varve", "'missing.varve'")):
        done = run(verb, name)
        assert (done.returncode, done.stdout) == (3, "")
        first, second = done.stderr.splitlines()
        assert first.startswith("varve: ") and words in first
        assert second == "  record one:  varve record -- PROGRAM ARGS"


def test_after_a_wrong_name_the_newest_trace_here_is_offered(run):
    run("record", "-q", "-o", "t.varve", "--", "true")
    assert run(
        "report",
        "tt.varve").stderr.splitlines()[1] == "  the newest trace here is t.varve:  varve report"


@pytest.mark.parametrize("verb", ["report", "steps", "info", "export"])
def test_a_trace_cut_beyond_reading_exits_with_3(run, tmp_path, program, verb):
    run("record", "-q", "-o", "t.varve", "--", program)
    next((tmp_path / "t.varve").glob("*/metadata")).write_text("/* CTF 1.8 */")
    done = run(verb, "t.varve")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[1:] == ["  record it again:  varve record -- PROGRAM ARGS"]

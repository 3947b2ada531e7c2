# SPDX-License-Identifier: Apache-2.0
"""Completion scripts in the real shells: what a Tab offers."""
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer  # noqa: E402 pylint: disable=wrong-import-position

# The words typed, the last one unfinished; what must be offered; what must not.
CASES = [
    (["re"], {"record", "report"}, {"steps"}),
    ([""], {"record", "report", "steps", "info", "export", "help", "version", "completions"},
     set()),
    (["report", "--s"], {"--sort", "--steps", "--strict"}, {"--by"}),
    (["steps", "--b"], set(), {"--by"}),
    (["record", "--"], {"--layers", "--dry-run", "--output"}, {"--by", "--json"}),
    (["report", "--by", ""], {"op", "name", "shape", "thread", "phase", "module", "rank"},
     {"--json"}),
    (["report", "--sort", "m"], {"median"}, {"self"}),
    (["report", "--color", "a"], {"auto", "always"}, {"never"}),
    (["export", "--to", ""], {"chrome", "pgle"}, set()),
    (["info", "tr"], {"train.varve"}, {"notes"}),
    (["steps", "-o", "no"], {"notes"}, {"train.varve"}),
    (["help", "st"], {"steps"}, {"report"}),
    (["completions", ""], {"bash", "zsh", "fish"}, set()),
    (["report", "--table", "ker"], {"kernels", "kernel_ops", "kernel_counters"}, {"idle"}),
    (["report", "--table=ker"], {"kernels", "kernel_ops"}, {"idle"}),
    (["report", "--fields", "step_s"], {"step_self_ns", "step_self_share"}, {"grid"}),
    (["report", "--table", "kernels", "--fields", "g"], {"grid"}, {"step_self_ns"}),
    (["report", "--table", "kernels", "--sort", "to"], {"total_ns"}, {"total"}),
    (["idle", "--fields", "dep"], {"dependency_ns"}, {"depth"}),
    (["report", "--filter", "cor"], {"correlation"}, {"self"}),
    (["record", "--layers", "R"], {"RUNTIME", "RUNTIME_L1"}, {"OP"}),
    (["record", "--layers", "OP,ST"], {"OP,STEP"}, {"OP,OP"}),
    (["record", "--collect", "+py"], {"+python"}, {"+torch"}),
    (["record", "--collect", ""], {"auto", "none", "torch"}, set()),
    (["help", "kernel_o"], {"kernel_ops"}, {"kernels"}),
    (["help", "fil"], {"filter"}, {"steps"}),
    (["report", ""], {"train.varve", "torch.json", "runs"}, {"notes", "settings.json"}),
    (["report", "runs/"], {"runs/rank0.json"}, {"runs/log.txt", "train.varve"}),
    (["diff", "t"], {"train.varve", "torch.json"}, {"runs"}),
    (["report", "set"], {"settings.json"}, set()),  # no trace: any file
    (["tag", ""], {"notes", "settings.json"}, set()),
]
IDS = ["varve " + " ".join(words) for words, _, _ in CASES]


@pytest.fixture(name="folder")
def folder_with_a_trace(tmp_path):
    (tmp_path / "train.varve").mkdir()
    (tmp_path / "notes").write_text("")
    (tmp_path / "settings.json").write_text('{"colour": 1}')
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "log.txt").write_text("")
    for name in ("torch.json", "runs/rank0.json"):
        kineto_writer.write(tmp_path / name, [kineto_writer.span("aten::add", 0, 1000)])
    return tmp_path


@pytest.fixture(name="shell")
def shell_runner(run, folder, environment):
    """shell("bash", ARGUMENTS…) runs a shell beside its script; skips where that shell is
    missing."""
    def start(name, script_file, *arguments):
        if shutil.which(name) is None:
            pytest.skip(f"needs {name}: apt install {name}")
        script = run("completions", name)
        assert script.returncode == 0
        (folder / script_file).write_text(script.stdout)
        settings = {**environment, "HOME": str(folder)}
        done = subprocess.run([name, *arguments], cwd=folder, env=settings, capture_output=True,
                              text=True, timeout=240, check=False)
        assert done.stderr == ""
        return done.stdout
    return start


def check(offered, wanted, unwanted):
    offered = {re.sub("^--[a-z-]+=", "", word.rstrip("/")) for word in offered}
    assert wanted <= offered
    assert not unwanted & offered


BASH = """
source ./.script
COMP_WORDS=(varve)
for word; do # as bash breaks the line
    case $word in --*=*) COMP_WORDS+=("${word%%=*}" = "${word#*=}") ;; *) COMP_WORDS+=("$word") ;; esac
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_varve
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("words, wanted, unwanted", CASES, ids=IDS)
def test_bash(shell, words, wanted, unwanted):
    check(shell("bash", ".script", "--norc", "-c", BASH, "bash", *words).split(), wanted, unwanted)


def test_bash_splits_at_the_equals_sign(shell):
    check(shell("bash", ".script", "--norc", "-c", BASH, "bash", "report", "--by", "=",
                "s").split(),
          {"shape", "source", "stream"}, {"op"})


def test_bash_registers_the_function(shell):
    assert "-F _varve varve" in shell("bash", ".script", "--norc", "-c",
                                      "source ./.script; complete -p varve")


@pytest.mark.parametrize("words, wanted, unwanted", CASES, ids=IDS)
def test_fish(shell, words, wanted, unwanted):
    line = " ".join(["varve", *words])
    script = f"source ./.script; complete -C {line!r}"
    printed = shell("fish", ".script", "--no-config", "-c", script)
    check([row.split("\t")[0] for row in printed.splitlines()], wanted, unwanted)


# An interactive zsh on a pseudo-terminal: types the line and Tab. Matches are noted where
# completion adds them, since what is on the screen depends on the time.
ZSH_NOTES = r"""
compadd() {
    local -a matches
    [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] || { builtin compadd -A matches "$@"; print -rl -- $matches >> offered; }
    builtin compadd "$@"
}
autoload -Uz compinit
compinit -u -d .dump
zstyle ':completion:*' insert-tab false
zle-line-init() { print READY-$((40+2)) }
say-end() { print END-$((40+2)) }
zle -N zle-line-init
zle -N say-end
bindkey '^X^E' say-end
"""
# Only the line editor says READY and END: before it runs, the terminal itself would take control
# characters.
ZSH = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; fpath=(./site \$fpath); source ./notes.zsh"
zpty -r z output '*READY-42*'
zpty -w -n z "$1"$'\t\C-x\C-e'
zpty -r z output '*END-42*'
zpty -d z
"""


@pytest.mark.parametrize("words, wanted, unwanted", CASES, ids=IDS)
def test_zsh(shell, folder, words, wanted, unwanted):
    (folder / "site").mkdir()
    (folder / "notes.zsh").write_text(ZSH_NOTES)
    (folder / "offered").write_text("")
    shell("zsh", "site/_varve", "-f", "-c", ZSH, "zsh", " ".join(["varve", *words]))
    if words[0] == "record":  # zsh keeps what stands before the last comma or sign
        wanted, unwanted = ({re.sub("^[A-Z]*[,+]", "", word) for word in some}
                            for some in (wanted, unwanted))
    check((folder / "offered").read_text().split(), wanted, unwanted)


@pytest.mark.parametrize("name, check_only", [("bash", "-n"), ("zsh", "-n"),
                                              ("fish", "--no-execute")])
def test_the_script_has_no_syntax_error(shell, name, check_only):
    assert shell(name, ".script", check_only, ".script") == ""

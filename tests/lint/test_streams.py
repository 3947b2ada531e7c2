# SPDX-License-Identifier: Apache-2.0
"""What reaches a terminal goes through the few files that take out what it would obey."""
import re

import pytest
import sources

COMMAND = "src/cli/"
# Which files may name what: each of them replaces (doc/safety.md), or writes fixed text alone.
WAYS = {
    "standard error": (
        re.compile(
            r"\b(?:stderr|STDERR_FILENO|perror|psignal|dprintf|vdprintf|v?warnx?|v?errx?|error_at_line)\b(?!->|\.)"
        ),
        {
            "src/cli/line/say.c",
            "src/base/text/harmless.c",
            "src/cli/line/cleanup_on_signal.c",  # the sequence that erases our line of progress
            "src/cli/line/meter.c",  # asks whether it is a terminal
            "src/cli/cmd_record.c",  # asks whether it has colours
            # give descriptors to a child
            "src/cli/recording/child.c",
            "src/cli/doctor/interpreter.c"
        }),
    "standard output": (
        re.compile(r"\b(?:stdout|STDOUT_FILENO|puts|putchar|vprintf|printf)\b(?!,)"),
        {
            "src/cli/reading/output.c",  # tables, which src/present has made
            # --dry-run: words as shell_word.c writes them
            "src/cli/cmd_record.c",
            "src/cli/doctor/interpreter.c",
            "src/cli/main.c",
            "src/cli/cmd_help.c",
            "src/cli/cmd_version.c",
            "src/cli/cmd_completions.c"
        }),
}


def found(pattern, text):
    code = re.sub(
        r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|//[^\n]*|__attribute__\(\(format\(printf[^)]*\)\)\)', "",
        text, flags=re.DOTALL)
    return pattern.findall(code)


@pytest.mark.parametrize("way", WAYS)
def test_only_few_files_write_there(way):
    pattern, allowed = WAYS[way]
    names = {str(path.relative_to(sources.ROOT)): sources.text_of(path)
             for path in sources.code(".c", ".h")}
    using = {name for name, text in names.items() if name.startswith("src/")
             and found(pattern, text)}
    assert using <= allowed, sorted(using - allowed)
    assert len(using) >= 2


def test_nothing_is_printed_as_it_came():
    """printf of %s on standard output: versions and names of settings, which are ours."""
    for name in WAYS["standard output"][1]:
        text = sources.text_of(sources.ROOT / name)
        assert set(re.findall(r"\bprintf\(([^;]*%[.*\d]*s[^;]*)\);",
                              text)) <= {'"%s=", settings[i].name'}, name


def test_a_way_round_is_told():
    pattern, _ = WAYS["standard error"]
    assert found(pattern, 'fprintf(stderr, "%s", name);') and found(pattern, "perror(name);")
    assert not found(pattern, '/* stderr */ puts("stderr"); vv_fail(error, 1);')
    pattern, _ = WAYS["standard output"]
    assert found(pattern, "printf(name);") and not found(
        pattern, 'fprintf(line, "%s"); int f() __attribute__((format(printf, 1, 2)));')

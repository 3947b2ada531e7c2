# SPDX-License-Identifier: Apache-2.0
"""Text of perf script: samples as slices by function and line of the source. Written by hand, and
of a program that perf samples here."""
import collections
import gzip
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402
from model_tables import dump, health, refusal  # noqa: E402

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "corpus" / "perf_script"
CHAIN = "\t            116d inner+0x24 (/usr/bin/a)\n\t            11bb main+0x2d (/usr/bin/a)\n\n"


@pytest.fixture(name="read")
def fixture_read(build, tmp_path):
    def read(text, name="perf.txt"):
        (tmp_path / name).write_text(text)
        return dump(build, tmp_path / name)
    return read


def slices(tables):
    """[(begin, duration, depth, name, "file:line" or "", thread)]"""
    found = []
    for row in tables["slices"]:
        source = tables["sources"][row["source"]] if row["source"] else None
        place = f"{source['file']}:{source['line']}" if source else ""
        found.append((row["begin_ns"], row["duration_ns"], row["depth"], row["name"], place,
                      tables["tracks"][row["track"]]["name"]))
    return found


def test_a_sample_with_a_call_chain_is_a_slice_in_each_caller(read):
    tables = read("train  72 10.000002:       2000 cpu-clock: \n" + CHAIN +
                  "train  72 10.000010:       2000 cpu-clock: \n" + CHAIN)
    base = 10 * 10**9
    assert slices(tables) == [
        (base, 2000, 0, "main", "", "train"), (base, 2000, 1, "inner", "", "train"),
        (base + 8000, 2000, 0, "main", "", "train"), (base + 8000, 2000, 1, "inner", "", "train")]
    assert [row["self_ns"] for row in tables["slices"]] == [0, 2000, 0, 2000]
    assert not health(tables)
    assert [(row["key"], row["value"]) for row in tables["facts"]] == [("perf: event", "cpu-clock")]


def test_samples_that_come_too_early_follow_each_other(read):
    """The sum of the periods is kept, whatever the interrupts' delays."""
    tables = read("".join(f"a 1 0.00{at:04d}: 1000000 task-clock:u: 11 f+0x1 (/a)\n"
                          for at in (1000, 1900, 3100)))
    assert [row[:2] for row in slices(tables)] == [
        (0, 10**6), (10**6, 10**6), (2_100_000, 10**6)]


def test_lines_of_the_source_are_sources(read):
    tables = read("a  7 1.000000:    2000 \n\t            116d inner\n  a.c:3\n\t  11bb outer\n"
                  "  /src/b dir/a.c:4 (discriminator 2)\n\t  274a start\n  libc.so[274a]\n\n"
                  "a  7 1.000002:    2000      116d inner\n  a.c:3\n")
    assert [(row[3], row[4]) for row in slices(tables)] == [
        ("start", ""), ("outer", "/src/b dir/a.c:4"), ("inner", "a.c:3"), ("inner", "a.c:3")]


def test_fields_that_a_line_may_have(read):
    tables = read("# ========\n# captured on: today\n#\n"
                  "my program 71/72 [003] 5.000000001:          250000 cpu-clock:pppH: \n"
                  "\t  7f01 operator new(unsigned long)+0x1f (/usr/lib/libstdc++.so.6)\n"
                  "\t  7f02 [unknown] (/usr/lib/libx.so)\n\n"
                  "my program 71/73 [000] 5.000000002:          250000 cpu-clock:pppH: \n"
                  "\t  ffffffff8110 f (inlined)\n\n")
    assert [(row[3], row[5]) for row in slices(tables)] == [
        ("libx.so", "my program"), ("operator new(unsigned long)", "my program"),
        ("f", "my program")]
    assert [row["pid"] for row in tables["processes"]] == [71]
    assert [row["tid"] for row in tables["tracks"]] == [72, 73]


def test_cycles_become_time_by_the_median(read):
    """Samples 1 ms apart for 3 000 000 cycles, and once a pause: a cycle is a third of a ns."""
    times = [10, 11, 12, 13, 500, 501]
    tables = read("".join(f"a 1 0.{at:03d}000: 3000000 cycles: 11 f+0x1 (/a)\n" for at in times))
    assert [row[:2] for row in slices(tables)] == [(at * 10**6 - 10**6, 10**6) for at in times]
    facts = {row["key"]: row["value"] for row in tables["facts"]}
    assert facts["perf: ns of one event, estimated"] == pytest.approx(1 / 3)


def test_a_second_event_counts_no_time_twice(read):
    tables = read("a 1 0.001000: 9 instructions: 11 f+0x1 (/a)\n"
                  "a 1 0.001000: 1000 cpu-clock: 11 g+0x1 (/a)\n"
                  "a 1 0.002000: 9 instructions: 11 f+0x1 (/a)\n")
    assert [row[3] for row in slices(tables)] == ["g"]
    assert health(tables) == {"ignored": 2}


def test_without_periods_a_sample_is_as_long_as_the_median_between_two(read):
    tables = read("".join(f"a 1 0.{at:03d}000: 11 f+0x1 (/a)\n" for at in (1, 2, 3, 9)))
    assert [row[1] for row in slices(tables)] == [10**6] * 4
    facts = {row["key"]: row["value"] for row in tables["facts"]}
    assert facts == {"perf: ns of one sample, estimated": 10**6}


def test_a_cut_file_gives_all_whole_lines(read, tmp_path, build):
    text = ("a 1 0.001000: 1000 cpu-clock: 11 first+0x1 (/a)\n"
            "a 1 0.002000: 1000 cpu-clock: 11 second+0x1 (/a)\n")
    for length in range(len(text.splitlines()[0]) + 1, len(text)):
        tables = read(text[:length])
        assert [row[3] for row in slices(tables)][:1] == ["first"]
        assert len(slices(tables)) == 1
        assert health(tables) == ({"truncated_files": 1} if text[length - 1] != "\n" else {})
    (tmp_path / "p.gz").write_bytes(gzip.compress(text.encode()))
    assert len(slices(dump(build, tmp_path / "p.gz"))) == 2


@pytest.mark.parametrize("text", ["a 1 0.5: 11 f\n", "a 1 1.000000 11 f\n", "1.000000: 2\n",
                                  "a b 1.000000: 2\n", "\t 11 f (a)\n"])
def test_other_texts_are_not_taken(build, tmp_path, text):
    (tmp_path / "x.txt").write_text(text)
    assert "is not a trace that varve knows" in refusal(build, tmp_path / "x.txt")


PROGRAM = """
#include <math.h>
#include <stdio.h>
__attribute__((noinline)) double inner(double x) {
    for (int i = 0; i < 40; i++) x = sqrt(x + i) * 1.0001;
    return x;
}
__attribute__((noinline)) double outer(double x) {
    double s = 0; for (int i = 0; i < 100; i++) s += inner(x + i); return s;
}
int main(void) {
    double s = 0; for (int i = 0; i < 9000; i++) s += outer(i); printf("%f", s); return 0;
}
"""


def perf(*arguments, folder):
    return subprocess.run(["perf", *arguments], cwd=folder, capture_output=True, text=True,
                          check=False)


def period_by(key, folder):
    """{row of perf report: sum of the periods}"""
    report = perf("report", "-i", "p.data", "--no-children", "-g", "none", "-s", key, "-F",
                  f"period,{key}", "--stdio", folder=folder).stdout
    found = [re.match(r"\s*(\d+)\s+(?:\[.\] )?(\S.*?)\s*$", line) for line in report.splitlines()]
    return {row[2]: int(row[1]) for row in found if row}


def self_by(varve, key, path):
    rows = table_reader.tables(varve, "report", "--no-cache", "--top", "0", "--table", "operators",
                               "--by", key, path)["operators"]
    return {row["name"]: row["self_ns"] for row in rows
            if row["self_ns"] and row["row"] == "operator"}


def test_perf_s_own_sums(varve, tmp_path):
    """perf report counts periods by function and by line of the source; so does varve, of the same
    samples. Functions without a source, as the system's, count to the line that they interrupt."""
    if shutil.which("perf") is None:
        pytest.skip("needs perf: tools/setup clients")
    (tmp_path / "a.c").write_text(PROGRAM)
    subprocess.run(["cc", "-g", "-O1", "-fno-omit-frame-pointer", "a.c", "-o", "a", "-lm"],
                   cwd=tmp_path, check=True)
    if perf("record", "-e", "cpu-clock", "-F", "999", "-g", "-o", "p.data", "./a",
            folder=tmp_path).returncode != 0:
        pytest.skip("perf may not sample on this machine")
    text = perf("script", "-i", "p.data", "-F", "comm,tid,time,period,ip,sym,srcline",
                folder=tmp_path).stdout
    (tmp_path / "p.txt").write_text(text)
    expected = period_by("sym", tmp_path)
    assert sum(expected.values()) > 10**7
    assert self_by(varve, "op", tmp_path / "p.txt") == expected
    lines = self_by(varve, "source", tmp_path / "p.txt")
    by_line = {place: ns for place, ns in period_by("srcline", tmp_path).items()
               if place.startswith("a.c:")}
    assert by_line and all(lines[place] >= ns for place, ns in by_line.items())

# SPDX-License-Identifier: Apache-2.0
"""Records that a handler's jump left unpublished are lost, and every reader says so (doc/format.md
§4)."""
import csv
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS.parent / "tools")]

import varve_decode  # noqa: E402
from trace_writer import Trace  # noqa: E402

END = 1


def words_of(site, *records):
    """The words of records: 0, END, "begin", ("counter", value)."""
    return [0 if record == 0 else (2000 << 20 | (END if record == END else site))
            for record in records]


CASES = {
    "one that was never begun": ([0], 1),
    "three words of it": ([0, 0, 0], 1),
    "one that is whole, and one behind it": (["begin", END], 2),
    "and a handler's behind": ([0, "begin", END, "begin", END], 5),
    "two handlers, each interrupted": ([0, "begin", 0, 0, END], 4),
    "a class that nobody knows": ([0, "begin", 7 << 40], 3),
}


@pytest.fixture
def hidden_trace(tmp_path):
    def write(words):
        trace = Trace(tmp_path / "x.varve")
        process = trace.process(pid=100)
        site = process.site("begin", "work")
        thread = process.thread(tid=100)
        thread.begin(site, at=1000)
        thread.hide([word if isinstance(word, int) and word > END else words_of(site, word)[0]
                     for word in words], at=3000)
        thread.begin(site, at=3010)
        thread.end(at=3020)
        trace.write()
        return tmp_path / "x.varve"
    return write


def lost(varve, trace, *options):
    done = subprocess.run([varve, "info", "--csv", "--table", "trace", *options, trace],
                          capture_output=True, text=True, check=False)
    (row,) = csv.DictReader(done.stdout.splitlines())
    return int(row["lost"]), done.returncode, row["events"]


@pytest.mark.parametrize("words, count", CASES.values(), ids=CASES)
def test_it_is_counted(varve, hidden_trace, words, count):
    trace = hidden_trace(words)
    assert lost(varve, trace)[:2] == (count, 0)
    assert lost(varve, trace, "--strict")[1] == 1
    text = subprocess.run([varve, "info", trace], capture_output=True, text=True, check=True).stdout
    assert f"{count} EVENTS LOST" in text or (count == 1 and "1 EVENT" in text)
    decoded = varve_decode.open_trace(trace)
    assert decoded.problems == [] and varve_decode.counts(decoded)["lost"] == count


def test_what_was_open_ends_there(varve, hidden_trace):
    """As at every loss: nobody knows what the hidden records ended."""
    trace = hidden_trace([0, END])
    done = subprocess.run([varve, "info", "--csv", "--table", "health", trace], capture_output=True,
                          text=True, check=True)
    assert "lost" in done.stdout and "unfinished" in done.stdout


def test_a_packed_trace_tells_the_same(varve, tmp_path, hidden_trace):
    trace = hidden_trace([0, "begin", END])
    subprocess.run([varve, "pack", "-o", tmp_path / "packed.varve", trace], check=True,
                   capture_output=True)
    assert lost(varve, tmp_path / "packed.varve") == lost(varve, trace) == (3, 0, "3")

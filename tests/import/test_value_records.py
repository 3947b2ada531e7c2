# SPDX-License-Identifier: Apache-2.0
"""Records of arguments and collectives (doc/format.md §6), of ranges and of device work: every
reader finds them, and the model, the Chrome export and filters have them."""
import json
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS / "import"),
                str(TESTS.parent / "tools")]

import trace_writer  # noqa: E402
import varve_decode  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import operators, tables  # noqa: E402
from test_device_records import GPU, dump  # noqa: E402
from test_varve_format import babeltrace_count  # noqa: E402

EVERYTHING = [("whole", "int", -5), ("large", "unsigned", 2**64 - 1),
              ("small", "unsigned", 7), ("rate", "real", 0.1), ("on", "bool", 1),
              ("sizes", "ints", [-1, 2]), ("numbers", "unsigneds", [2**64 - 1]),
              ("rates", "reals", [0.1, 1e300, float("inf"), -2.0]), ("none", "ints", [])]
READ = {"whole": -5, "large": 2**64 - 1, "small": 7, "rate": 0.1, "on": True, "sizes": [-1, 2],
        "numbers": [2**64 - 1], "rates": [0.1, 1e300, None, -2], "none": []}


@pytest.fixture
def made(tmp_path):
    """made() gives (trace, thread, site of ranges "work")."""
    def make():
        trace = trace_writer.Trace(tmp_path / "v.varve")
        process = trace.process(pid=100)
        thread = process.thread(tid=100)
        process.track(1, "queue", "ticks", GPU)
        return trace, thread, process.site("begin", "work", layer="OP")
    return make


def chrome_args(varve, path, name):
    subprocess.run([varve, "export", path, "--to", "chrome", "-q", "-o", path / "x.json"],
                   check=True)
    events = json.loads((path / "x.json").read_text())["traceEvents"]
    return [event["args"] for event in events if event.get("name") == name]


def test_every_reader_finds_arguments(varve, made):
    trace, thread, work = made()
    thread.begin(work, at=1000)
    thread.args(EVERYTHING, at=1001)
    thread.texts([("file", "naïve.txt"), ("empty", "")], at=1002)
    thread.end(at=1090)
    thread.activity(1, "kernel", (1010, 1020), at=1100)
    thread.args([("waves", "int", 3)], at=1100, subject=1)
    thread.texts([("why", "tail")], at=1100, subject=1)
    path = trace.write()
    decoded = varve_decode.open_trace(str(path))
    assert decoded.problems == []
    names = varve_decode.counts(decoded)["by_name"]
    assert (names["varve.args"], names["varve.texts"]) == (2, 2)
    if (count := babeltrace_count(path)) is not None:
        assert count == trace.records
    (of_range,), (of_work,) = (chrome_args(varve, path, name) for name in ("work", "kernel"))
    assert {key: of_range[key] for key in READ} == READ
    assert (of_range["file"], of_range["empty"]) == ("naïve.txt", "")
    assert (of_work["waves"], of_work["why"]) == (3, "tail")


def test_arguments_of_several_records_come_together(made):
    """Also with those of a range inside between them, and after a range that had many."""
    trace, thread, work = made()
    for outer in range(3):
        thread.begin(work, at=1000 + 100 * outer)
        for i in range(4):
            thread.args([("outer", "int", 10 * outer + i)], at=1000 + 100 * outer + i)
            thread.begin(work, at=1000 + 100 * outer + i)
            thread.args([("inner", "int", i), ("more", "int", i)], at=1000 + 100 * outer + i)
            thread.end(at=1001 + 100 * outer + i)
        thread.texts([("last", "text")], at=1050 + 100 * outer)
        thread.end(at=1090 + 100 * outer)
    slices = dump(trace.write())["slices"]
    outers = [[value for _, value in row["args"]] for row in slices
              if row["duration_ns"] == 90]
    assert outers == [[10 * outer + i for i in range(4)] + ["text"] for outer in range(3)]
    assert all([key for key, _ in row["args"]] == ["inner", "more"]
               for row in slices if row["duration_ns"] == 1)


def test_arguments_of_nothing_are_nobodys(made):
    """Outside of ranges; of an activity that was lost with its track, or never was."""
    trace, thread, work = made()
    thread.args([("whose", "int", 1)], at=1000)
    thread.args([("whose", "int", 1)], at=1000, subject=1)
    thread.collective("barrier", at=1000)
    thread.activity(1, "kernel", (1010, 1020), at=1100)
    thread.activity(9, "of no track", (1010, 1020), at=1100)
    thread.args([("whose", "int", 1)], at=1100, subject=1)
    thread.collective("barrier", at=1100, subject=1)
    model = dump(trace.write())
    assert [row["args"] for row in model["slices"]] == [[]] and model["collectives"] == []


def test_an_unknown_kind_is_left_out_and_counted(varve, made):
    trace, thread, work = made()
    thread.begin(work, at=1000)
    thread.args([("new", 99, [1, 2]), ("old", "int", 3)], at=1001)
    thread.end(at=1090)
    path = trace.write()
    assert [row["args"] for row in dump(path)["slices"]] == [[["old", 3]]]
    assert 1 in [value for row in tables(varve, "info", path)["health"] for value in row.values()]


@pytest.mark.parametrize("expression, calls", [
    ("arg.batch == 32", [0]), ("arg.batch > -33 && arg.batch < 32", [1]), ("arg.batch != 32",
                                                                        [1, 2, 3]),
    ("arg.rate < 1", [2]), ("arg.rate == 1", []), ("arg.'file name' ~ '*.txt'", [3]),
    ("arg.on == 'true'", [2]), ("arg.on == 1", [2]), ("arg.sizes == '[1, 2]'", [1]),
    ("arg.absent == 1", []), ("!(arg.absent == 1)", [0, 1, 2, 3])])
def test_a_filter_compares_arguments(varve, made, expression, calls):
    trace, thread, _ = made()
    told = [[("batch", "int", 32)], [("batch", "int", -32), ("sizes", "ints", [1, 2])],
            [("rate", "real", 0.5), ("on", "bool", 1)], []]
    for i, arguments in enumerate(told):
        thread.begin(trace.processes[0].site("begin", str(i)), at=1000 + 100 * i)
        thread.args(arguments, at=1001 + 100 * i)
        if i == 3:
            thread.texts([("file name", "a.txt")], at=1001 + 100 * i)
        thread.end(at=1050 + 100 * i)
    rows = operators(varve, trace.write(), "--filter", expression)
    assert sorted(int(row["name"]) for row in rows) == calls


@pytest.mark.parametrize("expression, said", [
    ("arg. == 1", "the name of an argument"), ("arg.batch", "wanted is one of =="),
    ("arg.batch > 'a'", "texts compare by"), ("arg.batch ~ 1", "numbers compare by"),
    ("arg.'batch == 1", "has no second '")])
def test_a_wrong_filter_is_told(varve, made, expression, said):
    trace, thread, work = made()
    thread.begin(work, at=1000)
    thread.end(at=1010)
    done = subprocess.run([varve, "report", trace.write(), "--filter", expression],
                          capture_output=True, text=True)
    assert done.returncode == 2 and said in done.stderr


def test_the_librarys_numbers_link_forward_and_backward(varve, tmp_path):
    """As the program itself says, through four threads; and the Chrome export draws the arrows."""
    path = tmp_path / "a.varve"
    done = subprocess.run([varve, "record", "-q", "-o", path, "--",
                           binary("tests/programs/autograd_numbers")], check=True,
                          capture_output=True, text=True, env=quiet_environment())
    said = {tuple(line.rsplit(" Conv", 1)) for line in done.stdout.splitlines()}
    assert len(said) == 24
    links = [row for row in tables(varve, "report", "--table", "links", "--top", "0", "--warm-up",
                                   path)["links"] if row["row"] == "link"]
    assert {(row["forward_op"], row["backward_op"].removeprefix("Conv")) for row in links} == said
    assert {(row["sequence"], row["forward_op"][-1]) for row in links} == {
        (number, str(number)) for number in range(8)}
    subprocess.run([varve, "export", path, "--to", "chrome", "-q", "-o", tmp_path / "a.json"],
                   check=True)
    events = json.loads((tmp_path / "a.json").read_text())["traceEvents"]
    assert [sum(event["ph"] == phase and event.get("cat") == "fwdbwd" for event in events)
            for phase in "sf"] == [24, 24]


def test_collectives_are_the_models(varve, made):
    trace, thread, work = made()
    thread.begin(work, at=1000)
    thread.collective("all_reduce", at=1001, group="world", dtype="f32", rank=1, size=4, peer=2,
                      number=7, elements=(100, 200), nbytes=400, ranks=[0, 4, 8, 12])
    thread.end(at=1090)
    thread.begin(work, at=1100)
    thread.collective("", at=1101)
    thread.end(at=1190)
    thread.activity(1, "nccl", (1010, 1020), at=1200)
    thread.collective("send", at=1200, subject=1, dtype="bf16", peer=3, number=2**63 - 1)
    path = trace.write()
    assert varve_decode.open_trace(str(path)).problems == []
    model = dump(path)
    first, second, third = model["collectives"]
    assert {name: first[name] for name in ("name", "group", "ranks", "dtype", "group_size",
                                           "in_elements", "out_elements", "sequence", "rank",
                                           "peer", "bytes")} == {
        "name": "all_reduce", "group": "world", "ranks": "[0, 4, 8, 12]", "dtype": "f32",
        "group_size": 4, "in_elements": 100, "out_elements": 200, "sequence": 7, "rank": 1,
        "peer": 2, "bytes": 400}
    assert (second["name"], second["sequence"], second["rank"], second["ranks"]) == ("work", -1,
                                                                                     -1, "")
    assert (third["name"], third["dtype"], third["peer"], third["sequence"]) == (
        "send", "bf16", 3, 2**63 - 1)
    assert [row["slice"] for row in model["collectives"]] == [
        index for index, row in enumerate(model["slices"])]
    assert {row["layer"] for row in model["slices"] if row["name"] == "work"} == {0x40}

# SPDX-License-Identifier: Apache-2.0
"""varve tune around a compiler that the tests play (support/fake_iree.py): what it keeps, what it
refuses, and what a compiler that fails, crashes or hangs does to it. The real one is in
live/mlir."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

FAKE = pathlib.Path(__file__).resolve().parents[1] / "support" / "fake_iree.py"
TOOLS = ("iree-compile", "iree-run-module", "iree-benchmark-module")
MODULE = {"time_us": 1000, "dispatch_us": 400, "value": 1.0}
QUICK = ("--turns", "2", "--limit", "60s")


@pytest.fixture(name="tools")
def fixture_tools(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(FAKE)
    return folder


def command(varve, tools, tmp_path, module, *options):
    (tmp_path / "net.mlir").write_text(json.dumps({**MODULE, **module}))
    return [varve, "tune", "net.mlir", "--iree", tools, "--work", "work", "--json", *QUICK,
            *options]


@pytest.fixture(name="tune")
def fixture_tune(varve, tools, tmp_path):
    def tune(module, *options, status=0, modified=None, is_text=False):
        environment = {**os.environ, "FAKE_IREE_CHILDREN": str(tmp_path / "children")}
        words = command(varve, tools, tmp_path, module, *options)
        if is_text:
            words.remove("--json")
        if modified is not None:
            os.utime(tmp_path / "net.mlir", ns=(modified, modified))
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path,
                              env=environment, timeout=300, check=False)
        assert done.returncode == status, done.stderr
        if is_text:
            return done.stdout
        return json.loads(done.stdout) if status == 0 else done.stderr
    return tune


def rows_of(report, table):
    found = report["tables"][table]
    names = [column["name"] for column in found["columns"]]
    return {row[0]: dict(zip(names, row)) for row in found["rows"]}


def answer_of(report):
    name, row = next(iter(rows_of(report, "tune_answer").items()))
    return name, row["command"]


def results(report):
    return {name: row["result"] for name, row in rows_of(report, "tune").items()}


def test_no_change_is_the_answer(tune, tmp_path):
    """Nothing is faster: that is said, with the numbers."""
    report = tune({"flags": {"--iree-opt-data-tiling": {"time_us": 2000}}}, "--tiles", "2")
    rows = rows_of(report, "tune")
    assert answer_of(report)[0] == "no change"
    assert rows["no change"]["result"] == "the answer"
    assert rows["data tiling"]["ratio"] == 0.5 and rows["data tiling"]["wins"] == 0
    assert rows["im2col"]["max_abs"] == 0 and "tiles kept" not in rows
    dispatch = rows_of(report, "tune_dispatches")["main_dispatch_0_conv"]
    assert (dispatch["before_ns"], dispatch["after_ns"], dispatch["tried"], dispatch["choice"]) == (
        400_000, 400_000, 2, None)
    answer = (tmp_path / "work" / "answer.txt").read_text()
    assert answer.endswith(" net.mlir -o tuned.vmfb\n") and "substitute" not in answer


def test_a_flag_is_the_answer(tune, tmp_path):
    report = tune({"flags": {"--iree-global-opt-use-im2col-for-convs": {"time_us": 250}}},
                  "--tiles", "0")
    rows = rows_of(report, "tune")
    assert rows["im2col"]["result"] == "the answer" and rows["im2col"]["ratio"] == 4
    assert rows["im2col"]["wins"] == rows["im2col"]["turns"] == 2
    assert "--iree-global-opt-use-im2col-for-convs net.mlir" in answer_of(report)[1]
    assert sorted(path.name for path in (tmp_path / "work").glob("*/program.vmfb")) == [
        "program.vmfb"] * 2  # of "no change", and of the answer


def test_tiles_that_are_faster_are_kept(tune, tmp_path):
    """The compiler's tile does not divide 14; the command of the answer compiles the same."""
    report = tune({"tiles": {"16,7": 100, "8,14": 300}}, "--tiles", "4")
    rows = rows_of(report, "tune")
    dispatch = rows_of(report, "tune_dispatches")["main_dispatch_0_conv"]
    assert (dispatch["tile"], dispatch["choice"], dispatch["after_ns"]) == (
        "[1, 4, 1, 4]", "[1, 16, 1, 7]", 100_000)
    assert rows["tiles kept"]["result"] == "the answer"
    assert rows["tiles kept"]["ratio"] == pytest.approx(1000 / 700)
    program = tmp_path / "work" / "tiles-kept" / "program.vmfb"
    subprocess.run([str(tmp_path / "bin" / "iree-compile"),
                    *answer_of(report)[1].split()[1:]], cwd=tmp_path,
                   check=True)
    assert (tmp_path / "tuned.vmfb").read_text() == program.read_text()
    text = (tmp_path / "work" / "tiles-kept" / "main_dispatch_0.mlir").read_text()
    assert "distribution = [0, 16, 7, 14, 0]" in text  # what holds the tile


@pytest.mark.parametrize("root, rounds, kept", [
    ("product", ["substitute-executable"], ["tiles kept", "tuning spec"]),
    ("product with constants", ["tuning-spec-path"], ["tiles kept"]),
    ("convolution with constants", ["tuning-spec-path"], ["tiles kept"])])
def test_a_tuning_spec_is_a_candidate(tune, tmp_path, root, rounds, kept):
    """Constants are not in the compiler's dump: there a spec is the only way. Elsewhere the kept
    tiles are tried as a spec, too."""
    report = tune({"root": root, "tiles": {"16,7": 100, "8,14": 300}}, "--tiles", "4")
    rows = rows_of(report, "tune")
    assert [name for name in rows if rows[name]["candidate"] in ("tiles kept", "tuning spec")] == (
        kept)
    assert rows["tiles 1"]["result"] == "measured"
    assert [word for word in ("substitute-executable", "tuning-spec-path")
            if word in rows["tiles 1"]["flags"]] == rounds
    for name in kept:
        assert rows[name]["ratio"] == pytest.approx(1000 / 700), name
    assert rows_of(report, "tune_dispatches")["main_dispatch_0_conv"]["choice"] == "[16, 7]"
    last = rows[kept[-1]]["flags"]
    assert f"--iree-codegen-tuning-spec-path={tmp_path}/work" in last and "substitute-" not in last


def test_equal_roots_have_one_entry_in_a_spec(tune):
    """A spec cannot tell them apart, so both have the tile of the first; fake_iree.py counts the
    entries. The report says that."""
    module = {"root": "product with constants", "tiles": {"16,7": 100}, "twin": 1}
    said = tune(module, "--tiles", "4", is_text=True)
    assert "have one entry in a tuning spec, that of the hottest" in " ".join(said.split())
    for number in (0, 1):
        row, = re.findall(rf"^ .*main_dispatch_{number}_conv.*$", said, re.MULTILINE)
        assert row.count("[16, 7]") == 1, row


def test_equal_roots_each_have_a_configuration(tune):
    """Where the compiler takes a whole configuration, each dispatch has its own."""
    report = tune({"root": "product", "tiles": {"16,7": 100}, "twin": 1}, "--tiles", "4")
    flags = rows_of(report, "tune")["tiles kept"]["flags"]
    assert [flags.count(f"configuration=main_dispatch_{i}=") for i in (0, 1)] == [1, 1]
    assert rows_of(report, "tune")["tuning spec"]["flags"].count("spec-path") == 1


def test_outputs_that_differ_are_refused(tune):
    faster = {"--iree-opt-level=O3": {"time_us": 10, "value": 1.5}}
    report = tune({"flags": faster}, "--tiles", "0")
    row = rows_of(report, "tune")["O3"]
    assert row["result"] == "outputs differ" and row["max_abs"] == 0.5 and row["max_rel"] == 0.25
    assert "differ by 0.25 of the largest value; 0.0001 is allowed" in row["why"]
    report = tune({"flags": faster}, "--tiles", "0", "--tolerance", "0.3", "--work", "other")
    assert results(report)["O3"] == "the answer"


def test_what_fails_crashes_and_hangs(tune, tmp_path):
    """Each is a candidate that failed; no process of theirs is left."""
    report = tune({"flags": {"--iree-opt-level=O2": {"do": "crash"},
                             "--iree-opt-level=O3": {"do": "hang"},
                             "--iree-opt-data-tiling": {"do": "fail"},
                             "--iree-global-opt-use-im2col-for-convs": {"do": "hang at run"}}},
                  "--tiles", "0", "--limit", "2s")
    rows = rows_of(report, "tune")
    assert {name: row["result"] for name, row in rows.items()} == {
        "no change": "the answer", "O2": "not compiled", "O3": "not compiled",
        "data tiling": "not compiled", "im2col": "does not run"}
    assert "crashed (Segmentation fault)" in rows["O2"]["why"]
    assert rows["O3"]["why"] == "the compiler was ended after 2 s"
    assert "large vector sizes are forbidden" in rows["data tiling"]["why"]
    children = (tmp_path / "children").read_text().split()
    assert len(children) == 2 and not any(is_running(int(pid)) for pid in children)


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_dispatch_that_breaks_a_round_is_left_out(tune):
    report = tune({"tiles": {"16,7": "fail", "8,14": 100}}, "--tiles", "4")
    rows = rows_of(report, "tune")
    assert rows["tiles kept"]["result"] == "the answer"
    assert rows_of(report, "tune_dispatches")["main_dispatch_0_conv"]["choice"] == (
        "[1, 8, 1, 14]")


def test_a_module_that_does_not_compile(tune):
    said = tune({"flags": {"--iree-llvmcpu-target-cpu=host": {"do": "fail"}}}, status=3)
    assert "'net.mlir' as it is: the compiler failed: 'linalg.generic' op large" in said


def test_work_is_taken_up_again(tune, tmp_path):
    """What was compiled is not compiled again; another module needs another folder."""
    tune({}, "--tiles", "0")
    program = tmp_path / "work" / "no-change" / "program.vmfb"
    before = program.stat().st_mtime_ns
    modified = (tmp_path / "net.mlir").stat().st_mtime_ns
    report = tune({}, "--tiles", "0", modified=modified)
    assert rows_of(report, "tune")["no change"]["compile_ns"] is None
    assert program.stat().st_mtime_ns == before
    said = tune({"value": 3.0}, status=2)
    assert "holds the work for another module" in said and "--work" in said
    assert program.stat().st_mtime_ns == before


def test_a_signal_stops_it_and_leaves_no_process(varve, tools, tmp_path):
    children = tmp_path / "children"
    module = {"flags": {"--iree-opt-level=O2": {"do": "hang"}}}
    with subprocess.Popen(command(varve, tools, tmp_path, module), cwd=tmp_path,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "FAKE_IREE_CHILDREN": str(children)}) as process:
        end = time.monotonic() + 120
        while not children.exists() and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT and out == ""
    assert "stopped; work keeps what was compiled" in said
    child, end = int(children.read_text()), time.monotonic() + 60
    while is_running(child) and time.monotonic() < end:  # the kill was sent; the kernel ends it
        time.sleep(0.01)
    assert not is_running(child)
    assert (tmp_path / "work" / "no-change" / "program.vmfb").exists()
    assert not list((tmp_path / "work").glob("*/program.part"))


@pytest.mark.parametrize("options, words", [
    (("--tolerance", "much"), "--tolerance 'much' is no number"),
    (("--turns", "0"), "--turns takes 1 to 50"), (("--tiles", "99"), "--tiles takes 0 to 30"),
    (("--limit", "5"), "5")])
def test_wrong_options(tune, options, words):
    assert words in tune({}, *options, status=2)


def test_without_iree(varve, tmp_path):
    (tmp_path / "net.mlir").write_text("{}")
    done = subprocess.run([varve, "tune", "net.mlir", "--iree", tmp_path], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 5 and "pip install iree-base-compiler" in done.stderr
    assert not (tmp_path / "net.mlir.tune").exists()

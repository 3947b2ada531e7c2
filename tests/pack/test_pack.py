# SPDX-License-Identifier: Apache-2.0
"""varve pack: a packed trace reads as the plain one by every verb, unpacks to the same bytes, is
small; and nothing is lost or left behind when packing fails."""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

import pytest

import babeltrace_text
import calls_trace
import packed_stream

VERBS = [("report", "--top", "0"), ("report", "--by", "shape"), ("steps",), ("info",)]
PROGRAMS = [("tests/programs/every_record", "0", "3000"), ("examples/train", "--steps", "8")]


def files_of(trace):
    return {str(path.relative_to(trace)): path.read_bytes() for path in sorted(trace.rglob("*"))
            if path.is_file()}


def streams_of(trace):
    return {name: data for name, data in files_of(trace).items()
            if pathlib.PurePath(name).name.startswith(("process.", "thread."))}


@pytest.fixture(params=["golden", "calls", *PROGRAMS], ids=lambda param: param
                if isinstance(param, str) else param[0])
def trace(request, tmp_path):
    """A trace that the test may change."""
    if request.param == "golden":
        return request.getfixturevalue("golden").path
    request.getfixturevalue("golden")  # skips without zstd
    if request.param == "calls":
        return calls_trace.make(tmp_path / "calls.varve").write()
    source = request.getfixturevalue("recorded")(*request.param)
    return shutil.copytree(source, tmp_path / source.name)


def whatever_the_disk_holds(answer):
    """A packed trace takes less of the disk, and table inputs says so."""
    table = answer["tables"].get("inputs")
    if table is not None:
        at = [column["name"] for column in table["columns"]].index("disk_bytes")
        table["rows"] = [[*row[:at], None, *row[at + 1:]] for row in table["rows"]]
    return answer


def test_every_verb_reads_it_as_before(trace, run, tables, tmp_path):
    before = [whatever_the_disk_holds(tables(verb, trace, *more)) for verb, *more in VERBS]
    run("export", "-q", "-o", tmp_path / "plain.json", trace)
    packed = run("pack", trace)
    assert (packed.returncode, packed.stdout) == (0, "")
    assert re.fullmatch(r"varve: packed .*\.varve  [\d.]+ [kM]?B to [\d.]+ [kM]?B  [\d ]+ "
                        r"records, all compared\n",
                        packed.stderr)
    assert all(data.startswith(b"VARVEPK2") for data in streams_of(trace).values())
    assert [whatever_the_disk_holds(tables(verb, trace, *more))
            for verb, *more in VERBS] == before
    run("export", "-q", "-o", tmp_path / "packed.json", trace)
    plain, again = ((tmp_path / name).read_text() for name in ("plain.json", "packed.json"))
    assert len(plain) > 1000 and again == plain


def test_unpacking_gives_the_same_bytes(trace, run):
    before = files_of(trace)
    modes = {path: (path.stat().st_mode, path.stat().st_mtime_ns) for path in trace.rglob("*")}
    assert run("pack", "-q", trace).returncode == 0
    packed = files_of(trace)
    assert packed.keys() == before.keys()
    assert {name for name in before if packed[name] != before[name]} == streams_of(trace).keys()
    done = run("pack", "--unpack", trace)
    assert done.returncode == 0 and done.stderr.startswith(f"varve: unpacked {trace}")
    assert files_of(trace) == before
    assert {path: (path.stat().st_mode, path.stat().st_mtime_ns)
            for path in trace.rglob("*")} == modes
    assert not [name for name in os.listdir(trace.parent) if name.startswith(".")]


def test_babeltrace2_reads_it_again(trace, run):
    babeltrace2 = shutil.which("babeltrace2")
    if babeltrace2 is None:
        pytest.skip("needs babeltrace2: apt-get install babeltrace2")
    text = [subprocess.run([babeltrace2, trace], capture_output=True, check=True).stdout]
    count = babeltrace_text.event_count(babeltrace2, trace)
    assert run("pack", "-q", trace).returncode == 0
    # it says no
    assert subprocess.run([babeltrace2, trace], capture_output=True, check=False).returncode != 0
    assert run("pack", "-q", "--unpack", trace).returncode == 0
    text.append(subprocess.run([babeltrace2, trace], capture_output=True, check=True).stdout)
    assert text[0] == text[1]
    assert babeltrace_text.event_count(babeltrace2, trace) == count > 20


def test_the_page_is_enough_to_read_it(trace, run):
    """Another decoder, written from doc/format.md §10, finds the bytes of the plain files."""
    plain = streams_of(trace)
    assert run("pack", "-q", trace).returncode == 0
    for name, data in streams_of(trace).items():
        assert packed_stream.decode(data) == plain[name], name


@pytest.mark.parametrize("layout", packed_stream.MAGICS)
def test_a_file_written_from_the_page_is_read(golden, run, tables, layout):
    before = whatever_the_disk_holds(tables("info", golden.path))
    for name, data in streams_of(golden.path).items():
        columns = {"runs": packed_stream.column_bytes([len(data) << 2 | packed_stream.RAW]),
                   "raw": data}
        (golden.path / name).write_bytes(packed_stream.build(len(data), columns, layout=layout))
    assert whatever_the_disk_holds(tables("info", golden.path)) == before
    assert run("pack", golden.path).stderr.endswith("is packed already\n")


def bytes_a_range(plain, packed, tables):
    (info,) = ([dict(zip([column["name"] for column in table["columns"]], row))
                for row in table["rows"]]
               for name, table in tables("info", plain)["tables"].items() if name == "trace")
    return sum(map(len, streams_of(packed).values())) / info[0]["slices"]


def test_a_training_run_takes_few_bytes(golden, recorded, run, tables, tmp_path):
    """3.1 bytes a range (doc/performance.md): how much each call's duration varies, which on a busy
    machine is more."""
    assert golden.records > 0
    plain = recorded("examples/train")
    assert run("pack", "-q", "-o", tmp_path / "small.varve", plain).returncode == 0
    assert bytes_a_range(plain, tmp_path / "small.varve", tables) < 4.5


# ---- where it goes
# ----------------------------------------------------------------------------------

def test_with_o_the_original_stays(golden, run, tmp_path):
    before, small = files_of(golden.path), tmp_path / "small.varve"
    done = run("pack", "-o", small, golden.path)
    assert done.returncode == 0 and f"packed {small}  " in done.stderr
    assert files_of(golden.path) == before
    first = files_of(small)
    assert run("pack", "-q", "-o", small, golden.path).returncode == 0
    # the same bytes each time
    assert files_of(small) == files_of(tmp_path / "small.varve.old") == first


def test_twice_is_once(golden, run):
    assert run("pack", golden.path).returncode == 0
    packed = files_of(golden.path)
    done = run("pack", golden.path)
    assert (done.returncode, done.stderr) == (0, f"varve: {golden.path} is packed already\n")
    assert files_of(golden.path) == packed
    run("pack", "--unpack", golden.path)
    assert run("pack", "--unpack", golden.path).stderr == f"varve: {golden.path} is plain already\n"


def test_o_onto_itself_is_in_place(golden, run, tmp_path):
    assert run("pack", "-q", "-o", golden.path, golden.path).returncode == 0
    assert not (tmp_path / "golden.varve.old").exists()
    assert all(data.startswith(b"VARVEPK2") for data in streams_of(golden.path).values())


def test_without_a_trace_it_takes_the_newest(golden, run, tmp_path):
    (tmp_path / "probe.varve" / "manifest.json").unlink()
    shutil.rmtree(tmp_path / "probe.varve")
    done = run("pack", cwd=tmp_path)
    assert done.stderr.startswith("varve: reading golden.varve\nvarve: packed golden.varve  ")
    assert golden.records > 0


def test_through_a_link_the_trace_is_packed_not_the_link(golden, run, tmp_path):
    (tmp_path / "link.varve").symlink_to(golden.path)
    assert run("pack", "-q", tmp_path / "link.varve").returncode == 0
    assert (tmp_path / "link.varve").is_symlink()
    assert all(data.startswith(b"VARVEPK2") for data in streams_of(golden.path).values())


def test_other_files_come_along_hidden_ones_do_not(golden, run):
    (golden.path / "notes").write_text("kept")
    (golden.path / "100" / ".making").write_text("not part of the trace")
    assert run("pack", "-q", golden.path).returncode == 0
    assert (golden.path / "notes").read_text() == "kept"
    assert not (golden.path / "100" / ".making").exists()


# ---- what is refused
# --------------------------------------------------------------------------------

def refusal(run, golden, words, **more):
    """Runs a pack that must fail; the trace is as before and nothing is left. Gives (exit code,
    message)."""
    before, names = files_of(golden.path), os.listdir(golden.path.parent)
    done = run("pack", *words, **more)
    assert files_of(golden.path) == before
    assert sorted(os.listdir(golden.path.parent)) == sorted(names)
    return done.returncode, done.stderr.splitlines()[0]


def test_a_stream_that_is_open_elsewhere(golden, run):
    with open(golden.path / "100" / "thread.1.0", "rb"):
        code, text = refusal(run, golden, [golden.path])
    assert (code == 3
            and "thread.1.0' is open in another process: only a finished trace is packed" in text)


def test_what_is_no_trace(golden, run, tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", golden.path / "100", golden.path / "manifest.json"):
        code, text = refusal(run, golden, [path])
        assert code == 3 and text == (
            f"varve: '{path}' is not a trace folder of varve's: give the folder "
            "NAME.varve as a whole")
    assert refusal(run, golden, [tmp_path / "none"])[0] == 3
    assert refusal(run, golden, ["-o", "-", golden.path])[0] == 2


def test_a_link_in_the_trace(golden, run):
    (golden.path / "100" / "thread.9.0").symlink_to("thread.1.0")
    code, text = refusal(run, golden, [golden.path])
    assert code == 3 and text.endswith(
        "thread.9.0' is neither file nor folder: take it out of the trace")


def test_no_room(golden, run):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
    code, text = refusal(run, golden, [golden.path], preexec_fn=limit)
    assert code == 4 and "cannot write '" in text and text.endswith("File too large")


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_by_a_signal(golden, varve, tmp_path, signal_number):
    """A file that is large and cheap to read, so that the signal comes in the middle."""
    path = golden.path / "100" / "thread.8.0"
    with open(path, "wb") as file:
        file.truncate((1 << 32) - (1 << 16))
    names = sorted(os.listdir(tmp_path))
    # A shell's background jobs, such as a test run may be, ignore SIGINT, and their children with
    # them.
    process = subprocess.Popen([varve, "pack", golden.path], stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal_number, signal.SIG_DFL))
    hidden = tmp_path / f".golden.varve.pack.{process.pid}"
    deadline = time.monotonic() + 120
    while not hidden.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal_number)
    assert process.communicate(
        timeout=120)[1] == "varve: stopped by a signal: the trace is as it was\n"
    assert process.returncode == -signal_number
    assert sorted(os.listdir(tmp_path)) == names and path.stat().st_size == (1 << 32) - (1 << 16)


def test_a_damaged_packed_trace_stays_as_it_is(golden, run):
    run("pack", "-q", golden.path)
    path = golden.path / "100" / "thread.1.0"
    damaged = bytearray(path.read_bytes())
    damaged[-6] ^= 1
    path.write_bytes(damaged)
    code, text = refusal(run, golden, ["--unpack", golden.path])
    assert (code == 3
            and f"'{path}': this packed stream is damaged: the block does not decompress: " in text)


def test_the_second_reader_says_what_to_do(golden, run, root):
    run("pack", "-q", golden.path)
    done = subprocess.run([root / "tools" / "varve_decode.py", golden.path], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 3 and "varve pack --unpack -o PLAIN.varve" in done.stderr

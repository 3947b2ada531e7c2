# SPDX-License-Identifier: Apache-2.0
"""What every reading verb does with its files: several at once, limits, progress, Ctrl-C, the
cache."""
import bz2
import gzip
import json
import lzma
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import zlib

import pytest

BLANKS = 1 << 20


def graph(first, count, gap=10_000_000):
    """An operator graph of `count` nodes in a chain, as JSON text."""
    nodes = [{"name": f"op {i % 7}", "ts": i * gap, "duration": gap // 2, "id": i,
              "adj": [i + 1] if i + 1 < first + count else []} for i in range(first, first + count)]
    return json.dumps({"version": "1.0.0", "nodes": nodes, "edges": []})


@pytest.fixture(name="run")
def run_varve(varve, tmp_path):
    def command(*words, **changes):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), **changes}
        return subprocess.run([varve, *map(str, words)], capture_output=True, text=True,
                              cwd=tmp_path, env=environment, timeout=120, check=False)
    return command


def info(run, *words, **changes):
    done = run("info", "--json", *words, **changes)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def table(result, name):
    rows = result["tables"][name]
    return [dict(zip((column["name"] for column in rows["columns"]), row)) for row in rows["rows"]]


# ---- several files ----

def test_several_files_are_one_trace_with_a_scope_each(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 5))
    (tmp_path / "b.json").write_text(graph(0, 7))
    result = info(run, "a.json", "b.json")
    assert result["trace"] == "a.json and 1 more"
    rows = table(result, "inputs")
    assert [(row["path"], row["format"], row["scope"], row["events"]) for row in rows] == [
        ("a.json", "mlirgraph", 0, 5), ("b.json", "mlirgraph", 1, 7)]
    trace = table(result, "trace")[0]
    assert (trace["events"], trace["slices"], trace["flows"], trace["processes"]) == (12, 12, 10, 2)


@pytest.mark.parametrize("verb", ["report", "steps", "info"])
def test_every_reading_verb_takes_several(run, tmp_path, verb):
    (tmp_path / "a.json").write_text(graph(0, 5))
    (tmp_path / "b.json").write_text(graph(0, 7))
    assert run(verb, "a.json", "b.json").returncode == 0


def test_export_takes_several_and_is_named_after_the_first(run, tmp_path):
    (tmp_path / "a.graph").write_text(graph(0, 5))
    (tmp_path / "b.graph").write_text(graph(0, 7))
    done = run("export", "a.graph", "b.graph")
    assert done.returncode == 0, done.stderr
    events = json.loads((tmp_path / "a.graph.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == 12


def test_a_file_named_twice_is_refused(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 5))
    (tmp_path / "hard.json").hardlink_to(tmp_path / "a.json")
    (tmp_path / "soft.json").symlink_to("a.json")
    for name in ("./a.json", "hard.json", "soft.json"):
        done = run("info", "a.json", name)
        assert (done.returncode, done.stderr) == (2, f"varve: '{name}' is named twice\n")


def test_the_file_that_cannot_be_read_is_named(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 5))
    (tmp_path / "b.json").write_text('{"nodes": [{"adj": [], "ts": "soon"}]}')
    done = run("info", "a.json", "b.json")
    assert done.returncode == 3
    assert "'b.json'" in done.stderr and "at byte" in done.stderr


# ---- memory ----

def test_a_model_larger_than_max_memory_is_refused(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 20000))
    assert run("info", "a.json", "--max-memory", "100MB").returncode == 0
    done = run("info", "a.json", "--max-memory", "1MB")
    assert done.returncode == 3
    assert done.stderr == (
        "varve: 'a.json': it needs more memory than the 1000000 bytes that it may take\n"
        "  allow it more:  --max-memory SIZE\n")


def test_max_memory_wants_a_size(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 5))
    done = run("info", "a.json", "--max-memory", "much")
    assert done.returncode == 2 and "--max-memory" in done.stderr


def worked_s(what):
    """Of the processes that it starts: what others do meanwhile does not count."""
    former = resource.getrusage(resource.RUSAGE_CHILDREN)
    what()
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - former.ru_utime - former.ru_stime


def test_many_processes_take_no_more_time_each(run, tmp_path):
    count = 200_000
    (tmp_path / "p.json").write_text("[" + ",".join(
        f'{{"ph":"X","name":"n","pid":{n},"tid":{n},"ts":{n},"dur":5}}'
        for n in range(1, count + 1)) + "]")
    (tmp_path / "one.json").write_text("[" + ",".join(
        f'{{"ph":"X","name":"n","pid":7,"tid":7,"ts":{n},"dur":5}}' for n in range(1, count + 1)) +
        "]")

    def read(name):
        assert f",{count}," in run("info", name, "--csv", "--table", "inputs", "--no-cache").stdout
    in_one_s, in_many_s = worked_s(lambda: read("one.json")), worked_s(lambda: read("p.json"))
    assert in_many_s < 60 * in_one_s  # 6 times; 400 times if each looks at all threads


# ---- progress and interruption ----

def slow_file(path, mebibytes, checked=True):
    """A small gzip file that takes long to inflate: a graph after very many blanks. Unchecked it is
    made soon, and its checksum is wrong, for readers that do not get that far."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = compressor.compress(b" " * BLANKS) + compressor.flush(zlib.Z_FULL_FLUSH)
    text = graph(0, 3).encode()
    head, tail = b'{"nodes": [{"adj": [], "id": 9},', text[text.index(b"[") + 1:]
    rest = zlib.compressobj(1, zlib.DEFLATED, -15)
    first = rest.compress(head) + rest.flush(zlib.Z_FULL_FLUSH)
    checksum = zlib.crc32(head)
    for _ in range(mebibytes if checked else 0):
        checksum = zlib.crc32(b" " * BLANKS, checksum)
    checksum = zlib.crc32(tail, checksum)
    size = len(head) + mebibytes * BLANKS + len(tail)
    last = zlib.compressobj(1, zlib.DEFLATED, -15)
    end = last.compress(tail) + last.flush(zlib.Z_FINISH)
    with path.open("wb") as file:
        file.write(b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + first + piece * mebibytes + end)
        file.write(checksum.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little"))


SIZE = r"\d+(?:\.\d+)? [kM]?B"
PROGRESS = re.compile(
    rf"varve: reading \S+slow\.json\.gz  ({SIZE}) of ({SIZE})  (\d+) %  {SIZE}/s  "
    r"(\d+ s left|putting it in order)")


def on_terminal(command, folder, when=lambda text: False):
    """Runs it with a terminal as its standard error; sends Ctrl-C when `when` says so."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "VARVE_CACHE": "off"}
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=follower,
                          env=environment) as process:
        os.close(follower)
        text = ""
        while True:
            try:
                piece = os.read(leader, 4096).decode()
            except OSError:
                break
            if not piece:
                break
            text += piece
            if when(text):
                process.send_signal(signal.SIGINT)
                when = lambda _: False
        os.close(leader)
        out, _ = process.communicate(timeout=120)
    return process.returncode, out.decode(), text


@pytest.fixture(name="slow", scope="module")
def slow_trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("slow") / "slow.json.gz"
    slow_file(path, 1500)
    return path


@pytest.fixture(name="endless", scope="module")
def endless_trace(tmp_path_factory):
    """Nobody reads it to its end before he is interrupted, whatever else the machine does
    meanwhile."""
    path = tmp_path_factory.mktemp("endless") / "endless.json.gz"
    slow_file(path, 30_000, checked=False)
    return path


def test_a_long_read_shows_one_line_and_erases_it(varve, slow):
    status, out, text = on_terminal([varve, "info", "--json", slow], slow.parent)
    assert status == 0
    assert table(json.loads(out), "trace")[0]["slices"] == 4
    lines = text.split("\r\x1b[K")
    assert len(lines) > 3 and lines[0] == "" and lines[-1] == ""
    assert "\n" not in text
    shares = []
    for line in lines[1:-1]:
        done, total, share, rest = PROGRESS.fullmatch(line).groups()
        assert len(line) < 100
        assert (rest == "putting it in order") == (share == "100" and done == total), line
        shares.append(int(share))
    assert shares == sorted(shares)


def test_a_long_validation_shows_the_same_line(varve, endless):
    status, _, text = on_terminal([varve, "validate", endless.name], endless.parent,
                                  lambda text: text.count("s left") >= 3)
    assert status == -signal.SIGINT
    assert text.startswith("\r\x1b[Kvarve: reading endless.json.gz  ") and text.endswith("\r\x1b[K")


@pytest.mark.parametrize("words", [["-q"], []], ids=["quiet", "no terminal"])
def test_no_progress_with_quiet_or_without_a_terminal(varve, slow, words):
    if words:
        status, _, text = on_terminal([varve, "info", *words, slow], slow.parent)
        assert (status, text) == (0, "")
    else:
        done = subprocess.run([varve, "info", slow], capture_output=True, text=True, check=False,
                              env={**os.environ, "VARVE_CACHE": "off"}, timeout=240)
        assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_erases_the_line_and_leaves_no_file(varve, endless):
    command = [varve, "export", "-o", "out.json", endless]
    status, _, text = on_terminal(command, endless.parent, lambda text: "left" in text)
    assert status == -signal.SIGINT
    assert text.endswith("\r\x1b[K")
    assert list(endless.parent.iterdir()) == [endless]


# ---- the cache ----

def test_a_cache_gives_the_same_answer(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 3000))
    first = info(run, "a.json", "--cache")
    assert (tmp_path / "a.json.vcache").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.json.vcache"]
    assert info(run, "a.json", "--cache") == first == info(run, "a.json", "--no-cache")


def is_served(run, tmp_path, *names):
    """Whether the answer comes from the cache: if not, another file takes its place."""
    former = {path.name: path.stat().st_ino for path in tmp_path.glob("*.vcache")}
    info(run, "--cache", *names)
    return {path.name: path.stat().st_ino for path in tmp_path.glob("*.vcache")} == former


def test_a_first_screen_that_leaves_arguments_out_says_the_same(run, tmp_path):
    """A cache has every argument. Without one, only what shows or compares arguments reads them."""
    span = {"ph": "X", "pid": 1, "tid": 1, "dur": 2}
    events = [{**span, "cat": "cpu_op", "name": f"aten::op{i % 3}", "ts": i * 4,
               "args": {"Ev Idx": i, "Python id": i, "Trace name": "T", "own": i}}
              for i in range(50)]
    events += [{**span, "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": i * 4 + 1,
                "args": {"device": 0, "stream": 7, "cbid": 211, "queued": 0, "grid": [i, 1, 1]}}
               for i in range(50)]
    trace = tmp_path / "args.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    first = run("report", "--no-cache", "--json", trace)
    assert first.returncode == 0 and "aten::op1" in first.stdout
    assert run("report", "--cache", "--json", trace).stdout == first.stdout
    assert (tmp_path / "args.json.vcache").exists()
    for words in ("report", "--table", "tables"), ("report", "--filter", "arg.'Python id'<9"):
        alone = run(*words, "--no-cache", "--json", trace)
        cached = run(*words, "--cache", "--json", trace)
        assert alone.returncode == 0 and alone.stdout == cached.stdout
    kept = json.loads(run("report", "--no-cache", "--table", "tables", "--json", trace).stdout)
    assert ["args", 50 * 4 + 50 * 3] in [row[:2] for row in kept["tables"]["tables"]["rows"]]
    operators = json.loads(alone.stdout)["tables"]["operators"]
    calls = [column["name"] for column in operators["columns"]].index("calls")
    assert sum(row[calls] or 0 for row in operators["rows"]) == 9 + 9  # the last row is the total


def test_a_cache_is_used_until_its_source_changes(run, tmp_path):
    source = tmp_path / "a.json"
    source.write_text(graph(0, 40000))
    assert source.stat().st_size > 2 << 20
    assert not is_served(run, tmp_path, "a.json")
    info(run, "a.json", "--cache")
    assert is_served(run, tmp_path, "a.json")
    status = source.stat()
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert not is_served(run, tmp_path, "a.json")
    info(run, "a.json", "--cache")
    assert is_served(run, tmp_path, "a.json")
    text = source.read_text()
    source.write_text(text[:-1] + " }")
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert not is_served(run, tmp_path, "a.json")


def test_several_files_have_a_cache_of_their_own(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 40000))
    (tmp_path / "b.json").write_text(graph(0, 10))
    first = info(run, "a.json", "b.json", "--cache")
    assert len(list(tmp_path.glob("a.json+1.*.vcache"))) == 1
    assert info(run, "a.json", "b.json", "--cache") == first
    assert is_served(run, tmp_path, "a.json", "b.json")
    assert not is_served(run, tmp_path, "a.json")


def test_a_folder_that_cannot_be_written_sends_the_cache_to_the_user_s(run, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "a.json").write_text(graph(0, 10))
    # the superuser may write anywhere: another's file in the way is left alone
    if os.geteuid() == 0:
        (folder / "a.json.vcache").write_text("mine")
        os.chown(folder / "a.json.vcache", 12345, 12345)
    else:
        folder.chmod(0o555)
    first = info(run, folder / "a.json", "--cache")
    kept = list((tmp_path / "cache" / "varve").iterdir())
    assert len(kept) == 1 and kept[0].name.startswith(
        "a.json.") and kept[0].stat().st_mode & 0o077 == 0
    assert info(run, folder / "a.json", "--cache") == first
    folder.chmod(0o755)


def test_without_being_asked_only_large_files_are_kept(run, tmp_path):
    (tmp_path / "small.json").write_text(graph(0, 10))
    (tmp_path / "large.json").write_text(graph(0, 10)[:-1] + " " * (8 << 20) + "}")
    info(run, "small.json")
    info(run, "large.json", VARVE_CACHE="off")
    info(run, "large.json", "--no-cache")
    assert not list(tmp_path.glob("*.vcache"))
    info(run, "large.json", VARVE_CACHE="")
    assert [path.name for path in tmp_path.glob("*.vcache")] == ["large.json.vcache"]


def test_a_source_of_the_same_size_and_time_is_told_from_the_former(run, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(graph(0, 40000))
    first = info(run, "a.json", "--cache")
    status, text = path.stat(), path.read_bytes()
    at = text.index(b'"duration": 5000000', 300000) + 12 # in none of the pieces that are sampled
    assert len(text) > 3 << 20
    path.write_bytes(text[:at] + b"9" + text[at + 1:])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = info(run, "a.json", "--cache")
    assert second == info(run, "a.json", "--no-cache") != first


def test_a_wrong_word_for_the_cache_is_refused(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 10))
    assert run("info", "a.json", VARVE_CACHE="of").stderr == (
        "varve: VARVE_CACHE is off, auto or on, not 'of'\n")
    done = run("info", "a.json", "--cache", "--no-cache")
    assert (done.returncode, done.stderr) == (2, "varve: one at a time: --cache or --no-cache\n")


def test_a_cut_cache_is_read_anew_and_mended(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 40000))
    first = info(run, "a.json", "--cache")
    kept = tmp_path / "a.json.vcache"
    whole = kept.read_bytes()
    for cut in (0, 1, 4096, len(whole) // 2, len(whole) - 1):
        kept.write_bytes(whole[:cut])
        assert info(run, "a.json", "--cache") == first
        assert len(kept.read_bytes()) == len(whole)
    assert is_served(run, tmp_path, "a.json")


def test_an_opened_cache_costs_no_reading(run, tmp_path):
    (tmp_path / "a.json").write_text(graph(0, 200000))
    read_s, opened_s = (worked_s(lambda: info(run, "a.json", "--cache", "--table", "trace"))
                        for _ in range(2))
    assert opened_s < read_s / 4


def test_each_known_format_is_named_once(run, tmp_path):
    (tmp_path / "n.json").write_text('{"a": 1}\n')
    done = run("info", "n.json")
    known = done.stderr.splitlines()[0].split("known: ")[1].split(", ")
    assert done.returncode == 3
    assert len(known) == len(set(known)) >= 17 and known[-1] == "and more: doc/formats.md"


@pytest.mark.parametrize("head, says", [
    (b"VARVECA1\x05", "what varve keeps of another: name the trace itself"),
    (gzip.compress(gzip.compress(b"[]", mtime=0), mtime=0),
     "gzip within a compressed file: unpack it first"),
    (lzma.compress(b"[]"), "compressed by xz: unpack it first"),
    (bz2.compress(b"[]"), "compressed by bzip2: unpack it first"),
    (b"PK\x03\x04\x14\0", "a zip archive: unpack it first"),
    ("[]".encode("utf-16"), "UTF-16, it seems: convert it first:  iconv -f UTF-16 -t UTF-8")])
def test_what_would_make_a_trace_of_it_is_said(run, tmp_path, head, says):
    (tmp_path / "t.json").write_bytes(head)
    done = run("info", "t.json")
    assert done.returncode == 3
    assert done.stderr.startswith(
        f"varve: 't.json' is not a trace that varve knows ({says}); known: varve, ")
    assert done.stderr.count("\n") == 1 # nothing else to type


# ---- compressed files ----

EVENTS = json.dumps({"traceEvents": [{"ph": "X", "name": f"op {n}", "pid": 1, "tid": 1, "ts": n,
                                      "dur": 1}
                                     for n in range(500)]}).encode()


@pytest.mark.parametrize("name", ["name the trace itself", "unpack it first", "varve record",
                                  "memory"])
def test_the_words_of_a_name_do_not_tell_what_to_do_next(run, tmp_path, name):
    (tmp_path / name).write_text(f"{name} is no trace")
    done = run("info", name)
    assert done.stderr.splitlines()[-1] == "  record one:  varve record -- PROGRAM ARGS"


@pytest.mark.parametrize("behind", [b"\0" * 700000, gzip.compress(b" \n", mtime=0), b"\0" * 512 +
                                    gzip.compress(b"", mtime=0)])
def test_members_and_zeros_may_follow_gzip_data(run, tmp_path, behind):
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(EVENTS) + behind)
    assert table(info(run, "t.json.gz"), "trace")[0]["events"] == 500


@pytest.mark.parametrize("behind", [EVENTS, b"\n", b"\0" * 512 + b"x"])
def test_what_else_follows_gzip_data_is_not_passed_over(run, tmp_path, behind):
    data = gzip.compress(EVENTS)
    (tmp_path / "t.json.gz").write_bytes(data + behind)
    for verb in ("info", "validate"):
        done = run(verb, "t.json.gz")
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith(
            "varve: 't.json.gz': the gzip data is damaged at byte "), done.stderr
        assert len(data) <= int(done.stderr.splitlines()[0].split()[-1]) <= len(data) + len(behind)


@pytest.mark.parametrize("pack, end", [(bytes, " (u.json:2:2)"),
                                       (gzip.compress, " of what it decompresses to")])
@pytest.mark.parametrize("options", [(), ("t.json",)])
def test_a_place_in_a_compressed_file_says_what_it_counts(run, tmp_path, pack, end, options):
    """Also of the second file of a trace in two."""
    text = b'[{"ph": "X", "name": "' + b"x" * 100000 + b'"},\n{oops}]'
    (tmp_path / "t.json").write_bytes(b'{"traceEvents": []}')
    (tmp_path / "u.json").write_bytes(pack(text))
    said = run("info", *options, "u.json").stderr.splitlines()[0]
    assert said == ("varve: 'u.json' is not JSON: a member's name must stand here "
                    f"at byte {text.index(b'oops')}{end}")


def zstd(*words, data=EVENTS):
    program = shutil.which("zstd")
    if program is None:
        pytest.skip("needs zstd: apt install zstd")
    return subprocess.run([program, "-q", "-c", *words], input=data, capture_output=True,
                          check=True).stdout


def test_a_zstd_file_may_begin_with_a_frame_to_be_skipped(run, tmp_path):
    for first in (0x50, 0x5f): # pzstd writes the former
        (tmp_path / "t.json.zst").write_bytes(bytes([first]) + b"\x2a\x4d\x18\x04\0\0\0size" +
                                              zstd())
        assert table(info(run, "t.json.zst"), "trace")[0]["events"] == 500


def test_a_zstd_window_beyond_the_usual_is_not_taken_for_damage(run, tmp_path):
    (tmp_path / "t.json.zst").write_bytes(zstd("--long=31", "--ultra", "-22"))
    done = run("info", "t.json.zst")
    assert (done.returncode, done.stderr) == (
        3, "varve: 't.json.zst': the zstd data at byte 0 was compressed with a window of more "
           "than 128 MiB: unpack it first:  zstd -d --long=31\n")


@pytest.mark.parametrize("text", ['"ph"', '"name","ts"\n"a",1\n', '"' + "x" * 100,
                                  "\"Notes on what to trace\""])
def test_a_short_text_is_no_xspace_that_is_cut(run, tmp_path, text):
    """A quote is also the tag of a host's name, and the letter behind it a length."""
    (tmp_path / "t.txt").write_text(text)
    done = run("info", "t.txt")
    assert done.returncode == 3 and "is not a trace that varve knows (first bytes:" in done.stderr


def test_a_damaged_foreign_file_is_not_to_be_recorded_again(run, tmp_path):
    whole = json.dumps({"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1,
                                         "dur": 1}]}).encode()
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = bytearray(packed.compress(whole * 100) + packed.flush())
    data[10:40] = b"\xff" * 30
    (tmp_path / "t.json.gz").write_bytes(data)
    done = run("info", "t.json.gz")
    assert done.returncode == 3
    assert done.stderr.splitlines()[1:] == [
        "  copy it again, or let the program that wrote it write it again"
    ]

# SPDX-License-Identifier: Apache-2.0
"""What people name as a trace: folders of ranks, log folders, pipes, archives, the newest file
here; what needs another program first; and archives of strangers."""
import gzip
import io
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tarfile
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import golden_trace  # noqa: E402 pylint: disable=wrong-import-position
import kineto_writer  # noqa: E402 pylint: disable=wrong-import-position
import xspace_bytes  # noqa: E402 pylint: disable=wrong-import-position


@pytest.fixture(name="run")
def run_varve(varve, tmp_path):
    def command(*words, data=b"", cwd=tmp_path):
        (tmp_path / "temporary").mkdir(exist_ok=True)
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"),
                       "TMPDIR": str(tmp_path / "temporary")}
        done = subprocess.run([varve, *map(str, words)], input=data, capture_output=True, cwd=cwd,
                              env=environment, timeout=120, check=False)
        assert not list((tmp_path / "temporary").iterdir())  # nothing is left
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        return done
    return command


def rank(number, operators=3):
    """A Kineto trace of a rank, as bytes."""
    events = [kineto_writer.span(f"aten::op{i}", 1000 * i, 1000 * i + 500, pid=100 + number)
              for i in range(operators)]
    text = io.StringIO()
    text.write('{"schemaVersion": 1, "distributedInfo": {"rank": %d, "world_size": 4}, '
               '"traceEvents": [' % number)
    text.write(", ".join(kineto_writer.event_text(event) for event in events))
    text.write("]}")
    return text.getvalue().encode()


def inputs(done):
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)["tables"]["inputs"]
    names = [column["name"] for column in table["columns"]]
    return [row[names.index("path")] for row in table["rows"]]


def events(done):
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)["tables"]["inputs"]
    names = [column["name"] for column in table["columns"]]
    return [row[names.index("events")] for row in table["rows"]]


@pytest.fixture(name="ranks")
def folder_of_ranks(tmp_path):
    folder = tmp_path / "ranks"
    folder.mkdir()
    for number in range(11):
        (folder / f"rank{number}.json.gz").write_bytes(gzip.compress(rank(number)))
    (folder / "notes.txt").write_text("not a trace")
    (folder / "config.json").write_text('{"batch": 3}')
    (folder / "picture.svg").write_text("<svg></svg>")
    return folder


# ---- folders ----

def test_a_folder_of_ranks_is_its_ranks_in_their_order(run, ranks):
    done = run("info", "--json", "ranks")
    assert inputs(done) == [f"ranks/rank{n}.json.gz" for n in range(11)]
    assert done.stderr == "varve: reading 11 traces in ranks\n"
    assert run("info", "--json", "-q", "ranks").stderr == ""


def test_every_reading_verb_takes_a_folder(run, ranks):
    for verb in ("report", "steps", "critical", "memory", "idle", "info", "validate", "dag"):
        assert run(verb, "ranks").returncode == 0, verb
    assert run("export", "ranks", "-o", "out.json").returncode == 0
    assert run("diff", "ranks", "ranks/rank0.json.gz").returncode == 0


def test_a_folder_and_a_file_in_it_are_not_counted_twice(run, ranks):
    done = run("info", "ranks", "ranks/rank3.json.gz")
    assert done.returncode == 2 and "'ranks/rank3.json.gz' is named twice" in done.stderr


def test_of_pytorchs_cycles_the_newest_of_each_worker_is_read(run, tmp_path):
    for worker in ("a_1", "b_2"):
        for instant in ("1700000000123", "1700000009999"):
            (tmp_path / f"log/{worker}.{instant}.pt.trace.json").parent.mkdir(exist_ok=True)
            (tmp_path / f"log/{worker}.{instant}.pt.trace.json").write_bytes(rank(1))
    done = run("info", "--json", "log")
    assert inputs(done) == ["log/a_1.1700000009999.pt.trace.json",
                            "log/b_2.1700000009999.pt.trace.json"]
    assert "2 older of the same program left out: name what you want to read" in done.stderr


def xspace():
    return xspace_bytes.space(xspace_bytes.environment(1_700_000_000_000_000_000,
                                                       1_700_000_001_000_000_000))


def test_of_a_log_folder_the_newest_run_is_read_and_its_xspace_alone(run, tmp_path):
    for instant in ("2024_05_01_10_00_00", "2024_05_02_10_00_00"):
        folder = tmp_path / "log/plugins/profile" / instant
        folder.mkdir(parents=True)
        (folder / "host.xplane.pb").write_bytes(xspace())
        (folder / "host.trace.json.gz").write_bytes(gzip.compress(rank(0)))
        (folder / "perfetto_trace.json.gz").write_bytes(gzip.compress(rank(0)))
    newest = "log/plugins/profile/2024_05_02_10_00_00/host.xplane.pb"
    assert inputs(run("info", "--json", "log")) == [newest]
    assert inputs(run("info", "--json")) == [newest]


def test_links_in_a_folder_lead_to_no_folder(run, ranks):
    (ranks / "again").symlink_to(ranks)
    os.mkfifo(ranks / "pipe.json")
    assert len(inputs(run("info", "--json", "ranks"))) == 11


def test_a_folder_without_a_trace_says_what_is_looked_for(run, tmp_path):
    (tmp_path / "empty/below").mkdir(parents=True)
    done = run("report", "empty")
    assert done.returncode == 3
    assert done.stderr.startswith("varve: no trace in 'empty': none of 0 files there is one. ")
    (tmp_path / "empty/below/a b.nsys-rep").write_bytes(b"\0\1")
    assert run("report", "empty").stderr == (
        "varve: 'empty/below/a b.nsys-rep' is a report of Nsight Systems. Make a trace of it "
        "first:  nsys export --type sqlite 'empty/below/a b.nsys-rep'\n")


# ---- what needs another program first ----

@pytest.mark.parametrize("name, head, command", [
    ("x.nsys-rep", b"QDSTRM", "nsys export --type sqlite x.nsys-rep"),
    ("x.qdrep", b"", "nsys export --type sqlite x.qdrep"),
    ("x.qdstrm", b"", "QdstrmImporter -i x.qdstrm"),
    ("x.ncu-rep", b"", "nsys profile --export=sqlite PROGRAM"),
    ("perf.data", b"PERFILE2\0",
     "perf script -F comm,tid,time,period,ip,sym,srcline -i perf.data > samples.txt"),
    ("x.rocpd", b"", "rocpd convert --output-format pftrace -i x.rocpd")])
def test_the_command_that_converts_is_named(run, tmp_path, name, head, command):
    (tmp_path / name).write_bytes(head)
    done = run("report", name)
    assert done.returncode == 3
    assert done.stderr.endswith(f":  {command}\n") and done.stderr.count("\n") == 1


# ---- streams ----

def test_standard_input_is_a_trace(run):
    assert events(run("info", "--json", "-", data=rank(0))) == [3]
    assert events(run("info", "--json", "-", data=gzip.compress(rank(0)))) == [3]
    assert inputs(run("info", "--json", "-", data=rank(0))) == ["-"]
    assert events(run("info", "--json", "-", data=xspace())) == events(
        run("info", "--json", "-", data=gzip.compress(xspace())))


def test_what_comes_by_standard_input_is_called_so(run):
    done = run("report", "-", data=b"nothing")
    assert done.returncode == 3
    assert done.stderr.startswith("varve: '-' is not a trace that varve knows (first bytes:")
    assert run("report", "-").stderr.startswith("varve: '-' is not a trace that varve knows (the")
    done = run("report", "-", data=gzip.compress(rank(0))[:-30])
    assert "/temporary/" not in done.stderr + done.stdout
    assert run("report", "-", "-").stderr == "varve: '-' is named twice\n"


@pytest.mark.parametrize("verb", ["report", "info", "validate", "export"])
def test_a_pipe_by_name_is_read_to_its_end(varve, tmp_path, ranks, verb):
    script = f"'{varve}' {verb} <(zcat ranks/rank0.json.gz)" + (" -o x.json" * (verb == "export"))
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=60,
                          env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    assert done.returncode == 0 or (verb == "validate" and done.returncode == 1), done.stderr
    assert b"/varve." not in done.stdout + done.stderr
    assert not list(tmp_path.glob("varve.*")) and ranks


def test_a_pipe_that_nobody_writes_is_not_waited_for(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    begin = time.monotonic()
    done = run("info", "pipe")
    assert done.returncode == 3 and done.stderr == (
        "varve: 'pipe' is a pipe, and no program writes to it: start the one that writes the trace "
        "first\n")
    assert 5 <= time.monotonic() - begin < 60


def test_the_writer_of_a_pipe_may_come_and_write_late(varve, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen([varve, "info", "--json", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": str(tmp_path)}, text=True) as process:
        time.sleep(0.3)
        with open(tmp_path / "pipe", "wb") as pipe:
            time.sleep(5.3)
            pipe.write(rank(0))
        answer = process.communicate(timeout=60)[0]
    (row,) = json.loads(answer)["tables"]["inputs"]["rows"]
    assert process.returncode == 0 and row[0] == "pipe"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/urandom", "socket"])
def test_devices_are_no_traces(run, tmp_path, device):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        done = run("report", device)
    assert done.returncode == 3 and done.stderr.count("\n") == 1


def test_an_interrupt_leaves_nothing(varve, tmp_path):
    process = subprocess.Popen([varve, "report", "-"], stdin=subprocess.PIPE, cwd=tmp_path,
                               stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)})
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("varve.*/0")) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert list(tmp_path.glob("varve.*/0"))
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == -signal.SIGINT
    process.communicate()
    assert not list(tmp_path.iterdir())


# ---- the newest here ----

def test_the_newest_is_of_any_format(run, tmp_path, ranks):
    def age(path, seconds):
        os.utime(tmp_path / path, (seconds, seconds))
    (tmp_path / "old.json").write_bytes(rank(0))
    (tmp_path / "new.xplane.pb").write_bytes(xspace())
    (tmp_path / "data.json").write_text('{"batch": 3}')
    age("old.json", 1_700_000_000)
    age("new.xplane.pb", 1_700_000_500)
    assert inputs(run("info", "--json")) == ["new.xplane.pb"]
    age("old.json", 1_700_000_900)
    done = run("info", "--json")
    assert inputs(done) == ["old.json"] and done.stderr == "varve: reading old.json\n"
    (tmp_path / "old.json").unlink()
    (tmp_path / "new.xplane.pb").unlink()
    done = run("info")
    assert done.returncode == 3 and done.stderr.startswith("varve: no trace here. ") and ranks


def test_an_empty_word_is_no_name(run, tmp_path):
    (tmp_path / "a.json").write_bytes(rank(0))
    done = run("report", "")
    assert done.returncode == 3 and done.stderr.startswith("varve: cannot read ''")


# ---- archives ----

def archive(path, members, mode="w:gz", **how):
    """`members`: (name or TarInfo, content)."""
    with tarfile.open(path, mode, **how) as tar:
        for member, content in members:
            head = tarfile.TarInfo(member) if isinstance(member, str) else member
            head.size = len(content)
            tar.addfile(head, io.BytesIO(content))


def link(name, kind, to):
    head = tarfile.TarInfo(name)
    head.type, head.linkname = kind, to
    return head


@pytest.mark.parametrize("name, mode", [("a.tgz", "w:gz"), ("a.tar.gz", "w:gz"), ("a.tar", "w"),
                                        ("no suffix", "w:gz")])
def test_an_archive_of_ranks_is_its_ranks(run, tmp_path, ranks, name, mode):
    with tarfile.open(tmp_path / name, mode) as tar:
        tar.add(ranks, "ranks")
    before = sorted(tmp_path.iterdir())
    done = run("info", "--json", name)
    assert inputs(done) == [f"{name}:ranks/rank{n}.json.gz" for n in range(11)]
    assert done.stderr == f"varve: reading 11 traces in {name}\n"
    assert [path for path in sorted(tmp_path.iterdir())
            if path.name not in ("temporary", "cache")] == before
    data = (tmp_path / name).read_bytes()
    assert inputs(run("info", "--json", "-", data=data)) == [f"-:ranks/rank{n}.json.gz"
                                                             for n in range(11)]
    assert run("validate", name).returncode in (0, 1)


def test_an_archive_of_our_own_trace_reads_as_the_trace(run, tmp_path):
    trace = golden_trace.make(tmp_path / "t.varve")
    trace.write()
    trace = trace.path
    with tarfile.open(tmp_path / "t.tgz", "w:gz") as tar:
        tar.add(trace, "t.varve")
    plain = run("report", "--table", "operators", "--csv", trace)
    packed = run("report", "--table", "operators", "--csv", "t.tgz")
    assert plain.returncode == packed.returncode == 0
    assert plain.stdout == packed.stdout and plain.stdout.count("\n") > 2


@pytest.mark.parametrize("member, says", [
    ("../x.json", "leaves the folder"), ("/x.json", "leaves the folder"),
    ("a/../../x.json", "leaves the folder"), ("a/..", "leaves the folder"),
    (link("x.json", tarfile.SYMTYPE, "/etc/passwd"), "is a link"),
    (link("x.json", tarfile.LNKTYPE, "rank.json"), "is a link"),
    (link("x", tarfile.FIFOTYPE, ""), "is a device or a pipe"),
    (link("x", tarfile.CHRTYPE, ""), "is a device or a pipe"),
    ("/".join("d" * 60), "has a name that no folder can hold"),
    ("n" * 300 + ".json", "has a name that no folder can hold"),
    ("rank.json/x", "has a name that no folder can hold")])
def test_archives_of_strangers_are_refused(run, tmp_path, member, says):
    archive(tmp_path / "a.tgz", [("rank.json", rank(0)), (member, b"")])
    before = sorted(path.name for path in tmp_path.iterdir() if path.name != "temporary")
    done = run("report", "a.tgz")
    assert done.returncode == 3, done.stdout
    assert done.stderr.startswith("varve: 'a.tgz' is not unpacked: its member '")
    assert f"' {says}. Unpack what you trust yourself, and name the folder:  tar -xf" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "temporary") == before


def test_names_in_an_archive_do_not_reach_the_terminal(run, tmp_path):
    archive(tmp_path / "a.tgz", [("\x1b[2J.json", rank(0)), ("b.json", rank(1))])
    done = run("info", "a.tgz")
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr
    archive(tmp_path / "b.tgz", [("../\x1b[2J.json", rank(0))])
    done = run("info", "b.tgz")
    assert done.returncode == 3 and "\x1b" not in done.stdout + done.stderr


def test_a_bomb_is_bounded(run, tmp_path):
    archive(tmp_path / "ones.tgz", [("a.json", b"1" * (90 << 20))])
    archive(tmp_path / "zeros.tgz", [("a.json", bytes(90 << 20))])
    done = run("report", "ones.tgz")
    assert done.returncode == 3 and "unpacks to more than any trace of its size does" in done.stderr
    done = run("report", "zeros.tgz")  # holes take no room
    assert done.returncode == 3 and "no trace in 'zeros.tgz'" in done.stderr


def test_many_names_are_bounded(run, tmp_path):
    one = tarfile.TarInfo("a").tobuf(tarfile.USTAR_FORMAT)
    (tmp_path / "a.tgz").write_bytes(gzip.compress(one * 20_050, 1))
    done = run("report", "a.tgz")
    assert done.returncode == 3 and done.stderr == (
        "varve: 'a.tgz' has more than 20000 members, of which 'a' is the next. If you trust it, "
        "unpack it yourself, and name the folder:  tar -xf\n")


def test_of_a_cut_archive_the_whole_part_is_read(run, tmp_path):
    archive(tmp_path / "a.tar", [("a.json", rank(0, 40)), ("b.json", rank(1, 40))], "w")
    data = (tmp_path / "a.tar").read_bytes()
    first = 512 + (len(rank(0, 40)) + 511) // 512 * 512
    for length in range(first - 600, first + 1100, 97):
        (tmp_path / "cut.tar").write_bytes(data[:length])
        done = run("info", "cut.tar")
        assert done.returncode == 0, done.stderr
        assert "FILE CUT SHORT" in done.stdout or length % 512 == 0


def test_a_later_member_of_one_name_is_the_one(run, tmp_path):
    archive(tmp_path / "a.tgz", [("a.json", rank(0, 3)), ("a.json", rank(0, 5))])
    assert events(run("info", "--json", "a.tgz")) == [5]


def test_what_macos_adds_is_no_trace(run, tmp_path):
    archive(tmp_path / "a.tgz", [("a.json", rank(0)), ("._a.json", rank(0))])
    assert inputs(run("info", "--json", "a.tgz")) == ["a.tgz:a.json"]


def test_a_damaged_archive_says_where(run, tmp_path):
    archive(tmp_path / "a.tar", [("a.json", rank(0)), ("b.json", rank(1))], "w")
    data = bytearray((tmp_path / "a.tar").read_bytes())
    at = 512 + (len(rank(0)) + 511) // 512 * 512
    data[at] ^= 1
    (tmp_path / "a.tar").write_bytes(data)
    assert run("report", "a.tar").stderr.startswith(
        f"varve: 'a.tar': the tar archive has a damaged header at byte {at}\n")
    (tmp_path / "a.tgz").write_bytes(gzip.compress(data))
    assert f"damaged header at byte {at} of what it decompresses to" in run("report",
                                                                            "a.tgz").stderr


def test_the_folder_of_temporary_files_may_be_missing(varve, tmp_path):
    done = subprocess.run([varve, "report", "-"], input=rank(0), capture_output=True, cwd=tmp_path,
                          env={**os.environ, "TMPDIR": str(tmp_path / "none")}, timeout=60,
                          check=False)
    assert done.returncode == 3
    assert b"TMPDIR names another place" in done.stderr and pathlib.Path(tmp_path).exists()


# ---- what is written, and where ----

def test_an_export_has_a_name_of_its_own(run, tmp_path):
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(rank(0)))
    done = run("export", "a.json.gz")
    assert done.returncode == 0 and done.stderr.startswith("varve: wrote a.chrome.json  ")
    assert run("export", "-", data=rank(0)).stderr.startswith("varve: wrote trace.json  ")
    golden_trace.make(tmp_path / "t.varve").write()
    assert run("export", "t.varve").stderr.startswith("varve: wrote t.json  ")


def test_tables_are_not_written_as_what_they_are_not(run, tmp_path):
    (tmp_path / "a.json").write_bytes(rank(0))
    done = run("report", "-o", "x.html", "a.json")
    assert done.returncode == 2 and done.stderr.startswith(
        "varve: tables are written as text, .json, .csv or .md, not as '.html'.")
    assert not (tmp_path / "x.html").exists()
    assert run("report", "-o", "x.html", "--format", "text", "a.json").returncode == 0


def test_the_size_of_a_trace_folder_is_known(run, tmp_path):
    golden_trace.make(tmp_path / "t.varve").write()
    table = json.loads(run("info", "--json", "t.varve").stdout)["tables"]["inputs"]
    names = [column["name"] for column in table["columns"]]
    size = sum(path.stat().st_size for path in (tmp_path / "t.varve").rglob("*") if path.is_file())
    assert table["rows"][0][names.index("disk_bytes")] == size

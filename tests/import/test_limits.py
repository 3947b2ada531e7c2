# SPDX-License-Identifier: Apache-2.0
"""The limits of doc/formats.md, for each format: what stands at a limit is read; what is beyond it
is refused with its place and what to do, or counted; and memory does not grow beyond --max-memory,
whatever the file says."""
import gzip
import json
import pathlib
import resource
import subprocess
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import nsys_writer  # noqa: E402
import rpd_writer  # noqa: E402
import perfetto_writer  # noqa: E402
import rocprof_writer  # noqa: E402
import xspace_bytes  # noqa: E402
from model_tables import dump  # noqa: E402

TEXT_BYTES_MAX = 64 << 20


# ---- a trace of each format: `events` events, the first with a name, arguments, and a value nested
# `deep` ----

def nested(deep):
    return "[" * deep + "1" + "]" * deep


def some(count):
    return {f"k{number}": number for number in range(count)}


def chrome(name="a", args=0, deep=0, events=1, **_):
    more = [f'{{"ph": "X", "name": "n{number}", "pid": 1, "tid": 1, "ts": {number}, "dur": 1}}'
            for number in range(1, events)]
    inner = nested(deep) if deep else json.dumps(some(args))
    first = (f'{{"ph": "X", "name": "{name}", "pid": 1, "tid": 1, "ts": 1, "dur": 1, '
             f'"args": {inner}}}')
    return f'{{"traceEvents": [{", ".join([first, *more])}]}}'.encode()


def mlirgraph(name="a", args=0, deep=0, events=1, **_):
    more = [f'{{"id": {number}, "adj": [], "name": "n{number}", "ts": {number}, "duration": 1}}'
            for number in range(1, events)]
    inner = f', "deep": {nested(deep)}' if deep else "".join(f', "{key}": {value}'
                                                             for key, value in some(args).items())
    first = f'{{"id": 0, "adj": [], "name": "{name}", "ts": 1, "duration": 1{inner}}}'
    return f'{{"nodes": [{", ".join([first, *more])}], "edges": []}}'.encode()


def rocprof(name="a", args=0, deep=0, events=1, **_):
    results = rocprof_writer.results()
    tool = results["rocprofiler-sdk-tool"][0]
    call = tool["buffer_records"]["hip_api"][0]
    tool["strings"]["buffer_records"][1]["operations"][1] = name
    tool["buffer_records"]["hip_api"] = [{**call, **some(args),
                                          **({"deep": "@@"} if deep
                                             else {})}] + [call] * (events - 1)
    return json.dumps(results).replace('"@@"', nested(deep)).encode()


def xspace(name="a", args=0, events=1, **_):
    plane = xspace_bytes.Plane("/host:CPU", 1)
    first = plane.event(name, 1000, 1000, [plane.stat(key, value)
                                           for key, value in some(args).items()])
    plane.line(1, [first] + [plane.event(f"n{number}", number * 1000, 1000)
                             for number in range(1, events)], "main", 10**18)
    return xspace_bytes.space(plane)


def xspace_json(name="a", deep=0, **more):
    text = xspace_bytes.to_json(xspace(name="@@", **more)).replace("@@", name)
    return (text.rstrip()[:-1] + f', "deep": {nested(deep)}}}' if deep else text).encode()


def perfetto(name="a", args=0, deep=0, events=1, **_):
    trace, value = perfetto_writer.Trace(None), 1
    for _ in range(deep):
        value = [value]
    for number in range(events):
        trace.event(1000 + 10 * number, perfetto_writer.BEGIN, track=1, name=f"n{number}" if number
                    else name, args={} if number else {"deep": value} if deep else some(args))
        trace.event(1005 + 10 * number, perfetto_writer.END, track=1)
    return b"".join(trace.packets)


def nsys(path, name="a", events=1, **_):
    tables = dict(nsys_writer.TABLES)
    columns, rows = tables["CUPTI_ACTIVITY_KIND_KERNEL"]
    tables["CUPTI_ACTIVITY_KIND_KERNEL"] = columns, [*rows, *(rows[:1] * (events - 1))]
    # The first table, so that its long row stands before all other tables.
    tables["StringIds"] = tables["StringIds"][0], list(enumerate(["", name,
                                                                  *nsys_writer.STRINGS[2:]]))
    database = path.with_suffix(".sqlite")
    data = nsys_writer.write(database, tables).read_bytes()
    database.unlink()
    return data


def rpd(path, events=1, **_):
    tables = dict(rpd_writer.TABLES)
    columns, rows = tables["rocpd_op"]
    tables["rocpd_op"] = columns, [*rows, *((100 + i, *rows[1][1:]) for i in range(events))]
    database = path.with_suffix(".rpd")
    data = rpd_writer.write(database, tables).read_bytes()
    database.unlink()
    return data


WRITERS = {"chrome": chrome, "mlirgraph": mlirgraph, "rocprof": rocprof, "xspace": xspace,
           "xspace-json": xspace_json, "perfetto": perfetto, "nsys": nsys,
           "rpd": rpd}


@pytest.fixture(name="write")
def write_trace(tmp_path):
    def write(form, compressed=False, **what):
        path = tmp_path / "trace"
        data = WRITERS[form](path=path, **what)
        path.write_bytes(gzip.compress(data, 1) if compressed else data)
        return path
    return write


def info(varve, path, *words, address_bytes=None):
    def limit():
        if address_bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_bytes, address_bytes))
    return subprocess.run([varve, "info", "--no-cache", *words, path], capture_output=True,
                          text=True, check=False, preexec_fn=limit, timeout=120)


def assert_refused(done, path, says, then):
    assert (done.returncode, done.stdout) == (3, "")
    first, second = done.stderr.splitlines()
    assert first.startswith(f"varve: '{path}'") and says in first, first
    assert second.startswith("  " + then), second


BEYOND = "that is beyond varve's limits"


# ---- nesting, texts, arguments ----

@pytest.mark.parametrize("form, deep, levels", [("chrome", 256, 256), ("mlirgraph", 253, 256),
                                                ("rocprof", 250, 256), ("xspace-json", 255, 256),
                                                ("perfetto", 64, 64)])
def test_nesting(varve, write, form, deep, levels):
    """`deep` arrays within what the format nests by itself."""
    assert info(varve, write(form, deep=deep)).returncode == 0
    for more in (deep + 1, *([1_000_000] if form != "perfetto" else [])):
        path = write(form, deep=more)
        done = info(varve, path)
        assert_refused(done, path, f"nested deeper than {levels} levels at byte ", BEYOND)


@pytest.mark.parametrize("form", [form for form in WRITERS if form not in ("nsys", "rpd")])
def test_a_text_of_64_mebibytes_is_read_a_longer_one_refused(varve, write, form):
    assert info(varve, write(form, name="x" * TEXT_BYTES_MAX)).returncode == 0
    path = write(form, name="x" * (TEXT_BYTES_MAX + 1))
    assert_refused(info(varve, path), path, f"{TEXT_BYTES_MAX}" if "perf" not in form
                   and form != "xspace" else "67108865", BEYOND)


def test_a_database_s_longer_text_ends_its_table_and_is_told(build, write):
    """The schema does not stand in the first pages here."""
    for name, torn in (("x" * (TEXT_BYTES_MAX - 100), 0), ("x" * (TEXT_BYTES_MAX + 1), 1)):
        tables = dump(build, write("nsys", name=name))
        assert len(tables["slices"]) == 14
        assert tables["health"][0]["truncated_files"] == torn
        assert sum(row["name"] == name for row in tables["slices"]) == (0 if torn else 2)


@pytest.mark.parametrize("form", ["mlirgraph", "rocprof", "xspace", "perfetto"])
def test_65535_arguments_are_kept_more_are_counted(build, write, form):
    found = {}
    for count in (0, 65000, 66000):
        tables = dump(build, write(form, args=count))
        most = max(tables["slices"], key=lambda row: len(row["args"]))
        found[count] = len(most["args"]), sum(
            not key.startswith("k") for key, _ in most["args"]), tables["health"][0]["ignored"]
    own, ignored = found[65000][1], found[0][2]
    assert found[65000] == (own + 65000, own, ignored)
    assert found[66000] == (65535, own, ignored + own + 66000 - 65535)


def test_an_event_of_chrome_s_with_more_arguments_is_refused(varve, build, write):
    tables = dump(build, write("chrome", args=32767))
    assert len(tables["slices"][0]["args"]) == 32767
    path = write("chrome", args=32768)
    assert_refused(info(varve, path), path, "an event with 32768 arguments at byte ", BEYOND)


# ---- memory ----

@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("form", WRITERS)
def test_max_memory(varve, write, form, compressed):
    path = write(form, events=30000, compressed=compressed)
    free = info(varve, path, "--json")
    assert free.returncode == 0, free.stderr
    assert info(varve, path, "--json", "--max-memory", "1GB").stdout == free.stdout
    done = info(varve, path, "--max-memory", "1MB")
    assert_refused(done, path, "1000000 bytes", "allow it more:  --max-memory SIZE")


@pytest.mark.parametrize("form", ["xspace", "perfetto", "nsys", "rpd"])
def test_a_compressed_file_that_is_held_whole_is_refused_before_it_is_large(varve, write, form):
    """Two gigabytes of zeros, a member of the file each 64 MiB."""
    path = write(form, compressed=True, events=30)
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    zeros = packer.compress(bytes(64 << 20)) + packer.flush()
    path.write_bytes(path.read_bytes() + zeros * 32)
    done = info(varve, path, "--max-memory", "100MB", address_bytes=1 << 30)
    assert_refused(done, path, "100000000 bytes", "allow it more:  --max-memory SIZE")


@pytest.mark.parametrize("form", ["chrome", "mlirgraph"])
def test_a_compressed_text_of_blanks_takes_no_memory(varve, write, form):
    path = write(form)
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    blanks = packer.compress(b" " * (64 << 20)) + packer.flush()
    text = path.read_bytes()
    path.write_bytes(gzip.compress(text[:-1], 1) + blanks * 16 + gzip.compress(text[-1:], 1))
    assert info(varve, path, "--max-memory", "10MB", address_bytes=1 << 30).returncode == 0

# SPDX-License-Identifier: Apache-2.0
"""libvarve.so as a file: what it exports, what it needs, how it is loaded."""
import re
import subprocess

import pytest
import sources

LIBRARY = sources.BUILD / "libvarve.so"
DECLARATION = re.compile(r"VARVE_API\b[^;{]*?\b(varve_\w+)\s*[(;]")
LIBC = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def readelf(*options):
    if not LIBRARY.exists():
        pytest.skip("needs libvarve.so: make")
    return subprocess.run(["readelf", "-W", *options, LIBRARY], capture_output=True, text=True,
                          check=True).stdout


LIST = sources.ROOT / "src" / "collect" / "EXPORTS"


def declared(text):
    """The names that a header declares with VARVE_API."""
    text = re.sub(r"/\*.*?\*/|^#define.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    return set(DECLARATION.findall(text))


def entry_points():
    """(symbol, of whom, what it is) of each entry point of others' interfaces, in the order of the
    list."""
    return [tuple(line.split(": ", 2)) for line in LIST.read_text().splitlines()
            if not line.startswith("#")]


def names_declared():
    return set().union(*(declared(header.read_text())
                         for header in (sources.ROOT / "include" / "varve").glob("*.h")))


def exported():
    """{name: version} of the symbols that the library offers."""
    rows = [line.split() for line in readelf("--dyn-syms").splitlines()]
    symbols = [row[7] for row in rows if len(row) >= 8 and row[4] in ("GLOBAL", "WEAK")
               and row[6] not in ("UND", "ABS")]
    return dict(symbol.replace("@@", "@").split("@") if "@" in symbol else (symbol, "")
                for symbol in symbols)


def test_exports_are_what_the_headers_declare_and_the_list_names():
    names = names_declared()
    assert {"varve_begin_name", "varve_begin"} & names == set()  # inline
    assert {"varve_emit_begin", "varve_control_page", "varve_session_start"} <= names
    symbols, listed = exported(), [symbol for symbol, _, _ in entry_points()]
    assert "_ZN3c109alloc_cpuEm" in listed and len(set(listed)) == len(listed)
    assert set(symbols) == names | set(listed)
    assert set(symbols.values()) == {"VARVE_0"}


def test_what_the_sources_mark_is_in_headers_or_list():
    """Else the symbol map hides it, and nobody finds it."""
    readelf("-h")  # skips without the library
    archives = [path for room in ("record", "device", "exec", "observe", "points", "collect")
                for path in (sources.BUILD / "archives").glob(f"libvv_{room}*.a")]
    rows = [line.split() for line in
            subprocess.run(["readelf", "-W", "-s", *archives], capture_output=True, text=True,
                           check=True).stdout.splitlines()]
    marked = {row[7] for row in rows if len(row) == 8 and row[4] in ("GLOBAL", "WEAK")
              and row[5] == "DEFAULT" and row[6] != "UND"}
    assert marked == names_declared() | {symbol for symbol, _, _ in entry_points()}


def test_the_page_tells_of_the_same_entry_points():
    page = (sources.ROOT / "doc" / "collectors.md").read_text()
    told = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*) \|$",
                      page.partition("| symbol | of | what it is |\n")[2], re.MULTILINE)
    assert told == entry_points()


def test_declarations_are_found():
    text = ("#define VARVE_API __attribute__((x))\n/* VARVE_API int varve_no(void); */\n"
            "VARVE_API enum varve_code varve_a(const struct varve_b *c,\n    int d);\n"
            "extern VARVE_API struct varve_e varve_f;\nstatic inline void varve_g(void)\n{\n}\n")
    assert declared(text) == {"varve_a", "varve_f"}


OPENERS = {"open", "open64", "openat", "openat2", "creat", "fopen", "fopen64", "freopen", "fdopen",
           "opendir", "scandir", "mkstemp", "mkostemp", "tmpfile", "pipe", "pipe2", "socket",
           "socketpair", "accept", "accept4", "eventfd", "memfd_create",
           "epoll_create", "epoll_create1", "inotify_init1", "signalfd", "timerfd_create", "dup",
           "dup2", "dup3", "popen", "shm_open", "fts_open", "nftw", "ftw", "getline", "syslog"}


def test_it_opens_in_one_place():
    """What gets a descriptor gets 3 or more (base/system/descriptor.h): no other file of the
    library's can open."""
    archives = sources.BUILD / "archives"
    floors = [path for floor in ("base", "settings", "record", "collect", "ctf")
              for path in archives.glob(f"libvv_{floor}*.a")
              if path.name != "libvv_ctf_pack.a"]  # of `varve` alone
    needed = subprocess.run(["nm", "-A", "-u", *floors], capture_output=True, text=True,
                            check=True).stdout
    found = {}
    for line in needed.splitlines():
        where, _, name = line.partition(" U ")
        if name in OPENERS:
            found.setdefault(where.split(":")[1], set()).add(name)
    assert found.pop("descriptor.c.o") == {"openat", "pipe2"}
    command = {"trim", "count_records", "unnamed_file"}  # of `varve`, or of the reader library
    assert set(found) <= {f"{name}.c.o" for name in command}
    linked = readelf("-s")
    assert "vv_snapshot_trace" in linked
    assert [name for name in ("vv_pack_trace", "vv_trim_trace", "vv_packed_open",
                              "vv_tally_process") if name in linked] == []


def test_it_needs_libc_alone():
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d")))
    assert "libc.so.6" in needed
    assert needed <= LIBC


def test_what_musl_lacks_is_weak():
    """Or its loader would end each program that inherits LD_PRELOAD: src/base/system/libc.h."""
    strong = re.findall(r" GLOBAL DEFAULT +UND (\w+)", readelf("--dyn-syms"))
    assert "open" in strong or "openat" in strong
    glibc_alone = re.compile(
        r"__register_atfork|__(?!stack)\w+_chk|__\w+_2|\w+_np|__isoc\d+_\w+|__libc_\w+(?<!sigrtm..)|gnu_\w+"
    )
    musl_has = {"pthread_getname_np", "pthread_setname_np", "pthread_getattr_np"}
    assert [name for name in strong if glibc_alone.fullmatch(name) and name not in musl_has] == []


def test_it_is_loaded_as_promised():
    dynamic = readelf("-d")
    flags = dict(re.findall(r"\((FLAGS(?:_1)?)\)\s+(.*)", dynamic))
    assert re.search(r"\(SONAME\).*\[libvarve\.so\.0\]", dynamic)
    # initial-exec: no call, no allocation to find a thread's data …
    assert "STATIC_TLS" in flags["FLAGS"]
    assert "__tls_get_addr" not in readelf("--dyn-syms")  # … in no file
    assert "NODELETE" in flags["FLAGS_1"]     # dlclose must not take code from under other threads
    assert "NOW" in flags["FLAGS_1"]          # no symbol is looked up in a signal handler
    assert "TEXTREL" not in dynamic
    assert "(RUNPATH)" not in dynamic and "(RPATH)" not in dynamic


def test_its_thread_local_data_are_few():
    """A library that is loaded late shares 1,664 bytes with all others that are (glibc's default),
    and Python loads it late."""
    (size,) = re.findall(r"^ +TLS +\S+ \S+ \S+ \S+ (0x[0-9a-f]+)", readelf("-l"), re.MULTILINE)
    assert int(size, 16) <= 1280


def test_its_version_is_the_header_s():
    numbers = re.findall(r"#define VARVE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                         (sources.ROOT / "include" / "varve" / "varve.h").read_text())
    readelf("-h")  # skips without the library
    assert LIBRARY.resolve().name == "libvarve.so." + ".".join(numbers)

# SPDX-License-Identifier: Apache-2.0
"""The names of GE, Paddle and PyTorch for what is recorded: doc/control.md's tables, held against
what the library takes from an options text and the command from --layers."""
import functools
import json
import pathlib
import re
import subprocess
import sys

import pytest
from recording import quiet_environment

ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN = ["API", "HOST", "OP", "RUNTIME", "RUNTIME_L1", "DEVICE", "COMM", "MEMORY", "STEP", "PYTHON",
       "METRIC"]
ALL = (1 << len(OWN)) - 1


@functools.cache
def rows():
    """[(names, other cells, mask)] of the section's tables."""
    page = (ROOT / "doc" / "control.md").read_text(encoding="utf-8")
    section = page.split("\n## Other systems' names for layers\n")[1].split("\n## ")[0]
    found = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        names = re.findall(r"`([^`]+)`", cells[0])
        if line.startswith("|") and names:
            found.append((names, cells[1:-1], mask_of(cells[-1])))
    return found


def mask_of(words):
    if words == "none":
        return 0
    if words.startswith("all"):
        return ALL & ~(1 << OWN.index(words[8:])) if words != "all" else ALL
    return sum(1 << OWN.index(word) for word in words.split(", "))


NAMES = [(name, mask) for names, _, mask in rows() for name in names]


# A process of its own: libvarve.so in this one would change what other tests find.
ASKED = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1])
page = (ctypes.c_uint32 * 3).in_dll(library, "varve_control_page")
class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("os_errno", ctypes.c_int), ("offset", ctypes.c_uint64),
                ("message", ctypes.c_char * 512)]
for line in sys.stdin:
    error = Error()
    if library.varve_profiling_init_options(line.strip().encode(), ctypes.byref(error)) != 0:
        print(json.dumps(error.message.decode()), flush=True)
        continue
    print(page[0], flush=True)
    assert library.varve_profiling_finalize(None) == 0
"""


@pytest.fixture(name="layers_of", scope="module")
def fixture_layers_of(build, tmp_path_factory):
    """layers_of(options) says which layers the library records by them, or why none."""
    folder = tmp_path_factory.mktemp("recorded")
    with subprocess.Popen([sys.executable, "-c", ASKED, build / "libvarve.so"], text=True,
                          cwd=folder, env=quiet_environment(), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as asked:
        def recorded(**options):
            print(json.dumps({"output": "t.varve", **options}), file=asked.stdin, flush=True)
            return json.loads(asked.stdout.readline())
        yield recorded


def test_the_page_has_what_the_systems_have():
    assert [names for names, _, _ in rows()[:7]] == [
        ["kCannHost"], ["kDevice"], ["kGeHost"], ["kTrainingTrace"], ["kTaskTime"], ["kMemory"],
        ["kCannHostL1"]]
    assert len(NAMES) == len({name.lower() for name, _ in NAMES}) == 7 + 25 + 3 + 10 + 17


def test_the_page_has_every_name_that_the_code_has():
    code = (ROOT / "src" / "ctf" / "foreign_layers.c").read_text(encoding="utf-8")
    assert re.findall(r'^    \{ "(\w+)", ', code, re.MULTILINE) == [name for name, _ in NAMES]


@pytest.mark.parametrize("name, mask", NAMES, ids=[name for name, _ in NAMES])
def test_each_name_records_the_layers_of_the_page(layers_of, name, mask):
    if mask == 0:
        assert layers_of(layers=name).startswith(
            f"option 'layers': '{name}' turns no layer of Varve's on, so nothing would be recorded")
    else:
        assert layers_of(layers=name) == layers_of(layers=name.swapcase()) == mask
    assert layers_of(layers=f"STEP,{name}") == mask | 1 << OWN.index("STEP")


@pytest.mark.parametrize("key, value, mask", [
    (*re.fullmatch(r"`(\w+)` (\w+)", cells[1]).groups(), mask)
    for _, cells, mask in rows() if len(cells) > 1 and cells[1]])
def test_a_key_records_what_its_bit_records(layers_of, key, value, mask):
    others = {} if key == "task_time" else {"task_time": "off"}
    assert layers_of(**{key: value}, **others) == mask | 1 << OWN.index("API")


def test_a_wrong_name_has_the_nearest(layers_of):
    assert "no such layer 'kTaskTimes'; nearest: kTaskTime." in layers_of(layers="kTaskTimes")


def test_record_and_start_take_them_too(record, run, pid_of):
    program = record("--paused", "--layers", "kCPU")
    program.do("layers")
    assert run("start", pid_of()).returncode == 0
    assert program.do("layers") == str(ALL & ~0x20)
    done = run("start", "--layers", "kTaskTime,kGeHost", pid_of())
    assert done.stderr.startswith("varve: recording API,HOST,OP,DEVICE of ")
    assert program.do("layers") == str(0x1 | 0x2 | 0x4 | 0x20)
    done = run("start", "--layers", "kGeHots", pid_of())
    assert done.stderr.startswith("varve: --layers: no such layer 'kGeHots'; nearest: kGeHost.")
    program.finish()

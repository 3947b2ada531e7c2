# SPDX-License-Identifier: Apache-2.0
"""The recipes of CONTRIBUTING.md are true: one change of each kind is made in a copy of the tree,
by touching the files that the recipe names and no other; the copy is built, and what is new is seen
to work there, by its own tests."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import recipes  # pylint: disable=wrong-import-position
import sources  # pylint: disable=wrong-import-position
import table_reader  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position

MOST = {"format": 7, "table": 4, "collector": 5, "verb": 4, "device": 2, "record": 8}
LEFT_OUT = ("tests/golden/", "tests/fuzz/corpus/", "examples/", "bench/")
TARGETS = ["varve", "varve_library", "fuzz_tally", "program_emitter", "program_every_record"]
NEW_TESTS = ["tests/import/test_tally.py", "tests/analyse/test_longest.py",
             "tests/collect/test_heartbeat.py", "tests/import/test_beat.py"]
# What holds such lists together: pages and code, verbs and help.
OLD_TESTS = ["tests/cli/test_verbs.py", "tests/analyse/test_promise.py",
             "tests/oracle/test_decoder_rules.py::"
             "test_page_and_reader_name_the_same",
             "tests/analyse/test_choices.py::test_the_page_names_every_table"]


def page():
    """{kind: the files that its recipe names}."""
    text = (sources.ROOT /
            "CONTRIBUTING.md").read_text().split("\n## Recipes\n")[1].split("\n## ")[0]
    found = re.findall(r"^\*\*[^*]+\*\* \((\w+)\)[^*]*?\n\n((?:- .*\n(?:  .*\n)*)+)", text,
                       re.MULTILINE)
    return {kind: re.findall(r"^- `([^`]+)`", items, re.MULTILINE) for kind, items in found}


def is_meant(path, pattern):
    """Is it the file that the recipe means, in whose place something of the kind stands?"""
    return re.fullmatch(re.escape(pattern).replace("NAME", r"\w+").replace("ROOM", r"[\w/]+"),
                        path) is not None


@pytest.mark.parametrize("kind", sorted(MOST))
def test_the_page_names_what_is_touched(kind):
    touched, named = sorted([*recipes.new_files(kind), *recipes.EDITS[kind]]), page()[kind]
    assert len(named) == len(touched) <= MOST[kind]
    for path in touched:
        assert [pattern for pattern in named if is_meant(path, pattern)], path


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The tree with one change of each kind, built without optimisation."""
    for program in ("cmake", "ninja"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}: tools/setup build")
    root = tmp_path_factory.mktemp("recipes") / "tree"
    for path in sources.tracked():
        name = str(path.relative_to(sources.ROOT))
        if not name.startswith(LEFT_OUT):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / name)
    for kind in recipes.EDITS:
        recipes.apply(kind, root)
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O0 -g0", "-DVARVE_WERROR=ON",
               "-DVARVE_TESTS=ON", "-DVARVE_EXAMPLES=OFF"]
    for command in (["cmake", "-G", "Ninja", "-S", ".", "-B", "build", *options],
                    ["ninja", "-C", "build", "-j2", *TARGETS]):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    yield root
    shutil.rmtree(root)


def pytest_in(root, *arguments, **environment):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("VARVE_", "PYTEST_"))}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", *arguments], cwd=root,
                          capture_output=True, text=True, env={**kept, **environment}, check=False)
    return done.returncode, (done.stdout + done.stderr)[-4000:]


def test_what_is_new_works(copy):
    assert (copy / "build" / "libvarve.so").exists()
    (copy / "seed").write_text("TALLY 1\nload 1000 1500\n")
    subprocess.run([copy / "build/tests/fuzz/fuzz_tally", copy / "seed"], check=True,
                   capture_output=True)
    code, said = pytest_in(copy, *NEW_TESTS)
    assert code == 0 and re.search(r"\b7 passed", said), said


def test_what_was_there_still_holds(copy):
    before = (copy / "doc" / "json.md").read_text()
    assert pytest_in(copy, "tests/analyse/test_promise.py", VARVE_WRITE_PAGES="1")[0] == 0
    added = set((copy / "doc" / "json.md").read_text().splitlines()) - set(before.splitlines())
    assert added == {"| `longest` | `name`, `duration_ns` |"}
    code, said = pytest_in(copy, *OLD_TESTS)
    assert code == 0, said


def test_allocations_of_a_new_device_have_its_name(copy, tmp_path):
    trace = trace_writer.Trace(tmp_path / "a.varve")
    trace.process(pid=100).thread(tid=100).alloc(4096, 64, at=100, device=5 << 16 | 1)
    rows = table_reader.tables(copy / "build" / "varve", "memory", trace.write())["memory"]
    assert [(row["device"], row["peak_bytes"]) for row in rows] == [("npu:1", 64)]


def test_a_new_verb_counts(copy, tmp_path):
    trace = trace_writer.Trace(tmp_path / "a.varve")
    trace.process(pid=100).thread(tid=100).alloc(4096, 64, at=100)
    done = subprocess.run([copy / "build/varve", "count", trace.write()], capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")

# SPDX-License-Identifier: Apache-2.0
"""The table of tests/README.md: what tests the files of src/ that have no unit test of their own
name."""
import re

from sources import ROOT

TESTS = ROOT / "tests"
ROW = re.compile(r"^\| ([\w/*]+) \| (`[^|]*) \| (`[^|]*) \|$", re.MULTILINE)


def rows():
    """{room: paths below tests/}"""
    text = (
        TESTS /
        "README.md").read_text().partition("## What tests a file without")[2].partition("\n## ")[0]
    return {room: re.findall(r"`([\w/.]+)`", units + " " + pytest)
            for room, units, pytest in ROW.findall(text)}


def rooms_to_name():
    """Rooms with a file that no unit test is named after."""
    return {
        str(path.parent.relative_to(ROOT / "src"))
        for path in (ROOT / "src").rglob("*.c")
        if not (TESTS / "unit" / path.relative_to(ROOT / "src").parent /
                f"test_{path.name}").exists()
    }


def row_of(room, table):
    return room if room in table else f"{room.rpartition('/')[0]}/*"


def test_each_room_has_a_row_and_each_row_a_room():
    table = rows()
    assert not {room for room in rooms_to_name() if row_of(room, table) not in table}
    assert not set(table) - {row_of(room, table) for room in rooms_to_name()}


def test_what_a_row_names_is_there_and_has_tests():
    for room, paths in rows().items():
        assert len(paths) > 1, room
        for name in paths:
            path = TESTS / name
            assert path.is_file() or any(path.rglob("test_*")) or any(path.glob("fuzz_*.c")), (room,
                                                                                               name)


def test_unit_tests_mirror_a_source_or_say_what_they_test():
    """A unit test is named after a file of its room, or the first comment says what it is about."""
    for path in (TESTS / "unit").rglob("test_*.c"):
        source = ROOT / "src" / path.relative_to(
            TESTS / "unit").parent / path.stem.removeprefix("test_")
        comment = re.search(r"\n/\*(.*?)\*/", path.read_text(), re.DOTALL)
        assert source.with_suffix(".c").exists() or source.with_suffix(
            ".h").exists() or comment and len(comment[1].split()) > 4, path.relative_to(ROOT)

# SPDX-License-Identifier: Apache-2.0
"""Names, licence lines, links and paths in the project's files."""
import os
import re

import pytest
import sources

DRAWERS = re.compile(r"(utils?|common|misc|helpers?)", re.IGNORECASE)
SPDX = "SPDX-License-Identifier: Apache-2.0"
LICENSED_SUFFIXES = {".c", ".h", ".cc", ".cpp", ".py", ".sh", ".cmake", ".in", ".map", ".ini",
                     ".toml", ".js", ".mlir"}
LICENSED_NAMES = {"CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy", ".editorconfig"}
MACHINE_PATH = re.compile(r"(?:^|[^\w./-])/(?:work|root|home|farm)/", re.MULTILINE)
LINK = re.compile(r"!?\[[^\]\[]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def is_drawer(name):
    """utils.c, common/, helper.py … : a folder or file that would take anything."""
    return any(DRAWERS.fullmatch(part.split(".")[0]) for part in name.split("/"))


def is_licensed(name):
    base = os.path.basename(name)
    return (os.path.splitext(base)[1] in LICENSED_SUFFIXES or base in LICENSED_NAMES
            or name.startswith(".ci/") or (name.startswith("tools/") and "." not in base))


def broken_fences(text):
    """Numbers of the lines on which a fence of Markdown stands among other words, as an editor that
    fills paragraphs leaves it; and of the last fence, where it closes nothing."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if "```" in line]
    mixed = [number for number, line in lines if not re.fullmatch(r" *```[\w-]*", line)]
    return mixed or [number for number, _ in lines[-1:] if len(lines) % 2 == 1]


def broken_links(path, text):
    """Links of a Markdown text to files that do not exist or lie outside the project."""
    for target in LINK.findall(FENCED.sub("", text)):
        if re.match(r"[a-z]+:|#", target):
            continue
        file = (path.parent / target.partition("#")[0]).resolve()
        if not file.exists() or not file.is_relative_to(sources.ROOT):
            yield target


def names():
    return [str(path.relative_to(sources.ROOT)) for path in sources.tracked()]


def test_there_is_no_drawer():
    found = [name for name in names() if is_drawer(name)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name, expected", [
    ("src/base/utils.c", True), ("src/common/a.c", True), ("tests/helper.py", True),
    ("src/Misc/a.h", True), ("src/base/util.test.c", True), ("src/base/utility.c", False),
    ("doc/commonplace.md", False)])
def test_a_drawer_is_told(name, expected):
    assert is_drawer(name) is expected


def test_every_source_file_names_its_licence():
    licensed = [path for path in sources.tracked()
                if is_licensed(str(path.relative_to(sources.ROOT)))]
    assert len(licensed) > 50
    found = [str(path.relative_to(sources.ROOT)) for path in licensed
             if SPDX not in "\n".join(sources.text_of(path).split("\n")[:3])]
    assert not found, "\n".join(found)


def test_fences_stand_alone_and_in_pairs():
    found = [f"{path.relative_to(sources.ROOT)}:{number}" for path in sources.tracked()
             if path.suffix == ".md" for number in broken_fences(sources.text_of(path))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text, expected", [
    ("a\n```\nb\n```\n- c\n  ```sh\n  d\n  ```\n", []), ("a\n ``` b c\nd\n```\n", [2]),
    ("```\na\n```\nb\n```\nc\n", [5])])
def test_a_broken_fence_is_told(text, expected):
    assert broken_fences(text) == expected


def test_links_between_files_lead_somewhere():
    found = []
    for path in sources.tracked():
        if path.suffix == ".md":
            found += [f"{path.relative_to(sources.ROOT)}: {target}"
                      for target in broken_links(path, sources.text_of(path))]
    assert not found, "\n".join(found)


def test_a_broken_link_is_told():
    text = ("[a](LICENSE) [b](gone.md#x) [c](#d) [e](https://f/g) "
            "`[h](i)`\n```\n[j](k)\n```\n[l](../outside.md)\n")
    assert list(broken_links(sources.ROOT / "README.md", text)) == ["gone.md#x", "../outside.md"]


def test_no_file_knows_this_machine():
    found = []
    for path in sources.tracked():
        text = sources.text_of(path)
        if text is not None and MACHINE_PATH.search(text):
            found.append(str(path.relative_to(sources.ROOT)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text, expected", [
    ("open('/ro" "ot/x')", True), ("see /ho" "me/me/x", True), ("a/ro" "ot/b", False),
    ("the /ro" "ots", False)])
def test_a_path_of_this_machine_is_told(text, expected):
    assert bool(MACHINE_PATH.search(text)) is expected


CONFLICT = re.compile(r"^(<{7} |>{7} )", re.MULTILINE)


def test_no_file_holds_half_a_merge():
    found = [str(path.relative_to(sources.ROOT)) for path in sources.tracked()
             if CONFLICT.search(sources.text_of(path) or "")]
    assert not found
    assert CONFLICT.search("a\n" + "<" * 7 + " HEAD\nb\n") and not CONFLICT.search("x " + "<" * 7 +
                                                                                   " y")

# SPDX-License-Identifier: Apache-2.0
"""What a comment or a document cites stands in the repository: the document, its section, and the
file of source or test."""
import re
import subprocess

from sources import ROOT

DOCUMENT = re.compile(
    r"(?<![\w/.-])((?:[\w.-]+/)*[\w-]+\.md)(?:\)?,? (?:§|section )(\d+(?:\.\d+)?))?")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SOURCE = re.compile(r"(?<![\w/.<\"-])((?:[\w-]+/)*[\w-]+\.[ch])\b(?!\w)")
HEADING = re.compile(r"^#+ (\d+(?:\.\d+)?)[. ]", re.MULTILINE)
# Texts that only look like citations, and names that a user makes.
ELSEWHERE = {"r.md", "diff.md", "README.md"}
# Of the system, and names with a part to fill in.
OF_OTHERS = {"stdlib.h", "cmocka.h", "clock_MACHINE.h", "json_scan_MACHINE.h", "cmd_NAME.c"}


def kept():
    names = subprocess.run(["git", "ls-files", "src", "include", "tests", "tools", "bench",
                            "examples", "cmake", "doc", "python",
                            "*.md", "CMakeLists.txt", "Makefile"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.split()
    return [ROOT / name for name in names if "corpus" not in name and "golden" not in name
            and (ROOT / name).is_file()]


def text_of(path):
    return path.read_text(errors="replace")


def documents():
    """{name as cited: numbers of its sections}"""
    found = {}
    for path in kept():
        if path.suffix == ".md":
            numbers = set(HEADING.findall(text_of(path)))
            for name in (path.name, str(path.relative_to(ROOT))):
                found[name] = found.get(name, set()) | numbers
    return found


def test_every_document_that_is_cited_is_there():
    known, wrong = documents(), []
    for path in kept():
        for name, section in DOCUMENT.findall(text_of(path)):
            if name.rsplit("/", 1)[-1] in ELSEWHERE or path.name in ("test_citations.py",
                                                                     "test_text.py"):
                continue
            if name not in known and name.rsplit("/", 1)[-1] not in known:
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
            elif section and section not in known.get(name, known.get(name.rsplit("/", 1)[-1],
                                                                      set())):
                wrong.append(f"{path.relative_to(ROOT)}: {name} §{section}")
    assert not wrong, "\n".join(wrong)


def test_every_file_that_a_comment_cites_is_there():
    """By the end of its path: "stream.c" beside it, "record/hot_path.h" from a room."""
    paths = kept()
    ends = {"/".join(path.parts[-n:]) for path in paths if path.suffix in (".c", ".h")
            for n in range(1, 7)} | OF_OTHERS
    wrong = [f"{path.relative_to(ROOT)}: {name}" for path in paths if path.suffix in (".c", ".h")
             for comment in COMMENT.findall(text_of(path)) for name in SOURCE.findall(comment)
             if name not in ends]
    assert not wrong, "\n".join(wrong)

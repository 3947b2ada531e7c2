# SPDX-License-Identifier: Apache-2.0
"""Texts of a file are a pointer and a length, and may hold NUL: what reads them in src/ compares
them by base/text/counted.h.

strncmp(word, text, length) stops at a NUL of both, and whoever then looks at word[length] looks
where the file says."""
import re

import pytest
import sources

READERS = ("src/import/", "src/model/", "src/base/", "src/ctf/", "src/cache/")
CALL = re.compile(r"\b(strn?(?:case)?cmp|strlen|strchr|strstr|strspn|strcspn)\(")
# A beginning of NUL-terminated text: as long as a word of ours.
OWN_LENGTH = re.compile(r"\d+|sizeof \w+(?:\[0\])? - 1|strlen\((?P<word>.+)\)|length - 1")
COUNTED = re.compile(r"(?:->|\.)(?:at|data)$")
TERMINATED = {("src/import/xspace/shape.c", "reader->at")}  # of vv_intern_text


def arguments(text, at):
    """Of the call whose bracket opens before `at`."""
    found, depth, begin = [], 0, at
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and text[i] == ","):
            found.append(" ".join(text[begin:i].split()))
            begin = i + 1
        if depth < 0:
            return found
    return found


def faults(name, text):
    for call in CALL.finditer(text):
        words = arguments(text, call.end())
        where = f"{name}:{text.count(chr(10), 0, call.start()) + 1}: {call[1]}({', '.join(words)})"
        if name != "src/base/text/counted.h" and call[1].startswith("strn") and len(words) == 3:
            limit = OWN_LENGTH.fullmatch(words[2])
            if limit is None or (limit["word"] is not None and limit["word"] not in words[:2]):
                yield where
        if any(COUNTED.search(word) and (name, word) not in TERMINATED for word in words[:2]):
            yield where


@pytest.mark.parametrize("text, expected", [
    ("strncmp(word, text, length) == 0", 1),
    ("strncmp(name, words[i].prefix, strlen(words[i].prefix))", 0),
    ("strncmp(name, word, sizeof word - 1)", 0), ('strcmp(value->at, "a")', 1),
    ("strlen(message.data)", 1), ("strlen(name)", 0), ("strncmp(name, a, strlen(b))", 1)])
def test_a_fault_is_told(text, expected):
    assert len(list(faults("src/import/a.c", text))) == expected


def test_counted_texts_go_to_no_function_of_terminated_ones():
    files = [path for path in sources.tracked()
             if str(path.relative_to(sources.ROOT)).startswith(READERS)]
    assert len(files) > 100
    found = [fault for path in files
             for fault in faults(str(path.relative_to(sources.ROOT)), sources.text_of(path))]
    assert not found, "\n".join(found)


# ---- into the model ----

TO_STRINGS = re.compile(r"vv_intern_add\(&\s*[\w>.-]+->strings\b")
MERGES = {"src/import/chrome/merge.c", "src/import/xspace/append.c"}  # from one model into another


def test_texts_enter_the_model_by_one_door():
    """vv_model_add_text makes them UTF-8 without NUL, and all that reads a model relies on it."""
    found = [name for path in sources.tracked()
             if (name := str(path.relative_to(sources.ROOT))).startswith("src/import/")
             and name not in MERGES and TO_STRINGS.search(sources.text_of(path))]
    assert not found, "\n".join(found)
    assert TO_STRINGS.search("vv_intern_add(&reader->model->strings, text, length, &id, error)")

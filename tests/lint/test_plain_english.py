# SPDX-License-Identifier: Apache-2.0
"""The pages for users are plain English, as far as a machine can measure it: sentences are short,
and without the words and openings at which a reader stumbles whose second language English is.

Prose alone counts: no code, printed output, headings or rows of tables. A piece of code or a link
is one word, a figure is none. The changelog keeps what was written at its time.
"""
import re

import pytest
import sources
from test_columns import FENCE, LIST_ITEM

MOST_WORDS = 30
ONE_WORD = re.compile(r"`+[^`]+`+|!?\[[^\]]*\]\([^)]*\)")
SENTENCE_END = re.compile(r"(?<=[.?!…])[*\")]*\s+(?=[^a-z])")
WORD = re.compile(r"[^\W\d_]+(?!\S*\d)")
STRANGE = [re.compile(text) for text in (
    # words of the law books, and of other languages' grammars
    r"\b(?i:there(?:of|by|in)|where(?:of|by|in)|hence(?:forth)?|lest|whither|manieth|save for)\b",
    r"\b(?i:the former|the latter|to be had|is had|of which|in whose|no matter|but for)\b",
    r"\b(?i:as (?:it|they) (?:lies?|stands?)|all the same,)",
    # "for" where "because" is meant
    r"[,;] for (?:he|it|they|we|nobody|nothing|nothing else|otherwise) ",
    # "Of unions there is none", "From 2 on there are …"
    r"^(?:Of|To|With|From) [^,]*\bthere (?:is|are)\b",
    # no subject: "Told by the first field"
    r"^(?:Told|Said|Kept|Taken|Left|Joined|Located)\b",
    # a pronoun whose noun is in another sentence
    r"^(?:It|Its|They|Their|Them|Those|Whose)\b",
    # a clause where a noun belongs: "What of it sticks out is cut."
    r"^(?:What|Who|Whoever)\b[^?]*\.$")]


def paragraphs(text):
    """[(line, prose)] of a page: each paragraph, and each item of a list, in one line."""
    found, is_open, is_fenced, was_blank, in_list = [], False, False, True, False
    for number, line in enumerate(text.split("\n"), 1):
        is_fence, item = FENCE.match(line), LIST_ITEM.match(line)
        is_fenced ^= bool(is_fence)
        in_list = bool(item) or in_list and (not line or line.startswith(" "))
        is_printed = line.startswith("    ") and was_blank and not in_list
        was_blank = not line.strip() or is_printed
        if is_fence or is_fenced or was_blank or line.lstrip().startswith(("|", "#", "<")):
            is_open = False
        elif item or not is_open:
            found.append((number, line[item.end() if item else 0:].strip()))
            is_open = True
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found


def sentences(prose):
    return [part.lstrip("*•( ") for part in SENTENCE_END.split(ONE_WORD.sub("X", prose)) if part]


def faults(text):
    """["line: what is wrong: the sentence"] of a page."""
    found = []
    for line, prose in paragraphs(text):
        for sentence in sentences(prose):
            count = sum(bool(WORD.match(word.strip("*(\"'"))) for word in sentence.split())
            if count > MOST_WORDS:
                found.append(f"{line}: {count} words: {sentence}")
            found += [f"{line}: '{strange.search(sentence).group()}': {sentence}"
                      for strange in STRANGE if strange.search(sentence)]
    return found


def test_the_pages_are_plain_english():
    found = [f"{path.relative_to(sources.ROOT)}:{fault}" for path in sources.tracked()
             if path.suffix == ".md" and path.name != "CHANGELOG.md" and "corpus" not in path.parts
             for fault in faults(path.read_text())]
    assert not found, f"{len(found)} sentences\n" + "\n".join(found)


@pytest.mark.parametrize("text, words", [
    ("word " * 30 + "end.", "31 words"), ("- a\n  " + "word " * 30, "31 words"),
    ("One. W" + "word " * 29 + "`a b c` [d e](f) 1.5.", "31 words"),
    ("Of unions there is none.", "Of unions there is"),
    ("What of it sticks out is cut.", "What of it"), ("Told by the first field: a plane.", "Told"),
    ("A trace is private, for it holds paths.", ", for it "), ("It ends.", "It"),
    ("Keep the file, lest it be lost.", "lest")])
def test_a_sentence_that_is_not_plain_is_told(text, words):
    (fault,) = faults(text)
    assert fault.startswith("1: ") and words in fault


@pytest.mark.parametrize("text", [
    "word " * 30, "word " * 20 + "end. And " + "word " * 20, "word " * 20 + "`a` " * 10 + "1 2 3",
    "| " + "word " * 40 + "|", "```\n" + "word " * 40 + "\n```", "\n    " + "word " * 40,
    "- a\n- " + "word " * 30, "What is a step?", "Read the page first.", "# " + "word " * 40])
def test_plain_english_passes(text):
    assert not faults(text)

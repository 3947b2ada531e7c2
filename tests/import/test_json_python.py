# SPDX-License-Identifier: Apache-2.0
"""What Python's json takes is taken, with the same values; what it refuses is refused, or is one of
the liberties that doc/formats.md names. The rule of liberties is written here once more, as what
makes JSON of such a text."""
import json
import re
import subprocess

import pytest

pytest.importorskip("hypothesis", reason="needs hypothesis: pip install hypothesis")
from hypothesis import given, strategies as st  # noqa: E402

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers(-2**63, 2**63 - 1) | st.floats(
    allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS,
                      lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner,
                                                                                  max_size=4),
                                                                                  max_leaves=12)
STYLES = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 1]),
                                "separators": st.sampled_from([None, (",", ":"), (" , ", " : ")])})


def trace(values):
    return {"traceEvents": [{"ph": "X", "name": f"n{i}", "cat": "cpu_op", "pid": 1, "tid": 1,
                             "ts": 10 * i, "dur": 1, "args": {"z": value}}
                             for i, value in enumerate(values)]}


def run(varve, path, *words):
    return subprocess.run([varve, *words, path], capture_output=True, text=True, timeout=60,
                          check=False)


def kept(value):
    """Texts hold no NUL: U+FFFD stands for it. Within arrays and objects it stays the escape that
    it is."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


@given(st.lists(VALUES, min_size=1, max_size=40), STYLES)
def test_values_are_those_of_python(varve, tmp_path_factory, values, style):
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(trace(values), **style))
    done = run(varve, path, "export", "--to", "chrome", "-o", "-")
    assert done.returncode == 0, done.stderr
    got = {event["name"]: event["args"]["z"] for event in json.loads(done.stdout)["traceEvents"]
           if event["ph"] == "X"}
    assert got == {f"n{i}": kept(value) for i, value in enumerate(values)}


# ---- what is no JSON ----

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\x00-\x20"\[\]{},:\\]+|[\x00-\x20]+',
                   re.DOTALL)
LISTS = {'"traceEvents"', '"samples"', '"stackFrames"', '"args"'}


def tokens_of(text):
    """None: a backslash outside of a string. A string without end: the text is cut there."""
    found, at = [], 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None and text[at] == '"':
            return [*found, "[", "[", "["] if are_matched(found) else None
        if token is None:
            return None
        if text[at] > " ":
            found.append(token[0])
        at = token.end()
    return found


def are_matched(tokens):
    """Do the brackets match? Those at the end may be missing."""
    opened = []
    for token in tokens:
        if token in "[{":
            opened.append(token)
        elif token in "]}" and (not opened or opened.pop() + token not in ("[]", "{}")):
            return False
    return True


def without_inner(tokens):
    """0 for each array and object but the events, their arguments, and the lists they stand in:
    only brackets and strings of the others are looked at."""
    out, depth, passing = [], 0, None
    for at, token in enumerate(tokens):
        if token in "[{" and passing is None:
            is_list = depth == 0 or tokens[at - 2:at] in ([key, ":"]
                                                          for key in LISTS) or (depth == 2
                                                                                and token == "{")
            passing = None if is_list else depth
        if passing is None:
            out.append(token)
        depth += (token in "[{") - (token in "]}")
        if passing == depth:
            out.append("0")
            passing = None
    return out


def made_json(tokens):
    """The text without the liberties: commas and colons where nothing is to be parted, zeros before
    a number, escapes that JSON has not, words of printf, a missing end."""
    out, opened = [], []
    for token in without_inner(tokens):
        if token in "]}" and out and out[-1] == ",":
            out.pop()
        if token in ",:" and out and out[-1] in ("[", "{", ",", ":"):
            continue
        if token in "[{":
            opened.append("]" if token == "[" else "}")
        elif token in "]}":
            opened.pop()
        token = re.sub(r"^(-?)0+(?=\d)", r"\1", token)
        token = re.sub(r"^-?(nan|inf|NaN|Infinity)$", "0", token)
        if token[0] == '"':
            token = re.sub(r"\\(.)", lambda escape: escape[0] if escape[1] in '"\\/bfnrt' else "0",
                           token, flags=re.DOTALL)
        out.append(token)
    return "".join(out), "".join(reversed(opened))


def is_json(text):
    try:
        json.loads(text, strict=False)
    except ValueError:
        return False
    return True


def may_be_taken(tokens):
    """Is it JSON but for the liberties? An array or object that is cut ends behind its last whole
    element."""
    if tokens is None or not are_matched(tokens):
        return False
    text, close = made_json(tokens)
    return is_json(text + close) or close != ""


EDITS = st.lists(st.tuples(st.floats(0, 1, exclude_max=True),
                           st.sampled_from(["insert", "delete", "replace", "double"]),
                           st.sampled_from('{}[]",:\\ 10-+.eaNtn\n\x01')), min_size=1, max_size=3)


def edited(text, edits):
    for place, kind, letter in edits:
        at = int(place * len(text))
        before, behind = text[:at], text[at + (kind in ("delete", "replace")):]
        text = before + {"insert": letter, "delete": "", "replace": letter,
                         "double": text[at:at + 5]}[kind] + behind
    return text


@given(st.lists(VALUES, min_size=1, max_size=3), STYLES, EDITS)
def test_what_python_refuses_is_refused_or_a_named_liberty(varve, tmp_path_factory, values, style,
                                                           edits):
    text = edited(json.dumps(trace(values), **style), edits)
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(text)
    done = run(varve, path, "info", "--json")
    assert done.returncode in (0, 3), done.stderr
    if done.returncode == 3:
        assert not is_strict(
            text) or "no traceEvents" in done.stderr or "not a trace" in done.stderr, done.stderr
        return
    assert may_be_taken(tokens_of(text)), text


def is_strict(text):
    def refuse(word):
        raise ValueError(word)
    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True

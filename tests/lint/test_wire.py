# SPDX-License-Identifier: Apache-2.0
"""Readers of protobuf messages ask for fields by the names of the .proto files (fields.h), never by
a bare number."""
import re

import pytest
import sources

ROOMS = ("src/import/perfetto/", "src/import/xspace/")
BARE = re.compile(r"""
      \bcase \s+ \d+ \s* :
    # message.number == 4, tag >> 3 == 4, message.number != (is_map ? 3 : 4)
    | (?:\bnumber|>> \s* 3) \s* (?:==|!=|<=|>=|<(?!<)|>(?!>)) \s* (?: \d | \( [^()]* \? \s* \d )
    | \bnumber \s* [/%] \s* \d
    # 4 << 3 | VV_WIRE_BYTES
    | (?<![\w.]) \d+ u? \s* << \s* 3 \b
    # { [3] = "warning" }, { "metadata_id", 1, NUMBER, NULL }, { 1, "ftrace_events" }
    | [{,] \s* \[ \d+ \] \s* =
    | \{ \s* (?: "\w+" \s* , \s* \d | \d+ \s* , \s* " )
""", re.VERBOSE)


@pytest.mark.parametrize("text, expected", [
    ("    case 9:\n", 1), ("    case VV_XLINE_ID:\n", 0), ("    case 'B':\n", 0),
    ("if (message.number == 4)", 1), ("message->number >= 5", 1), ("value.number / 2", 1),
    ("values.number != (type == 1 ? 3 : 4)", 1), ("field.number > VV_XSPACE_HOSTNAMES", 0),
    ("tag >> 3 == 1", 1), ("tag >> 3 == VV_XSPACE_PLANES", 0), ("number << 3", 0),
    ("*at == (4 << 3 | VV_WIRE_BYTES)", 1), ("VV_XLINE_EVENTS << 3 | VV_WIRE_BYTES", 0),
    ('{ [3] = "warning" }', 1), ('{ { 1, "ftrace_events" } }', 1),
    ('{ "id", 1, NUMBER, NULL }', 1)])
def test_a_bare_number_is_told(text, expected):
    assert len(BARE.findall(text)) == expected


def test_fields_are_asked_for_by_name():
    texts = {name: sources.text_of(path) for path in sources.code(".c", ".h")
             if (name := str(path.relative_to(sources.ROOT))).startswith(ROOMS)}
    assert len(texts) > 20
    found = [f"{name}:{text.count(chr(10), 0, bare.start()) + 1}: {bare[0].strip()}"
             for name, text in texts.items() for bare in BARE.finditer(text)]
    assert not found, "\n".join(found)

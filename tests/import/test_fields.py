# SPDX-License-Identifier: Apache-2.0
"""src/import/perfetto/fields.h against the descriptors of Perfetto's own package. XSpace's:
live/test_tensorflow.py."""
import importlib.util
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import wire_fields  # noqa: E402

# Perfetto has since moved it out of the packet; traces have it there.
ONLY_OURS = {"TracePacket.frame_timeline_event"}
# What they are read as (fields.h): messages whose iid and text have the same numbers.
LIKE_A_SOURCE = {"EventCategory": "name", "EventName": "name", "DebugAnnotationName": "name",
                 "InternedString": "str"}


@pytest.fixture(name="theirs")
def fixture_theirs():
    """{message: {field: number}} of a message of Perfetto's, by its name."""
    if importlib.util.find_spec("perfetto") is None:
        pytest.skip("needs perfetto: make check-clients")
    # pylint: disable-next=import-outside-toplevel
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import DESCRIPTOR

    def fields_of(name):
        message = DESCRIPTOR.pool.FindMessageTypeByName(f"perfetto.protos.{name}")
        return {field.name: field.number for field in message.fields}

    return fields_of


def test_each_field_has_perfettos_number(theirs):
    ours = wire_fields.read("perfetto")
    assert sum(map(len, ours.values())) > 100
    assert wire_fields.differences(ours, {name: theirs(name) for name in ours}, ONLY_OURS) == []


@pytest.mark.parametrize("message", LIKE_A_SOURCE)
def test_interned_texts_are_numbered_as_a_source_is(theirs, message):
    source = theirs("SourceLocation")
    assert theirs(message) == {"iid": source["iid"], LIKE_A_SOURCE[message]: source["file_name"]}


def test_packets_that_are_not_read_are_told_by_their_own_name():
    text = (wire_fields.IMPORT / "perfetto" / "perfetto.c").read_text()
    rows = wire_fields.re.findall(r'\{ VV_TRACEPACKET_(\w+), "(\w+)" \}', text)
    assert len(rows) > 20
    assert [row for row in rows if row[0].lower() != row[1]] == []


def test_a_difference_is_told():
    ours = {"A": {"x": 1, "y": 2, "z": 3}}
    assert wire_fields.differences(ours, {"A": {"x": 1, "y": 3}}, {"A.z"}) == ["A.y = 2, not 3"]
    assert wire_fields.differences(ours, {"A": {"x": 1, "y": 2, "z": 3}}, {"A.z"}) == [
        "A.z is theirs, too"]

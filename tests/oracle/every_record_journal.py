# SPDX-License-Identifier: Apache-2.0
"""journal.py: what tests/programs/every_record.c says that it recorded, and a decoder's records in
that form."""
import collections
import json
import struct

NAME_BYTES_MAX = 1023


def expected(stdout):
    """{thread: [(name, fields)]} from the program's standard output."""
    threads = collections.defaultdict(list)
    for line in stdout.decode().splitlines():
        thread, name, fields = line.split(" ", 2)
        fields = json.loads(fields)
        if "text" in fields:
            fields["text"] = kept(fields["text"])
        for argument in fields.get("arguments", []):
            argument.update((name, kept(argument[name])) for name in ("key", "text")
                            if name in argument)
        threads[thread].append((kept(name), fields))
    return dict(threads)


def kept(name_hex):
    """A name as it is recorded: cut, but not inside a letter. What is not UTF-8 shows as U+FFFD."""
    name = bytes.fromhex(name_hex)
    if len(name) > NAME_BYTES_MAX:
        name = name[:NAME_BYTES_MAX].decode("utf-8", "ignore").encode()
    return name.decode("utf-8", "replace")


def past_note(process, fields):
    """The fields of a note, with texts for the ids of strings."""
    fields["text"] = process.strings[fields.pop("name")]
    assert fields.pop("value_count") == len(fields["values"])
    for value in fields["values"]:
        named = len(value["words"]) if value["kind"] == 2 else int(value["kind"] == 5)
        value["key"] = process.strings[value["key"]]
        value["words"] = [process.strings.get(word, "") if index < named else word
                          for index, word in enumerate(value["words"])]
        assert value.pop("word_count") == len(value["words"])
    return fields


def value_of(process, value):
    """An argument with its key's text, and bits for doubles (signed, as %lld prints them)."""
    key = process.strings[value["key"]]
    if "text" in value:
        return {"key": key, "text": value["text"]}
    bits = [struct.unpack("<q", struct.pack("<d", real))[0] for real in value["reals"]]
    return {"key": key, "kind": value["kind"]} | ({"bits": bits} if value["kind"] in (3, 8) else
                                                  {"integers": value["integers"]})


def seen(process, stream):
    """[(name, fields)] of a decoded stream, with names for string ids and bits for doubles."""
    rows = []
    for record in stream.records:
        fields = dict(record.fields)
        if record.name == "varve.begin" and record.kind is None:
            fields["text"] = process.strings[fields.pop("name")]
        elif record.name == "varve.device_counter":
            fields["text"] = process.strings[fields.pop("name")]
            fields["bits"] = struct.unpack("<Q", struct.pack("<d", fields.pop("value")))[0]
        elif record.name in ("varve.activity", "varve.task"):
            name = fields.pop("name")
            fields["text"] = process.strings[name] if name else ""
        elif record.name == "varve.past_range":
            fields["text"] = process.strings[fields.pop("name")]
            fields["subject"] = process.strings.get(fields["subject"], "")
        elif record.name == "varve.past_note":
            fields = past_note(process, fields)
        elif record.name == "varve.trace_point":
            fields |= {key: process.strings.get(fields[key], "")
                       for key in ("name", "operation", "reason")}
        elif record.kind == "counter":
            fields = {"bits": struct.unpack("<Q", struct.pack("<d", fields["value"]))[0]}
        elif "inputs" in fields:
            assert fields.pop("input_count") == len(fields["inputs"])
        elif record.name in ("varve.args", "varve.texts"):
            assert fields.pop("argument_count") == len(fields["arguments"])
            fields["arguments"] = [value_of(process, value) for value in fields["arguments"]]
        elif record.name == "varve.collective":
            assert fields.pop("rank_count") == len(fields["ranks"])
            for name in ("operation", "group"):
                fields[name] = process.strings.get(fields[name], "")
        elif "tensors" in fields:
            assert fields.pop("tensor_count") == len(fields["tensors"])
            for tensor in fields["tensors"]:
                tensor["format"] = process.strings.get(tensor["format"], "")
        rows.append((record.name, fields))
    return rows

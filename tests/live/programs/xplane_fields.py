# SPDX-License-Identifier: Apache-2.0
"""xplane_fields.py — the messages of xplane.proto as TensorFlow's own classes have them.

    xplane_fields.py FOLDER       fields.json: {message: {field: number}}
"""
import json
import pathlib
import sys

from tensorflow.tsl.profiler.protobuf import xplane_pb2


def fields_of(message, outer=""):
    name = outer + message.name
    yield name, {field.name: field.number for field in message.fields}
    for inner in message.nested_types:
        yield from fields_of(inner, f"{name}.")


def main():
    messages = {}
    for message in xplane_pb2.DESCRIPTOR.message_types_by_name.values():
        messages.update(fields_of(message))
    (pathlib.Path(sys.argv[1]) / "fields.json").write_text(json.dumps(messages))


if __name__ == "__main__":
    main()

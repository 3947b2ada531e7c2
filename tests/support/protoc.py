# SPDX-License-Identifier: Apache-2.0
"""Protocol buffers as protoc reads them, by a schema beside the test."""
import codecs
import pathlib
import re
import shutil
import subprocess

import pytest

FIELD = re.compile(r"\s*(\w+)(?:: (.*)| \{)$")


def run(option, message, schema, data):
    if shutil.which("protoc") is None:
        pytest.skip("needs protoc: tools/setup check")
    schema = pathlib.Path(schema)
    done = subprocess.run(["protoc", f"{option}={message}", f"-I{schema.parent}", schema.name],
                          input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def decode_text(message, schema, data):
    return run("--decode", message, schema, data).decode()


def encode(message, schema, text):
    return run("--encode", message, schema, text)


def value_of(text):
    if text.startswith('"'):
        return codecs.escape_decode(text[1:-1].encode())[0].decode(errors="surrogateescape")
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def decode(message, schema, data):
    """{field: [value]} of a message; a message in it is such a dict."""
    stack = [{}]
    for line in decode_text(message, schema, data).splitlines():
        if line.strip() == "}":
            stack.pop()
            continue
        name, value = FIELD.match(line).groups()
        item = {} if value is None else value_of(value)
        stack[-1].setdefault(name, []).append(item)
        if value is None:
            stack.append(item)
    return stack[0]

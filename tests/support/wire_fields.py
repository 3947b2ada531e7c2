# SPDX-License-Identifier: Apache-2.0
"""The fields of protobuf messages as a room's fields.h names them."""
import pathlib
import re

IMPORT = pathlib.Path(__file__).resolve().parents[2] / "src" / "import"
MESSAGE = re.compile(r"enum \{ /\* ([\w.]+) \*/\n((?:    VV_\w+ = \d+,?\n)+)\};")
FIELD = re.compile(r"(VV_\w+) = (\d+)")


def read(room):
    """{message: {field: number}}, the message with those around it, the field in small letters."""
    text = (IMPORT / room / "fields.h").read_text()
    messages = {}
    for message, body in MESSAGE.findall(text):
        prefix = f"VV_{message.rpartition('.')[2].upper()}_"
        names = FIELD.findall(body)
        assert all(name.startswith(prefix) for name, _ in names), (message, names)
        messages[message] = {name.removeprefix(prefix).lower(): int(number)
                             for name, number in names}
    assert sum(map(len, messages.values())) == len(FIELD.findall(text)), "another form of enum"
    return messages


def differences(ours, theirs, only_ours):
    """Fields that they number otherwise, or do not have; `only_ours` names those that they are
    known not to have."""
    found = [f"{message}.{field} = {number}, not {theirs[message].get(field)}"
             for message, fields in ours.items() for field, number in fields.items()
             if theirs[message].get(field) != number and f"{message}.{field}" not in only_ours]
    return found + [f"{name} is theirs, too" for name in sorted(only_ours)
                    if name.rpartition(".")[2] in theirs[name.rpartition(".")[0]]]

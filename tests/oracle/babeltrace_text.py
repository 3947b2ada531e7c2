# SPDX-License-Identifier: Apache-2.0
"""babeltrace_text.py: what babeltrace2 sees in a trace, read from the text that it prints.

Called with one process's folder, because the text of a whole trace glues the folder's name to the
event's.
A record starts with its time in brackets; names are printed raw, so they may hold newlines, and an
empty one as <unknown>."""
import collections
import re
import subprocess

Event = collections.namedtuple("Event", "time_ns tid name fields")

START = re.compile(rb"^(?=\[-?\d+\.\d{9}\] )", re.M)
HEAD = re.compile(rb"\[(\d+)\.(\d{9})\] (.*): \{ tid = (\d+) \}(?:, (\{.*\}))?\n", re.S)
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[\[\]{}=,]|[^\s\[\]{}=,"]+', re.S)


def unescape(text):
    control = dict(zip("abefnrtv", "\a\b\x1b\f\n\r\t\v"))
    return re.sub(r"\\(x[0-9a-f]{2}|.)", lambda m: chr(int(m[1][1:], 16)) if m[1][1:] else
                  control.get(m[1], m[1]), text[1:-1], flags=re.S)


def number(word):
    return int(word, 0) if re.fullmatch(r"-?\d+|0x[0-9A-F]+", word) else float(word)


def value(tokens):
    """`{ a = 1, b = [ [0] = 2 ] }` as {"a": 1, "b": [2]}; takes its tokens off the front."""
    word = tokens.popleft()
    if word[0] == '"':
        return unescape(word)
    if word not in "{[":
        return number(word)
    closing, found = ("}", {}) if word == "{" else ("]", [])
    while tokens[0] != closing:
        if word == "{":
            name = tokens.popleft()
        else:
            name = tokens[1]
            del tokens[0], tokens[0], tokens[0]
            assert int(name) == len(found)
        assert tokens.popleft() == "="
        item = value(tokens)
        found.append(item) if closing == "]" else found.update({name: item})
        if tokens[0] == ",":
            tokens.popleft()
    tokens.popleft()
    return found


def events(babeltrace2, folder):
    command = [babeltrace2, "--clock-seconds", "--no-delta", "--fields=loglevel", folder]
    printed = subprocess.run(command, capture_output=True, check=True)
    for text in START.split(printed.stdout):
        if text:
            seconds, nanoseconds, name, tid, fields = HEAD.fullmatch(text).groups()
            tokens = collections.deque(TOKEN.findall((fields or b"{ }").decode("utf-8", "replace")))
            time_ns = int(seconds) * 10**9 + int(nanoseconds)
            name = "" if name == b"<unknown>" else name.decode("utf-8", "replace")
            yield Event(time_ns, int(tid), name, value(tokens))


def event_count(babeltrace2, trace):
    """The number of event messages in the whole trace, as sink.utils.counter says it in the end."""
    command = [babeltrace2, trace, "-c", "sink.utils.counter"]
    printed = subprocess.run(command, capture_output=True, check=True)
    return int(re.findall(rb"(\d+) Event messages", printed.stdout)[-1])

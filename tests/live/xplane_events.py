# SPDX-License-Identifier: Apache-2.0
"""Events of a profile by line, as a program of programs/ counted them and as Varve read them."""
import collections
import re


def ours(tables, absolute=True):
    """Counter of (line, full name, begin, duration) of the slices, in ns."""
    begin = 0
    if not absolute:
        begin = next(fact["value"] for fact in tables["facts"]
                     if fact["key"] == "profile_start_time")
    found = collections.Counter()
    for row in tables["slices"]:
        line = tables["tracks"][row["track"]]["name"]
        name = dict(row["args"]).get("long_name", row["name"])
        found[line, name, row["begin_ns"] - begin, row["duration_ns"]] += 1
    return found


def of_viewer(events):
    """Counter of (line, name, begin, duration) of the host's events in xprof's viewer, less what it
    derives:
    regions between two marks of a thread pool, and the number that it puts behind the name of a
    step."""
    lines = {event["tid"]: event["args"]["name"] for event in events
             if event.get("name") == "thread_name" and event["pid"] == 701}
    return collections.Counter(
        (lines[event["tid"]], re.sub(r"^train \d+$", "train", event["name"]),
         round(event["ts"] * 1000), round(event.get("dur", 0) * 1000))
        for event in events if event.get("ph") in ("X", "i") and event["pid"] == 701
        and event["name"] != "ThreadpoolListener::Region")


def arguments(tables):
    """{(line, full name, begin): {key: text}} of the slices."""
    begin = next(fact["value"] for fact in tables["facts"] if fact["key"] == "profile_start_time")
    return {(tables["tracks"][row["track"]]["name"],
             dict(row["args"]).get("long_name", row["name"]),
             row["begin_ns"] - begin): {key: str(value) for key, value in row["args"]}
             for row in tables["slices"]}

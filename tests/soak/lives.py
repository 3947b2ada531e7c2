# SPDX-License-Identifier: Apache-2.0
"""Runs tests/programs/lives.c and holds what it noted down against the traces that it left."""
import collections
import pathlib
import struct
import subprocess

import varve_decode

SESSIONS, ENTRIES = 256, 65536
HEAD, SESSION, ENTRY = struct.Struct("<IIIi496s"), struct.Struct("<60sI"), struct.Struct("<IIHHBBH")
JOURNAL_BYTES = HEAD.size + SESSIONS * SESSION.size + ENTRIES * ENTRY.size
REMOVED, MAY_LOSE = 1, 2
BEGUN, ACKNOWLEDGED = 1, 2

Session = collections.namedtuple("Session", "place flags")
Entry = collections.namedtuple("Entry", "pid tid before after state is_unsure kind")
Journal = collections.namedtuple("Journal", "failures status first_failure sessions entries")
# Of one life, or of many: records acknowledged where one is recorded, found, counted as lost, in
# the traces of removed names
Outcome = collections.namedtuple("Outcome", "acknowledged found lost gone traces processes")


def read_journal(path):
    data = path.read_bytes()
    entries, sessions, failures, status, first = HEAD.unpack_from(data)
    table = [Session(place.partition(b"\0")[0].decode(), flags) for place, flags in
             SESSION.iter_unpack(data[HEAD.size:HEAD.size +
                                      min(sessions + 1, SESSIONS) * SESSION.size])]
    begin = HEAD.size + SESSIONS * SESSION.size
    noted = [
        Entry(*fields)
        for fields in ENTRY.iter_unpack(data[begin:begin + min(entries, ENTRIES) * ENTRY.size])
    ]
    return Journal(failures, status, first.rstrip(b"\0").decode(errors="replace"), table, noted)


def value_of(record, strings):
    """The number of the entry that a record of lives.c carries, or None."""
    fields = record.fields
    if record.kind == "counter":
        return int(fields["value"])
    if record.kind in ("async_begin", "async_end", "flow_out", "flow_in"):
        return fields["id"]
    if record.id in (11, 12):
        return fields["address"]
    if record.id == 8:
        return fields["flop"]
    if record.id == 9:
        return fields["index"]
    if record.id == 7:
        return int(strings[fields["name"]].removeprefix("entry "))
    return None


def values_in(process):
    """(value, tid) of each record of a process that carries one."""
    for stream in process.streams:
        if stream.kind == "thread":
            for record in stream.records:
                value = value_of(record, process.strings)
                if value is not None:
                    yield value, stream.tid


LOST_PAGE = (b"VRVELOST" + (1).to_bytes(4, "little")).ljust(4096, b"\0")


def may_be_in(entry, place, sessions):
    """Sessions are numbered as they begin: one whose record met a change may be in any of those it
    met. 0: none ran then, after however many."""
    if not entry.is_unsure:
        return entry.before != 0 and sessions[entry.before].place == place
    last = entry.after or len(sessions) - 1
    return any(session.place == place
               for session in sessions[max(1, min(entry.before, entry.after)):last + 1])


def check_process(process, place, journal, found):
    """Nothing is here that did not happen here."""
    its_sessions = set()
    for value, tid in values_in(process):
        assert 1 <= value <= len(
            journal.entries), f"{place}/{process.name}: value {value} was never recorded"
        entry = journal.entries[value - 1]
        where = f"{place}/{process.name}: entry {value - 1} {entry}"
        assert entry.state in (BEGUN, ACKNOWLEDGED), where
        assert value not in found, f"{where} twice"
        assert (entry.pid, entry.tid) == (int(process.name.partition(".")[0]), tid), where
        assert may_be_in(entry, place, journal.sessions), f"{where} {journal.sessions}"
        found.add(value)
        if not entry.is_unsure:
            its_sessions.add(entry.before)
    assert len(its_sessions) <= 1, f"{place}/{process.name}: records of sessions {its_sessions}"


def traces_of(folder):
    """The traces in a folder. A folder without metadata is none: nobody has recorded there, or was
    killed before the metadata was whole. A record acknowledged by then is missing, and counted
    nowhere."""
    return sorted(path for path in pathlib.Path(folder).glob("*.varve*")
                  if list(path.glob("*/metadata")))


def check_traces(folder, journal):
    """(values found, {place: lost}, processes); every trace reads whole."""
    found, lost, processes = set(), {}, 0
    for path in traces_of(folder):
        trace = varve_decode.open_trace(path)
        problems = [problem for problem in trace.problems if not problem.is_cut]
        assert problems == [], problems[:3]
        for process in trace.processes:
            check_process(process, path.name, journal, found)
        lost[path.name] = varve_decode.counts(trace)["lost"]
        processes += len(trace.processes)
    return found, lost, processes


def check(folder, journal):
    found, lost, processes = check_traces(folder, journal)
    missing, acknowledged, gone = collections.Counter(), 0, 0
    for number, entry in enumerate(journal.entries):
        if entry.state != ACKNOWLEDGED or entry.is_unsure or entry.before == 0:
            continue
        session = journal.sessions[entry.before]
        acknowledged += 1
        if session.flags & REMOVED:
            gone += 1
        elif number + 1 not in found:
            missing[session.place] += 1
    for place, count in missing.items():
        assert count <= lost.get(
            place, 0
        ), f"{place}: {count} acknowledged are not there, {lost.get(place)} are counted as lost"
    # met a change of sessions: what they lack may be counted
    unsure = sum(entry.is_unsure for entry in journal.entries)
    for session in journal.sessions[1:]:
        may_lose = any(other.flags & MAY_LOSE for other in journal.sessions
                       if other.place == session.place)
        assert may_lose or lost.get(session.place,
                                    0) <= unsure, f"{session.place}: {lost[session.place]} lost"
    return Outcome(acknowledged, len(found), sum(lost.values()), gone, len(lost), processes)


def live(program, folder, seed, environment, timeout=120):
    """One life in an empty folder. AssertionError: it is not as it should be."""
    folder = pathlib.Path(folder)
    path, traces = folder / "journal", folder / "traces"
    traces.mkdir()
    with open(path, "wb") as file:
        file.truncate(JOURNAL_BYTES)
    environment = dict(environment)
    if seed % 4 == 3:
        (traces / "env.varve").mkdir()
        (traces / "env.varve" / "lost").write_bytes(LOST_PAGE)  # as `varve record` makes it
        (traces / "env.varve" / "lost").chmod(0o600)
        environment["VARVE_OUTPUT"] = str(traces / "env.varve")
    done = subprocess.run([program, str(seed), path, traces], env=environment, cwd=folder,
                          timeout=timeout, check=False, stdin=subprocess.DEVNULL,
                          capture_output=True)
    journal = read_journal(path)
    assert (done.stdout, done.stderr) == (b"", b""), (seed, done)
    assert journal.failures == 0, (seed, journal.first_failure)
    assert done.returncode == journal.status, (seed, "ended with", done.returncode, "not",
                                               journal.status)
    try:
        return check(traces, journal)
    except (AssertionError, varve_decode.TraceError) as error:
        raise AssertionError(f"life {seed}: {error}") from error

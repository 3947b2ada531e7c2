# SPDX-License-Identifier: Apache-2.0
"""varve export --to chrome: what is written, and what other people's readers make of it
(doc/chrome.md)."""
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position

US = 1000  # readers that count in whole microseconds see these times exactly
ODD_NAMES = ['quote " backslash \\ end', "line\nbreak\tand\x01control", "naïve 数 🜚"]


def export(varve, path, output, *arguments):
    return subprocess.run([str(varve), "export", "--to", "chrome", "-o", str(output), *arguments,
                           str(path)],
                          capture_output=True, text=True, check=False)


ARGUMENTS = {"int": -3, "real": 0.1, "text": "é\"\n", "yes": True, "no": False, "none": None,
             "list": [1, [2, {"x": "y z"}]], "object": {"k": [1.5, None]}, "big": 2**70,
             "grid": [4, 1, 1]}


@pytest.mark.parametrize("kept", ['["a\\u0001b"]', '["a\tb"]'], ids=["escaped", "raw"])
def test_arguments_without_a_column_are_written_as_they_were_read(varve, tmp_path, kept):
    """A text of an array may hold what strict readers refuse: it is escaped."""
    place = {"pid": 1, "tid": 1, "ts": 1}
    events = [{"ph": "X", "name": "a", "cat": "cpu_op", "dur": 5, **place,
               "args": {**ARGUMENTS, "layer": "OP", "odd": [0]}},
              {"ph": "i", "name": "m", "s": "t", **place, "args": {"why": "because"}}]
    text = json.dumps({"traceEvents": events}).replace('"odd": [0]', f'"odd": {kept}')
    (tmp_path / "read.json").write_text(text, encoding="utf-8")
    assert export(varve, tmp_path / "read.json", tmp_path / "written.json",
                  "--no-cache").returncode == 0
    written = {event["name"]: event["args"] for event in
               json.loads((tmp_path / "written.json").read_text(encoding="utf-8"))["traceEvents"]
               if event["ph"] in "Xi"}
    assert {key: written["a"][key] for key in ARGUMENTS} == ARGUMENTS
    assert written["a"]["odd"] in (["a\1b"], ["a\tb"])
    assert written["m"]["why"] == "because"


def test_no_name_occurs_twice_in_arguments(varve, tmp_path):
    """What was read twice, as a text and as something else, is written once; alone it stays."""
    names = {"Call stack": '"a.py(1): f"', "Module Hierarchy": '"net"', "Concrete Inputs": '["1"]'}
    begin = '{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "dur": 5, '
    twice = ", ".join(f'"{name}": {text}, "{name}": 7' for name, text in names.items())
    alone = ", ".join(f'"{name}": 7' for name in names)
    (tmp_path / "read.json").write_text(
        f'{{"traceEvents": [{begin}"name": "twice", "ts": 1, "args": {{{twice}}}}}, '
        f'{begin}"name": "alone", "ts": 9, "args": {{{alone}}}}}]}}', encoding="utf-8")
    assert export(varve, tmp_path / "read.json", tmp_path / "written.json",
                  "--no-cache").returncode == 0
    found = []
    json.loads((tmp_path / "written.json").read_text(encoding="utf-8"),
               object_pairs_hook=lambda pairs: found.append(pairs) or dict(pairs))
    told = {key: [name for name, _ in dict(event)["args"].items() if name in names]
            for event in found for key in [dict(event).get("name")] if key in ("twice", "alone")}
    assert {key: sorted(told[key]) for key in told} == {
        "twice": sorted(names), "alone": sorted(names)}
    assert all(len(pairs) == len(dict(pairs)) for pairs in found)


def rich_trace(folder):
    """Every kind of record, two threads, two steps; returns the path and what the export must
    hold."""
    trace = trace_writer.Trace(folder / "rich.varve", trace_writer.manifest())
    process = trace.process(pid=100)
    process.name("rich program")
    process.thread_name(100, "main")
    odd = [process.site("begin", name) for name in ODD_NAMES]
    forward = process.site("begin", "forward", layer="STEP", file="train.c", line=7)
    conv, conv_backward = process.site("begin", "conv2d"), process.site("begin", "conv2d_backward")
    launch = process.site("begin", "launch", layer="RUNTIME")
    call = process.site("begin", "call.py: f", layer="PYTHON")
    mark, loss = process.site("mark", "saved"), process.site("counter", "loss", layer="METRIC")
    out, into = process.site("flow_out", "batch"), process.site("flow_in", "batch")
    async_begin, async_end = process.site("async_begin", "copy"), process.site("async_end", "copy")
    main, worker = process.thread(tid=100), process.thread(tid=101)
    for step in range(3):
        at = (1000 + step * 1000) * US
        main.step_begin(step, at)
        main.begin(forward, at + 10 * US)
        main.begin(conv, at + 20 * US)
        main.op([("f32", [32, 1, 28, 28]), ("bf16", []), ("i64", [3])], at + 21 * US, flop=640,
                size=99, sequence=5)
        main.alloc(0x1000 + step, 4096, at + 22 * US)
        main.mark(mark, at + 30 * US)
        main.end(at + 60 * US)
        main.end(at + 70 * US)
        main.begin(launch, at + 80 * US)
        main.pair(out, step, at + 85 * US)
        main.end(at + 90 * US)
        main.counter(loss, 2.5 - step, at + 95 * US)
        main.free(0x1000 + step, at + 96 * US)
        main.begin(conv_backward, at + 100 * US)
        main.op([], at + 101 * US, sequence=5, forward_tid=100)
        main.end(at + 150 * US)
        main.step_end(at + 200 * US)
        worker.begin(call, at + 40 * US)
        worker.pair(into, step, at + 110 * US)
        worker.end(at + 190 * US)
        for number in (0, 1):
            main.pair(async_begin, 10 * step + number, at + (210 + 10 * number) * US)
        for number in (0, 1):
            main.pair(async_end, 10 * step + number, at + (300 + 10 * number) * US)
    for index, site in enumerate(odd):
        main.begin(site, (5000 + 10 * index) * US)
    counts = {"slices": 3 * (1 + 1 + 1 + 1 + 1 + 1 + 2) + 3, "flows": 3 + 3,
              "instants": 3 * (1 + 2), "counters": 3}
    return trace.write(), counts


@pytest.fixture
def rich(varve, tmp_path):
    path, counts = rich_trace(tmp_path)
    output = tmp_path / "rich.json"
    done = export(varve, path, output)
    assert done.returncode == 0, done.stderr
    document = json.loads(output.read_text())
    return output, document, counts, done.stderr, path


def by_phase(document):
    found = collections.defaultdict(list)
    for event in document["traceEvents"]:
        found[event["ph"]].append(event)
    return found


def test_counts_equal_what_was_recorded(rich, varve):
    _, document, counts, said, path = rich
    events = by_phase(document)
    assert len(events["X"]) == counts["slices"]
    assert len(events["s"]) == len(events["f"]) == counts["flows"]
    assert len(events["i"]) == counts["instants"]
    assert len(events["C"]) == counts["counters"]
    info = table_reader.tables(varve, "info", path)["trace"][0]
    assert document["varve"]["events"] == info["events"]
    assert info["slices"] == counts["slices"]
    assert re.fullmatch(r"varve: wrote \S+/rich\.json  [\d.]+ kB  27 slices  6 flows  3 marks  3 "
                        r"counter values  "
                        r"6 memory events\n", said), said


def test_keys_stand_in_order_and_events_on_lines(rich):
    output, document, _, _, _ = rich
    assert list(document)[:3] == ["schemaVersion", "deviceProperties", "distributedInfo"]
    assert list(document)[-3:] == ["baseTimeNanoseconds", "traceEvents", "varve"]
    text = output.read_text()
    assert '"distributedInfo": {"backend": "", "rank": 0, "world_size": 1},' in text
    lines = [line for line in text.splitlines() if line.startswith('{"ph"')]
    assert len(lines) == len(document["traceEvents"])
    for line in lines:
        assert re.search(r'"ts": \d+\.\d{3}[,}]', line), line
        assert not line.startswith('{"ph": "X"') or re.search(r'"dur": \d+\.\d{3},', line), line


def test_times_are_exact(rich):
    _, document, _, _, _ = rich
    assert document["baseTimeNanoseconds"] == trace_writer.EPOCH_NS
    convs = [event for event in by_phase(document)["X"] if event["name"] == "conv2d"]
    assert [(event["ts"], event["dur"]) for event in convs] == [(1020.0, 40.0), (2020.0, 40.0),
                                                                (3020.0, 40.0)]


def test_arguments_are_those_of_pytorch(rich):
    _, document, _, _, _ = rich
    slices = {event["name"]: event for event in by_phase(document)["X"]}
    arguments = slices["conv2d"]["args"]
    assert slices["conv2d"]["cat"] == "cpu_op"
    assert arguments["Input Dims"] == [[32, 1, 28, 28], [], [3]]
    assert arguments["Input type"] == ["float", "c10::BFloat16", "long int"]
    assert (arguments["flop"], arguments["bytes"]) == (640, 99)
    assert (arguments["Sequence number"], arguments["Fwd thread id"]) == (5, 0)
    assert slices["conv2d_backward"]["args"]["Fwd thread id"] == 100
    assert slices["forward"]["args"]["source"] == "train.c"
    assert {name: slices[name]["cat"] for name in ("ProfilerStep#0", "forward", "launch",
                                                   "call.py: f")} == {
        "ProfilerStep#0": "user_annotation", "forward": "user_annotation",
        "launch": "privateuse1_runtime", "call.py: f": "python_function"}
    assert slices[ODD_NAMES[0]]["args"]["finished"] == "false"
    assert len({event["args"]["External id"] for event in by_phase(document)["X"]}) == 27
    memory = [event for event in by_phase(document)["i"] if event["name"] == "[memory]"]
    assert [event["args"]["Total Allocated"] for event in memory] == [4096, 0] * 3
    assert memory[0]["args"] == {"Total Allocated": 4096, "Bytes": 4096, "Addr": 0x1000,
                                 "Device Id": -1, "Device Type": 0}


def test_slices_of_a_row_nest_and_numbers_are_in_range(rich):
    _, document, _, _, _ = rich
    rows = collections.defaultdict(list)
    for event in document["traceEvents"]:
        assert 0 < event["pid"] < 2**32 and 0 < event["tid"] < 2**32
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            rows[event["pid"], event["tid"]].append((begin, -round(event["dur"] * 1000)))
    assert len(rows) == 4
    for items in rows.values():
        ends = []
        for begin, minus_duration in sorted(items):
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or begin - minus_duration <= ends[-1]
            ends.append(begin - minus_duration)
    names = {event["args"]["name"] for event in by_phase(document)["M"]
             if event["name"] == "thread_name"}
    assert {"main", "copy (async)"} < names


def test_forward_leads_to_backward_at_their_own_ts(rich):
    _, document, _, _, _ = rich
    events = by_phase(document)
    ends = {(event["cat"], event["name"], event["id"], event["ph"]): event
            for event in events["s"] + events["f"]}
    assert len(ends) == 12
    for number in (1, 2, 3):
        start, arrival = (ends["fwdbwd", "fwdbwd", number, phase] for phase in "sf")
        assert start["ts"] == 20 + 1000 * number and arrival["ts"] == 100 + 1000 * number
        assert arrival["bp"] == "e"


def backward_arrows(varve, path):
    """{(begin of the forward operator, of the backward one)} of the exported arrows, in nanoseconds
    of the clock, and how many there are."""
    document = json.loads(export(varve, path, "-", "--no-cache").stdout)
    ends = {(event["id"], event["ph"]): document["baseTimeNanoseconds"] + round(event["ts"] * 1000)
            for event in document["traceEvents"] if event.get("cat") == "fwdbwd"}
    count = len(ends) // 2
    return {(ends[number, "s"], ends[number, "f"]) for number in range(1, count + 1)}, count


def backward_links(varve, path):
    """The same pairs by table `links`."""
    rows = table_reader.tables(varve, "report", "--no-cache", "--top", "0", "--table", "links",
                               path)["links"]
    begin_ns = table_reader.tables(varve, "info", "--no-cache", path)["trace"][0]["begin_ns"]
    links = [(begin_ns + row["forward_at_ns"], begin_ns + row["backward_at_ns"]) for row in rows
             if row["row"] == "link"]
    return set(links), len(links)


@pytest.mark.parametrize("name, drawn, count", [
    ("kineto/resnet50_workers0", 0, 1068), ("dlrm8/rank0", 0, 38), ("hta/sampled_rank0", 0, 91),
    ("hta/ns_resolution", 905, 905), ("hta/cpu_only_rank34", 55, 55), ("hta/mi250_minitoy", 4, 4)])
def test_arrows_lead_to_backward_operators_as_links_does(varve, traces, tmp_path, name, drawn,
                                                         count):
    path = traces / f"{name}.json.gz"
    with gzip.open(path) as file:
        document = json.load(file, parse_float=str)
    arrows, arrow_count = backward_arrows(varve, path)
    assert arrow_count == count
    assert (arrows, arrow_count) == backward_links(varve, path)
    kept = [event for event in document["traceEvents"] if event.get("cat") != "fwdbwd"]
    assert len(document["traceEvents"]) - len(kept) == 2 * drawn
    document["traceEvents"] = kept
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(document))
    assert backward_arrows(varve, bare) == (arrows, count)


def test_perfetto_reads_the_same(rich, perfetto_query, tmp_path):
    output, _, counts, _, _ = rich

    def ask(*arguments):
        done = subprocess.run([*perfetto_query, *arguments], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)
    stats = ask("--stats", str(output))
    assert stats["errors"] == []
    assert stats["counts"]["slices"] == counts["slices"] + counts["instants"]
    assert stats["counts"]["flows"] == counts["flows"]
    assert stats["counts"]["counter_samples"] == counts["counters"]
    assert (stats["counts"]["processes"], stats["counts"]["threads"]) == (1, 4)
    arrows = ask(
        str(output),
        "SELECT a.name AS departs, b.name AS arrives, COUNT(*) AS n FROM flow f JOIN slice a ON "
        "f.slice_out = a.id JOIN slice b ON f.slice_in = b.id GROUP BY 1, 2 ORDER BY 1, 2")
    # The worker's call began before the launch: Perfetto turns such an arrow round.
    assert [tuple(row.values()) for row in arrows] == [("call.py: f", "launch", 3),
                                                       ("conv2d", "conv2d_backward", 3)]
    named = ask(str(output), "SELECT name FROM slice WHERE dur >= 0 ORDER BY ts, dur DESC")
    # Perfetto 52 shows the escape of a control character as it stands; Python's json above reads it
    # back.
    shown = [name.translate({byte: f"\\u{byte:04x}" for byte in range(32)}) for name in ODD_NAMES]
    assert set(shown) <= {row["name"] for row in named}
    depth = ask(str(output), "SELECT DISTINCT depth FROM slice WHERE name = 'conv2d'")
    assert [row["depth"] for row in depth] == [2]


def test_hta_loads_it(rich, hta):
    output, document, _, _, _ = rich
    analysis = hta(trace_files={0: str(output)})
    frame = analysis.t.get_trace(0)
    # Of several steps HTA leaves the last one out, and all that begins with it or later.
    last = max(event["ts"] for event in by_phase(document)["X"]
               if event["name"].startswith("ProfilerStep"))
    expected = sum(event["ts"] < last for event in by_phase(document)["X"])
    assert len(frame) == expected
    assert analysis.t.get_iterations(0) == [0, 1]
    dims = frame["input_dims"].map(str)
    assert dims.str.contains("32, ?1, ?28, ?28").sum() == 2


# ---- the command ----

def small(tmp_path):
    trace = trace_writer.Trace(tmp_path / "small.varve")
    process = trace.process(pid=100)
    thread = process.thread(tid=100)
    site = process.site("begin", "conv")
    thread.begin(site, 10)
    thread.end(20)
    return trace.write()


def test_nanoseconds_are_kept(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "exact.varve")
    process = trace.process(pid=100)
    site, thread = process.site("begin", "op"), process.thread(tid=100)
    times = [(1, 2), (1003, 1999), (10**9 + 7, 10**9 + 7 + 123456789)]
    for begin, end in times:
        thread.begin(site, begin)
        thread.end(end)
    done = export(varve, trace.write(), "-")
    found = re.findall(r'"ts": (\d+)\.(\d{3}), "dur": (\d+)\.(\d{3}),', done.stdout)
    assert [(int(a + b), int(c + d)) for a, b, c, d in found] == [(begin, end - begin)
                                                                  for begin, end in times]


def test_without_a_name_the_file_is_called_after_the_trace(varve, tmp_path):
    path = small(tmp_path)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for attempt in range(2):
        done = subprocess.run([str(varve), "export", str(path)], cwd=folder, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0 and done.stdout == ""
        assert done.stderr.startswith("varve: wrote small.json  ")
        assert ("(former: small.json.old)" in done.stderr) == (attempt == 1)
    assert sorted(item.name for item in folder.iterdir()) == ["small.json", "small.json.old"]


def test_a_dash_is_standard_output(varve, tmp_path):
    done = export(varve, small(tmp_path), "-")
    assert done.returncode == 0 and done.stderr == ""
    assert by_phase(json.loads(done.stdout))["X"][0]["name"] == "conv"


@pytest.mark.parametrize("name, code, says", [
    ("out.json.gz", 2, "does not compress"),
    ("no/such/folder.json", 4, "cannot write"),
    ("folder", 4, "it is a folder"),
])
def test_what_cannot_be_written_is_said(varve, tmp_path, name, code, says):
    path = small(tmp_path)
    (tmp_path / "folder").mkdir()
    done = export(varve, path, tmp_path / name)
    assert done.returncode == code
    assert done.stderr.startswith("varve: ") and says in done.stderr
    assert sorted(item.name for item in tmp_path.iterdir()) == ["folder", "small.varve"]


def test_a_link_is_written_through(varve, tmp_path):
    path = small(tmp_path)
    (tmp_path / "link.json").symlink_to("target.json")
    for _ in range(2):
        assert export(varve, path, tmp_path / "link.json").returncode == 0
        assert (tmp_path / "link.json").is_symlink()
        assert by_phase(json.loads(
            (tmp_path / "target.json").read_text()))["X"][0]["name"] == "conv"


def test_a_full_disk_is_said(varve, tmp_path):
    done = export(varve, small(tmp_path), "/dev/full")
    assert done.returncode == 4
    assert "No space left" in done.stderr


def test_an_empty_trace_is_a_valid_file(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "empty.varve")
    trace.process(pid=100).thread(tid=100)
    output = tmp_path / "empty.json"
    done = export(varve, trace.write(), output)
    assert done.returncode == 0, done.stderr
    assert "no slices" in done.stderr
    assert by_phase(json.loads(output.read_text()))["X"] == []


def test_flows_and_values_that_cannot_be_written_are_counted(varve, tmp_path):
    trace = trace_writer.Trace(tmp_path / "odd.varve")
    process = trace.process(pid=100)
    out, into = process.site("flow_out", "arrow"), process.site("flow_in", "arrow")
    loss, op = process.site("counter", "loss"), process.site("begin", "op")
    thread = process.thread(tid=100)
    thread.pair(out, 1, 10)
    thread.begin(op, 20)
    thread.pair(into, 1, 30)
    thread.counter(loss, float("nan"), 35)
    thread.counter(loss, float("inf"), 36)
    thread.counter(loss, 1.5, 37)
    thread.end(40)
    output = tmp_path / "odd.json"
    done = export(varve, trace.write(), output)
    document = json.loads(output.read_text())
    assert document["varve"]["flows_left_out"] == 1
    assert document["varve"]["counter_values_left_out"] == 2
    assert len(by_phase(document)["C"]) == 1
    assert "left out 1 flow that" in done.stderr and "left out 2 counter values that" in done.stderr

# SPDX-License-Identifier: Apache-2.0
"""varve validate: each rule is broken once by hand, and the counts on real traces are those of the
consumers."""
import collections
import copy
import gzip
import json
import subprocess

import pytest

LAUNCH = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 11,
          "ts": 100.0, "dur": 5, "args": {"External id": 1, "correlation": 7}}
KERNEL = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 110.5, "dur": 20.25,
          "args": {"External id": 1, "correlation": 7, "device": 0, "stream": 7}}
OPERATOR = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 10, "tid": 11, "ts": 90,
            "dur": 30, "args": {"External id": 1}}
STEP = {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 10, "tid": 11,
        "ts": 80, "dur": 100, "args": {"External id": 2}}
FLOW = [{"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 7, "pid": 10, "tid": 11, "ts": 100},
        {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 7, "pid": 0, "tid": 7, "ts": 110.5,
         "bp": "e"}]
WAIT = {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 9, "ts": 140,
        "dur": 1, "args": {"cuda_sync_kind": "Stream Wait Event", "stream": 9, "device": 0,
                           "correlation": 9,
                 "wait_on_cuda_event_record_corr_id": 8}}
RECORD = {"ph": "X", "cat": "cuda_runtime", "name": "cudaEventRecord", "pid": 10, "tid": 11,
          "ts": 120, "dur": 1, "args": {"External id": 3, "correlation": 8}}
SYNC = {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 1000007, "ts": 131,
        "dur": 1, "args": {"cuda_sync_kind": "Stream Sync", "stream": 7, "device": 0,
                           "correlation": 10}}
BACKWARD = {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: MmBackward0",
            "pid": 10, "tid": 12, "ts": 150, "dur": 5,
            "args": {"External id": 4, "Sequence number": 5}}
COMMS = {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 10, "tid": 12, "ts": 160,
         "dur": 5, "args": {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 4,
                            "Out msg nelems": 4,
                  "Group size": 2}}
GOOD = [LAUNCH, KERNEL, OPERATOR, STEP, *FLOW, WAIT, RECORD, SYNC, BACKWARD, COMMS]


def trace(events, **more):
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3},
            "traceEvents": events, **more}


@pytest.fixture(name="validate")
def run_validate(varve, tmp_path):
    """validate(text or object) gives (exit status, {rule: row})."""
    def command(content, name="a.pt.trace.json", *words):
        path = tmp_path / name
        if isinstance(content, (dict, list)):
            content = json.dumps(content).encode()
        path.write_bytes(content)
        done = subprocess.run([varve, "validate", "--json", *words, path], capture_output=True,
                              text=True, check=False, timeout=240)
        assert done.returncode in (0, 1), done.stderr
        table = json.loads(done.stdout)["tables"]["findings"]
        names = [column["name"] for column in table["columns"]]
        rows = [dict(zip(names, row)) for row in table["rows"]]
        return done.returncode, {row["rule"]: row for row in rows}
    return command


def test_a_good_trace_breaks_nothing(validate):
    assert validate(trace(GOOD)) == (0, {})


def changed(index, **members):
    """GOOD with one event changed: a member set to None is left out, `args` are merged."""
    events = copy.deepcopy(GOOD)
    for key, value in members.items():
        if value is None:
            del events[index][key]
        elif key == "args":
            events[index]["args"].update(value)
        else:
            events[index][key] = value
    return events


def without_arg(index, key):
    events = copy.deepcopy(GOOD)
    del events[index]["args"][key]
    return events


BROKEN = {
    "step_name": (1, changed(3, name="ProfilerStep 3"), 3),
    "time_is_text": (1, changed(2, ts="90"), 2),
    "no_name": (1, changed(9, name=None), 9),
    "no_category": (1, changed(2, cat=None), 2),
    "no_duration": (0, GOOD + [{**OPERATOR, "ts": 500, "dur": None}], 11),
    "overlap": (0, GOOD + [{**OPERATOR, "ts": 150, "dur": 60}], 11),
    "tid": (0, GOOD + [{**OPERATOR, "tid": 0}], 11),
    "pid": (0, GOOD + [{**OPERATOR, "pid": -1}], 11),
    "flow_end": (0, changed(5, id=8), 5),
    "flow_track": (0, changed(4, tid="11"), 4),
    "no_end": (0, GOOD + [{"ph": "B", "name": "b", "cat": "c", "pid": 10, "tid": 11, "ts": 300}],
               11),
    "no_begin": (0, GOOD + [{"ph": "E", "name": "b", "cat": "c", "pid": 10, "tid": 11, "ts": 300}],
                 11),
    "negative": (0, GOOD + [{**OPERATOR, "ts": -5, "dur": 1}], 11),
    "precision": (0, changed(2, ts=5e12 + 0.125), 2),
    "pid_twice": (0, GOOD + [{**KERNEL, "pid": 10, "tid": 70, "args": {"device": 1, "stream": 70}}],
                  11),
    "short_kernel": (0, GOOD + [{**KERNEL, "ts": 200.25, "dur": 0.5,
                                 "args": {"device": 1, "stream": 7}}], 11),
    "kernel_before_launch": (1, changed(1, ts=70, dur=20.5), 1),
    "wait_without_record": (1, changed(6, args={"wait_on_cuda_event_record_corr_id": -1}), 6),
    "wait_on_future": (1, changed(7, ts=150), 6),
    "sync_overlap": (1, changed(8, ts=120), 8),
    "comms_metadata": (1, without_arg(10, "Group size"), 10),
    "sequence_twice": (1, GOOD + [{**BACKWARD, "ts": 170,
                                   "name": "autograd::engine::evaluate_function: AddBackward0"}],
                       9),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_each_rule_is_broken_alone(validate, rule):
    status, events, first = BROKEN[rule]
    events = [{key: value for key, value in event.items() if value is not None} for event in events]
    found_status, found = validate(trace(events))
    assert list(found) == [rule]
    assert found_status == status
    assert (found[rule]["count"], found[rule]["first_event"]) == (1, first)
    text = json.dumps(trace(events))
    begin = found[rule]["first_offset_bytes"]
    assert json.JSONDecoder().raw_decode(text[begin:])[0] == events[first]


def test_rules_about_the_text(validate):
    good = json.dumps(trace(GOOD)).encode()
    assert list(validate(good, "a.pt.trace.txt")[1]) == ["file_name", "plugin_file_name"]
    assert list(validate(good, "a.json")[1]) == ["plugin_file_name"]
    assert list(validate(good.replace(b'"rank": 3', b'"rank":3'))[1]) == ["rank"]
    status, found = validate(good.replace(b"aten::mm", b"aten:\tmm"))
    assert (status, list(found)) == (1, ["control_character"])
    assert found["control_character"]["first_offset_bytes"] == good.index(b"aten::mm") + 5
    status, found = validate(good.replace(b"aten::mm", b"aten\xff::mm"))
    assert (status, list(found)) == (1, ["utf8"])
    assert found["utf8"]["first_offset_bytes"] == good.index(b"aten::mm") + 4
    status, found = validate(good[:-30])
    assert (status, list(found)) == (1, ["cut"])
    status, found = validate(good.replace(b'"dur": 30', b'"dur": NaN'))
    assert status == 1 and found["not_json"]["first_offset_bytes"] == good.index(b'"dur": 30') + 7
    status, found = validate(json.dumps(GOOD).encode())
    assert (status, list(found)) == (1, ["no_trace_events"])
    status, found = validate(json.dumps(GOOD).encode()[:-1])
    assert (status, list(found)) == (1, ["cut", "no_trace_events"])
    assert found["cut"]["consumers"] == "hta, tensorboard, pytorch"
    empty = trace(GOOD + [{}])
    assert list(validate(empty)[1]) == ["no_name", "empty_event"]


def test_one_consumer_alone(validate):
    broken = trace(changed(2, cat=None))
    assert validate(broken, "a.pt.trace.json", "--for", "perfetto") == (0, {})
    status, found = validate(broken, "a.pt.trace.json", "--for", "tensorboard")
    assert (status, list(found)) == (1, ["no_category"])


def test_cpu_only_and_gzip(validate):
    events = [OPERATOR, STEP]
    status, found = validate(gzip.compress(json.dumps(trace(events)).encode()),
                             "a.pt.trace.json.gz")
    assert (status, list(found)) == (0, ["no_device"])
    status, found = validate(gzip.compress(json.dumps(trace(events)).encode())[:-20],
                             "a.pt.trace.json.gz")
    assert status == 1 and "cut" in found


# ---- real traces: counts that the consumers themselves gave (tools/README.md beside the traces)
# ----

def counts(varve, path):
    done = subprocess.run([varve, "validate", "--json", path], capture_output=True, text=True,
                          check=False, timeout=240)
    return {row[0]: row[3] for row in json.loads(done.stdout)["tables"]["findings"]["rows"]}


@pytest.mark.parametrize("name, overlaps", [
    ("hta/simple_add.json.gz", 7), ("hta/mtia_inference.json.gz", 14),
    ("tracelens/b200_eager.json.gz", 42), ("chrome/speedscope_trace_event/invalid-x-nesting.json",
                                           1), ("hta/ns_resolution.json.gz", 0),
    ("kineto/resnet50_workers0.json.gz", 0)])
def test_perfetto_drops_as_many_slices(varve, traces, name, overlaps):
    assert counts(varve, traces / name).get("overlap", 0) == overlaps


def test_perfetto_ignores_as_many_flow_ends(varve, traces):
    assert counts(varve, traces / "hta/ns_resolution.json.gz")["flow_end"] == 15928 - 7000


def test_five_complete_events_have_no_duration(varve, traces):
    folder = traces / "chrome" / "speedscope_trace_event"
    assert sum(counts(varve, path).get("no_duration", 0)
               for path in folder.glob("simple*.json")) == 5


def torch_rules(events):
    """The six rules as PyTorch's documentation words them, in the plainest form."""
    complete = [event for event in events if event.get("ph") == "X"]
    found = collections.Counter()
    args = lambda event: event.get("args") or {}
    first = lambda items: {key: min(group) for key, group in items.items()}
    launches, kernels, records = (collections.defaultdict(list) for _ in range(3))
    for event in complete:
        if event.get("cat") == "cuda_runtime" and event["name"] == "cudaLaunchKernel":
            launches[args(event).get("External id")].append(float(event["ts"]))
        if event.get("cat") == "kernel":
            kernels[args(event).get("External id")].append(float(event["ts"]))
        if event.get("cat") in ("cuda_runtime",
                                "cuda_driver") and event["name"].startswith("cudaEventRecord"):
            for key in ("External id", "correlation"):
                records[args(event).get(key)].append(float(event["ts"]))
    launches, kernels, records = first(launches), first(kernels), first(records)
    found["kernel_before_launch"] = sum(
        key is not None and key in launches and when < launches[key]
        for key, when in kernels.items())
    sequences = collections.defaultdict(set)
    for event in complete:
        kind, waits_on = args(event).get("cuda_sync_kind"), args(event).get(
            "wait_on_cuda_event_record_corr_id")
        if kind in ("Stream Wait Event", "Event Sync") and (waits_on is None or int(waits_on) < 0):
            found["wait_without_record"] += 1
        elif kind == "Stream Wait Event":
            found["wait_on_future"] += records.get(int(waits_on), float("inf")) > float(event["ts"])
        if kind == "Stream Sync" and event.get("cat") == "cuda_sync":
            found["sync_overlap"] += sum(
                kernel["ts"] < event["ts"] < kernel["ts"] + kernel["dur"] for kernel in complete
                if kernel.get("cat") == "kernel" and all(
                    args(kernel).get(key) == args(event).get(key) for key in ("device", "stream")))
        if event["name"] == "record_param_comms":
            found["comms_metadata"] += not {"Collective name", "dtype", "In msg nelems",
                                            "Out msg nelems", "Group size"} <= set(args(event))
        if "autograd::engine::evaluate_function:" in event["name"] and args(event).get(
                "Sequence number"):
            sequences[args(event)["Sequence number"]].add(event["name"])
    found["sequence_twice"] = sum(len(names) > 1 for names in sequences.values())
    return {rule: count for rule, count in found.items() if count}


@pytest.mark.parametrize("name", [
    "dlrm8/rank0.json.gz", "dlrm8/rank5.json.gz", "hta/simple_add.json.gz",
    "hta/event_sync.json.gz", "hta/event_sync_multi_stream.json.gz", "hta/ns_resolution.json.gz",
    "kineto/resnet50_workers0.json.gz", "tracelens/b200_eager.json.gz",
    "hta/sampled_rank0.json.gz"])
def test_the_rules_of_pytorch_count_the_same(varve, traces, name):
    with gzip.open(traces / name) as file:
        expected = torch_rules(json.load(file)["traceEvents"])
    found = counts(varve, traces / name)
    rules = ("kernel_before_launch", "wait_without_record", "wait_on_future", "sync_overlap",
             "comms_metadata", "sequence_twice")
    assert {rule: found[rule] for rule in rules if rule in found} == expected


def test_every_json_trace_is_judged(varve, traces):
    for path in sorted(traces.rglob("*.json*")):
        done = subprocess.run([varve, "validate", "--json", path], capture_output=True, text=True,
                              check=False, timeout=240, env={"VARVE_CACHE": "off"})
        assert done.returncode in (0, 1), (path, done.stderr)


# ---- several ----

def test_each_of_several_is_judged_as_if_it_were_alone(varve, tmp_path):
    texts = {"good.pt.trace.json": trace(GOOD),
             "text.pt.trace.json": trace([*GOOD, {**OPERATOR, "ts": "90"}]),
             "open.pt.trace.json": trace([*GOOD, {"ph": "B", "name": "open", "pid": 10, "tid": 99,
                                                  "ts": 5, "cat": "c"}])}

    def run(*names):
        done = subprocess.run([varve, "validate", "--json", *names], capture_output=True, text=True,
                              check=False, cwd=tmp_path, timeout=240)
        table = json.loads(
            done.stdout)["tables"]["findings"] if done.returncode < 2 else done.stderr
        return done.returncode, table
    alone = {}
    for name, content in texts.items():
        (tmp_path / name).write_text(json.dumps(content))
        alone[name] = run(name)
    assert [code for code, _ in alone.values()] == [0, 1, 0]
    code, table = run(*texts)
    assert code == 1 and len(table["rows"]) >= 2
    assert [column["name"] for column in table["columns"]] == [
        "file", *(column["name"] for column in alone["good.pt.trace.json"][1]["columns"])]
    assert table["rows"] == [[name, *row] for name, (_, own) in alone.items()
                             for row in own["rows"]]
    assert run("good.pt.trace.json", "open.pt.trace.json")[0] == 0
    (tmp_path / "none.json").write_text("")
    code, says = run("good.pt.trace.json", "none.json")
    assert code == 3 and says.startswith(
        "varve: 'none.json' is not a trace that varve knows (the file is empty)")


# ---- other traces ----

def test_another_format_is_judged_by_reading_it(varve, traces):
    done = subprocess.run([varve, "validate", traces / "mlirgraph" / "profiler_ops.json"],
                          capture_output=True,
                          text=True, check=False, timeout=240)
    assert done.returncode == 0
    assert "zero_length" in done.stdout and "varve" in done.stdout

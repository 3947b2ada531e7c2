# SPDX-License-Identifier: Apache-2.0
"""Every JSON trace as Perfetto's own trace processor reads it, and as we do: slices, instants,
counters and arrows, one by one. Where Perfetto differs by a rule of its own the rule has a name
(perfetto_rules.py); nothing else may differ."""
import collections
import json
import pathlib
import subprocess
import sys

import pytest

import chrome_reference
import perfetto_rules as rules
from test_chrome_events import NOT_OURS, names

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from model_tables import dump  # noqa: E402

# What each rule touches in the files where it has most to do; everywhere, no event is left without
# a rule.
KNOWN = {
    "hta/ns_resolution.json.gz": {"a_partly_overlapping_event_is_dropped": 774,
                                  "times_are_doubles": 59188},
    "ascend/trace_view.json.gz": {"a_partly_overlapping_event_is_dropped": 38,
                                  "an_arrow_needs_its_start_first": 220},
    "tracelens/b200_eager.json.gz": {"a_partly_overlapping_event_is_dropped": 42},
    "hta/mtia_inference.json.gz": {"a_partly_overlapping_event_is_dropped": 14},
    "hta/simple_add.json.gz": {"a_partly_overlapping_event_is_dropped": 7,
                               "an_arrow_needs_its_start_first": 18},
    "kineto/gpu_metrics_expected.json": {"an_arrow_needs_a_slice_at_both_ends": 32,
                                         "an_id_in_text_is_no_number": 286},
    "kineto/resnet50_workers0.json.gz": {"a_partly_overlapping_event_is_dropped": 0,
                                         "times_are_doubles": 0},
    "chrome/speedscope_trace_event/simple.json": {"a_complete_event_needs_a_duration": 1},
    "chrome/speedscope_trace_event/unbalanced-name.json": {"an_end_closes_only_its_own_name": 1},
}


def ask(perfetto_query, path):
    done = subprocess.run([*perfetto_query, str(path), rules.SQL], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def seen_by_perfetto(rows):
    """{thread: slices, counted}, arrows and counters, counted."""
    tracks, slices = collections.defaultdict(collections.Counter), {}
    apart = {"chrome_process_instant": ("p",), "legacy_chrome_global_instants": ("g",)}
    for row in rows:
        if row["kind"] == "slice":
            # A row of our memory table has no category.
            category = "" if row["name"] == "[memory]" else row["category"] or ""
            slices[row["id"]] = row["name"], category, row["ts"], row["dur"]
            tracks[apart.get(row["track"], (row["pid"] or 0, row["tid"]))][slices[row["id"]]] += 1
    flows = collections.Counter((row["name"], row["category"], slices[row["id"]],
                                 slices[row["slice_in"]])
                                for row in rows if row["kind"] == "flow")
    counters = collections.Counter((row["pid"] or 0, row["name"], row["ts"], float(row["value"]))
                                   for row in rows if row["kind"] == "counter")
    return tracks, flows, counters


def expected_of_perfetto(judged):
    tracks = collections.defaultdict(collections.Counter)
    for row in judged.rows:
        tracks[row.place][row.key()[1:]] += 1
    flows = collections.Counter((name, category, out.key()[1:], into.key()[1:])
                                for name, category, out, into in judged.flows)
    return tracks, flows, judged.counters()


def shared_by_content(tracks):
    return collections.Counter(frozenset(rows.items()) for rows in tracks.values())


def assert_same_tracks(got, want):
    """A thread is known by its numbers; one whose ids are texts gets a number of Perfetto's own, so
    by what is on it."""
    for place in [place for place in want if place[-1] != "text"]:
        assert got.pop(place, None) == want.pop(place), place
    assert shared_by_content(got) == shared_by_content(want)


def judge(build, perfetto_query, path):
    """How many events each rule touched; no event is without one."""
    document = chrome_reference.Document(chrome_reference.load(chrome_reference.open_text(path)))
    judged = rules.Judged(dump(build, path), document)
    for rule in rules.RULES:
        rule(judged)
    tracks, flows, counters = seen_by_perfetto(ask(perfetto_query, path))
    our_tracks, our_flows, our_counters = expected_of_perfetto(judged)
    assert our_counters == counters
    assert our_flows == flows
    assert_same_tracks(tracks, our_tracks)
    return judged.touched


@pytest.mark.parametrize("name", names())
def test_perfetto_differs_by_its_rules_alone(build, traces, perfetto_query, name):
    touched = judge(build, perfetto_query, traces / name)
    known = KNOWN.get(name, {})
    assert {rule: touched[rule] for rule in known} == known


PROGRAM = """
import sys, threading
from viztracer import VizTracer
tracer = VizTracer(output_file=sys.argv[1], verbose=0)
tracer.start()
def work(n):
    return n if n < 2 else work(n - 1) + work(n - 2)
threads = [threading.Thread(target=work, args=(10,)) for _ in range(2)]
for thread in threads:
    thread.start()
for step in range(20):
    tracer.log_var("loss", step * 0.5)
    tracer.log_instant(f"mark {step}", args={"step": step})
    with tracer.log_event('"quoted" step'):
        work(8)
for thread in threads:
    thread.join()
tracer.stop()
tracer.save()
"""


def test_a_python_program_recorded_by_viztracer(build, perfetto_query, tmp_path):
    path = tmp_path / "program.json"
    subprocess.run([sys.executable, "-c", PROGRAM, path], check=True, timeout=240)
    touched = judge(build, perfetto_query, path)
    tables = dump(build, path)
    assert len(tables["slices"]) > 1000 and len(tables["marks"]) == 20
    assert len(tables["counters"]) == 20
    assert touched["a_partly_overlapping_event_is_dropped"] == touched[
        "a_complete_event_needs_a_duration"] == 0


@pytest.mark.parametrize("name", sorted(NOT_OURS))
def test_perfetto_reads_nothing_of_json_that_is_not_chrome_s(build, traces, perfetto_query, name):
    for path in traces.rglob(f"{name}/*.json" if "." not in name else name):
        assert ask(perfetto_query, path) == []
        assert dump(build, path)["inputs"][0]["format"] in ("mlirgraph", "rocprofv3")

# SPDX-License-Identifier: Apache-2.0
"""Table `verdict` beside what others say of the same traces: table `critical_bound`, HTA's temporal
breakdown and critical path, and what producers state themselves. Where the leading part differs,
DIFFERS says why; the list is complete in both directions."""
import csv
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
# pylint: disable=wrong-import-position
import all_tables
from test_advice_laws import FILES

BOUND_BY = {"data loading": "data", "memcpy": "copies", "between kernels": "launch"}
ON_HOST = ("host", "data", "compilation", "memory")
EXCERPT = "an excerpt: the span of HTA is that of one or two kernels, and the steps are longer"
DIFFERS = {
    "hta/backward_thread.json": EXCERPT,
    "hta/compare_base.json.gz": EXCERPT,
    "hta/compare_test.json.gz": EXCERPT,
    "hta/triton_example.json.gz": EXCERPT,
    "hta/mtia_inference.json.gz": "the device computes all the time, but ranges of the host lie on "
                                  "the path, and nothing shows that they wait for it",
    "kineto/resnet50_workers0.json.gz": "the device computes 59 % of its span, but the next batch "
                                        "is waited for by the host alone, and then it launches",
    "tracelens/h100_timesformer.json.gz": "HTA's span begins at the first kernel; before that, the "
                                          "host prepares images for 59 % of the step",
    "xplane/jax_tpu_inference.xplane.pb": "to HTA's rules for names, waits for asynchronous copies "
                                          "(copy-done) are computation",
}
# computation, exposed communication and copies, and all of the device's span: milliseconds
TRACELENS = {
    "tracelens/h100_Falconsai.json.gz", "tracelens/h100_gaunernst.json.gz",
    "tracelens/h100_timesformer.json.gz", "tracelens/mi300_Falconsai.json.gz",
    "tracelens/mi300_gaunernst.json.gz",
}


@pytest.fixture(scope="module", name="tables", params=FILES)
def fixture_tables(request, build, traces):
    """Name; all tables by our rules and by HTA's."""
    files = sorted(traces.glob(request.param))
    # hta/mi250_minitoy and traces without calls have no path by HTA's rules
    return (request.param, all_tables.read(build, *files),
            all_tables.parse(all_tables.run(build, "--compat", "hta", *files).stdout))


def verdict_of(tables):
    return {row["bound_by"]: row["time_ns"] for row in tables["verdict"].rows}


def united_ns(tables, column):
    """Of all devices together, at most."""
    return sum(row[column] for row in tables["devices"].rows if row["row"] == "device")


def test_the_host_is_what_the_critical_path_says(tables):
    """Of the one step, or of the whole trace; more steps are one window of the verdict."""
    _, ours, _ = tables
    if ours["step"].rows[0]["steps"] > 1:
        return
    path = dict.fromkeys(ON_HOST, 0)
    for row in ours["critical_bound"].rows:
        if row["row"] == "bound":
            word = BOUND_BY.get(row["bound"], row["bound"])
            path[word] = path.get(word, 0) + row["time_ns"]
    verdict = verdict_of(ours)
    for word in ON_HOST:
        assert abs(verdict.get(word, 0) - path[word]) <= 0.01 * sum(verdict.values()), word


def test_no_device_is_the_bound_for_longer_than_it_works(tables):
    _, ours, _ = tables
    verdict = verdict_of(ours)
    on_host = sum(row["total_ns"] for row in ours["collective_kinds"].rows
                  if row["row"] == "collective" and row["place"] == "host")
    assert verdict.get("computation", 0) <= united_ns(ours, "computation_ns")
    assert verdict.get("copies", 0) <= united_ns(ours, "memcpy_ns")
    # what a profiler does for itself inside a call is outside operators
    host_calls = sum(row["self_ns"] for row in ours["operators"].rows
                     if row["row"] == "outside" or row["row"] == "operator" and
                     row["name"].startswith(("MPI_", "nccl")))
    assert verdict.get("communication", 0) <= united_ns(ours, "communication_ns") + on_host + \
        host_calls


def test_what_leads_is_what_leads_in_the_temporal_breakdown_of_hta(tables):
    name, ours, theirs = tables
    span_ns = united_ns(theirs, "span_ns")
    if span_ns == 0:
        return
    breakdown = {"computation": united_ns(theirs, "computation_ns"),
                 "idle": united_ns(theirs, "idle_ns")}
    breakdown["transfer"] = united_ns(theirs, "busy_ns") - breakdown["computation"]
    verdict = verdict_of(ours)
    mine = {"computation": verdict.get("computation", 0),
            "transfer": verdict.get("communication", 0) + verdict.get("copies", 0)}
    mine["idle"] = sum(verdict.values()) - sum(mine.values())
    agrees = max(breakdown, key=breakdown.get) == max(mine, key=mine.get)
    assert agrees == (name not in DIFFERS), (mine, breakdown)


def test_tracelens_computes_and_copies_at_least_as_long(tables, traces):
    name, ours, _ = tables
    if name not in TRACELENS:
        return
    folder = traces / name.replace(".json.gz", "_expected")
    with open(folder / "gpu_timeline.csv", encoding="utf-8", newline="") as file:
        stated = {row["type"]: float(row["time ms"]) * 1e6 for row in csv.DictReader(file)}
    verdict = verdict_of(ours)
    assert verdict.get("computation", 0) <= stated["computation_time"] + 1000
    assert verdict.get("copies", 0) <= stated["total_memcpy_time"] + 1000
    not_device = sum(verdict.values()) - sum(verdict.get(word, 0) for word in (
        "computation", "communication", "copies"))
    assert not_device >= ours["step"].rows[0]["total_ns"] - stated["busy_time"] - 1000


@pytest.mark.parametrize("name, words, share", (
    # its own critical path: bound by the processor, or by computation (reference: HTA's notebooks)
    ("hta/event_sync.json.gz", ("host", "data", "memory"), 0.981),
    ("hta/simple_add.json.gz", ("host", "data", "memory"), 0.998),
    ("hta/ns_resolution.json.gz", ("computation",), 0.963),
))
def test_the_critical_path_of_hta_has_the_same_bound(build, traces, name, words, share):
    verdict = verdict_of(all_tables.read(build, traces / name))
    assert sum(verdict.get(word, 0) for word in words) / sum(verdict.values()) == pytest.approx(
        share, abs=0.02)


def test_what_torch_tb_profiler_says_of_resnet50(build, traces):
    """Kernel 55.51 %, DataLoader 33.37 % of the steps, in which instants belong to kernels first.
    So the loader's share is larger here, and computation's, which the host never waits for,
    smaller."""
    verdict = verdict_of(all_tables.read(build, traces / "kineto" / "resnet50_workers0.json.gz"))
    share = {word: time_ns / sum(verdict.values()) for word, time_ns in verdict.items()}
    assert 0.3337 <= share["data"] <= 0.3337 + 0.5551 and share["computation"] <= 0.5551


def test_what_ascend_says_of_its_trace(build, traces):
    """Its own rows: Computing 1,788,266 ns, Free 9,481,696 ns."""
    verdict = verdict_of(all_tables.read(build, traces / "ascend" / "trace_view.json.gz"))
    assert verdict.get("computation", 0) <= 1_788_266
    assert sum(verdict.values()) - verdict.get("computation", 0) >= 9_481_696


def test_what_xprof_says_of_a_tpu(build, traces):
    """Its overview page: device idle 13.4 % of the time. Its op_profile: copy-done 304.0 s of 315.1
    s on four cores, fusions 9.62 s, the all-reduce 1.46 s."""
    tables = all_tables.read(build, traces / "xplane" / "jax_tpu_inference.xplane.pb")
    verdict = verdict_of(tables)
    share = {word: time_ns / sum(verdict.values()) for word, time_ns in verdict.items()}
    assert max(share, key=share.get) == "copies" and 0.70 <= share["copies"] <= 0.865
    assert share["computation"] == pytest.approx(9.62 / 363.7, abs=0.005)
    assert share["communication"] == pytest.approx(1.46 / 363.7, abs=0.005)
    assert share["other"] == pytest.approx(0.134, abs=0.07)

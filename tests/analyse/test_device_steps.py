# SPDX-License-Identifier: Apache-2.0
"""Tables of steps and devices on real traces, against what other programs' own tests state of them.

The traces lie beside the checkout; ../shared/traces/README.md has the figures, by number (G1 …), in
microseconds.
"""
import ast
import collections
import csv
import gzip
import itertools
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

SLOTS = ["kernel_ns", "memcpy_ns", "memset_ns", "runtime_ns", "data_loader_ns", "cpu_op_ns",
         "other_ns"]
G1 = ("""98598/1941/90/2796/69317/14091/1115; 98570/1947/89/2762/57669/12968/1148; 98596/1931/91/2877/61257/13768/1213;
        98623/1938/89/2841/56453/13420/1200; 98504/1937/87/2788/62690/15025/1141; 98641/1798/88/3381/48185/12773/1117""")


def table(varve, name, *arguments):
    return table_reader.tables(varve, "report", "--table", name, *arguments)[name]


@pytest.fixture(scope="module", name="split")
def split_of_resnet(varve, traces):
    return table(varve, "step_split", traces / "kineto" / "resnet50_workers0.json.gz")


def test_steps_of_resnet_split_as_the_tensorboard_plugin_states(split):
    wanted = [[int(number) * 1000 for number in step.split("/")] for step in G1.split(";")]
    steps = [row for row in split if row["row"] == "step"]
    assert [row["step"] for row in steps] == [5, 6, 7, 8, 9, 10]
    assert [[row[slot] for slot in SLOTS] for row in steps] == wanted
    for row in split:
        assert sum(row[slot] for slot in SLOTS) + row["communication_ns"] == row["duration_ns"]


def test_the_average_step_of_resnet(split):
    average = next(row for row in split if row["row"] == "average")
    assert average["duration_ns"] // 1000 == 177592
    assert round(100 * average["kernel_ns"] / average["duration_ns"], 2) == 55.51
    assert round(100 * average["data_loader_ns"] / average["duration_ns"], 2) == 33.37
    assert round(100 * average["kernel_share"], 2) == 55.51


G2 = ("""dlrm8/rank0 6419/1034/5556/13009/4.50; dlrm8/rank1 6428/1246/11075/18749/2.47; dlrm8/rank2 7046/1068/3236/11350/7.88;
        dlrm8/rank3 8145/1240/9468/18853/3.31; dlrm8/rank4 8887/1126/6576/16589/0.56; dlrm8/rank5 9121/1041/6230/16392/0.64;
        dlrm8/rank6 7051/1051/3308/11410/7.56; dlrm8/rank7 8308/1059/1600/10967/9.51;
        hta/ns_resolution 10113/372150/2371/384634/NaN; hta/sampled_rank0 321378/106252/172428/600058/11.81;
        hta/sampled_rank1 328671/135548/136455/600674/20.05""")


@pytest.mark.parametrize("line", G2.split(";"), ids=lambda line: line.split()[0])
def test_htas_breakdown_and_overlap_by_its_rules(varve, traces, line):
    name, figures = line.split()
    trace = traces / f"{name}.json.gz"
    idle, compute, other, span, overlap = map(float, figures.split("/"))
    row = table(varve, "devices", "--compat", "hta", trace)[0]
    assert row["idle_ns"] == idle * 1000
    assert row["computation_ns"] == compute * 1000
    assert row["busy_ns"] - row["computation_ns"] == other * 1000
    assert row["span_ns"] == span * 1000
    device = next(row for row in table(varve, "overlap", "--compat", "hta", trace)
                  if row["row"] == "device")
    assert device["hidden_ns"] + device["exposed_ns"] == device["communication_ns"]
    if overlap != overlap:
        assert device["overlap_share"] is None
    else:
        assert round(100 * device["overlap_share"], 2) == overlap


PARTS = ["computation_ns", "exposed_communication_ns", "exposed_memcpy_ns", "busy_ns", "idle_ns",
         "span_ns"]
G7 = {
    "h100_Falconsai": "1.22531/0/0/1.22531/6.33454/7.55984",
    "h100_timesformer": "154.969/0/3.46414/158.433/1.55925/159.992",
    "h100_gaunernst": "0.307198/0/0.00223999/0.309438/3.59839/3.90782",
    "sglang_decode": "9.75975/0/0.0131768/9.77293/463.977/473.75",
    "mi210_gpu_only": "5.34337/0/0/5.34337/0.636133/5.9795",
    "mi300_Falconsai": "1.7163/0/0/1.7163/5.15255/6.86885",
    "mi300_gaunernst": "0.388345/0/0.00240381/0.390749/3.10523/3.49598",
    "torch_compile_triton": "12.549/0/0/12.549/1.12305e-05/12.549",
}
QUARTER_NS = 250  # TraceLens' times are doubles of microseconds since 1970, which step so far


@pytest.mark.parametrize("name", G7)
def test_devices_split_as_tracelens_states(varve, traces, name):
    row = table(varve, "devices", traces / "tracelens" / f"{name}.json.gz")[0]
    for column, figure in zip(PARTS, G7[name].split("/")):
        exponent = len(figure.split("e")[0].partition(".")[2]) - (int(figure.split("e")[1])
                                                                  if "e" in figure else 0)
        tolerance_ns = 0.5 * 10 ** (6 - exponent) + (QUARTER_NS if name == "mi210_gpu_only" else 2)
        assert abs(row[column] - float(figure) * 1e6) <= tolerance_ns, column
    assert row["span_ns"] == sum(row[column] for column in PARTS
                                 if column not in ("busy_ns", "span_ns"))
    assert row["micro_idle_ns"] + row["macro_idle_ns"] == row["idle_ns"]


TIMELINE = {"computation_time": "computation_ns", "exposed_comm_time": "exposed_communication_ns",
            "exposed_memcpy_time": "exposed_memcpy_ns", "busy_time": "busy_ns",
            "idle_time": "idle_ns", "total_time": "span_ns", "total_comm_time": "communication_ns",
            "total_memcpy_time": "memcpy_ns"}


@pytest.mark.parametrize("name", ["h100_Falconsai", "h100_gaunernst", "h100_timesformer",
                                  "mi300_Falconsai", "mi300_gaunernst"])
def test_devices_split_as_tracelens_tables_print(varve, traces, name):
    row = table(varve, "devices", traces / "tracelens" / f"{name}.json.gz")[0]
    with open(traces / "tracelens" / f"{name}_expected" / "gpu_timeline.csv", encoding="utf-8",
              newline="") as lines:
        for line in csv.DictReader(lines):
            nanoseconds = row[TIMELINE[line["type"]]]
            assert abs(nanoseconds - float(line["time ms"]) * 1e6) <= 3, line["type"]
            assert abs(100 * nanoseconds / row["span_ns"] -
                       float(line["percent"])) <= 300 / row["span_ns"]


def test_an_ascend_device(varve, traces):
    """G9: 276 events of hardware; 274 of them are its own "Computing", the two others are
    copies."""
    trace = traces / "ascend" / "trace_view.json.gz"
    row = table(varve, "devices", trace)[0]
    assert (row["events"], row["busy_ns"], row["span_ns"]) == (276, 1790457, 11269917)
    own = {track["name"]: track for track in table(varve, "threads", trace)}
    assert (own["Computing"]["slices"], own["Free"]["slices"]) == (274, 273)
    assert abs(row["computation_ns"] - own["Computing"]["busy_ns"]) <= 274
    assert row["computation_ns"] + row["exposed_memcpy_ns"] + row["idle_ns"] == row["span_ns"]
    assert abs(own["Computing"]["busy_ns"] +
               own["Free"]["busy_ns"] - row["span_ns"]) <= row["span_ns"] / 1000


def test_copies_of_a_tpu_are_no_computation(varve, traces):
    row = table(varve, "devices", traces / "xplane" / "jax_tpu_inference.xplane.pb")[0]
    assert row["computation_ns"] < row["memcpy_ns"]
    assert row["communication_ns"] > 0


def test_work_that_overlaps_on_its_stream_is_not_dropped(varve, traces):
    row = table(varve, "devices", traces / "tracelens" / "b200_eager.json.gz")[0]
    assert row["events"] == 929


@pytest.mark.parametrize("name", ["rank_non_gpu", "cpu_only_rank34"])
def test_a_trace_without_a_device(varve, traces, name):
    for compat in ([], ["--compat", "hta"]):
        for which in ("devices", "overlap"):
            assert not table(varve, which, *compat, traces / "hta" / f"{name}.json.gz")


def hta_block(path, heading):
    """The lines that HTA printed under a heading of one of its files beside the traces."""
    return path.read_text().split(f"## {heading} ")[1].split("\n## ")[0].splitlines()[1:]


HTA_FILES = [("dlrm8/expected_hta.txt", [f"dlrm8/rank{rank}" for rank in range(8)]),
             ("hta/ns_resolution_expected_hta.txt", ["hta/ns_resolution"]),
             ("hta/sampled_expected_hta.txt", ["hta/sampled_rank0", "hta/sampled_rank1"])]
HTA_RANKS = [(text, rank, name) for text, names in HTA_FILES for rank, name in enumerate(names)]


@pytest.mark.parametrize("text, rank, name", HTA_RANKS, ids=[name for _, _, name in HTA_RANKS])
def test_htas_idle_streams_by_its_rules(varve, traces, text, rank, name):
    stated = collections.Counter()
    for line in hta_block(traces / text, "idle"):
        words = line.split()
        if len(words) == 6 and words[1] == str(rank):
            stated[int(words[2]), words[3]] = float(words[4]) * 1000
    rows = [row for row in table(varve, "idle_streams", "--compat", "hta",
                                 traces / f"{name}.json.gz")
            if row["row"] == "stream"]
    assert {row["stream"] for row in rows} >= {stream for stream, _ in stated}
    assert stated
    unlinked = table(varve, "devices", traces / f"{name}.json.gz")[0]["unlinked"]
    for row in rows:
        causes = [stated[row["stream"], cause] for cause in ("host_wait", "kernel_wait", "other")]
        assert row["idle_ns"] == sum(causes)
        # HTA takes the file's first event for the call of work that has none
        if not unlinked or row["stream"] != 7:
            assert [row["host_wait_ns"], row["kernel_wait_ns"], row["other_wait_ns"]] == causes


def test_idle_streams_of_dlrm(varve, traces):
    """G2: its times are whole microseconds, so that our rules give the same."""
    rows = table(varve, "idle_streams", traces / "dlrm8" / "rank0.json.gz")
    assert ([(row["stream"], row["host_wait_ns"], row["kernel_wait_ns"]) for row in rows
             if row["row"] == "stream"] ==
        [(7, 11448000, 123000), (22, 145000, 0), (24, 5906000, 18000), (84, 4740000, 3000)])


@pytest.mark.parametrize("name", [
    "dlrm8/rank1.json.gz", "hta/ns_resolution.json.gz", "kineto/resnet50_workers0.json.gz",
    "hta/mtia_inference.json.gz", "tracelens/b200_eager.json.gz", "tracelens/sglang_decode.json.gz",
    "ascend/trace_view.json.gz", "xplane/jax_mi300_conv.xplane.pb", "nsys/saxpy_mpi_cuda.sqlite",
    "tracelens/rocprofv3_results.json.gz"])
def test_causes_and_gaps_add_up_to_what_devices_idle(varve, traces, name):
    tables = table_reader.tables(varve, "idle", traces / name)
    idle = sum(row["idle_ns"] for row in tables["devices"] if row["row"] == "device")
    assert sum(row["idle_ns"] for row in tables["idle"] if row["row"] == "cause") == idle
    assert sum(row["idle_ns"] for row in tables["idle"] if row["row"] == "device") == idle
    assert sum(row["duration_ns"] for row in tables["idle_gaps"] if row["row"] != "total") == idle
    for row in tables["idle_gaps"]:
        parts = [row[column] for column in ("host_ns", "launch_ns", "dependency_ns", "unknown_ns")]
        assert min(parts) >= 0 and sum(parts) == row["duration_ns"]
    for row in tables["idle_streams"]:
        assert row["host_wait_ns"] + row["kernel_wait_ns"] + row["other_wait_ns"] == row["idle_ns"]
        assert row["idle_ns"] + row["busy_ns"] == row["span_ns"]


def test_the_device_of_resnet_waits_for_the_data_loader(varve, traces):
    rows = table(varve, "idle", traces / "kineto" / "resnet50_workers0.json.gz")
    assert (rows[0]["cause"], rows[0]["doing"]) == ("host", "data loader")
    assert rows[0]["idle_share"] > 0.7


@pytest.mark.parametrize("text, rank, name", HTA_RANKS, ids=[name for _, _, name in HTA_RANKS])
def test_htas_launches_by_its_rules(varve, traces, text, rank, name):
    stated = dict((row[0], row) for row in ast.literal_eval(hta_block(traces / text,
                                                                      "launch")[0]))[rank]
    total = table(varve, "launches", "--compat", "hta", traces / f"{name}.json.gz")[-1]
    assert total["row"] == "total"
    assert ((total["calls"], total["short"], total["calls_over_50_us"],
             total["delays_over_100_us"]) ==
        (stated[1], stated[3], stated[5], stated[7]))
    assert (total["call_ns"], total["work_ns"], total["delay_ns"] + total["queueing_ns"]) == \
        tuple(figure * 1000 for figure in stated[9:])


def lengths(events, stream, falls_first):
    """Mean length of a stream's queue, from the events of a file in whole microseconds."""
    calls = {event["args"]["correlation"]: event["ts"] for event in events
             if event.get("cat") == "cuda_runtime"}
    work = [event for event in events if event.get("args", {}).get("stream") == stream and
            event["args"]["correlation"] in calls]
    changes = [(calls[event["args"]["correlation"]], 1) for event in work] + [(event["ts"], -1)
                                                                              for event in work]
    changes.sort(key=lambda change: (change[0], change[1] if falls_first else -change[1]))
    values = list(itertools.accumulate(change for _, change in changes))
    return sum(values) / len(values)


@pytest.mark.parametrize("text, rank, name", HTA_RANKS, ids=[name for _, _, name in HTA_RANKS])
def test_htas_queues_by_its_rules(varve, traces, text, rank, name):
    """Where a call and a begin have the same time HTA's sort takes either first, so that its mean
    lies between."""
    stated = {}
    for line in hta_block(traces / text, "queue")[3:]:
        words = [float(word) for word in line.split()]
        # the rank stands in the first line of its streams only
        at = int(words[0]) if len(words) == 10 else at
        if at == rank:
            stated[int(words[-9])] = words[-8:]
    rows = {row["stream"]: row for row in table(varve, "queue", "--compat", "hta",
                                                traces / f"{name}.json.gz")}
    assert set(rows) == set(stated)
    for stream, (count, mean, deviation, least, p25, p50, p75, greatest) in stated.items():
        row = rows[stream]
        assert (row["points"], row["max_length"], least) == (count, greatest, 0)
        assert abs(row["median_length"] - p50) <= 1 and abs(row["p25_length"] - p25) <= 1
        assert abs(row["p75_length"] - p75) <= 1
        assert mean - 1e-6 <= row["mean_length"] <= mean * 1.03
        if abs(row["mean_length"] - mean) < 1e-6:
            assert abs(row["deviation"] - deviation) < 1e-6


def test_the_queue_of_dlrm(varve, traces):
    """G2: 450 points, longest 25; its mean of 2.398 lies between those of the two orders of equal
    times."""
    trace = traces / "dlrm8" / "rank0.json.gz"
    events = json.loads(gzip.decompress(trace.read_bytes()), strict=False)["traceEvents"]
    row = next(row for row in table(varve, "queue", trace) if row["stream"] == 7)
    assert (row["points"], row["max_length"]) == (450, 25)
    assert abs(row["mean_length"] - lengths(events, 7, False)) < 1e-9
    assert lengths(events, 7, True) < 2.398 < row["mean_length"]


def test_waiting_for_data_is_what_the_split_gives_the_loader(varve, traces, split):
    """Nothing of ResNet-50 comes between the device and the loader, so that both say the same."""
    steps = [row for row in table(varve, "waits", traces / "kineto" / "resnet50_workers0.json.gz")
             if row["row"] == "step"]
    assert [row["wait_ns"] for row in steps] == [row["data_loader_ns"] for row in split
                                                 if row["row"] == "step"]


def test_copies_of_resnet(varve, traces):
    """Six batches of 32 images of 3 x 224 x 224 floats, and their labels."""
    rows = table(varve, "copies", traces / "kineto" / "resnet50_workers0.json.gz")
    copy = next(row for row in rows if row["direction"] == "HtoD")
    assert (copy["copies"], copy["bytes"]) == (12, 6 * (32 * 3 * 224 * 224 * 4 + 32 * 8))
    assert copy["bytes_per_s"] == pytest.approx(copy["bytes"] / copy["total_ns"] * 1e9)


@pytest.mark.parametrize("name", ["ascend/trace_view.json.gz", "hta/mtia_inference.json.gz",
                                  "xplane/jax_tpu_inference.xplane.pb",
                                  "tracelens/rocprofv3_results.json.gz",
                                  "nsys/saxpy_mpi_cuda.sqlite"])
def test_every_table_of_devices_has_an_answer(varve, traces, name):
    for which in ("step_split", "launches", "queue", "copies", "syncs", "waits", "overlap"):
        for row in table(varve, which, traces / name):
            assert all(value is None or isinstance(value, str) or value >= 0
                       for value in row.values()), row

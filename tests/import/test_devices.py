# SPDX-License-Identifier: Apache-2.0
"""What producers tell of their devices: names and peaks, as the table `devices` of the model, and
what mfu and roofline make of them."""
import csv
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import nsys_writer  # noqa: E402
from model_tables import dump  # noqa: E402
from rocprof_writer import results as rocprof_results  # noqa: E402
from xspace_bytes import Plane, space  # noqa: E402

CUDA, OTHER = 1 << 16, 3 << 16


def devices(build, *paths):
    return [(row["device"], row["scope"], row["name"], row["flop_per_s"], row["memory_bytes_per_s"])
            for row in dump(build, *paths).get("devices", [])]


def kineto(path, properties, pid=1):
    event = {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 2, "pid": 0, "tid": 7,
             "args": {"device": 0, "stream": 7}}
    host = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2, "pid": pid,
            "tid": pid}
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": properties,
                                "traceEvents": [event, host]}))
    return path


def test_kineto(build, tmp_path):
    properties = [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85},
                  {"name": "Tesla T4", "id": 1, "more": {"id": 9, "name": "x"}},
                  {"id": 2}, {"name": "nobody"}, {"id": -1, "name": "no"},
                  {"id": 70000, "name": "no"}, 7]
    assert devices(build, kineto(tmp_path / "a.json",
                                 properties)) == [(CUDA, 0, "NVIDIA H100", 0, 0),
                                                  (CUDA | 1, 0, "Tesla T4", 0, 0)]
    for odd in ("A100", 7, {"id": 0, "name": "A100"}, [[{"id": "0", "name": 3}]], []):
        assert devices(build, kineto(tmp_path / "odd.json", odd)) in ([], [(CUDA, 0, "A100", 0, 0)])


def test_each_input_has_its_own(build, tmp_path):
    paths = [kineto(tmp_path / f"{name}.json", [{"id": 0, "name": name}], pid)
             for pid, name in ((11, "A100"), (12, "H100"))]
    assert devices(build, *paths) == [(CUDA, 0, "A100", 0, 0), (CUDA, 1, "H100", 0, 0)]


def test_nsight_systems(build, tmp_path):
    rows = [(0, "NVIDIA A100", 1_555_200_000_000), (3, "Tesla T4", None), (4, None, 7),
            (-1, "no", 7)]
    tables = {**nsys_writer.TABLES,
              "TARGET_INFO_GPU": ("id INTEGER, name TEXT, memoryBandwidth INTEGER", rows)}
    path = nsys_writer.write(tmp_path / "a.sqlite", tables)
    assert devices(build, path) == [(CUDA, 0, "NVIDIA A100", 0, 1555200000000),
                                    (CUDA | 3, 0, "Tesla T4", 0, 0)]


def test_rocprofv3(build, tmp_path):
    results = rocprof_results()
    agents = results["rocprofiler-sdk-tool"][0]["agents"]
    agents += [{"id": {"handle": 900 + n}, "type": kind, "logical_node_type_id": n, "node_id": n,
                "product_name": name}
               for n, (kind, name) in enumerate([(1, "EPYC"), (2, "AMD Instinct MI300X"), (2, "")])]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results))
    assert devices(build, path) == [(OTHER | 1, 0, "AMD Instinct MI300X", 0, 0)]


def test_xspace(build, tmp_path):
    planes = []
    for name, number, stats in (("/device:TPU:0", 1, {"device_type_string": "TPU v6 Lite",
                                                      "peak_teraflops_per_second": 918.0,
                                                      "peak_hbm_bw_gigabytes_per_second": 1638.0}),
                                ("/device:GPU:1", 2, {"device_vendor": "AMD",
                                                      "memory_bandwidth": 2662400000000}),
                                ("/device:GPU:2", 3, {"device_vendor": "Nvidia",
                                                      "peak_teraflops_per_second": -1.0})):
        plane = Plane(name, number)
        plane.stats = [plane.stat(key, value) for key, value in stats.items()]
        plane.line(14, [plane.event("work", 0, 1000)], "Stream #14")
        planes.append(plane)
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(space(*planes))
    assert devices(build, path) == [(OTHER, 0, "TPU v6 Lite", 918e12, 1638e9),
                                    (OTHER | 1, 0, "", 0, 2662400000000)]


# ---- real ones ----

@pytest.mark.parametrize("path, told", [
    ("nsys/saxpy_mpi_cuda.sqlite", [(CUDA, 0, "NVIDIA A100-SXM4-40GB", 0, 1555200000000)]),
    ("tracelens/rocprofv3_results.json.gz", [(OTHER | n, 0, "AMD Instinct MI350X", 0, 0)
                                             for n in range(8)]),
    ("xplane/jax_tpu_inference.xplane.pb", [(OTHER | n, 0, "TPU v6 Lite", 918e12, 1637993152512)
                                            for n in range(4)]),
    ("kineto/resnet50_workers0.json.gz", [(CUDA | n, 0, "Tesla V100-DGXS-32GB", 0, 0)
                                          for n in range(4)])])
def test_real_traces(build, traces, path, told):
    assert devices(build, traces / path) == told


def test_the_roofline_of_xla_is_held_against_the_devices_own_peaks(varve, traces):
    """XLA says FLOP and bytes of each instruction, and the plane what its TPU can do."""
    path = traces / "xplane" / "jax_tpu_inference.xplane.pb"
    run = lambda *options: subprocess.run([varve, "report", "--no-cache", "--table", "roofline",
                                           *options, path], capture_output=True,
                                          text=True, check=True).stdout
    said = " ".join(run().split())
    assert "6416 operators" in said
    assert ("peaks as the trace says of 4 of 4 devices: 918 TFLOP/s of 16 bits, 1.64 TB/s"
            in said)
    rows = list(csv.DictReader(run("--csv", "--top", "0").splitlines()))
    fusions = [row for row in rows if row["row"] == "operator" and float(row["flop"]) > 0]
    assert fusions and all(row["bound"] == "memory" and 0 < float(row["efficiency"]) < 1
                           for row in fusions)
    assert max(float(row["efficiency"]) for row in fusions) > 0.7


def test_an_export_tells_the_devices_again(varve, build, tmp_path):
    source = kineto(tmp_path / "a.json", [{"id": 0, "name": "NVIDIA H100"},
                                          {"id": 3, "name": 'T4 "x"'}])
    subprocess.run([varve, "export", "--no-cache", "-q", "-o", tmp_path / "b.json", source],
                   check=True)
    assert json.loads(
        (tmp_path / "b.json").read_text())["deviceProperties"] == [{"id": 0, "name": "NVIDIA H100"},
                                                                   {"id": 3, "name": 'T4 "x"'}]
    assert devices(build, tmp_path / "b.json") == devices(build, source)


def test_an_export_keeps_plain_arguments_of_any_form(varve, tmp_path):
    """A list becomes a column and is written from it; what is none stays what it was."""
    told = [["", "[1, 1]", "False"], [], "x", {"a": 1}, None, 7]
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 10 * n, "dur": 5, "pid": 1,
               "tid": 1, "args": {"Concrete Inputs": value}}
              for n, value in enumerate(told)]
    (tmp_path / "a.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    subprocess.run([varve, "export", "--no-cache", "-q", "-o", tmp_path / "b.json",
                    tmp_path / "a.json"], check=True)
    slices = [event for event in json.loads((tmp_path / "b.json").read_text())["traceEvents"]
              if event["ph"] == "X"]
    assert [event["args"]["Concrete Inputs"] for event in slices] == told

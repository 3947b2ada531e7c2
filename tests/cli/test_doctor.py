# SPDX-License-Identifier: Apache-2.0
"""varve doctor: what it says of this machine, and the peaks that it measures and keeps."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle")]
import trace_writer  # pylint: disable=wrong-import-position
from recording import binary  # pylint: disable=wrong-import-position

CHECKS = ["record programs", "clock", "write traces here", "read .gz", "read .zst, pack",
          "read .sqlite", "Graphviz", "dag -o .png", "record --metrics", "GPU work",
          "peaks of this machine"]


@pytest.fixture(name="tell")
def tell_tables(varve, tmp_path):
    def tables(verb, *words):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        done = subprocess.run([str(varve), verb, "--json", *map(str, words)], env=environment,
                              cwd=tmp_path, capture_output=True, text=True, check=True)
        document = json.loads(done.stdout)["tables"]
        return {name: [dict(zip((column["name"] for column in table["columns"]), row))
                       for row in table["rows"]]
                for name, table in document.items()}
    return tables


def test_every_check_has_a_row(tell):
    rows = tell("doctor")["doctor"]
    assert [row["check"] for row in rows] == CHECKS
    assert {row["state"] for row in rows} <= {"yes", "no"}
    assert rows[0]["state"] == "yes" and rows[0]["detail"].endswith((".so", ".so.0", ".so.0.1.0"))
    assert rows[-1] == {"check": CHECKS[-1], "state": "no",
                        "detail": "not measured: varve doctor --peaks"}


def test_a_folder_that_cannot_be_written(varve, tmp_path):
    if os.geteuid() == 0:
        folder = "/proc"
    else:
        folder = tmp_path / "closed"
        folder.mkdir(mode=0o500)
    done = subprocess.run([str(varve), "doctor", "--csv", "--table", "doctor"], cwd=folder,
                          capture_output=True, text=True, check=True)
    assert "write traces here,no," in done.stdout


SOURCES = [("torch", "yes"), ("shapes", "yes"), ("strides", "no"), ("data", "no"),
           ("memory", "yes"),
           ("modules", "no"), ("python", "no"), ("builtins", "yes"), ("cuda", "yes"),
           ("cuda_calls", "no"), ("cuda_nodes", "no"), ("cuda_unified", "no"),
           ("rocm", "yes"), ("rocm_calls", "no"), ("nccl", "yes")]


@pytest.fixture(name="sources")
def sources_of(varve, tmp_path):
    """{source: (state, detail)} of a Python, in an environment."""
    def sources(*operands, **environment):
        done = subprocess.run([str(varve), "doctor", "--json", *map(str, operands)], cwd=tmp_path,
                              check=True, env={**os.environ, **environment}, capture_output=True,
                              text=True)
        rows = json.loads(done.stdout)["tables"]["sources"]["rows"]
        assert [(name, standard) for name, _, standard, _ in rows] == SOURCES
        return {name: (state, detail) for name, state, _, detail in rows}
    return sources


@pytest.fixture(name="torch_like")
def fake_torch(tmp_path):
    """A PyTorch to be found and not to be imported."""
    folder = tmp_path / "packages" / "torch"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")

    def make(version):
        (folder /
         "version.py").write_text(f"from typing import Optional\n__version__ = '{version}'\n")
        return {"PYTHONPATH": str(folder.parent)}, folder
    return make


def test_what_a_python_is_recorded_from(sources, torch_like, tmp_path):
    environment, folder = torch_like("2.15.0+cu132")
    rows = sources(sys.executable, **environment)
    assert rows["torch"] == ("yes",
                             f"PyTorch 2.15.0+cu132, {folder}") or os.uname().machine != "x86_64"
    assert rows["strides"] == (rows["torch"][0],
                               "with torch; ask for it:  varve record --collect +strides")
    version = ".".join(map(str, sys.version_info[:3]))
    assert rows["python"] == (
        "yes", f"Python {version}, {sys.executable}; ask for it:  varve record --collect +python")
    assert not (tmp_path / "imported").exists()


def test_what_is_only_an_extra_is_not_called_lacking(varve, tell, tmp_path):
    extras = {"Graphviz", "dag -o .png", "record --metrics", "peaks of this machine"}
    lacking = {row["check"] for row in tell("doctor")["doctor"] if row["state"] == "no"}
    assert "peaks of this machine" in lacking  # of a fresh cache
    told = subprocess.run([str(varve), "doctor"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
                          check=True).stdout.splitlines()[0]
    assert told == "THIS MACHINE   " + ("all is here; the rows that say no are extras"
                                        if lacking <= extras else "see the rows that say no")


def test_an_old_pytorch_and_none(sources, torch_like, tmp_path):
    environment, _ = torch_like("1.12.1")
    assert sources(sys.executable, **environment)["torch"][0] == "no"
    rows = sources(sys.executable, PYTHONPATH=str(tmp_path), PYTHONNOUSERSITE="1")
    if rows["torch"][0] == "no":  # unless the Python of these tests has one
        assert rows["torch"][
            1].startswith(f"no PyTorch in {sys.executable}:  {sys.executable} -m ")
        assert rows["memory"] == ("no", "not without torch")


def test_the_active_environment_comes_first(sources, tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho version 3.8.2\necho kind cpython\n")
    python.chmod(0o755)
    assert sources(VIRTUAL_ENV=str(tmp_path / "venv"))["python"] == (
        "no", f"Python 3.8.2 is older than 3.9, and left alone: {python}")
    python.write_text("#!/bin/sh\necho version 3.10.9\necho kind pypy\n")
    assert sources(
        VIRTUAL_ENV=str(tmp_path /
                        "venv"))["python"][1].startswith(f"{python} is pypy: only CPython")


@pytest.mark.parametrize("text, says", [
    (None, "cannot be run: No such file or directory"),
    ("#!/bin/sh\nexit 3\n", "does not answer as Python 3 would"),
    ("#!/bin/sh\nyes version 3.12.1 | head -c 1000000\nexec sleep 100\n",
     "does not answer as Python 3 would"),
    ("#!/bin/sh\nexec sleep 100\n", "did not answer in 10 s")])
def test_a_python_that_is_none(sources, tmp_path, text, says):
    python = tmp_path / "python"
    if text is not None:
        python.write_text(text)
        python.chmod(0o755)
    state, detail = sources(python)["python"]
    assert (state, says in detail,
            detail.endswith("Name one:  varve doctor -- PYTHON")) == ("no", True, True), detail


def test_peaks_are_measured_kept_and_used(tell, tmp_path):
    """Operators of the host have a roof afterwards: 1000 FLOP and 10 bytes in 10 us."""
    trace = trace_writer.Trace(tmp_path / "host.varve")
    process = trace.process(pid=100)
    thread, site = process.thread(tid=100), process.site("begin", "mine")
    thread.begin(site, 0)
    thread.op([], 5, flop=1000, size=10)
    thread.end(10000)
    path = trace.write()
    before = tell("report", "--table", "roofline", path)["roofline"][0]
    assert (before["flop"], before["bytes"], before["efficiency"], before["bound"]) == (1000, 10,
                                                                                        None, None)
    peaks = tell("doctor", "--peaks")["peaks"]
    assert len(peaks) == 1 and min(peaks[0][name] for name in ("f32_flop_per_s", "f64_flop_per_s",
                                                               "bytes_per_s")) > 1e8
    assert tell("doctor")["peaks"] == peaks
    kept = json.loads((tmp_path / "cache/varve/peaks.json").read_text())
    assert kept["schema"] == "varve.peaks/1" and [entry["cpus"] for entry in kept["machines"]
                                                  ] == [peaks[0]["cpus"]]
    after = tell("report", "--table", "roofline", path)["roofline"][0]
    least_s = max(1000 / peaks[0]["f32_flop_per_s"], 10 / peaks[0]["bytes_per_s"])
    assert after["efficiency"] == pytest.approx(least_s / 10e-6)
    assert after["bound"] == ("compute"
                              if 100 >= peaks[0]["f32_flop_per_s"] / peaks[0]["bytes_per_s"]
                              else "memory")


def test_a_damaged_file_of_peaks_is_none(tell, tmp_path):
    file = tmp_path / "cache/varve/peaks.json"
    file.parent.mkdir(parents=True)
    for text in ("", "{", "[1, 2]", '{"machines": [{"machine": 3}]}',
                 '{"machines": [{"machine": "x", "cpus": "y"'):
        file.write_text(text)
        assert tell("doctor")["peaks"] == []


def test_what_is_needed_for_a_gpu(sources):
    """No driver, or the stand-ins for NVIDIA's libraries (tests/drivers)."""
    stand_ins = binary("tests/drivers/recorded/libcuda.so.1").parent
    free = dict.fromkeys(("CUDA_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN"), "")
    rows = sources(sys.executable, LD_LIBRARY_PATH=str(stand_ins), **free)
    state, detail = rows["cuda"]
    assert (state, detail.split("; ")[0]) == ("yes", "NVIDIA's driver, libcupti.so.12")
    assert rows["nccl"] == ("yes", "NCCL from 2.23 on, libnccl.so.2")
    assert rows["cuda_nodes"] == (
        "yes", "with cuda; ask for it:  varve record --collect +cuda_nodes")
    rows = sources(sys.executable, LD_LIBRARY_PATH=str(stand_ins),
                   CUDA_INJECTION64_PATH="/x/other.so")
    state, detail = rows["cuda"]
    assert (state, detail.split("; ")[0]) == (
        "no", "CUDA_INJECTION64_PATH names another tool: /x/other.so")
    cupti = stand_ins / "libcupti.so.12"
    rows = sources(sys.executable, LD_LIBRARY_PATH=str(stand_ins), VARVE_CUPTI=str(cupti), **free)
    assert (rows["cuda"][0], rows["cuda"][1].split("; ")[0]) == ("yes", f"NVIDIA's driver, {cupti}")
    rows = sources(sys.executable, LD_LIBRARY_PATH=str(stand_ins), VARVE_CUPTI="/nowhere", **free)
    assert (rows["cuda"][0], rows["cuda"][1].split("; ")[0]) == (
        "no", "VARVE_CUPTI=/nowhere cannot be loaded: unset it, or name a libcupti.so")
    rows = sources(sys.executable, LD_LIBRARY_PATH=str(stand_ins), NCCL_PROFILER_PLUGIN="none")
    assert rows["nccl"] == ("no", "NCCL_PROFILER_PLUGIN names another tool: none")
    rows = sources(sys.executable, LD_LIBRARY_PATH="/nowhere")
    assert rows["nccl"] == ("no", "no NCCL (libnccl.so.2) in this Python, nor where the loader "
                            "looks")


def test_what_is_needed_for_amds_gpus(sources):
    hip = binary("tests/drivers/hip/libamdhip64.so.7").parent
    sdk = binary("tests/drivers/rocprofiler/librocprofiler-sdk.so.1")
    state, detail = sources(sys.executable, LD_LIBRARY_PATH=f"{hip}:{sdk.parent}")["rocm"]
    assert (state, detail.split("; ")[0]) == ("yes", "ROCm from 6.2 on, librocprofiler-sdk.so.1")
    state, detail = sources(sys.executable, LD_LIBRARY_PATH=str(hip),
                            VARVE_ROCPROFILER=str(sdk))["rocm"]
    assert (state, detail.split("; ")[0]) == ("yes", f"ROCm from 6.2 on, {sdk}")
    assert sources(sys.executable, LD_LIBRARY_PATH=str(hip))["rocm"] == (
        "no", "ROCm, and no librocprofiler-sdk (6.2 and later): install the package "
        "rocprofiler-sdk, or VARVE_ROCPROFILER=/path/librocprofiler-sdk.so")
    assert sources(sys.executable, LD_LIBRARY_PATH="/nowhere")["rocm"] == (
        "no", "no ROCm (libamdhip64.so) in this Python, nor where the loader looks")


def test_a_slice_of_a_gpu_and_a_hidden_one(sources):
    stand_ins = binary("tests/drivers/recorded/libcuda.so.1").parent
    rows = sources(sys.executable, LD_LIBRARY_PATH=str(stand_ins), CUDA_VISIBLE_DEVICES="MIG-1234")
    assert "CUDA_VISIBLE_DEVICES names a slice of a GPU (MIG): its kernels are recorded" in (
        rows["cuda"][1])
    rows = sources(sys.executable, LD_LIBRARY_PATH=str(stand_ins), CUDA_VISIBLE_DEVICES="-1")
    assert "CUDA_VISIBLE_DEVICES=-1 hides every GPU from programs: unset it" in rows["cuda"][1]


def test_a_container_without_a_gpu(sources):
    rows = sources(sys.executable, LD_LIBRARY_PATH="/nowhere", NVIDIA_VISIBLE_DEVICES="void")
    assert rows["cuda"][0] == "yes" or rows["cuda"][1] == (
        "NVIDIA_VISIBLE_DEVICES=void: this container was given no GPU: start it with --gpus all "
        "(docker, podman) or --nv (apptainer)")

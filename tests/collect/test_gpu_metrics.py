# SPDX-License-Identifier: Apache-2.0
"""`varve record --metrics` of GPUs, with a stand-in for NVIDIA's library (tests/drivers): its
values are in the trace on the clock of the program, what a GPU does not tell is named and is no 0,
and a machine without the library is refused in a sentence. No GPU takes part."""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle")]

from cuda_recording import work_of  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402

MIB = 1 << 20
# What the stand-in says of GPU 0, with how far a value may be off.
EXACT = {"power (W)": 350.5, "power limit (W)": 400, "SM clock (MHz)": 1980,
         "memory clock (MHz)": 2619, "greatest SM clock (MHz)": 1980, "temperature (°C)": 61,
         "used memory (bytes)": 70 * MIB, "GPU utilization (%)": 97, "memory utilization (%)": 40}
RATES = {"NVLink sent (bytes/s)": 2 << 30, "NVLink received (bytes/s)": 1 << 30,
         "PCIe sent (bytes/s)": 4e9, "PCIe received (bytes/s)": 6e9}


def record(varve, folder, *options, program=("sleep", "0.15"), driver=True, **more):
    environment = quiet_environment(**more)
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    environment.update({name: value for name, value in more.items() if name.startswith("CUDA_")})
    if driver:
        library = binary("tests/drivers/metrics/libnvidia-ml.so.1")
        environment["LD_LIBRARY_PATH"] = str(library.parent)
    return subprocess.run([varve, "record", *options, "-o", "t.varve", "--", *program], cwd=folder,
                          env=environment, capture_output=True, text=True, check=False)


def counters(varve, folder):
    """{series: {counter: its row}}."""
    rows = tables(varve, "info", "--table", "counters", folder / "t.varve")["counters"]
    said = collections.defaultdict(dict)
    for row in rows:
        if row["row"] == "counter":
            said[row["series"]][row["name"]] = row
    return said


@pytest.fixture(name="recorded", scope="module")
def fixture_recorded(varve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    done = record(varve, folder, "--metrics", "gpu", "--metrics-period", "5ms",
                  program=[binary("examples/c-loop")])
    assert done.returncode == 0, done.stderr
    return folder, done


def test_each_value_is_the_librarys(varve, recorded):
    said = counters(varve, recorded[0])
    assert set(said) == {"cuda:0 device", "cuda:1 device"}
    first, second = said["cuda:0 device"], said["cuda:1 device"]
    for name, value in EXACT.items():
        assert (first[name]["min"], first[name]["max"]) == (value, value), name
    for name, value in RATES.items():
        assert first[name]["mean"] == pytest.approx(value, rel=0.2), name
    assert second["power (W)"]["mean"] == 351.5
    reasons = [name for name in first if name.startswith("throttled by ")]
    assert len(reasons) == 7
    assert {first[name]["max"] for name in reasons} == {0}
    assert set(first) == {*EXACT, *RATES, *reasons}


def test_values_lie_on_the_programs_clock_and_period(varve, recorded):
    trace = recorded[0] / "t.varve"
    rows = tables(varve, "info", "--table", "counter_values", trace)["counter_values"]
    at = [row["at_ns"] for row in rows
          if row["name"] == "power (W)" and row["series"] == "cuda:0 device"]
    steps = tables(varve, "steps", "--table", "steps", trace)["steps"]
    begins = [row["at_ns"] for row in steps if row["step"] is not None]
    assert sum(begins[0] <= time <= begins[-1] for time in at) >= 1
    assert len(at) <= (at[-1] - at[0]) / 5e6 + 2


def test_the_program_is_one_process_and_the_metrics_are_another(varve, recorded):
    folder, done = recorded
    rows = tables(varve, "info", "--table", "processes", folder / "t.varve")["processes"]
    names = sorted(row["name"] for row in rows if row["name"])
    assert "metrics of GPUs" in names and len(names) == 2
    assert "metrics of GPUs:" not in done.stderr  # every value was there
    manifest = json.loads((folder / "t.varve" / "manifest.json").read_text())
    assert manifest["collectors"] == [{"name": "varve", "attached": True, "why": ""},
                                      {"name": "metrics", "attached": True, "why": ""}]


def test_the_trace_is_whole(varve, recorded):
    done = subprocess.run([varve, "validate", "t.varve"], cwd=recorded[0], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_what_a_gpu_does_not_tell_is_named_once_and_is_no_zero(varve, tmp_path):
    done = record(varve, tmp_path, "--metrics", "power,nvlink,pcie", "--metrics-period", "20ms",
                  program=[binary("examples/c-loop")], STANDIN_NVML_LACKS="NvLink,PowerUsage")
    assert done.stderr.count("metrics of GPUs: cuda:0, cuda:1 do not tell power, NVLink\n") == 1
    assert set(counters(varve, tmp_path)["cuda:0 device"]) == {
        "power limit (W)", "PCIe sent (bytes/s)", "PCIe received (bytes/s)"}


def test_a_library_without_sums_and_with_the_first_layout(varve, tmp_path):
    record(varve, tmp_path, "--metrics", "pcie,used_memory", "--metrics-period", "20ms",
           STANDIN_NVML="old")
    said = counters(varve, tmp_path)["cuda:0 device"]
    assert {name: row["mean"] for name, row in said.items()} == {
        "PCIe sent (bytes/s)": 3e9, "PCIe received (bytes/s)": 5e9,
        "used memory (bytes)": 72 * MIB}


@pytest.mark.parametrize("visible, power", {
    "1": {"cuda:0 device": 351.5}, "1,0": {"cuda:0 device": 351.5, "cuda:1 device": 350.5},
    "GPU-1": {"cuda:0 device": 351.5}, "0,9,1": {"cuda:0 device": 350.5},
    "GPU-01d5cba7 , 1": {"cuda:0 device": 350.5, "cuda:1 device": 351.5},
    "MIG-5c89852c": {"cuda:0 whole GPU of the instance": 351.5},
}.items())
def test_gpus_are_those_that_the_program_may_see(varve, tmp_path, visible, power):
    record(varve, tmp_path, "--metrics", "power,used_memory", program=["true"],
           CUDA_VISIBLE_DEVICES=visible)
    said = counters(varve, tmp_path)
    assert {series: rows["power (W)"]["mean"] for series, rows in said.items()
            if "power (W)" in rows} == power
    if visible.startswith("MIG"):
        assert said["cuda:0 MIG instance"]["used memory (bytes)"]["mean"] == 10 * MIB


@pytest.mark.parametrize("more, power", [
    ({}, [350.5, 351.5]),  # one model: the driver's numbers, and CUDA is not asked
    ({"STANDIN_NVML": "mixed"}, [351.5, 350.5]),
    ({"STANDIN_NVML": "mixed", "CUDA_VISIBLE_DEVICES": "0,1"}, [351.5, 350.5]),
    ({"STANDIN_NVML": "mixed", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, [350.5, 351.5]),
    ({"STANDIN_NVML": "mixed", "CUDA_VISIBLE_DEVICES": "GPU-0,GPU-1"}, [350.5, 351.5]),
])
def test_gpus_of_several_models_are_numbered_as_cuda_numbers_them(varve, tmp_path, more, power):
    record(varve, tmp_path, "--metrics", "power", program=["true"], STANDIN_CUDA_ORDER="10", **more)
    said = counters(varve, tmp_path)
    assert [said[f"cuda:{i} device"]["power (W)"]["mean"] for i in (0, 1)] == power


def test_the_trace_knows_the_program_and_the_metrics_to_speak_of_one_gpu(varve, tmp_path):
    """The program sees GPU 1 alone, as a launcher of ranks would have it, and calls it `cuda:0`."""
    folder = binary("tests/drivers/recorded/libcuda.so.1").parent
    record(varve, tmp_path, "--metrics", "power", program=[
        "env", f"LD_LIBRARY_PATH={folder}", "STANDIN_GPUS=1", binary("tests/programs/cuda_program"),
        "plain"])
    uuids = [(row["device"] & 0xffff, row["uuid"]) for row in
             work_of(tmp_path / "t.varve")["devices"]]
    end = "1d5cba7-0000-0000-0000-000000000000"
    assert sorted(uuids) == [(0, "GPU-0" + end), (0, "GPU-1" + end), (1, "GPU-1" + end)]


@pytest.mark.parametrize("why, options, more", [
    ("the loader does not find it here: leave them out of --metrics, or record where the driver "
     "is; NVIDIA_DRIVER_CAPABILITIES=compute,utility gives it to a container",
     ["--metrics", "gpu"], {"driver": False}),
    ("no metrics of GPUs: Driver Not Loaded", ["--metrics", "gpu"], {"STANDIN_NVML": "refuses"}),
    ("has ended in the driver", ["--metrics", "gpu"], {"STANDIN_NVML": "dies"}),
    ("CUDA_VISIBLE_DEVICES='-1' shows no GPU", ["--metrics", "power"],
     {"CUDA_VISIBLE_DEVICES": "-1"}),
    ("nearest: power", ["--metrics", "powr"], {}),
    ("is not from 1ms to 1min", ["--metrics", "gpu", "--metrics-period", "1us"], {}),
    ("name some with --metrics", ["--metrics", "L2Cache", "--metrics-period", "1s"], {}),
    ("layer device, which --layers leaves out", ["--metrics", "gpu", "--layers", "op"], {}),
])
def test_what_cannot_be_is_refused_before_the_program_runs(varve, tmp_path, why, options, more):
    done = record(varve, tmp_path, *options, program=["touch", "ran"], **more)
    assert done.returncode == 125
    assert why in done.stderr and len(done.stderr.splitlines()) <= 3
    assert list(tmp_path.iterdir()) == []


def test_a_group_of_counters_and_metrics_of_gpus_in_one_list(varve, tmp_path):
    done = record(varve, tmp_path, "--metrics", "temperature,PipeUtilization",
                  program=[binary("examples/c-loop")])
    assert done.returncode == 0
    assert counters(varve, tmp_path)["cuda:0 device"]["temperature (°C)"]["mean"] == 61
    rows = tables(varve, "report", "--table", "step_counters", tmp_path / "t.varve")
    assert {"cpu_ns", "page_faults"} <= set(rows["step_counters"][0])


def test_a_signal_is_the_programs_and_the_metrics_end_with_it(varve, tmp_path):
    environment = quiet_environment(
        LD_LIBRARY_PATH=str(binary("tests/drivers/metrics/libnvidia-ml.so.1").parent))
    words = [varve, "record", "--metrics", "power", "-o", "t.varve", "--", "sh", "-c",
             "touch on; exec sleep 60"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True,
                          process_group=0) as command:
        wait_until(lambda: (tmp_path / "on").exists() or command.poll() is not None)
        subprocess.run(["kill", "-INT", "--", f"-{command.pid}"], check=True)
        assert "ended by signal 2" in command.communicate(timeout=120)[1]
        assert command.returncode == -signal.SIGINT
    assert counters(varve, tmp_path)["cuda:0 device"]["power (W)"]["values"] >= 1


@pytest.fixture(name="begin")
def fixture_begin(varve, tmp_path):
    """begin(OPTIONS…) starts a recording of `sleep`, in a group of its own, that reads power."""
    commands = []

    def start(*options):
        environment = quiet_environment(
            LD_LIBRARY_PATH=str(binary("tests/drivers/metrics/libnvidia-ml.so.1").parent))
        commands.append(subprocess.Popen(
            [varve, "record", "-q", "--metrics", "power", "--metrics-period", "5ms", *options, "-o",
             "t.varve", "--", "sh", "-c", "touch on; exec sleep 60"], cwd=tmp_path, env=environment,
            process_group=0))
        wait_until(lambda: (tmp_path / "on").exists() or commands[-1].poll() is not None)
        return commands[-1]
    yield start
    for command in commands:
        subprocess.run(["kill", "-KILL", "--", f"-{command.pid}"], stderr=subprocess.DEVNULL,
                       check=False)
        command.wait()


def readers(folder):
    """The processes that `varve record` has started beside the program, as the trace names them."""
    return [int(path.parent.name) for path in (folder / "t.varve").glob("*/metadata")
            if re.search(r'program = "[^"]*/varve"', path.read_text())]


def wait_until(is_so):
    end = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_start_and_stop_hold_for_the_metrics_too(varve, tmp_path, begin):
    begin("--paused")
    (reader,) = readers(tmp_path)
    stream = tmp_path / "t.varve" / str(reader) / "thread.1.0"
    assert not stream.exists()
    subprocess.run([varve, "start", "-q", str(reader)], check=True)
    wait_until(lambda: "cuda:0 device" in counters(varve, tmp_path))
    subprocess.run([varve, "stop", "-q", str(reader)], check=True)
    assert counters(varve, tmp_path)["cuda:0 device"]["power (W)"]["mean"] == 350.5


def test_nothing_outlives_a_command_that_is_killed(tmp_path, begin):
    command = begin()
    (reader,) = readers(tmp_path)
    proc = pathlib.Path(f"/proc/{reader}/stat")
    assert proc.exists()
    command.kill()
    command.wait()

    def has_ended():
        try:
            return proc.read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    wait_until(has_ended)


@pytest.mark.parametrize("how, says", [
    (signal.SIGKILL, "ended before the program, and what came later is missing"),
    (signal.SIGSTOP, "did not end in the driver, and what came last may be missing")])
def test_a_reader_that_does_not_last_is_told(tmp_path, begin, how, says):
    command = begin()
    (reader,) = readers(tmp_path)
    os.kill(reader, how)
    command.terminate()
    assert command.wait() == 128 + signal.SIGTERM
    manifest = json.loads((tmp_path / "t.varve" / "manifest.json").read_text())
    assert [row["why"] for row in manifest["collectors"] if row["name"] == "metrics"] == [
        f"the process that reads them {says}"]

# SPDX-License-Identifier: Apache-2.0
"""Table `throttling` and the findings about it: what held the clocks of a device down during the
steps, for how long, and what that costs at most."""
import collections
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle")]

import trace_writer  # noqa: E402
from recording import binary, quiet_environment  # noqa: E402
from table_reader import tables  # noqa: E402

GPU = [1 << 16, 1 << 16 | 1]
MS = 1_000_000
STEPS, STEP_MS, FIRST_MS = 10, 10, 5  # steps from 5 ms to 105 ms, one after the other


def write(path, held, reason="power_limit", with_kernels=True, uuids=None):
    """A program whose kernels fill its steps, and a process that reads the clocks of two GPUs:
    `held` is [(ms, 0 or 1)] of GPU 1, which has 1,500 MHz then, else 2,000. `uuids` are the
    program's and the reader's devices."""
    trace = trace_writer.Trace(path)
    program = trace.process(pid=100)
    for device, uuid in (uuids or ({}, {}))[0].items():
        program.collector(f"fact.device.cuda.{device}", "note", f"uuid={uuid};name=H100")
    thread = program.thread(tid=100)
    launch = program.site("begin", "cudaLaunchKernel", layer="RUNTIME")
    wait = program.site("begin", "cudaDeviceSynchronize", layer="RUNTIME")
    program.track(1, "stream 7", "ticks", (GPU[1], 1, 7))
    for step in range(STEPS):
        begin = (FIRST_MS + step * STEP_MS) * MS
        thread.step_begin(step, at=begin)
        thread.begin(launch, at=begin + 1000)
        thread.launch(step + 1, at=begin + 1001)
        thread.end(at=begin + 3000)
        thread.begin(wait, at=begin + 4000)
        thread.end(at=begin + STEP_MS * MS - 2000)
        if with_kernels:
            thread.activity(1, "gemm", (begin + 3000, begin + STEP_MS * MS - 3000),
                            at=begin + STEP_MS * MS - 1000, correlation=step + 1)
        thread.step_end(at=begin + STEP_MS * MS - 500)
    beside = trace.process(pid=200)
    for device, uuid in (uuids or ({}, {}))[1].items():
        beside.collector(f"fact.device.cuda.{device}", "note", f"uuid={uuid};name=H100")
    reader = beside.thread(tid=200)
    for track, gpu in enumerate(GPU, start=1):
        beside.track(track, "device", "ticks", gpu)
    for ms, value in held:
        at = ms * MS
        for track in (1, 2):
            now = value if track == 2 else 0
            for name, number in (("SM clock (MHz)", 1500 if now else 2000),
                                 ("greatest SM clock (MHz)", 2000), ("power (W)", 300 + now),
                                 ("power limit (W)", 301), ("temperature (°C)", 60 + now),
                                 ("throttled by " + reason, now)):
                reader.device_counter(track, name, at, number, at=at)
    return trace.write()


def throttling(varve, trace, *options):
    return tables(varve, "report", "--no-cache", "--table", "throttling", *options,
                  trace)["throttling"]


def advice(varve, trace):
    rows = tables(varve, "report", "--no-cache", "--table", "advice", "--top", "0", trace)
    return {row["rule"]: row for row in rows["advice"]}


HELD = [(0, 0), (25, 1), (45, 0), (65, 1), (75, 0), (110, 0)]


def test_held_times_are_those_within_the_steps(varve, tmp_path):
    (row,) = throttling(varve, write(tmp_path / "t.varve", HELD))
    observed = STEPS * STEP_MS * MS - STEPS * 500
    held = 30 * MS - 3 * 500
    assert (row["device"], row["code"], row["reason"]) == ("cuda:1", "power_limit",
                                                           "its power limit")
    assert (row["held_ns"], row["observed_ns"]) == (held, observed)
    assert row["share"] == pytest.approx(held / observed)
    assert row["slower_ns"] == round(held * 0.25)
    assert (row["clock_mhz"], row["greatest_mhz"], row["power_w"], row["power_limit_w"],
            row["temperature_c"]) == (1500, 2000, 301, 301, 61)


def test_only_the_steps_that_are_asked_for_count(varve, tmp_path):
    trace = write(tmp_path / "t.varve", HELD)
    assert throttling(varve, trace, "--steps", "0..1") == []
    (row,) = throttling(varve, trace, "--steps", "2..3")
    assert row["held_ns"] == row["observed_ns"] == 20 * MS - 2 * 500


def test_time_before_the_first_value_is_not_observed(varve, tmp_path):
    (row,) = throttling(varve, write(tmp_path / "t.varve", [(55, 1), (65, 0)]))
    assert (row["held_ns"], row["observed_ns"]) == (10 * MS - 500, 50 * MS - 5 * 500)


@pytest.mark.parametrize("own, device", [
    ({0: "GPU-1"}, "cuda:0"), ({5: "GPU-1", 1: "GPU-0"}, "cuda:5"), ({0: "GPU-7"}, "cuda:1"),
    ({}, "cuda:1"), ({1: "GPU-7"}, "GPU-1")])
def test_a_device_is_called_as_the_program_calls_it(varve, tmp_path, own, device):
    trace = write(tmp_path / "t.varve", HELD, uuids=(own, {0: "GPU-0", 1: "GPU-1"}))
    (row,) = throttling(varve, trace)
    assert row["device"] == device
    assert f"clocks of {device} are held down" in advice(varve, trace)["throttled"]["finding"]


@pytest.mark.parametrize("own, names", [
    ({0: "GPU-0", 1: "GPU-1"}, ("cuda:0", "cuda:1")), ({}, ("cuda:0", "cuda:1")),
    ({0: "GPU-1", 1: "GPU-0"}, ("cuda:1", "cuda:0")), ({0: "GPU-1"}, ("GPU-0", "cuda:0")),
    ({5: "GPU-1"}, ("cuda:0", "cuda:5"))])
def test_counters_name_devices_as_the_program_does(varve, tmp_path, own, names):
    """GPU 0 has 300 W, GPU 1 301 at times. Who does not use a device cannot take its name."""
    trace = write(tmp_path / "t.varve", HELD, uuids=(own, {0: "GPU-0", 1: "GPU-1"}))
    for table in ("counters", "counter_values"):
        rows = tables(varve, "info", "--no-cache", "--table", table, trace)[table]
        power = collections.defaultdict(set)
        for row in rows:
            if row["name"] == "power (W)":
                power[row["series"]].add(row["max"] if table == "counters" else row["value"])
        assert power == {f"{names[0]} device": {300}, f"{names[1]} device": (
            {301} if table == "counters" else {300, 301})}


def test_a_last_value_holds_to_the_end(varve, tmp_path):
    (row,) = throttling(varve, write(tmp_path / "t.varve", [(0, 0), (95, 1)]))
    assert row["held_ns"] == 10 * MS - 500


def test_the_finding_says_reason_share_place_and_remedy(varve, tmp_path):
    found = advice(varve, write(tmp_path / "t.varve", HELD))["throttled"]
    assert found["finding"] == ("The clocks of cuda:1 are held down by its power limit in 30.0 % "
                                "of the steps' time. To gain: at most 750 µs a step.")
    assert found["why"] == ("Meanwhile the SM clock is 1500 MHz in the mean, of 2000; 301 W of "
                            "301, 61 °C.")
    assert "nvidia-smi -pl" in found["try"]
    assert found["see"].startswith("varve report --table throttling")
    assert (found["saves_ns"], round(found["share"], 3)) == (749_962, 0.3)


def test_the_twin_whose_clocks_are_free_is_silent(varve, tmp_path):
    trace = write(tmp_path / "t.varve", [(ms, 0) for ms, _ in HELD])
    assert throttling(varve, trace) == []
    assert not {"throttled", "throttled_by_fault"} & set(advice(varve, trace))


def test_a_power_limit_matters_only_where_devices_compute(varve, tmp_path):
    trace = write(tmp_path / "t.varve", HELD, with_kernels=False)
    assert not {"throttled", "throttled_by_fault"} & set(advice(varve, trace))


@pytest.mark.parametrize("reason", ["temperature_by_hardware", "power_brake", "hardware_slowdown"])
def test_heat_and_the_power_supply_matter_always(varve, tmp_path, reason):
    trace = write(tmp_path / "t.varve", HELD, reason, with_kernels=False)
    found = advice(varve, trace)["throttled_by_fault"]
    assert round(found["share"], 3) == 0.3 and found["saves_ns"] is None
    assert found["try"]


def test_a_reason_of_another_name_is_another_counter(varve, tmp_path):
    assert throttling(varve, write(tmp_path / "t.varve", HELD, "somebody")) == []


@pytest.mark.parametrize("word, code", [
    (0x4, ["power_limit"]), (0x48, ["temperature_by_hardware"]), (0x88, ["power_brake"]),
    (0x8, ["hardware_slowdown"]), (0x101, []), (0x26, ["power_limit", "temperature_by_driver",
                                                       "application_clocks"]),
])
def test_a_recording_of_the_stand_in_says_the_same(varve, tmp_path, word, code):
    """NVIDIA's word: idle and the display's clock are no reason; the hardware's slowdown is one
    only where neither heat nor the power supply is."""
    library = binary("tests/drivers/metrics/libnvidia-ml.so.1")
    subprocess.run([varve, "record", "--metrics", "clocks,throttling", "--metrics-period", "5ms",
                    "-q", "-o", "t.varve", "--", binary("examples/c-loop")], cwd=tmp_path,
                   env=quiet_environment(LD_LIBRARY_PATH=str(library.parent),
                                         STANDIN_NVML_REASONS=hex(word)),
                   capture_output=True, check=True)
    rows = [row for row in throttling(varve, tmp_path / "t.varve") if row["device"] == "cuda:1"]
    assert [row["code"] for row in rows] == code
    assert {(row["share"], row["clock_mhz"]) for row in rows} <= {(1.0, 1200)}


def test_what_was_exported_is_read_the_same(varve, tmp_path):
    trace = write(tmp_path / "t.varve", HELD)
    subprocess.run([varve, "export", "--to", "chrome", "-o", tmp_path / "t.json", trace],
                   capture_output=True, check=True)
    (row,), (again,) = throttling(varve, trace), throttling(varve, tmp_path / "t.json")
    assert again["device"].startswith("cuda:1")
    assert [again[name] for name in ("code", "held_ns", "observed_ns", "slower_ns", "power_w")] == [
        row[name] for name in ("code", "held_ns", "observed_ns", "slower_ns", "power_w")]

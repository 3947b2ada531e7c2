# SPDX-License-Identifier: Apache-2.0
"""varve export --to pgle: costs of XLA's instructions, for its scheduler. protoc reads both
forms."""
import collections
import pathlib
import statistics
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import protoc  # noqa: E402
from protobuf_bytes import message  # noqa: E402
from xspace_bytes import Plane, environment, space, to_dict  # noqa: E402

SCHEMA = pathlib.Path(__file__).with_name("hlo.proto")
PROTO = "ProfiledInstructionsProto"


def export(varve, path, name, folder, *options):
    out = folder / name
    done = subprocess.run([str(varve), "export", "--to", "pgle", "--no-cache", "-o", str(out),
                           *options, str(path)], capture_output=True, text=True, check=False)
    return out, done


def costs(varve, path, folder):
    """{name: µs}, the same from text and binary."""
    text, done = export(varve, path, "costs.pbtxt", folder)
    assert done.returncode == 0, done.stderr
    binary, done = export(varve, path, "costs.pb", folder)
    assert done.returncode == 0, done.stderr
    assert protoc.encode(PROTO, SCHEMA, text.read_bytes()) == binary.read_bytes()
    decoded = protoc.decode(PROTO, SCHEMA, binary.read_bytes())
    assert set(decoded) == {"costs"}
    found = {cost["name"][0]: cost["cost_us"][0] for cost in decoded["costs"]}
    assert len(found) == len(decoded["costs"])
    return found


def hlo_program(name, fingerprint):
    attributes = message((1, message((1, "fingerprint_before_lhs"), (2, fingerprint))))
    return message((1, message((1, name), (19, attributes))))


def profile(*events, fingerprint=None, plane="/device:GPU:0", line="Stream #7(Kernel)"):
    """A space with one event for each (instruction, program, range, begin µs, length µs)."""
    device, host = Plane(plane, 1), Plane("/host:metadata")
    if fingerprint:
        host.metadata("jit_f(12)", None,
                      [host.stat("Hlo Proto", hlo_program("jit_f", fingerprint), 6)])
    made = []
    for instruction, program, span, begin, length in events:
        stats = [device.stat("hlo_op", instruction), device.stat("hlo_module", program),
                 device.stat("program_id", 12, 3)]
        if span:
            stats.append(device.stat("scope_range_id", span))
        made.append(device.event("a_kernel", begin * 10**6, length * 10**6, stats))
    device.line(7, made, line)
    return space(host, device, environment(1_700_000_000 * 10**9, 5))


def write(folder, data):
    path = folder / "host.xplane.pb"
    path.write_bytes(data)
    return path


def test_a_cost_is_the_mean_of_the_executions(varve, tmp_path):
    data = profile(("fusion.3", "jit_f", 0, 0, 10), ("dot.1", "jit_f", 0, 10, 7),
                   ("fusion.3", "jit_f", 0, 20, 21))
    assert costs(varve, write(tmp_path, data), tmp_path) == {"fusion.3": 15.5, "dot.1": 7.0}


def test_clones_are_averaged_with_the_original(varve, tmp_path):
    data = profile(("dot.1", "jit_f", 0, 0, 10), ("dot.1.remat", "jit_f", 0, 10, 20),
                   ("dot.1.remat2", "jit_f", 0, 40, 60), ("dot.1.remat2.remat", "jit_f", 0, 100, 2))
    assert costs(varve, write(tmp_path, data), tmp_path) == {"dot.1": 23.0}


def test_pieces_of_one_execution_are_joined(varve, tmp_path):
    """Three kernels of one run of an instruction: 0-10, 5-20 and 30-40 cover 30 µs."""
    data = profile(("dot.1", "jit_f", 5, 0, 10), ("dot.1", "jit_f", 5, 5, 15),
                   ("dot.1", "jit_f", 5, 30, 10), ("dot.1", "jit_f", 6, 50, 10))
    assert costs(varve, write(tmp_path, data), tmp_path) == {"dot.1": 20.0}


def test_the_program_s_fingerprint_is_in_the_name(varve, tmp_path):
    data = profile(("dot.1", "jit_f", 0, 0, 10), ("dot.1", "jit_g", 0, 10, 20), fingerprint="f00d")
    assert costs(varve, write(tmp_path, data), tmp_path) == {"f00d::dot.1": 10.0, "dot.1": 20.0}


def test_a_name_of_two_programs_is_told(varve, tmp_path):
    path = write(tmp_path, profile(("dot.1", "jit_f", 0, 0, 10), ("dot.1", "jit_g", 0, 10, 20)))
    _, done = export(varve, path, "costs.pb", tmp_path)
    assert "1 cost is of an instruction's name that several programs have" in done.stderr
    assert costs(varve, path, tmp_path) == {"dot.1": 15.0}


def test_odd_names_are_escaped(varve, tmp_path):
    data = profile(('a"b\\c\n', "jit_f", 0, 0, 1), ("é", "jit_f", 0, 2, 3))
    assert costs(varve, write(tmp_path, data), tmp_path) == {'a"b\\c\n': 1.0, "é": 3.0}


def test_transfers_of_the_asynchronous_line_are_left_out(varve, tmp_path):
    path = write(tmp_path, profile(("copy-start", "jit_f", 0, 0, 1), plane="/device:TPU:0",
                                   line="Async XLA Ops"))
    out, done = export(varve, path, "costs.pb", tmp_path)
    assert done.returncode != 0 and "no instruction of XLA" in done.stderr
    assert not out.exists()


def test_a_profile_of_the_cpu_is_refused(varve, tmp_path):
    path = write(tmp_path, profile(("dot.1", "jit_f", 0, 0, 1), plane="/host:CPU", line="main"))
    out, done = export(varve, path, "costs.pb", tmp_path)
    assert done.returncode != 0
    assert "on the CPU, whose compiler reads no such profile" in done.stderr
    assert not out.exists()


def events_of(data, prefix):
    """(instruction, program, µs) of each event of the planes, by another reader."""
    for plane in to_dict(data)["planes"]:
        if not plane.get("name", "").startswith(prefix):
            continue
        names = {key: value.get("name") for key, value in plane["stat_metadata"].items()}
        for line in plane["lines"]:
            for event in line.get("events", []):
                stats = {names[stat["metadata_id"]]: stat for stat in event.get("stats", [])}
                if "hlo_op" in stats:
                    texts = [stats[key].get("str_value") or names[stats[key]["ref_value"]]
                             for key in ("hlo_op", "hlo_module")]
                    yield (*texts, int(event.get("duration_ps", 0)) / 1e6)


def test_a_real_profile_of_a_gpu(varve, traces, tmp_path):
    path = traces / "xplane" / "jax_mi300_conv.xplane.pb"
    expected = collections.defaultdict(list)
    for instruction, program, length in events_of(path.read_bytes(), "/device:GPU"):
        expected[program, instruction].append(length)
    found = costs(varve, path, tmp_path)
    assert all("::" in name for name in found)
    assert sorted(name.split("::")[1] for name in found) == sorted(
        instruction for _, instruction in expected)
    for name, cost in found.items():
        fits = [statistics.mean(lengths) for (_, instruction), lengths in expected.items()
                if instruction == name.split("::")[1]]
        assert any(cost == pytest.approx(mean, abs=0.002) for mean in fits), name


def test_a_real_profile_of_a_tpu(varve, traces, tmp_path):
    found = costs(varve, traces / "xplane" / "jax_tpu_inference.xplane.pb", tmp_path)
    assert found["all-reduce"] == pytest.approx(121700.490, abs=0.001)
    assert not any(name.startswith("%") or " " in name for name in found)

# SPDX-License-Identifier: Apache-2.0
"""The HLO programs in real profiles, as varve reads them and as protoc does."""
import base64
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import protoc  # noqa: E402
from xspace_bytes import to_dict  # noqa: E402

SCHEMA = pathlib.Path(__file__).with_name("hlo.proto")


def one(message, name, otherwise=0):
    return message.get(name, [otherwise])[0]


def programs(data):
    """(title, HloProto) of each program in a profile."""
    for plane in to_dict(data).get("planes", []):
        names = {key: value.get("name") for key, value in plane.get("stat_metadata", {}).items()}
        for entry in plane.get("event_metadata", {}).values():
            for stat in entry.get("stats", []):
                if names.get(stat["metadata_id"]) == "Hlo Proto":
                    yield entry["name"], base64.b64decode(stat["bytes_value"])


def stack_of(module, frame):
    """Functions of a call stack, innermost first, and its innermost file and line."""
    index = one(module, "stack_frame_index", {})
    functions, first = [], None
    while frame:
        entry = index["stack_frames"][frame - 1]
        place = index["file_locations"][one(entry, "file_location_id") - 1]
        functions.append(index["function_names"][one(place, "function_name_id") - 1])
        first = first or (index["file_names"][one(place, "file_name_id") - 1],
                          str(one(place, "line")))
        frame = one(entry, "parent_frame_id")
    return functions, first or ("", "0")


def inner(module, instruction, seen):
    by_id = {one(item, "id"): item for item in module["computations"]}
    found = []
    for called in instruction.get("called_computation_ids", []):
        if called not in seen:
            seen.add(called)
            found += by_id[called]["instructions"]
    return found


def expected_lines(title, data):
    module = one(protoc.decode("HloProto", SCHEMA, data), "hlo_module")
    for computation in module["computations"]:
        names = {one(row, "id", 0): one(row, "name") for row in computation["instructions"]}
        is_entry = one(computation, "id") == one(module, "entry_computation_id")
        for instruction in computation["instructions"]:
            metadata = one(instruction, "metadata", {})
            stack, place = stack_of(module, one(metadata, "stack_frame_id"))
            if "source_file" in metadata:
                place = one(metadata, "source_file"), str(one(metadata, "source_line"))
            seen = {one(computation, "id")}
            members = inner(module, instruction, seen)
            for member in members:
                members += inner(module, member, seen)
            yield "\t".join([one(module, "name"), title[title.rindex("(") + 1:-1],
                             one(computation, "name"), one(instruction, "name"),
                             one(instruction, "opcode"), one(metadata, "op_type", ""),
                             one(metadata, "op_name", ""), *place, ";".join(stack),
                             str(one(instruction, "parameter_number", 0)
                                 or one(instruction, "tuple_index", 0)),
                             " ".join(names[operand] for operand in
                                      instruction.get("operand_ids", [])),
                             "entry" * is_entry + "root" * (
                                 one(instruction, "id", 0) == one(computation, "root_id", 0)),
                             " ".join(one(member, "name") for member in members)])


@pytest.mark.parametrize("name, program_count, fusions", [("jax_mi300_conv", 8, 19),
                                                          ("jax_tpu_inference", 4, 4)])
def test_every_instruction_is_read_as_protoc_reads_it(build, traces, name, program_count,
                                                          fusions):
    path = traces / "xplane" / f"{name}.xplane.pb"
    expected = [line for title, data in programs(path.read_bytes())
                for line in expected_lines(title, data)]
    done = subprocess.run([str(build / "tests/tools/hlo_lines"), str(path)], capture_output=True,
                          text=True, check=True)
    assert done.stdout.splitlines() == expected
    assert sum(line.rsplit("\t", 1)[1] != "" for line in expected) == fusions
    assert done.stderr == f"{program_count} programs, 0 damaged\n"


def test_a_profile_without_programs_gives_none(build, traces):
    done = subprocess.run([str(build / "tests/tools/hlo_lines"),
                           str(traces / "mlirgraph" / "profiler_ops.pb")], capture_output=True,
                          text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "0 programs, 0 damaged\n")

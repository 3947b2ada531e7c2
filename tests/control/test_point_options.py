# SPDX-License-Identifier: Apache-2.0
"""The options fp_point and bp_point name the trace points of a program that names none itself."""
import json
import subprocess

from recording import binary, quiet_environment

FOUND = ["1 found: the first of 1 node with a task that read what 1 source brings in, here 'x' "
         "(Data)",
         "3 found: the last of 1 node that 'grad1' (NetOutput), the output, waits for"]


def plan(tmp_path, options=None):
    environment = quiet_environment()
    if options is not None:
        environment["VARVE_OPTIONS"] = json.dumps({"output": "t.varve", **options})
    done = subprocess.run([binary("tests/programs/trace_plan")], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_without_options_points_are_found(tmp_path):
    assert plan(tmp_path) == (0, ["not given", *FOUND])


def test_options_name_them_and_are_in_effect(tmp_path):
    assert plan(tmp_path, {"fp_point": "conv2", "bp_point": "conv1"}) == (0, [
        "in effect", "2 named: fp_point is 'conv2'", "1 named: bp_point is 'conv1'"])
    assert plan(tmp_path, {"fp_point": "", "bp_point": "grad2"}) == (0, [
        "in effect", FOUND[0], "3 named: bp_point is 'grad2'"])


def test_a_name_that_no_node_has_is_an_error(tmp_path):
    assert plan(tmp_path, {"fp_point": "conv3"}) == (1, [
        "in effect",
        "varve_trace_plan: fp_point: no node is called 'conv3'; nearest: 'conv1'"])


def test_a_name_that_is_too_long_is_refused(tmp_path):
    environment = quiet_environment() | {"VARVE_DEBUG": "1", "VARVE_OPTIONS":
                                         json.dumps({"fp_point": "x" * 1024})}
    done = subprocess.run([binary("tests/programs/trace_plan")], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, check=True)
    assert done.stderr == ("varve: not recorded: VARVE_OPTIONS: option 'fp_point' has 1024 bytes; "
                           "it takes at most 1023, at byte 13\n")
    assert done.stdout.splitlines()[0] == "not given"

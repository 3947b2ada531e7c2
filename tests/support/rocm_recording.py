# SPDX-License-Identifier: Apache-2.0
"""Runs tests/programs/rocm_program on the stand-ins for AMD's HIP and rocprofiler-sdk
(tests/drivers). cuda_recording.py says what a recording has."""
import subprocess

from recording import binary, quiet_environment

VARIABLES = ("ROCP_TOOL_LIBRARIES", "ROCPROFILER_REGISTER_LIBRARY", "VARVE_ROCPROFILER",
             "ROCPROFILER_REGISTER_FORCE_LOAD", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
             "CUDA_VISIBLE_DEVICES")


def environment_of(wrong="", has_sdk=True, **more):
    """… in which programs find the stand-ins. `wrong` has the words of standin_rocprofiler.c."""
    folders = [str(binary("tests/drivers/hip/libamdhip64.so.7").parent)]
    if has_sdk:
        folders.append(str(binary("tests/drivers/rocprofiler/librocprofiler-sdk.so.1").parent))
    environment = quiet_environment(LD_LIBRARY_PATH=":".join(folders), STANDIN_ROCM=wrong)
    for name in VARIABLES:
        environment.pop(name, None)
    return environment | more


def run(folder, mode, *under, **more):
    return subprocess.run([*under, binary("tests/programs/rocm_program"), mode], cwd=folder,
                          env=environment_of(**more), capture_output=True, text=True, check=False)


def record(varve, folder, mode, *options, **more):
    done = run(folder, mode, varve, "record", *options, "-o", "t.varve", "--", **more)
    assert done.returncode == 0 or mode == "kill", done.stderr
    return folder / "t.varve", done.stderr

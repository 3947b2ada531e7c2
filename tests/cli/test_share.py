# SPDX-License-Identifier: Apache-2.0
"""Who may read what `varve record` writes: the user alone, or with --share whom umask lets. The
owner's rights are never taken away."""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile

import pytest

NOBODY = 65534


@pytest.fixture
def home():
    """A folder that everybody may read. pytest closes the folder that holds its own."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="varve-share-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def record(varve, program, trace, mask, options=(), **environment):
    """Records a process; returns the modes of its folders and of its files."""
    subprocess.run([varve, "record", *options, "-o", trace, "--", program, "0"], umask=mask,
                   timeout=120, check=True, capture_output=True, env={**os.environ, **environment})
    paths = [trace, *trace.rglob("*")]
    assert {path.name for path in paths} > {"manifest.json", "metadata"}
    return tuple({stat.S_IMODE(path.lstat().st_mode) for path in paths
                  if path.is_dir() == is_folder} for is_folder in (True, False))


@pytest.mark.parametrize("mask", [0o022, 0o002, 0o077, 0, 0o777])
@pytest.mark.parametrize("options, asked, modes", [((), {}, (0o700, 0o600)),
                                                   (("--share",), {}, (0o755, 0o644)),
                                                         ((), {"VARVE_SHARE": "1"},
                                                          (0o755, 0o644))])
def test_modes_of_a_trace(varve, program, home, mask, options, asked, modes):
    expected = tuple({mode & ~(mask & 0o077)} for mode in modes)
    assert record(varve, program, home / "x.varve", mask, options, **asked) == expected


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_another_user_reads_a_shared_trace_and_no_other(varve, program, home):
    for name, options in (("own", ()), ("shared", ("--share",))):
        record(varve, program, home / f"{name}.varve", 0o022, options)
    told = {name: subprocess.run([varve, "info", home / f"{name}.varve"], user=NOBODY, group=NOBODY,
                                 extra_groups=[], capture_output=True, text=True, timeout=120,
                                 check=False) for name in ("own", "shared")}
    assert told["shared"].returncode == 0 and "every_record" in told["shared"].stdout, told[
        "shared"].stderr
    assert told["own"].returncode == 3 and "Permission denied" in told["own"].stderr

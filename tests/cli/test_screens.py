# SPDX-License-Identifier: Apache-2.0
"""The first screen, as a terminal of 80, 100 and 140 columns shows it: kept for traces of our own,
by its laws for the real ones. VARVE_WRITE_PAGES=1 writes the kept screens anew: look at each.

Laws: no line is longer than the terminal; trust, verdict and the first finding's head fit 24 rows;
no blank within a number, and no line ends between it and its unit; no text is cut at its end."""
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import screen_traces  # noqa: E402 pylint: disable=wrong-import-position

WIDTHS = (80, 100, 140)
ROWS = 24
KEPT = pathlib.Path(__file__).resolve().parent / "screens"
REAL = ["hta/ns_resolution.json.gz", "dlrm8/rank1.json.gz", "kineto/resnet50_workers0.json.gz",
        "tracelens/h100_timesformer.json.gz", "tracelens/sglang_decode.json.gz",
        "xplane/jax_mi300_conv.xplane.pb", "xplane/jax_tpu_inference.xplane.pb",
        "ascend/trace_view.json.gz", "nsys/saxpy_mpi_cuda.sqlite",
        "onnxruntime/ort_parallel.json.gz", "dlrm8"]


def screen(varve, name, width, folder):
    """What `varve report NAME` shows there."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "VARVE_PAGER": "cat",
                   "TZ": "UTC", "XDG_CACHE_HOME": str(folder)}
    environment.pop("COLUMNS", None)
    output = b""
    with subprocess.Popen([varve, "report", "--no-cache", name], stdin=terminal, stdout=terminal,
                          stderr=subprocess.DEVNULL, env=environment, cwd=folder) as process:
        os.close(terminal)
        while True:
            try:
                data = os.read(reader, 65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            output += data
    os.close(reader)
    assert process.returncode == 0, output
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode()).replace("\r", "")


def check_laws(text, width):
    lines = text.splitlines()
    assert [line for line in lines if len(line) > width and "/" not in line] == []
    first = next((at for at, line in enumerate(lines) if line.startswith("LOOK FIRST")), None)
    assert first is not None and first + 2 <= ROWS, first
    assert [line for line in lines if re.search(r"(?<![\w.])\d{1,3} \d{3}(?![\d:-])", line)] == []
    assert [line for line, after in zip(lines, lines[1:])
            if re.search(r"\d$", line) and re.match(r" +([nµm]?s|[kMG]?B|%)\b", after)] == []
    assert [line for line in lines if line.endswith("…")] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("made", screen_traces.ALL, ids=lambda made: made.__name__)
def test_a_screen_is_as_it_was(varve, tmp_path, made, width):
    text = screen(varve, made(tmp_path), width, tmp_path)
    check_laws(text, width)
    kept = KEPT / f"{made.__name__}.{width}.txt"
    if os.environ.get("VARVE_WRITE_PAGES"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(text, encoding="utf-8")
    assert text == kept.read_text(encoding="utf-8"), kept


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", REAL)
def test_screens_of_real_traces_keep_the_laws(varve, traces, tmp_path, name, width):
    (tmp_path / "trace").symlink_to(traces / name)
    check_laws(screen(varve, "trace", width, tmp_path), width)


def test_ranks_are_told_apart(varve, tmp_path):
    name = screen_traces.ranks(tmp_path)
    for width in WIDTHS:
        check_laws(screen(varve, name, width, tmp_path), width)
    report = screen(varve, name, 140, tmp_path)
    assert "2 processes, 2 threads recorded" in report # Kineto lists a process for a device, too
    assert "on 2 threads of 2 ranks" in report and re.search(r"^  device +rank ", report, re.M)
    done = subprocess.run([varve, "steps", "-q", "--json", name], cwd=tmp_path, check=True,
                          capture_output=True)
    table = json.loads(done.stdout)["tables"]["steps"]
    at = [column["name"] for column in table["columns"]].index("rank")
    assert sorted(row[at] for row in table["rows"]) == [0] * 6 + [1] * 6

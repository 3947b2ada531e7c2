# SPDX-License-Identifier: Apache-2.0
"""Every real trace of every format, plain, as it lies and compressed otherwise, cut at many places
and with bits flipped at many: what is read is a clean part of the whole, and said to be one, or an
error says where (tools/trace_damage.c).

VARVE_SOAK=1: each at 1,000 cuts and 10,000 flips, files of which that would be more than BYTES_MAX
at as many places as that allows, and their first PIECE_BYTES at all. Otherwise a sample, with every
PACKED_STEP-th file compressed; a quarter of it in a build without a sanitizer, which sees less of
the same readings."""
import gzip
import json
import os
import shutil
import subprocess

import pytest

SOAK = os.environ.get("VARVE_SOAK") == "1"
IS_SANITIZED = os.environ.get("VARVE_BUILD", "").endswith("/sanitize")
PLACES = {"cuts": 1000, "flips": 10000} if SOAK else (
    {"cuts": 40, "flips": 60} if IS_SANITIZED else {"cuts": 10, "flips": 15})
BYTES_MAX = 100_000_000 if SOAK else 12_000_000
PIECE_BYTES = 32 << 10 if SOAK else 16 << 10
PACKED_STEP = 1 if SOAK else 6
FORMATS = ("json", "json.gz", "pb", "sqlite", "rpd", "rpd.gz")
REFUSED = "bad_utf8_mangled"  # whole, too: doc of the traces


def all_traces(folder):
    return sorted(path for path in folder.rglob("*") if path.name.endswith(FORMATS)
                  and path.is_file())


def forms(traces, work):
    """[(name, bytes to damage, bytes that reading them reads)]: the text, its first piece, and
    compressed."""
    for number, path in enumerate(all_traces(traces)):
        name, packed = str(path.relative_to(traces)), path.read_bytes()
        is_packed = packed[:2] == b"\x1f\x8b"
        text = gzip.decompress(packed) if is_packed else packed
        yield name, text, len(text)
        if len(text) > PIECE_BYTES:
            yield f"{name}, first piece", text[:PIECE_BYTES], PIECE_BYTES
        if number % PACKED_STEP != 0:
            continue
        yield f"{name}, gzip", packed if is_packed else gzip.compress(packed, mtime=0), len(text)
        if shutil.which("zstd") is not None:
            (work / "whole").write_bytes(text)
            subprocess.run(["zstd", "-q", "-f", str(work / "whole")], check=True)
            yield f"{name}, zstd", (work / "whole.zst").read_bytes(), len(text)


def damage(build, kind, count, data, work):
    (work / "trace").write_bytes(data)
    return subprocess.run([build / "tests" / "tools" / "trace_damage", kind, str(count),
                           work / "trace", work / "damaged"],
                          capture_output=True, text=True, check=False,
                          env={"ASAN_OPTIONS": "quarantine_size_mb=16:hard_rss_limit_mb=4096",
                               **os.environ})


@pytest.mark.timeout(0 if SOAK else 900)
@pytest.mark.parametrize("kind", ["cuts", "flips"])
def test_a_damaged_trace_is_read_in_part_or_refused(build, traces, tmp_path, kind):
    tool = build / "tests" / "tools" / "trace_damage"
    if not tool.exists():
        pytest.skip("needs trace_damage: make tests")
    totals, broken = {}, []
    for name, data, read_bytes in forms(traces, tmp_path):
        count = max(2, min(PLACES[kind], BYTES_MAX // read_bytes))
        done = damage(build, kind, count, data, tmp_path)
        if done.returncode != 0:
            broken.append(
                f"{name}: {kind} {count}: exit status {done.returncode}\n{done.stderr[-2000:]}")
        result = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        print(f"{name}: {kind}: {json.dumps(result)}", flush=True)
        for key, value in result.items():
            totals[key] = totals.get(key, 0) + value
        if kind == "cuts" and result and REFUSED not in name:
            assert result["read"] + result["refused"] == result["places"], name
    print(kind, totals, flush=True)
    assert not broken, "\n".join(broken[:10])
    assert totals["read"] > 0 and totals["refused"] > 0 and totals["truncated"] > 0

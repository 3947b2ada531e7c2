#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""versions.py — what recording costs with one libvarve.so, and with another: build/bench/overhead
with each in turn.

    bench/versions.py BEFORE.so AFTER.so [-n ROUNDS]

BEFORE.so is a libvarve.so of another version or build, of the same interface. Prints for each row
of `overhead` the least ratio to the clock of either (what a row takes where nobody disturbs it),
their quotient, and that of the medians.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parents[1] / "build" / "bench" / "overhead"
ROW = re.compile(r"^(\S.*?) {2,}(?:[\d.]+ +)?([\d.]+) +([\d.]+) +([\d.]+)(?: {2,}.*)?$")
FLOOR = "floor: two clock reads"


def rows_of(library, folder):
    """{row: its median in ns} of one run with that library."""
    (folder / "libvarve.so.0").unlink(missing_ok=True)
    (folder / "libvarve.so.0").symlink_to(library.resolve())
    run = subprocess.run([BENCH, folder / "trace.varve"], capture_output=True, text=True,
                         check=True, env={"LD_LIBRARY_PATH": str(folder)})
    subprocess.run(["rm", "-rf", folder / "trace.varve"], check=True)
    found = {}
    for line in run.stdout.splitlines():
        match = ROW.match(line)
        if match:
            found.setdefault(match[1], float(match[3]))
    return found


def main():
    parser = argparse.ArgumentParser(description="Two versions of the recorder, in turn.")
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("-n", type=int, default=10, metavar="ROUNDS")
    options = parser.parse_args()
    seen = {}  # {row: ([before], [after])}, in times of the clock
    with tempfile.TemporaryDirectory(dir=BENCH.parent) as folder:
        for turn in range(2 * options.n):
            which = (turn + turn // 2) % 2  # before after, after before, …
            found = rows_of((options.before, options.after)[which], pathlib.Path(folder))
            for name, median_ns in found.items():
                seen.setdefault(name, ([], []))[which].append(median_ns / found[FLOOR])
    print(f"{'x floor, the least of ' + str(options.n):38}{'before':>9}{'after':>9}"
          f"{'after/before':>14}{'of medians':>12}")
    for name, (before, after) in seen.items():
        if name != FLOOR and before and after:
            print(f"{name:38}{min(before):9.3f}{min(after):9.3f}{min(after) / min(before):14.3f}"
                  f"{statistics.median(after) / statistics.median(before):12.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

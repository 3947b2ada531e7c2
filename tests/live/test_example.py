# SPDX-License-Identifier: Apache-2.0
"""examples/torch: recorded as the front page says, the first screen names what makes the steps
slow."""
import json
import pathlib
import re

from environments import python_of, run_in

TRAIN = pathlib.Path(__file__).resolve().parents[2] / "examples" / "torch" / "train.py"


def test_the_first_screen_says_that_steps_wait_for_data(varve, tmp_path):
    # With one thread all phases are slowed down alike where the machine is busy.
    run_in(tmp_path, "env", "OMP_NUM_THREADS=1", varve, "record", "--", python_of("torch"), TRAIN,
           "--steps", "15")
    shown = run_in(tmp_path, varve, "report", "--no-cache").stdout
    finding = re.search(r"The steps wait (\d+\.\d) % of their time for data\.",
                        shown.split("LOOK FIRST")[1])
    assert finding and 15 < float(finding[1]) < 90, shown
    phases = json.loads(run_in(tmp_path, varve, "report", "--no-cache", "--json", "--table",
                               "phases").stdout)["tables"]["phases"]
    names = [column["name"] for column in phases["columns"]]
    total = {row[names.index("phase")]: row[names.index("total_ns")] for row in phases["rows"]}
    assert {"data", "forward", "backward", "optimizer"} < total.keys()
    assert sum(ns for name, ns in total.items() if name != "total") == total["total"]

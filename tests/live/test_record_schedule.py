# SPDX-License-Identifier: Apache-2.0
"""A schedule of steps on a program that marks none: a step is from one Optimizer.step to the
next."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from environments import python_of  # noqa: E402
from table_reader import operators  # noqa: E402

PROGRAM = """
import torch
model = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    with torch.profiler.record_function(f"number {step}"):
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("schedule, wanted", [("skip=2,active=3,repeat=1", [2, 3, 4]),
                                              ("active=2,repeat=1", [0, 1]),
                                              ("skip=1,warmup=1,active=1,repeat=3", [2, 5, 8])])
def test_steps_of_an_optimizer_are_counted(schedule, wanted, varve, tmp_path):
    python = python_of("torch")
    trace = tmp_path / "scheduled.varve"
    subprocess.run([varve, "record", "-q", "--schedule", schedule, "-o", trace, "--", python, "-c",
                    PROGRAM],
                   check=True, capture_output=True, timeout=200)
    calls = {row["name"]: row["calls"] for row in operators(varve, trace)}
    assert sorted(name for name in calls if name.startswith("number ")) == [f"number {step}"
                                                                            for step in wanted]
    assert calls["Optimizer.step#SGD.step"] == len(wanted)

# SPDX-License-Identifier: Apache-2.0
"""Tables of steps and devices on real traces, against what other programs' own tests state of them.

The traces lie beside the checkout; ../shared/traces/README.md has the figures, by number (G1 …), in microseconds.
"""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

SLOTS = ["kernel_ns", "memcpy_ns", "memset_ns", "runtime_ns", "data_loader_ns", "cpu_op_ns", "other_ns"]
G1 = """98598/1941/90/2796/69317/14091/1115; 98570/1947/89/2762/57669/12968/1148; 98596/1931/91/2877/61257/13768/1213;
        98623/1938/89/2841/56453/13420/1200; 98504/1937/87/2788/62690/15025/1141; 98641/1798/88/3381/48185/12773/1117"""


def table(varve, name, *arguments):
    return table_reader.tables(varve, "report", "--table", name, *arguments)[name]


@pytest.fixture(scope="module", name="split")
def split_of_resnet(varve, traces):
    return table(varve, "step_split", traces / "kineto" / "resnet50_workers0.json.gz")


def test_steps_of_resnet_split_as_the_tensorboard_plugin_states(split):
    wanted = [[int(number) * 1000 for number in step.split("/")] for step in G1.split(";")]
    steps = [row for row in split if row["row"] == "step"]
    assert [row["step"] for row in steps] == [5, 6, 7, 8, 9, 10]
    assert [[row[slot] for slot in SLOTS] for row in steps] == wanted
    for row in split:
        assert sum(row[slot] for slot in SLOTS) + row["communication_ns"] == row["duration_ns"]


def test_the_average_step_of_resnet(split):
    average = next(row for row in split if row["row"] == "average")
    assert average["duration_ns"] // 1000 == 177592
    assert round(100 * average["kernel_ns"] / average["duration_ns"], 2) == 55.51
    assert round(100 * average["data_loader_ns"] / average["duration_ns"], 2) == 33.37
    assert round(100 * average["kernel_share"], 2) == 55.51

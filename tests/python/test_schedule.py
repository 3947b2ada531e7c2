# SPDX-License-Identifier: Apache-2.0
"""varve.schedule, step by step: waits, warms up, records, saves. tests/live asks torch's the
same."""
import pytest

LETTERS = {"NONE": ".", "WARMUP": "w", "RECORD": "r", "RECORD_AND_SAVE": "s"}


@pytest.mark.parametrize("plan, expected", [
    ({"wait": 1, "warmup": 1, "active": 2, "repeat": 2, "skip_first": 1}, "..wrs.wrs......"),
    ({"wait": 0, "warmup": 1, "active": 2, "repeat": 1}, "wrs......"),
    ({"wait": 0, "warmup": 1, "active": 1}, "wswswsws"),
    ({"wait": 2, "warmup": 1, "active": 1, "skip_first": 1, "skip_first_wait": 1}, ".ws..ws..ws"),
    ({"wait": 1, "warmup": 0, "active": 3, "repeat": 1}, ".rrs...."),
])
def test_the_law(module, recwarn, plan, expected):
    action_of = module.schedule(**plan)
    assert "".join(LETTERS[action_of(step).name] for step in range(len(expected))) == expected
    assert len(recwarn) == (plan["warmup"] == 0)


def test_there_is_no_step_before_the_first(module):
    with pytest.raises(ValueError, match="-1 is none"):
        module.schedule(wait=0, warmup=1, active=1)(-1)

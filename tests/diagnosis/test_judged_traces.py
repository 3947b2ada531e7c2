# SPDX-License-Identifier: Apache-2.0
"""The real traces of others: the first finding is what a person finds in them."""
import pytest

from judged_traces import JUDGED, advice, assert_commands_run


@pytest.mark.parametrize("judged", JUDGED, ids=lambda judged: judged.files)
def test_the_first_finding_is_the_one_that_matters(varve, traces, judged):
    rows = advice(varve, *sorted(traces.glob(judged.files)))
    rules = [row["rule"] for row in rows]
    if judged.rule is None:
        assert not rules
        return
    assert_commands_run(varve, rows)
    assert rules[0] == judged.rule, rules
    assert judged.place in rows[0]["finding"] + (rows[0]["why"] or "")
    assert set(judged.also) <= set(rules) and not set(judged.not_these) & set(rules), rules

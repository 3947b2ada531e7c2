# SPDX-License-Identifier: Apache-2.0
"""The real traces of others: the first finding is what a person finds in them."""
import pytest

from judged_traces import JUDGED, advice, assert_command_tells, table_reader


@pytest.mark.parametrize("judged", JUDGED, ids=lambda judged: judged.files)
def test_the_first_finding_is_the_one_that_matters(varve, traces, judged):
    files = sorted(traces.glob(judged.files))
    rows = advice(varve, *files)
    rules = [row["rule"] for row in rows]
    if judged.rule is None:
        assert not rules
        return
    every = table_reader.tables(varve, "report", "--no-cache", "--table", "operators", *files)
    names = [line["name"] for line in every["operators"] if line["row"] == "operator"]
    for row in rows:
        assert_command_tells(varve, row, [name for name in names if len(name) > 5])
    assert rules[0] == judged.rule, rules
    assert judged.place in rows[0]["finding"] + (rows[0]["why"] or "")
    assert set(judged.also) <= set(rules) and not set(judged.not_these) & set(rules), rules

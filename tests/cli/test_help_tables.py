# SPDX-License-Identifier: Apache-2.0
"""varve help TABLE: the columns of every table, with what doc/metrics.md and doc/columns.md say of
them."""
import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tables_of_the_command(run):
    return re.findall(r"^  (\w+)", run("help", "tables").stdout, re.MULTILINE)


def listed_tables():
    """{name: columns} that doc/json.md lists, of other verbs too."""
    rows = re.findall(r"^\| `(\w+)` \| (`.*) \|$", (ROOT / "doc" / "json.md").read_text(),
                      re.MULTILINE)
    return {name: re.findall(r"`(\w+)`", columns) for name, columns in rows
            if " | " not in columns}


def columns_of(page):
    body = page.split("Columns:\n")[1].split("\nChanged by:")[0]
    return re.findall(r"^  (\w+)", body, re.MULTILINE)


def test_every_column_of_every_table_is_defined(run, trace):
    names = tables_of_the_command(run)
    assert len(names) > 60
    for name in names:
        page = run("help", "table", name).stdout
        assert "(no page defines it)" not in page, name
        printed = json.loads(run("report", "--json", "--table", name, trace).stdout)
        columns = [column["name"] for column in printed["tables"][name]["columns"]]
        assert set(columns_of(page)) <= set(columns), name  # a trace may add columns of its own
        assert max(map(len, page.splitlines())) <= 100, name


def test_so_is_every_column_of_the_tables_of_other_verbs(run):
    others = {name: columns for name, columns in listed_tables().items()
              if name not in tables_of_the_command(run)}
    assert {"diff", "diff_tree", "offload", "coverage", "hot", "findings", "doctor", "tune"} <= set(
        others)
    for name, columns in others.items():
        page = run("help", "table", name).stdout
        assert columns_of(page) == columns, name
        assert "(no page defines it)" not in page, name


@pytest.mark.parametrize("name, says", [
    ("kernels", ["total_ns                 ns", "These tables show device work itself",
                 "Changed by: --steps --thread --rank --device --filter --compat hta"]),
    ("operators", ["step_self_ns             ns\n      in the selected steps:\n      sum of self "
                   "times of all slices of the group\n"]),
    ("trace", ["Changed by: nothing: it is of the whole trace"]),
    ("devices", ["computation_ns           ns\n      |C|\n"]),
])
def test_a_page_says_what_the_document_says(run, name, says):
    page = run("help", name).stdout
    for text in says:
        assert text in page


def test_a_verb_goes_before_a_table_of_its_name(run):
    assert run("help", "steps").stdout.startswith("varve steps — ")
    assert run("help", "table", "steps").stdout.startswith("table steps — one row a step\n")


def test_what_a_filter_understands_is_printed_as_it_is_typed(run):
    page = run("help", "filter").stdout
    assert "--filter\n\"name~'conv*' && self>1ms\"" in page
    for word in run("completions", "filter").stdout.split():
        assert re.search(rf"\b{word}\b", page), word

# SPDX-License-Identifier: Apache-2.0
"""doc/json.md lists exactly the tables and columns that the verbs print."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position
import trace_writer  # pylint: disable=wrong-import-position

NOT_PROMISED = {"recorded", "on", "trust", "kept", "time", "unseen", "in_forward_ns"}
TYPES = {"int": int, "real": (int, float), "text": str}


def section(root, heading):
    """{first cell: the names in the last one} of the table under a heading of the page."""
    body = (root / "doc" / "json.md").read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in body.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): re.findall(r"`(\w+)`", row[-1]) for row in cells}


@pytest.fixture
def trace(tmp_path):
    written = trace_writer.Trace(tmp_path / "small.varve", trace_writer.manifest())
    process = written.process(pid=100)
    forward, conv = process.site("begin", "forward", layer="STEP"), process.site("begin", "conv")
    thread = process.thread(tid=100)
    thread.step_begin(3, 100)
    thread.begin(forward, 110)
    thread.begin(conv, 120)
    thread.op([("f32", [2, 3])], 121, flop=12)
    thread.end(150)
    thread.end(160)
    thread.step_end(200)
    thread.begin(conv, 210)
    return written.write()


def document_of(varve, *arguments):
    done = subprocess.run([str(varve), *arguments], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def test_the_page_names_the_tables_of_every_verb(root, varve, trace):
    verbs = section(root, "Verbs")
    assert set(verbs) >= {"report", "steps", "info"}
    del verbs["diff"]  # of two traces: below
    del verbs["annotate"]  # of a module: tests/mlir
    del verbs["hot"]  # of a program in MLIR: mlir/test_hot.py
    for verb, tables in verbs.items():
        document = document_of(varve, verb, "--json", str(trace))
        assert list(document) == ["schema", "trace", "tables"]
        assert document["schema"] == f"varve.{verb}/1"
        assert list(document["tables"]) == tables


def write_page(root, name, columns):
    """Puts the table's row into the page, or makes it right; what it says besides stays."""
    path = root / "doc" / "json.md"
    head, mark, rest = path.read_text().partition("## Tables\n")
    rows, gap, tail = rest.partition("\n\n`row` of ")
    row = f"| `{name}` | " + ", ".join(f"`{column}`" for column in columns)
    kept, count = re.subn(rf"^\| `{name}` \| [`\w, ]+(?=; besides| \|$)", row, rows,
                          flags=re.MULTILINE)
    path.write_text(head + mark + (kept if count else f"{rows}\n{row} |") + gap + tail)


def test_the_page_names_the_columns_of_every_table(root, varve, trace):
    """With VARVE_WRITE_PAGES=1 the page is written instead."""
    listed = subprocess.run([str(varve), "help", "tables"], stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if re.match(r"  \w", line)]
    promised = section(root, "Tables")
    for name in names:
        table = document_of(varve, "report", "--json", "--table", name, str(trace))["tables"][name]
        columns = [column["name"] for column in table["columns"]
                   if column["name"] not in NOT_PROMISED]
        if os.environ.get("VARVE_WRITE_PAGES") == "1" and set(columns) != set(promised.get(
                name, ())) - {"in_NAME_ns"}:
            write_page(root, name, columns)
            promised = section(root, "Tables")
        printed = set(columns)
        assert printed == set(promised[name]) - {"in_NAME_ns"}, name
        for row in table["rows"]:
            for column, value in zip(table["columns"], row, strict=True):
                assert value is None or isinstance(value, TYPES[column["type"]]), (column, value)
                assert not column["name"].endswith("_ns") or column["unit"] == "ns"
    assert set(promised) == set(names)


def test_the_page_names_the_tables_of_a_diff(root, varve, trace):
    read = document_of(varve, "diff", "--json", str(trace),
                       str(trace.parent / "." / trace.name))["tables"]
    assert list(read) == section(root, "Verbs")["diff"]
    assert ({name: [column["name"] for column in table["columns"]]
             for name, table in read.items()} ==
        section(root, "Tables of a diff"))


def test_a_program_gets_every_row_unless_it_asks_for_fewer(varve, tmp_path):
    written = trace_writer.Trace(tmp_path / "many.varve")
    process = written.process(pid=100)
    thread = process.thread(tid=100)
    for kind in range(30):
        thread.begin(process.site("begin", f"op {kind}"), 100 * kind)
        thread.end(100 * kind + 50)
    path = written.write()

    def kinds(*arguments):
        rows = table_reader.tables(varve, "report", *arguments, path)["operators"]
        return sum(row["row"] == "operator" for row in rows)
    assert (kinds(), kinds("--top", "10"), kinds("--top", "0")) == (30, 10, 30)
    text = subprocess.run([str(varve), "report", str(path)], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    assert "20 more: --top 0" in text


def test_answers_about_a_run_that_the_manifest_knows(varve, trace):
    row = table_reader.tables(varve, "info", trace)["trace"][0]
    assert row["command"] == "./train --steps 5"
    assert (row["exit_code"], row["cpus"], row["host"]) == (0, 2, "host")
    assert (row["events"], row["lost"], row["threads"], row["processes"]) == (8, 0, 1, 1)
    assert (row["begin_ns"], row["duration_ns"]) == (trace_writer.EPOCH_NS + 100, 110)
    assert (row["steps"], row["slices"], row["unfinished"]) == (1, 4, 1)


@pytest.mark.parametrize("records", [0, 1, 2])
def test_little_is_an_answer_too(varve, tmp_path, records):
    written = trace_writer.Trace(tmp_path / "little.varve")
    process = written.process(pid=100)
    thread = process.thread(tid=100)
    site = process.site("begin", "conv")
    if records > 0:
        thread.begin(site, 10)
    if records > 1:
        thread.end(20)
    path = written.write()
    for verb in ("report", "steps", "info"):
        done = subprocess.run([str(varve), verb, str(path)], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        assert (verb == "info" or (verb == "report" and records == 0) or
                "no steps recorded: mark them with varve_step_begin" in done.stdout)
        table_reader.tables(varve, verb, path)
    assert ("nothing was recorded" in subprocess.run([str(varve), "report", str(path)],
                                                      stdout=subprocess.PIPE,
                                                      text=True,
                                                      check=True).stdout) == (records == 0)


def test_loss_is_on_the_first_screen_and_strict_makes_it_an_exit_code(varve, tmp_path):
    written = trace_writer.Trace(tmp_path / "lossy.varve")
    process = written.process(pid=100)
    thread = process.thread(tid=100)
    site = process.site("begin", "conv")
    thread.begin(site, 10)
    thread.end(20)
    thread.lose(7, 30)
    thread.begin(site, 40)
    thread.end(50)
    path = written.write()
    for verb in ("report", "info", "steps"):
        assert subprocess.run([str(varve), verb, str(path)], capture_output=True,
                              check=False).returncode == 0
        assert subprocess.run([str(varve), verb, "--strict", str(path)], capture_output=True,
                              check=False).returncode == 1
    text = subprocess.run([str(varve), "report", str(path)], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    assert "7 EVENTS LOST" in text.splitlines()[4]
    health = {row["finding"]: row["count"] for row in table_reader.tables(varve, "info",
                                                                          path)["health"]}
    assert health["lost"] == 7


def test_the_page_of_the_numbers_begins_with_links_to_each_part(root):
    """As the anchors of a heading are made of its text."""
    head, *parts = (root / "doc" / "metrics.md").read_text().split("\n## ")
    anchors = [re.sub(r"[^\w\- ]", "", part.splitlines()[0].lower()).replace(" ", "-")
               for part in parts]
    assert len(anchors) > 30
    assert sorted(re.findall(r"\]\(#([^)]*)\)", head)) == sorted(anchors)

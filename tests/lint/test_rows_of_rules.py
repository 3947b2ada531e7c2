# SPDX-License-Identifier: Apache-2.0
"""A rule that asks a table for rows of a kind that the table does not have would never speak."""
import re

import sources

ASKED = re.compile(r'(vv_analyse_\w+), "(row|place)", "(\w+)"')
SRC = sources.ROOT / "src"


def kinds(text):
    """The words of a source but those that name its columns."""
    return re.findall(r'"(\w+)"', "\n".join(line for line in text.splitlines()
                                            if "VV_CELL_" not in line))


def asked():
    """{(table's function, kind of row)}"""
    rules = "".join(path.read_text(encoding="utf-8")
                    for path in sorted((SRC / "analyse" / "advice" / "rules").glob("*.c")))
    return {(table, kind) for table, _, kind in ASKED.findall(rules)}


def test_tables_have_the_rows_that_rules_ask_for():
    rooms = [path.read_text(encoding="utf-8") for path in sorted(SRC.glob("analyse/**/*.c"))]
    found = asked()
    assert len(found) > 20
    for table, kind in sorted(found):
        makers = [text for text in rooms if f"enum varve_code {table}(" in text]
        assert makers and any(kind in kinds(text) for text in makers), (table, kind)

# SPDX-License-Identifier: Apache-2.0
"""table_reader.py: runs a verb with --json and gives its tables as {table: [{column: value}]}."""
import json
import subprocess


def tables(varve, verb, *arguments):
    """The verb's tables; the verb must succeed and say nothing on standard error but what -q
    leaves."""
    done = subprocess.run([str(varve), verb, "--json", *map(str, arguments)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == f"varve.{verb}/1"
    return {name: [dict(zip((column["name"] for column in table["columns"]), row))
                   for row in table["rows"]]
            for name, table in document["tables"].items()}


def operators(varve, *arguments):
    """The rows of operators of a report that leaves nothing out."""
    rows = tables(varve, "report", "--warm-up", "--table", "operators", "--top", "0",
                  *arguments)["operators"]
    return [row for row in rows if row["row"] == "operator"]

# SPDX-License-Identifier: Apache-2.0
"""The program `varve`, asked for what it prints."""
from __future__ import annotations

import json
import subprocess
from typing import List

from . import library


def run(*arguments: str) -> str:
    """What the program `varve` prints; Error with its own words if it fails."""
    command = [library.program(), *arguments]
    try:
        done = subprocess.run(command, env=library.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise library.Error(f"cannot run '{command[0]}': {error}") from error
    if done.returncode != 0:
        raise library.Error(
            f"varve {arguments[0]} failed, exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def rows_of(verb: str, table: str, *arguments: str) -> List[dict]:
    """The rows of one table of a verb."""
    document = json.loads(run(verb, "--json", "--table", table, *arguments))["tables"][table]
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]

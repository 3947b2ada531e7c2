# SPDX-License-Identifier: Apache-2.0
"""Collectives of several process groups: each knows its group, and those of one number in it belong
together on all ranks."""
import collections
import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]

from model_tables import dump  # noqa: E402
from torch_pythons import VERSIONS, environment, python_of  # noqa: E402

RANKS = 3


def record(varve, version, folder, *options):
    done = subprocess.run([varve, "record", "-q", *options, "-o", "run.varve", "--",
                           python_of(version), HERE / "programs" / "groups.py", folder], cwd=folder,
                           env=environment(), capture_output=True,
                          text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "run.varve"


def collectives(tables):
    """[[row of collectives, …]] by process that has some, each in order of time, without what
    barriers there are."""
    by_process = collections.defaultdict(list)
    for row in tables["collectives"]:
        own = tables["slices"][row["slice"]]
        by_process[tables["tracks"][own["track"]]["process"]].append((own["begin_ns"], own["row"],
                                                                      row))
    return [[row for _, _, row in sorted(rows, key=lambda item: item[:2])
             if row["name"] != "barrier"]
            for rows in by_process.values()]


@pytest.fixture(scope="module", name="run", params=[version for version in VERSIONS
                                                    if version != "1.13"])
def fixture_run(request, build, varve, tmp_path_factory):
    """(what each rank asked for, what was recorded of each) in the order of ranks."""
    folder = tmp_path_factory.mktemp("groups")
    tables = dump(build, record(varve, request.param, folder))
    ranks = [row["rank"] for row in tables["processes"] if row["world_size"] == RANKS]
    assert sorted(ranks) == list(range(RANKS))  # which no environment said
    asked = [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(RANKS)]
    recorded = collectives(tables)
    assert len(recorded) == RANKS
    of_rank = {json.dumps(theirs): rank for rank, theirs in enumerate(asked)}
    seen = {of_rank.get(json.dumps([[row["name"], row["group"], row["group_size"],
                                     row["in_elements"]] for row in rows])): rows
            for rows in recorded}
    return asked, seen


def test_each_rank_s_are_what_it_asked_for(run):
    """Kind, group, size of the group, elements, in order: no two ranks asked for the same."""
    _, seen = run
    assert seen.keys() == set(range(RANKS))


def test_those_of_one_number_belong_together(run):
    _, seen = run
    members = collections.defaultdict(dict)
    for rank, rows in seen.items():
        for row in rows:
            if row["name"] in ("send", "recv"):
                assert row["sequence"] == -1
            else:
                members[row["group"], row["sequence"]][rank] = (row["name"], row["in_elements"])
    assert all(len(set(ranks.values())) == 1 for ranks in members.values()), members
    met = collections.Counter((group, tuple(sorted(ranks)))
                              for (group, _), ranks in members.items())
    assert sorted((ranks, count) for (_, ranks), count in met.items()) == [((0, 1), 6),
                                                                           ((0, 1, 2), 6),
                                                                           ((0, 2), 6)]
    assert {number for _, number in members} == set(range(6))


def test_without_names_there_are_no_groups(build, varve, tmp_path):
    rows = [row for rows in collectives(dump(build, record(varve, "1.13", tmp_path)))
            for row in rows]
    assert {(row["group"], row["group_size"], row["sequence"]) for row in rows} == {("", 0, -1)}
    assert len(rows) == 18 + 12 + 12 + 2

# SPDX-License-Identifier: Apache-2.0
"""The self-test that finds PyTorch's layout: right in each version, and never wrong however its
reads are damaged."""
import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from torch_pythons import VERSIONS, environment, python_of  # noqa: E402

RUNS = 10000
LISTS = 4  # the highest rung

# By the headers of each version, compiled with offsetof. Builds of one version exist with
# either std::string, so this is no table to go by: the wheels of 2.2 and 2.6 have the older one.
COLUMNS = ("kind", "sequence", "values", "forward_thread", "handle", "is_async", "rank", "device",
           "list_values", "tag_bool", "tag_list")
HEADERS = {
    "1.13": (192, 200, 208, 248, 256, 264, 72, 179, 24, 8, 12),
    "2.2": (168, 176, 184, 224, 232, 240, 72, 178, 24, 9, 13),
    "2.6": (168, 176, 184, 280, 288, 296, 64, 170, 16, 9, 13),
    "2.9": (192, 200, 208, 304, 312, 320, 64, 170, 16, 10, 14),
    "2.15": (192, 200, 208, 304, 312, 320, 56, 162, 16, 10, 14),
}
IN_GUARD = ("schema", "kind", "sequence", "forward_thread", "handle", "is_async", "values")
IN_TENSOR = ("rank", "device")
RUNGS = ((1, IN_GUARD[:-1]), (2, ("values", "tag_bool")), (3, IN_TENSOR),
         (4, ("list_values", "tag_list")))


@pytest.fixture(scope="module", name="outcome", params=VERSIONS)
def fixture_outcome(request, build):
    library = build / "tests" / "collect" / "selftest.so"
    done = subprocess.run([python_of(request.param), HERE / "programs" / "selftest.py", library,
                           "7", str(RUNS)],
                          env=environment(), capture_output=True, text=True, timeout=240,
                          check=False)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stderr[-2000:]}"
    outcome = json.loads(done.stdout)
    assert outcome["version"].startswith(request.param + ".")
    return request.param, outcome


def test_finds_what_the_headers_say(outcome):
    version, said = outcome
    truth = said["one"]["truth"]
    assert truth == {"rung": LISTS, "schema": 160, "knows_data": 1,
                     **dict(zip(COLUMNS, HEADERS[version], strict=True))}


@pytest.mark.parametrize("which", ["one", "all"])
def test_no_damage_makes_it_believe_what_is_not_so(outcome, which):
    """`one` of its reads damaged: most runs find all, or less. One in four of `all`: hardly any
    finds a thing."""
    version, said = outcome
    result = said[which]
    whole = result["by_rung"][LISTS]
    print(f"PyTorch {version}: {result['reads']} reads a run; of {RUNS} runs with {which} damaged "
          f"{RUNS - whole} "
          f"degraded, by rung {result['by_rung']}, {result['wrong_count']} wrong")
    assert result["wrong_count"] == 0, (result["wrong_run"], result["wrong"], result["truth"])
    assert sum(result["by_rung"]) == RUNS
    assert RUNS / 10 < RUNS - whole < RUNS / 2 if which == "one" else whole < RUNS / 100


def test_a_future_version_with_words_more(outcome):
    """What stands behind the place where they are is found there, or not at all."""
    _, said = outcome
    truth, moved = said["one"]["truth"], 0
    for future in said["futures"]:
        at, added, found = future["at"], future["added"], future["found"]
        ours = IN_GUARD if future["bytes"] == 512 else IN_TENSOR
        for rung, names in RUNGS:
            for name in names if found["rung"] >= rung else ():
                expected = truth[name] + (added if name in ours and truth[name] >= at else 0)
                assert found[name] == expected, (future, name)
                moved += expected != truth[name]
    assert moved > 50

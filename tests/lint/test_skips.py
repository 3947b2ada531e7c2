# SPDX-License-Identifier: Apache-2.0
"""tests/conftest.py: under VARVE_CLIENTS=1 a test that lacks a client fails; any other skip stays
one. Each reason is told once."""
import os
import re
import subprocess
import sys

import pytest
import sources

SAMPLE = """
import pytest

def test_runs():
    pass

def test_lacks_a_client():
    pytest.skip("needs HTA: make check-clients")

@pytest.mark.skipif(True, reason="needs node: tools/setup clients")
def test_lacks_another():
    pass

@pytest.fixture
def client():
    pytest.skip("needs babeltrace2: apt-get install babeltrace2")

def test_whose_fixture_lacks_one(client):
    pass

def test_lacks_a_module():
    pytest.importorskip("a_module_that_nobody_has")

def test_lacks_the_traces():
    pytest.skip("the fixed real traces are not beside this checkout")

@pytest.mark.xfail(reason="needs thought", strict=True)
def test_expected_to_fail():
    assert False
"""
MODULE = 'import pytest\npytest.skip("needs torch: make check-clients", allow_module_level=True)\n'


def run(folder, required, *options):
    """{outcome: how many} of the tests of a folder, and what pytest printed."""
    environment = {**os.environ, "VARVE_CLIENTS": required,
                   "PYTHONPATH": str(sources.ROOT / "tests")}
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "conftest", "-p",
                           "no:cacheprovider", "--noconftest", "--continue-on-collection-errors",
                           "--rootdir", folder, *options, folder],
                          cwd=folder, env=environment, capture_output=True, text=True, check=False)
    counts = {word: int(number) for number, word in
              re.findall(r"(\d+) (passed|failed|skipped|xfailed|error|deselected)",
                         done.stdout.splitlines()[-1])}
    return counts, done.stdout


@pytest.mark.parametrize("required, expected", [
    ("0", {"passed": 1, "skipped": 6, "xfailed": 1}),
    ("1", {"failed": 2, "passed": 1, "skipped": 1, "xfailed": 1, "error": 3})])
def test_a_missing_client_fails_where_clients_are_required(required, expected, tmp_path):
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    (tmp_path / "test_module.py").write_text(MODULE)
    counts, printed = run(tmp_path, required)
    assert counts == expected, printed


@pytest.mark.parametrize("jobs", [(), ("-n", "2")])
def test_what_passed_is_left_out_the_next_time_and_nothing_else(jobs, tmp_path):
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    kept = tmp_path / "passed"
    counts, printed = run(tmp_path, "1", *jobs, "--keep-passed", kept)
    assert (counts["passed"], kept.read_text().count("\n")) == (1, 1), printed
    again, printed = run(tmp_path, "1", *jobs, "--but-passed", kept)
    del counts["passed"]
    assert {**again, "deselected": 0} == {**counts, "deselected": 0}, printed


@pytest.mark.parametrize("jobs", [(), ("-n", "2")])
def test_a_reason_is_told_once(jobs, tmp_path):
    """In however many tests, files and ways it stands."""
    (tmp_path / "test_sample.py").write_text(SAMPLE + """
@pytest.mark.parametrize("number", range(300))
def test_of_many(number):
    pytest.skip("../shared is not beside this checkout")

@pytest.fixture
def torch():
    pytest.skip("needs torch: make check-clients")

@pytest.mark.parametrize("number", range(20))
def test_whose_fixture_skips(torch, number):
    pass
""")
    (tmp_path / "test_module.py").write_text(MODULE)
    options = re.search("^addopts = (.*)", (sources.ROOT / "pytest.ini").read_text(),
                        re.MULTILINE)[1].split()
    _, printed = run(tmp_path, "0", *options, *jobs)
    lines = printed.splitlines()
    told = lines[next(at for at, line in enumerate(lines) if re.fullmatch("=+ skipped =+", line)) +
                 1:]
    assert told[:2] == ["300 tests: ../shared is not beside this checkout",
                        "21 tests: needs torch: make check-clients"]
    assert {line.partition(": ")[0] for line in told[2:7]} == {"1 test"}, printed
    assert told[7].startswith("326 skipped, none of them a failure: "), printed
    assert sum(line.count("needs torch") + line.count("../shared") for line in lines) == 2
    assert not any(line.startswith("SKIPPED") for line in lines)

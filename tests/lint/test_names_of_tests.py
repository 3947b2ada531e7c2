# SPDX-License-Identifier: Apache-2.0
"""pytest imports files of tests by their names, so no two may have one name."""
import collections

from sources import ROOT


def test_no_two_files_of_tests_have_one_name():
    names = collections.Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert not {name for name, count in names.items() if count > 1}

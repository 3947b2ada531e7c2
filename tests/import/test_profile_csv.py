# SPDX-License-Identifier: Apache-2.0
"""The profile that mlirgraph's author hands to his compiler pass: name, begin and duration in
ps."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health, refusal  # noqa: E402

HEADER = "name,ts,duration\n"


@pytest.fixture(name="read")
def fixture_read(build, tmp_path):
    def read(text, name="profile.csv"):
        (tmp_path / name).write_bytes(text.encode())
        return dump(build, tmp_path / name)
    return read


def slices(tables):
    return [(row["name"], row["begin_ns"], row["duration_ns"], dict(row["args"]))
            for row in tables["slices"]]


def test_each_line_is_an_execution(read):
    tables = read(HEADER + "tf.MatMul,120000,20000000\ntf.AddV2,30000000,1500\n")
    assert slices(tables) == [
        ("tf.MatMul", 120, 20000, {}),
        ("tf.AddV2", 30000, 1, {"duration": 1500})]  # ps that ns cannot hold
    assert not health(tables)
    assert tables["inputs"][0]["format"] == "profile_csv"


def test_commas_belong_to_the_name(read):
    tables = read(HEADER.replace("\n", "\r\n") + "a,b,1000,2000\r\n\r\n")
    assert [row[:3] for row in slices(tables)] == [("a,b", 1, 2)]


def test_the_published_graph_as_such_a_file(read, build, traces):
    graph = dump(build, traces / "mlirgraph" / "profiler_ops.json")
    text = HEADER + "".join(f"{row['name']},{row['begin_ns'] * 1000},{row['duration_ns'] * 1000}\n"
                            for row in graph["slices"])
    key = [(row["name"], row["begin_ns"], row["duration_ns"]) for row in graph["slices"]]
    assert sorted(row[:3] for row in slices(read(text))) == sorted(key) and len(key) == 39


def test_a_cut_file_gives_all_whole_lines(read):
    text = HEADER + "a,1000,2000\nb,3000,4000\n"
    for length in range(len(HEADER), len(text)):
        whole = text[:length].count("\n") - 1
        tables = read(text[:length])
        assert [row[0] for row in slices(tables)] == ["a", "b"][:whole]
        assert health(tables).get("truncated_files", 0) == (text[length - 1] != "\n")


@pytest.mark.parametrize("line", ["a,1", "a,1,-2", "a,1.5,2", "a,,2", "a", ",,"])
def test_other_lines_are_refused(build, tmp_path, line):
    path = tmp_path / "p.csv"
    path.write_text(HEADER + "a,1,2\n" + line + "\n")
    assert "line 3: " in refusal(build, path)


def test_other_tables_are_not_taken(build, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("name,ts,duration,id\na,1,2,3\n")
    assert "is not a trace that varve knows" in refusal(build, path)

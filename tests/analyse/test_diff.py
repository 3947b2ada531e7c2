# SPDX-License-Identifier: Apache-2.0
"""varve diff: contributions add up to the change, noise is called noise, and HTA's known
answers."""
import itertools
import json
import pathlib
import random
import subprocess
import sys

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position


def span(name, begin_us, end_us, tid=1, cat="cpu_op"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": begin_us,
            "dur": end_us - begin_us}


def write(path, steps):
    """steps: lists of (name, own µs); a list in place of µs is a call's children. Each step has 7
    µs of its own."""
    events, clock = [], itertools.count(1000)

    def put(calls, now):
        for name, inside in calls:
            begin = now
            now = put(inside, now) + 1 if isinstance(inside, list) else now + inside
            events.append(span(name, begin, now))
        return now

    now = next(clock)
    for number, calls in enumerate(steps):
        begin, now = now, put(calls, now) + 7
        events.append(span(f"ProfilerStep#{number}", begin, now, cat="user_annotation"))
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def diff(varve, *arguments):
    return table_reader.tables(varve, "diff", "--no-cache", *arguments)


CALLS = strategies.recursive(
    strategies.lists(strategies.tuples(strategies.sampled_from("abcd"), strategies.integers(0, 50)),
                     max_size=4),
    lambda inner: strategies.lists(strategies.tuples(strategies.sampled_from("abcd"), inner),
                                   max_size=3), max_leaves=8)
STEPS = strategies.lists(CALLS, min_size=1, max_size=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("diff")


@hypothesis.settings(max_examples=40, suppress_health_check=[hypothesis.HealthCheck.too_slow])
@hypothesis.given(base=STEPS, new=STEPS, top=strategies.sampled_from([0, 2]))
def test_contributions_add_up_to_the_change(varve, folder, base, new, top):
    read = diff(varve, write(folder / "base.json", base), write(folder / "new.json", new), "--top",
                str(top))
    whole = read["diff"][0]
    assert whole["change_ns"] == whole["new_mean_ns"] - whole["base_mean_ns"]
    rows = read["diff_operators"]
    total = [row for row in rows if row["row"] == "total"][0]
    for column in ("change_ns", "base_self_ns", "new_self_ns"):
        assert sum(row[column] for row in rows if row["row"] != "total") == total[column]
    assert total["change_ns"] == whole["change_ns"]
    calls = read["diff_tree"]
    assert [row["path"] for row in calls if row["path"] == "total"] == ["total"]
    for column in ("change_ns", "base_self_ns", "new_self_ns"):
        assert sum(row[column] for row in calls[:-1]) == calls[-1][column] == total[column]


@hypothesis.settings(max_examples=20)
@hypothesis.given(steps=STEPS)
def test_a_trace_and_itself_do_not_differ(varve, folder, steps):
    path = write(folder / "same.json", steps)
    twin = folder / "twin.json"
    twin.write_bytes(path.read_bytes())
    read = diff(varve, path, twin, "--top", "0")
    assert read["diff"][0]["change_ns"] == 0
    assert all(row["change_ns"] == 0 and row["calls_change"] in ("=", None)
               for row in read["diff_operators"])
    assert all(row["status"] in ("both", None) and row["change_ns"] == 0
               for row in read["diff_tree"])


def noisy(seed, conv_us):
    draw = random.Random(seed)
    return [[("conv", conv_us + draw.randrange(-20, 21)), ("relu", 100 + draw.randrange(-20, 21))]
            for _ in range(20)]


def test_noise_is_not_called_a_change_and_a_change_is(varve, tmp_path):
    base = write(tmp_path / "base.json", noisy(1, 1000))
    same = write(tmp_path / "same.json", noisy(2, 1000))
    slow = write(tmp_path / "slow.json", noisy(3, 1200))
    quiet = diff(varve, base, same)
    assert quiet["diff"][0]["verdict"] == "no change: within the noise"
    assert all(row["noise"] == "(noise)" for row in quiet["diff_operators"]
               if row["row"] == "operator")
    loud = diff(varve, base, slow)
    whole = loud["diff"][0]
    assert whole["verdict"] == "slower, beyond the noise"
    assert whole["low_ns"] < 200_000 < whole["high_ns"] and whole["low_ns"] > 150_000
    first = loud["diff_operators"][0]
    assert (first["name"], first["noise"], first["base_calls"],
            first["calls_change"]) == ("conv", None, 20, "=")
    assert abs(first["change_ns"] - 200_000) < 30_000
    paths = {row["path"]: row for row in loud["diff_tree"]}
    assert {path: row["noise"] for path, row in paths.items()} == {
        "conv": None, "relu": "(noise)", "(the step itself)": "(noise)", "total": None}
    for column in ("change_ns", "low_ns", "high_ns", "base_self_ns", "new_self_ns", "base_calls"):
        assert paths["conv"][column] == first[column]
    assert all(row["noise"] == "(noise)" for row in quiet["diff_tree"])

    def status(*arguments):
        return subprocess.run([str(varve), "diff", *map(str, arguments)], capture_output=True,
                              check=False).returncode
    assert status(base, slow, "--fail-over", "5%") == 1
    assert status(base, slow, "--fail-over", "0.05", "--table", "diff_tree") == 1
    assert status(base, slow, "--fail-over", "50%") == 0
    assert status(slow, base, "--fail-over", "5%") == 0
    assert status(base, same, "--fail-over", "0%") == 0
    assert status(base, slow, "--fail-over", "five") == 2


def test_the_tree_tells_what_is_on_one_side_alone(varve, tmp_path):
    base = write(tmp_path / "base.json", [[("forward", [("conv", 10), ("relu", 5)]), ("loss", 3)]])
    new = write(tmp_path / "new.json", [[("forward", [("conv", 10), ("norm", [("mean", 4)]),
                                                      ("relu", 6)]), ("loss", 3)]])
    rows = {row["path"]: row for row in diff(varve, base, new, "--top", "0")["diff_tree"]}
    assert rows["forward > norm"]["status"] == rows["forward > norm > mean"]["status"] == "new only"
    assert rows["forward > norm > mean"]["change_ns"] == 4000 and rows["forward > norm"][
        "change_ns"] == 1000
    assert (rows["forward > relu"]["status"], rows["forward > relu"]["change_ns"]) == ("both", 1000)
    assert rows["total"]["change_ns"] == 6000


def test_two_parts_of_one_trace(varve, tmp_path):
    path = write(tmp_path / "t.json", [[("a", 10)], [("a", 10)], [("a", 30)], [("a", 30)]])
    read = diff(varve, path, "--steps", "0..1,2..3")
    assert (read["diff"][0]["base"], read["diff"][0]["new"],
            read["diff"][0]["change_ns"]) == ("0..1", "2..3", 20_000)
    done = subprocess.run([str(varve), "diff", str(path)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2
    assert done.stderr == (f"varve: nothing to compare '{path}' with: there is no '{path}.old'. "
                           f"Name two traces, or give "
                           "--rank A,B, --device A,B or --steps A..B,C..D\n")


def test_addresses_and_step_numbers_are_no_difference(varve, tmp_path):
    base = write(tmp_path / "base.json", [[("call 0x7f00aa", 10)]])
    new = write(tmp_path / "new.json", [[("call 0x55bbcc11", 10)]])
    assert [row["name"] for row in diff(varve, base, new)["diff_operators"]
            if row["row"] == "operator"] == ["call 0x"]


def test_hta_counts_of_the_hand_trimmed_pair(varve, traces):
    pair = [traces / "hta" / name for name in ("compare_base.json.gz", "compare_test.json.gz")]
    read = diff(varve, *pair, "--steps", "1010", "--top", "0")
    host = {row["name"]: row for row in read["diff_operators"]
            if row["row"] in ("operator", "step")}
    base = {name: (row["base_calls"], row["base_total_ns"]) for name, row in host.items()
            if row["base_calls"] > 0}
    assert base == {"(the step itself)": (1, 122_149_000), "aten::as_strided": (1, 0),
                    "aten::empty": (1, 0), "cudaEventQuery": (1, 4000),
                    "cudaLaunchKernel": (1, 4000), "nccl:all_reduce": (1, 67_000)}
    changes = {sign: sorted(name for name, row in host.items() if row["calls_change"] == sign)
               for sign in "=+-"}
    assert len(changes["="]) == 5
    assert changes["+"] == ["AddmmBackward0", "All2All_Pooled_Req", "CatBackward0"]
    assert changes["-"] == ["nccl:all_reduce"]
    kernels = [row for row in read["diff_kernels"] if row["row"] == "kernel"]
    assert [(row["base_calls"], row["new_calls"], row["calls_change"])
            for row in kernels] == [(1, 0, "-")]

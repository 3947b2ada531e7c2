# SPDX-License-Identifier: Apache-2.0
"""Table forward_only and the finding of its name: graphs that no backward pass used."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position


def span(name, begin, duration, tid=1, **args):
    return {"ph": "X", "pid": 1, "tid": tid, "cat": "cpu_op", "name": name, "ts": begin,
            "dur": duration, "args": args}


def step(number, is_trained, numbers=True):
    """1,000 us: `linear` with `t` (a node) and `addmm` (a node) in it, `mse`, a node of two
    numbers; then perhaps a backward pass that names the second number of `mse`."""
    begin, first = 1000 * number, 5 * number

    def of(sequence):
        return {"Sequence number": first + sequence, "Fwd thread id": 0} if numbers else {}

    events = [{"ph": "X", "pid": 1, "tid": 1, "cat": "user_annotation", "ts": begin, "dur": 1000,
               "name": f"ProfilerStep#{number}"},
              span("aten::linear", begin + 10, 400, **of(0)),
              span("aten::t", begin + 20, 30, **of(0)),
              span("aten::addmm", begin + 100, 300, **of(1)),
              span("aten::mse", begin + 500, 100, **of(2)),
              span("aten::log", begin + 620, 10, **of(4))]
    for sequence, name in enumerate(("T", "Addmm", None, "Mse")):
        if is_trained and name:
            events.append(span(f"{name}Backward0", begin + 900 - 50 * sequence, 20, tid=2, **{
                "Sequence number": first + sequence, "Fwd thread id": 1}))
    return events


def write(folder, events):
    path = folder / "made.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def rows_of(varve, path, name="forward_only"):
    return table_reader.tables(varve, "report", "--warm-up", "--table", name, "--top", "0",
                               path)[name]


def test_an_evaluation_with_graphs_is_all_unused(varve, tmp_path):
    path = write(tmp_path, sum((step(n, False) for n in range(20)), []))
    rows = rows_of(varve, path)
    assert [(row["name"], row["nodes"], row["all_nodes"], row["total_ns"]) for row in rows] == [
        ("aten::addmm", 20, 20, 6_000_000), ("aten::mse", 20, 20, 2_000_000),
        ("aten::t", 20, 20, 600_000), ("aten::log", 19, 19, 190_000),  # the last is not known
        ("total", 79, 79, 8_790_000)]
    assert rows[-1]["share"] == 8_790_000 / 20_000_000
    finding, = [row for row in rows_of(varve, path, "advice") if row["rule"] == "forward_only"]
    assert "79 nodes that no backward pass used" in finding["finding"]
    assert "aten::addmm: 20 of 20 calls" in finding["why"] and "no_grad" in finding["try"]


def test_nodes_that_a_backward_pass_names_are_used(varve, tmp_path):
    """Also those of an operator that made several, of which the pass names a later one."""
    path = write(tmp_path, sum((step(n, True) for n in range(20)), []))
    rows = {row["name"]: (row["nodes"], row["all_nodes"]) for row in rows_of(varve, path)}
    assert rows == {"aten::t": (0, 20), "aten::addmm": (0, 20), "aten::mse": (0, 20),
                    "aten::log": (19, 19), "total": (19, 79)}
    assert "forward_only" not in {row["rule"] for row in rows_of(varve, path, "advice")}


def test_without_numbers_nothing_was_recorded(varve, tmp_path):
    path = write(tmp_path, sum((step(n, False, numbers=False) for n in range(20)), []))
    assert rows_of(varve, path) == []
    assert "forward_only" not in {row["rule"] for row in rows_of(varve, path, "advice")}

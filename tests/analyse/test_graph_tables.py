# SPDX-License-Identifier: Apache-2.0
"""Tables graph and graph_nodes: however a graph is folded and cut, its self times add up to the
same time."""
import collections
import json
import pathlib
import subprocess
import sys

import hypothesis
import pytest
from hypothesis import strategies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer  # pylint: disable=wrong-import-position
import made_training  # pylint: disable=wrong-import-position

TRACES = ["kineto/resnet50_workers0.json.gz", "tracelens/h100_Falconsai.json.gz",
          "tracelens/sglang_decode.json.gz", "tracelens/mi210_gpu_only.json.gz",
          "xplane/jax_mi300_conv.xplane.pb", "xplane/jax_tpu_inference.xplane.pb",
          "ascend/trace_view.json.gz", "hta/mtia_inference.json.gz", "hta/backward_thread.json",
          "nsys/saxpy_mpi_cuda.sqlite", "onnxruntime/ort_parallel.json.gz",
          "mlirgraph/profiler_ops.pb"]
FOLDS = ["name", "op", "module,name", "block,name", "phase,name", "phase,module,block,op",
         "execution"]
SOME = hypothesis.settings(max_examples=15)


def tables(build, *arguments):
    """{table: [{column: value}]}"""
    done = subprocess.run([build / "varve", "dag", "--no-cache", "--json", *map(str, arguments)],
                          capture_output=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return {name: [dict(zip([column["name"] for column in table["columns"]], row, strict=True))
                   for row in table["rows"]]
            for name, table in json.loads(done.stdout)["tables"].items()}


def nodes(build, *arguments):
    return tables(build, "--table", "graph_nodes", *arguments)["graph_nodes"]


def whole(rows):
    """What the total says, which all rows add up to."""
    assert sum(row["self_ns"] or 0 for row in rows[:-1]) == rows[-1]["self_ns"]
    assert sum(row["count"] for row in rows[:-1]) == rows[-1]["count"]
    return rows[-1]["self_ns"]


def laws_of_rows(rows):
    for row in rows[:-1]:
        if not row["count"] or row["row"] != "node":
            continue
        assert 0 <= row["self_ns"]
        if row["kind"] == "operator":
            assert row["self_ns"] <= row["total_ns"]
        assert row["min_ns"] <= row["mean_ns"] <= row["max_ns"], row
        if row["p50_ns"] is not None and row["p95_ns"] is not None:
            assert row["min_ns"] <= row["p50_ns"] <= row["p95_ns"] <= row["max_ns"], row


@pytest.mark.parametrize("name", TRACES)
def test_folding_keeps_the_time_of_real_traces(build, traces, name):
    trace = traces / name
    plain = nodes(build, "--by", "name", trace)
    laws_of_rows(plain)
    for arguments in (["--by", "phase,module,block,op"], ["--by", "block,name", "--top", 5]):
        folded = nodes(build, *arguments, trace)
        laws_of_rows(folded)
        assert whole(folded) == whole(plain), arguments


@SOME
@hypothesis.given(seed=strategies.integers(0, 2**32), steps=strategies.integers(1, 5),
                  fold=strategies.sampled_from(FOLDS), top=strategies.integers(0, 12),
                  hops=strategies.integers(0, 3))
def test_folding_keeps_the_time(build, tmp_path_factory, seed, steps, fold, top, hops):
    path = kineto_writer.write(tmp_path_factory.mktemp("fold") / "made.json",
                               made_training.events(seed, steps), made_training.head())
    plain = nodes(build, "--by", "name", path)
    folded = nodes(build, "--by", fold, "--top", 0, path)
    around = next((row["name"] for row in folded[:-1] if row["kind"] != "outside"), None)
    cut = nodes(build, "--by", fold, "--top", top, path)
    for rows in (folded, cut):
        laws_of_rows(rows)
        assert whole(rows) == whole(plain)
    if top:
        assert sum(row["row"] == "node" and row["kind"] != "outside" for row in cut) <= top
    if around is not None:
        near = nodes(build, "--by", fold, "--around", around, "--hops", hops, "--top", 0, path)
        assert whole(near) == whole(plain)
        assert around in {row["name"] for row in near}


def test_a_model_of_24_layers_is_its_block(build, tmp_path):
    """Three steps of 24 equal layers, told by the names of the modules."""
    events, at = [], 0
    for step in range(3):
        first = at
        for layer in range(24):
            module = f"nn.Module: Layer_{layer}"
            events.append(kineto_writer.span(module, at, at + 100, "python_function"))
            events.append(kineto_writer.span("aten::mm", at + 10, at + 60))
            events.append(kineto_writer.span("aten::gelu", at + 60, at + 90))
            at += 100
        events.append(kineto_writer.step(step, first, at))
    path = kineto_writer.write(tmp_path / "layers.json", events, kineto_writer.HEAD)
    rows = nodes(build, "--by", "block,name", path)
    found = {row["name"]: (row["count"], row["total_ns"]) for row in rows[:-1]}
    assert (found["aten::mm"], found["aten::gelu"]) == ((72, 3600), (72, 2160))


def test_the_graph_says_what_its_nodes_are(build, tmp_path):
    path = kineto_writer.write(tmp_path / "made.json", made_training.events(7, 4),
                               made_training.head())
    made = tables(build, "--by", "name", "--top", 0, path)
    kinds = collections.Counter(row["kind"] for row in made["graph_nodes"][:-1])
    said = {row["what"]: row for row in made["graph"]}
    assert said["nodes"]["count"] >= sum(kinds.values())
    assert said["nodes"]["time_ns"] == whole(made["graph_nodes"])
    levels = [row["level"] for row in made["graph_nodes"][:-1] if row["level"] is not None]
    assert said["levels"]["count"] == max(levels) + 1
    assert said["most nodes in a level"]["count"] == max(collections.Counter(levels).values())

# SPDX-License-Identifier: Apache-2.0
"""A program in MLIR text as a graph: operations with the times that they carry, and what passes
between them."""
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import table_reader  # noqa: E402
from model_tables import refusal  # noqa: E402

NET = """module @net {
  func.func @main(%arg0: tensor<64x384xf32>, %arg1: tensor<384x32xf32> {t.arg = "w"}) -> f32 {
    %cst = arith.constant 0.0 : f32
    %0 = tensor.empty() : tensor<64x32xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %2 = linalg.matmul {varve.profile = {count = 3 : i64, first = 100 : i64, max = 30000 : i64, \
min = 20000 : i64, p50 = 28000 : i64, self = 80000 : i64, total = 81000 : i64}} \
ins(%arg0, %arg1 : tensor<64x384xf32>, tensor<384x32xf32>) outs(%1 : tensor<64x32xf32>) \
-> tensor<64x32xf32> loc("block0/fc/MatMul"("model.py":7:3))
    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, \
affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} \
ins(%2 : tensor<64x32xf32>) outs(%0 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %4 = arith.maximumf %in, %cst : f32
      linalg.yield %4 : f32
    } -> tensor<64x32xf32> \
loc(fused<{varve.profile = {count = 3 : i64, total = 9000 : i64}}>["block0/act/Relu"])
    %5 = tensor.extract %3[] : tensor<64x32xf32>
    return %cst : f32
  }
}
"""


def graph(varve, path):
    """Nodes by name, and edges as (from, to, bytes, what passes)."""
    done = subprocess.run([str(varve), "dag", "--no-cache", "-q", "--form", "node-link", "-o", "-",
                           str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    names = {node["id"]: node["name"] for node in document["nodes"]}
    edges = sorted((names[edge["source"]], names[edge["target"]], edge.get("bytes", 0),
                    edge.get("name", "")) for edge in document["edges"])
    return document["nodes"], edges


@pytest.fixture(name="net")
def fixture_net(tmp_path):
    path = tmp_path / "net.mlir"
    path.write_text(NET)
    return path


def test_operations_are_nodes_with_their_times(varve, net):
    nodes, _ = graph(varve, net)
    assert [node["name"] for node in nodes] == [
        "main", "argument 0", "argument 1", "arith.constant", "tensor.empty", "linalg.fill",
        "linalg.matmul", "linalg.generic", "tensor.extract", "func.return"]
    matmul = next(node for node in nodes if node["name"] == "linalg.matmul")
    wanted = {"count": 3, "begin_ns": 100, "total_ns": 81000, "self_ns": 80000, "min_ns": 20000,
              "max_ns": 30000, "p50_ns": 28000, "module": "block0/fc", "source": "model.py:7",
              "outputs": "tensor<64x32xf32>"}
    assert {key: matmul.get(key) for key in wanted} == wanted
    relu = next(node for node in nodes if node["name"] == "linalg.generic")
    assert (relu["count"], relu["total_ns"], relu["module"]) == (3, 9000, "block0/act")
    main = next(node for node in nodes if node["name"] == "main")
    assert all(node.get("parent") == main["id"] for node in nodes if node is not main)


def test_edges_are_what_passes(varve, net):
    _, edges = graph(varve, net)
    tile, kilo = "tensor<64x32xf32>", 64 * 32 * 4
    assert edges == sorted([
        ("argument 0", "linalg.matmul", 64 * 384 * 4, "tensor<64x384xf32>"),
        ("argument 1", "linalg.matmul", 384 * 32 * 4, "tensor<384x32xf32>"),
        ("arith.constant", "linalg.fill", 4, "f32"), ("arith.constant", "func.return", 4, "f32"),
        ("arith.constant", "linalg.generic", 4, "f32"),  # from inside its body
        ("tensor.empty", "linalg.fill", kilo, tile), ("tensor.empty", "linalg.generic", kilo, tile),
        ("linalg.fill", "linalg.matmul", kilo, tile),
        ("linalg.matmul", "linalg.generic", kilo, tile),
        ("linalg.generic", "tensor.extract", kilo, tile)])


def test_every_table_and_form_takes_such_a_graph(varve, net, tmp_path):
    rows = table_reader.tables(varve, "report", "--no-cache", "--table", "operators", net)
    assert {row["name"]: row["self_ns"] for row in rows["operators"]
            if row["row"] == "operator"} == {"linalg.matmul": 81000, "linalg.generic": 9000}
    for name in ("g.svg", "g.dot", "g.html", "g.graphml", "g.json"):
        form = ["--form", "model-explorer"] if name == "g.json" else []
        done = subprocess.run([str(varve), "dag", "--no-cache", *form, "-o", tmp_path / name,
                               str(net)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "linalg.matmul" in (tmp_path / name).read_text()
    overlay = json.loads((tmp_path / "g_data.json").read_text())
    values = [entry["value"] for data in overlay.values() for entry in data["results"].values()]
    assert 81000 in values and 9000 in values


def test_what_has_times_inside_is_a_group(varve, tmp_path):
    path = tmp_path / "loop.mlir"
    path.write_text("""func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
    "t.hot"() {profiler_data = {dur = 7 : i64, ts = 5 : i64}} : () -> ()
  }
  scf.for %i = %n to %n step %n {
    "t.cold"() : () -> ()
  }
  return
}
""")
    nodes, edges = graph(varve, path)
    names = {node["id"]: node["name"] for node in nodes}
    assert [(node["name"], names.get(node.get("parent"))) for node in nodes] == [
        ("f", None), ("argument 0", "f"), ("scf.for", "f"), ("t.hot", "scf.for"), ("scf.for", "f"),
        ("func.return", "f")]
    assert edges == [("argument 0", "scf.for", 8, "index")] * 2
    hot = next(node for node in nodes if node["name"] == "t.hot")
    assert (hot["count"], hot["total_ns"], hot["begin_ns"]) == (1, 7, 5)


def test_the_generic_form_is_the_same_graph(varve, net, tmp_path):
    if shutil.which("mlir-opt-19") is None:
        pytest.skip("needs mlir-opt-19: tools/setup clients")
    net.write_text(NET.replace("%5 = tensor.extract %3[] : tensor<64x32xf32>\n", "")
                   .replace("{t.arg = \"w\"}", ""))
    generic = tmp_path / "generic.mlir"
    subprocess.run(["mlir-opt-19", "--allow-unregistered-dialect", "--mlir-print-op-generic",
                    "--mlir-print-debuginfo", str(net), "-o", str(generic)], check=True)
    assert '"linalg.matmul"(' in generic.read_text()
    nodes, edges = graph(varve, generic)
    expected_nodes, expected_edges = graph(varve, net)
    assert edges == expected_edges
    assert [(node["name"], node.get("total_ns")) for node in nodes] == [
        (node["name"], node.get("total_ns")) for node in expected_nodes]


def test_a_fault_is_told_with_line_and_column(build, tmp_path):
    path = tmp_path / "bad.mlir"
    path.write_text("module {\n  func.func @f() {\n    t.x (\n  }\n}\n")
    assert "bad.mlir:4:3" in refusal(build, path)

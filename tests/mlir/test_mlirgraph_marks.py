# SPDX-License-Identifier: Apache-2.0
"""varve annotate --compat mlirgraph: the attributes that the compiler pass of mlirgraph's author
writes, from his CSV, his graph and the XSpace that it was made of."""
import pathlib
import re
import shutil
import subprocess

import pytest

MODULE = """module {
  func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %0 = "tf.MatMul"(%a, %a) {transpose_a = false} : (tensor<2x2xf32>, tensor<2x2xf32>) -> \
tensor<2x2xf32>
    %1 = "tf.Relu"(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = "tf.MatMul"(%1, %a) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %3 = "tf.Cast"(%2) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    "tf.WhileRegion"() ({
      "tf.Tanh"(%3) : (tensor<2x2xf32>) -> ()
    }) : () -> ()
    return %3 : tensor<2x2xf32>
  }
}
"""
CSV = ("name,ts,duration\ntf.MatMul,120000,20000000\ntf.Relu,30000000,1503\n"
       "tf.MatMul,60000000,7\ntf.Cast,1,2\n")


def data(ts, dur):
    return f"profiler_data = {{dur = {dur} : i64, ts = {ts} : i64}}"


@pytest.fixture(name="annotate")
def fixture_annotate(varve, tmp_path):
    def annotate(trace):
        path = tmp_path / "net.mlir"
        path.write_text(MODULE)
        done = subprocess.run([str(varve), "annotate", "--no-cache", "-q", "--compat", "mlirgraph",
                               "-o", "-", str(path), str(trace)], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return annotate


def write(tmp_path, text, name="profile.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_his_csv_gives_his_attributes(annotate, tmp_path):
    """The first line of a name counts, in picoseconds; operations that are not on his list get
    nothing, and what is on the list and not in the file gets zeros."""
    text = annotate(write(tmp_path, CSV))
    matmul = data(120000, 20000000)
    assert text == (MODULE.replace("{transpose_a = false}", f"{{transpose_a = false, {matmul}}}")
                    .replace('"tf.Relu"(%0) :', f'"tf.Relu"(%0) {{{data(30000000, 1503)}}} :')
                    .replace('"tf.MatMul"(%1, %a) :', f'"tf.MatMul"(%1, %a) {{{matmul}}} :')
                    .replace('"tf.Tanh"(%3) :', f'"tf.Tanh"(%3) {{{data(0, 0)}}} :'))


def test_mlir_prints_them_as_they_are(annotate, tmp_path):
    if shutil.which("mlir-opt-19") is None:
        pytest.skip("needs mlir-opt-19: tools/setup clients")
    text = annotate(write(tmp_path, CSV))
    done = subprocess.run(["mlir-opt-19", "--allow-unregistered-dialect"], input=text,
                          capture_output=True, text=True, check=True)
    pattern = re.compile(r"profiler_data = \{.*?\}")
    assert pattern.findall(done.stdout) == pattern.findall(text) != []


def test_a_graph_in_his_form(annotate, tmp_path):
    nodes = ", ".join(
        f'{{"name": "{name}", "ts": {ts}, "duration": {dur}, "id": {number}, "adj": []}}'
        for number, (name, ts, dur) in enumerate(
            (("x", 1, 2), ("MatMul", 5000, 70001), ("MatMul", 9000, 8), ("Tanh", 11, 12))))
    text = annotate(write(tmp_path, f'{{"version": "1.0.0", "nodes": [{nodes}], "edges": []}}',
                          "graph.json"))
    assert text.count(data(5000, 70001)) == 2 and data(11, 12) in text and data(0, 0) in text


@pytest.mark.parametrize("name", ["profiler_ops.json", "profiler_ops.pb"])
def test_his_sample_has_none_of_his_names(annotate, traces, name):
    """Its events are called EagerLocalExecute: MatMul and so on, so his pass writes zeros."""
    text = annotate(traces / "mlirgraph" / name)
    assert text.count(data(0, 0)) == 4 == text.count("profiler_data")


@pytest.mark.parametrize("options, said", [
    (["--compat", "hta", "-o", "-"], "not those of 'hta'"), (["--compat", "mlirgraph"], "wants -o"),
    (["--compat", "mlirgraph", "--attr", "x", "-o", "-"], "says attribute and fields itself")])
def test_what_does_not_fit_is_refused(varve, tmp_path, options, said):
    path, trace = write(tmp_path, MODULE, "net.mlir"), write(tmp_path, CSV)
    done = subprocess.run([str(varve), "annotate", *options, str(path), str(trace)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and said in done.stderr

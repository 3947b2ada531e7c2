# SPDX-License-Identifier: Apache-2.0
"""The plugin for mlir-opt-19: its pass, pipelines, dialect and interface, and passes of users that
read what it wrote."""
import json
import re
import subprocess

import pytest

MODULE = """
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tensor.empty() : tensor<4x4xf32> loc("net/empty")
  %1 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>)
         outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["net/mm", "more"])
  %2 = "tf.Relu"(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("net/relu")
  %3 = "tf.While"(%2) ({
    ^bb0(%x: tensor<4x4xf32>):
      %4 = "tf.While"(%x) ({
        %5 = "tf.Exp"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("net/while/while/exp")
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("net/while/while")
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("net/while")
  return %3 : tensor<4x4xf32>
}
"""
EVENTS = [("net/mm:MatMul", 0, 100), ("net/relu:Relu", 100, 50), ("net/while:While", 150, 50),
          ("net/while/while:While", 155, 40), ("net/while/while/exp:Exp", 160, 20),
          ("net/mm:MatMul", 300, 110), ("other:Foo", 500, 10)]


@pytest.fixture(name="trace")
def trace_file(tmp_path):
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "pid": 1, "tid": 1, "ts": begin, "dur": duration, "name": name}
        for name, begin, duration in EVENTS]}))
    return file


def run(plugin, pipeline, *options, given=MODULE):
    done = subprocess.run(["mlir-opt-19", *plugin, f"--pass-pipeline=builtin.module({pipeline})",
                           *options], input=given, capture_output=True, text=True, check=False)
    return done


def profiles(text, key="varve.profile"):
    """What attributes say, in the order of their begins."""
    found = [{word: int(number) for word, number in re.findall(r"(\w+) = (\d+) : i64", entry)}
             for entry in re.findall(r"(?<!fused<\{)" + re.escape(key) + r" = \{([^}]*)\}", text)]
    return sorted(found, key=lambda entry: entry.get("first", entry.get("ts")))


@pytest.mark.usefixtures("debian")
def test_operations_at_any_depth_get_what_was_measured(plugin, trace):
    done = run(plugin, f"annotate-operations-profile{{profile={trace} carrier=attribute}}")
    assert done.returncode == 0, done.stderr
    assert "remark: profile: 96.9 % of 0.320 ms on 5 of 12 operations" in done.stderr
    found = profiles(done.stdout)
    assert found[0] == {"count": 2, "first": 0, "max": 110000, "mean": 105000, "min": 100000,
                        "p50": 105000, "p95": 109500, "self": 210000, "total": 210000}
    assert [entry["total"] for entry in found] == [210000, 50000, 50000, 40000, 20000]
    assert [entry["self"] for entry in found] == [210000, 50000, 10000, 20000, 20000]
    assert re.search(r'"tf.Exp"\(%\w+\) \{varve.profile = \{count = 1', done.stdout)
    assert re.search(r"linalg.matmul \{varve.profile = \{count = 2", done.stdout)


@pytest.mark.usefixtures("debian")
def test_locations_keep_what_they_said(plugin, trace):
    line = f"annotate-operations-profile{{profile={trace} report=0}}"
    bare = run(plugin, "cse", "--mlir-print-debuginfo").stdout
    once = run(plugin, line, "--mlir-print-debuginfo").stdout
    assert re.search(r'fused<\{varve\.profile = "count=2, [^"]*, total=210000"\}>'
                     r'\[#loc\d+, #loc\d+\]', once)  # "net/mm" and "more", not one in the other
    assert run(plugin, f"{line},{line}", "--mlir-print-debuginfo").stdout == once
    body = [text for text in once.splitlines() if not text.startswith("#")]
    plain = [text for text in bare.splitlines() if not text.startswith("#")]
    assert [re.sub(r"#loc\d*", "#", text) for text in body] == \
        [re.sub(r"#loc\d*", "#", text) for text in plain]


@pytest.mark.usefixtures("debian")
@pytest.mark.parametrize("name", ("varve-profile-guided", "tf-profile-guided-pipeline"))
def test_pipelines_run_the_passes_of_the_user_afterwards(plugin, trace, build, name):
    hot = (*plugin, f"--load-pass-plugin={build}/mlir/examples/mark_hot.so")
    options = f"enable-profile=1 path-to-profile={trace} attr=profiler_data carrier=attribute"
    done = run(hot, f'{name}{{{options} passes="cse,mark-hot{{share=60}}"}}')
    assert done.returncode == 0, done.stderr
    assert profiles(done.stdout, "profiler_data")[0] == {"dur": 210000, "ts": 0}
    assert "varve.hot" not in done.stdout  # {ts, dur} has no time without what ran inside
    options = f"enable-profile=1 path-to-profile={trace}"
    done = run(hot, f'{name}{{{options} passes="mark-hot{{share=60}}"}}')
    assert done.stdout.count("varve.hot") == 1 and "linalg.matmul {varve.hot}" in done.stdout
    done = run(hot, f'{name}{{path-to-profile=none passes="cse"}}')
    assert done.returncode == 0 and "varve" not in done.stdout


@pytest.mark.usefixtures("debian")
def test_a_pass_in_c_reads_them_too(plugin, trace, build):
    done = run((*plugin, f"--load-pass-plugin={build}/mlir/examples/slowest.so"),
               f"annotate-operations-profile{{profile={trace} report=0}},slowest")
    assert done.returncode == 0
    assert 'loc(fused["net/mm", "more"]): the slowest: linalg.matmul, 210000 of 310000 ns' \
        in done.stderr


@pytest.mark.usefixtures("debian")
@pytest.mark.parametrize("options, words", [
    ("", "it needs a trace, {profile=FILE}"),
    ("profile=/none.json", "/none.json"),
    ("profile={trace} carrier=paper", "carrier is location, attribute or both"),
    ("profile={trace} require-coverage=99",
     "profile: 96.9 % of 0.320 ms on 5 of 12 operations, less than require-coverage=99.0"),
])
def test_what_is_wrong_fails_the_pass(plugin, trace, options, words):
    done = run(plugin, f"annotate-operations-profile{{{options.replace('{trace}', str(trace))}}}")
    assert done.returncode != 0 and words in done.stderr and "error: " in done.stderr


@pytest.mark.usefixtures("debian")
def test_a_function_alone(plugin, trace):
    line = f"func.func(annotate-operations-profile{{profile={trace} carrier=attribute}})"
    done = run(plugin, line)
    assert profiles(done.stdout)[0]["total"] == 210000


@pytest.mark.usefixtures("debian")
@pytest.mark.parametrize("attribute, words", [
    ("varve.profile = {total = 3 : i64, match = \"name\", fused}", None),
    ("varve.hot", None),
    ("varve.profile = {total = -3 : i64}", "'varve.profile': 'total' is negative"),
    ("varve.profile = {totale = 3 : i64}", "unknown field 'totale'; there are match, fused, count"),
    ("varve.profile = {total = 3 : i32}", "'total' must be an i64"),
    ("varve.profile = {match = 3 : i64, total = 3 : i64}", "'match' must be a string"),
    ("varve.device = \"new\"", None),
    ("varve.device = 3 : i64", "'varve.device' must be a string"),
    ("varve.profile = {}", "has no field: what is not known is not written"),
    ("varve.profile = 3 : i64", "must be a dictionary"),
    ("varve.hot = 3 : i64", "'varve.hot' must be without a value"),
])
def test_the_dialect_verifies_its_attributes(plugin, attribute, words):
    library = plugin[0].partition("=")[2]
    done = subprocess.run(
        ["mlir-opt-19", f"--load-dialect-plugin={library}", "--allow-unregistered-dialect"],
        input=f'"tf.A"() : () -> ()\n"tf.B"() {{{attribute}}} : () -> ()', capture_output=True,
        text=True, check=False)
    if words is None:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode != 0 and words in done.stderr and ":2:1: error: " in done.stderr


@pytest.mark.usefixtures("debian")
def test_a_trait_for_operations_of_ones_own(plugin, trace, build):
    own = f"{build}/mlir/examples/own_dialect.so"
    done = run((*plugin, f"--load-dialect-plugin={own}", f"--load-pass-plugin={own}"),
               f"annotate-operations-profile{{profile={trace} report=0}},say-profile",
               given='%0 = "own.layer"() : () -> i1 loc("net/mm")\n'
                     '%1 = "own.layer"(%0) : (i1) -> i1 loc("net/none")\n'
                     '"tf.Relu"(%1) : (i1) -> () loc("net/relu")\n')
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("remark: ") == 1
    assert 'loc("net/mm"): own.layer from 0 for 210000 ns' in done.stderr
    assert profiles(done.stdout, "profiler_data") == [{"dur": 210000, "ts": 0}]

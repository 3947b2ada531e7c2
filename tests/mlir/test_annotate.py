# SPDX-License-Identifier: Apache-2.0
"""varve annotate: what a trace measured, into a module and back out of it. The trace is ONNX
Runtime's, the module what torch-mlir imports of the model, both small enough to be added up."""
import json
import os
import re
import subprocess
import time

import pytest

MODULE = """\
module {
  func.func @net(%arg0: !torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32> {
    %0 = torch.operator "onnx.MatMul"(%arg0, %arg0) : (!t, !t) -> !t loc("/fc1/MatMul")
    %1 = torch.operator "onnx.Add"(%0, %0) : (!t, !t) -> !t loc("/fc1/Add")
    %2 = torch.operator "onnx.Relu"(%1) {a = 1 : i64} : (!t) -> !t loc(fused["x", "/act/Relu"])
    return %2 : !torch.vtensor<[1,4],f32> loc("net")
  } loc("net")
} loc("net")

{-#
  dialect_resources: { builtin: { w: "0x04000000#-}" } }
#-}
"""
NODES = [("/fc1/MatMul", "MatMul", [30, 10, 20]), ("/fc1/Add", "Add", [4, 4, 4]),
         ("/act/Relu", "Relu", [1, 2, 3]), ("/lost/Gelu", "Gelu", [2, 2, 2])]


@pytest.fixture
def trace(tmp_path):
    """Three runs, a microsecond between nodes."""
    events = [{"cat": "Session", "pid": 7, "tid": 7, "dur": 10, "ts": 0, "ph": "X",
               "name": "model_loading_array", "args": {}}]
    at = 100
    for run in range(3):
        for index, (name, kind, times) in enumerate(NODES):
            events.append({"cat": "Node", "pid": 7, "tid": 7, "dur": times[run], "ts": at,
                           "ph": "X", "name": f"{name}_kernel_time",
                           "args": {"op_name": kind, "provider": "CPUExecutionProvider",
                                    "node_index": str(index)}})
            at += times[run] + 1
    (tmp_path / "ort.json").write_text(json.dumps(events))
    (tmp_path / "net.mlir").write_text(MODULE)
    return "ort.json"


def table(done, name):
    found = json.loads(done.stdout)["tables"][name]
    names = [column["name"] for column in found["columns"]]
    return [row if isinstance(row, dict) else dict(zip(names, row)) for row in found["rows"]]


def without_annotations(text):
    meant = dict(re.findall(r'^(#varve\d+) = loc\(fused<\{varve.profile = "[^"]*"\}>\[(.*)\]\)$',
                            text, re.MULTILINE))
    text = re.sub(r"^#varve\d+ = .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"loc\((#varve\d+)\)",
                  lambda found: f"loc(fused[{meant[found[1]]}])" if "," in meant[found[1]]
                  else f"loc({meant[found[1]]})", text)


def test_measurements_go_into_locations_and_nothing_else_changes(command, tmp_path, trace):
    done = command("annotate", "net.mlir", trace, "-o", "out.mlir")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.mlir").read_text()
    assert without_annotations(text) == MODULE
    assert (tmp_path / "net.mlir").read_text() == MODULE
    line = re.search(r"^#varve1 = .*$", text, re.MULTILINE)[0]
    for word in ("count=3", "total=60000", "self=60000", "mean=20000", "min=10000", "max=30000",
                 "p50=20000", "match=name", '["/fc1/MatMul"]'):
        assert word in line
    assert "=0" not in line  # no zero stands for what is not known
    assert text.count("varve.profile") == 3
    assert text.index("#varve3") < text.index("{-#")


def test_to_annotate_twice_is_to_annotate_once(command, tmp_path, trace):
    command("annotate", "net.mlir", trace, "-o", "once.mlir")
    command("annotate", "once.mlir", trace, "-o", "twice.mlir")
    assert (tmp_path / "once.mlir").read_bytes() == (tmp_path / "twice.mlir").read_bytes()


def test_what_is_written_is_read_and_adds_up(command, trace):
    command("annotate", "net.mlir", trace, "-o", "out.mlir")
    rows = table(command("annotate", "--read", "--json", "out.mlir"), "annotations")
    assert [(row["operation"], row["source"], row["total_ns"]) for row in rows] == [
        ("onnx.MatMul", "/fc1/MatMul", 60000), ("onnx.Add", "/fc1/Add", 12000),
        ("onnx.Relu", "x", 6000), ("total", None, 78000)]


def test_the_thesis_form_is_an_attribute_with_two_fields(command, tmp_path, trace):
    done = command("annotate", "net.mlir", trace, "--attr", "profiler_data", "--fields", "ts,dur",
                   "-o", "out.mlir")
    assert done.returncode == 0
    assert done.stderr.count("attributes are part of the program") == 1
    text = (tmp_path / "out.mlir").read_text()
    assert re.search(r'"onnx.MatMul"\(%arg0, %arg0\) \{profiler_data = \{dur = 60000 : i64, '
                     r'ts = \d+ : i64\}\} : \(!t, !t\)', text)
    assert re.search(r"\{a = 1 : i64, profiler_data = \{dur = 6000 : i64, ts = \d+ : i64\}\}", text)
    assert re.sub(r"\{profiler_data = \{[^}]*\}\} |, profiler_data = \{[^}]*\}", "", text) == MODULE
    rows = table(command("annotate", "--read", "--json", "--attr", "profiler_data", "out.mlir"),
                 "annotations")
    assert rows[-1]["total_ns"] == 78000


def test_the_tables_say_how_much_was_found(command, trace):
    done = command("annotate", "net.mlir", trace, "--json")
    assert list(json.loads(done.stdout)["tables"]) == ["coverage", "coverage_levels", "unmatched",
                                                       "ambiguous"]
    coverage = table(done, "coverage")[0]
    assert (coverage["time_ns"], coverage["matched_ns"]) == (84000, 78000)
    lost = table(done, "unmatched")[0]
    assert lost["name"] == "/lost/Gelu"
    only = command("annotate", "net.mlir", trace, "--json", "--table", "unmatched")
    assert list(json.loads(only.stdout)["tables"]) == ["unmatched"]


@pytest.mark.parametrize("share, code", [("90%", 0), ("92.8%", 0), ("93%", 1), ("0.95", 1)])
def test_less_than_the_required_share_is_exit_code_1(command, tmp_path, trace, share, code):
    done = command("annotate", "net.mlir", trace, "--require-coverage", share, "-o", "out.mlir")
    assert done.returncode == code, done.stderr
    assert ("less than --require-coverage" in done.stderr) == bool(code)
    assert (tmp_path / "out.mlir").exists()


def test_the_steps_and_the_level_are_chosen_as_everywhere(command, trace):
    done = command("annotate", "net.mlir", trace, "--json", "--filter", "name ~ '*MatMul*'")
    assert table(done, "coverage")[0]["time_ns"] == 60000
    done = command("annotate", "net.mlir", trace, "--json", "--min-level", "key",
                   "--require-coverage", "0")
    assert table(done, "coverage")[0]["matched_ns"] == 0


WRONG = [
    (["--require-coverage", "most"], "--require-coverage wants a share such as 80%, not 'most'"),
    (["--min-level", "best"], "--min-level: no level 'best'; from best to worst they are tag, key"),
    (["--attr", ""], "--attr wants a name of letters, digits"),
    (["--attr", 'x"y'], "such as varve.profile, not 'x\"y'"),
    (["--fields", "when"], "an annotation has no field 'when'"),
    (["-o", "net.mlir"], "'net.mlir' is the input, which is never changed"),
    (["-o", "ort.json"], "'ort.json' is the input, which is never changed"),
    (["-o", "out.mlir.gz"], "does not compress"),
]


@pytest.mark.parametrize("words, says", WRONG, ids=[words[0] + words[1] for words, _ in WRONG])
def test_what_cannot_be_done_is_said_before_anything_is_written(command, tmp_path, trace, words,
                                                                says):
    done = command("annotate", "net.mlir", trace, *words)
    assert done.returncode == 2
    assert says in done.stderr
    assert (tmp_path / "net.mlir").read_text() == MODULE
    assert not (tmp_path / "out.mlir").exists()


def test_a_profile_of_another_module_is_refused(command, tmp_path, trace):
    (tmp_path / "other.mlir").write_text('"tf.A"() : () -> () loc("elsewhere")\n')
    done = command("annotate", "other.mlir", trace, "-o", "out.mlir")
    assert done.returncode == 3
    assert "0 of 4 names of the trace are in 'other.mlir', with 0.0 % of its time" in done.stderr
    assert "not found, the longest first:  /fc1/MatMul, " in done.stderr
    assert not (tmp_path / "out.mlir").exists()


def test_a_module_of_one_long_line_takes_no_longer_than_one_of_many(command, tmp_path, trace):
    """100,000 operations: to look through the line for each of them takes some seconds."""
    for name, end in (("long", " "), ("lines", "\n")):
        (tmp_path / f"{name}.mlir").write_text(end.join(
            f'"onnx.MatMul"() : () -> f32 loc("/fc{i % 9}/MatMul")' for i in range(100000)))
    times = {}
    for name in ("long", "lines"):
        begin = time.monotonic()
        assert command("annotate", "--read", f"{name}.mlir").returncode == 0
        times[name] = time.monotonic() - begin
    assert times["long"] < 5 * times["lines"] + 1
    assert command("hot", "long.mlir", trace).returncode == 0


def test_a_profile_of_another_version_is_refused_unless_it_is_said_to_go_on(command, tmp_path,
                                                                            trace):
    """Of what the trace names, this version has one operation; the trace has the other three of the
    module under no name."""
    (tmp_path / "next.mlir").write_text('"onnx.Add"() : () -> () loc("/fc1/Add")\n' + "".join(
        f'"onnx.MatMul"() : () -> () loc("/fc{i}/MatMul")\n' for i in (2, 3, 4)))
    done = command("annotate", "next.mlir", trace, "-o", "out.mlir")
    assert done.returncode == 3 and not (tmp_path / "out.mlir").exists()
    assert "1 of 4 names of the trace are in 'next.mlir', with 14.3 % of its time" in done.stderr
    assert "--require-coverage 0" in done.stderr
    done = command("annotate", "next.mlir", trace, "--require-coverage", "0", "-o", "out.mlir")
    assert done.returncode == 0
    assert (tmp_path / "out.mlir").read_text().count("varve.profile") == 1


def test_a_module_without_locations_is_said_with_its_producers_way(command, tmp_path, trace):
    (tmp_path / "bare.mlir").write_text('func.func @f() {\n  torch.aten.mm : i32\n}\n')
    done = command("annotate", "bare.mlir", trace, "-o", "out.mlir")
    assert "no operation of bare.mlir has a location" in done.stderr
    assert "get_asm(enable_debug_info=True)" in done.stderr
    assert done.returncode == 3 and not (tmp_path / "out.mlir").exists()


def test_standard_output_holds_the_module_alone(command, tmp_path, trace):
    done = command("annotate", "net.mlir", trace, "-o", "-")
    command("annotate", "net.mlir", trace, "-o", "out.mlir")
    assert done.stdout == (tmp_path / "out.mlir").read_text()


def test_annotations_are_read_from_a_pipe(command, tmp_path, trace):
    """Which can be opened once: its writer writes once."""
    command("annotate", "net.mlir", trace, "-o", "out.mlir")
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["/bin/cp", "out.mlir", "pipe"], cwd=tmp_path) as writer:
        piped = command("annotate", "--read", "pipe", "--json")
        assert writer.wait(timeout=60) == 0
    read = command("annotate", "--read", "out.mlir", "--json")
    assert read.stdout == piped.stdout.replace("pipe", "out.mlir") and read.returncode == 0


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_no_module(command, trace, device):
    done = command("annotate", device, trace, "-o", "-")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"varve: {device} is a device: give a file, or a pipe\n"


def test_a_broken_trace_leaves_no_module(command, tmp_path, trace):
    (tmp_path / "ort.json").write_text((tmp_path / "ort.json").read_text()[:-30])
    (tmp_path / "out.mlir").write_text("former")
    (tmp_path / "cut.json").write_text("{")
    done = command("annotate", "net.mlir", "cut.json", "-o", "out.mlir")
    assert done.returncode == 3
    assert (tmp_path / "out.mlir").read_text() == "former"

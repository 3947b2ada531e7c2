# SPDX-License-Identifier: Apache-2.0
"""Records of profiles and operations of modules, both made here: which records find no operation,
and that none finds a wrong one. What is right is said by tags that XLA carried through, by ranges
around each node of a PyTorch program, by ONNX Runtime's optimized graph, and by what TensorFlow
calls its kernels. Records count here, and not their times: how much time each producer's records
have, bench/mlir_shares.py says of an idle machine (doc/mlir.md)."""
import json
import re
import subprocess

import pytest

TAG = re.compile(r'^#(loc\d*) = loc\("varve#(\d+):"', re.MULTILINE)


@pytest.fixture(scope="module", name="match")
def fixture_match(build):
    """match(TRACE, MODULE, OPTION…): the profile, and its records with the operations that they
    found."""
    def match(trace, module, *options):
        done = subprocess.run([build / "tests/tools/mlir_match", *options, trace, module],
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        first, *records = map(json.loads, done.stdout.splitlines())
        return first, records
    return match


def share(records, holds):
    """Percent of the executions that `holds`."""
    def calls_of(rows):
        return sum(row["count"] for row in rows)
    return 100 * calls_of([row for row in records if holds(row)]) / calls_of(records)


def is_matched(record):
    return "level" in record


def is_plain(record):
    return is_matched(record) and len(record["members"]) == 1


def kind_of(record):
    """The type, of XLA's operations with the name that its numbers are taken from."""
    return record.get("type") if "/" in record.get("name", "/") else record["name"].split(".")[0]


def missed(records, holds=is_matched):
    """The kinds of those that do not hold."""
    assert len(records) > 10
    return {kind_of(row) for row in records if not holds(row)}


# JAX

@pytest.fixture(scope="module", name="jax_folder", params=["plain", "scoped", "scan", "grad"])
def fixture_jax_folder(produce, request):
    return produce("jax", "mlir/jax_modules.py", request.param, "small")


@pytest.mark.parametrize("module", ["tagged", "plain"])
def test_jax_finds_its_operations(match, jax_folder, module):
    """But for copies and fills that XLA adds, and that it gives no operation."""
    _, records = match(jax_folder / f"{module}.xplane.pb", jax_folder / f"{module}.mlir")
    assert missed(records) <= {"copy", "wrapped_broadcast"}
    assert share(records, is_matched) >= 95


@pytest.mark.parametrize("kind, least", [("plain", 45), ("scoped", 45), ("scan", 50),
                                         ("grad", 30)])
def test_jax_s_layers_are_told_apart_by_their_arguments(match, produce, kind, least):
    """No name is unique in a program of equal layers; each layer has weights of its own, each turn
    of a scan slices the same, and each operand of a gradient depends on others. Without tags, what
    is found is the operation that the tag says."""
    folder = produce("jax", "mlir/jax_modules.py", kind, "small")
    _, truth = match(folder / "tagged.xplane.pb", folder / "tagged.mlir")
    _, found = match(folder / "tagged.xplane.pb", folder / "plain.mlir")
    certain = [(right, row) for right, row in zip(truth, found, strict=True)
               if right.get("level") == "tag" and is_matched(row) and not row["is_ambiguous"]]
    assert len(certain) > 20
    assert not [(row["name"], row["primary"], right["primary"]) for right, row in certain
                if row["primary"]["op"] != right["primary"]["op"]]
    assert share(found, lambda row: row.get("operations") == 1) >= least


def test_a_tag_is_the_operation_that_bears_it(match, jax_folder):
    """By XLA's own text of the program, and by the lines of the module."""
    lines = (jax_folder / "tagged.mlir").read_text().splitlines()
    aliases = dict(TAG.findall("\n".join(lines)))
    types = dict(re.findall(r'^ *(?:ROOT )?%(\S+) = .*op_type="varve#(\d+)"',
                            (jax_folder / "tagged.hlo").read_text(), re.MULTILINE))
    _, records = match(jax_folder / "tagged.xplane.pb", jax_folder / "tagged.mlir")
    found = [row for row in records if row.get("level") == "tag" and row["tag"] >= 0]
    assert len(found) > 20
    for row in found:
        assert types.get(row["name"], str(row["tag"])) == str(row["tag"])
        line = lines[row["primary"]["line"] - 1]
        alias = re.search(r"loc\(#(loc\d*)\)$", line)
        if alias and row["primary"]["type"] != "stablehlo.while":  # its text ends lines below
            assert aliases[alias[1]] in {str(row["tag"]), *(str(tag) for tag, *_ in
                                                            row.get("inners", []))}


def test_jax_finds_no_wrong_operation_without_tags(match, jax_folder):
    """The profile of the tagged program, held against the module that has no tags."""
    told, truth = match(jax_folder / "tagged.xplane.pb", jax_folder / "tagged.mlir")
    other, found = match(jax_folder / "tagged.xplane.pb", jax_folder / "plain.mlir")
    assert told["operations"] == other["operations"]
    pairs = [(right, row) for right, row in zip(truth, found, strict=True)
             if right.get("level") == "tag" and is_matched(row)]
    wrong = [row["name"] for right, row in pairs if not set(right["members"]) & set(row["members"])]
    assert len(pairs) > 20 and not wrong


# PyTorch

@pytest.fixture(scope="module", name="torch_folder", params=["gpt", "resnet"])
def fixture_torch_folder(produce, request):
    return produce("mlir", "mlir/torch_modules.py", request.param, "small")


@pytest.fixture(scope="module", name="nodes", params=["gpt", "resnet"])
def fixture_nodes(produce, request):
    """The folder of the net, and for each operator of a step its type and its node."""
    folder = produce("mlir", "mlir/torch_modules.py", request.param, "small")
    truth = produce("mlir", "mlir/torch_truth.py", request.param, "small") / "nodes.json"
    events = sorted((event for event in json.loads(truth.read_text())["traceEvents"]
                     if event.get("ph") == "X"), key=lambda event: (event["ts"], -event["dur"]))
    nodes, name, last, end = [], None, -1, -1
    for event in events:
        if event["name"].startswith("varve.node "):
            name, last = event["name"].removeprefix("varve.node "), event["ts"] + event["dur"]
        elif event.get("cat") == "cpu_op" and end <= event["ts"] < last:
            nodes.append((event["name"], name))
            end = event["ts"] + event["dur"]
    return folder, nodes


@pytest.mark.parametrize("form", ["raw", "torch", "linalg", "stablehlo", "tosa"])
def test_pytorch_finds_its_operations(match, torch_folder, form):
    """Where norms are taken apart they add, too: then it is not certain which addition is which."""
    _, records = match(torch_folder / "profile.json", torch_folder / f"{form}.mlir")
    assert missed(records) == (set() if form == "raw" else {"aten::add"})
    assert share(records, is_matched) >= 85


def test_pytorch_finds_each_operation_of_the_program_as_it_is(match, torch_folder):
    _, records = match(torch_folder / "profile.json", torch_folder / "raw.mlir")
    assert not missed(records, is_plain)


@pytest.mark.parametrize("net", ["gpt", "resnet"])
def test_our_own_recording_finds_each_operation(match, produce, record, net):
    """varve record of a program, and the program as torch-mlir imports it: the nth operator of a
    type in a step is the nth operation of this type. Of the steps that are whole; before the first
    one the net is made."""
    module = produce("mlir", "mlir/torch_modules.py", net, "small") / "raw.mlir"
    trace = record("torch", "mlir/torch_run.py", net, "small") / "run.varve"
    told, records = match(trace, module, "--steps", "0..1")
    assert told["producer"] == "PyTorch" and len(records) > 15
    assert not missed(records, is_plain)
    levels = {row["level"] for row in records if is_plain(row)}
    assert levels <= {"order", "call stack"} and "order" in levels
    wrong = [(row["type"], row["primary"]["type"]) for row in records if is_plain(row) and
             row["primary"]["type"].split(".")[2] != row["type"].removeprefix("aten::")]
    assert not wrong


def test_our_own_recording_of_modules_goes_by_their_paths(match, produce, record):
    """varve record says where each nn.Module stands in the model; the naming hook says the same of
    the operations."""
    module = produce("mlir", "mlir/torch_modules.py", "gpt", "small") / "raw.named.mlir"
    trace = record("torch", "mlir/torch_run.py", "gpt", "small",
                   options=("--collect", "+modules")) / "run.varve"
    _, records = match(trace, module, "--steps", "0..1")
    assert not missed(records, is_plain)
    found = [row for row in records if row["level"] == "module path"]
    assert len(found) > 40
    for row in found:
        assert row["primary"]["name"].rpartition("/")[0] == row["path"], row
        assert row["primary"]["type"].split(".")[2] == row["type"].removeprefix("aten::"), row


@pytest.mark.parametrize("form", ["raw", "torch", "linalg", "stablehlo", "tosa"])
def test_pytorch_finds_no_wrong_operation(match, nodes, form):
    """The nth operator of a step is of the nth node of the program."""
    folder, truth = nodes
    _, records = match(folder / "profile.json", folder / f"{form}.named.mlir")
    records = sorted((row for row in records if row.get("type", "").startswith("aten::")),
                     key=lambda row: row["first_ns"])
    assert [row["type"] for row in records] == [kind for kind, _ in truth]
    plain = [(row, node) for row, (_, node) in zip(records, truth) if is_plain(row)]
    assert not [(row["type"], row["primary"], node) for row, node in plain
                if row["primary"].get("name") != node]
    assert len(plain) == len(truth) or form != "raw"


# TensorFlow

@pytest.fixture(scope="module", name="tf_folder", params=["gpt", "resnet"])
def fixture_tf_folder(produce, request):
    return produce("tensorflow", "mlir/tf_modules.py", request.param, "small")


# What a form does not have: StableHLO reads no variables. XLA gives no name to reductions that it
# splits.
SPLIT = {"wrapped_reduce-window"}


@pytest.mark.parametrize("trace, module, absent, least", [
    ("level3.xplane.pb", "executor.mlir", set(), 100),
    ("level3.xplane.pb", "standard.mlir", set(), 100),
    ("level3.xplane.pb", "saved_model.mlir", set(), 100),
    ("level3.xplane.pb", "frozen.mlir", set(), 100),
    ("level3.xplane.pb", "stablehlo.mlir", {"ReadVariableOp"}, 80),
    ("jit.xplane.pb", "stablehlo.mlir", SPLIT, 80), ("jit.xplane.pb", "standard.mlir", SPLIT, 80)])
def test_tensorflow_finds_its_operations(match, tf_folder, trace, module, absent, least):
    _, records = match(tf_folder / trace, tf_folder / module)
    assert missed(records) <= absent
    assert share(records, is_matched) >= least


def test_tensorflow_s_fused_kernels_are_of_the_pattern_s_first_operation(match, tf_folder):
    """A kernel has the name of the pattern's last operation, and the type of its first."""
    _, records = match(tf_folder / "level3.xplane.pb", tf_folder / "standard.mlir")
    fused = [(row, re.fullmatch(r"_(?:MklNative)?(?:PadWith)?Fused(\w+)", row.get("type", "")))
             for row in records]
    fused = [(row, kind[1]) for row, kind in fused if kind]
    assert fused
    for row, kind in fused:
        assert row["primary"]["type"] == f"tf.{kind}" and row["is_fused"], row["name"]
        assert len(row["members"]) > 1, row["name"]


def test_a_saved_model_that_holds_the_net_twice(match, tf_folder):
    """In the function that was called, and in its signature; the trace says which one ran."""
    text = (tf_folder / "saved_model.mlir").read_text()
    _, records = match(tf_folder / "level3.xplane.pb", tf_folder / "saved_model.mlir")
    assert not missed(records, lambda row: row.get("operations") == 1)
    for row in filter(is_matched, records):
        assert f'{row["primary"]["name"]}"' in text
        assert row["primary"]["name"].endswith(f'@{row["function"]}')


@pytest.mark.parametrize("form", ["standard", "frozen"])
def test_tensorflow_finds_no_wrong_operation(match, tf_folder, form):
    """A plain match has the node's name and type. Freezing makes Identity of what reads a
    variable."""
    _, records = match(tf_folder / "level3.xplane.pb", tf_folder / f"{form}.mlir")
    plain = [row for row in records if is_plain(row) and not row["is_ambiguous"]]
    assert len(plain) > 10
    for row in plain:
        kind = row["type"].removeprefix("_MklNative").removeprefix("_Mkl").lstrip("_")
        kind = "Identity" if form == "frozen" and kind == "ReadVariableOp" else kind
        assert row["primary"]["type"] == f"tf.{kind}", row
        assert row["name"].startswith(row["primary"]["name"].removesuffix(":")), row


def test_a_product_that_xla_made_of_a_convolution_is_the_convolution(match, produce):
    """XLA's own name of it says which."""
    folder = produce("tensorflow", "mlir/tf_modules.py", "resnet", "small")
    _, records = match(folder / "jit.xplane.pb", folder / "standard.mlir")
    made = [row for row in records if row.get("type") == "dot" and is_plain(row) and
            row["primary"]["type"] == "tf.Conv2D"]
    assert made
    for row in made:
        assert row["op_name"] == row["primary"]["name"] and row["is_type_equal"], row


# ONNX Runtime

@pytest.fixture(scope="module", name="onnx")
def fixture_onnx(produce):
    """The folder of profiles and numbers, and the module."""
    folder = produce("onnxruntime", "mlir/onnx_model.py", "small")
    return folder, produce("mlir", "mlir/onnx_modules.py", folder / "model.onnx") / "onnx.mlir"


@pytest.mark.parametrize("trace", ["off.json", "on.json"])
def test_onnx_runtime_finds_its_operations(match, onnx, trace):
    folder, module = onnx
    _, records = match(folder / trace, module)
    assert not missed(records)


@pytest.mark.parametrize("name", ["off", "on"])
def test_onnx_runtime_finds_no_wrong_operation(match, onnx, name):
    """By the nodes of the model that lie between the inputs and outputs of each optimized node."""
    folder, module = onnx
    parts = {node.rstrip("/"): of for node, of in
             json.loads((folder / "numbers.json").read_text())[name].items()}
    _, records = match(folder / f"{name}.json", module)
    found = [row for row in records if is_matched(row)]
    assert len(found) > 30
    assert not [(row["name"], row["primary"]) for row in found
                if row["primary"]["name"] not in parts[row["name"].rstrip("/")]]

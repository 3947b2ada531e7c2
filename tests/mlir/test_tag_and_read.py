# SPDX-License-Identifier: Apache-2.0
"""varve tag, varve annotate --read, and what both say about modules that they cannot read."""
import json
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import vmfb_writer  # noqa: E402

FORMS = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "corpus" / "mlir_module"
BAD = "module {\n  \"a.b\"( : () -> ()\n}\n"
ANNOTATED = """\
"l.loop"() : () -> () loc(#loc1)
"l.store"() : () -> () loc(#loc1)
#loc1 = loc(fused<{varve.profile = {count = 3 : i64, group = 1 : i64, total = 81000 : i64}}>["fc1"])
"""


def untagged(text):
    """The text without tags, wherever they stand."""
    meant = dict(re.findall(r"^(#varve\d+) = loc\((.*)\)$", text, re.MULTILINE))
    text = re.sub(r"^#varve\d+ = .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"loc\((#varve\d+)\)", lambda found: f"loc({meant[found[1]]})", text)
    text = re.sub(r' loc\("varve#\d+:"\)', "", text)
    return re.sub(r'loc\("varve#\d+:"\((.*)\)\)$', r"loc(\1)", text, flags=re.MULTILINE)


@pytest.mark.parametrize("form", ["torch", "jax", "tensorflow", "onnx", "iree", "plain"])
def test_every_operation_has_its_number_and_the_code_is_the_same(command, tmp_path, form):
    source = (FORMS / form).read_text()
    done = command("tag", FORMS / form, "-o", "tagged.mlir")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "tagged.mlir").read_text()
    numbers = [int(number) for number in re.findall(r'"varve#(\d+):"', text)]
    assert sorted(numbers) == list(range(len(numbers)))
    assert f"{len(numbers)} operations have tags" in done.stderr
    assert untagged(text) == source


def test_a_second_file_is_refused(command):
    done = command("tag", FORMS / "jax", "trace.json", "-o", "out.mlir")
    assert done.returncode == 2 and "tag takes one module" in done.stderr


def test_to_tag_twice_is_to_tag_once(command, tmp_path):
    command("tag", FORMS / "jax", "-o", "once.mlir")
    command("tag", "once.mlir", "-o", "twice.mlir")
    assert (tmp_path / "once.mlir").read_bytes() == (tmp_path / "twice.mlir").read_bytes()


def test_what_is_written_never_takes_the_inputs_place(command, tmp_path):
    (tmp_path / "net.mlir").write_text("module {\n}\n")
    for words in (["-o", "net.mlir"], ["-o", "./net.mlir"]):
        done = command("tag", "net.mlir", *words)
        assert done.returncode == 2
        assert "is the input, which is never changed" in done.stderr
    (tmp_path / "out.mlir.old").write_text("module {\n}\n")
    (tmp_path / "out.mlir").write_text("former")
    done = command("tag", "out.mlir.old", "-o", "out.mlir")
    assert done.returncode == 2
    assert "the former 'out.mlir' would be kept as 'out.mlir.old'" in done.stderr
    assert (tmp_path / "out.mlir").read_text() == "former"


def test_a_module_that_is_none_is_said_with_its_place_and_nothing_is_written(command, tmp_path):
    (tmp_path / "bad.mlir").write_text(BAD)
    for words in (["tag", "bad.mlir", "-o", "out.mlir"], ["annotate", "--read", "bad.mlir"]):
        done = command(*words)
        assert done.returncode == 3
        assert done.stderr == "varve: bad.mlir:3:1: '}' where ')' should stand\n"
    assert not (tmp_path / "out.mlir").exists()
    done = command("tag", "none.mlir", "-o", "out.mlir")
    assert done.returncode == 3 and "none.mlir" in done.stderr


def test_annotations_name_the_operator_that_operations_came_from(command, tmp_path):
    (tmp_path / "lowered.mlir").write_text(ANNOTATED)
    table = json.loads(command("annotate", "--read", "--json", "lowered.mlir").stdout)
    rows = table["tables"]["annotations"]["rows"]
    names = [column["name"] for column in table["tables"]["annotations"]["columns"]]
    found = [dict(zip(names, row)) if isinstance(row, list) else row for row in rows]
    assert [(row["operation"], row["source"], row["counted"], row["total_ns"])
            for row in found[:2]] == [("l.loop", "fc1", "yes", 81000),
                                      ("l.store", "fc1", "no", 81000)]
    text = command("annotate", "--read", "lowered.mlir").stdout
    assert "2 annotations 'varve.profile' of 1 records on 2 operations" in text


def test_a_program_of_iree_names_the_operator_too(command, tmp_path):
    (tmp_path / "net.bin").write_bytes(vmfb_writer.small())  # known by its content
    table = json.loads(command("annotate", "--read", "--json", "net.bin").stdout)
    table = table["tables"]["annotations"]
    names = [column["name"] for column in table["columns"]]
    rows = [row if isinstance(row, dict) else dict(zip(names, row)) for row in table["rows"]]
    assert {(row["source"], row["count"], row["total_ns"]) for row in rows[:-1]} == {
        ("block/mm", 3, 81)}
    assert rows[-1]["total_ns"] == 81
    cut = vmfb_writer.small()
    (tmp_path / "cut.bin").write_bytes(cut[:len(cut) // 2])
    assert command("annotate", "--read", "cut.bin").returncode == 3

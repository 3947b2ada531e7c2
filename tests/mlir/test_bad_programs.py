# SPDX-License-Identifier: Apache-2.0
"""Programs and profiles that are not what they should be: said with their place, exit code 3, and
the output is as it was. The profile is mlirgraph's CSV: name, begin and duration in ps."""
import os
import resource
import signal
import subprocess

import pytest

MODULE = '%0 = "tf.A"() : () -> i32 loc("a")\n%1 = "tf.B"(%0) : (i32) -> i32 loc("b")\n'
PROFILE = "name,ts,duration\na,1000,5000000\nb,6000000,3000000\n"
BROKEN = [
    ('"tf.A"() : () -> ()\n  } }\n', "net.mlir:2:3: '}' closes nothing"),
    ('func.func @f() {\n  "tf.A"( : () -> ()\n', "net.mlir:2:9: '(' is never closed"),
    ('"tf.A"() : () -> () loc(nothing)\n', "net.mlir:1:25: no kind of location that is known"),
    ('"tf.A() : () -> ()\n', "net.mlir:1:1: a string is never closed"),
    ("", "net.mlir"),
]


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "net.mlir").write_text(MODULE)
    (tmp_path / "p.csv").write_text(PROFILE)
    (tmp_path / "out.mlir").write_text("former")


def untouched(tmp_path, module=MODULE):
    return ((tmp_path / "net.mlir").read_text() == module
            and (tmp_path / "out.mlir").read_text() == "former"
            and not [path for path in tmp_path.iterdir()
                     if path.name not in ("net.mlir", "p.csv", "out.mlir", "t.json")])


@pytest.mark.parametrize("verb", [("annotate", "net.mlir", "p.csv"), ("tag", "net.mlir"),
                                  ("hot", "net.mlir")], ids=lambda words: words[0])
@pytest.mark.parametrize("module, words", BROKEN, ids=[words for _, words in BROKEN])
def test_a_program_that_is_none(command, tmp_path, verb, module, words):
    (tmp_path / "net.mlir").write_text(module)
    done = command(*verb, "-o", "out.mlir")
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert words in done.stderr
    assert untouched(tmp_path, module)


@pytest.mark.parametrize("name, text, words", [
    ("t.json", '{"traceEvents": [\n {"ph": "X" "x"}\n]}', "(t.json:2:13)"),
    ("p.csv", PROFILE + "c,soon,3\n", "'p.csv', line 4: 'c,soon,3' is no name, begin"),
    ("p.csv", "nothing that is known\n", "'p.csv' is not a trace that varve knows"),
    ("p.csv", "", "the file is empty"),
])
def test_a_profile_that_is_none(command, tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    done = command("annotate", "net.mlir", name, "-o", "out.mlir")
    assert done.returncode == 3 and words in done.stderr, done.stderr
    assert untouched(tmp_path)


def test_a_program_cut_at_every_place(command, tmp_path):
    """What is left is read, or refused with its place; then nothing is written."""
    place = None
    for length in range(0, len(MODULE), 3):
        (tmp_path / "net.mlir").write_text(MODULE[:length])
        (tmp_path / "out.mlir").write_text("former")
        done = command("annotate", "net.mlir", "p.csv", "-o", "out.mlir")
        assert done.returncode in (0, 3), done.stderr
        place = place or ("net.mlir:" in done.stderr and done.stderr)
        if done.returncode == 3:
            assert untouched(tmp_path, MODULE[:length])
        for old in tmp_path.glob("out.mlir.*"):
            old.unlink()
    assert place


@pytest.mark.parametrize("operation, words", [
    ("torch.aten.mm", "module.operation.get_asm(enable_debug_info=True)"),
    ('torch.operator "onnx.MatMul"', "get_asm(enable_debug_info=True)"),
    ("stablehlo.add", "lowered.as_text(debug_info=True)"),
    ('"tf.A"', "tf.mlir.experimental.convert_function(f, show_debug_info=True)"),
    ("tf_executor.fetch", "show_debug_info=True"),
    ("linalg.matmul", "--mlir-print-debuginfo"),
    ("flow.dispatch", "--mlir-print-debuginfo"),
])
def test_a_program_without_locations(command, tmp_path, operation, words):
    module = f"func.func @f(%a: i32) {{\n  %0 = {operation}(%a) : (i32) -> i32\n  return\n}}\n"
    (tmp_path / "net.mlir").write_text(module)
    done = command("annotate", "net.mlir", "p.csv", "-o", "out.mlir")
    assert done.returncode == 3, done.stderr
    assert "no operation of net.mlir has a location" in done.stderr and words in done.stderr
    assert untouched(tmp_path, module)


def test_a_profile_of_another_program(command, tmp_path):
    (tmp_path / "p.csv").write_text(PROFILE.replace("\na,", "\nx,").replace("\nb,", "\ny,"))
    done = command("annotate", "net.mlir", "p.csv", "-o", "out.mlir")
    assert done.returncode == 3 and "0 of 2 names of the trace are in 'net.mlir'" in done.stderr
    assert untouched(tmp_path)


def test_a_profile_of_another_version_is_said(command, tmp_path):
    """Some of it is found; the rest is in table unmatched."""
    (tmp_path / "p.csv").write_text(PROFILE.replace("\nb,", "\nnew/b/c,"))
    done = command("annotate", "net.mlir", "p.csv", "-o", "out.mlir")
    assert done.returncode == 0, done.stderr
    assert "which may be another version of what ran: table unmatched has the rest" in done.stderr
    assert "total=5000" in (tmp_path / "out.mlir").read_text()


@pytest.mark.parametrize("verb", [("annotate", "net.mlir", "p.csv"), ("tag", "net.mlir")],
                         ids=lambda words: words[0])
def test_a_disk_that_is_full_leaves_the_former_file(varve, tmp_path, verb):
    module = MODULE.replace("%1", "%2") * 400
    (tmp_path / "net.mlir").write_text(module)

    def bound():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    done = subprocess.run([varve, *verb, "-o", "out.mlir"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=120, check=False, preexec_fn=bound)
    assert done.returncode > 0, done.stderr
    assert "out.mlir" in done.stderr
    assert untouched(tmp_path, module)


def test_a_folder_in_which_nobody_may_write(command, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    done = command("tag", "net.mlir", "-o", "new.mlir")
    tmp_path.chmod(0o700)
    assert done.returncode != 0 and "new.mlir" in done.stderr and untouched(tmp_path)


def test_a_library_of_another_kind(command, build, tmp_path):
    """It is opened in a process of its own, and only if it is named."""
    if not (build / "mlir/varve-mlir-library").exists():
        pytest.skip("varve-mlir-library is not built")
    done = command("annotate", "net.mlir", "p.csv", "--emit", "generic", "--mlir-lib",
                   build / "libvarve.so", "-o", "out.mlir")
    assert done.returncode == 3, done.stderr
    assert "is no library with MLIR's C API" in done.stderr
    assert untouched(tmp_path)

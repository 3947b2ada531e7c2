# SPDX-License-Identifier: Apache-2.0
"""%%varve in a kernel of Jupyter: the cell runs as it would, and its report is shown."""
import json

from environments import HERE, python_of, run_in

MARKS = """
with varve.record_function("1 < 2 <script src=x>"):
    total = sum(range(1000))
with varve.record_function("second"):
    pass
"""
CELLS = [
    "%load_ext varve\nimport varve",
    f"%%varve --top 5{MARKS}total",
    "total",
    "%%varve\nraise ValueError('of the cell')",
    "%%varve --collect python --top 0\ndef work():\n    return 1\nfor _ in range(50):\n    work()",
    f"%%varve -o kept.varve{MARKS}",
    "varve.table('kept.varve', 'operators', top=5)",
    "varve.report('kept.varve', by='name')",
]


def test_cells(varve, root, tmp_path, monkeypatch):
    for name, value in (("PYTHONPATH", root / "python"), ("VARVE", varve),
                        ("VARVE_LIBRARY", varve.parent / "libvarve.so"),
                        ("JUPYTER_RUNTIME_DIR", tmp_path), ("IPYTHONDIR", tmp_path)):
        monkeypatch.setenv(name, str(value))
    (tmp_path / "cells.json").write_text(json.dumps(CELLS))
    run_in(tmp_path, python_of("jupyter"), HERE / "programs" / "notebook_cells.py", tmp_path)
    (loaded, marked, after, failed, python, kept, table,
     report) = json.loads((tmp_path / "said.json").read_text())
    assert loaded["status"] == marked["status"] == kept["status"] == "ok", loaded
    page = marked["shown"]["text/html"]
    assert page.startswith("<pre>TRACE") and "&lt;script" in page and "second" in page
    assert "<script" not in page
    assert marked["shown"]["text/plain"].startswith("TRACE")
    assert after["shown"]["text/plain"] == "499500"  # the cell's names stay
    assert "ValueError" in failed["text"] and "of the cell" in failed["text"]
    assert "): work\n" in python["shown"]["text/html"]
    assert "<td>second</td>" in table["shown"]["text/html"]
    assert "&lt;script src=x&gt;" in table["shown"]["text/html"]
    assert report["shown"]["text/html"].startswith("<pre>TRACE")

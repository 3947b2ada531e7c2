# SPDX-License-Identifier: Apache-2.0
"""A trace of PyTorch's, exported and read again, says the same: so HTA and TensorBoard find in it
what they found in the original."""
import collections
import gzip
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import table_reader  # pylint: disable=wrong-import-position

TABLES = ("steps", "operators", "kernels", "kernel_ops", "annotations", "links", "devices",
          "launches", "queue", "idle", "copies", "call_tree")
# the export always names a rank; nodes are numbered in the order of threads
NUMBERS = {"rank", "node", "parent"}
TODAY = {"Operator": "cpu_op", "Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset",
         "Runtime": "cuda_runtime"}


@pytest.mark.parametrize("name", ("hta/ns_resolution", "hta/sampled_rank0", "hta/mi250_minitoy",
                                  "kineto/resnet50_workers0"))
def test_an_exported_trace_says_the_same(varve, traces, tmp_path, name):
    path = traces / f"{name}.json.gz"
    out = tmp_path / "out.json"
    subprocess.run([str(varve), "export", "--to", "chrome", "--no-cache", "-q", "-o", str(out),
                    str(path)], check=True)

    def read(trace, table):
        return [{column: value for column, value in row.items() if column not in NUMBERS}
                for row in table_reader.tables(varve, "report", "--no-cache", "--table", table,
                                               trace)[table]]
    for table in TABLES:
        assert read(out, table) == read(path, table), table

    def kinds(document):
        counts = collections.Counter()
        for event in document["traceEvents"]:
            category = TODAY.get(event.get("cat"), event.get("cat"))
            if event["ph"] == "X" and category in (*TODAY.values(), "user_annotation",
                                                   "gpu_user_annotation"):
                counts[category] += event.get("dur", 0) >= 0
            counts[category] += category == "fwdbwd"
        return +counts
    with gzip.open(path, "rt", encoding="utf-8") as file:
        original = kinds(json.load(file))
    exported = kinds(json.loads(out.read_text(encoding="utf-8")))
    assert ({kind: exported[kind] for kind in original
             if kind not in ("user_annotation", "cpu_op")} ==
        {kind: count for kind, count in original.items()
         if kind not in ("user_annotation", "cpu_op")})
    # steps and what else lies between the two go by their meaning
    both = ("user_annotation", "cpu_op")
    assert abs(sum(exported[kind] for kind in both) - sum(original[kind] for kind in both)) <= 1

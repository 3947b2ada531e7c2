# SPDX-License-Identifier: Apache-2.0
"""Ranks that a tool wrote into one file, as SGLang's merge_profiles does: pids are texts with the
rank in brackets, and all ranks use the same correlations, external ids and numbers of arrows."""
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_tables import dump, health  # noqa: E402

LAUNCH, WORK = "cudaLaunchKernel", "k"


def rank_of(label, at_us, count):
    """Operators that launch a kernel each; of the arrows each leads to its own kernel."""
    host, device = f"[{label}] 4711", f"[{label}] 0"
    for n in range(count):
        begin = at_us + 100 * n
        yield {"ph": "X", "cat": "cpu_op", "name": f"op {label}", "pid": host, "tid": 1,
               "ts": begin, "dur": 50, "args": {"External id": n + 1}}
        yield {"ph": "X", "cat": "cuda_runtime", "name": LAUNCH, "pid": host, "tid": 1,
               "ts": begin + 10, "dur": 5,
               "args": {"External id": n + 1, "correlation": n + 1}}
        yield {"ph": "X", "cat": "kernel", "name": WORK, "pid": device, "tid": 7,
               "ts": begin + 60, "dur": 30,
               "args": {"External id": n + 1, "correlation": n + 1, "device": 0, "stream": 7}}
        for phase, pid, tid, at in (("s", host, 1, begin + 10), ("f", device, 7, begin + 60)):
            yield {"ph": phase, "id": n + 1, "pid": pid, "tid": tid, "ts": at, "cat": "ac2g",
                   "name": "ac2g", **({"bp": "e"} if phase == "f" else {})}


def written(path, events):
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return path


def ranks_of(tables):
    """(rank of the work, of its call, of its operator), and of both ends of each arrow."""
    def label(slice_):
        if slice_ is None:
            return None
        process = tables["tracks"][tables["slices"][slice_]["track"]]["process"]
        return tables["processes"][process]["name"][:6]
    return ([(label(row["slice"]), label(row["launch"]), label(row["caller"]))
             for row in tables["activities"] if row["kind"] == 1],
            [(label(row["from_slice"]), label(row["to_slice"])) for row in tables["flows"]])


def test_work_belongs_to_its_rank(build, tmp_path):
    """Whatever the order in the file; the second rank runs a little later, and at the same time."""
    for seed, later_us in ((1, 20), (2, 0), (3, 250)):
        events = [*rank_of("TP00", 1000, 50), *rank_of("TP01", 1000 + later_us, 50)]
        random.Random(seed).shuffle(events)
        tables = dump(build, written(tmp_path / f"merged{seed}.json", events))
        works, arrows = ranks_of(tables)
        assert sorted(works) == [("[TP00]",) * 3] * 50 + [("[TP01]",) * 3] * 50
        assert sorted(arrows) == [("[TP00]",) * 2] * 50 + [("[TP01]",) * 2] * 50
        assert "duplicate_correlations" not in health(tables)
        assert "unlinked" not in health(tables)


def test_without_brackets_no_call_launches_what_began_before_it(build, tmp_path):
    """Two ranks whose pids are numbers, without arrows: time decides, as far as it can."""
    events = [event for number, label in enumerate(("TP00", "TP01"))
              for event in rank_of(label, 1000 + 500_000 * number, 50) if event["ph"] == "X"]
    for event in events:
        event["pid"] = int(event["pid"].split()[1]) + 10_000 * ("TP01" in event["pid"])
    tables = dump(build, written(tmp_path / "numbers.json", events))
    slices = tables["slices"]
    works = [row for row in tables["activities"] if row["kind"] == 1]
    assert len(works) == 100 and all(row["launch"] is not None for row in works)
    for row in works:
        begin_ns = slices[row["slice"]]["begin_ns"]
        assert begin_ns - slices[row["launch"]]["begin_ns"] == 50_000  # its own call
    assert health(tables)["duplicate_correlations"] == 50

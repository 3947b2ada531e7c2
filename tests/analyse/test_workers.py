# SPDX-License-Identifier: Apache-2.0
"""Workers of data loaders: their threads beside the processors, and steps in which they begin anew.
Table "waits", rules crowded_workers, workers_restarted and workers_too_slow."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import trace_writer  # noqa: E402
from table_reader import tables  # noqa: E402

MS, STEPS, CPUS = 10**6, 12, 2
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def recorded(folder, begins, threads=3, longer_ms=6):
    """Steps of 10 ms that wait for 4, and `longer_ms` more where two workers begin; these are
    listed by step. Each has so many threads."""
    trace = trace_writer.Trace(folder / "w.varve", trace_writer.manifest(cpus=CPUS))
    process = trace.process(pid=100)
    loader, work = process.site("begin", LOADER, layer="API"), process.site("begin", "aten::mm")
    thread = process.thread(tid=100)
    at = 0
    for step in range(STEPS):
        wait = (4 + (longer_ms if step in begins else 0)) * MS
        thread.step_begin(step, at=at)
        thread.begin(loader, at=at + 1)
        thread.end(at=at + wait)
        thread.begin(work, at=at + wait)
        thread.end(at=at + wait + 6 * MS - 3)
        thread.step_end(at=at + wait + 6 * MS - 2)
        for number in range(2) if step in begins else ():
            worker = trace.process(pid=200 + 2 * step + number)
            worker.collector("fact.threads", "note", "1", at=at + MS)
            worker.collector("fact.threads", "note", str(threads), at=at + MS)
            site, its = worker.site("begin", "aten::ones"), worker.thread(tid=worker.pid)
            its.begin(site, at=at + MS)
            its.end(at=at + 2 * MS)
        at += wait + 6 * MS
    return trace.write()


def asked(varve, path):
    waits, advice = (tables(varve, "report", "--warm-up", "--table", name, "--top", "0", path)[name]
                     for name in ("waits", "advice"))
    return waits[-1], {row["rule"]: row for row in advice}


def test_pools_beyond_the_processors_are_named(varve, tmp_path):
    total, found = asked(varve, recorded(tmp_path, [0], threads=9))
    assert (total["workers"], total["pool_threads"], total["cpus"]) == (2, 12, CPUS)
    assert "workers_too_slow" not in found
    assert found["crowded_workers"]["why"].startswith("The 2 workers have 12 threads beside their ")
    assert "worker_init_fn" in found["crowded_workers"]["try"]


@pytest.mark.parametrize("threads, pool_threads", [(1, 0), (3, 0), (4, 2)])
def test_few_threads_are_no_pools(varve, tmp_path, threads, pool_threads):
    total, found = asked(varve, recorded(tmp_path, [0], threads))
    assert total["pool_threads"] == pool_threads
    assert "crowded_workers" not in found and "workers_too_slow" in found


def test_workers_that_begin_anew_are_named(varve, tmp_path):
    """The first step has to begin them. Those of one step live at the same time, no others, so
    their pools are not too many."""
    total, found = asked(varve, recorded(tmp_path, [0, 3, 6, 9], threads=4))
    assert (total["workers"], total["pool_threads"]) == (2, 2)
    assert (total["restarts"], total["restart_ns"]) == (3, 18 * MS)
    assert not {"workers_too_slow", "crowded_workers"} & set(found)
    row = found["workers_restarted"]
    assert row["why"].startswith("Workers began in 3 steps beside the first: 18.0 ms more ")
    assert row["saves_ns"] == 18 * MS // STEPS and "persistent_workers=True" in row["try"]


@pytest.mark.parametrize("begins, longer_ms", [([0], 6), ([0, 6], 12), ([0, 3, 6, 9], 1)])
def test_one_new_begin_or_a_short_one_is_no_finding(varve, tmp_path, begins, longer_ms):
    _, found = asked(varve, recorded(tmp_path, begins, longer_ms=longer_ms))
    assert "workers_restarted" not in found and "workers_too_slow" in found

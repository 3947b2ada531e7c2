# SPDX-License-Identifier: Apache-2.0
"""The collector `cuda` where a program, or another tool in it, takes from it what it needs:
dlclose, cuptiFinalize; and calls beyond the 2^32nd. With the stand-ins of tests/drivers."""
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "oracle"), str(TESTS.parent / "tools")]

from cuda_recording import collector, kernels, record, run, work_by_operator, work_of  # noqa: E402
from table_reader import tables  # noqa: E402

GEMM, RELU, IN = "_Z4gemmPfS_S_i", "relu", "Memcpy HtoD (Pageable -> Device)"
STEP = {GEMM: 1, RELU: 1, IN: 1}


def twice(counts):
    return {name: 2 * count for name, count in counts.items()}


def health_of(varve, trace):
    rows = tables(varve, "info", "--table", "health", trace)["health"]
    return {row["finding"]: row["count"] for row in rows}


def ended_stretches(trace):
    return [row for row in work_of(trace)["slices"]
            if row["name"] == "device work not recorded: another tool ended CUPTI"]


def test_numbers_of_calls_come_again_after_2_to_the_32(varve, tmp_path):
    """CUPTI says 32 bits of them; in the trace every call has a number of its own."""
    trace, _ = record(varve, tmp_path, "wraps")
    rows = work_of(trace)
    numbers = {row["name"]: rows["activities"][row["activity"]]["correlation"]
               for row in rows["slices"] if row["activity"] is not None
               and rows["tracks"][row["track"]]["kind"] == 2}
    assert numbers == {str(i): 5 + i * 2**30 for i in range(9)}
    assert {name: sorted(work) for name, work in work_by_operator(trace).items()} == {
        "even": ["0", "1", "2", "3", "8"], "odd": ["4", "5", "6", "7"]}
    assert not {"unlinked", "workless", "lost"} & set(health_of(varve, trace))


def test_a_program_that_closes_both_libraries(varve, tmp_path):
    trace, said = record(varve, tmp_path, "gives_back")
    assert kernels(varve, trace) == twice(STEP)
    assert "cuda attached" in said


def test_another_tool_ends_cupti_and_keeps_it(varve, tmp_path):
    """It is whole to the end, and the trace says what is missing."""
    done = run(tmp_path, "taken", varve, "record", "-o", "t.varve", "--")
    trace, said = tmp_path / "t.varve", done.stderr
    assert done.stdout == "the other heard 6\n"  # begins and ends of three calls
    assert kernels(varve, trace) == STEP
    assert ("cuda partly attached (another tool ended CUPTI (cuptiFinalize): no device work from "
            "then on; CUPTI for Other Profiler has CUPTI") in said
    assert "another tool of the program ended CUPTI: 1 times" in said
    (missing,) = ended_stretches(trace)
    assert missing["duration_ns"] > 0


def test_another_tool_ends_cupti_and_leaves_it(varve, tmp_path):
    """The next hand-over begins anew; numbers of calls that begin anew are no earlier call's."""
    trace, said = record(varve, tmp_path, "ended")
    assert kernels(varve, trace) == twice(STEP)
    ((state, text),) = collector(varve, trace, "cuda ended")
    assert (state, text.split(",")[0]) == (
        "partly attached", "another tool of the program ended CUPTI: 2 times"), said
    assert len(ended_stretches(trace)) == 2
    under = work_by_operator(trace)
    assert (under["copy_in"], sorted(under["forward"])) == ([IN, IN], [GEMM, GEMM, RELU, RELU])
    assert not {"unlinked", "workless", "lost"} & set(health_of(varve, trace))

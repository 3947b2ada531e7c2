# SPDX-License-Identifier: Apache-2.0
"""What was computed again in the backward pass, against the rule of TraceLens' --detect_recompute.
doc/truth.md tells the two policies."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import kineto_writer as kineto  # pylint: disable=wrong-import-position
import table_reader  # pylint: disable=wrong-import-position

AGAIN = "phase=='recompute'"


def table(varve, path, name, *arguments):
    return table_reader.tables(varve, "report", "--no-cache", "--table", name, *arguments,
                               path)[name]


def recomputed_by_frames(events):
    """TraceLens' rule: the operators below recompute_fn, and work whose call and begin an arrow
    joins."""
    frames = [event for event in events if event["cat"] == "python_function" and
              "torch/utils/checkpoint.py" in event["name"] and "recompute_fn" in event["name"]]
    arrows = {event["id"] for event in events if event["cat"] == "ac2g" and event["ph"] == "s"}
    inside = {event["args"]["correlation"] for event in events for frame in frames
              if event["cat"] == "cuda_runtime" and event["tid"] == frame["tid"] and
              frame["ts"] <= event["ts"] < frame["ts"] + frame["dur"]}
    return {event["name"]: event["dur"] for event in events
            if event["cat"] in ("kernel", "gpu_memset") and
            event["args"]["correlation"] in inside & arrows}


def checkpointed(has_frames):
    """A convolution, and in the backward pass, which takes the first one's number, once more. Sets
    have no arrow, as ROCm's have none."""
    def convolution(at_ns, tid, number, sequence):
        def launch(name, n):
            correlation = 10 * number + n
            pair = kineto.launched(f"{name}{number}", correlation,
                                   (at_ns + 100 * n, at_ns + 100 * n + 50),
                                   (at_ns + 5000 + 1000 * n, at_ns + 5000 + 1000 * n +
                                    100 * number + n), tid=tid)
            if name == "gemm":
                pair.append({"ph": "s", "cat": "ac2g", "name": "ac2g", "id": correlation,
                             "pid": kineto.HOST, "tid": tid, "ts": at_ns + 100 * n})
            return pair
        named = {"Sequence number": sequence, "Fwd thread id": 0}
        return [kineto.span("aten::convolution", at_ns, at_ns + 400, tid=tid,
                            **named)] + launch("Memset", 1) + launch("gemm", 2)

    def backward(name, begin_ns, end_ns, sequence):
        named = {"Sequence number": sequence, "Fwd thread id": 1}
        return [kineto.span(f"autograd::engine::evaluate_function: {name}", begin_ns, end_ns, tid=2,
                            **named),
                kineto.span(name, begin_ns, end_ns, tid=2, **named)]

    def frame(line, word, begin_ns, end_ns):
        return kineto.span(f"torch/utils/checkpoint.py({line}): {word}", begin_ns, end_ns,
                           "python_function", 2)
    events = convolution(1000, 1, 1, 7) + backward("LossBackward", 30000, 40000, 9)
    events += convolution(31000, 2, 2, 8) + backward("ConvolutionBackward", 50000, 60000, 7)
    # without a number: backward is not recorded itself
    events.append(kineto.span("aten::gradient", 39500, 39900, tid=2))
    if has_frames:
        events += [frame(1115, "unpack_hook", 30500, 39000),
                   frame(1100, "recompute_fn", 30800, 38000)]
    return events


@pytest.mark.parametrize("has_frames", [True, False])
def test_recomputed_work_of_a_made_pass(varve, tmp_path, has_frames):
    events = checkpointed(has_frames)
    path = kineto.write(tmp_path / "made.json", events)
    ours = {row["name"]: row["total_ns"] for row in table(varve, path, "kernels", "--filter",
                                                          AGAIN)}
    theirs = recomputed_by_frames(events)
    assert ours.pop("total") == 201 + 202
    assert ours == {"Memset2": 201, "gemm2": 202}    # by frames, or by the operator's number
    assert theirs == ({"gemm2": 202} if has_frames else {})

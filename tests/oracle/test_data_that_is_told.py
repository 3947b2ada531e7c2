# SPDX-License-Identifier: Apache-2.0
"""examples/train tells which data its operators read and make: the edges are those of the network
that it prints."""
import subprocess
from collections import Counter

import pytest

import varve_decode

LAYERS, STEPS = 9, 5
INPUT, OUTPUT = 0, 1


def texts(name, sequence):
    """A node's text as `train --graph` has it: each layer has its place in the network."""
    place = sequence % (LAYERS + 1)
    return name if sequence < 0 or place == LAYERS else f"{name} {place}"


def operators(process):
    """(begin, end, text, sequence, tensors) of each operator of the process."""
    found = []
    for stream in process.streams:
        opened = []
        for record in stream.records:
            if record.kind == "next" or record.id in (1, 10):
                opened[-1][1] = record.ticks
                if record.id == 10:
                    continue
                found.append(opened.pop())
            if record.kind in ("begin", "next"):
                opened.append([record.ticks, None, record.name, None, ()])
            elif record.id == 9:
                opened.append([record.ticks, None, "", None, ()])
            elif record.name in ("varve.op", "varve.operator"):
                opened[-1][3:] = record.fields["sequence"], record.fields.get("tensors", ())
    return [item for item in found if item[4]]


def data_edges(process):
    """Which operator reads what another one made last, by the texts of both."""
    happens = []
    for begin, end, name, sequence, tensors in operators(process):
        text = texts(name, sequence)
        happens += [((begin, 1), text, tensor) for tensor in tensors if tensor["side"] == INPUT]
        happens += [((end, 0), text, tensor) for tensor in tensors if tensor["side"] == OUTPUT]
    makers, edges = {}, Counter()
    for _, text, tensor in sorted(happens, key=lambda item: item[0]):
        if tensor["side"] == OUTPUT and tensor["identity"]:
            makers[tensor["identity"]] = text
        elif tensor["identity"] in makers:
            edges[makers[tensor["identity"]], text] += 1
    return edges


@pytest.fixture(scope="module")
def printed(program):
    done = subprocess.run([program("examples/train"), "--graph"], capture_output=True, text=True,
                          check=True)
    return [tuple(line.split(" -> ")) for line in done.stdout.splitlines()]


def test_its_edges_are_those_that_it_prints(train, printed):
    (process,) = varve_decode.open_trace(train.trace).processes
    edges = data_edges(process)
    assert len(printed) == len(set(printed)) == 41
    assert set(edges) == set(printed)
    # in each step; what the optimizer made in the one before it; and what the evaluation reads
    assert edges["linear 8", "cross_entropy"] == STEPS
    assert edges["sgd_momentum", "conv2d_backward 3"] == STEPS - 1
    assert edges["draw_batch", "conv2d 0"] == STEPS + 512 // 64


def test_the_halves_mirror_each_other(printed):
    """Forward, each operator feeds the one behind it; backward, the one before it; and the parts
    of a pair have one number."""
    layers = {text.partition(" ")[0]: text for pair in printed for text in pair}
    assert all(f"{name}_backward" in layers for name in layers
               if name not in ("draw_batch", "sgd_momentum") and not name.endswith("_backward"))
    forward = {(a, b) for a, b in printed if "_backward" not in a + b
               and not {a, b} & {"draw_batch", "sgd_momentum"}}
    backward = {(a.replace("_backward", ""), b.replace("_backward", "")) for a, b in printed
                if "_backward" in a and b != "sgd_momentum"}
    assert len(forward) == LAYERS and backward == {(b, a) for a, b in forward}

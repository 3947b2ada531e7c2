# SPDX-License-Identifier: Apache-2.0
"""Graphs for tests of pictures, in the JSON that `varve dag` writes and reads."""
import random


def node(name, total_ns=0, kind="operator", **more):
    return {"name": name, "kind": kind, "count": 1, "total_ns": total_ns, "self_ns": total_ns,
            **more}


def graph_of(nodes, edges=(), notes=()):
    """Numbers the nodes from 1. Edges are (from, to, kind), by these numbers."""
    for at, one in enumerate(nodes):
        one.update(id=at + 1, adj=[], duration=one["total_ns"] * 1000,
                   ts=one.get("begin_ns", 0) * 1000)
    return {"version": "1.0.0", "varve": {"notes": [list(note) for note in notes]}, "nodes": nodes,
            "edges": [{"edgeFrom": a, "edgeTo": b, "kind": kind, "count": 1}
                      for a, b, kind in edges]}


def duration(ns):
    """As the page and every table say it."""
    size, unit = next((size, unit) for size, unit in
                      ((1, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"))
                      if abs(ns) < 999.5 * size or unit == "s")
    shown = ns / size
    decimals = 0 if size == 1 or shown >= 99.95 else 1 if shown >= 9.995 else 2
    return f"{shown:.{decimals}f} {unit}"


def model():
    """A network of twelve layers, folded to one, with what is around it: 17 nodes, 2 outermost."""
    drawn = random.Random(5)
    nodes, edges = [], []

    def group(name, parent=None, count=4):
        nodes.append({**node(name, 0, "group"), "self_ns": 0, "count": count,
                      **({"parent": parent} if parent else {})})
        return len(nodes)

    def operator(name, parent, before=(), count=4):
        total = drawn.randrange(1000, 3000000)
        level = 1 + max((nodes[one - 1]["level"] for one in before), default=-1)
        nodes.append({**node(name, total), "count": count, "parent": parent, "level": level,
                      "begin_ns": 1000 * len(nodes), "end_ns": 1000 * len(nodes) + total,
                      "min_ns": total // count // 2, "max_ns": total // count * 2,
                      "p50_ns": total // count, "p95_ns": total // count * 3 // 2,
                      "module": f"model.{name}", "source": f"model.py:{len(nodes)}",
                      "inputs": "[8,128] f32", "outputs": "[8,64] f32", "device": "cuda:0",
                      "phase": "forward",
                      "occurrences": [[step, count // 4, total // 4 + step] for step in range(4)]})
        edges.extend((one, len(nodes), "data") for one in before)
        return len(nodes)

    whole = group("model")
    before = operator("embedding", whole)
    position = operator("position", whole)
    added = operator("add", whole, [before, position])
    dropped = operator("dropout", whole, [added])
    layer = group("12 × layer", whole, count=48)
    query = operator("query", layer, [dropped], 48)
    key = operator("key", layer, [dropped], 48)
    scores = operator("softmax", layer, [query, key], 48)
    project = operator("project", layer, [scores], 48)
    normed = operator("norm", whole, [project])
    linear = operator("linear", whole, [normed])
    loss = operator("loss", whole, [linear])
    edges[-1] = (linear, loss, "flow")
    for name in ("backward", "clip", "update"):
        loss = operator(name, whole, [loss])
    nodes.append(node("(outside)", 4321, "outside"))
    for one in reversed(nodes):
        if "parent" in one:
            nodes[one["parent"] - 1]["total_ns"] += one["total_ns"]
    return graph_of(nodes, edges, [["graph", "operators"], ["steps", "4"],
                                   ["stream edges", "not known: no device work"]])


def layered(count, wide=4):
    """`count` nodes in layers of at most `wide`, each fed by two of the layer above."""
    drawn = random.Random(count)
    nodes, edges, above, level = [], [], [], 0
    while len(nodes) < count:
        layer = []
        for _ in range(min(drawn.randint(1, wide), count - len(nodes))):
            nodes.append(node(f"aten::operator_{drawn.randrange(40)}",
                              int(drawn.lognormvariate(10, 2)), level=level, begin_ns=level * 1000))
            layer.append(len(nodes))
            edges.extend((one, len(nodes), "data")
                         for one in drawn.sample(above, min(2, len(above))))
        above, level = layer, level + 1
    return graph_of(nodes, edges)


def chain(count):
    return graph_of([node(f"step {at}", at + 1, level=at) for at in range(count)],
                    [(at, at + 1, "stream") for at in range(1, count)])

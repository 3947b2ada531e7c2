# SPDX-License-Identifier: Apache-2.0
"""Execution traces as PyTorch's ExecutionTraceObserver writes them, and the profiler's trace of the
same run."""
import json

PROCESS, THREAD, PID = 1, 2, 7


def tensor(number, storage, shape=(2, 4), dtype="float", device="cpu"):
    """A value with its shape and type."""
    count = 1
    for size in shape:
        count *= size
    return [number, storage, 0, count, 4, device], list(shape), f"Tensor({dtype})"


def scalar(value):
    return value, [], "Int"


def tensors(*items):
    values, shapes, types = zip(*items)
    return list(values), list(shapes), f"GenericList[{','.join(types)}]"


def side(items):
    values, shapes, types = zip(*items) if items else ((), (), ())
    return {"values": list(values), "shapes": list(shapes), "types": list(types)}


# pylint: disable=too-many-arguments
def node(number, name, inputs=(), outputs=(), *, parent=THREAD, rf_id=0, seq=-1, scope=0, schema="",
         tid=1, more=()):
    """Schema 1.1.1."""
    attributes = {"rf_id": rf_id, "fw_parent": 0, "seq_id": seq, "scope": scope, "tid": tid,
                  "fw_tid": 0, "op_schema": schema, **dict(more)}
    return {"id": number, "name": name, "ctrl_deps": parent, "inputs": side(inputs),
            "outputs": side(outputs),
            "attrs": [{"name": key, "type": "uint64", "value": value}
                      for key, value in attributes.items()]}


def old(new):
    """The same node in schema 1.0.1."""
    flat = {"name": new["name"], "id": new["id"], "parent": new["ctrl_deps"],
            **{row["name"]: row["value"] for row in new["attrs"]}}
    for key, prefix in (("inputs", "input"), ("outputs", "output")):
        flat[key] = new[key]["values"]
        flat[f"{prefix}_shapes"], flat[f"{prefix}_types"] = new[key]["shapes"], new[key]["types"]
    return flat


def places(tid=1):
    return [node(THREAD, "[pytorch|profiler|execution_trace|thread]", parent=PROCESS, scope=7,
                 tid=tid),
            node(PROCESS, "[pytorch|profiler|execution_trace|process]", parent=PROCESS, scope=7,
                 tid=0)]


def trace(nodes, schema="1.1.1-chakra.0.0.4", pid=PID):
    return {"schema": schema, "pid": pid, "time": "2026-11-24 11:05:19", "start_ts": 18272032,
            "nodes": nodes, "finish_ts": 18273863}


def layers():
    """A linear layer of one inner operator, an activation in place, and a product of another
    thread: what makes what is plain."""
    made = tensor(20, 21, (2, 8))
    return [node(12, "aten::addmm", [tensor(5, 6), tensor(7, 8), scalar(1)], [made], parent=10,
                 rf_id=2, seq=0),
            node(10, "aten::linear", [tensor(5, 6), tensor(7, 8)], [made], rf_id=1, seq=0),
            node(30, "aten::relu_", [made], [made], rf_id=3, seq=1,
                 schema="aten::relu_(Tensor(a!) self) -> Tensor(a!)"),
            node(40, "aten::mm", [made, tensor(9, 50)], [tensor(60, 61)], rf_id=4, tid=2,
                 schema="aten::mm(Tensor self, Tensor mat2) -> Tensor"), *places()]


def profile(nodes, pid=PID, **ids):
    """Kineto's trace of these nodes: each after the one before it, inner ones inside."""
    begin, end = {}, {}
    order = sorted((row for row in nodes if row["id"] > THREAD), key=lambda row: row["id"])
    for time, row in enumerate(order):
        begin[row["id"]] = 100 * time
        end[row["id"]] = 100 * time + 90
        end[row["ctrl_deps"]] = max(end.get(row["ctrl_deps"], 0), 100 * time + 95)
    key = ids.get("key", "Record function id")
    return {"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": row["name"], "pid": pid, "tid": pid,
         "ts": begin[row["id"]], "dur": end[row["id"]] - begin[row["id"]],
         "args": {"External id": 1 + i,
                  key: next(a["value"] for a in row["attrs"] if a["name"] == "rf_id")}}
        for i, row in enumerate(order)]}


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path

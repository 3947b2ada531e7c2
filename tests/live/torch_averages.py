# SPDX-License-Identifier: Apache-2.0
"""key_averages() once more, from Varve's model: torch/autograd/profiler_util.py's rules in whole
nanoseconds.

An operator's parent is the innermost one around it on its thread; one that overlaps another in part
closes it. An only child that has its parent's name counts as one with it. A group's total is the
sum of its members' durations, its self time that less their children's. Ranges that end on another
thread have no self time and no place in the tree.
"""
import bisect
import collections
import json

from model_tables import dump

HIDDEN = {"aten::is_leaf", "aten::output_nr", "aten::_version", "profiler::_record_function_enter",
          "profiler::_record_function_enter_new", "profiler::_record_function_exit"}
KINDS = {"cpu_op", "user_annotation", "python_function"}

Figures = collections.namedtuple("Figures", "calls total_ns self_ns bytes self_bytes")


UNSHOWN_FRAMES = (("autograd/__init__", "_make_grads"), ("autograd/__init__", "backward"),
                  ("torch/tensor", "backward"))


def frames(stack):
    return [frame for frame in stack.split(";") if frame]


class Node:
    """A slice of the model, and what PyTorch would know of it."""

    def __init__(self, row, op):
        self.name = "ProfilerStep*" if row["name"].startswith("ProfilerStep#") else row["name"]
        self.category, self.track = row["category"], row["track"]
        self.begin, self.duration = row["begin_ns"], row["duration_ns"]
        self.end = self.begin + self.duration
        self.order = row["order"]
        self.shapes = op["shapes"] if op else ""
        self.stack = frames(op["stack"] if op else dict(row["args"]).get("Call stack", ""))
        self.number = op["external"] if op else 0
        self.sequence = op["sequence"] if op else -1
        self.parent, self.children, self.bytes = None, [], 0
        self.in_tree = True


def nodes_of(tables, async_names):
    nodes = [Node(row, tables["ops"][row["op"]] if row["op"] is not None else None)
             for row in tables["slices"]
             if row["category"] in KINDS and row["name"] not in HIDDEN]
    for node in nodes:
        node.in_tree = node.name not in async_names
    return sorted(nodes, key=lambda node: (node.begin, -node.end, node.order))


def build_tree(nodes):
    stacks = collections.defaultdict(list)
    for node in nodes:
        if not node.in_tree:
            continue
        stack = stacks[node.track]
        while stack and (node.begin >= stack[-1].end or node.end > stack[-1].end):
            stack.pop()
        if stack:
            node.parent = stack[-1]
            node.parent.children.append(node)
        stack.append(node)


def fold_only_children(nodes):
    """Without those that are the only child of one of their name."""
    while True:
        gone = set()
        for node in nodes:
            if node.parent is not None and node.parent.name == node.name and len(
                    node.parent.children) == 1:
                node.parent.children = node.children
                for child in node.children:
                    child.parent = node.parent
                gone.add(node)
        if not gone:
            return nodes
        nodes = [node for node in nodes if node not in gone]


def lend_stacks(nodes, events):
    """What runs in a node of autograd has the stack of the first that had its sequence number on
    its forward thread. Which are such nodes, and PyTorch's own numbers of threads, the trace does
    not tell."""
    known = {event["correlation_id"]: event for event in events if not event["is_python_function"]}
    threads = {node.track: known[node.number]["start_thread_id"] for node in nodes if node.number}

    def of_autograd(node):
        while node is not None and (node.number == 0 or known[node.number]["scope"] != 1):
            node = node.parent
        return node

    stacks = {}
    for node in nodes:
        if of_autograd(node) is None:
            stacks.setdefault((node.sequence, threads[node.track]), node.stack)
    for node, owner in [(node, of_autograd(node)) for node in nodes]:
        if owner is not None:
            node.stack = stacks.get((owner.sequence, known[owner.number]["fwd_thread_id"]), [])
    for node in nodes:
        node.stack = [frame for frame in node.stack
                      if not any(file in frame and function in frame
                                 for file, function in UNSHOWN_FRAMES)]


def add_memory(nodes, rows):
    """Bytes allocated less bytes freed from the first to the last instant of each node."""
    rows = sorted(rows, key=lambda row: row["time_ns"])
    times = [row["time_ns"] for row in rows]
    sums = [0]
    for row in rows:
        sums.append(sums[-1] + row["bytes"])
    for node in nodes:
        node.bytes = sums[bisect.bisect_right(times, node.end)] - sums[bisect.bisect_left(
            times, node.begin)]


def shapes_without_types(text):
    """"[2,3] f32, [] f32" as [[2, 3], []]."""
    if not text:
        return []
    return [json.loads(part.partition("]")[0] + "]") for part in text.split(", ")]


GROUPINGS = ("by_name", "by_shape", "by_stack")


def key_of(grouping, name, shapes, stack, with_lists):
    """Lists of tensors have no shape in key_averages(): operators that take one are not told
    apart."""
    if grouping == "by_shape":
        return ("" if name in with_lists else json.dumps(shapes),)
    return tuple(stack[:5]) if grouping == "by_stack" else ()


def takers_of_lists(numbers):
    return {event["name"] for event in numbers["events"] if "TensorList" in event["dtypes"]}


def averages(build, trace, numbers):
    """{grouping: {(name, is an annotation, …): Figures}} of what Varve reads from the trace."""
    tables = dump(build, trace)
    nodes = nodes_of(tables, {event["name"] for event in numbers["events"] if event["is_async"]})
    build_tree(nodes)
    nodes = fold_only_children(nodes)
    lend_stacks(nodes, numbers["events"])
    add_memory(nodes, tables["memory"])
    with_lists = takers_of_lists(numbers)
    groups = {grouping: collections.defaultdict(lambda: Figures(0, 0, 0, 0, 0))
              for grouping in GROUPINGS}
    for node in nodes:
        if node.category == "python_function":
            continue
        children = node.children if node.in_tree else []
        self_ns = node.duration - sum(child.duration for child in children) if node.in_tree else 0
        own = Figures(1, node.duration, self_ns, node.bytes,
                      node.bytes - sum(child.bytes for child in children) if node.in_tree else 0)
        for grouping in GROUPINGS:
            key = (node.name, node.category == "user_annotation",
                   *key_of(grouping, node.name, shapes_without_types(node.shapes), node.stack,
                           with_lists))
            groups[grouping][key] = Figures(*map(sum, zip(groups[grouping][key], own)))
    return groups


def own_averages(numbers):
    """The same, as PyTorch itself says it. Its times are sums, in doubles, of nanoseconds / 1000:
    within a tenth of a nanosecond of a whole number, or they are not what this takes them for."""
    def whole(microseconds):
        nanoseconds = round(microseconds * 1000)
        assert abs(microseconds * 1000 - nanoseconds) < 0.1, microseconds
        return nanoseconds

    with_lists = takers_of_lists(numbers)
    groups = {}
    for grouping in GROUPINGS:
        groups[grouping] = collections.defaultdict(lambda: Figures(0, 0, 0, 0, 0))
        for row in numbers[grouping]:
            if row["key"] == "[memory]":
                continue
            key = (row["key"], row["is_user_annotation"],
                   *key_of(grouping, row["key"], row["input_shapes"] or [], row["stack"],
                           with_lists))
            own = Figures(row["count"], whole(row["cpu_time_total"]),
                          whole(row["self_cpu_time_total"]), row["cpu_memory_usage"],
                          row["self_cpu_memory_usage"])
            groups[grouping][key] = Figures(*map(sum, zip(groups[grouping][key], own)))
    return groups

# SPDX-License-Identifier: Apache-2.0
"""sum_laws.py: what doc/metrics.md says adds up, for every table, and check(tables) that it does.

A new table with a row "total" needs a line in ADDS: check_all says so.
"""
from all_tables import PLAIN, TOTAL

DEVICE_PARTS = ["computation_ns", "exposed_communication_ns", "exposed_memcpy_ns", "idle_ns"]
SLOTS = ["kernel_ns", "memcpy_ns", "memset_ns", "communication_ns", "runtime_ns", "data_loader_ns",
         "cpu_op_ns", "other_ns"]
RUN_PARTS = ["in_steps_ns", "in_warm_up_ns", "start_ns", "outside_compile_ns", "outside_data_ns",
             "outside_operator_ns", "outside_rest_ns"]
FINER = ["sync_ns", "allocation_ns", "compile_ns", "garbage_collection_ns", "python_ns"]
STREAM_PARTS = ["host_wait_ns", "kernel_wait_ns", "other_wait_ns", "idle_ns", "busy_ns", "span_ns",
                "events"]
GAP_PARTS = ["host_ns", "launch_ns", "dependency_ns", "unknown_ns"]
MEASURED = ["total_ns", "calls"]

# Of each table: (which rows, the row that is their sum, which columns, a column for each of whose
# values there is such a row).
ADDS = {
    "operators": [({"operator", "more", "outside"}, "total",
                   ["self_ns", "device_self_ns", "kernels", "step_self_ns",
                                                              "step_device_self_ns",
                                                              "step_kernels"])],
    "call_tree": [({"operator", "more", "outside"}, "total", ["self_ns", "device_self_ns"])],
    "kernels": [({"group", "more"}, "total", MEASURED)],
    "kernel_ops": [({"group", "more"}, "total", MEASURED)],
    "annotations": [({"group", "more"}, "total", MEASURED)],
    "tasks": [({"task"}, "total", ["duration_ns", "wait_ns"])],
    "kernel_counters": [],  # a column for each counter of the trace
    "graph_nodes": [({"node", "more"}, "total", ["self_ns", "count"])],
    "graph_what_if": [({"name", "more"}, "total", ["self_ns"])],
    "marks": [({"mark", "more"}, "total", ["marks"])],
    "counters": [({"counter", "more"}, "total", ["values"])],
    "counter_values": [({"value", "more"}, "total", ["values"])],
    "async": [({"range", "more"}, "total", ["calls", "total_ns", "left_open"])],
    "flows": [({"flow", "more"}, "total", ["flows", "backwards", "across"])],
    "collective_kinds": [({"collective", "more"}, "total", ["calls", "total_ns", "exposed_ns"])],
    "phases": [({"phase", "other"}, "total", ["total_ns"])],
    "blocks": [({"block", "more", "rest"}, "total", ["total_ns"])],
    "host_gaps": [({"gap", "more"}, "total", ["total_ns", "gaps", "long_ns", "long_gaps",
                                              "outside_ns"])],
    "forward_only": [({"operator", "more"}, "total", ["nodes", "all_nodes", "total_ns"])],
    "outliers": [({"outlier", "more"}, "total", ["excess_ns"])],
    "step_split": [({"step"}, "total", SLOTS + FINER +
                    ["duration_ns", "host_duration_ns", "launched"])],
    "devices": [({"device"}, "total", DEVICE_PARTS + ["busy_ns", "micro_idle_ns", "macro_idle_ns",
                                                      "span_ns", "communication_ns", "memcpy_ns",
                                                      "memset_ns", "linked_busy_ns", "events",
                                                      "unlinked"])],
    "overlap": [({"device"}, "total", ["communication_ns", "hidden_ns", "exposed_ns", "calls",
                                       "sum_ns"]),
                ({"collective"}, "total", ["calls", "sum_ns"])],
    "idle": [({"cause"}, "total", ["idle_ns"]), ({"device"}, "total", ["idle_ns", "gaps"])],
    "idle_gaps": [({"gap", "more"}, "total", GAP_PARTS + ["duration_ns"])],
    "idle_streams": [({"stream"}, "total", STREAM_PARTS)],
    "launches": [({"call"}, "total", ["calls", "works", "call_ns", "launching_ns", "work_ns",
                                      "delay_ns", "queued", "queueing_ns", "short", "under_10_us",
                                      "calls_over_50_us", "delays_over_100_us"])],
    "copies": [({"copy"}, "total", ["copies", "bytes", "total_ns", "without_duration",
                                    "without_bytes"])],
    "syncs": [({"call"}, "total", ["calls", "total_ns"])],
    "waits": [({"step", "outside"}, "total", ["data_loader_ns", "hidden_ns", "wait_ns"])],
    "memory_peak": [({"holder", "more", "before"}, "total", ["bytes"], "device")],
    "critical_bound": [({"bound"}, "path", ["time_ns", "edges"]),
                       ({"path", "gap"}, "total", ["time_ns"])],
    "critical_ops": [({"operator", "more"}, "total", ["time_ns", "edges"])],
    "critical_path": [({"segment", "gap", "more"}, "total", ["time_ns"])],
    "slack": [({"operator", "more"}, "total", ["events", "critical_events", "duration_ns"])],
    "rank_waits": [({"wait", "more"}, "total", ["waited_ns", "collectives"])],
    "roofline": [({"operator", "more", "rest"}, "total", ["time_ns"])],
    "mfu": [({"step"}, "total", ["duration_ns", "model_flop", "recomputed_flop"])],
    "links": [({"link", "more"}, "total", ["forward_ns", "forward_device_ns", "backward_ns",
                                           "backward_device_ns"])],
    "diff_operators": [({"operator", "step", "more"}, "total",
                        ["change_ns", "base_self_ns", "new_self_ns"])],
    "diff_kernels": [({"kernel", "step", "more"}, "total",
                      ["change_ns", "base_self_ns", "new_self_ns"])],
}

# Of each table: (columns, the column or columns of the same row that come to the same).
ACROSS = {
    "devices": [(DEVICE_PARTS, "span_ns"), (["busy_ns", "idle_ns"], "span_ns"),
                (["micro_idle_ns", "macro_idle_ns"], "idle_ns")],
    "step_split": [(SLOTS, "duration_ns")],
    "overlap": [(["hidden_ns", "exposed_ns"], "communication_ns")],
    "idle_gaps": [(GAP_PARTS, "duration_ns")],
    "idle_streams": [(["host_wait_ns", "kernel_wait_ns", "other_wait_ns"], "idle_ns"),
                     (["idle_ns", "busy_ns"], "span_ns")],
    "syncs": [(["device_busy_ns", "device_idle_ns"], "blocked_ns")],
    "waits": [(["hidden_ns", "wait_ns"], "data_loader_ns")],
    "memory_steps": [(["end_bytes", "released_bytes"], ["begin_bytes", "allocated_bytes"])],
    "critical": [(["path_ns", "gap_ns"], "window_ns")],
}

# Differences: less than nothing is a value.
SIGNED = {"excess_ns", "own_excess_ns", "change_ns", "low_ns", "high_ns"}


def total_of(rows, columns):
    columns = [columns] if isinstance(columns, str) else columns
    return sum(row[column] or 0 for row in rows for column in columns)


def check_rows(name, table):
    for words, whole, columns, *by in ADDS.get(name, []):
        for key in {row[by[0]] for row in table.rows} if by else {None}:
            rows = [row for row in table.rows if not by or row[by[0]] == key]
            sums = [row for row in rows if row["row"] == whole]
            parts = ([row for row in rows if row["row"] in words and not row.get("depth")]
                     if name == "blocks" else
                [row for row in rows if row["row"] in words])
            for column in columns if sums else []:
                assert total_of(parts, column) == total_of(sums, column), (name, column, whole, key)


def check_across(name, table):
    for parts, whole in ACROSS.get(name, []):
        for row in table.rows:
            if isinstance(whole, list) or row[whole] is not None:
                assert total_of([row], parts) == total_of([row], whole), (name, parts, whole, row)


def check_values(name, table):
    """Nothing is below nothing, no share above all, nothing itself longer than with what it
    calls."""
    for row in table.rows:
        for column, unit in table.units.items():
            if unit in ("ns", "count",
                        "bytes") and column not in SIGNED and row[column] is not None:
                assert row[column] >= 0, (name, column, row)
        if {"self_ns", "total_ns"
            } <= set(row) and row.get("row") == "operator" and None not in (row["self_ns"],
                                                                            row["total_ns"]):
            assert row["self_ns"] <= row["total_ns"], (name, row)


def whole(table, name, column):
    """The row "total", which a single row need not have beside it."""
    words, total = ADDS[name][0][:2]
    sums = [row for row in table.rows if row["row"] == total]
    return total_of(sums or [row for row in table.rows if row["row"] in words], column)


def check_between(tables, counts_warm_up):
    """Sums of one table that another has too."""
    def of(name, column):
        return whole(tables[name], name, column)
    steps = [row for row in tables["steps"].rows if counts_warm_up or not row["warm_up"]]
    time_ns = total_of(steps, "duration_ns")
    assert of("phases", "total_ns") == time_ns
    assert of("operators", "step_self_ns") == time_ns
    assert total_of(tables["step"].rows, "total_ns") == time_ns
    if tables["call_tree"].rows:  # where there are no operators, each says so in its way
        assert of("operators", "self_ns") == of("call_tree", "self_ns")
        assert of("operators", "device_self_ns") == of("call_tree",
                                                       "device_self_ns") == of("kernels",
                                                                               "total_ns")
    assert of("idle", "idle_ns") == of("devices", "idle_ns") == of("idle_gaps", "duration_ns")
    work_ns = of("kernels", "total_ns")
    assert work_ns == of("kernel_ops", "total_ns") == of("annotations", "total_ns")
    assert of("kernels", "calls") == of("devices", "events") == of("idle_streams", "events")
    assert of("overlap", "communication_ns") == of("devices", "communication_ns")
    kinds = tables["collective_kinds"].rows
    if not any(row["row"] == "more" for row in kinds):
        device = [row for row in kinds if row["place"] == "device"]
        assert total_of(device, "calls") == of("overlap", "calls")
        assert total_of(device, "total_ns") == of("overlap", "sum_ns")
    for row in tables["trace"].rows:
        if row["in_steps_ns"] is not None:
            assert total_of([row], RUN_PARTS) == row["duration_ns"]
    for row in tables["steps"].rows:
        phases = [column for column in row if column.startswith("in_")]
        assert total_of([row], phases + ["other_ns"]) == row["duration_ns"]


def check_records(tables):
    """Marks, values and flows are all there, warm-up steps included."""
    run = tables["trace"].rows[0]
    for name, column, count in (("marks", "marks", "marks"), ("flows", "flows", "flows"),
                                ("counters", "values", "counter_values"),
                                ("counter_values", "values", "counter_values")):
        assert whole(tables[name], name, column) == run[count], name


def check_all(tables, counts_warm_up=False, is_whole=True):
    """All of it, for the tables of one trace, or of a diff. Where steps were named, warm-up steps
    count. `is_whole`: no steps, threads or ranks were chosen."""
    for name, table in tables.items():
        if any(row.get("row") == "total" or kind == TOTAL
               for row, kind in zip(table.rows, table.kinds)) and "row" in table.units:
            assert name in ADDS, (f"which columns of table {name} add up to its row total: say so "
                                  f"in sum_laws.ADDS")
        assert all(kind in (PLAIN, 1, TOTAL) for kind in table.kinds)
        check_rows(name, table)
        check_across(name, table)
        check_values(name, table)
    if is_whole and {"trace", "marks", "flows", "counters", "counter_values"} <= set(tables):
        check_records(tables)
    if "steps" in tables:
        check_between(tables, counts_warm_up)

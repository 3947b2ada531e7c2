/* SPDX-License-Identifier: Apache-2.0 */
/* dag_tables.h — a graph as it is drawn: what ran, what it took, and what followed from what. Part
 * of model.h, which includes it.
 *
 * The model has such a graph only if its input is one, which varve dag or another program wrote.
 * graph/dag/dag.h has the same tables for a graph that is made from a trace. Strings are those of
 * whoever holds the tables.
 *
 * Times are of executions: a node that stands for many has their sum. Laws (tested): a parent's row
 * is smaller than its child's; 0 <= self_ns <= total_ns; count = 0 means that no time is known. */
#ifndef VV_MODEL_DAG_TABLES_H
#define VV_MODEL_DAG_TABLES_H

#include "model/table.h"

enum vv_dag_kind {
    VV_DAG_OTHER,     /* of a file that does not say                                            */
    VV_DAG_OPERATOR, VV_DAG_RANGE, VV_DAG_CALL,   /* on the host: a call starts or awaits work  */
    VV_DAG_KERNEL, VV_DAG_COPY, VV_DAG_WAIT, VV_DAG_COLLECTIVE,
    VV_DAG_PYTHON, VV_DAG_FUNCTION,               /* functions, of Python and of others         */
    VV_DAG_TENSOR,    /* a piece of memory, from its allocation to its release                  */
    VV_DAG_GROUP,     /* has children: module, block, phase, step                               */
    VV_DAG_REST,      /* all nodes that are not shown                                           */
    VV_DAG_OUTSIDE,   /* time of the steps in which nothing ran that the trace knows            */
    VV_DAG_BEFORE,    /* what was not chosen and made data that nodes read; without a time      */
    VV_DAG_KINDS
};

#define VV_DAG_CRITICAL 1u   /* on the critical path                                            */
#define VV_DAG_UNFINISHED 2u /* the end of an execution was not recorded                        */

#define VV_DAG_NODE_COLUMNS(X, T)                                                                  \
    X(T, uint64_t, id)         /* in the file; unique                                           */ \
    X(T, uint64_t, count)      /* executions                                                    */ \
    X(T, int64_t, begin_ns)    /* of the first execution                                        */ \
    X(T, int64_t, end_ns)      /* of the last                                                   */ \
    X(T, int64_t, total_ns)                                                                        \
    X(T, int64_t, self_ns)     /* without what ran inside and has a node of its own             */ \
    X(T, int64_t, min_ns)                                                                          \
    X(T, int64_t, max_ns)                                                                          \
    X(T, int64_t, p50_ns)                                                                          \
    X(T, int64_t, p95_ns)                                                                          \
    X(T, int64_t, critical_ns) /* of the critical path                                          */ \
    X(T, uint64_t, flop)       /* of all executions; 0 = not known                              */ \
    X(T, uint64_t, bytes)      /* read, written, copied or sent; 0 = not known                  */ \
    X(T, uint64_t, memory_bytes) /* allocated inside; of a tensor, its size                     */ \
    X(T, vv_string, name)      /* string                                                        */ \
    X(T, vv_string, where)     /* string: thread, stream or rank, as people name it; or 0       */ \
    X(T, vv_string, device)    /* string, "cuda:0"; 0 = on the host                             */ \
    X(T, vv_string, module)    /* string; or 0                                                  */ \
    X(T, vv_string, phase)     /* string; or 0                                                  */ \
    X(T, vv_string, source)    /* string, "train.c:41"; or 0                                    */ \
    X(T, vv_string, inputs)    /* string, "[32,1,28,28] f32, [8,1,5,5] f32"; or 0               */ \
    X(T, vv_string, outputs)   /* the same                                                      */ \
    X(T, uint32_t, parent)     /* row: the group that it stands in; or VV_NONE                  */ \
    X(T, uint32_t, level)      /* no edge leads to a lower or the same one; VV_NONE = not known */ \
    X(T, uint32_t, first_occurrence) /* rows in occurrences                                     */ \
    X(T, uint32_t, occurrence_count)                                                               \
    X(T, uint16_t, begin_rest_ps) /* what begin_ns and total_ns leave out, 0 to 999             */ \
    X(T, uint16_t, total_rest_ps)                                                                  \
    X(T, uint8_t, kind)        /* enum vv_dag_kind                                              */ \
    X(T, uint8_t, flags)       /* VV_DAG_CRITICAL, VV_DAG_UNFINISHED                            */
struct vv_dag_nodes { struct vv_table table; VV_DAG_NODE_COLUMNS(VV_COLUMN_POINTER,
                                                                 struct vv_dag_nodes) };

/* What an edge is known from, the best first. */
enum vv_dag_edge_kind {
    VV_DAG_EDGE_DATA,    /* a tensor, or an edge of a graph that a runtime has registered       */
    VV_DAG_EDGE_FLOW,    /* a flow, forward to backward, a launch to its work                   */
    VV_DAG_EDGE_NESTING, /* a caller to what it called                                          */
    VV_DAG_EDGE_STREAM,  /* the next work of the same stream                                    */
    VV_DAG_EDGE_SYNC,    /* work to what waited for it                                          */
    VV_DAG_EDGE_ORDER,   /* only that one interval ended before the other began                 */
    VV_DAG_EDGE_KINDS
};

#define VV_DAG_EDGE_COLUMNS(X, T)                                                                  \
    X(T, uint64_t, count)      /* edges that this one stands for                                */ \
    X(T, uint64_t, bytes)      /* of data that passed; 0 = not known                            */ \
    X(T, int64_t, longest_ns)  /* longest time from the end of `from` to the begin of `to`      */ \
    X(T, uint32_t, from)       /* row in nodes                                                  */ \
    X(T, uint32_t, to)         /* row in nodes                                                  */ \
    X(T, vv_string, name)      /* string: the flow's name, the tensor's shape; or 0             */ \
    X(T, uint8_t, kind)        /* enum vv_dag_edge_kind                                         */ \
    X(T, uint8_t, flags)       /* VV_DAG_CRITICAL                                               */
struct vv_dag_edges { struct vv_table table; VV_DAG_EDGE_COLUMNS(VV_COLUMN_POINTER,
                                                                 struct vv_dag_edges) };

/* What a node took in one step. */
#define VV_DAG_OCCURRENCE_COLUMNS(X, T)                                                            \
    X(T, int64_t, step)        /* its index                                                     */ \
    X(T, int64_t, total_ns)                                                                        \
    X(T, uint64_t, count)
struct vv_dag_occurrences { struct vv_table table; VV_DAG_OCCURRENCE_COLUMNS(
    VV_COLUMN_POINTER, struct vv_dag_occurrences) };

/* What the legend says, line by line: "steps" "10", "data edges" "not known: …". */
#define VV_DAG_NOTE_COLUMNS(X, T)                                                                  \
    X(T, vv_string, key)       /* string                                                        */ \
    X(T, vv_string, text)      /* string                                                        */
struct vv_dag_notes { struct vv_table table; VV_DAG_NOTE_COLUMNS(VV_COLUMN_POINTER,
                                                                 struct vv_dag_notes) };

#endif

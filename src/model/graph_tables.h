/* SPDX-License-Identifier: Apache-2.0 */
/* graph_tables.h — the model's tables of operator graphs, and of the models that execute them. Part
 * of model.h, which includes it. */
#ifndef VV_MODEL_GRAPH_TABLES_H
#define VV_MODEL_GRAPH_TABLES_H

#include "model/table.h"

/* Nodes and edges of a graph stand together. */
#define VV_GRAPH_COLUMNS(X, T)                                                                     \
    X(T, int64_t, graph_id)    /* the runtime's own number; -1 = none                           */ \
    X(T, uint32_t, process)    /* row                                                           */ \
    X(T, uint32_t, number)     /* the recorder's number, in the process                         */ \
    X(T, vv_string, name)      /* string; 0 = unnamed                                           */ \
    X(T, uint32_t, parent)     /* row in nodes: the node that it is a body of; or VV_NONE       */ \
    X(T, uint32_t, first_node) /* rows in nodes                                                 */ \
    X(T, uint32_t, node_count)                                                                     \
    X(T, uint32_t, first_edge) /* rows in edges                                                 */ \
    X(T, uint32_t, edge_count)                                                                     \
    X(T, uint64_t, missing)    /* nodes and edges that it has and that are not here             */
struct vv_graphs { struct vv_table table; VV_GRAPH_COLUMNS(VV_COLUMN_POINTER, struct vv_graphs) };

/* Within a graph in ascending order of their numbers. */
#define VV_NODE_COLUMNS(X, T)                                                                      \
    X(T, uint64_t, flop)                                                                           \
    X(T, uint64_t, bytes)                                                                          \
    X(T, int64_t, stream)      /* the executor's own number; -1 = none                          */ \
    X(T, int64_t, parent_input) /* of a body's node: the input that it stands for; -1           */ \
    X(T, uint32_t, graph)      /* row                                                           */ \
    X(T, uint32_t, number)     /* in the graph                                                  */ \
    X(T, vv_string, name)      /* string                                                        */ \
    X(T, vv_string, type)      /* string                                                        */ \
    X(T, vv_string, framework_type) /* string; 0 = not known                                    */ \
    X(T, vv_string, origins)   /* string: names of the nodes fused into it, joined by ';'; or 0 */ \
    X(T, vv_string, contexts)  /* string: numbers of its task's parts, "1,2,3"; or 0            */ \
    X(T, uint32_t, block_dim)  /* 0 = not known                                                 */ \
    X(T, uint32_t, mix_block_dim)                                                                  \
    X(T, uint32_t, first_tensor) /* rows in tensors: inputs and outputs                         */ \
    X(T, uint32_t, tensor_count)                                                                   \
    X(T, vv_link, op)          /* row in ops, for all slices that execute it; or VV_NONE        */ \
    X(T, uint8_t, task_type)   /* enum varve_task_type                                          */
struct vv_nodes { struct vv_table table; VV_NODE_COLUMNS(VV_COLUMN_POINTER, struct vv_nodes) };

/* In place of an output's and an input's number: to_node only waits. */
#define VV_EDGE_CONTROL UINT32_MAX

#define VV_EDGE_COLUMNS(X, T)                                                                      \
    X(T, uint32_t, from_node)  /* row in nodes                                                  */ \
    X(T, uint32_t, from_output)                                                                    \
    X(T, uint32_t, to_node)    /* row in nodes                                                  */ \
    X(T, uint32_t, to_input)
struct vv_edges { struct vv_table table; VV_EDGE_COLUMNS(VV_COLUMN_POINTER, struct vv_edges) };

/* Graphs that were loaded to be executed. */
#define VV_LOADED_MODEL_COLUMNS(X, T)                                                              \
    X(T, int64_t, model_id)    /* the runtime's own numbers; -1 = none                          */ \
    X(T, int64_t, session_id)                                                                      \
    X(T, uint32_t, process)    /* row                                                           */ \
    X(T, uint32_t, number)     /* the recorder's number, in the process                         */ \
    X(T, uint32_t, graph)      /* row; VV_NONE = not known                                      */ \
    X(T, vv_string, name)      /* string                                                        */
struct vv_loaded_models {
    struct vv_table table;
    VV_LOADED_MODEL_COLUMNS(VV_COLUMN_POINTER, struct vv_loaded_models)
};

enum vv_execution_kind {
    VV_EXECUTION_LOAD,   /* the model was loaded                                                */
    VV_EXECUTION_RUN,
    VV_EXECUTION_UNLOAD  /* an instant                                                          */
};

/* What a model did on a thread. */
#define VV_EXECUTION_COLUMNS(X, T)                                                                 \
    X(T, int64_t, begin_ns)                                                                        \
    X(T, int64_t, duration_ns)                                                                     \
    X(T, int64_t, step)        /* the executor's own number of a run; -1 = none                 */ \
    X(T, uint32_t, model)      /* row in loaded_models                                          */ \
    X(T, uint32_t, track)      /* row                                                           */ \
    X(T, uint8_t, kind)        /* enum vv_execution_kind                                        */ \
    X(T, uint8_t, is_unfinished) /* 1: its end was not recorded                                 */
struct vv_executions {
    struct vv_table table;
    VV_EXECUTION_COLUMNS(VV_COLUMN_POINTER, struct vv_executions)
};

/* Of device work whose producer says which node it is of. */
#define VV_TASK_COLUMNS(X, T)                                                                      \
    X(T, int64_t, step)        /* the executor's own number of the run; -1 = not known          */ \
    X(T, uint32_t, node)       /* row; VV_NONE = not known                                      */ \
    X(T, uint32_t, model)      /* row in loaded_models; VV_NONE = not known                     */
struct vv_tasks { struct vv_table table; VV_TASK_COLUMNS(VV_COLUMN_POINTER, struct vv_tasks) };

#endif

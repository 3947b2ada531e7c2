/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h — describes an operator graph: nodes, their tensors, edges, subgraphs.
 *
 * A runtime fills these structs from its own graph. The library reads them during the call that
 * they are handed to, and copies what it keeps: the caller owns all memory.
 *
 * Arrays of structs say the size of one element (node_size, edge_size), so that fields can be added
 * at the end. All texts are UTF-8; NULL = none. Zero is "not known" unless a field says
 * otherwise. */
#ifndef VARVE_GRAPH_H
#define VARVE_GRAPH_H

#include "varve/varve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a node runs. One more than msprof's number of a task type, so that 0 is free. */
enum varve_task_type {
    VARVE_TASK_NONE = 0, /* the executor makes no task of this node                            */
    VARVE_TASK_AI_CORE, VARVE_TASK_AI_CPU, VARVE_TASK_AIV, VARVE_TASK_WRITE_BACK,
    VARVE_TASK_MIX_AIC, VARVE_TASK_MIX_AIV, VARVE_TASK_FFTS_PLUS, VARVE_TASK_DSA,
    VARVE_TASK_DVPP, VARVE_TASK_HCCL, VARVE_TASK_FUSION, VARVE_TASK_INVALID,
    /* Not msprof's: */
    VARVE_TASK_CPU,  /* a thread of the host                                                   */
    VARVE_TASK_GPU,  /* a queue of a GPU or another accelerator                                */
    VARVE_TASK_COPY, /* a copy engine                                                          */
    VARVE_TASK_TYPE_COUNT
};

enum varve_side { VARVE_INPUT = 0, VARVE_OUTPUT = 1 };

/* A tensor that a node reads or writes. */
struct varve_graph_tensor {
    uint32_t side;       /* enum varve_side                                                    */
    uint32_t dtype;      /* enum varve_dtype                                                   */
    uint32_t rank;       /* number of dims, at most 16; 0 = scalar                             */
    uint32_t reserved;   /* 0                                                                  */
    const int64_t *dims; /* `rank` values, outermost first; -1 = not known before it runs      */
    const char *format;  /* "NCHW", "NC1HWC0" …                                                */
    uint64_t identity;   /* the same number for the same data, on each node that has it; 0     */
};

struct varve_graph_info;

/* A node's number is its index in the graph's array. The order of the array is the order in which
 * the executor runs the nodes, or may run them. */
struct varve_graph_node {
    const char *name;           /* must be there                                               */
    const char *type;           /* "Conv2D"; NULL = the name                                   */
    const char *framework_type; /* the type before a compiler replaced it                      */
    const char *const *origins; /* names of the nodes that were fused into this one            */
    uint32_t origin_count;
    uint32_t task_type;         /* enum varve_task_type                                        */
    uint32_t block_dim;         /* cores or blocks that work on it                             */
    uint32_t mix_block_dim;     /* of the second kind of core, for a task on two kinds         */
    int64_t stream;             /* the executor's own number; -1 = none                        */
    uint64_t flop;
    uint64_t bytes;
    const struct varve_graph_tensor *tensors; /* inputs and outputs, each in order of its side */
    uint32_t tensor_count;
    uint32_t context_count;
    const uint32_t *contexts;   /* the device's numbers of the parts of this task              */
    /* Bodies of a control-flow node. In a body a node of type "Data" stands for an input of this
     * node: its parent_input says which. */
    const struct varve_graph_info *const *subgraphs;
    uint32_t subgraph_count;
    int32_t parent_input;       /* -1 = it stands for no input                                 */
    /* end of ABI 0 */
};
#define VARVE_GRAPH_NODE_INIT                                                                 \
    { NULL, NULL, NULL, NULL, 0, 0, 0, 0, -1, 0, 0, NULL, 0, 0, NULL, NULL, 0, -1 }

/* In place of an output's number: to_node only has to wait for from_node. */
#define VARVE_EDGE_CONTROL UINT32_MAX

struct varve_graph_edge {
    uint32_t from_node;
    uint32_t from_output; /* which output; or VARVE_EDGE_CONTROL                               */
    uint32_t to_node;
    uint32_t to_input;    /* which input; VARVE_EDGE_CONTROL if from_output is                 */
    /* end of ABI 0 */
};

struct varve_graph_info {
    uint32_t struct_size; /* sizeof(struct varve_graph_info)                                   */
    uint32_t node_size;   /* sizeof(struct varve_graph_node)                                   */
    uint32_t edge_size;   /* sizeof(struct varve_graph_edge)                                   */
    uint32_t node_count;
    uint64_t edge_count;
    const char *name;
    const struct varve_graph_node *nodes;
    const struct varve_graph_edge *edges;
    int64_t graph_id;     /* the runtime's own number; -1 = none                               */
    /* end of ABI 0 */
};
#define VARVE_GRAPH_INFO_INIT                                                                  \
    { (uint32_t)sizeof(struct varve_graph_info), (uint32_t)sizeof(struct varve_graph_node),      \
      (uint32_t)sizeof(struct varve_graph_edge), 0, 0, NULL, NULL, NULL, -1 }

#ifdef __cplusplus
}
#endif
#endif

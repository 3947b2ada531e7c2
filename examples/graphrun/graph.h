/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h — a graph of operators: nodes, the tensors between them, and their order.
 *
 * network.c and gradient.c build it; shapes.c, tiling.c, plan.c and schedule.c each fill in the
 * fields that are named after them; then it does not change. Nodes and tensors are numbers: indices
 * into the graph's arrays. Thread-compatible. */
#ifndef GRAPHRUN_GRAPH_H
#define GRAPHRUN_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel_arguments.h"

#define NAME_BYTES 64
#define RANK_MAX 4
#define LAYERS_MAX 32
#define NODES_MAX 256 /* a layer makes at most 6, a whole training graph 6 more */
#define TENSORS_MAX 320
#define NONE (-1)

struct operator; /* operators.h */

enum tensor_role {
    TENSOR_VALUE,     /* made anew in each run */
    TENSOR_PARAMETER, /* kept from run to run */
    TENSOR_STATE      /* the optimizer's, kept too */
};

struct tensor {
    char name[NAME_BYTES];
    enum tensor_role role;
    uint32_t dtype; /* enum varve_dtype; all have four bytes an element */
    int producer;   /* the node whose output it is, or NONE */
    int like;       /* has the shape of this tensor; NONE = its operator says */
    /* shapes.c */
    uint32_t rank;
    int64_t dims[RANK_MAX];
    /* plan.c */
    int first_use, last_use; /* nodes, both included */
    size_t offset_bytes, bytes;
};

enum phase { PHASE_DATA, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_COUNT };

enum stream { STREAM_COMPUTE, STREAM_GRADIENT, STREAM_COPY, STREAM_COLLECTIVE, STREAM_COUNT };

struct node {
    char name[NAME_BYTES];
    const struct operator *operator;
    enum phase phase;
    int forward; /* of a node of the backward pass: its forward node; else NONE */
    int inputs[KERNEL_INPUTS_MAX], outputs[KERNEL_OUTPUTS_MAX];
    int input_count, output_count;
    int64_t features, side; /* the layer's, where it has them */
    /* tiling.c */
    struct kernel_arguments arguments;
    uint32_t block_dim; /* blocks that the items are split into */
    uint64_t flop, bytes;
    /* schedule.c */
    int awaited[STREAM_COUNT]; /* the last node of each other stream that it waits for, or NONE */
};

struct graph {
    const char *name;
    int64_t id; /* the runtime's number of it */
    struct node nodes[NODES_MAX];
    int node_count;
    struct tensor tensors[TENSORS_MAX];
    int tensor_count;
    int64_t batch;        /* samples that this process works on */
    int64_t global_batch; /* of all processes */
    int loss;             /* the tensor, or NONE: the graph does not learn */
    size_t memory_bytes;  /* plan.c */
};

/* The new tensor's number. Its name is `base` with `suffix` behind it. */
int graph_add_tensor(struct graph *graph, enum tensor_role role, const char *base,
                     const char *suffix);

/* A copy of *node behind all others; its outputs get it as their producer. Its number. */
int graph_add_node(struct graph *graph, const struct node *node);

/* The elements of a tensor whose shape is known. */
int64_t tensor_elements(const struct tensor *tensor);

/* How its elements lie: "NCHW", or "ND" for what is no image. */
const char *tensor_format(const struct tensor *tensor);

/* Whether the node writes its input in place. */
bool node_updates(const struct node *node, int input);

/* Puts the nodes into the order in which they run: each behind those that it needs, and behind
 * those that read what it writes in place; a collective as early as it can be. */
void graph_sort(struct graph *graph);

#endif

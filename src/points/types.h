/* SPDX-License-Identifier: Apache-2.0 */
/* types.h — what a node's type says of it: sources, fetches, outputs, collectives. Types of GE,
 * TensorFlow, PaddlePaddle, PyTorch, Horovod, NCCL, MPI and XLA. Thread-safe. */
#ifndef VV_POINTS_TYPES_H
#define VV_POINTS_TYPES_H

#include <stdbool.h>

#include "varve/graph.h"

struct vv_collective_type {
    const char *operation; /* "all_reduce"                                                      */
    bool reduces;          /* gradients may wait for it                                         */
    bool is_ge;            /* GE has a number for it                                            */
};

/* NULL: it is no collective. */
const struct vv_collective_type *vv_collective_type(const struct varve_graph_node *node);

bool vv_is_fetch(const struct varve_graph_node *node);
/* Where the data of a step comes from: an input of the graph, or a fetch. */
bool vv_is_source(const struct varve_graph_node *node);
bool vv_is_output(const struct varve_graph_node *node);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h — a compiled graph in Varve's words (varve/graph.h). */
#ifndef GRAPHRUN_DESCRIBE_H
#define GRAPHRUN_DESCRIBE_H

#include <varve/graph.h>

#include "graph.h"

#define NODE_TENSORS_MAX (KERNEL_INPUTS_MAX + KERNEL_OUTPUTS_MAX)
#define NODE_EDGES_MAX (KERNEL_INPUTS_MAX + STREAM_COUNT)

/* `info` points into the rest, and its texts into the graph. */
struct description {
    struct varve_graph_info info;
    struct varve_graph_node nodes[NODES_MAX];
    struct varve_graph_tensor tensors[NODES_MAX * NODE_TENSORS_MAX];
    struct varve_graph_edge edges[NODES_MAX * NODE_EDGES_MAX];
};

/* `is_accelerator`: the kernels run on a device that is not the processor. */
void describe_graph(const struct graph *graph, bool is_accelerator,
                    struct description *out_description);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* made_graph.h — graphs of nodes without anything but a name. */
#ifndef MADE_GRAPH_H
#define MADE_GRAPH_H

#include "varve/exec.h"

#define MADE_NODES 64u

struct made_graph {
    struct varve_graph_info info;
    struct varve_graph_node nodes[MADE_NODES];
    char names[MADE_NODES][8];
};

/* Nodes n0, n1 … and the given edges, which are borrowed. */
static inline void make_graph(struct made_graph *made, uint32_t nodes,
                              const struct varve_graph_edge *edges, uint64_t edge_count)
{
    made->info = (struct varve_graph_info)VARVE_GRAPH_INFO_INIT;
    for (uint32_t n = 0; n < nodes; n++) {
        made->names[n][0] = 'n';
        made->names[n][1] = (char)('0' + n / 10);
        made->names[n][2] = (char)('0' + n % 10);
        made->names[n][3] = '\0';
        made->nodes[n] = (struct varve_graph_node)VARVE_GRAPH_NODE_INIT;
        made->nodes[n].name = made->names[n];
    }
    made->info.name = "g";
    made->info.nodes = made->nodes;
    made->info.node_count = nodes;
    made->info.edges = edges;
    made->info.edge_count = edge_count;
}

#endif

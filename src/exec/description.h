/* SPDX-License-Identifier: Apache-2.0 */
/* description.h — reads and checks what a runtime describes (varve/graph.h). Thread-safe. */
#ifndef VV_EXEC_DESCRIPTION_H
#define VV_EXEC_DESCRIPTION_H

#include "varve/error.h"
#include "varve/graph.h"

/* The structs of a program may be longer than ours. */
static inline const struct varve_graph_node *vv_described_node(const struct varve_graph_info *info,
                                                               uint32_t node)
{
    return (const struct varve_graph_node *)(const void *)((const char *)info->nodes +
                                                           (size_t)node * info->node_size);
}

static inline const struct varve_graph_edge *vv_described_edge(const struct varve_graph_info *info,
                                                               uint64_t edge)
{
    return (const struct varve_graph_edge *)(const void *)((const char *)info->edges +
                                                           edge * info->edge_size);
}

/* Are all of the graph and its subgraphs well described, and without circles? */
enum varve_code vv_description_check(const struct varve_graph_info *info,
                                     struct varve_error *error);

/* cycle.c: VARVE_INVALID if the graph has a circle, whose nodes the error names. Edges have been
 * checked. */
enum varve_code vv_description_check_cycle(const struct varve_graph_info *info,
                                           struct varve_error *error);

#endif

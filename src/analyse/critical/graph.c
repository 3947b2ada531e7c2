/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/critical/graph.h"

#include "base/binary_search.h"

enum varve_code vv_critical_reserve(struct vv_critical_graph *graph, uint64_t nodes,
                                    struct varve_error *error)
{
    if (nodes >= VV_NONE)
        VV_FAIL(error, VARVE_LIMIT, "more than 2^31 events in the window: choose fewer steps");
    graph->node_capacity = (uint32_t)nodes;
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &graph->time_ns, nodes + 1, error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &graph->event, nodes + 1, error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &graph->owner, nodes + 1, error));
    return VV_SCRATCH_ARRAY(graph->scratch, &graph->link, nodes + 1, error);
}

enum varve_code vv_critical_chain(struct vv_critical_graph *graph, struct varve_error *error)
{
    size_t capacity = graph->chain_capacity;
    VV_TRY(VV_SCRATCH_RESERVE(graph->scratch, &graph->chains, &capacity,
                              (size_t)graph->chain_count + 2, error));
    graph->chain_capacity = (uint32_t)capacity;
    graph->chains[graph->chain_count++] = graph->node_count;
    return VARVE_OK;
}

enum varve_code vv_critical_edge(struct vv_critical_graph *graph, struct vv_critical_edge edge,
                                 struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(graph->scratch, &graph->edges, &graph->edge_capacity,
                              graph->edge_count + 1, error));
    graph->edges[graph->edge_count++] = edge;
    return VARVE_OK;
}

size_t vv_critical_latency_from(const struct vv_critical_graph *graph, uint32_t node)
{
    return VV_FIRST_NOT(i, 0, graph->latency_count, graph->latencies[i].node < node);
}

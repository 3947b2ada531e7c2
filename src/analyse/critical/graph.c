/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/critical/graph.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/binary_search.h"

enum varve_code vv_critical_reserve(struct vv_critical_graph *graph, uint64_t nodes, struct varve_error *error)
{
    if (nodes >= VV_NONE)
        VV_FAIL(error, VARVE_LIMIT, "more than 2^31 events in the window: choose fewer steps");
    graph->node_capacity = (uint32_t)nodes;
    graph->time_ns = malloc((nodes + 1) * sizeof *graph->time_ns);
    graph->event = malloc((nodes + 1) * sizeof *graph->event);
    graph->owner = malloc((nodes + 1) * sizeof *graph->owner);
    graph->link = malloc(nodes + 1);
    if (graph->time_ns == NULL || graph->event == NULL || graph->owner == NULL || graph->link == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a graph of %llu events", (unsigned long long)nodes / 2);
    return VARVE_OK;
}

enum varve_code vv_critical_chain(struct vv_critical_graph *graph, struct varve_error *error)
{
    size_t capacity = graph->chain_capacity;
    VV_TRY(vv_array_reserve(&graph->chains, &capacity, (size_t)graph->chain_count + 2, sizeof *graph->chains, error));
    graph->chain_capacity = (uint32_t)capacity;
    graph->chains[graph->chain_count++] = graph->node_count;
    return VARVE_OK;
}

enum varve_code vv_critical_edge(struct vv_critical_graph *graph, struct vv_critical_edge edge,
                                 struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&graph->edges, &graph->edge_capacity, graph->edge_count + 1, sizeof *graph->edges, error));
    graph->edges[graph->edge_count++] = edge;
    return VARVE_OK;
}

size_t vv_critical_latency_from(const struct vv_critical_graph *graph, uint32_t node)
{
    return VV_FIRST_NOT(i, 0, graph->latency_count, graph->latencies[i].node < node);
}

void vv_critical_graph_deinit(struct vv_critical_graph *graph)
{
    free(graph->time_ns);
    free(graph->event);
    free(graph->owner);
    free(graph->link);
    free(graph->start_of);
    free(graph->end_of);
    free(graph->chains);
    free(graph->edges);
    free(graph->latencies);
    free(graph->class_by_name);
    *graph = (struct vv_critical_graph){ 0 };
}

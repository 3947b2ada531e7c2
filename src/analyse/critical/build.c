/* SPDX-License-Identifier: Apache-2.0 */
/* build.c — makes the graph of a window from its parts. */
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/graph.h"
#include "analyse/critical/stream.h"
#include "base/radix.h"

/* The sort is stable: edges to the same node stay in the order in which they were found. */
static enum varve_code sort_edges(struct vv_critical_graph *graph, struct varve_error *error)
{
    size_t count = graph->edge_count;
    struct vv_keyed_row *keys;
    struct vv_critical_edge *sorted;
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &keys, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &sorted, count, error));
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct vv_keyed_row){ graph->edges[i].to, (uint32_t)i };
    VV_TRY(vv_radix_sort(keys, count, error));
    for (size_t i = 0; i < count; i++)
        sorted[i] = graph->edges[keys[i].row];
    vv_scratch_release(graph->scratch, graph->edges);
    graph->edges = sorted;
    return VARVE_OK;
}

/* Widens the window so that it holds all nodes. */
static void bound_window(struct vv_critical_graph *graph, const struct vv_critical_windows *windows)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        begin_ns = graph->time_ns[n] < begin_ns ? graph->time_ns[n] : begin_ns;
        end_ns = graph->time_ns[n] > end_ns ? graph->time_ns[n] : end_ns;
    }
    for (uint32_t i = 0; i < windows->count; i++) {
        const struct vv_critical_window *window = &windows->items[i];
        if (window->slice == VV_NONE || graph->start_of[window->slice] == 0)
            continue;
        begin_ns = window->begin_ns < begin_ns ? window->begin_ns : begin_ns;
        end_ns = window->end_ns > end_ns ? window->end_ns : end_ns;
    }
    graph->begin_ns = graph->node_count > 0 ? begin_ns : 0;
    graph->end_ns = graph->node_count > 0 ? end_ns : 0;
}

static enum varve_code build_exact(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                   const struct vv_question *question,
                                   const struct vv_critical_windows *windows,
                                   const struct vv_host_collectives *collectives,
                                   struct varve_error *error)
{
    struct vv_critical_streams streams;
    uint64_t host = 0;
    graph->is_exact = true;
    for (uint32_t t = 0; t < scope->model->tracks.table.count; t++) {
        uint32_t first, last;
        vv_critical_rows(scope, windows, t, &first, &last);
        host += last - first;
    }
    VV_TRY(vv_critical_streams_init(&streams, graph, scope, question, windows, error));
    /* A meeting joins two pieces of work or more, so there are at most half as many meetings. */
    VV_TRY(vv_critical_reserve(graph, 2 * host + 2 * streams.inside + streams.inside / 2 +
                                          2 * collectives->count + collectives->count / 2,
                               error));
    VV_TRY(vv_critical_host(graph, scope, windows, error));
    VV_TRY(vv_critical_waits(graph, scope, &streams, error));
    VV_TRY(vv_critical_device(graph, &streams, error));
    VV_TRY(vv_critical_hands(graph, scope, error));
    VV_TRY(vv_critical_meetings(graph, &streams, error));
    return vv_critical_host_meetings(graph, scope, windows, collectives, error);
}

static enum varve_code build(struct vv_critical_graph *graph, const struct vv_scope *scope,
                             const struct vv_question *question,
                             const struct vv_critical_windows *windows,
                             const struct vv_host_collectives *collectives,
                             struct varve_error *error)
{
    size_t rows = (size_t)graph->model->slices.table.count;
    bool is_hta = vv_asks_hta(question);
    VV_TRY(VV_SCRATCH_ZEROS(graph->scratch, &graph->start_of, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(graph->scratch, &graph->end_of, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(graph->scratch, &graph->class_by_name, graph->model->strings.count,
                            error));
    VV_TRY(is_hta ? vv_critical_hta(graph, scope, windows, error)
                  : build_exact(graph, scope, question, windows, collectives, error));
    VV_TRY(vv_critical_chain(graph, error)); /* marks the end of the last chain */
    graph->chain_count--;
    VV_TRY(sort_edges(graph, error));
    bound_window(graph, windows);
    return VARVE_OK;
}

enum varve_code vv_critical_graph_init(struct vv_critical_graph *graph,
                                       const struct vv_scope *scope,
                                       const struct vv_question *question,
                                       const struct vv_critical_windows *windows,
                                       const struct vv_host_collectives *collectives,
                                       struct varve_error *error)
{
    struct vv_scratch building = { 0 };
    *graph = (struct vv_critical_graph){ .model = scope->model, .admitted = scope->admitted,
                                         .scratch = scope->scratch, .building = &building };
    enum varve_code code = build(graph, scope, question, windows, collectives, error);
    graph->building = NULL;
    vv_scratch_deinit(&building);
    return code;
}

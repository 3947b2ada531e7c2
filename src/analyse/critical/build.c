/* SPDX-License-Identifier: Apache-2.0 */
/* build.c — the graph of a window, made of its parts. */
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/graph.h"
#include "analyse/critical/stream.h"
#include "base/radix.h"

/* Stable: edges to the same node stay in the order in which they were found. */
static enum varve_code sort_edges(struct vv_critical_graph *graph, struct varve_error *error)
{
    size_t count = graph->edge_count;
    struct vv_keyed_row *keys = malloc((count + 1) * sizeof *keys);
    struct vv_critical_edge *sorted = malloc((count + 1) * sizeof *sorted);
    enum varve_code code = VARVE_OK;
    if (keys == NULL || sorted == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu edges", count);
    for (size_t i = 0; i < count && code == VARVE_OK; i++)
        keys[i] = (struct vv_keyed_row){ graph->edges[i].to, (uint32_t)i };
    if (code == VARVE_OK)
        code = vv_radix_sort(keys, count, error);
    for (size_t i = 0; i < count && code == VARVE_OK; i++)
        sorted[i] = graph->edges[keys[i].row];
    free(keys);
    if (code == VARVE_OK) {
        free(graph->edges);
        graph->edges = sorted;
    } else {
        free(sorted);
    }
    return code;
}

/* The window reaches at least as far as what is in it. */
static void bound_window(struct vv_critical_graph *graph, const struct vv_critical_windows *windows)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        begin_ns = graph->time_ns[n] < begin_ns ? graph->time_ns[n] : begin_ns;
        end_ns = graph->time_ns[n] > end_ns ? graph->time_ns[n] : end_ns;
    }
    for (uint32_t i = 0; i < windows->scope_count; i++) {
        const struct vv_critical_window *window = &windows->of_scope[i];
        if (window->slice == VV_NONE || graph->start_of[window->slice] == 0)
            continue;
        begin_ns = window->begin_ns < begin_ns ? window->begin_ns : begin_ns;
        end_ns = window->end_ns > end_ns ? window->end_ns : end_ns;
    }
    graph->begin_ns = graph->node_count > 0 ? begin_ns : 0;
    graph->end_ns = graph->node_count > 0 ? end_ns : 0;
}

static enum varve_code build_exact(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                   const struct vv_question *question, const struct vv_critical_windows *windows,
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
    enum varve_code code = vv_critical_streams_init(&streams, graph, scope, question, windows, error);
    /* A collective takes two pieces of work at least: as many meetings as half of them. */
    if (code == VARVE_OK)
        code = vv_critical_reserve(graph, 2 * host + 2 * streams.inside + streams.inside / 2, error);
    if (code == VARVE_OK)
        code = vv_critical_host(graph, scope, windows, error);
    if (code == VARVE_OK)
        code = vv_critical_waits(graph, scope, &streams, error);
    if (code == VARVE_OK)
        code = vv_critical_device(graph, &streams, error);
    if (code == VARVE_OK)
        code = vv_critical_hands(graph, scope, error);
    if (code == VARVE_OK)
        code = vv_critical_meetings(graph, &streams, error);
    vv_critical_streams_deinit(&streams);
    return code;
}

enum varve_code vv_critical_graph_init(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                       const struct vv_question *question,
                                       const struct vv_critical_windows *windows, struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    size_t rows = (size_t)model->slices.table.count + 1;
    bool is_hta = question->compat != NULL && strcmp(question->compat, "hta") == 0;
    *graph = (struct vv_critical_graph){
        .model = model,
        .admitted = scope->admitted,
        .start_of = calloc(rows, sizeof *graph->start_of),
        .end_of = calloc(rows, sizeof *graph->end_of),
        .class_by_name = calloc((size_t)model->strings.count + 1, 1),
    };
    if (graph->start_of == NULL || graph->end_of == NULL || graph->class_by_name == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a graph of %zu events", rows - 1);
    VV_TRY(is_hta ? vv_critical_hta(graph, scope, windows, error)
                  : build_exact(graph, scope, question, windows, error));
    VV_TRY(vv_critical_chain(graph, error)); /* the end of the last one */
    graph->chain_count--;
    VV_TRY(sort_edges(graph, error));
    bound_window(graph, windows);
    return VARVE_OK;
}

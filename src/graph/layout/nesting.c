/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "graph/layout/placing.h"

/* A parent's row is smaller than its child's: a file may break that law, and such a parent counts
 * for nothing. */
static void find_boxes(struct placing *work)
{
    struct vv_layout *layout = work->layout;
    const struct vv_dag_nodes *nodes = &work->dag->nodes;
    for (uint32_t row = 0; row < work->nodes; row++) {
        uint32_t parent = nodes->parent[row] < row ? nodes->parent[row] : VV_NONE;
        if (parent != VV_NONE && layout->depth[parent] == VV_LAYOUT_DEPTH_MAX)
            parent = layout->parent[parent];
        layout->parent[row] = parent;
        layout->depth[row] = parent == VV_NONE ? 0 : (uint8_t)(layout->depth[parent] + 1);
        if (parent != VV_NONE)
            layout->is_group[parent] = true;
    }
}

/* ---- levels ---- */

/* Longest paths. Where all that is left stands in cycles, the first row of it goes on. */
static enum varve_code compute_levels(struct placing *work, struct varve_error *error)
{
    const struct vv_dag_edges *edges = &work->dag->edges;
    uint32_t *first, *out, *waits, *ready, done = 0, read = 0, next = 0;
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &first, (size_t)work->nodes + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &out, work->edges, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &waits, work->nodes, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &ready, work->nodes, error));
    for (uint32_t e = 0; e < work->edges; e++) {
        first[edges->from[e] + 2]++;
        waits[edges->to[e]]++;
    }
    for (uint32_t row = 2; row < work->nodes + 2; row++)
        first[row] += first[row - 1];
    for (uint32_t e = 0; e < work->edges; e++)
        out[first[edges->from[e] + 1]++] = edges->to[e];
    memset(work->level, 0, work->nodes * sizeof *work->level);
    for (uint32_t row = 0; row < work->nodes; row++)
        if (waits[row] == 0)
            ready[done++] = row;
    while (read < work->nodes) {
        while (read == done) { /* a cycle */
            if (waits[next] > 0 && waits[next] != VV_NONE)
                ready[done++] = next;
            next++;
        }
        uint32_t from = ready[read++];
        waits[from] = VV_NONE; /* it has its level */
        for (uint32_t at = first[from]; at < first[from + 1]; at++) {
            uint32_t to = out[at];
            if (waits[to] == VV_NONE || waits[to] == 0)
                continue;
            if (work->level[to] <= work->level[from])
                work->level[to] = work->level[from] + 1;
            if (--waits[to] == 0)
                ready[done++] = to;
        }
    }
    vv_scratch_release(work->scratch, first);
    vv_scratch_release(work->scratch, out);
    vv_scratch_release(work->scratch, waits);
    vv_scratch_release(work->scratch, ready);
    return VARVE_OK;
}

/* The graph's own levels, where it has them. A box has the least one of its members. */
static enum varve_code find_levels(struct placing *work, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &work->dag->nodes;
    const struct vv_dag_edges *edges = &work->dag->edges;
    bool is_known = true;
    for (uint32_t e = 0; e < work->edges && is_known; e++)
        is_known = nodes->level[edges->from[e]] != VV_NONE && nodes->level[edges->to[e]] != VV_NONE;
    if (is_known)
        for (uint32_t row = 0; row < work->nodes; row++)
            work->level[row] = nodes->level[row] == VV_NONE ? 0 : nodes->level[row];
    else
        VV_TRY(compute_levels(work, error));
    for (uint32_t row = 0; row < work->nodes; row++)
        if (work->layout->is_group[row])
            work->level[row] = VV_NONE;
    for (uint32_t row = work->nodes; row-- > 0;) {
        uint32_t parent = work->layout->parent[row];
        if (parent != VV_NONE && work->level[row] < work->level[parent])
            work->level[parent] = work->level[row];
    }
    return VARVE_OK;
}

/* ---- items and edges of containers ---- */

static uint32_t container_of(const struct placing *work, uint32_t row)
{
    uint32_t parent = work->layout->parent[row];
    return parent == VV_NONE ? work->nodes : parent;
}

static enum varve_code list_items(struct placing *work, struct varve_error *error)
{
    uint32_t *first;
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &first, (size_t)work->nodes + 3, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &work->items, work->nodes, error));
    for (uint32_t row = 0; row < work->nodes; row++)
        first[container_of(work, row) + 2]++;
    for (uint32_t c = 2; c < work->nodes + 3; c++)
        first[c] += first[c - 1];
    for (uint32_t row = 0; row < work->nodes; row++)
        work->items[first[container_of(work, row) + 1]++] = row;
    work->first_item = first;
    return VARVE_OK;
}

/* Goes up from both ends to two items of one container. Rows fall on the way up, and there are at
 * most VV_LAYOUT_DEPTH_MAX steps. Returns VV_NONE if one end is a box around the other. */
static uint32_t meet(const struct placing *work, uint32_t *from, uint32_t *to)
{
    const uint32_t *parent = work->layout->parent;
    const uint8_t *depth = work->layout->depth;
    while (depth[*from] > depth[*to])
        *from = parent[*from];
    while (depth[*to] > depth[*from])
        *to = parent[*to];
    if (*from == *to)
        return VV_NONE;
    while (parent[*from] != parent[*to]) {
        *from = parent[*from];
        *to = parent[*to];
    }
    return container_of(work, *from);
}

static enum varve_code list_edges(struct placing *work, struct varve_error *error)
{
    const struct vv_dag_edges *edges = &work->dag->edges;
    uint32_t *first, *container;
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &first, (size_t)work->nodes + 3, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &container, work->edges, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &work->edges_of, work->edges, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &work->edge_from, work->edges, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &work->edge_to, work->edges, error));
    for (uint32_t e = 0; e < work->edges; e++) {
        uint32_t from = edges->from[e], to = edges->to[e];
        container[e] = meet(work, &from, &to);
        work->edge_from[e] = container[e] == VV_NONE ? VV_NONE : from;
        work->edge_to[e] = to;
        if (container[e] != VV_NONE)
            first[container[e] + 2]++;
    }
    for (uint32_t c = 2; c < work->nodes + 3; c++)
        first[c] += first[c - 1];
    for (uint32_t e = 0; e < work->edges; e++)
        if (container[e] != VV_NONE)
            work->edges_of[first[container[e] + 1]++] = e;
    vv_scratch_release(work->scratch, container);
    work->first_edge = first;
    return VARVE_OK;
}

enum varve_code vv_nesting_find(struct placing *work, struct varve_error *error)
{
    find_boxes(work);
    VV_TRY(find_levels(work, error));
    VV_TRY(list_items(work, error));
    return list_edges(work, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/layout/container.h"


#include "base/radix.h"


/* ---- levels of items ---- */

/* The order of the graph's levels, and of rows among equals. An edge that leads back in it is drawn
 * upward. */
static enum varve_code order_items(struct vv_container *box, struct varve_error *error)
{
    struct placing *work = box->work;
    uint32_t first = work->first_item[box->number];
    struct vv_keyed_row *rows;
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &rows, box->items, error));
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &box->item, box->items, error));
    for (uint32_t i = 0; i < box->items; i++) {
        uint32_t row = work->items[first + i];
        rows[i] = (struct vv_keyed_row){ work->level[row], row };
    }
    VV_TRY(vv_radix_sort(rows, box->items, error));
    for (uint32_t i = 0; i < box->items; i++) {
        box->item[i] = rows[i].row;
        work->position[rows[i].row] = i;
    }
    return VARVE_OK;
}

/* Edges as positions, sorted by where they start. */
static enum varve_code sort_edges(struct vv_container *box, struct varve_error *error)
{
    const struct placing *work = box->work;
    uint32_t first = work->first_edge[box->number];
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &box->first_out, (size_t)box->items + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &box->out, box->edges, error));
    for (uint32_t i = 0; i < box->edges; i++) {
        uint32_t edge = work->edges_of[first + i];
        uint32_t from = work->position[work->edge_from[edge]];
        uint32_t to = work->position[work->edge_to[edge]];
        box->first_out[(from < to ? from : to) + 2]++;
    }
    for (uint32_t i = 2; i < box->items + 2; i++)
        box->first_out[i] += box->first_out[i - 1];
    for (uint32_t i = 0; i < box->edges; i++) {
        uint32_t edge = work->edges_of[first + i];
        uint32_t from = work->position[work->edge_from[edge]];
        uint32_t to = work->position[work->edge_to[edge]];
        uint32_t least = from < to ? from : to, most = from < to ? to : from;
        box->out[box->first_out[least + 1]++] = most;
    }
    return VARVE_OK;
}

/* Longest paths. What nothing leads to comes down to where it is needed. */
static enum varve_code find_layers(struct vv_container *box, struct varve_error *error)
{
    bool *has_before;
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &box->layer, box->items, error));
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &has_before, box->items, error));
    for (uint32_t i = 0; i < box->items; i++) {
        for (uint32_t at = box->first_out[i]; at < box->first_out[i + 1]; at++) {
            uint32_t to = box->out[at];
            has_before[to] = true;
            if (box->layer[to] <= box->layer[i])
                box->layer[to] = box->layer[i] + 1;
        }
    }
    for (uint32_t i = box->items; i-- > 0;) {
        uint32_t least = VV_NONE;
        for (uint32_t at = box->first_out[i]; at < box->first_out[i + 1]; at++)
            least = box->layer[box->out[at]] < least ? box->layer[box->out[at]] : least;
        if (!has_before[i] && least != VV_NONE)
            box->layer[i] = least - 1;
        box->layers = box->layer[i] + 1 > box->layers ? box->layer[i] + 1 : box->layers;
        box->work->layer[box->item[i]] = box->layer[i];
    }
    return VARVE_OK;
}

/* ---- vertices: items and lanes ---- */

/* The long edges that start from one item share their lanes. */
static void count_lanes(struct vv_container *box)
{
    struct placing *work = box->work;
    box->vertices = box->items;
    for (uint32_t i = 0; i < box->items; i++) {
        uint32_t most = box->layer[i], row = box->item[i];
        for (uint32_t at = box->first_out[i]; at < box->first_out[i + 1]; at++)
            most = box->layer[box->out[at]] > most ? box->layer[box->out[at]] : most;
        size_t wanted = most > box->layer[i] + 1 ? most - box->layer[i] - 1 : 0;
        size_t left = work->lanes_limit - work->lanes_used;
        work->first_lane[row] = (uint32_t)work->lanes_used;
        work->lane_count[row] = (uint32_t)(wanted < left ? wanted : left);
        work->lanes_used += work->lane_count[row];
        box->vertices += work->lane_count[row];
    }
}

static void add_link(struct vv_container *box, uint32_t upper, uint32_t lower)
{
    if (box->up != NULL) {
        box->up[box->first_up[lower + 1]++] = upper;
        box->down[box->first_down[upper + 1]++] = lower;
    } else {
        box->first_up[lower + 2]++;
        box->first_down[upper + 2]++;
    }
    box->links++;
}

/* Each link joins two vertices of neighbouring layers. */
static void add_links(struct vv_container *box)
{
    struct placing *work = box->work;
    uint32_t lane = box->items;
    for (uint32_t i = 0; i < box->items; i++) {
        uint32_t count = work->lane_count[box->item[i]];
        for (uint32_t k = 0; k < count; k++)
            add_link(box, k == 0 ? i : lane + k - 1, lane + k);
        for (uint32_t at = box->first_out[i]; at < box->first_out[i + 1]; at++) {
            uint32_t span = box->layer[box->out[at]] - box->layer[i];
            if (span <= count + 1)
                add_link(box, span == 1 ? i : lane + span - 2, box->out[at]);
        }
        lane += count;
    }
}

static enum varve_code make_vertices(struct vv_container *box, struct varve_error *error)
{
    const struct placing *work = box->work;
    count_lanes(box);
    size_t count = box->vertices;
    VV_TRY(VV_SCRATCH_RESERVE(&box->scratch, &box->layer, &(size_t){ box->items }, count, error));
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &box->first_up, count + 2, error));
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &box->first_down, count + 2, error));
    uint32_t lane = box->items;
    for (uint32_t i = 0; i < box->items; i++)
        for (uint32_t k = 0; k < work->lane_count[box->item[i]]; k++)
            box->layer[lane++] = box->layer[i] + 1 + k;
    add_links(box);
    for (size_t v = 2; v < count + 2; v++) {
        box->first_up[v] += box->first_up[v - 1];
        box->first_down[v] += box->first_down[v - 1];
    }
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &box->down, box->links, error));
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &box->up, box->links, error));
    add_links(box);
    return VARVE_OK;
}

/* ---- all of it ---- */

static enum varve_code place(struct vv_container *box, struct varve_error *error)
{
    VV_TRY(order_items(box, error));
    VV_TRY(sort_edges(box, error));
    VV_TRY(find_layers(box, error));
    VV_TRY(make_vertices(box, error));
    VV_TRY(vv_crossings_reduce(box, error));
    VV_TRY(vv_columns_make(box, error));
    VV_TRY(vv_columns_straighten(box, error));
    return vv_container_fold(box, error);
}

enum varve_code vv_container_place(struct placing *work, uint32_t container, int32_t *out_width,
                                   int32_t *out_height, struct varve_error *error)
{
    struct vv_container box = { .work = work, .number = container };
    *out_width = *out_height = 0;
    box.items = work->first_item[container + 1] - work->first_item[container];
    box.edges = work->first_edge[container + 1] - work->first_edge[container];
    if (box.items == 0)
        return VARVE_OK;
    enum varve_code code = place(&box, error);
    vv_scratch_deinit(&box.scratch);
    *out_width = box.width;
    *out_height = box.height;
    return code;
}

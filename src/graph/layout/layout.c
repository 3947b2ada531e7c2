/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/layout/layout.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "graph/layout/placing.h"

#define COLUMN_WIDTH 7.2 /* of a text of 12 pixels                                              */

/* Wide: Hangul, kana, ideographs and their full-width forms, and most pictographs. */
static bool is_wide(uint32_t c)
{
    return c >= 0x1100 && (c <= 0x115F || (c >= 0x2E80 && c <= 0xA4CF) ||
                           (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                           (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                           (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD));
}

size_t vv_layout_text_columns(const char *text)
{
    size_t columns = 0, length = strlen(text);
    for (size_t at = 0; at < length;) {
        size_t bytes = vv_utf8_sequence(text + at, length - at);
        columns += bytes > 0 && is_wide(vv_utf8_decode(text + at, bytes)) ? 2 : 1;
        at += bytes > 0 ? bytes : 1;
    }
    return columns;
}

static int32_t width_of(const char *name)
{
    double width = (double)vv_layout_text_columns(name) * COLUMN_WIDTH + 18;
    return width < VV_NODE_WIDTH_LEAST  ? VV_NODE_WIDTH_LEAST
           : width > VV_NODE_WIDTH_MOST ? VV_NODE_WIDTH_MOST
                                        : (int32_t)width;
}

static enum varve_code check(const struct vv_dag *dag, struct varve_error *error)
{
    uint64_t nodes = dag->nodes.table.count;
    if (nodes > VV_LAYOUT_NODES_MAX || dag->edges.table.count > UINT32_MAX / 2)
        VV_FAIL_SAID(error, VARVE_LIMIT,
                     "a picture has at most %u nodes, and this graph has %" PRIu64
                     ": fold it (--by module) or show fewer (--top 1000)",
                     VV_LAYOUT_NODES_MAX, nodes);
    for (uint64_t e = 0; e < dag->edges.table.count; e++)
        if (dag->edges.from[e] >= nodes || dag->edges.to[e] >= nodes)
            VV_FAIL(error, VARVE_CORRUPT, "edge %" PRIu64 " of the graph leads to no node", e);
    return VARVE_OK;
}

static enum varve_code start(struct placing *work, struct varve_error *error)
{
    struct vv_layout *layout = work->layout;
    size_t nodes = work->nodes;
    VV_TRY(VV_SCRATCH_ZEROS(&layout->scratch, &layout->boxes, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(&layout->scratch, &layout->parent, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(&layout->scratch, &layout->depth, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(&layout->scratch, &layout->is_group, nodes, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &work->level, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &work->position, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &work->layer, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &work->standing, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &work->first_lane, nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &work->lane_count, nodes, error));
    work->lanes_limit = nodes + work->edges;
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &work->lanes, work->lanes_limit, error));
    for (uint32_t row = 0; row < nodes; row++)
        layout->boxes[row] = (struct vv_layout_box){
            0, 0, width_of(vv_dag_string(work->dag, work->dag->nodes.name[row])), VV_NODE_HEIGHT
        };
    return VARVE_OK;
}

/* A box's inside is known before the box is placed: children have higher rows. */
static enum varve_code place_all(struct placing *work, struct varve_error *error)
{
    struct vv_layout *layout = work->layout;
    int32_t width, height;
    for (uint32_t row = work->nodes; row-- > 0;) {
        if (!layout->is_group[row])
            continue;
        VV_TRY(vv_container_place(work, row, &width, &height, error));
        struct vv_layout_box *box = &layout->boxes[row];
        box->width = width + 2 * PADDING > box->width ? width + 2 * PADDING : box->width;
        box->height = height + VV_GROUP_TITLE + PADDING;
    }
    VV_TRY(vv_container_place(work, work->nodes, &width, &height, error));
    layout->width = width + 2 * PADDING;
    layout->height = height + 2 * PADDING;
    return VARVE_OK;
}

/* From each container's own coordinates to the picture's: containers have lower rows. */
static void make_absolute(struct placing *work)
{
    struct vv_layout *layout = work->layout;
    for (uint32_t row = 0; row < work->nodes; row++) {
        uint32_t parent = layout->parent[row];
        struct vv_layout_box *box = &layout->boxes[row];
        struct standing *standing = &work->standing[row];
        int32_t x = PADDING, y = PADDING;
        if (parent != VV_NONE) {
            x += layout->boxes[parent].x;
            y = layout->boxes[parent].y + VV_GROUP_TITLE;
        }
        box->x += x;
        box->y += y;
        standing->lane_x += x;
        standing->fold_x += x;
        standing->top += y;
        standing->bottom += y;
        for (uint32_t k = 0; k < work->lane_count[row]; k++) {
            struct lane *lane = &work->lanes[work->first_lane[row] + k];
            lane->x += x;
            lane->fold_x += x;
            lane->top += y;
            lane->bottom += y;
        }
    }
}

static enum varve_code make(struct placing *work, bool is_own, struct varve_error *error)
{
    bool is_placed = false;
    VV_TRY(start(work, error));
    VV_TRY(vv_nesting_find(work, error));
    if (!is_own)
        VV_TRY(vv_graphviz_place(work, &is_placed, error));
    if (is_placed)
        return VARVE_OK;
    VV_TRY(place_all(work, error));
    make_absolute(work);
    return vv_routes_make(work, error);
}

enum varve_code vv_layout_make(const struct vv_dag *dag, const struct vv_layout_options *options,
                               struct vv_layout *out_layout, struct varve_error *error)
{
    struct vv_layout layout = { 0 };
    struct vv_scratch scratch = { NULL };
    struct placing work = { .dag = dag, .layout = &layout, .scratch = &scratch };
    VV_TRY(check(dag, error));
    work.nodes = (uint32_t)dag->nodes.table.count;
    work.edges = (uint32_t)dag->edges.table.count;
    enum varve_code code = make(&work, options != NULL && options->is_own, error);
    vv_scratch_deinit(&scratch);
    if (code != VARVE_OK) {
        vv_layout_deinit(&layout);
        return code;
    }
    *out_layout = layout;
    return VARVE_OK;
}

void vv_layout_deinit(struct vv_layout *layout)
{
    vv_scratch_deinit(&layout->scratch);
    memset(layout, 0, sizeof *layout);
}

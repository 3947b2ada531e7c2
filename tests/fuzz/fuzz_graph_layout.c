/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_graph_layout.c — any graph, placed: boxes are apart or in each other, edges begin and end at
 * their nodes, and all lies in the picture. Names, kinds and levels are as the bytes have them;
 * more edges and groups than in fuzz_graph_forms, whose pictures are placed, too. */
#include "graph/dag/laws.h"
#include "graph/layout/layout.h"
#include "made_dag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MORE_NODES = 120, MORE_EDGES = 250 };

static bool is_inside(const struct vv_layout_box *box, const struct vv_layout_box *outer)
{
    return box->x >= outer->x && box->y >= outer->y &&
           box->x + box->width <= outer->x + outer->width &&
           box->y + box->height <= outer->y + outer->height;
}

static bool overlap(const struct vv_layout_box *a, const struct vv_layout_box *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
           b->y < a->y + a->height;
}

static bool stands_in(const struct vv_layout *layout, uint32_t row, uint32_t box)
{
    while (row != VV_NONE && row != box)
        row = layout->parent[row];
    return row == box;
}

static bool touches(struct vv_layout_point point, const struct vv_layout_box *box)
{
    return point.x >= box->x && point.x <= box->x + box->width && point.y >= box->y &&
           point.y <= box->y + box->height;
}

static void check_edge(const struct vv_dag *dag, const struct vv_layout *layout, uint32_t edge)
{
    const struct vv_layout_point *points = &layout->points[layout->first_point[edge]];
    uint32_t count = layout->point_count[edge];
    must(count >= 2);
    must(touches(points[0], &layout->boxes[dag->edges.from[edge]]));
    must(touches(points[count - 1], &layout->boxes[dag->edges.to[edge]]));
    for (uint32_t i = 0; i < count; i++)
        must(points[i].x >= 0 && points[i].x <= layout->width && points[i].y >= 0 &&
             points[i].y <= layout->height);
}

static void check(const struct vv_dag *dag)
{
    struct vv_layout layout;
    must(vv_layout_make(dag, &(struct vv_layout_options){ true }, &layout, NULL) == VARVE_OK);
    const struct vv_layout_box whole = { 0, 0, layout.width, layout.height };
    for (uint32_t row = 0; row < dag->nodes.table.count; row++) {
        const struct vv_layout_box *box = &layout.boxes[row];
        uint32_t parent = layout.parent[row];
        must(is_inside(box, &whole) && layout.depth[row] <= VV_LAYOUT_DEPTH_MAX);
        must(parent == VV_NONE || is_inside(box, &layout.boxes[parent]));
        for (uint32_t other = 0; other < row; other++)
            must(!overlap(box, &layout.boxes[other]) || stands_in(&layout, row, other));
    }
    for (uint32_t edge = 0; edge < dag->edges.table.count; edge++)
        check_edge(dag, &layout, edge);
    vv_layout_deinit(&layout);
}

/* A chain of groups, and nodes that stand anywhere in it. */
static void add_more(struct vv_dag *dag, struct draw *draw)
{
    unsigned count = draw_below(draw, MORE_NODES), edges = draw_below(draw, MORE_EDGES);
    for (unsigned i = 0; i < count; i++) {
        uint32_t row, before = (uint32_t)dag->nodes.table.count;
        must(vv_dag_add_node(dag, DRAW_FROM(draw, texts),
                             draw_below(draw, 3) == 0 ? VV_DAG_GROUP : VV_DAG_OPERATOR, &row,
                             NULL) == VARVE_OK);
        uint32_t parent = before > 0 ? before - 1 - draw_below(draw, before < 256 ? before : 256)
                                     : VV_NONE;
        if (parent != VV_NONE && dag->nodes.kind[parent] == VV_DAG_GROUP)
            dag->nodes.parent[row] = parent;
    }
    for (unsigned i = 0; i < edges && dag->nodes.table.count > 0; i++)
        make_edge(dag, draw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct draw draw = { data, data + size };
    struct vv_dag dag;
    make_dag(&dag, &draw);
    add_more(&dag, &draw);
    check(&dag);
    vv_dag_deinit(&dag);
    return 0;
}

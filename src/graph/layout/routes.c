/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/layout/placing.h"

#define LANES_FOLLOWED 12 /* of an edge, at each end; between them a longer one goes straight   */
#define POINTS_MOST (2 * (4 * LANES_FOLLOWED) + 24)
#define STUB 6            /* how far an edge leaves a node before it turns                      */
#define LOOP 8            /* how far the edge of a node to itself stands out                    */

/* The way of one edge. Two points at one place are one. */
struct way {
    struct vv_layout_point points[POINTS_MOST];
    size_t count;
};

static void go(struct way *way, int32_t x, int32_t y)
{
    size_t n = way->count;
    if (n > 0 && way->points[n - 1].x == x && way->points[n - 1].y == y)
        return;
    if (n > 1 && way->points[n - 1].x == x && way->points[n - 2].x == x &&
        (y > way->points[n - 1].y) == (way->points[n - 1].y > way->points[n - 2].y)) {
        way->points[n - 1].y = y; /* straight on */
        return;
    }
    if (n < POINTS_MOST)
        way->points[way->count++] = (struct vv_layout_point){ x, y };
}

static int32_t middle(const struct vv_layout_box *box) { return box->x + box->width / 2; }
static int32_t bottom(const struct vv_layout_box *box) { return box->y + box->height; }

/* ---- ways in a container ---- */

/* Down to the next place; over the top if that is in another fold. */
static void go_down_to(struct way *way, int32_t x, int32_t y, int32_t from_fold_x,
                       int32_t to_fold_x)
{
    if (from_fold_x != to_fold_x) {
        int32_t low = way->points[way->count - 1].y + LEVEL_GAP / 3, high = y - LEVEL_GAP / 2;
        go(way, way->points[way->count - 1].x, low);
        go(way, from_fold_x, low);
        go(way, from_fold_x, high);
        go(way, x, high);
    }
    go(way, x, y);
}

static void leave(const struct placing *work, uint32_t node, uint32_t item, struct way *way)
{
    const struct vv_layout_box *box = &work->layout->boxes[node];
    const struct vv_layout_box *outer = &work->layout->boxes[item];
    const struct standing *standing = &work->standing[item];
    go(way, middle(box), bottom(box));
    go(way, middle(box), bottom(outer));
    if (standing->has_below) {
        go(way, middle(box), bottom(outer) + STUB);
        go(way, standing->lane_x, bottom(outer) + STUB);
        go(way, standing->lane_x, standing->bottom);
    }
}

static void arrive(const struct placing *work, uint32_t node, uint32_t item, int32_t from_fold_x,
                   struct way *way)
{
    const struct vv_layout_box *box = &work->layout->boxes[node];
    const struct vv_layout_box *outer = &work->layout->boxes[item];
    const struct standing *standing = &work->standing[item];
    if (standing->has_above) {
        go_down_to(way, standing->lane_x, standing->top, from_fold_x, standing->fold_x);
        go(way, standing->lane_x, outer->y - STUB);
        go(way, middle(box), outer->y - STUB);
        go(way, middle(box), outer->y);
    } else {
        go_down_to(way, middle(box), outer->y, from_fold_x, standing->fold_x);
    }
    go(way, middle(box), box->y);
}

/* From a node in the upper item to a node in the lower one. */
static void pass(const struct placing *work, uint32_t upper, uint32_t upper_item, uint32_t lower,
                 uint32_t lower_item, struct way *way)
{
    uint32_t span = work->layer[lower_item] - work->layer[upper_item] - 1;
    uint32_t count = work->lane_count[upper_item];
    const struct lane *lanes = &work->lanes[work->first_lane[upper_item]];
    int32_t fold_x = work->standing[upper_item].fold_x;
    count = span < count ? span : count;
    leave(work, upper, upper_item, way);
    for (uint32_t k = 0; k < count; k++) {
        if (count > 2 * LANES_FOLLOWED && k == LANES_FOLLOWED)
            k = count - LANES_FOLLOWED;
        go_down_to(way, lanes[k].x, lanes[k].top, fold_x, lanes[k].fold_x);
        go(way, lanes[k].x, lanes[k].bottom);
        fold_x = lanes[k].fold_x;
    }
    arrive(work, lower, lower_item, fold_x, way);
}

/* ---- ways in and out of a box, and of a node to itself ---- */

static void loop(const struct vv_layout_box *box, struct way *way)
{
    int32_t right = box->x + box->width;
    go(way, right, box->y + box->height / 3);
    go(way, right + LOOP, box->y + box->height / 3);
    go(way, right + LOOP, box->y + 2 * box->height / 3);
    go(way, right, box->y + 2 * box->height / 3);
}

static void inside(const struct placing *work, uint32_t from, uint32_t to, struct way *way)
{
    const struct vv_layout_box *start = &work->layout->boxes[from];
    const struct vv_layout_box *end = &work->layout->boxes[to];
    if (from == to) {
        loop(start, way);
    } else if (from < to) { /* a box to what stands in it */
        go(way, middle(end), start->y);
        go(way, middle(end), end->y);
    } else {
        go(way, middle(start), bottom(start));
        go(way, middle(start), bottom(end));
    }
}

static void turn_around(struct way *way)
{
    for (size_t i = 0; i < way->count / 2; i++) {
        struct vv_layout_point point = way->points[i];
        way->points[i] = way->points[way->count - 1 - i];
        way->points[way->count - 1 - i] = point;
    }
}

static void find_way(const struct placing *work, uint32_t edge, struct way *way)
{
    uint32_t from = work->dag->edges.from[edge], to = work->dag->edges.to[edge];
    uint32_t from_item = work->edge_from[edge], to_item = work->edge_to[edge];
    way->count = 0;
    if (from_item == VV_NONE) {
        inside(work, from, to, way);
    } else if (work->position[from_item] < work->position[to_item]) {
        pass(work, from, from_item, to, to_item, way);
    } else {
        pass(work, to, to_item, from, from_item, way);
        turn_around(way);
    }
}

enum varve_code vv_routes_make(struct placing *work, struct varve_error *error)
{
    struct vv_layout *layout = work->layout;
    struct way way;
    size_t count = 0, capacity = 0;
    VV_TRY(VV_SCRATCH_ARRAY(&layout->scratch, &layout->first_point, work->edges, error));
    VV_TRY(VV_SCRATCH_ARRAY(&layout->scratch, &layout->point_count, work->edges, error));
    for (uint32_t e = 0; e < work->edges; e++) {
        find_way(work, e, &way);
        VV_TRY(VV_SCRATCH_RESERVE(&layout->scratch, &layout->points, &capacity, count + way.count,
                                  error));
        layout->first_point[e] = count;
        layout->point_count[e] = (uint32_t)way.count;
        for (size_t i = 0; i < way.count; i++)
            layout->points[count++] = way.points[i];
    }
    return VARVE_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers/cut.h"

#include <string.h>

enum varve_code vv_cut_init(struct vv_cut *cut, uint32_t points, struct vv_scratch *scratch,
                            struct varve_error *error)
{
    *cut = (struct vv_cut){ .scratch = scratch, .points = points };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &cut->first, points, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &cut->level, points, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &cut->arc, points, error));
    return VV_SCRATCH_ZEROS(scratch, &cut->queue, points, error);
}

static void link(struct vv_cut *cut, uint32_t from, uint32_t to, int64_t capacity)
{
    cut->edges[cut->edge_count] = (struct vv_cut_edge){ to, cut->first[from], capacity };
    cut->first[from] = (uint32_t)++cut->edge_count;
}

enum varve_code vv_cut_add(struct vv_cut *cut, uint32_t from, uint32_t to, int64_t capacity,
                           struct varve_error *error)
{
    if (cut->edge_count >= UINT32_MAX - 2)
        VV_FAIL(error, VARVE_LIMIT, "more than %u edges to cut", UINT32_MAX / 2);
    VV_TRY(VV_SCRATCH_RESERVE(cut->scratch, &cut->edges, &cut->edge_capacity, cut->edge_count + 2,
                              error));
    link(cut, from, to, capacity);
    link(cut, to, from, 0);
    return VARVE_OK;
}

/* Numbers the points by their distance from `from` along edges that have capacity left, or, with
 * `is_reverse`, by that to `from`. */
static void number(struct vv_cut *cut, uint32_t from, bool is_reverse)
{
    uint32_t head = 0, tail = 0;
    memset(cut->level, 0xff, cut->points * sizeof *cut->level);
    cut->level[from] = 0;
    cut->queue[tail++] = from;
    while (head < tail) {
        uint32_t point = cut->queue[head++];
        for (uint32_t e = cut->first[point]; e != 0; e = cut->edges[e - 1].next) {
            uint32_t along = is_reverse ? (e - 1) ^ 1 : e - 1;
            uint32_t to = cut->edges[e - 1].to;
            if (cut->edges[along].left > 0 && cut->level[to] == UINT32_MAX) {
                cut->level[to] = cut->level[point] + 1;
                cut->queue[tail++] = to;
            }
        }
    }
}

/* Sends what fits along one shortest way, which is kept as edges in `queue`. 0: there is none. */
static int64_t send(struct vv_cut *cut, uint32_t first, uint32_t second)
{
    uint32_t depth = 0, at = first;
    while (at != second) {
        uint32_t e = cut->arc[at];
        while (e != 0 && (cut->edges[e - 1].left == 0 ||
                          cut->level[cut->edges[e - 1].to] != cut->level[at] + 1))
            e = cut->edges[e - 1].next;
        cut->arc[at] = e;
        if (e != 0) {
            cut->queue[depth++] = e - 1;
            at = cut->edges[e - 1].to;
        } else if (depth == 0) {
            return 0;
        } else { /* a dead end: never again in this round */
            cut->level[at] = UINT32_MAX;
            at = cut->edges[cut->queue[--depth] ^ 1].to;
        }
    }
    int64_t fits = VV_CUT_NEVER;
    for (uint32_t i = 0; i < depth; i++)
        if (cut->edges[cut->queue[i]].left < fits)
            fits = cut->edges[cut->queue[i]].left;
    for (uint32_t i = 0; i < depth; i++) {
        cut->edges[cut->queue[i]].left -= fits;
        cut->edges[cut->queue[i] ^ 1].left += fits;
    }
    return fits;
}

int64_t vv_cut_solve(struct vv_cut *cut, uint32_t first, uint32_t second, bool *on_second)
{
    int64_t cost = 0;
    for (;;) {
        number(cut, first, false);
        if (cut->level[second] == UINT32_MAX)
            break;
        memcpy(cut->arc, cut->first, cut->points * sizeof *cut->arc);
        for (int64_t sent; (sent = send(cut, first, second)) > 0;)
            cost += sent;
    }
    number(cut, second, true);
    for (uint32_t point = 0; point < cut->points; point++)
        on_second[point] = cut->level[point] != UINT32_MAX;
    return cost;
}

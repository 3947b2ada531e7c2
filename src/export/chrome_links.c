/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "export/chrome.h"

uint32_t vv_chrome_enclosing(const struct vv_model *model, uint32_t track, int64_t time_ns)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t after = VV_FIRST_NOT(i, 0, slices->table.count, slices->track[i] < track ||
                                  (slices->track[i] == track && slices->begin_ns[i] <= time_ns));
    if (after == 0 || slices->track[after - 1] != track)
        return VV_NONE;
    uint32_t row = after - 1;
    while (row != VV_NONE && slices->begin_ns[row] + slices->duration_ns[row] < time_ns)
        row = slices->parent[row];
    return row;
}

/* An operator with a sequence number. Ordered by (process, sequence, forward thread, time). */
struct numbered {
    uint32_t process, slice;
    int64_t sequence, begin_ns;
    uint64_t forward_tid;
    bool backward;
};

static int in_order(const void *a, const void *b)
{
    const struct numbered *left = a, *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    if (left->sequence != right->sequence)
        return left->sequence < right->sequence ? -1 : 1;
    if (left->forward_tid != right->forward_tid)
        return left->forward_tid < right->forward_tid ? -1 : 1;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    return (left->slice > right->slice) - (left->slice < right->slice);
}

static struct numbered describe(const struct vv_model *model, uint32_t slice)
{
    uint32_t op = model->slices.op[slice], track = model->slices.track[slice];
    bool backward = model->ops.forward_tid[op] != 0;
    return (struct numbered){
        .process = model->tracks.process[track],
        .slice = slice,
        .sequence = model->ops.sequence[op],
        .begin_ns = model->slices.begin_ns[slice],
        .forward_tid = backward ? model->ops.forward_tid[op] : (uint64_t)model->tracks.tid[track],
        .backward = backward,
    };
}

static bool is_same(const struct numbered *a, const struct numbered *b)
{
    return a->process == b->process && a->sequence == b->sequence && a->forward_tid == b->forward_tid;
}

/* Of backward operators in each other the innermost: the engine's range has the numbers of what it runs. */
static const struct numbered *innermost(const struct vv_model *model, const struct numbered *to,
                                        const struct numbered *end)
{
    while (to + 1 < end && is_same(to, to + 1) && model->slices.parent[to[1].slice] == to->slice)
        to++;
    return to;
}

enum varve_code vv_chrome_backward_links(const struct vv_model *model,
                                         struct vv_chrome_links *out_links, struct varve_error *error)
{
    const struct vv_slices *slices = &model->slices;
    struct numbered *ops = NULL;
    size_t count = 0, capacity = 0;
    enum varve_code code = VARVE_OK;
    *out_links = (struct vv_chrome_links){ 0 };
    for (uint32_t row = 0; row < slices->table.count && code == VARVE_OK; row++) {
        if (slices->op[row] == VV_NONE || model->ops.sequence[slices->op[row]] < 0)
            continue;
        code = vv_array_reserve(&ops, &capacity, count + 1, sizeof *ops, error);
        if (code == VARVE_OK)
            ops[count++] = describe(model, row);
    }
    if (code == VARVE_OK && count > 0)
        qsort(ops, count, sizeof *ops, in_order);
    for (size_t i = 1; i < count && code == VARVE_OK; i++) {
        const struct numbered *from = &ops[i - 1], *to = &ops[i];
        if (from->backward || !to->backward || !is_same(from, to))
            continue;
        to = innermost(model, to, ops + count);
        code = vv_array_reserve(&out_links->links, &out_links->capacity, out_links->count + 1,
                                sizeof *out_links->links, error);
        if (code == VARVE_OK)
            out_links->links[out_links->count++] = (struct vv_chrome_link){ from->slice, to->slice };
    }
    free(ops);
    return code;
}

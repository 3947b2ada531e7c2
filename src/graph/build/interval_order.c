/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/build/interval_order.h"

#include "base/radix.h"

struct sweep {
    const struct vv_interval *items;
    size_t count, ended;            /* of by_end, those that have ended                          */
    struct vv_keyed_row *by_begin, *by_end;
    uint32_t *level, *before;
    uint32_t best;                  /* of those that have ended: the one of the highest level    */
};

static enum varve_code sort(struct sweep *sweep, struct vv_scratch *scratch,
                            struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &sweep->by_begin, sweep->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &sweep->by_end, sweep->count, error));
    for (size_t i = 0; i < sweep->count; i++) { /* keeps the order of signed numbers */
        uint64_t sign = UINT64_C(1) << 63;
        sweep->by_begin[i] =
            (struct vv_keyed_row){ (uint64_t)sweep->items[i].begin_ns ^ sign, (uint32_t)i };
        sweep->by_end[i] =
            (struct vv_keyed_row){ (uint64_t)sweep->items[i].end_ns ^ sign, (uint32_t)i };
    }
    VV_TRY(vv_radix_sort(sweep->by_begin, sweep->count, error));
    return vv_radix_sort(sweep->by_end, sweep->count, error);
}

static void take_ended(struct sweep *sweep, uint32_t item)
{
    if (sweep->best == UINT32_MAX || sweep->level[item] >= sweep->level[sweep->best])
        sweep->best = item;
}

static void place(struct sweep *sweep, uint32_t item, uint32_t before)
{
    sweep->before[item] = before;
    sweep->level[item] = before != UINT32_MAX ? sweep->level[before] + 1 : 0;
}

/* Places those that begin at one instant, by_begin[first, last). Those without a duration come
 * before the others. */
static void place_group(struct sweep *sweep, size_t first, size_t last)
{
    int64_t now_ns = sweep->items[sweep->by_begin[first].row].begin_ns;
    for (; sweep->ended < sweep->count; sweep->ended++) {
        const struct vv_interval *item = &sweep->items[sweep->by_end[sweep->ended].row];
        if (item->end_ns > now_ns)
            break;
        if (item->begin_ns < now_ns)
            take_ended(sweep, sweep->by_end[sweep->ended].row);
    }
    uint32_t before = sweep->best;
    for (size_t i = first; i < last; i++) {
        uint32_t item = sweep->by_begin[i].row;
        if (sweep->items[item].end_ns > now_ns)
            continue;
        place(sweep, item, before);
        take_ended(sweep, item);
    }
    for (size_t i = first; i < last; i++)
        if (sweep->items[sweep->by_begin[i].row].end_ns > now_ns)
            place(sweep, sweep->by_begin[i].row, sweep->best);
}

enum varve_code vv_interval_order(const struct vv_interval *items, size_t count,
                                  uint32_t *out_level, uint32_t *out_before,
                                  struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct sweep sweep = { .items = items, .count = count, .level = out_level,
                           .before = out_before, .best = UINT32_MAX };
    enum varve_code code = sort(&sweep, &scratch, error);
    for (size_t first = 0, last; code == VARVE_OK && first < count; first = last) {
        for (last = first + 1;
             last < count && sweep.by_begin[last].key == sweep.by_begin[first].key; last++)
            ;
        place_group(&sweep, first, last);
    }
    vv_scratch_deinit(&scratch);
    return code;
}

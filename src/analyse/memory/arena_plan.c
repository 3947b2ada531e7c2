/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory/arena_plan.h"

#include <stdlib.h>

static int compare_sizes(const void *a, const void *b, void *context)
{
    const struct vv_allocation *items = context;
    uint32_t left = ((const struct vv_placement *)a)->allocation,
             right = ((const struct vv_placement *)b)->allocation;
    if (items[left].bytes != items[right].bytes)
        return items[left].bytes > items[right].bytes ? -1 : 1;
    return (left > right) - (left < right);
}

/* The offset of the smallest gap that `item` fits in, between those of placed[0..count) that live
 * at the same time as `item`. `placed` is in order of offset. If no gap fits, the end of the last
 * of them. */
static int64_t best_gap(const struct vv_allocation *items, const struct vv_placement *placed,
                        size_t count, const struct vv_allocation *item)
{
    int64_t free_from = 0, best = -1, best_bytes = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct vv_allocation *other = &items[placed[i].allocation];
        if (other->begin_ns >= item->end_ns || item->begin_ns >= other->end_ns)
            continue;
        int64_t gap_bytes = placed[i].offset_bytes - free_from,
                end_bytes = placed[i].offset_bytes + other->bytes;
        if (gap_bytes >= item->bytes && gap_bytes < best_bytes) {
            best = free_from;
            best_bytes = gap_bytes;
        }
        free_from = end_bytes > free_from ? end_bytes : free_from;
    }
    return best >= 0 ? best : free_from;
}

/* `placed` has room for all placements. */
static void place(const struct vv_allocation *items, struct vv_arena_plan *plan,
                  struct vv_placement *placed)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct vv_allocation *item = &items[plan->placements[i].allocation];
        int64_t offset = best_gap(items, placed, i, item);
        size_t at = i;
        for (; at > 0 && placed[at - 1].offset_bytes > offset; at--)
            placed[at] = placed[at - 1];
        plan->placements[i].offset_bytes = offset;
        placed[at] = plan->placements[i];
        plan->bytes = offset + item->bytes > plan->bytes ? offset + item->bytes : plan->bytes;
    }
}

/* The live memory is largest at the begin of one of the placed allocations. */
static int64_t live_peak(const struct vv_allocation *items, const struct vv_arena_plan *plan)
{
    int64_t most_bytes = 0;
    for (size_t i = 0; i < plan->count; i++) {
        int64_t at_ns = items[plan->placements[i].allocation].begin_ns, live_bytes = 0;
        for (size_t j = 0; j < plan->count; j++) {
            const struct vv_allocation *other = &items[plan->placements[j].allocation];
            live_bytes += other->begin_ns <= at_ns && at_ns < other->end_ns ? other->bytes : 0;
        }
        most_bytes = live_bytes > most_bytes ? live_bytes : most_bytes;
    }
    return most_bytes;
}

enum varve_code vv_arena_plan(const struct vv_allocations *allocations, uint32_t pool,
                              struct vv_arena_plan *out_plan, struct varve_error *error)
{
    const struct vv_pool *from = &allocations->pools[pool];
    size_t most = from->last - from->first;
    struct vv_scratch *scratch = allocations->scope->scratch;
    struct vv_placement *placed;
    *out_plan = (struct vv_arena_plan){ 0 };
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_plan->placements, most, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &placed, most, error));
    for (size_t i = from->first; i < from->last; i++)
        if (allocations->items[i].begin_ns < allocations->items[i].end_ns)
            out_plan->placements[out_plan->count++].allocation = (uint32_t)i;
    qsort_r(out_plan->placements, out_plan->count, sizeof *out_plan->placements, compare_sizes,
            allocations->items);
    if (out_plan->count > VV_ARENA_PLAN_MOST)
        out_plan->count = VV_ARENA_PLAN_MOST;
    place(allocations->items, out_plan, placed);
    out_plan->live_peak_bytes = live_peak(allocations->items, out_plan);
    vv_scratch_release(scratch, placed);
    return VARVE_OK;
}

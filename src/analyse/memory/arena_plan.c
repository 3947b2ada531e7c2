/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory/arena_plan.h"

#include "base/radix.h"

#define BLOCK 64 /* so many placements are looked at before the search may end                   */

/* A placed allocation, by offset: what the search for a gap reads, close together. */
struct placed {
    int64_t begin_ns, end_ns, offset_bytes, end_bytes;
};

/* Which of placed[0..count) live at the same time as `item`. No branch depends on the answer, which
 * follows no pattern. */
static size_t list_neighbours(const struct placed *placed, size_t count,
                              const struct vv_allocation *item, const struct placed **out)
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        out[listed] = &placed[i];
        listed += (placed[i].begin_ns < item->end_ns) & (item->begin_ns < placed[i].end_ns);
    }
    return listed;
}

/* The offset of the smallest gap that `item` fits in, between those of placed[0..count) that live
 * at the same time as `item`. `placed` is in order of offset. If no gap fits, the end of the last
 * of them. */
static int64_t best_gap(const struct placed *placed, size_t count, const struct vv_allocation *item)
{
    const struct placed *neighbours[BLOCK];
    int64_t free_from = 0, best = -1, best_bytes = INT64_MAX;
    for (size_t first = 0; first < count && best_bytes > item->bytes; first += BLOCK) {
        size_t left = count - first;
        size_t listed =
            list_neighbours(placed + first, left < BLOCK ? left : BLOCK, item, neighbours);
        for (size_t i = 0; i < listed && best_bytes > item->bytes; i++) {
            int64_t gap_bytes = neighbours[i]->offset_bytes - free_from,
                    end_bytes = neighbours[i]->end_bytes;
            if (gap_bytes >= item->bytes && gap_bytes < best_bytes) {
                best = free_from;
                best_bytes = gap_bytes;
            }
            free_from = end_bytes > free_from ? end_bytes : free_from;
        }
    }
    return best >= 0 ? best : free_from;
}

/* `placed` has room for all placements. */
static void place(const struct vv_allocation *items, struct vv_arena_plan *plan,
                  struct placed *placed)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct vv_allocation *item = &items[plan->placements[i].allocation];
        int64_t offset = best_gap(placed, i, item), end_bytes = offset + item->bytes;
        size_t at = i;
        for (; at > 0 && placed[at - 1].offset_bytes > offset; at--)
            placed[at] = placed[at - 1];
        plan->placements[i].offset_bytes = offset;
        placed[at] = (struct placed){ item->begin_ns, item->end_ns, offset, end_bytes };
        plan->bytes = end_bytes > plan->bytes ? end_bytes : plan->bytes;
    }
}

/* The most that is live at once. Releases count before allocations of the same instant: their keys
 * stand first, and the sort is stable. `keys` has room for two of each placement. */
static enum varve_code find_live_peak(const struct vv_allocation *items, struct vv_arena_plan *plan,
                                      struct vv_keyed_row *keys, struct varve_error *error)
{
    int64_t live_bytes = 0;
    size_t count = plan->count;
    for (size_t i = 0; i < count; i++) {
        const struct vv_allocation *item = &items[plan->placements[i].allocation];
        keys[i] = (struct vv_keyed_row){ (uint64_t)item->end_ns ^ UINT64_C(1) << 63, (uint32_t)i };
        keys[count + i] = (struct vv_keyed_row){ (uint64_t)item->begin_ns ^ UINT64_C(1) << 63,
                                                 (uint32_t)(count + i) };
    }
    VV_TRY(vv_radix_sort(keys, 2 * count, error));
    for (size_t k = 0; k < 2 * count; k++) {
        bool is_begin = keys[k].row >= count;
        int64_t bytes =
            items[plan->placements[is_begin ? keys[k].row - count : keys[k].row].allocation].bytes;
        live_bytes += is_begin ? bytes : -bytes;
        plan->live_peak_bytes =
            live_bytes > plan->live_peak_bytes ? live_bytes : plan->live_peak_bytes;
    }
    return VARVE_OK;
}

/* The largest first; of equal ones the one that stands first. */
static enum varve_code choose(const struct vv_allocations *allocations, const struct vv_pool *pool,
                              struct vv_keyed_row *keys, struct vv_arena_plan *plan,
                              struct varve_error *error)
{
    size_t count = 0;
    for (size_t i = pool->first; i < pool->last; i++)
        if (allocations->items[i].begin_ns < allocations->items[i].end_ns)
            keys[count++] = (struct vv_keyed_row){
                ~((uint64_t)allocations->items[i].bytes ^ UINT64_C(1) << 63), (uint32_t)i
            };
    VV_TRY(vv_radix_sort(keys, count, error));
    plan->count = count < VV_ARENA_PLAN_MOST ? count : VV_ARENA_PLAN_MOST;
    VV_TRY(VV_SCRATCH_ARRAY(allocations->scope->scratch, &plan->placements, plan->count, error));
    for (size_t i = 0; i < plan->count; i++)
        plan->placements[i] = (struct vv_placement){ keys[i].row, 0 };
    return VARVE_OK;
}

static enum varve_code make_plan(const struct vv_allocations *allocations,
                                 const struct vv_pool *pool, struct vv_scratch *own,
                                 struct vv_arena_plan *plan, struct varve_error *error)
{
    struct vv_keyed_row *keys;
    struct placed *placed;
    size_t most = pool->last - pool->first;
    VV_TRY(VV_SCRATCH_ARRAY(own, &keys, 2 * most, error));
    VV_TRY(choose(allocations, pool, keys, plan, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &placed, plan->count, error));
    place(allocations->items, plan, placed);
    return find_live_peak(allocations->items, plan, keys, error);
}

enum varve_code vv_arena_plan(const struct vv_allocations *allocations, uint32_t pool,
                              struct vv_arena_plan *out_plan, struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    *out_plan = (struct vv_arena_plan){ 0 };
    enum varve_code code =
        make_plan(allocations, &allocations->pools[pool], &own, out_plan, error);
    vv_scratch_deinit(&own);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory/arena_plan.h"

#include <endian.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/radix.h"

#define BLOCK 64u /* so many placements are looked at at once */
_Static_assert(2 * VV_ARENA_PLAN_MOST < INT16_MAX, "ranks of times are of 16 bits");

/* The placed allocations in order of offset, in arrays that have room for BLOCK more. A time is its
 * rank among all times of the plan. After the last one, `begins` are INT16_MAX: they never live. */
struct placed {
    int16_t *begins, *ends;
    int64_t *offsets_bytes, *ends_bytes;
    size_t count;
};

/* Which of BLOCK allocations live at the same time as one of [begin, end): bit i is the ith. No
 * branch depends on the answer, which follows no pattern. */
static uint64_t find_neighbours(const int16_t *restrict begins, const int16_t *restrict ends,
                                int16_t begin, int16_t end)
{
    uint8_t lives[BLOCK];
    uint64_t bits = 0, eight;
    for (unsigned i = 0; i < BLOCK; i++)
        lives[i] = (begins[i] < end) & (begin < ends[i]);
    for (unsigned i = 0; i < BLOCK; i += 8) { /* byte k of `eight` is 0 or 1, and becomes bit k   */
        memcpy(&eight, lives + i, sizeof eight);
        bits |= (le64toh(eight) * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    return bits;
}

/* The offset of the smallest gap that `bytes` fit in, between those of `placed` that live at the
 * same time. If no gap fits, the end of the last of them. */
static int64_t best_gap(const struct placed *placed, int64_t bytes, int16_t begin, int16_t end)
{
    int64_t free_from = 0, best = -1, best_bytes = INT64_MAX;
    for (size_t first = 0; first < placed->count && best_bytes > bytes; first += BLOCK) {
        uint64_t live =
            find_neighbours(placed->begins + first, placed->ends + first, begin, end);
        for (; live != 0 && best_bytes > bytes; live &= live - 1) {
            size_t i = first + (size_t)__builtin_ctzll(live);
            int64_t gap_bytes = placed->offsets_bytes[i] - free_from;
            if (gap_bytes >= bytes && gap_bytes < best_bytes) {
                best = free_from;
                best_bytes = gap_bytes;
            }
            if (placed->ends_bytes[i] > free_from)
                free_from = placed->ends_bytes[i];
        }
    }
    return best >= 0 ? best : free_from;
}

#define INSERT(array, at, count, value)                                                \
    do {                                                                               \
        memmove((array) + (at) + 1, (array) + (at), ((count) - (at)) * sizeof *(array)); \
        (array)[at] = (value);                                                         \
    } while (0)

static void place(const struct vv_allocation *items, struct vv_arena_plan *plan,
                  struct placed *placed, const int16_t *ranks)
{
    for (size_t i = 0; i < plan->count; i++) {
        int64_t bytes = items[plan->placements[i].allocation].bytes;
        int16_t begin = ranks[2 * i], end = ranks[2 * i + 1];
        int64_t offset_bytes = best_gap(placed, bytes, begin, end),
                end_bytes = offset_bytes + bytes;
        size_t at = VV_FIRST_NOT(k, 0, placed->count, placed->offsets_bytes[k] <= offset_bytes);
        INSERT(placed->begins, at, placed->count, begin);
        INSERT(placed->ends, at, placed->count, end);
        INSERT(placed->offsets_bytes, at, placed->count, offset_bytes);
        INSERT(placed->ends_bytes, at, placed->count, end_bytes);
        placed->count++;
        plan->placements[i].offset_bytes = offset_bytes;
        plan->bytes = end_bytes > plan->bytes ? end_bytes : plan->bytes;
    }
}

/* Ranks the times, and finds the most that is live at once. Releases count before allocations of
 * the same instant: their keys stand first, and the sort is stable. `keys` has room for two of each
 * placement; out_ranks[2 * i] is of the begin of placement i, and the next of its end. */
static enum varve_code sweep(const struct vv_allocation *items, struct vv_arena_plan *plan,
                             struct vv_keyed_row *keys, int16_t *out_ranks,
                             struct varve_error *error)
{
    int64_t live_bytes = 0;
    int16_t rank = 0;
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
        size_t i = is_begin ? keys[k].row - count : keys[k].row;
        int64_t bytes = items[plan->placements[i].allocation].bytes;
        rank = (int16_t)(rank + (k > 0 && keys[k].key != keys[k - 1].key));
        out_ranks[2 * i + !is_begin] = rank;
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
    struct placed placed = { 0 };
    int16_t *ranks;
    size_t most = pool->last - pool->first;
    VV_TRY(VV_SCRATCH_ARRAY(own, &keys, 2 * most, error));
    VV_TRY(choose(allocations, pool, keys, plan, error));
    size_t room = plan->count + BLOCK;
    VV_TRY(VV_SCRATCH_ARRAY(own, &ranks, 2 * plan->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &placed.begins, room, error));
    VV_TRY(VV_SCRATCH_ZEROS(own, &placed.ends, room, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &placed.offsets_bytes, room, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &placed.ends_bytes, room, error));
    for (size_t i = 0; i < room; i++)
        placed.begins[i] = INT16_MAX;
    VV_TRY(sweep(allocations->items, plan, keys, ranks, error));
    place(allocations->items, plan, &placed, ranks);
    return VARVE_OK;
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

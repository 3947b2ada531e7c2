/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory/plan_sweep.h"

#include <stdlib.h>

#include "base/binary_search.h"

/* True if the buffer has a place and a size. */
static bool is_placed(const struct vv_placements *rows, uint32_t row)
{
    return rows->offset_bytes[row] >= 0 && rows->bytes[row] > 0;
}

static uint64_t begin_of(const struct vv_placements *rows, uint32_t row)
{
    return (uint64_t)rows->offset_bytes[row];
}

static uint64_t end_of(const struct vv_placements *rows, uint32_t row)
{
    return (uint64_t)rows->offset_bytes[row] + (uint64_t)rows->bytes[row];
}

bool vv_plan_shares(const struct vv_placements *rows, uint32_t a, uint32_t b)
{
    return is_placed(rows, a) && is_placed(rows, b) && begin_of(rows, a) < end_of(rows, b) &&
           begin_of(rows, b) < end_of(rows, a);
}

/* ---- how many begins or ends there are up to a place ---- */

static void change(uint32_t *tree, size_t size, size_t place, uint32_t by)
{
    for (size_t i = place + 1; i <= size; i += i & -i)
        tree[i] += by;
}

/* The sum over the first `places` places. */
static uint32_t count(const uint32_t *tree, size_t places)
{
    uint32_t sum = 0;
    for (size_t i = places; i > 0; i -= i & -i)
        sum += tree[i];
    return sum;
}

static size_t places_below(const uint64_t *places, size_t size, uint64_t at)
{
    return VV_FIRST_NOT(i, 0, size, places[i] < at);
}

static void add(struct vv_plan_sweep *sweep, uint32_t row, bool is_there)
{
    const uint64_t *begins = sweep->places, *ends = sweep->places + sweep->placed;
    uint32_t by = is_there ? 1 : UINT32_MAX;
    if (!is_placed(sweep->rows, row))
        return;
    change(sweep->begins, sweep->placed,
           places_below(begins, sweep->placed, begin_of(sweep->rows, row)), by);
    change(sweep->ends, sweep->placed, places_below(ends, sweep->placed, end_of(sweep->rows, row)),
           by);
}

/* The number of live buffers that begin before the row's end, minus those that end at its begin or
 * before. */
static uint32_t conflicts_with(const struct vv_plan_sweep *sweep, uint32_t row)
{
    const uint64_t *begins = sweep->places, *ends = sweep->places + sweep->placed;
    if (!is_placed(sweep->rows, row))
        return 0;
    return count(sweep->begins, places_below(begins, sweep->placed, end_of(sweep->rows, row))) -
           count(sweep->ends, places_below(ends, sweep->placed, begin_of(sweep->rows, row) + 1));
}

/* ---- in order ---- */

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static int compare_last_uses(const void *a, const void *b, void *context)
{
    const struct vv_placements *rows = context;
    int64_t left = rows->last_use[*(const uint32_t *)a],
            right = rows->last_use[*(const uint32_t *)b];
    return (left > right) - (left < right);
}

static void order(struct vv_plan_sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++) {
        sweep->by_last[i] = sweep->order[i];
        sweep->placed += is_placed(sweep->rows, sweep->order[i]);
    }
    qsort_r(sweep->by_last, sweep->count, sizeof *sweep->by_last, compare_last_uses,
            (void *)sweep->rows);
    for (size_t i = 0, at = 0; i < sweep->count; i++) {
        if (!is_placed(sweep->rows, sweep->order[i]))
            continue;
        sweep->places[at] = begin_of(sweep->rows, sweep->order[i]);
        sweep->places[sweep->placed + at++] = end_of(sweep->rows, sweep->order[i]);
    }
    qsort(sweep->places, sweep->placed, sizeof *sweep->places, compare_numbers);
    qsort(sweep->places + sweep->placed, sweep->placed, sizeof *sweep->places, compare_numbers);
}

enum varve_code vv_plan_sweep_init(struct vv_plan_sweep *out_sweep,
                                   const struct vv_placements *rows, const uint32_t *by_first,
                                   size_t buffers, struct vv_scratch *scratch,
                                   struct varve_error *error)
{
    *out_sweep = (struct vv_plan_sweep){ .rows = rows, .order = by_first, .count = buffers };
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_sweep->by_last, buffers, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_sweep->places, buffers * 2, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_sweep->begins, buffers + 2, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_sweep->ends, buffers + 2, error));
    order(out_sweep);
    return VARVE_OK;
}

/* Every buffer begins before it ends: its first use is not after its last. */
bool vv_plan_sweep_next(struct vv_plan_sweep *sweep, uint32_t *out_row, uint32_t *out_conflicts)
{
    if (sweep->next == sweep->count)
        return false;
    *out_row = sweep->order[sweep->next++];
    int64_t now = sweep->rows->first_use[*out_row];
    for (;
         sweep->gone + 1 < sweep->next && sweep->rows->last_use[sweep->by_last[sweep->gone]] < now;
         sweep->gone++) {
        sweep->live_bytes -= (uint64_t)sweep->rows->bytes[sweep->by_last[sweep->gone]];
        add(sweep, sweep->by_last[sweep->gone], false);
    }
    *out_conflicts = conflicts_with(sweep, *out_row);
    sweep->live_bytes += (uint64_t)sweep->rows->bytes[*out_row];
    add(sweep, *out_row, true);
    return true;
}

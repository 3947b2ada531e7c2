/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of one arena is what its definition says, found here by trying every gap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/memory/arena_plan.h"

enum { MOST = 500 };

static uint64_t drawn = 1;

static int64_t draw(int64_t below)
{
    drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int64_t)(drawn >> 33) % below;
}

static bool are_together(const struct vv_allocation *a, const struct vv_allocation *b)
{
    return a->begin_ns < b->end_ns && b->begin_ns < a->end_ns;
}

/* Is [offset, offset + bytes) free of those of placements [0, count) that live with `item`? */
static bool is_free(const struct vv_allocation *items, const struct vv_arena_plan *plan,
                    size_t count, const struct vv_allocation *item, int64_t offset_bytes)
{
    for (size_t i = 0; i < count; i++) {
        const struct vv_allocation *other = &items[plan->placements[i].allocation];
        int64_t from_bytes = plan->placements[i].offset_bytes;
        if (are_together(item, other) && offset_bytes < from_bytes + other->bytes &&
            from_bytes < offset_bytes + item->bytes)
            return false;
    }
    return true;
}

/* The bytes from `offset` to the next placed allocation that lives with `item`. */
static int64_t gap_at(const struct vv_allocation *items, const struct vv_arena_plan *plan,
                      size_t count, const struct vv_allocation *item, int64_t offset_bytes)
{
    int64_t gap_bytes = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t from_bytes = plan->placements[i].offset_bytes - offset_bytes;
        if (are_together(item, &items[plan->placements[i].allocation]) && from_bytes >= 0 &&
            from_bytes < gap_bytes)
            gap_bytes = from_bytes;
    }
    return gap_bytes;
}

/* The lowest offset of those in the smallest gap: a gap begins at 0, or where something ends. */
static int64_t best_offset(const struct vv_allocation *items, const struct vv_arena_plan *plan,
                           size_t count)
{
    const struct vv_allocation *item = &items[plan->placements[count].allocation];
    int64_t best_bytes = INT64_MAX, best = -1;
    for (size_t i = 0; i <= count; i++) {
        const struct vv_placement *before = i > 0 ? &plan->placements[i - 1] : NULL;
        if (before != NULL && !are_together(item, &items[before->allocation]))
            continue;
        int64_t offset_bytes =
            before == NULL ? 0 : before->offset_bytes + items[before->allocation].bytes;
        if (!is_free(items, plan, count, item, offset_bytes))
            continue;
        int64_t gap_bytes = gap_at(items, plan, count, item, offset_bytes);
        if (gap_bytes < best_bytes || best < 0 ||
            (gap_bytes == best_bytes && offset_bytes < best)) {
            best = offset_bytes;
            best_bytes = gap_bytes;
        }
    }
    return best;
}

static int64_t live_bytes(const struct vv_allocation *items, size_t count, int64_t at_ns)
{
    int64_t sum_bytes = 0;
    for (size_t i = 0; i < count; i++)
        sum_bytes += items[i].begin_ns <= at_ns && at_ns < items[i].end_ns ? items[i].bytes : 0;
    return sum_bytes;
}

static void check_plan(size_t count, int64_t instants, int64_t sizes)
{
    static struct vv_allocation items[MOST];
    struct vv_scratch scratch = { 0 };
    const struct vv_scope scope = { .scratch = &scratch };
    const struct vv_pool pool = { .first = 0, .last = count };
    const struct vv_allocations all = { .scope = &scope, .items = items, .count = count,
                                        .pools = &pool, .pool_count = 1 };
    int64_t end_bytes = 0, peak_bytes = 0;
    struct vv_arena_plan plan;
    for (size_t i = 0; i < count; i++) {
        int64_t begin_ns = draw(10) == 0 ? INT64_MIN : draw(instants);
        int64_t end_ns = draw(10) == 0 ? INT64_MAX : draw(instants) + 1;
        items[i] = (struct vv_allocation){ begin_ns < end_ns ? begin_ns : end_ns - 1, end_ns,
                                           (1 + draw(sizes)) * 512, 0, VV_NONE, VV_NONE };
    }
    assert_int_equal(vv_arena_plan(&all, 0, &plan, NULL), VARVE_OK);
    assert_int_equal(plan.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct vv_allocation *item = &items[plan.placements[i].allocation];
        int64_t at_bytes = plan.placements[i].offset_bytes;
        assert_int_equal(at_bytes, best_offset(items, &plan, i));
        end_bytes = at_bytes + item->bytes > end_bytes ? at_bytes + item->bytes : end_bytes;
        int64_t bytes = live_bytes(items, count, item->begin_ns);
        peak_bytes = bytes > peak_bytes ? bytes : peak_bytes;
    }
    assert_int_equal(plan.bytes, end_bytes);
    assert_int_equal(plan.live_peak_bytes, peak_bytes);
    assert_true(plan.live_peak_bytes <= plan.bytes);
    vv_scratch_deinit(&scratch);
}

static void each_goes_into_the_smallest_gap(void **state)
{
    (void)state;
    static const size_t counts[] = { 0, 1, 2, 63, 64, 65, 127, 128, 129, MOST };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int64_t instants = 3; instants < 3000; instants *= 7)
            for (int64_t sizes = 1; sizes < 100; sizes *= 8)
                check_plan(counts[i], instants, sizes);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_goes_into_the_smallest_gap) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

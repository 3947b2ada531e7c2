/* SPDX-License-Identifier: Apache-2.0 */
/* The order of intervals, against its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/build/interval_order.h"

#define MOST 40

static bool comes_before(const struct vv_interval *a, const struct vv_interval *b)
{
    return a->end_ns <= b->begin_ns && b->end_ns > a->begin_ns;
}

/* The longest chain before the item, by trying all. */
static uint32_t longest(const struct vv_interval *items, uint32_t count, uint32_t item,
                        uint32_t *known)
{
    if (known[item] != UINT32_MAX)
        return known[item];
    known[item] = 0;
    for (uint32_t other = 0; other < count; other++)
        if (comes_before(&items[other], &items[item])) {
            uint32_t length = longest(items, count, other, known) + 1;
            known[item] = length > known[item] ? length : known[item];
        }
    return known[item];
}

static void any_intervals(void **state)
{
    (void)state;
    srand(2);
    for (int round = 0; round < 5000; round++) {
        struct vv_interval items[MOST];
        uint32_t level[MOST], before[MOST], known[MOST], count = (uint32_t)rand() % (MOST + 1);
        int span = 1 + rand() % 50, most = 1 + rand() % 20;
        for (uint32_t i = 0; i < count; i++) {
            items[i].begin_ns = rand() % span - 7;
            items[i].end_ns = items[i].begin_ns + (rand() % 3 == 0 ? 0 : rand() % most);
            known[i] = UINT32_MAX;
        }
        assert_int_equal(vv_interval_order(items, count, level, before, NULL), VARVE_OK);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(level[i], longest(items, count, i, known));
            assert_int_equal(before[i] == UINT32_MAX, level[i] == 0);
            if (before[i] == UINT32_MAX)
                continue;
            assert_true(comes_before(&items[before[i]], &items[i]));
            assert_int_equal(level[before[i]] + 1, level[i]);
            for (uint32_t k = 0; k < count; k++) /* the one that ends latest */
                assert_false(comes_before(&items[k], &items[i]) && level[k] + 1 == level[i] &&
                             items[k].end_ns > items[before[i]].end_ns);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_intervals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

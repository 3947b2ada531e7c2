/* SPDX-License-Identifier: Apache-2.0 */
/* test_radix.c — base/radix.c: sorted by key, equal keys in their order, nothing lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/radix.h"

#define ROWS 3000u

static uint64_t seed = 9;

static uint64_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 8;
}

static void sorted_and_stable(void **state)
{
    (void)state;
    static struct vv_keyed_row rows[ROWS];
    static const uint64_t masks[] = { 0, 0xff, 0xffff00, 0xf000000000000000u, UINT64_MAX, 7 };
    for (size_t mask = 0; mask < sizeof masks / sizeof masks[0]; mask++) {
        uint64_t sum = 0, found = 0;
        for (uint32_t i = 0; i < ROWS; i++) {
            rows[i] = (struct vv_keyed_row){ (draw() << 20 ^ draw()) & masks[mask], i };
            sum += rows[i].key * (i + 1);
        }
        assert_int_equal(vv_radix_sort(rows, ROWS, NULL), VARVE_OK);
        for (uint32_t i = 0; i < ROWS; i++) {
            found += rows[i].key * (rows[i].row + 1);
            if (i > 0)
                assert_true(rows[i - 1].key < rows[i].key ||
                            (rows[i - 1].key == rows[i].key && rows[i - 1].row < rows[i].row));
        }
        assert_int_equal(found, sum);
    }
}

static void few_rows(void **state)
{
    (void)state;
    struct vv_keyed_row two[] = { { 5, 0 }, { 1, 1 } };
    assert_int_equal(vv_radix_sort(two, 0, NULL), VARVE_OK);
    assert_int_equal(vv_radix_sort(two, 1, NULL), VARVE_OK);
    assert_int_equal(two[0].key, 5);
    assert_int_equal(vv_radix_sort(two, 2, NULL), VARVE_OK);
    assert_int_equal(two[0].row, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sorted_and_stable),
                                        cmocka_unit_test(few_rows) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

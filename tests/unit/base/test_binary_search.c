/* SPDX-License-Identifier: Apache-2.0 */
/* Where an order turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/binary_search.h"

static void every_turn_of_every_range_is_found(void **state)
{
    (void)state;
    for (size_t first = 0; first < 9; first++)
        for (size_t last = first; last < 40; last++)
            for (size_t turn = first; turn <= last; turn++)
                assert_int_equal(VV_FIRST_NOT(i, first, last, i < turn), turn);
}

static void of_equals_the_first_or_the_one_behind_them(void **state)
{
    (void)state;
    const int64_t times_ns[] = { -5, 0, 7, 7, 7, 9 };
    assert_int_equal(VV_FIRST_NOT(i, 0, 6, times_ns[i] < 7), 2);
    assert_int_equal(VV_FIRST_NOT(i, 0, 6, times_ns[i] <= 7), 5);
    assert_int_equal(VV_FIRST_NOT(i, 0, 6, times_ns[i] < -5), 0);
    assert_int_equal(VV_FIRST_NOT(i, 0, 6, times_ns[i] <= 9), 6);
}

static void nothing_outside_the_range_is_asked(void **state)
{
    (void)state;
    for (size_t first = 0; first < 6; first++)
        for (size_t last = first; last < 20; last++)
            for (size_t turn = 0; turn < 24; turn++) {
                bool is_outside = false;
                (void)VV_FIRST_NOT(i, first, last,
                                   (is_outside |= i < first || i >= last, i < turn));
                assert_false(is_outside);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_turn_of_every_range_is_found),
        cmocka_unit_test(of_equals_the_first_or_the_one_behind_them),
        cmocka_unit_test(nothing_outside_the_range_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* base/text/duration: the units, by name and by what they divide. Whole durations:
 * settings/test_keep_last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/duration.h"

static void units_are_known_by_their_whole_names(void **state)
{
    (void)state;
    static const struct { const char *name; uint64_t ns; } cases[] = {
        { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
        { "min", UINT64_C(60000000000) },
        { "h", UINT64_C(3600000000000) }, { "", 0 }, { "m", 0 }, { "n", 0 }, { "mins", 0 },
        { "MS", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(vv_time_unit_ns(cases[i].name, strlen(cases[i].name)), cases[i].ns);
    assert_int_equal(vv_time_unit_ns("ms>5", 2), 1000000);
    assert_int_equal(vv_time_unit_ns("min", 1), 0);
}

static void a_time_is_told_in_the_largest_unit_that_divides_it(void **state)
{
    (void)state;
    static const struct { uint64_t ns, count; const char *unit; } cases[] = {
        { 1, 1, "ns" }, { 1001, 1001, "ns" }, { 7000, 7, "us" }, { 500000000, 500, "ms" },
        { UINT64_C(90000000000), 90, "s" }, { UINT64_C(120000000000), 2, "min" },
        { UINT64_C(7200000000000), 2, "h" }, { UINT64_MAX, UINT64_MAX, "ns" }, { 0, 0, "h" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t count = 4711;
        assert_string_equal(vv_time_unit_dividing(cases[i].ns, &count), cases[i].unit);
        assert_int_equal(count, cases[i].count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_known_by_their_whole_names),
        cmocka_unit_test(a_time_is_told_in_the_largest_unit_that_divides_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

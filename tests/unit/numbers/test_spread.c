/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and standard deviation: exact, in any order, also where squares need 128 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "numbers/spread.h"

static void expect(const int64_t *values, size_t count, int64_t mean, int64_t deviation)
{
    struct vv_mean found = vv_mean_of(values, count);
    assert_int_equal(found.mean, mean);
    assert_int_equal(found.deviation, deviation);
}

static void of_a_few(void **state)
{
    (void)state;
    const int64_t eight[] = { 2, 4, 4, 4, 5, 5, 7, 9 }, two[] = { 0, 1 }, same[] = { 7, 7, 7 };
    expect(eight, 8, 5, 2);
    expect(two, 2, 0, 0);  /* 0.5 and 0.5 */
    expect(same, 3, 7, 0);
    expect(same, 1, 7, 0);
}

/* With a sum of plain squares in doubles, the spread of these would be lost: 10^36 has 120 bits. */
static void a_small_spread_about_a_large_mean(void **state)
{
    (void)state;
    const int64_t far = INT64_C(1000000000000000000);
    const int64_t values[] = { far, far + 2, far + 4, far + 6, far + 8 };
    expect(values, 5, far + 4, 2); /* the root of 8 */
}

static void at_the_end_of_int64(void **state)
{
    (void)state;
    const int64_t values[] = { INT64_MAX, 0 };
    expect(values, 2, INT64_MAX / 2, INT64_MAX / 2);
}

static void order_does_not_matter(void **state)
{
    (void)state;
    int64_t values[1000], turned[1000];
    uint64_t drawn = 1;
    for (size_t i = 0; i < 1000; i++) {
        drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
        values[i] = turned[999 - i] = (int64_t)(drawn >> (1 + i % 60));
    }
    struct vv_mean mean = vv_mean_of(values, 1000);
    expect(turned, 1000, mean.mean, mean.deviation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_few),
        cmocka_unit_test(a_small_spread_about_a_large_mean),
        cmocka_unit_test(at_the_end_of_int64),
        cmocka_unit_test(order_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

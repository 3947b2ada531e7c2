/* SPDX-License-Identifier: Apache-2.0 */
/* The interval of a difference of means, where it can be told without a computer: binomial
 * resamples of samples with two values, and Welch's interval of many. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/diff/interval.h"

#define COUNT_OF(array) (sizeof (array) / sizeof *(array))

static const int64_t zeros[64];

static struct vv_difference beside_zeros(const int64_t *values, size_t count)
{
    return vv_difference((struct vv_sample_set){ zeros, count },
                         (struct vv_sample_set){ values, count });
}

/* The mean of three drawn from {0, 0, 3000} is 1000 k, k binomial (3, 1/3): at most 2 in 96.3 % of
 * all draws, so 2.5 % lie at 3 and 5 % do not; of {0, 3000, 3000} the mirror image. */
static void of_few_values_2_5_per_cent_lie_on_either_side(void **state)
{
    (void)state;
    const int64_t low[] = { 0, 0, 3000 }, high[] = { 0, 3000, 3000 };
    struct vv_difference difference = beside_zeros(low, 3);
    assert_true(difference.has_interval);
    assert_true(difference.mean == 1000);
    assert_true(difference.low == 0);
    assert_true(difference.high == 3000);
    difference = beside_zeros(high, 3);
    assert_true(difference.mean == 2000);
    assert_true(difference.low == 0);
    assert_true(difference.high == 3000);
}

/* Five drawn from {0, 0, 0, 0, 5000}: binomial (5, 1/5), at most 2 in 94.2 %, at most 3 in 99.3
 * %. */
static void the_bound_is_not_the_greatest(void **state)
{
    (void)state;
    const int64_t values[] = { 0, 0, 0, 0, 5000 };
    struct vv_difference difference = beside_zeros(values, 5);
    assert_true(difference.high == 3000);
    assert_true(difference.low == 0);
}

static void an_interval_that_holds_nought_is_noise(void **state)
{
    (void)state;
    const struct { int64_t values[3]; bool is_noise; } cases[] = {
        { { 0, 0, 3000 }, true },        /* from 0 */
        { { 0, 0, -3000 }, true },       /* to 0 */
        { { -3000, 0, 3000 }, true },
        { { 1, 1, 3000 }, false },
        { { -1, -1, -3000 }, false },
        { { 5, 5, 5 }, false },
        { { 0, 0, 0 }, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (beside_zeros(cases[i].values, 3).is_noise != cases[i].is_noise)
            fail_msg("case %zu is taken for %s", i, cases[i].is_noise ? "a change" : "noise");
}

/* 64 values, half of them 0 and half of them 2000: the variance is 1000 * 1000 * 64 / 63. */
static void many_values_have_welchs_interval(void **state)
{
    (void)state;
    int64_t values[64];
    for (size_t i = 0; i < 64; i++)
        values[i] = i % 2 == 0 ? 2000 : 0;
    struct vv_difference difference = beside_zeros(values, 64);
    const double width = 1.959964 * sqrt(1000.0 * 1000.0 / 63);
    assert_true(difference.mean == 1000);
    assert_true(fabs(difference.low - (1000 - width)) < 1e-9);
    assert_true(fabs(difference.high - (1000 + width)) < 1e-9);
    assert_false(difference.is_noise);
    struct vv_sample_set set = { values, 64 };
    difference = vv_difference(set, set);
    assert_true(difference.mean == 0);
    assert_true(fabs(difference.high - 1.959964 * sqrt(2 * 1000.0 * 1000.0 / 63)) < 1e-9);
    assert_true(difference.low == -difference.high);
    assert_true(difference.is_noise);
    /* one fewer on either side is resampled: the bounds are means of resamples */
    difference =
        vv_difference((struct vv_sample_set){ zeros, 64 }, (struct vv_sample_set){ values, 63 });
    assert_true(fmod(difference.high * 63, 2000) < 1e-6 ||
                fmod(difference.high * 63, 2000) > 2000 - 1e-6);
}

static void both_sides_are_resampled(void **state)
{
    (void)state;
    const int64_t base[] = { 0, 0, 3000 }, other[] = { 500, 500, 500 };
    struct vv_difference difference =
        vv_difference((struct vv_sample_set){ base, 3 }, (struct vv_sample_set){ other, 3 });
    assert_true(difference.mean == -500);
    assert_true(difference.low == 500 - 3000);
    assert_true(difference.high == 500);
    /* the same in every run, on every machine: these bounds were once printed */
    const int64_t first[] = { 31, 41, 59, 26, 53, 58, 97, 93, 23, 84 },
    second[] = { 27, 18, 28, 18, 28, 45, 90, 45, 23, 53 };
    difference =
        vv_difference((struct vv_sample_set){ first, 10 }, (struct vv_sample_set){ second, 10 });
    assert_true(fabs(difference.mean + 19) < 1e-9);
    assert_true(fabs(difference.low + 39.3) < 1e-9 && fabs(difference.high - 2.2) < 1e-9);
}

static void one_value_has_no_interval(void **state)
{
    (void)state;
    const int64_t values[] = { 7, 9 };
    struct vv_difference difference = beside_zeros(values, 1);
    assert_false(difference.has_interval);
    assert_false(difference.is_noise);
    assert_true(difference.mean == 7 && difference.low == 7 && difference.high == 7);
    difference =
        vv_difference((struct vv_sample_set){ zeros, 2 }, (struct vv_sample_set){ values, 1 });
    assert_false(difference.has_interval);
    assert_true(beside_zeros(values, 2).has_interval);
    difference =
        vv_difference((struct vv_sample_set){ NULL, 0 }, (struct vv_sample_set){ values, 2 });
    assert_true(difference.mean == 8 && !difference.has_interval);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_few_values_2_5_per_cent_lie_on_either_side),
        cmocka_unit_test(the_bound_is_not_the_greatest),
        cmocka_unit_test(an_interval_that_holds_nought_is_noise),
        cmocka_unit_test(many_values_have_welchs_interval),
        cmocka_unit_test(both_sides_are_resampled),
        cmocka_unit_test(one_value_has_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

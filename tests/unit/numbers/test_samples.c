/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles: between neighbours, rounded down, exact at the ends of int64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "numbers/pair_ids.h"
#include "numbers/samples.h"

static struct vv_samples samples_of(struct vv_scratch *scratch, const int64_t *values,
                                    size_t count)
{
    struct vv_samples samples = { .scratch = scratch };
    for (size_t i = 0; i < count; i++)
        assert_int_equal(vv_samples_add(&samples, 0, values[i], NULL), VARVE_OK);
    assert_int_equal(vv_samples_sort(&samples, 1, NULL), VARVE_OK);
    return samples;
}

static void percentiles_of_five(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    const int64_t values[] = { 50, 10, 40, 20, 30 };
    struct vv_samples samples = samples_of(&scratch, values, 5);
    assert_int_equal(vv_samples_percentile(&samples, 0, 0), 10);
    assert_int_equal(vv_samples_percentile(&samples, 0, 10), 14);
    assert_int_equal(vv_samples_percentile(&samples, 0, 50), 30);
    assert_int_equal(vv_samples_percentile(&samples, 0, 90), 46);
    assert_int_equal(vv_samples_percentile(&samples, 0, 100), 50);
    vv_scratch_deinit(&scratch);
}

static void median_of_an_even_number_lies_between(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    const int64_t values[] = { 4, 1, 2, 100 };
    struct vv_samples samples = samples_of(&scratch, values, 4);
    assert_int_equal(vv_samples_percentile(&samples, 0, 50), 3);
    vv_scratch_deinit(&scratch);
}

static void one_sample_is_every_percentile(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    const int64_t value = 7;
    struct vv_samples samples = samples_of(&scratch, &value, 1);
    for (unsigned percent = 0; percent <= 100; percent += 10)
        assert_int_equal(vv_samples_percentile(&samples, 0, percent), 7);
    vv_scratch_deinit(&scratch);
}

static void large_differences_do_not_overflow(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    const int64_t values[] = { 0, INT64_MAX };
    struct vv_samples samples = samples_of(&scratch, values, 2);
    assert_int_equal(vv_samples_percentile(&samples, 0, 50), INT64_MAX / 2);
    vv_scratch_deinit(&scratch);
}

static void groups_are_kept_apart_also_empty_ones(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    struct vv_samples samples = { .scratch = &scratch };
    for (int64_t i = 0; i < 3000; i++)
        assert_int_equal(vv_samples_add(&samples, i % 2 == 0 ? 3 : 1, i, NULL), VARVE_OK);
    assert_int_equal(vv_samples_sort(&samples, 5, NULL), VARVE_OK);
    const size_t sizes[] = { 0, 1500, 0, 1500, 0 };
    for (uint32_t group = 0; group < 5; group++)
        assert_int_equal(vv_samples_size(&samples, group), sizes[group]);
    assert_int_equal(vv_samples_percentile(&samples, 1, 0), 1);
    assert_int_equal(vv_samples_percentile(&samples, 1, 100), 2999);
    assert_int_equal(vv_samples_percentile(&samples, 3, 0), 0);
    assert_int_equal(vv_samples_percentile(&samples, 3, 100), 2998);
    vv_scratch_deinit(&scratch);
}

static void group_numbers_are_dense_and_stable(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    struct vv_groups groups = { .scratch = &scratch };
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < 1000; i++) {
            uint32_t group;
            assert_int_equal(vv_groups_add(&groups, i / 10, i % 10, &group, NULL), VARVE_OK);
            assert_int_equal(group, i);
        }
    }
    assert_int_equal(groups.count, 1000);
    assert_int_equal(groups.names[999], 99);
    assert_int_equal(groups.extras[999], 9);
    vv_scratch_deinit(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_of_five),
        cmocka_unit_test(median_of_an_even_number_lies_between),
        cmocka_unit_test(one_sample_is_every_percentile),
        cmocka_unit_test(large_differences_do_not_overflow),
        cmocka_unit_test(groups_are_kept_apart_also_empty_ones),
        cmocka_unit_test(group_numbers_are_dense_and_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

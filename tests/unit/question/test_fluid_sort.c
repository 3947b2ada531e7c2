/* SPDX-License-Identifier: Apache-2.0 */
/* test_fluid_sort.c — question/fluid_sort.c: Fluid's words and the columns' names are the same
 * keys, and no other word is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "question/fluid_sort.h"

static void both_names_of_a_key_are_the_key(void **state)
{
    static const struct { const char *word; enum vv_fluid_sort key; const char *says; } keys[] = {
        { NULL, VV_FLUID_FIRST_END, "event first end time" },
        { "default", VV_FLUID_FIRST_END, "event first end time" },
        { "calls", VV_FLUID_CALLS, "number of calls" },
        { "total", VV_FLUID_TOTAL, "total time" },
        { "total_ns", VV_FLUID_TOTAL, "total time" },
        { "min", VV_FLUID_MIN, "minimum time" },
        { "max_ns", VV_FLUID_MAX, "maximum time" },
        { "ave", VV_FLUID_AVE, "average time" },
        { "cpu", VV_FLUID_CPU, "CPU time" },
        { "gpu_ns", VV_FLUID_GPU, "GPU time" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        enum vv_fluid_sort key;
        assert_int_equal(vv_fluid_sort_find(keys[i].word, &key, NULL), VARVE_OK);
        assert_int_equal(key, keys[i].key);
        assert_string_equal(vv_fluid_sort_says(key), keys[i].says);
    }
}

static void other_words_are_refused(void **state)
{
    static const char *const words[] = { "", "mean", "totals", "tota", "Total" };
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        enum vv_fluid_sort key;
        struct varve_error error = { 0 };
        assert_int_equal(vv_fluid_sort_find(words[i], &key, &error), VARVE_INVALID);
        assert_non_null(strstr(error.message, "default, calls, total, min, max, ave, cpu or gpu"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_names_of_a_key_are_the_key),
        cmocka_unit_test(other_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of counters by GE's names, and codes of one's own. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "settings/metric_groups.h"

static struct vv_hardware_counter counters[VV_HARDWARE_COUNTERS_MAX];
static size_t count;
static struct varve_error error;

static void every_group_has_counters_of_different_names(void **state)
{
    (void)state;
    size_t groups = 0;
    for (; vv_metric_groups[groups] != NULL; groups++) {
        assert_int_equal(vv_metric_group_find(vv_metric_groups[groups], counters, &count, &error),
                         VARVE_OK);
        assert_in_range(count, 2, VV_HARDWARE_COUNTERS_MAX);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(counters[i].name, counters[j].name);
    }
    assert_int_equal(groups, 9); /* GE's enum has eight; its options also know MemoryAccess */
}

static void a_group_is_data(void **state)
{
    (void)state;
    assert_int_equal(vv_metric_group_find("MemoryL0", counters, &count, &error), VARVE_OK);
    assert_int_equal(count, 3);
    assert_string_equal(counters[2].name, "l1_read_misses");
    assert_int_equal(counters[2].type, PERF_TYPE_HW_CACHE);
    assert_int_equal(counters[2].config, 0x10000); /* L1D, read, miss: perf_event_open(2) */
}

static void codes_are_the_processors_own(void **state)
{
    (void)state;
    assert_int_equal(vv_metric_group_find("Custom:0x3c,16", counters, &count, &error), VARVE_OK);
    assert_int_equal(count, 2);
    assert_string_equal(counters[0].name, "event_0x3c");
    assert_int_equal(counters[0].type, PERF_TYPE_RAW);
    assert_int_equal(counters[1].config, 16);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct { const char *name; enum varve_code code; const char *message; } cases[] = {
        { "L2Cashe", VARVE_INVALID,
          "no group of counters is called 'L2Cashe'; nearest: L2Cache" },
        { "Custom:", VARVE_INVALID, "'' is no code of an event, such as 0x3c" },
        { "Custom:0x3c,", VARVE_INVALID, "'' is no code of an event, such as 0x3c" },
        { "Custom:0x3c;1", VARVE_INVALID, "'0x3c;1' is no code of an event, such as 0x3c" },
        { "Custom:-1", VARVE_INVALID, "'-1' is no code of an event, such as 0x3c" },
        { "Custom:1,2,3,4,5", VARVE_LIMIT, "at most 4 codes of events" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(vv_metric_group_find(cases[i].name, counters, &count, &error),
                         cases[i].code);
        assert_string_equal(error.message, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_group_has_counters_of_different_names),
        cmocka_unit_test(a_group_is_data),
        cmocka_unit_test(codes_are_the_processors_own),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What of a disk is left to others: how it is said, and what it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "settings/reserve.h"

#define GB UINT64_C(1000000000)

static void sizes_and_parts(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
        uint32_t percent;
    } known[] = { { "2GB", 2 * GB, 0 }, { "0", 0, 0 },       { "64MiB", 64 << 20, 0 },
                  { "10%", 0, 10 },     { "100 %", 0, 100 }, { "0%", 0, 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct vv_reserve reserve = { 0 };
        assert_int_equal(vv_reserve_parse(known[i].text, &reserve, NULL), VARVE_OK);
        assert_true(reserve.is_said);
        assert_int_equal(reserve.bytes, known[i].bytes);
        assert_int_equal(reserve.percent, known[i].percent);
    }
}

static void anything_else_is_refused_with_what_would_do(void **state)
{
    static const char *const wrong[] = { "", "%", "101%", "10%%", "1000%", "-1", "five", "5 %x",
                                         "0x10%" };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct vv_reserve reserve = { .bytes = 4711 };
        struct varve_error error;
        assert_int_equal(vv_reserve_parse(wrong[i], &reserve, &error), VARVE_INVALID);
        assert_int_equal(reserve.bytes, 4711);
        assert_non_null(
            strstr(error.message,
                   "is neither a size nor a part of the disk: write 2GB, 10%, or 0 to take all"));
    }
}

static void what_it_is_on_a_disk(void **state)
{
    const struct vv_reserve none = { 0 }, all = { .is_said = true },
    two = { .is_said = true, .bytes = 2 * GB },
                            tenth = { .is_said = true, .percent = 10 };
    const struct {
        const struct vv_reserve *reserve;
        uint64_t total, free, bytes;
    } known[] = {
        { &none, 10 * GB, 10 * GB, GB },              /* 1 GB … */
        { &none, 100 * GB, 50 * GB, 5 * GB },         /* … or 5 % … */
        { &none, 150000000, 150000000, 75000000 },    /* … or half of what there is */
        { &none, 1000 * GB, 3 * GB, 3 * GB / 2 },
        { &none, 1000 * GB, 0, 0 },
        { &none, UINT64_MAX, UINT64_MAX, UINT64_MAX / 100 * 5 + UINT64_MAX % 100 * 5 / 100 },
        { &all, 100 * GB, 50 * GB, 0 },
        { &two, 100 * GB, 1 * GB, 2 * GB },
        { &tenth, 100 * GB, 1 * GB, 10 * GB },
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(vv_reserve_bytes(known[i].reserve, known[i].total, known[i].free),
                         known[i].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_parts),
        cmocka_unit_test(anything_else_is_refused_with_what_would_do),
        cmocka_unit_test(what_it_is_on_a_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

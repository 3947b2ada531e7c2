/* SPDX-License-Identifier: Apache-2.0 */
/* Readers' places get words behind them, once; what was told as it is gets none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decompress/place.h"

static void only_what_was_not_told_gets_words(void **state)
{
    (void)state;
    struct vv_told_place told = { 0 };
    struct varve_error error;
    vv_place_told(&told, vv_fail_at(&error, VARVE_TRUNCATED, 57, "cut"), &error);
    assert_int_equal(vv_place_inside(&told, VARVE_TRUNCATED, &error), VARVE_TRUNCATED);
    assert_string_equal(error.message, "cut at byte 57");
    vv_fail_at(&error, VARVE_CORRUPT, 57, "wrong"); /* the same place, another failure */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vv_place_inside(&told, VARVE_CORRUPT, &error), VARVE_CORRUPT);
        assert_string_equal(error.message, "wrong at byte 57 of what it decompresses to");
        assert_int_equal(error.offset, 57);
    }
    vv_fail_at(&error, VARVE_CORRUPT, 58, "wrong");
    (void)vv_place_inside(&told, VARVE_CORRUPT, &error);
    assert_string_equal(error.message, "wrong at byte 58 of what it decompresses to");
}

static void without_a_place_there_are_no_words(void **state)
{
    (void)state;
    struct vv_told_place told = { 0 };
    struct varve_error error;
    assert_int_equal(vv_place_inside(&told, vv_fail(&error, VARVE_LIMIT, "much"), &error),
                     VARVE_LIMIT);
    assert_string_equal(error.message, "much");
    assert_int_equal(vv_place_inside(&told, VARVE_CORRUPT, NULL), VARVE_CORRUPT);
    assert_int_equal(vv_place_told(&told, VARVE_CORRUPT, NULL), VARVE_CORRUPT);
    assert_int_equal(vv_place_inside(&told, VARVE_OK, &error), VARVE_OK);
    assert_int_equal(told.code, VARVE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_was_not_told_gets_words),
        cmocka_unit_test(without_a_place_there_are_no_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

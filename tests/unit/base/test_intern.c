/* SPDX-License-Identifier: Apache-2.0 */
/* test_intern.c — base/intern.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"

static uint32_t add(struct vv_intern *intern, const char *text, size_t length)
{
    uint32_t id = UINT32_MAX;
    struct varve_error error;
    assert_int_equal(vv_intern_add(intern, text, length, &id, &error), VARVE_OK);
    return id;
}

static void ids_are_dense_and_the_empty_string_is_0(void **state)
{
    (void)state;
    struct vv_intern intern;
    assert_int_equal(vv_intern_init(&intern, NULL), VARVE_OK);
    assert_int_equal(add(&intern, "", 0), 0);
    assert_int_equal(add(&intern, "conv2d", 6), 1);
    assert_int_equal(add(&intern, "relu", 4), 2);
    assert_int_equal(add(&intern, "conv2d", 6), 1);
    assert_int_equal(intern.count, 3);
    assert_string_equal(vv_intern_text(&intern, 2), "relu");
    assert_string_equal(vv_intern_text(&intern, 3), "");
    vv_intern_deinit(&intern);
}

static void length_counts_not_the_first_nul(void **state)
{
    (void)state;
    struct vv_intern intern;
    assert_int_equal(vv_intern_init(&intern, NULL), VARVE_OK);
    uint32_t with_nul = add(&intern, "a\0b", 3);
    assert_int_not_equal(with_nul, add(&intern, "a", 1));
    assert_int_equal(with_nul, add(&intern, "a\0b", 3));
    assert_int_equal(vv_intern_find(&intern, "a\0c", 3), UINT32_MAX);
    assert_memory_equal(vv_intern_text(&intern, with_nul), "a\0b", 4);
    vv_intern_deinit(&intern);
}

static void many_strings_keep_their_ids(void **state)
{
    (void)state;
    struct vv_intern intern;
    assert_int_equal(vv_intern_init(&intern, NULL), VARVE_OK);
    char text[32];
    for (uint32_t i = 1; i <= 20000; i++) {
        int length = snprintf(text, sizeof text, "operator %u", i);
        assert_int_equal(add(&intern, text, (size_t)length), i);
    }
    for (uint32_t i = 1; i <= 20000; i++) {
        int length = snprintf(text, sizeof text, "operator %u", i);
        assert_int_equal(vv_intern_find(&intern, text, (size_t)length), i);
        assert_string_equal(vv_intern_text(&intern, i), text);
    }
    assert_int_equal(vv_intern_find(&intern, "operator", 8), UINT32_MAX);
    vv_intern_deinit(&intern);
    vv_intern_deinit(&intern);
    vv_intern_deinit(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_and_the_empty_string_is_0),
        cmocka_unit_test(length_counts_not_the_first_nul),
        cmocka_unit_test(many_strings_keep_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The word that was meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/nearest.h"

static const char *const verbs[] = { "record", "report", "steps", "info", "export", NULL };

static void slips_of_the_finger_are_understood(void **state)
{
    (void)state;
    assert_string_equal(vv_nearest("reprot", verbs), "report"); /* a swap is one change */
    assert_string_equal(vv_nearest("recrod", verbs), "record");
    assert_string_equal(vv_nearest("step", verbs), "steps");
    assert_string_equal(vv_nearest("infos", verbs), "info");
    assert_string_equal(vv_nearest("exprt", verbs), "export");
}

static void what_is_far_is_not_guessed(void **state)
{
    (void)state;
    assert_null(vv_nearest("frobnicate", verbs));
    assert_null(vv_nearest("", verbs));
    assert_null(vv_nearest("x", verbs));
    assert_null(
        vv_nearest("a-word-so-long-that-no-one-could-ever-have-meant-to-type-it-at-all-here",
                   verbs));
}

static void the_first_of_equals_is_named(void **state)
{
    (void)state;
    static const char *const list[] = { "abcd", "abce", NULL };
    assert_string_equal(vv_nearest("abcx", list), "abcd");
}

static void an_entry_too_long_is_passed_over(void **state)
{
    (void)state;
    static const char *const list[] = {
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "abcd", NULL
    };
    assert_string_equal(vv_nearest("abcc", list), "abcd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_of_the_finger_are_understood),
        cmocka_unit_test(what_is_far_is_not_guessed),
        cmocka_unit_test(the_first_of_equals_is_named),
        cmocka_unit_test(an_entry_too_long_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

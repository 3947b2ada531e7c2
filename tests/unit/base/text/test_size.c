/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/size.h"

static void units_are_powers_of_1000_or_1024(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t bytes;
    } known[] = {
        { "0", 0 },           { "1", 1 },          { "17b", 17 },          { "64k", 64000 },
        { "500MB", 500000000 }, { "2 GB", 2000000000 }, { "2gb", 2000000000 },
        { "64KiB", 65536 },   { "1Gi", 1 << 30 },  { "9T", UINT64_C(9000000000000) },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint64_t bytes = 4711;
        assert_int_equal(vv_size_parse(known[i].text, &bytes, NULL), VARVE_OK);
        assert_int_equal(bytes, known[i].bytes);
    }
}

static void anything_else_is_refused_with_what_would_do(void **state)
{
    (void)state;
    static const char *const wrong[] = { "", "MB", "-1MB", "1.5GB", "5 parsecs",
                                         "99999999999999999",
                                         "99999999T", "1MBB", "1 M B" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint64_t bytes = 4711;
        struct varve_error error;
        assert_int_equal(vv_size_parse(wrong[i], &bytes, &error), VARVE_INVALID);
        assert_int_equal(bytes, 4711);
        assert_string_not_equal(error.message, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_powers_of_1000_or_1024),
        cmocka_unit_test(anything_else_is_refused_with_what_would_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

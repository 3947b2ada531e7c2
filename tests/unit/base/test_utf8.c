/* SPDX-License-Identifier: Apache-2.0 */
/* test_utf8.c — base/utf8.c, at the edges that RFC 3629 draws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void well_formed_sequences(void **state)
{
    (void)state;
    const struct {
        const char *text;
        size_t length;
    } cases[] = {
        { "a", 1 },            { "\xc2\x80", 2 },         { "\xdf\xbf", 2 },
        { "\xe0\xa0\x80", 3 }, { "\xed\x9f\xbf", 3 },     { "\xee\x80\x80", 3 },
        { "\xef\xbf\xbf", 3 }, { "\xf0\x90\x80\x80", 4 }, { "\xf4\x8f\xbf\xbf", 4 },
        /* not one */
        { "\x80", 0 },         { "\xc0\x80", 0 },         { "\xc1\xbf", 0 },
        { "\xe0\x9f\xbf", 0 }, { "\xed\xa0\x80", 0 },     { "\xf0\x8f\xbf\xbf", 0 },
        { "\xf4\x90\x80\x80", 0 }, { "\xf5\x80\x80\x80", 0 }, { "\xff", 0 },
        { "\xc3", 0 },         { "\xe4\xb8", 0 },         { "\xe4\x41\x80", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(vv_utf8_sequence(cases[i].text, strlen(cases[i].text)), cases[i].length);
    assert_int_equal(vv_utf8_sequence("", 0), 0);
}

static void repair_replaces_wrong_bytes_alone(void **state)
{
    (void)state;
    const char *text = "a\xff" "b\xe4\xb8\xad\xe4\xb8";
    char out[64];
    size_t length = vv_utf8_repair(text, strlen(text), out);
    const char *expected = "a\xef\xbf\xbd" "b\xe4\xb8\xad\xef\xbf\xbd\xef\xbf\xbd";
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(out, expected, length);
    assert_int_equal(vv_utf8_valid(out, length), length);
}

static void encoding_is_the_inverse(void **state)
{
    (void)state;
    char bytes[4];
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        if (point >= 0xd800 && point <= 0xdfff)
            continue;
        size_t length = vv_utf8_encode(point, bytes);
        if (vv_utf8_sequence(bytes, length) != length)
            fail_msg("U+%04X is encoded wrongly", point);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_sequences),
        cmocka_unit_test(repair_replaces_wrong_bytes_alone),
        cmocka_unit_test(encoding_is_the_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

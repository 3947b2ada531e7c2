/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal gets of any text: every character that it would obey is replaced, and no
 * other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/harmless.h"
#include "base/text/json_write.h"
#include "base/utf8.h"

static const char *cleaned(const char *text, size_t length)
{
    static char out[1024];
    out[vv_harmless_copy(text, length, out)] = '\0';
    return out;
}

static bool is_replaced(uint32_t code_point)
{
    char text[4];
    size_t length = vv_utf8_encode(code_point, text);
    const char *out = cleaned(text, length);
    bool is_same = strlen(out) == length && memcmp(out, text, length) == 0;
    if (!is_same)
        assert_string_equal(out, VV_REPLACEMENT);
    return !is_same;
}

static void each_code_point_is_kept_or_replaced(void **state)
{
    (void)state;
    static const struct { uint32_t first, last; } obeyed[] = {
        { 0x0, 0x1f }, { 0x7f, 0x9f }, { 0x61c, 0x61c }, { 0x200e, 0x200f }, { 0x2028, 0x202e },
        { 0x2066, 0x2069 },
    };
    size_t range = 0;
    for (uint32_t code_point = 0; code_point <= 0x10ffff; code_point++) {
        if (code_point >= 0xd800 && code_point <= 0xdfff)
            continue;
        while (range < sizeof obeyed / sizeof *obeyed && code_point > obeyed[range].last)
            range++;
        bool expected = range < sizeof obeyed / sizeof *obeyed && code_point >= obeyed[range].first;
        assert_int_equal(is_replaced(code_point), expected);
    }
}

static void what_is_no_utf8_is_replaced_byte_by_byte(void **state)
{
    (void)state;
    assert_string_equal(cleaned("a\x9b" "31mb", 6), "a" VV_REPLACEMENT "31mb");
    assert_string_equal(cleaned("\xc2", 1), VV_REPLACEMENT);
    assert_string_equal(cleaned("\xe2\x80", 2), VV_REPLACEMENT VV_REPLACEMENT);
    /* not the shortest */
    assert_string_equal(cleaned("\xe0\x82\x9b", 3), VV_REPLACEMENT VV_REPLACEMENT VV_REPLACEMENT);
    assert_string_equal(cleaned("", 0), "");
}

static void json_has_the_same_text_in_escapes(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    vv_json_write_text(stream, "a\x1b\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xff\"\\\nä€");
    fclose(stream);
    assert_string_equal(text, "\"a\\u001b\\u007f\\u009b\\u202e\\u2066\\u061c" VV_REPLACEMENT
                              "\\\"\\\\\\u000aä€\"");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_point_is_kept_or_replaced),
        cmocka_unit_test(what_is_no_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(json_has_the_same_text_in_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values as bytes; what is written reads back as the same value. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/json.h"
#include "base/text/json_write.h"

static char written[65536];

static FILE *begin(void)
{
    memset(written, 0, sizeof written);
    FILE *stream = fmemopen(written, sizeof written, "w");
    assert_non_null(stream);
    return stream;
}

static const char *text_of(const char *text, size_t length)
{
    FILE *stream = begin();
    vv_json_write_bytes(stream, text, length);
    fclose(stream);
    return written;
}

static const char *real_of(double value)
{
    FILE *stream = begin();
    vv_json_write_real(stream, value);
    fclose(stream);
    return written;
}

static void strings_are_escaped(void **state)
{
    (void)state;
    assert_string_equal(text_of("", 0), "\"\"");
    assert_string_equal(text_of("conv2d", 6), "\"conv2d\"");
    assert_string_equal(text_of("a\"b\\c/", 6), "\"a\\\"b\\\\c/\"");
    assert_string_equal(text_of("\n\t\x1f\x7f", 4), "\"\\u000a\\u0009\\u001f\\u007f\"");
    assert_string_equal(text_of("\xc2\x80\xc2\x9f\xc2\xa0", 6), "\"\\u0080\\u009f\xc2\xa0\"");
    assert_string_equal(text_of("a\0b", 3), "\"a\\u0000b\"");
    assert_string_equal(text_of("µ…😀", 9), "\"µ…😀\"");
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    assert_string_equal(text_of("a\xff" "b", 3), "\"a\xEF\xBF\xBD" "b\"");
    assert_string_equal(text_of("\xc2", 1), "\"\xEF\xBF\xBD\"");
    assert_string_equal(text_of("\xed\xa0\x80", 3), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

static void a_missing_text_is_null(void **state)
{
    (void)state;
    FILE *stream = begin();
    vv_json_write_text(stream, NULL);
    fclose(stream);
    assert_string_equal(written, "null");
}

static void integers_keep_every_digit(void **state)
{
    (void)state;
    FILE *stream = begin();
    vv_json_write_int(stream, INT64_MIN);
    putc(' ', stream);
    vv_json_write_int(stream, INT64_MAX);
    putc(' ', stream);
    vv_json_write_uint(stream, UINT64_MAX);
    fclose(stream);
    assert_string_equal(written, "-9223372036854775808 9223372036854775807 18446744073709551615");
}

static void reals_are_as_short_as_they_can_be(void **state)
{
    (void)state;
    assert_string_equal(real_of(0.1), "0.1");
    assert_string_equal(real_of(1), "1");
    assert_string_equal(real_of(1.0 / 3), "0.3333333333333333");
    assert_string_equal(real_of(1e22), "1e+22");
    assert_string_equal(real_of(-0.0), "-0");
    assert_string_equal(real_of(NAN), "null");
    assert_string_equal(real_of(-INFINITY), "null");
}

static void reals_read_back_as_themselves(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 2000; i++) {
        double value;
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            assert_true(strtod(real_of(value), NULL) == value);
    }
    assert_true(strtod(real_of(DBL_TRUE_MIN), NULL) == DBL_TRUE_MIN);
    assert_true(strtod(real_of(DBL_MAX), NULL) == DBL_MAX);
}

static void our_reader_gets_every_byte_back(void **state)
{
    (void)state;
    char all[127];
    for (int i = 0; i < 127; i++)
        all[i] = (char)(i + 1);
    struct vv_json json;
    text_of(all, sizeof all);
    vv_json_init_text(&json, written, strlen(written));
    assert_int_equal(vv_json_next(&json, NULL), VARVE_OK);
    assert_int_equal(json.token, VV_JSON_STRING);
    assert_int_equal(json.length, sizeof all);
    assert_memory_equal(json.text, all, sizeof all);
    vv_json_deinit(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(a_missing_text_is_null),
        cmocka_unit_test(integers_keep_every_digit),
        cmocka_unit_test(reals_are_as_short_as_they_can_be),
        cmocka_unit_test(reals_read_back_as_themselves),
        cmocka_unit_test(our_reader_gets_every_byte_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

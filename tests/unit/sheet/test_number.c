/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people: three digits, units, and the steps between them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sheet/number.h"

static void durations_have_three_digits(void **state)
{
    (void)state;
    static const struct { int64_t ns; const char *text; } cases[] = {
        { 0, "0 ns" },
        { 1, "1 ns" },
        { 999, "999 ns" },
        { 1000, "1.00 µs" },
        { 1704, "1.70 µs" },
        { 9994, "9.99 µs" },
        { 9996, "10.0 µs" },
        { 99940, "99.9 µs" },
        { 99960, "100 µs" },
        { 999499, "999 µs" },
        { 999500, "1.00 ms" },
        { 12345678, "12.3 ms" },
        { 1704000000, "1.70 s" },
        { 41800000000, "41.8 s" },
        { 1204332000000000, "1204332 s" },
        { -1500, "-1.50 µs" },
        { INT64_MAX, "9223372037 s" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[VV_NUMBER_BYTES];
        vv_number_duration(cases[i].ns, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

static void counts_have_no_blanks(void **state)
{
    (void)state;
    static const struct { int64_t count; const char *text; } cases[] = {
        { 0, "0" },       { 999, "999" },   { 1000, "1000" }, { 1204332, "1204332" },
        { -999, "-999" }, { -1000, "-1000" },
        { INT64_MIN, "-9223372036854775808" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[VV_NUMBER_BYTES];
        vv_number_count(cases[i].count, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

static void bytes_rates_and_shares(void **state)
{
    (void)state;
    char text[VV_NUMBER_BYTES];
    vv_number_bytes(12400000, text, sizeof text);
    assert_string_equal(text, "12.4 MB");
    vv_number_bytes(512, text, sizeof text);
    assert_string_equal(text, "512 B");
    vv_number_scaled(208.4e9, VV_UNIT_FLOP_PER_S, text, sizeof text);
    assert_string_equal(text, "208 GFLOP/s");
    vv_number_scaled(1.5512e12, VV_UNIT_BYTES_PER_S, text, sizeof text);
    assert_string_equal(text, "1.55 TB/s");
    vv_number_scaled(38717101248.0, VV_UNIT_FLOP, text, sizeof text);
    assert_string_equal(text, "38.7 GFLOP");
    vv_number_percent(0.0811, text, sizeof text);
    assert_string_equal(text, "8.1 %");
    vv_number_percent(1, text, sizeof text);
    assert_string_equal(text, "100.0 %");
}

static void decimals_and_what_is_no_number(void **state)
{
    (void)state;
    char text[VV_NUMBER_BYTES];
    vv_number_decimal(INFINITY, 1, text, sizeof text);
    assert_string_equal(text, "inf");
    vv_number_decimal(1e300, 1, text, sizeof text);
    assert_string_equal(text, "1e+300");
    vv_number_decimal(-1234.56, 1, text, sizeof text);
    assert_string_equal(text, "-1234.6");
}

static void nothing_is_written_beyond_the_capacity(void **state)
{
    (void)state;
    char text[8] = "abcdefg";
    vv_number_count(1204332, text, 4);
    assert_memory_equal(text + 4, "efg", 4);
    assert_string_equal(text, "120");
}

static void scales_fit_and_are_found_by_name(void **state)
{
    (void)state;
    struct vv_scale scale;
    assert_string_equal(vv_scale_fitting(VV_UNIT_NS, 999.4).name, "ns");
    assert_string_equal(vv_scale_fitting(VV_UNIT_NS, 999.5).name, "µs");
    assert_string_equal(vv_scale_fitting(VV_UNIT_NS, 1e30).name, "s");
    assert_string_equal(vv_scale_fitting(VV_UNIT_COUNT, 1e9).name, "");
    assert_true(vv_scale_of_time("us", &scale));
    assert_string_equal(scale.name, "µs");
    assert_true(scale.size == 1000);
    assert_false(vv_scale_of_time("auto", &scale));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_three_digits),
        cmocka_unit_test(counts_have_no_blanks),
        cmocka_unit_test(bytes_rates_and_shares),
        cmocka_unit_test(decimals_and_what_is_no_number),
        cmocka_unit_test(nothing_is_written_beyond_the_capacity),
        cmocka_unit_test(scales_fit_and_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

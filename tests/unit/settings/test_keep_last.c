/* SPDX-License-Identifier: Apache-2.0 */
/* Durations, and amounts to keep, as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/duration.h"
#include "settings/keep_last.h"

static void a_time_and_a_size_are_told_apart(void **state)
{
    (void)state;
    const struct {
        const char *text;
        struct vv_keep keep;
    } known[] = {
        { "10s", { 0, UINT64_C(10000000000) } },  { "500ms", { 0, 500000000 } },
        { "2min", { 0, UINT64_C(120000000000) } }, { "1h", { 0, UINT64_C(3600000000000) } },
        { "7 us", { 0, 7000 } },                   { "9ns", { 0, 9 } },
        { "64MB", { 64000000, 0 } },               { "64 MiB", { 67108864, 0 } },
        { "1g", { 1000000000, 0 } },               { "512b", { 512, 0 } },
        { "64M", { 64000000, 0 } },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct vv_keep keep = { 1, 1 };
        assert_int_equal(vv_keep_parse(known[i].text, &keep, NULL), VARVE_OK);
        assert_int_equal(keep.bytes, known[i].keep.bytes);
        assert_int_equal(keep.ns, known[i].keep.ns);
    }
}

#define EXAMPLES ": write a time such as 10s or 500ms, or a size such as 64MB"

static void what_is_wrong_is_said_with_what_would_do(void **state)
{
    (void)state;
    const struct { const char *text, *says; } wrong[] = {
        { "", "'' is neither a time nor a size" EXAMPLES },
        { "ten", "'ten' is neither a time nor a size" EXAMPLES },
        { "s", "'s' is neither a time nor a size" EXAMPLES },
        { "-1s", "'-1s' is neither a time nor a size" EXAMPLES },
        { "1.5s", "'1.5s' is neither a time nor a size" EXAMPLES },
        { "1 0s", "'1 0s' is neither a time nor a size" EXAMPLES },
        { "10sec", "'10sec' is neither a time nor a size" EXAMPLES },
        { "9999999999h", "'9999999999h' is neither a time nor a size" EXAMPLES },
        { "64", "'64' has no unit" EXAMPLES },
        { "64 ", "'64 ' has no unit" EXAMPLES },
        { "10m", "'10m' may be minutes or megabytes: write 10min or 10MB" },
        { "0s", "'0s' keeps nothing" EXAMPLES },
        { "0MB", "'0MB' keeps nothing" EXAMPLES },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct vv_keep keep = { 4711, 4711 };
        struct varve_error error = { .message = "" };
        assert_int_equal(vv_keep_parse(wrong[i].text, &keep, &error), VARVE_INVALID);
        assert_string_equal(error.message, wrong[i].says);
        assert_int_equal(keep.bytes, 4711);
        assert_int_equal(keep.ns, 4711);
    }
}

static void a_duration_is_no_size(void **state)
{
    (void)state;
    static const char *const wrong[] = { "", "5", "5MB", "5 m", "s", "1 2s",
                                         "99999999999999999999s",
                                         "9223372037s" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint64_t ns = 4711;
        struct varve_error error = { .message = "" };
        assert_int_equal(vv_duration_parse(wrong[i], &ns, &error), VARVE_INVALID);
        assert_non_null(
            strstr(error.message, " is no time: write a whole number and a unit, such as 500ms"));
        assert_int_equal(ns, 4711);
    }
    uint64_t ns = 0;
    assert_int_equal(vv_duration_parse("9223372036s", &ns, NULL), VARVE_OK);
    assert_int_equal(ns, UINT64_C(9223372036000000000));
}

static void an_amount_is_written_as_it_was_meant(void **state)
{
    (void)state;
    const struct {
        struct vv_keep keep;
        const char *text;
    } cases[] = {
        { { 0, UINT64_C(10000000000) }, "10 s" }, { { 0, 500000000 }, "500 ms" },
        { { 0, UINT64_C(90000000000) }, "90 s" }, { { 0, UINT64_C(120000000000) }, "2 min" },
        { { 0, 1 }, "1 ns" },                     { { 64000000, 0 }, "64 MB" },
        { { 67108864, 0 }, "64 MiB" },            { { 1500, 0 }, "1500 bytes" },
        { { 64000, 0 }, "64 kB" },                { { 2000000000, 0 }, "2 GB" },
        { { UINT64_MAX, 0 }, "18446744073709551615 bytes" },
        { { 5, 7000 }, "7 us" },                  { { 0, 0 }, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[VV_KEEP_TEXT_BYTES];
        vv_keep_text(&cases[i].keep, text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_and_a_size_are_told_apart),
        cmocka_unit_test(what_is_wrong_is_said_with_what_would_do),
        cmocka_unit_test(a_duration_is_no_size),
        cmocka_unit_test(an_amount_is_written_as_it_was_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

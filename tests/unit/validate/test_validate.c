/* SPDX-License-Identifier: Apache-2.0 */
/* What `varve validate` reads and finds, at the edges of numbers and instants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "validate/check.h"

static struct vv_check check_of(const char *text)
{
    struct vv_check check = { 0 };
    struct vv_json json;
    struct varve_error error;
    assert_int_equal(vv_intern_init(&check.strings, NULL), VARVE_OK);
    vv_json_init_text(&json, text, strlen(text));
    if (vv_check_read(&check, &json, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    vv_json_deinit(&json);
    return check;
}

/* Microseconds become nanoseconds, digit by digit; what is larger than any number is the
 * largest. */
static void times_are_read_exactly_up_to_the_largest(void **state)
{
    (void)state;
    static const struct { const char *text; int64_t ns; } cases[] = {
        { "0", 0 }, { "1", 1000 }, { "1.5", 1500 }, { "-1.0005", -1000 }, { "0.0019", 1 },
        { "9223372036854775.806", INT64_MAX - 1 }, { "9223372036854775.807", INT64_MAX },
        { "9223372036854775.800", INT64_MAX - 7 }, { "9223372036854775.808", INT64_MAX },
        { "9223372036854776", INT64_MAX }, { "99999999999999999999999", INT64_MAX },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\", \"ts\": \"%s\"}]}",
                 cases[i].text);
        struct vv_check check = check_of(text);
        assert_int_equal(check.event_count, 1);
        if (check.events[0].begin_ns != cases[i].ns)
            fail_msg("%s is %lld", cases[i].text, (long long)check.events[0].begin_ns);
        vv_check_deinit(&check);
    }
}

#define KERNEL(begin, duration)                                                      \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, " \
    "\"ts\": " #begin                                                                \
    ", \"dur\": " #duration                                                          \
    ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 1}},"

/* The wait begins at 100: kernels that end then, or begin then, do not run over that instant. */
static void a_stream_that_was_waited_for_is_idle(void **state)
{
    (void)state;
    static const struct { const char *kernels; uint64_t running; } cases[] = {
        { KERNEL(50, 50), 0 },
        { KERNEL(100, 10), 0 },
        { KERNEL(50, 51), 1 },
        { KERNEL(50, 51) KERNEL(99, 2) KERNEL(100, 5), 2 },
        { KERNEL(50, 9223372036854775.807), 1 }, /* no int64 holds where it ends */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "{\"traceEvents\": [%s {\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"Stream "
                 "Sync\", "
                 "\"pid\": 0, \"tid\": 7, \"ts\": 100, \"dur\": 1, \"args\": {\"cuda_sync_kind\": "
                 "\"Stream Sync\", \"device\": 0, \"stream\": 7}}]}",
                 cases[i].kernels);
        struct vv_check check = check_of(text);
        assert_int_equal(vv_check_torch(&check, NULL), VARVE_OK);
        if (check.findings[VV_RULE_SYNC_OVERLAP].count != cases[i].running)
            fail_msg("%zu: %d", i, (int)check.findings[VV_RULE_SYNC_OVERLAP].count);
        vv_check_deinit(&check);
    }
}

/* Of a nanosecond in it no whole microsecond is left; a kernel that lasts for ever has some. */
static void a_kernel_within_a_microsecond_is_short(void **state)
{
    (void)state;
    static const struct { const char *kernel; uint64_t found; } cases[] = {
        { KERNEL(1.25, 0.001), 1 }, { KERNEL(1.25, 0.75), 0 },
        { KERNEL(1.25, 9223372036854775.807), 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text, "{\"traceEvents\": [%s {}]}", cases[i].kernel);
        struct vv_check check = check_of(text);
        vv_check_events(&check, "a.json");
        if (check.findings[VV_RULE_SHORT_KERNEL].count != cases[i].found)
            fail_msg("%zu: %d", i, (int)check.findings[VV_RULE_SHORT_KERNEL].count);
        vv_check_deinit(&check);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read_exactly_up_to_the_largest),
        cmocka_unit_test(a_stream_that_was_waited_for_is_idle),
        cmocka_unit_test(a_kernel_within_a_microsecond_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

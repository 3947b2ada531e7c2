/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome traces at the edges: events of nothing, many arguments, many ranges at once, ids far
 * apart, digits of both cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chrome_bytes.h"

static struct vv_model *model;
static char text[4 << 20];
static size_t length;

static int forget(void **state)
{
    (void)state;
    vv_model_destroy(model);
    model = NULL;
    length = 0;
    return 0;
}

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, list);
    va_end(list);
    assert_true(length < sizeof text);
}

static enum varve_code read_text(struct varve_error *error)
{
    vv_model_destroy(model);
    enum varve_code code = chrome_bytes(text, length, 1, &model, error);
    length = 0;
    return code;
}

static void read_well(void)
{
    struct varve_error error = { 0 };
    if (read_text(&error) != VARVE_OK)
        fail_msg("%s", error.message);
}

/* `{}` behind a last comma is no event; one of which nothing but its name, or its arguments, are
 * known is. */
static void what_is_no_event_is_not_counted(void **state)
{
    (void)state;
    static const struct { const char *event; uint64_t ignored; } cases[] = {
        { "{}", 0 }, { "{\"name\":\"a\"}", 1 }, { "{\"ph\":\"?\"}", 1 }, { "{\"ts\":1}", 1 },
        { "{\"args\":{\"a\":1}}", 1 },
        { "{\"pid\":1}", 1 }, { "{\"cat\":\"a\"}", 1 }, { "{\"id\":1}", 1 }, { "{\"dur\":1}", 1 },
        { "{\"tid\":1}", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        add("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2},%s]", cases[i].event);
        read_well();
        if (model->health.ignored != cases[i].ignored)
            fail_msg("%s: %d", cases[i].event, (int)model->health.ignored);
    }
}

static void an_event_has_32767_arguments_at_most(void **state)
{
    (void)state;
    struct varve_error error;
    for (int count = 32767; count <= 32768; count++) {
        add("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"args\":{");
        for (int i = 0; i < count; i++)
            add("%s\"k%d\":%d", i > 0 ? "," : "", i, i);
        add("}}]");
        assert_int_equal(read_text(&error), count == 32767 ? VARVE_OK : VARVE_LIMIT);
    }
    assert_non_null(strstr(error.message, "an event with 32768 arguments at byte 46 ("));
    assert_string_equal(strrchr(error.message, ':') - 2, ":1:47)");
}

/* More than any table of open ones has room for at first. */
static void many_asynchronous_ranges_are_open_at_once(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    add("[");
    for (int i = 0; i < COUNT; i++)
        add("{\"ph\":\"b\",\"cat\":\"c\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"id\":%d,\"ts\":%d},",
            i, i);
    for (int i = 0; i < COUNT; i++)
        add("{\"ph\":\"e\",\"cat\":\"c\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"id\":%d,\"ts\":%d},",
            i, 10000 + 2 * i);
    add("{}]");
    read_well();
    assert_int_equal(model->slices.table.count, COUNT);
    assert_int_equal(model->health.unmatched_async, 0);
    for (uint32_t row = 0; row < COUNT; row++)
        assert_int_equal(model->slices.duration_ns[row],
                         10000000 + model->slices.begin_ns[row] - model->slices.begin_ns[0]);
}

/* A stack frame is an element like others: a comma stands behind it, or the end. */
static void frames_follow_each_other(void **state)
{
    (void)state;
    struct varve_error error;
    add("{\"stackFrames\":{\"1\":{\"name\":\"main\"},\"2\":{\"name\":\"run\",\"parent\":\"1\"} , "
        "\"3\":{\"name\":\"leaf\",\"parent\":\"2\"}},"
        "\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"sf\":3}]}");
    read_well();
    assert_int_equal(model->slices.table.count, 1);
    assert_int_equal(model->health.truncated_files, 0);
    add("{\"stackFrames\":{\"1\":{\"name\":\"main\"} "
        "\"2\":{\"name\":\"run\"}},\"traceEvents\":[]}");
    assert_int_equal(read_text(&error), VARVE_CORRUPT);
    assert_non_null(strstr(error.message, "byte"));
}

/* Ids of flows that lie as far apart as numbers can, in two families that have the same ones. */
static void flows_are_joined_however_far_apart_their_ids_are(void **state)
{
    (void)state;
    static const char *const ids[] = { "-9223372036854775808", "9223372036854775807", "7", "-1" };
    add("[");
    for (int family = 0; family < 2; family++)
        for (int i = 0; i < 4; i++) {
            int at = 100 * i + 1000 * family;
            add("{\"ph\":\"X\",\"name\":\"from\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":10},", at);
            add("{\"ph\":\"X\",\"name\":\"to\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":10},",
                at + 50);
            add("{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"c%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"id\":"
                "%s},",
                family, at, ids[i]);
            add("{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"f\",\"cat\":\"c%d\",\"pid\":1,\"tid\":2,"
                "\"ts\":%d,\"id\":%s},",
                family, at + 50, ids[i]);
        }
    add("{}]");
    read_well();
    assert_int_equal(model->flows.table.count, 8);
    assert_int_equal(model->health.unmatched_flows, 0);
    for (uint32_t f = 0; f < 8; f++)
        assert_int_equal(model->flows.to_ns[f] - model->flows.from_ns[f], 50000);
}

static void digits_of_escapes_are_of_either_case(void **state)
{
    (void)state;
    static const struct { const char *name, *wanted; } cases[] = {
        { "\\u00e9", "é" }, { "\\u00E9", "é" }, { "\\u2192", "→" }, { "\\uD83D\\uDE00", "😀" },
        { "\\ud83d\\ude00", "😀" },
        { "\\u00Eg", "\xef\xbf\xbd\x30\x30\x45g" }, { "\\uD83D", "\xef\xbf\xbd" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        add("[{\"ph\":\"X\",\"name\":\"%s\",\"ts\":1,\"dur\":2}]", cases[i].name);
        read_well();
        assert_string_equal(vv_intern_text(&model->strings, model->slices.name[0]),
                            cases[i].wanted);
    }
}

/* What has no column of its own stays an argument: a number that no device can have. */
static void a_device_is_a_number_of_16_bits(void **state)
{
    (void)state;
    static const struct { const char *device; int arguments; } cases[] = {
        { "0", 0 }, { "65535", 0 }, { "65536", 1 }, { "-1", 1 }, { "4294967299", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        add("[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":"
            "1,"
            "\"args\":{\"device\":%s,\"stream\":7}}]",
            cases[i].device);
        read_well();
        assert_int_equal(model->slices.arg_count[0], cases[i].arguments);
    }
}

static void an_instant_is_a_mark_or_an_allocation(void **state)
{
    (void)state;
    add("[");
    for (int i = 0; i < 20; i++)
        add("{\"ph\":\"i\",\"s\":\"t\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":%d,"
            "\"args\":{\"Device Type\":1,\"Device Id\":0,\"Addr\":4096,\"Bytes\":512}},",
            i % 4 == 0 ? "[memory]" : "mark", i);
    add("{}]");
    read_well();
    assert_int_equal(model->memory.table.count, 5);
    assert_int_equal(model->marks.table.count, 15);
}

/* A text that does not end: what is read at once has a bound, which is said. */
static void a_value_has_a_bound(void **state)
{
    (void)state;
    static const struct vv_import_options options = { 0 };
    static const char says[] = ": an event or value of more than 134217728 bytes at byte 1";
    struct vv_source *source = NULL;
    struct varve_error error;
    char path[64];
    int file = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(write(file, "[{\"name\":\"", 10), 10);
    assert_int_equal(ftruncate(file, 300 << 20), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    assert_int_equal(vv_source_open(path, &source, NULL), VARVE_OK);
    struct vv_import_job job = { "trace", source, model, 0, &options, NULL, NULL };
    assert_int_equal(vv_chrome_read_parts(&job, 1, &error), VARVE_LIMIT);
    assert_non_null(strstr(error.message, says));
    vv_source_close(source);
    close(file);
}

static void read_with(struct vv_model *into, uint32_t number,
                      const struct vv_import_options *options)
{
    struct vv_source *source = NULL;
    char path[64];
    int file = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(write(file, text, length), length);
    length = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    assert_int_equal(vv_source_open(path, &source, NULL), VARVE_OK);
    struct vv_import_job job = { "trace", source, into, number, options, NULL, NULL };
    assert_int_equal(vv_chrome_read_parts(&job, 1, NULL), VARVE_OK);
    vv_source_close(source);
    close(file);
}

static void read_into(struct vv_model *into, uint32_t number)
{
    static const struct vv_import_options options = { 0 };
    read_with(into, number, &options);
}

/* Its tracks come after those of the first. */
static void a_second_input_has_devices_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    for (uint32_t input = 0; input < 2; input++) {
        add("[");
        for (int i = 0; i < 300; i++)
            add("{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"a\",\"pid\":0,\"tid\":%d,\"ts\":%d,"
                "\"dur\":1,\"args\":{%s}},",
                i % 2 == 0 ? "kernel" : "cpu_op", i, i,
                i % 2 == 0 ? "\"device\":3,\"stream\":7" : "");
        add("{}]");
        read_into(model, input);
    }
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    assert_int_equal(model->tracks.table.count, 600);
    for (uint32_t t = 0; t < 600; t++) {
        bool is_device = model->tracks.tid[t] % 2 == 0;
        assert_int_equal(model->tracks.kind[t], is_device ? VV_TRACK_DEVICE : VV_TRACK_THREAD);
        if (is_device)
            assert_int_equal(model->tracks.device[t] & 0xffff, 3);
    }
}

/* Nobody asks for all arguments: those that something is made of stay, whatever the value. */
static void arguments_that_nobody_asks_for_are_left_out(void **state)
{
    (void)state;
    static const struct vv_import_options all = { 0 }, few = { .is_without_args = true };
    static const char *const events[] = {
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":9,\"args\":{"
        "\"Trace name\":\"P\",\"Device\":4,\"Ev Idx\":6,\"Python id\":[1],\"own\":3}},",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2,\"args\":{"
        "\"Trace name\":\"jvp(f)\",\"cbid\":211,\"queued\":0,\"block\":[64,1,1]}},{}]" };
    static const char *const stays[] = { "Python id", "own", "Trace name", "block" };
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    add("[%s%s", events[0], events[1]);
    read_with(model, 0, &all);
    assert_int_equal(model->args.table.count, 9);
    add("[%s%s", events[0], events[1]);
    read_with(model, 1, &few);
    assert_int_equal(model->args.table.count, 9 + 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(vv_intern_text(&model->strings, model->args.key[9 + i]), stays[i]);
    assert_int_equal(model->slices.arg_count[2], 2);
    assert_int_equal(model->slices.first_arg[2], 9);
    assert_int_equal(model->slices.order[2], 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_no_event_is_not_counted, forget),
        cmocka_unit_test_teardown(an_event_has_32767_arguments_at_most, forget),
        cmocka_unit_test_teardown(many_asynchronous_ranges_are_open_at_once, forget),
        cmocka_unit_test_teardown(frames_follow_each_other, forget),
        cmocka_unit_test_teardown(flows_are_joined_however_far_apart_their_ids_are, forget),
        cmocka_unit_test_teardown(a_device_is_a_number_of_16_bits, forget),
        cmocka_unit_test_teardown(an_instant_is_a_mark_or_an_allocation, forget),
        cmocka_unit_test_teardown(a_value_has_a_bound, forget),
        cmocka_unit_test_teardown(a_second_input_has_devices_of_its_own, forget),
        cmocka_unit_test_teardown(arguments_that_nobody_asks_for_are_left_out, forget),
        cmocka_unit_test_teardown(digits_of_escapes_are_of_either_case, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

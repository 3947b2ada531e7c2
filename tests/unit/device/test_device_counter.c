/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of devices: the record has the numbers that the caller said; what cannot be kept is
 * counted. */
#include "stream_walk.h"

#include <errno.h>
#include <math.h>

#include "varve/device.h"

static char output[4096], folder[4200];
static struct varve_error error;
static uint32_t track;

static int setup(void **state)
{
    (void)state;
    const struct varve_track_info info = { sizeof info, VARVE_CLOCK_MONOTONIC, "queue",
                                           VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, 3), 0, -1, 7 };
    walk_folder(output);
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    return varve_track_add(&info, &track, &error);
}

static int teardown(void **state)
{
    (void)state;
    (void)varve_session_stop(NULL);
    walk_remove(output);
    return 0;
}

static void start(uint32_t layers)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = output;
    options.layers = layers;
    assert_int_equal(varve_session_start(&options, &error), VARVE_OK);
}

static void say(uint32_t on, const char *name, int64_t time, double value)
{
    const struct varve_device_counter_info info = { sizeof info, on, name, time, value };
    errno = 4711;
    varve_device_counter(&info);
    assert_int_equal(errno, 4711);
}

static void the_record_has_the_numbers(void **state)
{
    (void)state;
    static const struct { int64_t time; double value; } rows[] = {
        { INT64_MIN, 0.0 }, { INT64_MAX, -INFINITY }, { -1, 71.5 }, { 0, -0.0 },
    };
    start(VARVE_LAYER_DEVICE);
    for (size_t i = 0; i < 4; i++)
        say(track, "power (W)", rows[i].time, rows[i].value);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.word_count, 4 * 4);
    for (size_t i = 0; i < 4; i++) {
        const uint64_t *record = walk.words + 4 * i;
        assert_int_equal(record[0] & VV_ID_MASK, 44);
        assert_int_equal((uint32_t)record[1], track);
        assert_int_equal(record[1] >> 32, walk.words[1] >> 32); /* one name, one string */
        assert_true((int64_t)record[2] == rows[i].time);
        assert_memory_equal(&record[3], &rows[i].value, 8);
    }
    assert_int_equal(walk.discarded, 0);
    free(walk.words);
}

static void what_cannot_be_kept_is_counted(void **state)
{
    (void)state;
    const struct varve_device_counter_info small = { 8, track, "power (W)", 1, 2 };
    start(VARVE_LAYER_ALL & ~VARVE_LAYER_DEVICE);
    say(track, "power (W)", 1, 1); /* the layer is off: nothing happens */
    varve_layers_set(VARVE_LAYER_ALL);
    say(track, "power (W)", 1, 1);
    say(0, "power (W)", 1, 1);
    say(track + 1, "power (W)", 1, 1);
    varve_device_counter(&small);
    varve_device_counter(NULL);
    say(track, "power (W)", 2, 2);
    assert_int_equal(varve_session_stop(&error), VARVE_OK);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.word_count, 2 * 4);
    assert_int_equal(walk.words[2], 1);
    assert_int_equal(walk.words[6], 2);
    assert_int_equal(walk.discarded, 4);
    free(walk.words);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_record_has_the_numbers),
        TEST(what_cannot_be_kept_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: which steps they mean, their text, and what a session under one records. */
#include "stream_walk.h"

#include <pthread.h>
#include <sched.h>

#include "base/system/os.h"
#include "record/control/control.h"
#include "record/session/session.h"
#include "record/stream/recorder.h"
#include "settings/schedule.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);

static char output[4096], folder[4200];

static void begin(const char *text)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct vv_session_manner manner = { 0 };
    walk_folder(output);
    options.output = output;
    assert_int_equal(vv_schedule_parse(text, &manner.schedule, NULL), VARVE_OK);
    assert_int_equal(vv_session_begin(&options, &manner, NULL), VARVE_OK);
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
}

static int stop(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(output);
    return 0;
}

/* One step with one range; `ends` false: the next step ends it. */
static void step(int64_t index, bool ends)
{
    varve_step_begin(index);
    varve_begin(&op);
    varve_end();
    if (ends)
        varve_step_end();
}

/* The indices of the recorded steps, and how many ranges there are. */
static size_t recorded(int64_t *out_indices, size_t capacity, size_t *out_ranges)
{
    size_t count = 0;
    struct walk walk = walk_stream(folder, "thread.1");
    *out_ranges = 0;
    for (size_t i = 0; i < walk.word_count; i++) {
        uint32_t id = walk_id(walk.words[i]);
        *out_ranges += id >= VV_SITE_ID_FIRST;
        if (id != VV_EVENT_STEP_BEGIN)
            continue;
        assert_true(count < capacity);
        out_indices[count++] = (int64_t)walk.words[++i];
    }
    free(walk.words);
    return count;
}

static void expect_steps(const int64_t *wanted, size_t count, size_t ranges)
{
    int64_t indices[64];
    size_t seen_ranges;
    assert_int_equal(recorded(indices, 64, &seen_ranges), count);
    assert_memory_equal(indices, wanted, count * sizeof *wanted);
    assert_int_equal(seen_ranges, ranges);
}

static void the_phases_are_pytorchs(void **state)
{
    (void)state;
    const struct vv_schedule schedule = { .skip = 1, .warmup = 1, .active = 3, .repeat = 2 };
    const char *phases = "swaaaswaaaooo";
    for (uint64_t i = 0; phases[i] != '\0'; i++)
        assert_int_equal("swao"[vv_schedule_phase(&schedule, i)], phases[i]);
    const struct vv_schedule endless = { .skip = 2, .active = 1 };
    assert_int_equal(vv_schedule_phase(&endless, UINT64_C(3000000000002)), VV_SCHEDULE_ACTIVE);
    assert_int_equal(vv_schedule_phase(&endless, UINT64_C(3000000000003)), VV_SCHEDULE_SKIP);
}

static void the_text_is_read_whole(void **state)
{
    (void)state;
    struct vv_schedule schedule;
    assert_int_equal(vv_schedule_parse("repeat=2,skip=10,active=3,warmup=1", &schedule, NULL),
                     VARVE_OK);
    assert_int_equal(schedule.skip, 10);
    assert_int_equal(schedule.warmup, 1);
    assert_int_equal(schedule.active, 3);
    assert_int_equal(schedule.repeat, 2);
    assert_int_equal(vv_schedule_parse("active=1000000000", &schedule, NULL), VARVE_OK);
    assert_int_equal(schedule.active, 1000000000);
    assert_int_equal(schedule.skip, 0);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    const struct { const char *text, *says; } wrong[] = {
        { "", "has no word ''" },
        { "skip=1", "records no step" },
        { "active=0", "records no step" },
        { "activ=3", "has no word 'activ'. Nearest: active" },
        { "active=3,active=4", "says 'active' twice" },
        { "active=-1", "'active=-1' wants a number of steps from 0 to 1000000000" },
        { "active=1000000001", "'active=1000000001' wants a number" },
        { "active=99999999999999999999999", "wants a number" },
        { "active", "'active' wants a number" },
        { "active=", "'active=' wants a number" },
        { "active=3,", "has no word ''" },
        { "a_word_of_many_letters=3", "has no word 'a_word_of_many_letters'" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct varve_error error;
        struct vv_schedule schedule;
        assert_int_equal(vv_schedule_parse(wrong[i].text, &schedule, &error), VARVE_INVALID);
        if (strstr(error.message, wrong[i].says) == NULL)
            fail_msg("'%s': %s", wrong[i].text, error.message);
    }
}

static void only_active_steps_are_recorded(void **state)
{
    (void)state;
    begin("skip=1,warmup=1,active=3,repeat=2");
    for (int64_t i = 100; i < 120; i++) {
        step(i, true);
        varve_begin(&op); /* between steps */
        varve_end();
    }
    const int64_t wanted[] = { 102, 103, 104, 107, 108, 109 };
    expect_steps(wanted, 6, 6 + 4); /* between two active steps recording goes on */
    assert_int_equal(varve_control_page.steps, 0);
}

static void steps_that_nobody_ends_count_too(void **state)
{
    (void)state;
    begin("skip=2,active=2,repeat=1");
    for (int64_t i = 0; i < 8; i++)
        step(i, false);
    const int64_t wanted[] = { 2, 3 };
    expect_steps(wanted, 2, 2);
    assert_int_equal(varve_layers(), 0);
}

static void a_warmup_step_makes_the_folder(void **state)
{
    (void)state;
    const struct vv_session_manner lazy = { .schedule = { .skip = 1, .warmup = 1, .active = 1 } };
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    walk_folder(output);
    options.output = output;
    assert_int_equal(vv_session_begin(&options, &lazy, NULL), VARVE_OK);
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    step(0, true);
    assert_int_equal(access(folder, F_OK), -1);
    step(1, true);
    assert_int_equal(access(folder, F_OK), 0);
    assert_int_equal(varve_layers(), 0);
}

static uint64_t other_tid;

static void *step_elsewhere(void *unused)
{
    other_tid = vv_os_tid();
    for (int64_t i = 0; i < 50; i++)
        step(i, true);
    return unused;
}

/* The first thread that steps is the one that counts, until it ends. */
static void one_thread_counts(void **state)
{
    (void)state;
    pthread_t other;
    begin("skip=2,active=1");
    assert_int_equal(pthread_create(&other, NULL, step_elsewhere, NULL), 0);
    pthread_join(other, NULL); /* steps 0 … 49 of 3 a cycle: the next is 50, an active one */
    char name[16];
    while (vv_os_thread_name(other_tid, name) == 0) /* joined it is, but the kernel may still end
                                                       it */
        sched_yield();
    step(1000, false);
    assert_int_equal(varve_layers(), VARVE_LAYER_ALL);
    assert_int_equal(pthread_create(&other, NULL, step_elsewhere, NULL), 0);
    pthread_join(other, NULL);
    assert_int_equal(varve_layers(), VARVE_LAYER_ALL);
    step(1001, true);
    assert_int_equal(varve_layers(), 0);
}

static void whoever_sets_the_mask_ends_the_schedule(void **state)
{
    (void)state;
    begin("skip=1,active=1");
    varve_layers_set(VARVE_LAYER_STEP);
    for (int64_t i = 0; i < 6; i++)
        step(i, true);
    assert_int_equal(varve_control_page.steps, 0);
    const int64_t wanted[] = { 0, 1, 2, 3, 4, 5 };
    expect_steps(wanted, 6, 0);
}

static void so_does_another_process(void **state)
{
    (void)state;
    begin("skip=1,active=1");
    vv_control_page_switch(vv_control(), -1, VARVE_LAYER_ALL);
    for (int64_t i = 0; i < 3; i++)
        step(i, true);
    const int64_t wanted[] = { 0, 1, 2 };
    expect_steps(wanted, 3, 3);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_phases_are_pytorchs),
        cmocka_unit_test(the_text_is_read_whole),
        cmocka_unit_test(what_is_wrong_is_named),
        TEST(only_active_steps_are_recorded),
        TEST(steps_that_nobody_ends_count_too),
        TEST(a_warmup_step_makes_the_folder),
        TEST(one_thread_counts),
        TEST(whoever_sets_the_mask_ends_the_schedule),
        TEST(so_does_another_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

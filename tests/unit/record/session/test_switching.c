/* SPDX-License-Identifier: Apache-2.0 */
/* Layers and sessions are switched while four threads record; `make thread` looks for races in
 * it. */
#include "stream_walk.h"

#include <pthread.h>

#include "record/stream/recorder.h"

#define THREADS 4
#define SWITCHES 200
#define ROUNDS_BETWEEN 100 /* at least, of all threads together: each mask is met by some */
#define ROUNDS_MAX 50      /* of one thread: none runs far ahead of the switches            */

VARVE_SITE(op, "op", VARVE_LAYER_OP);
VARVE_SITE(host, "host", VARVE_LAYER_HOST);
VARVE_SITE(tick, "tick", VARVE_LAYER_METRIC);

static char output[4096], folder[4200];
static uint64_t rounds, turns;
static bool over;

static int start(void **state)
{
    (void)state;
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = output;
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    return varve_session_start(&options, NULL);
}

static int set_up(void **state)
{
    walk_folder(output);
    return start(state);
}

static int tear_down(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(output);
    return 0;
}

static void *record(void *argument)
{
    (void)argument;
    for (uint64_t round = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); round++) {
        while (round >= ROUNDS_MAX * (1 + __atomic_load_n(&turns, __ATOMIC_RELAXED)))
            sched_yield();
        varve_begin(&op);
        varve_begin(&host);
        varve_counter(&tick, (double)round);
        varve_next(&op);
        varve_end();
        varve_end();
        __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Calls turn(0), turn(1) … while four threads record. */
static void while_threads_record(void (*turn)(unsigned number))
{
    pthread_t threads[THREADS];
    over = false;
    rounds = turns = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record, NULL), 0);
    for (unsigned i = 0; i < SWITCHES; i++) {
        while (__atomic_load_n(&rounds, __ATOMIC_RELAXED) < (i + 1) * ROUNDS_BETWEEN)
            sched_yield();
        turn(i);
        __atomic_store_n(&turns, i + 1, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    __atomic_store_n(&turns, SWITCHES + 1, __ATOMIC_RELAXED); /* lets go who waits */
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* One thread's stream: its ranges are balanced, its counter grows, nothing is lost. */
static void expect_whole(const char *base, bool ranges_balance)
{
    struct walk walk = walk_stream(folder, base);
    long depth = 0;
    double last = -1;
    for (size_t i = 0; i < walk.word_count; i++) {
        uint32_t id = walk_id(walk.words[i]);
        if (id == VV_EVENT_END) {
            depth--;
        } else if (id % VV_SITE_KINDS == VV_KIND_COUNTER) {
            double value;
            memcpy(&value, &walk.words[++i], sizeof value);
            assert_true(value > last);
            last = value;
        } else if (id % VV_SITE_KINDS == VV_KIND_BEGIN) {
            depth++;
        } else {
            assert_int_equal(id % VV_SITE_KINDS, VV_KIND_NEXT);
        }
        assert_true(!ranges_balance || depth >= 0);
    }
    assert_true(!ranges_balance || depth == 0);
    assert_int_equal(walk.discarded, 0);
    free(walk.words);
}

/* A thread that never ran while something was recorded has no stream. */
static void expect_threads_whole(bool ranges_balance)
{
    int streams = 0;
    for (int i = 1; i <= THREADS; i++) {
        char base[32], part[4300];
        snprintf(base, sizeof base, "thread.%d", i);
        snprintf(part, sizeof part, "%s/%s.0", folder, base);
        if (access(part, F_OK) != 0)
            continue;
        streams++;
        expect_whole(base, ranges_balance);
    }
    assert_true(streams > 0);
}

static const uint32_t masks[] = { VARVE_LAYER_OP | VARVE_LAYER_METRIC, VARVE_LAYER_HOST,
                                  VARVE_LAYER_METRIC, VARVE_LAYER_ALL };

static void change_mask(unsigned number)
{
    varve_layers_set(masks[number % 4]);
}

static void pause_or_resume(unsigned number)
{
    varve_layers_set(number % 2 == 0 ? 0 : VARVE_LAYER_ALL);
}

static void restart_session(unsigned number)
{
    (void)number;
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    assert_int_equal(start(NULL), VARVE_OK);
}

/* Law: whatever the mask, a range of which the begin is recorded has its end recorded. */
static void ranges_balance_under_changing_masks(void **state)
{
    (void)state;
    while_threads_record(change_mask);
    expect_threads_whole(true);
    struct walk walk = walk_stream(folder, "process");
    unsigned seen = 0;
    for (size_t i = 0; i < walk.word_count; i++) {
        static const size_t fields[] = { [VV_EVENT_CLOCK] = 4, [VV_EVENT_THREAD] = 2,
                                         [VV_EVENT_LAYERS] = 1, [VV_EVENT_COST] = 1,
                                         [VV_EVENT_COLLECTOR] = 2 };
        uint32_t id = walk_id(walk.words[i]);
        if (id == VV_EVENT_STRING) {
            i += 1 + (walk.words[i + 1] >> 32) / 8;
            continue;
        }
        if (id == VV_EVENT_LAYERS && seen++ > 0) /* the first tells of the start */
            assert_int_equal(walk.words[i + 1], masks[(seen - 2) % 4]);
        i += fields[id];
    }
    assert_int_equal(seen, 1 + SWITCHES);
    free(walk.words);
}

static void order_is_kept_under_pauses(void **state)
{
    (void)state;
    while_threads_record(pause_or_resume);
    varve_layers_set(VARVE_LAYER_ALL);
    expect_threads_whole(false);
}

/* Law: threads leave an ended session by themselves; in each process folder nothing is lost. */
static void sessions_change_under_threads(void **state)
{
    (void)state;
    while_threads_record(restart_session);
    struct walk walk = { 0 };
    unsigned streams = 0;
    for (unsigned session = 0; session <= SWITCHES; session++) {
        char where[4300], part[4400];
        int length = snprintf(where, sizeof where, "%s", folder);
        if (session > 0)
            snprintf(where + length, sizeof where - (size_t)length, ".%u", session);
        for (int i = 1; i <= THREADS; i++) {
            char base[32];
            snprintf(base, sizeof base, "thread.%d", i);
            snprintf(part, sizeof part, "%s/%s.0", where, base);
            if (access(part, F_OK) != 0)
                continue;
            walk = walk_stream(where, base);
            assert_int_equal(walk.discarded, 0);
            free(walk.words);
            streams++;
        }
    }
    assert_true(streams >= 2); /* on a busy machine one thread may do nearly all the work */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranges_balance_under_changing_masks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(order_is_kept_under_pauses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sessions_change_under_threads, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

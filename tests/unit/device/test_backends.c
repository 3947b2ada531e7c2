/* SPDX-License-Identifier: Apache-2.0 */
/* The registry, work on streams, windows: with a backend whose device can be held, fail, and go. */
#include "stream_walk.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "record/session/session.h"
#include "record/stream/recorder.h"
#include "toy.h"
#include "varve/control.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);

static char output[4096], folder[4200];
static struct varve_error error;
static uint32_t number;

static int setup(void **state)
{
    (void)state;
    walk_folder(output);
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    memset(&toy, 0, sizeof toy);
    return varve_backend_register(toy_backend(TOY_WHOLE), &number, &error);
}

static int teardown(void **state)
{
    (void)state;
    toy.fails = false;
    (void)varve_session_stop(NULL);
    (void)varve_backend_unregister(number, NULL);
    assert_int_equal(toy_live_events(), 0);
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

static struct varve_backend_stats stats_of(uint32_t backend)
{
    struct varve_backend_stats stats = { .struct_size = sizeof stats };
    assert_int_equal(varve_backend_stats_read(backend, &stats, &error), VARVE_OK);
    return stats;
}

static struct varve_device_work work_on(uint32_t device, uint32_t index)
{
    struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
    work.backend = number;
    work.stream = toy_stream(device, index);
    work.name = "gemm";
    return work;
}

static void do_work(uint32_t device, uint32_t index, int64_t ns)
{
    struct varve_device_work work = work_on(device, index);
    uint64_t piece = varve_device_begin(&work);
    assert_int_not_equal(piece, 0);
    toy_work(work.stream, ns);
    varve_device_end(piece);
}

/* Records of a class in the calling thread's stream. */
static size_t count_records(enum vv_event_id class, uint64_t out_last[8])
{
    size_t found = 0;
    struct walk walk = walk_stream(folder, "thread.1");
    static const uint32_t lengths[] = {
#define ROW(number, id, name, words, fields) [number] = words,
        VV_EVENTS(ROW)
#undef ROW
    };
    for (size_t at = 0; at < walk.word_count;) {
        uint32_t id = walk.words[at] & VV_ID_MASK;
        uint32_t words = id < VV_EVENT_BUILTIN_COUNT ? lengths[id] : 1;
        assert_int_not_equal(words, 0);
        if (id == class) {
            memcpy(out_last, walk.words + at, 8 * words);
            found++;
        }
        at += words;
    }
    free(walk.words);
    return found;
}

/* ---- the registry ---- */

static void a_table_that_lacks_something_is_refused(void **state)
{
    (void)state;
    uint32_t other = 77;
    struct varve_backend table = *toy_backend(TOY_NEGATIVE);
    table.elapsed = NULL;
    assert_int_equal(varve_backend_register(&table, &other, &error), VARVE_INVALID);
    assert_string_equal(error.message, "varve_backend_register: backend 'toy 2' lacks elapsed");
    table = *toy_backend(TOY_NEGATIVE);
    table.struct_size = 8;
    assert_int_equal(varve_backend_register(&table, &other, &error), VARVE_INVALID);
    assert_int_equal(varve_backend_register(NULL, &other, &error), VARVE_INVALID);
    assert_int_equal(varve_backend_register(toy_backend(TOY_WHOLE), &other, &error), VARVE_EXISTS);
    assert_string_equal(error.message, "a backend 'toy' is registered already");
    assert_int_equal(other, 77);
    assert_int_equal(varve_backend_open("opengl", &other, &error), VARVE_NOT_FOUND);
    assert_string_equal(error.message, "varve_backend_open: there is no backend 'opengl': there "
                                       "are host, opencl and cuda");
}

static void sixteen_backends_and_old_numbers(void **state)
{
    (void)state;
    static struct varve_backend tables[VARVE_BACKENDS_MAX];
    static char names[VARVE_BACKENDS_MAX][16];
    uint32_t numbers[VARVE_BACKENDS_MAX], again;
    for (uint32_t i = 0; i < VARVE_BACKENDS_MAX; i++) {
        tables[i] = *toy_backend(TOY_WHOLE);
        snprintf(names[i], sizeof names[i], "many %u", i);
        tables[i].name = names[i];
        enum varve_code code = varve_backend_register(&tables[i], &numbers[i], &error);
        assert_int_equal(code, i < VARVE_BACKENDS_MAX - 1 ? VARVE_OK : VARVE_LIMIT);
    }
    assert_int_equal(varve_backend_unregister(numbers[3], &error), VARVE_OK);
    assert_int_equal(varve_backend_unregister(numbers[3], &error), VARVE_NOT_FOUND);
    assert_null(varve_backend_table(numbers[3]));
    assert_int_equal(varve_backend_register(&tables[3], &again, &error), VARVE_OK);
    assert_int_not_equal(again, numbers[3]);
    assert_ptr_equal(varve_backend_table(again), &tables[3]);
    numbers[3] = again;
    for (uint32_t i = 0; i < VARVE_BACKENDS_MAX - 1; i++)
        assert_int_equal(varve_backend_unregister(numbers[i], &error), VARVE_OK);
    assert_int_equal(varve_backend_unregister(0, &error), VARVE_NOT_FOUND);
    assert_int_equal(varve_backend_unregister(9999, &error), VARVE_NOT_FOUND);
}

static void a_stream_keeps_its_track(void **state)
{
    (void)state;
    uint32_t first, second, other;
    const struct varve_device_place place = { 1, 0, toy_stream(1, 2) };
    assert_int_equal(varve_backend_track(number, &place, "copies", &first, &error), VARVE_OK);
    assert_int_equal(varve_backend_unregister(number, &error), VARVE_OK);
    assert_int_equal(varve_backend_track(number, &place, NULL, &other, &error), VARVE_NOT_FOUND);
    assert_int_equal(varve_backend_register(toy_backend(TOY_WHOLE), &number, &error), VARVE_OK);
    assert_int_equal(varve_backend_track(number, &place, NULL, &second, &error), VARVE_OK);
    assert_int_equal(second, first);
    const struct varve_device_place gone = { 2, 0, NULL };
    assert_int_equal(varve_backend_track(number, &gone, NULL, &other, &error), VARVE_NOT_FOUND);
}

/* ---- work ---- */

static void work_is_told_with_its_own_times(void **state)
{
    (void)state;
    uint64_t record[8], launch[8];
    start(VARVE_LAYER_ALL);
    varve_begin(&op);
    do_work(1, 1, 5000000);
    varve_end();
    assert_int_equal(varve_device_flush(number, &error), VARVE_OK);
    struct varve_backend_stats stats = stats_of(number);
    assert_int_equal(stats.begun, 1);
    assert_int_equal(stats.recorded, 1);
    assert_int_equal(stats.pending + stats.lost + stats.refused + stats.failures, 0);
    assert_int_equal(count_records(VV_EVENT_ACTIVITY, record), 1);
    assert_int_equal(count_records(VV_EVENT_LAUNCH, launch), 1);
    assert_int_equal(record[4] - record[3], stats.total_ns);
    assert_true(stats.total_ns >= 5000000);
    assert_int_equal(record[2], VARVE_ACTIVITY_KERNEL);
    assert_int_equal(record[5], launch[1]); /* the number ties them, and is above the program's */
    assert_true(launch[1] > UINT64_C(1) << 52 && launch[1] < UINT64_C(1) << 53);
}

static void nothing_waits_until_it_is_asked(void **state)
{
    (void)state;
    uint64_t record[8];
    start(VARVE_LAYER_ALL);
    toy_hold(toy_stream(0, 1));
    do_work(0, 1, 1000); /* would not return */
    do_work(0, 2, 0);
    varve_device_poll();
    struct varve_backend_stats stats = stats_of(number);
    assert_int_equal(stats.pending, 1);
    assert_int_equal(stats.recorded, 1); /* the other stream's */
    toy_let_go(toy_stream(0, 1));
    while (stats_of(number).pending != 0)
        varve_device_poll();
    assert_int_equal(count_records(VV_EVENT_ACTIVITY, record), 2);
    assert_int_equal(toy.synchronized[0], 1); /* the start's, and no other */
}

static void what_later_work_finds_complete_is_told(void **state)
{
    (void)state;
    start(VARVE_LAYER_ALL);
    for (int i = 0; i < 100; i++)
        do_work(0, 1, 0);
    assert_true(stats_of(number).recorded >= 99);
}

static void mistakes_of_the_caller_are_counted(void **state)
{
    (void)state;
    struct varve_device_work work = work_on(0, 1);
    assert_int_equal(varve_device_begin(&work), 0); /* nothing is recorded */
    start(VARVE_LAYER_ALL & ~VARVE_LAYER_DEVICE);
    assert_int_equal(varve_device_begin(&work), 0);
    assert_int_equal(stats_of(number).begun, 0);
    varve_layers_set(VARVE_LAYER_ALL);
    uint64_t piece = varve_device_begin(&work);
    varve_device_end(piece);
    varve_device_end(piece); /* once more */
    varve_device_end(12345);
    varve_device_end(UINT64_MAX);
    work.device = 7;
    assert_int_equal(varve_device_begin(&work), 0);
    varve_device_work_event(&work, NULL); /* the toy has no events of work */
    work.backend = 999;
    assert_int_equal(varve_device_begin(&work), 0);
    work.struct_size = 0;
    assert_int_equal(varve_device_begin(&work), 0);
    assert_int_equal(varve_device_begin(NULL), 0);
    toy.is_gone = true;
    work = work_on(0, 1);
    assert_int_equal(varve_device_begin(&work), 0);
    toy.is_gone = false;
    assert_int_equal(varve_device_flush(0, &error), VARVE_OK);
    struct varve_backend_stats stats = stats_of(number);
    assert_int_equal(stats.begun, 4);
    assert_int_equal(stats.recorded, 1);
    assert_int_equal(stats.refused, 3);
    assert_int_equal(stats.lost, 3);
    assert_int_equal(stats.failures, 0);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.discarded, 6); /* all that began nothing while it was recorded */
    free(walk.words);
}

static void ranges_and_marks_reach_the_stream_and_the_vendor(void **state)
{
    (void)state;
    uint64_t record[8];
    struct varve_device_work work = work_on(0, 1);
    start(VARVE_LAYER_ALL);
    varve_device_pop(); /* nothing is open */
    for (int i = 0; i < 70; i++) {
        work.name = "range";
        varve_device_push(&work);
    }
    for (int i = 0; i < 70; i++)
        varve_device_pop();
    work.name = "here";
    varve_device_mark(&work);
    assert_int_equal(varve_device_flush(0, &error), VARVE_OK);
    assert_int_equal(count_records(VV_EVENT_ACTIVITY, record), 71);
    assert_int_equal(record[2], VARVE_ACTIVITY_RANGE);
    assert_int_equal(record[3], record[4]);
    assert_int_equal(toy.pushed, 70);
    assert_int_equal(toy.popped, 70);
    assert_int_equal(toy.marked, 1);
}

static void work_of_a_former_session_is_not_the_next_ones(void **state)
{
    (void)state;
    struct varve_device_work work = work_on(0, 1);
    start(VARVE_LAYER_ALL);
    uint64_t piece = varve_device_begin(&work);
    assert_int_equal(varve_session_stop(&error), VARVE_OK);
    start(VARVE_LAYER_ALL);
    varve_device_end(piece);
    assert_int_equal(varve_device_flush(0, &error), VARVE_OK);
    assert_int_equal(stats_of(number).lost, 1);
    do_work(0, 1, 0);
    assert_int_equal(varve_session_stop(&error), VARVE_OK); /* tells what is pending */
    assert_int_equal(stats_of(number).recorded, 1);
}

static void a_backend_that_goes_leaves_its_work_counted(void **state)
{
    (void)state;
    uint64_t record[8];
    start(VARVE_LAYER_ALL);
    toy_hold(toy_stream(0, 1));
    struct varve_device_work work = work_on(0, 2);
    uint64_t open = varve_device_begin(&work);
    do_work(0, 1, 0);
    do_work(1, 1, 0);
    assert_int_equal(varve_backend_unregister(number, &error), VARVE_OK);
    toy_let_go(toy_stream(0, 1));
    varve_device_end(open); /* its event is lost with the backend */
    assert_int_equal(varve_device_begin(&work), 0);
    assert_int_equal(count_records(VV_EVENT_ACTIVITY, record), 1);
    assert_int_equal(toy_live_events(), 1);
    assert_int_equal(varve_backend_register(toy_backend(TOY_WHOLE), &number, &error), VARVE_OK);
    do_work(0, 2, 0);
    assert_int_equal(varve_device_flush(number, &error), VARVE_OK);
    assert_int_equal(stats_of(number).recorded, 1);
    assert_int_equal(stats_of(number).pending, 0);
    toy_forget_live_events();
}

/* ---- failures ---- */

static bool is_noted(const char *text)
{
    struct walk walk = walk_stream(folder, "process");
    bool is_there = memmem(walk.words, walk.word_count * 8, text, strlen(text)) != NULL;
    free(walk.words);
    return is_there;
}

static void a_backend_that_fails_is_detached_and_named(void **state)
{
    (void)state;
    struct varve_device_work work = work_on(0, 1);
    start(VARVE_LAYER_ALL);
    do_work(0, 1, 0);
    varve_device_poll();
    toy.fails = true;
    for (uint32_t i = 0; i < VARVE_BACKEND_FAILURES_MAX - 1; i++)
        assert_int_equal(varve_device_begin(&work), 0);
    toy.fails = false;
    do_work(0, 1, 0); /* a success between: it counts anew */
    toy.fails = true;
    for (uint32_t i = 0; i < VARVE_BACKEND_FAILURES_MAX - 1; i++)
        assert_int_equal(varve_device_begin(&work), 0);
    assert_false(stats_of(number).is_detached);
    errno = 4711;
    assert_int_equal(varve_device_begin(&work), 0);
    assert_int_equal(errno, 4711);
    toy.fails = false;
    struct varve_backend_stats stats = stats_of(number);
    assert_true(stats.is_detached);
    assert_false(stats.is_enabled);
    assert_int_equal(stats.failures, 2 * VARVE_BACKEND_FAILURES_MAX - 1);
    assert_true(is_noted("device toy"));
    assert_true(is_noted("detached: it failed 8 times in a row, at last: toy: the driver says 13"));
    assert_int_equal(varve_device_begin(&work), 0); /* it is not asked any more */
    assert_int_equal(stats_of(number).failures, stats.failures);
    assert_int_equal(varve_device_flush(number, &error), VARVE_NOT_FOUND);
    assert_int_equal(varve_device_flush(0, &error), VARVE_OK);
    assert_int_equal(varve_session_stop(&error), VARVE_OK);
}

static void events_of_two_backends_have_no_time_between_them(void **state)
{
    (void)state;
    uint32_t host;
    struct varve_device_event one, two;
    const struct varve_device_place here = { 0, 0, NULL };
    int64_t ns = 5, host_ns = 0;
    assert_int_equal(varve_backend_open("host", &host, &error), VARVE_OK);
    assert_int_equal(varve_event_record(number, &here, &one, &host_ns, &error), VARVE_OK);
    assert_int_equal(varve_event_record(host, &here, &two, NULL, &error), VARVE_OK);
    assert_int_equal(varve_event_elapsed(&one, &two, &ns, &error), VARVE_INVALID);
    assert_string_equal(error.message, "varve_event_elapsed: the events are of two backends");
    assert_int_equal(ns, 5);
    assert_int_equal(varve_event_elapsed(&one, &one, &ns, &error), VARVE_OK);
    assert_int_equal(ns, 0);
    assert_true(host_ns > 0);
    assert_int_equal(stats_of(number).refused, 1);
    assert_int_equal(varve_backend_unregister(host, &error), VARVE_OK);
    assert_int_equal(varve_event_elapsed(&two, &two, &ns, &error), VARVE_NOT_FOUND);
    assert_int_equal(varve_event_record(host, &here, &two, NULL, &error), VARVE_NOT_FOUND);
    varve_event_release(&two);
    varve_event_release(&one);
    assert_null(one.backend);
}

/* ---- windows ---- */

static void windows_begin_and_end_on_all_devices(void **state)
{
    (void)state;
    start(VARVE_LAYER_ALL);
    assert_int_equal(toy.synchronized[0], 1);
    assert_int_equal(toy.synchronized[1], 1);
    assert_int_equal(toy.visited[1], 1);
    toy_work(toy_stream(1, 1), 3000000);
    varve_layers_set(VARVE_LAYER_ALL & ~VARVE_LAYER_DEVICE);
    assert_int_equal(toy.synchronized[1], 2);
    varve_layers_set(VARVE_LAYER_OP); /* devices do not notice */
    assert_int_equal(toy.synchronized[1], 2);
    toy.is_off = true;
    varve_layers_set(VARVE_LAYER_ALL); /* a backend that is off is not waited for */
    assert_int_equal(toy.synchronized[1], 2);
    toy.is_off = false;
    assert_int_equal(varve_session_stop(&error), VARVE_OK);
    assert_int_equal(toy.synchronized[1], 3);
    assert_int_equal(toy.visited[0], 3);
    assert_int_equal(toy.flushed, 2); /* where windows end */
    assert_int_equal(stats_of(number).windows, 3);
}

static void each_phase_of_a_schedule_is_a_window(void **state)
{
    (void)state;
    const struct vv_session_manner manner = { .folder_now = true,
                                              .schedule = { 2, 1, 2, 1 } };
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    static const int expected[] = { 0, 0, 1, 2, 2, 3, 3 }; /* skip skip warmup active active - - */
    options.output = output;
    assert_int_equal(vv_session_begin(&options, &manner, &error), VARVE_OK);
    for (int64_t i = 0; i < 7; i++) {
        varve_step_begin(i);
        if (i == 3)
            do_work(0, 1, 100000);
        varve_step_end();
        int is_last = i == 4; /* active ends with its last step */
        assert_int_equal(toy.synchronized[0], expected[i] + is_last);
    }
    assert_int_equal(stats_of(number).recorded, 1);
}

static void the_control_api_begins_windows_too(void **state)
{
    (void)state;
    struct varve_profiling_config *config;
    assert_int_equal(varve_profiling_init(output, &error), VARVE_OK);
    assert_int_equal(varve_profiling_config_create(NULL, &config, &error), VARVE_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(varve_profiling_start(config, &error), VARVE_OK);
        assert_int_equal(toy.synchronized[0], 2 * i + 1);
        do_work(0, 1, 10000);
        assert_int_equal(varve_profiling_stop(config, &error), VARVE_OK);
        assert_int_equal(toy.synchronized[0], 2 * i + 2);
        assert_int_equal(stats_of(number).recorded, i + 1);
    }
    assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
    assert_int_equal(varve_profiling_config_destroy(config, &error), VARVE_OK);
}

static void three_states_are_one_call(void **state)
{
    (void)state;
    enum varve_profile_state former = 99;
    assert_int_equal(varve_profile_state_set(VARVE_PROFILE_HOST, &former, &error), VARVE_STATE);
    start(VARVE_LAYER_OP | VARVE_LAYER_DEVICE);
    assert_int_equal(varve_profile_state_set(VARVE_PROFILE_HOST, &former, &error), VARVE_OK);
    assert_int_equal(former, VARVE_PROFILE_HOST_AND_DEVICES);
    assert_int_equal(varve_layers(), VARVE_LAYER_OP);
    assert_int_equal(varve_profile_state_set(VARVE_PROFILE_OFF, &former, &error), VARVE_OK);
    assert_int_equal(former, VARVE_PROFILE_HOST);
    assert_int_equal(varve_layers(), 0);
    assert_int_equal(varve_profile_state_set(VARVE_PROFILE_HOST_AND_DEVICES, &former, &error),
                     VARVE_OK);
    assert_int_equal(former, VARVE_PROFILE_OFF);
    assert_int_equal(varve_layers(), VARVE_LAYER_OP | VARVE_LAYER_DEVICE);
    assert_int_equal(varve_profile_state_set((enum varve_profile_state)3, NULL, &error),
                     VARVE_INVALID);
    assert_int_equal(stats_of(number).windows, 3);
}

static uint32_t handled;

static void on_signal(int signal_number)
{
    (void)signal_number;
    handled = varve_layers_set(0);
}

static void signal_handlers_wait_for_no_device(void **state)
{
    (void)state;
    start(VARVE_LAYER_ALL);
    signal(SIGUSR1, on_signal);
    toy_hold(toy_stream(0, 1)); /* who waits would wait for ever */
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    toy_let_go(toy_stream(0, 1));
    assert_int_equal(handled, VARVE_LAYER_ALL);
    assert_int_equal(varve_layers(), 0);
    assert_int_equal(toy.synchronized[0], 1);
}

/* ---- children, threads ---- */

static void a_child_has_only_what_outlives_a_fork(void **state)
{
    (void)state;
    uint32_t host;
    assert_int_equal(varve_backend_open("host", &host, &error), VARVE_OK);
    start(VARVE_LAYER_ALL);
    toy_hold(toy_stream(0, 1));
    do_work(0, 1, 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
        work.backend = host;
        work.name = "child";
        varve_device_end(varve_device_begin(&work));
        bool is_well = varve_backend_table(number) == NULL &&
                       varve_device_flush(0, &error) == VARVE_OK &&
                       stats_of(host).recorded == 1 && stats_of(host).pending == 0;
        _exit(is_well ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    toy_let_go(toy_stream(0, 1));
    assert_int_equal(varve_device_flush(0, &error), VARVE_OK);
    assert_int_equal(stats_of(number).recorded, 1);
    assert_int_equal(varve_backend_unregister(host, &error), VARVE_OK);
}

enum { THREADS = 6, PIECES = 400 };
static bool is_over;

static void *work_in_thread(void *argument)
{
    uint32_t index = (uint32_t)(uintptr_t)argument;
    for (int i = 0; i < PIECES; i++) {
        struct varve_device_work work = work_on(index % TOY_DEVICES, (uint32_t)i % TOY_STREAMS);
        uint64_t piece = varve_device_begin(&work);
        toy_work(work.stream, 100);
        varve_device_end(piece);
    }
    return NULL;
}

static void *disturb(void *argument)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        uint32_t other;
        struct varve_device_work work = work_on(0, 1);
        assert_int_equal(varve_backend_register(toy_backend(TOY_NEGATIVE), &other, NULL), VARVE_OK);
        work.backend = other;
        varve_device_end(varve_device_begin(&work));
        varve_device_poll();
        assert_int_equal(varve_backend_unregister(other, NULL), VARVE_OK);
    }
    return argument;
}

static void threads_streams_and_devices_lose_nothing(void **state)
{
    (void)state;
    pthread_t threads[THREADS], other;
    start(VARVE_LAYER_ALL);
    is_over = false;
    assert_int_equal(pthread_create(&other, NULL, disturb, NULL), 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_in_thread, (void *)i), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(varve_device_flush(number, NULL), VARVE_OK);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    pthread_join(other, NULL);
    assert_int_equal(varve_session_stop(&error), VARVE_OK);
    struct varve_backend_stats stats = stats_of(number);
    assert_int_equal(stats.begun, THREADS * PIECES);
    assert_int_equal(stats.recorded, THREADS * PIECES);
    assert_int_equal(stats.lost + stats.pending + stats.failures + stats.negative, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_table_that_lacks_something_is_refused),
        TEST(sixteen_backends_and_old_numbers),
        TEST(a_stream_keeps_its_track),
        TEST(work_is_told_with_its_own_times),
        TEST(nothing_waits_until_it_is_asked),
        TEST(what_later_work_finds_complete_is_told),
        TEST(mistakes_of_the_caller_are_counted),
        TEST(ranges_and_marks_reach_the_stream_and_the_vendor),
        TEST(work_of_a_former_session_is_not_the_next_ones),
        TEST(a_backend_that_goes_leaves_its_work_counted),
        TEST(a_backend_that_fails_is_detached_and_named),
        TEST(events_of_two_backends_have_no_time_between_them),
        TEST(windows_begin_and_end_on_all_devices),
        TEST(each_phase_of_a_schedule_is_a_window),
        TEST(the_control_api_begins_windows_too),
        TEST(three_states_are_one_call),
        TEST(signal_handlers_wait_for_no_device),
        TEST(a_child_has_only_what_outlives_a_fork),
        TEST(threads_streams_and_devices_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

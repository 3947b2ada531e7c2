/* SPDX-License-Identifier: Apache-2.0 */
/* A process dumps its own session: whole, unbroken, also from signal handlers and of a flight
 * recorder. */
#include "stream_walk.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "record/session/dump.h"
#include "record/session/session.h"
#include "record/stream/recorder.h"

#define THREADS 3
#define KEEP_BYTES (UINT64_C(2) << 20)

VARVE_SITE(op, "op", VARVE_LAYER_OP);

static char root[4096], trace[4200], dumped[4300];

static void begin(uint64_t keep_bytes)
{
    const struct vv_session_manner manner = { .folder_now = true, .keep_bytes = keep_bytes };
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    walk_folder(root);
    snprintf(trace, sizeof trace, "%s/t.varve", root);
    options.output = trace;
    assert_int_equal(vv_session_begin(&options, &manner, NULL), VARVE_OK);
}

static int start(void **state)
{
    (void)state;
    begin(0);
    return 0;
}

static int start_ring(void **state)
{
    (void)state;
    begin(KEEP_BYTES);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(root);
    return 0;
}

static void pairs(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        varve_begin(&op);
        varve_end();
    }
}

static const char *in_root(const char *name)
{
    snprintf(dumped, sizeof dumped, "%.4000s/%s", root, name);
    return dumped;
}

/* ---- what a dump holds ---- */

struct stream {
    uint64_t words, bytes;
    unsigned first_part;
};

/* From the first part that is there on. Fails unless parts, packets and records follow each other:
 * begins and ends take turns. */
static struct stream look(const char *name, int pid, unsigned instance)
{
    struct stream stream = { 0 };
    struct walk walk = { 0 };
    for (unsigned part = 0, parts = 0; part < 4000; part++) {
        char path[4600];
        size_t bytes;
        snprintf(path, sizeof path, "%.4000s/%s/%d/thread.%u.%u", root, name, pid, instance, part);
        const uint8_t *map = walk_map(path, &bytes);
        if (map == NULL && parts > 0)
            break;
        if (map == NULL)
            continue;
        if (parts++ == 0) {
            stream.first_part = part;
            walk.packets = ((const struct vv_packet_header *)(const void *)map)->sequence;
        }
        walk_part(&walk, map, bytes);
        stream.bytes += bytes;
        munmap((void *)map, bytes);
    }
    stream.words = walk.word_count;
    for (size_t i = 1; i < walk.word_count; i++)
        assert_true((walk_id(walk.words[i]) == VV_EVENT_END) !=
                    (walk_id(walk.words[i - 1]) == VV_EVENT_END));
    free(walk.words);
    return stream;
}

static uint64_t words_of(const char *name)
{
    return look(name, (int)getpid(), 1).words;
}

static bool exists(const char *name)
{
    return access(in_root(name), F_OK) == 0;
}

/* Nothing that was being made lies about. */
static void expect_entries(unsigned count)
{
    char command[4200], text[16] = "";
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", root);
    FILE *pipe = popen(command, "r");
    assert_non_null(fgets(text, sizeof text, pipe));
    pclose(pipe);
    assert_int_equal(atoi(text), count);
}

/* ---- tests ---- */

static void a_dump_stays_while_recording_goes_on(void **state)
{
    (void)state;
    pairs(100000);
    errno = 4711;
    assert_int_equal(varve_session_dump(in_root("a.varve"), NULL), VARVE_OK);
    assert_int_equal(errno, 4711);
    pairs(100000);
    assert_int_equal(words_of("a.varve"), 200000);
    assert_int_equal(varve_session_dump(in_root("b.varve"), NULL), VARVE_OK);
    assert_int_equal(words_of("b.varve"), 400000);
    assert_int_equal(words_of("a.varve"), 200000);
    assert_int_equal(words_of("t.varve"), 400000);
    expect_entries(3);
}

static void without_a_name_it_lies_beside_the_trace(void **state)
{
    (void)state;
    pairs(10);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(varve_session_dump(NULL, NULL), VARVE_OK);
    assert_int_equal(words_of("t.dump.varve"), 20);
    assert_int_equal(words_of("t.dump.2.varve"), 20);
    assert_int_equal(words_of("t.dump.3.varve"), 20);
    expect_entries(4);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    struct varve_error error;
    char wanted[4400];
    pairs(1);
    assert_int_equal(varve_session_dump(trace, &error), VARVE_EXISTS);
    snprintf(wanted, sizeof wanted, "cannot dump to '%s': File exists", trace);
    assert_string_equal(error.message, wanted);
    assert_int_equal(error.os_errno, EEXIST);
    assert_int_equal(varve_session_dump("/nonexistent/a.varve", &error), VARVE_NOT_FOUND);
    assert_int_equal(varve_session_dump("", &error), VARVE_INVALID);
    varve_session_stop(NULL);
    assert_int_equal(varve_session_dump(in_root("a.varve"), &error), VARVE_STATE);
    assert_non_null(strstr(error.message, "': no session runs"));
    expect_entries(1);
}

static void a_forked_child_dumps_what_is_its_own(void **state)
{
    (void)state;
    pairs(5);
    pid_t child = fork();
    if (child == 0) {
        if (varve_session_dump(in_root("early.varve"), NULL) != VARVE_STATE)
            _exit(1);
        pairs(7);
        _exit(varve_session_dump(in_root("child.varve"), NULL) == VARVE_OK ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(look("child.varve", child, 1).words, 14);
    snprintf(dumped, sizeof dumped, "%.4000s/child.varve/%d", root, (int)getpid());
    assert_int_not_equal(access(dumped, F_OK), 0);
}

/* ---- signals ---- */

static volatile sig_atomic_t dumps, refused;

static void dump_in_handler(int number)
{
    char path[4300];
    (void)number;
    snprintf(path, sizeof path, "%.4000s/h.%d.varve", root, dumps);
    if (varve_session_dump(path, NULL) == VARVE_OK)
        dumps++;
    else
        refused++;
}

/* Wherever the signal comes, in the hot path, in the slow path or between, the dump has no hole. */
static void a_handler_may_dump_at_any_instant(void **state)
{
    (void)state;
    const struct sigaction action = { .sa_handler = dump_in_handler };
    const struct itimerval once = { { 0, 0 }, { 0, 50 } };
    dumps = refused = 0;
    sigaction(SIGALRM, &action, NULL);
    pairs(1);
    while (dumps < 100) {
        sig_atomic_t before = dumps;
        setitimer(ITIMER_REAL, &once, NULL);
        while (dumps == before && refused == 0)
            pairs(100);
    }
    signal(SIGALRM, SIG_DFL);
    assert_int_equal(refused, 0);
    uint64_t former = 0;
    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "h.%d.varve", i);
        uint64_t words = words_of(name);
        assert_true(words >= former);
        former = words;
    }
    expect_entries(101);
}

static void a_signal_dumps_where_the_program_does_not_handle_it(void **state)
{
    (void)state;
    pairs(3);
    assert_int_equal(vv_dump_on_signal(SIGUSR2), 0);
    assert_int_equal(vv_dump_on_signal(SIGUSR2), 0); /* a second session */
    raise(SIGUSR2);
    raise(SIGUSR2);
    assert_int_equal(words_of("t.dump.varve"), 6);
    assert_int_equal(words_of("t.dump.2.varve"), 6);
    signal(SIGUSR1, dump_in_handler);
    assert_int_equal(vv_dump_on_signal(SIGUSR1), EBUSY);
    assert_ptr_equal(signal(SIGUSR1, SIG_IGN), dump_in_handler);
    assert_int_equal(vv_dump_on_signal(SIGUSR1), 0);
    raise(SIGUSR1);
    assert_true(exists("t.dump.3.varve"));
    assert_int_equal(vv_dump_on_signal(SIGKILL), EINVAL);
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
}

/* ---- a flight recorder, faster than any copy ---- */

static int running;

static void *emit(void *nothing)
{
    while (__atomic_load_n(&running, __ATOMIC_RELAXED))
        pairs(1000);
    return nothing;
}

static void a_busy_flight_recorder_is_frozen_without_a_gap(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint64_t words = 0;
    unsigned removed = 0, turns = 0;
    running = 1;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, emit, NULL), 0);
    for (; turns < 20 || (removed == 0 && turns < 2000); turns++) {
        char name[32];
        uint64_t bytes = 0;
        usleep(10000);
        words = 0;
        snprintf(name, sizeof name, "r.%u.varve", turns);
        assert_int_equal(varve_session_dump(in_root(name), NULL), VARVE_OK);
        for (unsigned i = 1; i <= THREADS; i++) {
            struct stream stream = look(name, (int)getpid(), i);
            words += stream.words;
            bytes += stream.bytes;
            removed += stream.first_part;
        }
        assert_true(bytes < 2 * KEEP_BYTES);
    }
    __atomic_store_n(&running, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(removed > 0); /* else there was no race */
    assert_true(words * 8 > KEEP_BYTES / 2);
    expect_entries(turns + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dump_stays_while_recording_goes_on, start, stop),
        cmocka_unit_test_setup_teardown(without_a_name_it_lies_beside_the_trace, start, stop),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_said, start, stop),
        cmocka_unit_test_setup_teardown(a_forked_child_dumps_what_is_its_own, start, stop),
        cmocka_unit_test_setup_teardown(a_handler_may_dump_at_any_instant, start, stop),
        cmocka_unit_test_setup_teardown(a_signal_dumps_where_the_program_does_not_handle_it, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_busy_flight_recorder_is_frozen_without_a_gap, start_ring,
                                        stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

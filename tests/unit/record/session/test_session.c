/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions, ranges and threads through the public interface, read back from the files. */
#include "stream_walk.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "record/session/session.h"
#include "record/stream/process_stream.h"
#include "record/stream/recorder.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);
VARVE_SITE(host, "host", VARVE_LAYER_HOST);
VARVE_SITE(phase, "phase", VARVE_LAYER_STEP);
VARVE_SITE(tick, "tick", VARVE_LAYER_METRIC);

static char output[4096], folder[4200];

static int start_with(uint32_t layers)
{
    walk_folder(output);
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error = { 0 };
    options.output = output;
    options.layers = layers;
    enum varve_code code = varve_session_start(&options, &error);
    if (code != VARVE_OK)
        print_error("%s\n", error.message);
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    return code;
}

static int start(void **state)
{
    (void)state;
    return start_with(0);
}

static int stop(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(output);
    return 0;
}

/* The ids of thread 1's one-word records, sites as 'b'egin 'n'ext by name order, ends as 'e'. */
static void expect_shape(const char *shape)
{
    char seen[64] = "";
    struct walk walk = walk_stream(folder, "thread.1");
    for (size_t i = 0; i < walk.word_count; i++) {
        uint32_t id = walk_id(walk.words[i]);
        char mark = '?';
        if (id >= VV_SITE_ID_FIRST)
            mark = id % VV_SITE_KINDS == VV_KIND_NEXT ? 'n' : 'b';
        else if (id == VV_EVENT_END)
            mark = 'e';
        else if (id == VV_EVENT_STEP_BEGIN)
            mark = 'S', i++;
        else if (id == VV_EVENT_STEP_END)
            mark = 's';
        strncat(seen, &mark, 1);
    }
    free(walk.words);
    assert_string_equal(seen, shape);
}

static void ranges_nest(void **state)
{
    (void)state;
    varve_step_begin(0);
    varve_begin(&phase);
    varve_begin(&op);
    varve_end();
    varve_next(&phase);
    varve_end();
    varve_step_end();
    expect_shape("Sbbenes");
}

static void ends_without_a_begin_are_not_written(void **state)
{
    (void)state;
    varve_end();
    varve_step_end();
    varve_begin(&op);
    varve_end();
    varve_end();
    varve_step_begin(1);
    varve_end(); /* a step is ended by varve_step_end alone */
    varve_begin(&op);
    varve_step_end(); /* ends the range too */
    varve_end();
    expect_shape("beSbs");
}

static void a_masked_range_takes_its_end_with_it(void **state)
{
    (void)state;
    varve_layers_set(VARVE_LAYER_OP);
    varve_begin(&op);
    varve_begin(&host);
    varve_begin(&op);
    varve_end();
    varve_next(&op); /* the host range ends unseen, this one begins */
    varve_next(&host); /* that one ends, and this is unseen */
    varve_end();
    varve_end();
    expect_shape("bbebee");
}

static void ranges_open_at_a_pause_are_forgotten(void **state)
{
    (void)state;
    varve_begin(&op);
    assert_int_equal(varve_layers_set(0), VARVE_LAYER_ALL);
    varve_begin(&op);
    assert_int_equal(varve_layers_set(VARVE_LAYER_ALL), 0);
    varve_end();
    varve_end();
    varve_begin(&op);
    varve_end();
    expect_shape("bbe");
}

static void deeper_than_is_tracked_still_balances(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        varve_begin(&op);
    for (int i = 0; i < 1000; i++)
        varve_end();
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.word_count, 2000);
    free(walk.words);
}

static void *emit_many(void *count)
{
    for (uintptr_t i = 0; i < (uintptr_t)count; i++) {
        varve_begin(&op);
        varve_end();
    }
    return NULL;
}

static void every_thread_has_a_stream_of_its_own(void **state)
{
    (void)state;
    pthread_t threads[8];
    for (uintptr_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, emit_many, (void *)(1000 * (i + 1))), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    uint64_t words = 0;
    for (int i = 1; i <= 8; i++) {
        char base[32];
        snprintf(base, sizeof base, "thread.%d", i);
        struct walk walk = walk_stream(folder, base);
        assert_int_equal(walk.discarded, 0);
        words += walk.word_count;
        free(walk.words);
    }
    assert_int_equal(words, 2 * 1000 * 36);
}

static volatile sig_atomic_t handled;

static void on_alarm(int number)
{
    (void)number;
    varve_counter(&tick, (double)++handled);
}

/* Law: records from handlers are all there or counted, and time never runs backwards. */
static void signal_handlers_record_too(void **state)
{
    (void)state;
    varve_counter(&tick, 0); /* the first use of a site takes the slow path */
    struct sigaction action = { .sa_handler = on_alarm };
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval once = { { 0, 0 }, { 0, 5 } };
    uint64_t pairs = 0;
    int armed = 0;
    /* under valgrind they come seldom … */
    for (; handled <= 10 || (handled < 2000 && pairs < 400000); pairs++) {
        if (armed == handled) { /* … and a flood of them would let nothing else run */
            armed++;
            setitimer(ITIMER_REAL, &once, NULL);
        }
        varve_begin(&op);
        varve_end();
    }
    while (handled < armed)
        sched_yield();
    struct walk walk = walk_stream(folder, "thread.1");
    uint64_t records = 0, last = 0;
    for (size_t i = 0; i < walk.word_count; i++) {
        uint64_t ticks = walk.words[i] >> VV_ID_BITS;
        assert_true(ticks >= last);
        last = ticks;
        records++;
        if (walk_id(walk.words[i]) >= VV_SITE_ID_FIRST &&
            walk_id(walk.words[i]) % 8 == VV_KIND_COUNTER)
            i++;
    }
    assert_int_equal(records + walk.discarded, 2 * pairs + 1 + (uint64_t)handled);
    free(walk.words);
}

static void both_sides_of_a_fork_are_recorded(void **state)
{
    (void)state;
    emit_many((void *)10);
    pid_t child = fork();
    if (child == 0) {
        emit_many((void *)20);
        _exit(0);
    }
    emit_many((void *)30);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.word_count, 80);
    free(walk.words);
    char childs[4300];
    snprintf(childs, sizeof childs, "%s/%d", output, (int)child);
    walk = walk_stream(childs, "thread.1");
    assert_int_equal(walk.word_count, 40);
    assert_int_equal(walk.tid, (uint64_t)child);
    free(walk.words);
}

/* What the parent lost before is no loss of the child. */
static void a_child_begins_without_its_parents_loss(void **state)
{
    (void)state;
    emit_many((void *)1);
    __atomic_store_n(&vv_session_homeless, 7, __ATOMIC_RELAXED);
    pid_t child = fork();
    if (child == 0) {
        emit_many((void *)20);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    char childs[4300];
    snprintf(childs, sizeof childs, "%s/%d", output, (int)child);
    struct walk walk = walk_stream(childs, "process");
    assert_int_equal(walk.discarded, 0);
    free(walk.words);
    varve_thread_name("another name"); /* the parent writes something */
    walk = walk_stream(folder, "process");
    assert_int_equal(walk.discarded, 7);
    free(walk.words);
}

/* In the stream of the thread that gave it; the process's own has no room: its disk is full. */
static void a_name_without_room_is_one_record_lost(void **state)
{
    (void)state;
    varve_process_name("known");
    emit_many((void *)1);
    uint8_t *limit = vv_session.writer.limit;
    vv_session.writer.limit = vv_session.writer.cursor;
    vv_session.stream.retry_ticks = UINT64_MAX;
    void (*const calls[])(const char *) = { varve_process_name, varve_thread_name };
    const char *const names[] = { "known", "new" };
    for (uint64_t lost = 0; lost < 4; lost++) {
        calls[lost / 2](names[lost % 2]);
        struct walk walk = walk_stream(folder, "thread.1");
        assert_int_equal(walk.discarded, lost + 1);
        free(walk.words);
    }
    vv_session.writer.limit = limit;
    vv_session.stream.retry_ticks = 0;
}

static void what_the_program_has_set_is_left_alone(void **state)
{
    (void)state;
    int before = open("/dev/null", O_RDONLY);
    close(before);
    emit_many((void *)1);
    sigset_t mask, mask_after;
    int cancel_state, cancel_type;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* all of it otherwise than it was at the
                                                             first record */
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    errno = 4711;
    varve_begin_name("late", VARVE_LAYER_OP);
    varve_end();
    emit_many((void *)20000);
    varve_thread_name("me");
    assert_int_equal(errno, 4711);
    pthread_sigmask(SIG_UNBLOCK, &mask, &mask_after);
    assert_true(sigismember(&mask_after, SIGUSR2));
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &cancel_type);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel_state);
    assert_int_equal(cancel_type, PTHREAD_CANCEL_ASYNCHRONOUS);
    assert_int_equal(cancel_state, PTHREAD_CANCEL_DISABLE);
    int after = open("/dev/null", O_RDONLY);
    close(after);
    assert_int_equal(after, before);
}

/* The low 44 bits repeat after two hours at 2.4 GHz: a thread that slept gets a packet with the
 * full value. */
static void after_a_long_sleep_a_new_packet_begins(void **state)
{
    (void)state;
    emit_many((void *)1);
    vv_self.era -= 1u << (VV_TICKS_BITS - 2 - VV_ERA_SHIFT);
    emit_many((void *)1);
    vv_self.era -= 1; /* a second is no sleep */
    emit_many((void *)1);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.packets, 2);
    assert_int_equal(walk.word_count, 6);
    free(walk.words);
}

static void sessions_follow_each_other(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(start_with(0), VARVE_OK);
        emit_many((void *)7);
        assert_int_equal(varve_session_stop(NULL), VARVE_OK);
        emit_many((void *)100);
        struct walk walk = walk_stream(folder, "thread.1");
        assert_int_equal(walk.word_count, 14);
        free(walk.words);
        walk_remove(output);
    }
}

static void wrong_order_and_wrong_options_are_told(void **state)
{
    (void)state;
    struct varve_error error;
    assert_int_equal(varve_session_stop(&error), VARVE_STATE);
    assert_string_equal(error.message, "no session runs");
    assert_int_equal(varve_layers_set(VARVE_LAYER_ALL), 0);
    assert_int_equal(varve_layers(), 0);
    struct varve_session_options options = { 0 };
    assert_int_equal(varve_session_start(&options, &error), VARVE_INVALID);
    options = (struct varve_session_options)VARVE_SESSION_OPTIONS_INIT;
    options.layers = 0x80000000u;
    assert_int_equal(varve_session_start(&options, &error), VARVE_INVALID);
    options.layers = 0;
    options.output = "/proc/nowhere/x.varve";
    assert_int_equal(varve_session_start(&options, &error), VARVE_NOT_FOUND);
    assert_non_null(strstr(error.message, "/proc/nowhere/x.varve"));
    struct { struct varve_session_options known; uint64_t later; } newer = {
        VARVE_SESSION_OPTIONS_INIT, 1 };
    newer.known.struct_size = sizeof newer;
    assert_int_equal(varve_session_start(&newer.known, &error), VARVE_UNSUPPORTED);
    assert_int_equal(start_with(0), VARVE_OK);
    assert_int_equal(varve_session_start(NULL, &error), VARVE_STATE);
    assert_non_null(strstr(error.message, output));
    stop(NULL);
}

/* No file may be as long as a packet is. */
static void what_cannot_be_made_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    struct rlimit former, small;
    struct varve_error error;
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    walk_folder(output);
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    options.output = output;
    getrlimit(RLIMIT_FSIZE, &former);
    small = former;
    small.rlim_cur = VV_PACKET_BYTES - 1;
    setrlimit(RLIMIT_FSIZE, &small);
    enum varve_code code = varve_session_start(&options, &error);
    setrlimit(RLIMIT_FSIZE, &former);
    assert_int_equal(code, VARVE_IO);
    assert_non_null(strstr(error.message, output));
    assert_false(vv_session.running);
    assert_int_equal(access(folder, F_OK), -1);
    walk_remove(output);
}

/* As the environment's options begin one: no folder before the first record. */
static void end_unrecorded(bool puts)
{
    const struct vv_session_manner manner = { .begun_by = "a test" };
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    const uint64_t record[] = { VV_EVENT_COST, 1 };
    walk_folder(output);
    options.output = output;
    assert_int_equal(vv_session_begin(&options, &manner, NULL), VARVE_OK);
    assert_true(vv_recorder_lock());
    if (puts)
        assert_false(vv_process_stream_put(record, 2));
    assert_int_equal(vv_session_homeless, puts);
    vv_session_end();
    assert_false(vv_process_stream_put(record, 2)); /* nor afterwards */
    assert_int_equal(vv_session_homeless, puts + 1);
    vv_recorder_unlock();
    walk_remove(output);
}

static void without_a_folder_nothing_is_put_and_all_is_counted(void **state)
{
    (void)state;
    uint64_t homeless = __atomic_exchange_n(&vv_session_homeless, 0, __ATOMIC_RELAXED);
    end_unrecorded(false);
    assert_int_equal(__atomic_exchange_n(&vv_session_homeless, 0, __ATOMIC_RELAXED), 1);
    end_unrecorded(true);
    assert_int_equal(__atomic_exchange_n(&vv_session_homeless, homeless, __ATOMIC_RELAXED), 2);
    assert_int_equal(start_with(0), VARVE_OK);
    pid_t child = fork(); /* it has no folder yet */
    if (child == 0) {
        (void)vv_recorder_lock();
        vv_session_end();
        vv_recorder_unlock();
        _exit(vv_session_homeless != 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    stop(NULL);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranges_nest, start, stop),
        cmocka_unit_test_setup_teardown(ends_without_a_begin_are_not_written, start, stop),
        cmocka_unit_test_setup_teardown(a_masked_range_takes_its_end_with_it, start, stop),
        cmocka_unit_test_setup_teardown(ranges_open_at_a_pause_are_forgotten, start, stop),
        cmocka_unit_test_setup_teardown(deeper_than_is_tracked_still_balances, start, stop),
        cmocka_unit_test_setup_teardown(every_thread_has_a_stream_of_its_own, start, stop),
        cmocka_unit_test_setup_teardown(signal_handlers_record_too, start, stop),
        cmocka_unit_test_setup_teardown(both_sides_of_a_fork_are_recorded, start, stop),
        cmocka_unit_test_setup_teardown(a_child_begins_without_its_parents_loss, start, stop),
        cmocka_unit_test_setup_teardown(a_name_without_room_is_one_record_lost, start, stop),
        cmocka_unit_test_setup_teardown(what_the_program_has_set_is_left_alone, start, stop),
        cmocka_unit_test_setup_teardown(after_a_long_sleep_a_new_packet_begins, start, stop),
        cmocka_unit_test(what_cannot_be_made_is_told_and_leaves_nothing),
        cmocka_unit_test(without_a_folder_nothing_is_put_and_all_is_counted),
        cmocka_unit_test(sessions_follow_each_other),
        cmocka_unit_test(wrong_order_and_wrong_options_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

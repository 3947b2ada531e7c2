/* SPDX-License-Identifier: Apache-2.0 */
/* Files that somebody cuts while they are written: the program lives, and what comes later is
 * kept. */
#include "stream_walk.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "record/session/session.h"
#include "record/stream/recorder.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);

static char output[4096], folder[4200];

/* Within the test: the framework has put its own handler there by then. */
static void start(void)
{
    signal(SIGBUS, SIG_DFL);
    walk_folder(output);
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = output;
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
}

static int stop(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(output);
    return 0;
}

static void emit(int ranges)
{
    for (int i = 0; i < ranges; i++) {
        varve_begin(&op);
        varve_end();
    }
}

static void cut(const char *name)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(truncate(path, 0), 0);
}

static struct walk walk_second_part(void)
{
    char path[4300];
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/thread.1.1", folder);
    const uint8_t *map = walk_map(path, &bytes);
    assert_non_null(map);
    const struct vv_packet_header *packet = (const void *)map;
    struct walk walk = { .packets = packet->sequence };
    walk_part(&walk, map, bytes);
    munmap((void *)map, bytes);
    return walk;
}

/* The record that found the pages gone is lost, and counted; all later ones are in a new part. */
static void a_thread_goes_on_in_a_new_part(void **state)
{
    (void)state;
    start();
    emit(1000);
    cut("thread.1.0");
    errno = 77;
    emit(5000);
    assert_int_equal(errno, 77);
    struct walk walk = walk_second_part();
    assert_int_equal(walk.word_count, 2 * 5000 - 1);
    assert_int_equal(walk.discarded, 1);
    free(walk.words);
}

static void cut_between_two_packets(void **state)
{
    (void)state;
    start();
    emit(4091); /* the first packet's 8,182 words */
    cut("thread.1.0");
    emit(20000);
    emit(1);
}

static void the_process_stream_too(void **state)
{
    (void)state;
    start();
    emit(10);
    cut("process.0");
    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %d", i);
        varve_begin_name(name, VARVE_LAYER_OP);
        varve_end();
    }
    char path[4300];
    snprintf(path, sizeof path, "%s/process.1", folder);
    assert_int_equal(access(path, F_OK), 0);
}

static void the_control_page_too(void **state)
{
    (void)state;
    start();
    emit(10);
    cut(".control");
    emit(100);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.word_count, 220);
    free(walk.words);
}

/* A schedule counts on with the page that takes its place. */
static void the_control_page_under_a_schedule(void **state)
{
    (void)state;
    start();
    varve_session_stop(NULL);
    const struct varve_session_options options = { .output = output };
    const struct vv_session_manner manner = { .folder_now = true,
                                              .schedule = { .skip = 1, .active = 1 } };
    assert_int_equal(vv_session_begin(&options, &manner, NULL), VARVE_OK);
    snprintf(folder, sizeof folder, "%s", vv_session.folder.path);
    for (int step = 0; step < 6; step++) {
        if (step == 2 || step == 3) /* skipped; active */
            cut(".control");
        varve_step_begin(step);
        assert_int_equal(varve_layers() != 0, step % 2);
        varve_step_end();
    }
}

/* A fault that is not the recorder's kills as it always did. */
static void other_bus_errors_kill(void **state)
{
    (void)state;
    start();
    emit(1);
    pid_t child = fork();
    if (child == 0) {
        char path[4300];
        snprintf(path, sizeof path, "%s/mine", output);
        int file = open(path, O_RDWR | O_CREAT, 0600);
        volatile char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        map[0] = 1;
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

static void the_programs_own_handler_stays(void **state)
{
    (void)state;
    start();
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct sigaction after;
    options.output = output;
    varve_session_stop(NULL);
    sigaction(SIGBUS, NULL, &after);
    assert_ptr_equal(after.sa_handler, SIG_DFL);
    signal(SIGBUS, SIG_IGN);
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
    sigaction(SIGBUS, NULL, &after);
    assert_ptr_equal(after.sa_handler, SIG_IGN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_thread_goes_on_in_a_new_part, stop),
        cmocka_unit_test_teardown(cut_between_two_packets, stop),
        cmocka_unit_test_teardown(the_process_stream_too, stop),
        cmocka_unit_test_teardown(the_control_page_too, stop),
        cmocka_unit_test_teardown(the_control_page_under_a_schedule, stop),
        cmocka_unit_test_teardown(other_bus_errors_kill, stop),
        cmocka_unit_test_teardown(the_programs_own_handler_stays, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

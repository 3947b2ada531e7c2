/* SPDX-License-Identifier: Apache-2.0 */
/* The helper thread: there only while a thread records without pause, and never at a record's cost. */
#include "stream_walk.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "varve/varve.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);

static char output[4096];

static int start(void **state)
{
    (void)state;
    walk_folder(output);
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = output;
    return varve_session_start(&options, NULL);
}

static int stop(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(output);
    return 0;
}

static void *emit(void *count)
{
    for (uintptr_t i = 0; i < (uintptr_t)count; i++) {
        varve_begin(&op);
        varve_end();
    }
    return NULL;
}

/* Threads of this process that are called "varve". */
static int helpers(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char path[300], name[16] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fgets(name, sizeof name, file) != NULL && strcmp(name, "varve\n") == 0)
            count++;
        fclose(file);
    }
    closedir(tasks);
    return count;
}

static uint64_t words_of(const char *folder, int threads)
{
    uint64_t words = 0;
    for (int i = 1; i <= threads; i++) {
        char base[32];
        snprintf(base, sizeof base, "thread.%d", i);
        struct walk walk = walk_stream(folder, base);
        words += walk.word_count + walk.discarded;
        free(walk.words);
    }
    return words;
}

static void a_little_recording_needs_no_helper(void **state)
{
    (void)state;
    emit((void *)20000);
    assert_int_equal(helpers(), 0);
}

static void a_busy_thread_gets_one_and_it_leaves(void **state)
{
    (void)state;
    emit((void *)400000);
    assert_int_equal(helpers(), 1);
    const struct timespec tenth = { 0, 100000000 };
    for (int i = 0; i < 60 && helpers() > 0; i++)
        nanosleep(&tenth, NULL);
    assert_int_equal(helpers(), 0);
    emit((void *)400000);
    assert_int_equal(helpers(), 1);
}

/* Threads leave their mappings while the helper is at work on them; all that was emitted is there. */
static void threads_that_come_and_go_lose_nothing(void **state)
{
    (void)state;
    enum { THREADS = 12, PAIRS = 150000 };
    for (int round = 0; round < THREADS / 4; round++) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, emit, (void *)(uintptr_t)PAIRS), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    assert_int_equal(words_of(folder, THREADS), (uint64_t)2 * THREADS * PAIRS);
}

static void a_child_forked_meanwhile_records_by_itself(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* ThreadSanitizer refuses threads in a forked child */
#endif
    for (int i = 0; i < 5; i++) {
        emit((void *)200000);
        pid_t child = fork();
        if (child == 0) {
            emit((void *)200000);
            _exit(helpers() == 1 ? 0 : 1); /* one of its own */
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        char folder[4200];
        snprintf(folder, sizeof folder, "%s/%d", output, (int)child);
        assert_int_equal(words_of(folder, 1), 400000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_little_recording_needs_no_helper, start, stop),
        cmocka_unit_test_setup_teardown(a_busy_thread_gets_one_and_it_leaves, start, stop),
        cmocka_unit_test_setup_teardown(threads_that_come_and_go_lose_nothing, start, stop),
        cmocka_unit_test_setup_teardown(a_child_forked_meanwhile_records_by_itself, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

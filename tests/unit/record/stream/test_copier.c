/* SPDX-License-Identifier: Apache-2.0 */
/* A file system without shared mappings: mmap is ours here, and refuses them. */
#include "stream_walk.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "record/stream/copier.h"
#include "record/stream/recorder.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);

static char output[4096], folder[4200];
static bool refuses;

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (refuses && file >= 0 && (flags & MAP_SHARED) != 0) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    long mapped = syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
    return mapped == -1 ? MAP_FAILED : (void *)mapped;
}

static int start(void **state)
{
    (void)state;
    refuses = true;
    walk_folder(output);
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = output;
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    return varve_session_start(&options, NULL) == VARVE_OK ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    refuses = false;
    walk_remove(output);
    return 0;
}

static void emit(long ranges)
{
    for (long i = 0; i < ranges; i++) {
        varve_begin(&op);
        varve_end();
    }
}

static uint64_t words_of(const char *base)
{
    struct walk walk = walk_stream(folder, base);
    free(walk.words);
    return walk.word_count;
}

static void *emit_in_thread(void *count)
{
    emit(*(long *)count);
    return NULL;
}

static void the_end_of_a_session_writes_all(void **state)
{
    (void)state;
    static long count = 300000;
    pthread_t thread;
    pthread_create(&thread, NULL, emit_in_thread, &count);
    emit(count);
    pthread_join(thread, NULL);
    varve_session_stop(NULL);
    uint64_t words = 0, lost = 0;
    for (int i = 1; i <= 2; i++) {
        char base[32];
        snprintf(base, sizeof base, "thread.%d", i);
        struct walk walk = walk_stream(folder, base);
        words += walk.word_count;
        lost += walk.discarded;
        free(walk.words);
    }
    assert_int_equal(words + lost, 4 * (uint64_t)count);
    assert_int_equal(lost, 0);
}

/* Ten copies a second, on a machine that may be busy with other things. */
static void wait_for(uint64_t words)
{
    for (int tenths = 0; tenths < 1200 && words_of("thread.1") != words; tenths++)
        nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
    assert_int_equal(words_of("thread.1"), words);
}

static void the_files_follow_ten_times_a_second(void **state)
{
    (void)state;
    emit(20000);
    wait_for(40000);
    emit(1);
    wait_for(40002);
}

/* All of it lies in the one packet that the process still has open. */
static void the_processs_own_stream_is_copied_too(void **state)
{
    (void)state;
    emit(1);
    varve_process_name("copied");
    vv_copier_flush();
    struct walk walk = walk_stream(folder, "process");
    uint64_t bytes = vv_session.writer.packet->content_bits / 8 - sizeof(struct vv_packet_header);
    assert_int_equal(walk.packets, 1);
    assert_true(bytes > 0);
    assert_int_equal(walk.word_count * 8, bytes);
    free(walk.words);
}

static void the_metadata_says_so(void **state)
{
    (void)state;
    emit(1);
    char path[4300], text[8192];
    snprintf(path, sizeof path, "%s/metadata", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "storage = \"memory, written by a thread every 100 ms: no shared "
                                 "mappings (error 19)\""));
}

/* Memory does not grow beyond its bound: what the files cannot take fast enough is counted. */
static void overload_is_counted(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || defined(VV_EMULATED)
    bool is_slow = true;
#else
    bool is_slow = getenv("VARVE_SLOW") != NULL; /* set where valgrind runs it                   */
#endif
    const long count = is_slow ? 500000 : 8000000; /* the law alone; or 128 MB, against 64 MiB of
                                                      memory */
    emit(count);
    varve_session_stop(NULL);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.word_count + walk.discarded, 2 * (uint64_t)count);
    free(walk.words);
}

static void a_forked_child_has_files_of_its_own(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(VV_EMULATED)
    skip(); /* they refuse threads in a forked child */
#endif
    emit(1000);
    pid_t child = fork();
    if (child == 0) {
        emit(500);
        vv_copier_flush();
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    emit(1000);
    vv_copier_flush();
    assert_int_equal(words_of("thread.1"), 4000);
    snprintf(folder, sizeof folder, "%s/%d", output, (int)child);
    assert_int_equal(words_of("thread.1"), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_end_of_a_session_writes_all, start, stop),
        cmocka_unit_test_setup_teardown(the_files_follow_ten_times_a_second, start, stop),
        cmocka_unit_test_setup_teardown(the_processs_own_stream_is_copied_too, start, stop),
        cmocka_unit_test_setup_teardown(the_metadata_says_so, start, stop),
        cmocka_unit_test_setup_teardown(overload_is_counted, start, stop),
        cmocka_unit_test_setup_teardown(a_forked_child_has_files_of_its_own, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A process with several sessions: who looks late touches nothing that is not its own
 * (doc/threading.md). */
#include "stream_walk.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ctf/record_length.h"
#include "record/stream/recorder.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);

enum { RANGES = 1500 }; /* more words than lie in the blocks that a first packet needs */

static char root[4096];

static int make_root(void **state)
{
    (void)state;
    walk_folder(root);
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(root);
    return 0;
}

static void begin_session(const char *name, char out_folder[4200])
{
    char output[4150];
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    snprintf(output, sizeof output, "%s/%s", root, name);
    options.output = output;
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
    snprintf(out_folder, 4200, "%s/%d", output, (int)getpid());
}

static void rename_trace(const char *from, const char *to)
{
    char paths[2][4200];
    snprintf(paths[0], sizeof paths[0], "%s/%s", root, from);
    snprintf(paths[1], sizeof paths[1], "%s/%s", root, to);
    assert_int_equal(rename(paths[0], paths[1]), 0);
}

static void record_ranges(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        varve_begin(&op);
        varve_end();
    }
}

static void expect_words(const char *folder, const char *base, size_t count)
{
    struct walk walk = walk_stream(folder, base);
    assert_int_equal(walk.word_count, count);
    for (size_t i = 0; i < walk.word_count; i++)
        assert_int_equal(walk_id(walk.words[i]) == VV_EVENT_END, i % 2);
    assert_int_equal(walk.discarded, 0);
    free(walk.words);
}

/* ---- a thread that records, and then sleeps until it is told to go on ---- */

struct worker {
    pthread_t thread;
    pthread_barrier_t turn;
    size_t before, after;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    record_ranges(worker->before);
    pthread_barrier_wait(&worker->turn);
    pthread_barrier_wait(&worker->turn);
    record_ranges(worker->after);
    return NULL;
}

static void begin_worker(struct worker *worker)
{
    pthread_barrier_init(&worker->turn, NULL, 2);
    assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
    pthread_barrier_wait(&worker->turn);
}

static void end_worker(struct worker *worker)
{
    pthread_barrier_wait(&worker->turn);
    pthread_join(worker->thread, NULL);
    pthread_barrier_destroy(&worker->turn);
}

/* The second session's "thread.1.0" is another file than the one that the sleeper has. */
static void a_name_used_again_is_another_trace(void **state)
{
    (void)state;
    char folder[4200], moved[4200];
    for (size_t after = 0; after < 2; after++) { /* it records once more, or ends at once */
        struct worker sleeper = { .before = 5, .after = after },
        busy = { .before = RANGES, .after = 0 };
        begin_session("again", folder);
        begin_worker(&sleeper);
        assert_int_equal(varve_session_stop(NULL), VARVE_OK);
        rename_trace("again", after == 0 ? "first" : "second");
        begin_session("again", folder);
        begin_worker(&busy);
        end_worker(&sleeper);
        end_worker(&busy);
        assert_int_equal(varve_session_stop(NULL), VARVE_OK);
        expect_words(folder, "thread.1", 2 * RANGES);
        rename_trace("again", after == 0 ? "third" : "fourth");
        snprintf(moved, sizeof moved, "%s/%s/%d", root, after == 0 ? "first" : "second",
                 (int)getpid());
        expect_words(moved, "thread.1", 10);
    }
}

/* ---- forks, told of and not ---- */

typedef pid_t (*fork_call)(void);

/* No handler of pthread_atfork sees it. */
static pid_t fork_barely(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void expect_child_records(fork_call call, size_t ranges, const char *output_folder)
{
    char folder[4300];
    pid_t child = call();
    if (child == 0) {
        record_ranges(ranges);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    snprintf(folder, sizeof folder, "%.*s/%d", (int)(strrchr(output_folder, '/') - output_folder),
             output_folder, (int)child);
    if (ranges > 0)
        expect_words(folder, "thread.1", 2 * ranges);
    else
        assert_int_equal(access(folder, F_OK), -1);
}

/* The forking thread is still attached to the session before: nothing of the child goes there. */
static void expect_fork_in_a_second_session(fork_call call)
{
    char first[4200], second[4200];
    struct worker sleeper = { .before = 10, .after = 0 };
    begin_session("a", first);
    record_ranges(10);
    begin_worker(&sleeper);
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    expect_child_records(call, 0, first); /* no session runs: nothing is recorded */
    begin_session("b", second);
    expect_child_records(call, 100, second);
    end_worker(&sleeper);
    record_ranges(10);
    expect_child_records(call, 200, second);
    record_ranges(10);
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    expect_words(first, "thread.1", 20);
    expect_words(first, "thread.2", 20);
    expect_words(second, "thread.1", 40);
}

static void a_fork_in_a_second_session_touches_neither(void **state)
{
    (void)state;
    expect_fork_in_a_second_session(fork);
}

/* An emulator of another machine may say so and not do it. */
static bool is_cleared_in_children(void)
{
    int status = 1;
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    page[0] = 1;
    if (madvise(page, 4096, MADV_WIPEONFORK) != 0)
        return false;
    pid_t child = fork_barely();
    if (child == 0)
        _exit(page[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    munmap(page, 4096);
    return status == 0;
}

static void nor_does_a_bare_fork(void **state)
{
    (void)state;
    char folder[4200];
    begin_session("known", folder);
    bool can_tell = (vv_birth_word() & VV_BIRTH_MARK) != 0;
    varve_session_stop(NULL);
    if (!can_tell || !is_cleared_in_children()) /* Linux before 4.14, pages of another size, qemu */
        skip();
    expect_fork_in_a_second_session(fork_barely);
}

/* A thread forks that is attached to the session before while the second one runs. */
static void *fork_late(void *argument)
{
    struct worker *worker = argument;
    record_ranges(10);
    pthread_barrier_wait(&worker->turn);
    pthread_barrier_wait(&worker->turn);
    pid_t child = fork();
    if (child == 0) {
        record_ranges(100);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    record_ranges(status == 0 ? 30 : 0);
    return NULL;
}

static void a_thread_of_the_session_before_forks(void **state)
{
    (void)state;
    char first[4200], second[4200];
    struct worker worker;
    begin_session("a", first);
    pthread_barrier_init(&worker.turn, NULL, 2);
    assert_int_equal(pthread_create(&worker.thread, NULL, fork_late, &worker), 0);
    pthread_barrier_wait(&worker.turn);
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    begin_session("b", second);
    end_worker(&worker);
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    expect_words(first, "thread.1", 20);
    expect_words(second, "thread.1", 60);
}

/* ---- a finished trace ---- */

static uint64_t checksum(const char *folder, const char *name)
{
    char path[4300];
    size_t bytes = 0;
    uint64_t sum = 14695981039346656037u;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const uint8_t *map = walk_map(path, &bytes);
    assert_non_null(map);
    for (size_t i = 0; i < VV_PACKET_BYTES; i++)
        sum = (sum ^ map[i]) * 1099511628211u;
    munmap((void *)map, bytes);
    return sum;
}

static uint64_t blocks_bytes(const char *folder, const char *name)
{
    char path[4300];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(stat(path, &about), 0);
    return (uint64_t)about.st_blocks * 512;
}

/* Whatever its threads do later, and whoever leaves last: not a byte changes, and what was backed
 * ahead is gone. */
static void a_finished_trace_stays_as_it_is(void **state)
{
    (void)state;
    char first[4200], second[4200];
    struct worker worker = { .before = 10 * RANGES, .after = RANGES };
    begin_session("a", first);
    begin_worker(&worker);
    record_ranges(10);
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    if (is_cleared_in_children()) { /* an emulator that ignores such advice gives no blocks back
                                       either */
        assert_in_range(blocks_bytes(first, "thread.1.0"), 1, 4 * VV_PACKET_BYTES);
        assert_in_range(blocks_bytes(first, "thread.2.0"), 1, 4096);
    }
    uint64_t before[] = { checksum(first, "thread.1.0"), checksum(first, "thread.2.0"),
                          checksum(first, "process.0") };
    begin_session("b", second);
    record_ranges(10);
    end_worker(&worker);
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    uint64_t after[] = { checksum(first, "thread.1.0"), checksum(first, "thread.2.0"),
                         checksum(first, "process.0") };
    assert_memory_equal(before, after, sizeof before);
    if (is_cleared_in_children())
        assert_in_range(blocks_bytes(first, "thread.1.0"), 20 * 8 * RANGES,
                        20 * 8 * RANGES + 2 * 4096);
    expect_words(first, "thread.1", 20 * RANGES);
    expect_words(second, "thread.2", 2 * RANGES);
}

/* The header of a packet is shared memory: whoever else writes there, the recorder reads no length
 * from it. */
static void a_header_that_others_moved_harms_nobody(void **state)
{
    (void)state;
    static const uint64_t hostile[] = { 0, 8, 640 + 1, 65536 * 8 + 64, UINT64_MAX,
                                        UINT64_MAX - 63 };
    char folder[4200];
    begin_session("moved", folder);
    record_ranges(10);
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        vv_self.writer.packet->content_bits = hostile[i];
        vv_stream_settle(&vv_self.writer);
        assert_int_equal(vv_self.writer.packet->content_bits,
                         (sizeof(struct vv_packet_header) + 160) * 8);
        vv_self.writer.left[0] = vv_self.writer.packet;
        vv_self.writer.packet->reserved_bits = hostile[i];
        vv_stream_settle(&vv_self.writer);
        assert_null(vv_self.writer.left[0]);
    }
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    expect_words(folder, "thread.1", 20);
}

/* Twice a handler has jumped away before the record that it interrupted was begun. */
static void *jump_twice(void *unused)
{
    for (int i = 0; i < 3; i++) {
        record_ranges(10);
        vv_self.writer.cursor += i < 2 ? 8 : 0;
    }
    return unused;
}

/* What lies behind the first is published as the thread ends; the second, and what lies behind it,
 * stay hidden: 1 + 20. */
static void no_reader_meets_a_record_that_was_never_begun(void **state)
{
    (void)state;
    char folder[4200], path[4300];
    pthread_t thread;
    size_t bytes = 0;
    begin_session("jumped", folder);
    assert_int_equal(pthread_create(&thread, NULL, jump_twice, NULL), 0);
    pthread_join(thread, NULL);
    expect_words(folder, "thread.1", 40);
    snprintf(path, sizeof path, "%s/thread.1.0", folder);
    const struct vv_packet_header *packet = (const void *)walk_map(path, &bytes);
    const uint64_t *hidden = (const void *)((const uint8_t *)packet + packet->content_bits / 8);
    assert_int_equal(vv_hidden_bytes(packet), 8 * 21);
    assert_int_equal(vv_hidden_records(hidden, 21), 21);
    munmap((void *)(uintptr_t)packet, bytes);
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
}

/* A record that was interrupted keeps the streams of all sessions that it outlives; once published,
 * none. */
static void streams_that_were_kept_are_all_given_back(void **state)
{
    (void)state;
    char folder[4200], name[16];
    static struct vv_packet_header interrupted;
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%d", i);
        begin_session(name, folder);
        record_ranges(10);
        vv_self.writer.left[0] = &interrupted;
        assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    }
    assert_non_null(vv_self.kept->next_kept);
    vv_stream_publish_left(&vv_self.writer, &interrupted);
    begin_session("last", folder);
    record_ranges(10);
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    assert_null(vv_self.kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_used_again_is_another_trace, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_fork_in_a_second_session_touches_neither, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(nor_does_a_bare_fork, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_thread_of_the_session_before_forks, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(a_finished_trace_stays_as_it_is, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_header_that_others_moved_harms_nobody, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(no_reader_meets_a_record_that_was_never_begun, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(streams_that_were_kept_are_all_given_back, make_root,
                                        remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

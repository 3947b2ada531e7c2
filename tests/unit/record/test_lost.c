/* SPDX-License-Identifier: Apache-2.0 */
/* Records lost outside any stream: counted in the trace's page, while sessions begin and end. */
#include "stream_walk.h"

#include <pthread.h>

#include "ctf/lost_page.h"
#include "record/lost.h"
#include "record/stream/recorder.h"

#define ROUNDS 300

static char output[4096];
static uint64_t made;  /* records that the other thread has counted                            */
static bool is_over;

static struct vv_lost read_page(void)
{
    struct vv_lost lost = { 0 };
    vv_lost_page_read(output, &lost);
    return lost;
}

static bool has_file(void)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/" VV_LOST_FILE, output);
    return access(path, F_OK) == 0;
}

static int make_folder(void **state)
{
    (void)state;
    walk_folder(output);
    vv_session_homeless = made = 0;
    is_over = false;
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    walk_remove(output);
    return 0;
}

static void the_page_has_the_count_after_the_end(void **state)
{
    (void)state;
    const struct vv_own_folder *trace = walk_own(output);
    vv_lost_begin(trace, true);
    vv_lost_count(3);
    vv_lost_count(4);
    vv_lost_end(trace);
    assert_int_equal(read_page().records, 7);
    assert_int_equal(read_page().processes, 1);
    assert_int_equal(vv_session_homeless, 0);
}

static void a_page_without_a_count_is_removed(void **state)
{
    (void)state;
    const struct vv_own_folder *trace = walk_own(output);
    vv_lost_begin(trace, true);
    assert_true(has_file());
    vv_lost_end(trace);
    assert_false(has_file());
    vv_lost_count(5);
    assert_int_equal(vv_session_homeless, 5);
}

/* What is counted after a session's end concerns no session: the next page begins with zero. */
static void the_next_page_begins_with_zero(void **state)
{
    const struct vv_own_folder *trace = walk_own(output);
    vv_lost_begin(trace, true);
    vv_lost_count(3);
    vv_lost_end(trace);
    remove_folder(state);
    walk_folder(output);
    trace = walk_own(output);
    vv_lost_begin(trace, true);
    assert_int_equal(read_page().records, 0);
    vv_lost_count(1);
    assert_int_equal(read_page().records, 1);
    vv_lost_end(trace);
}

/* Its file may have been cut, and nothing watches for SIGBUS here. */
static void the_page_of_another_is_left_unread_at_the_end(void **state)
{
    (void)state;
    const struct vv_own_folder *trace = walk_own(output);
    char path[4200];
    vv_lost_begin(trace, true);
    vv_lost_count(1);
    vv_lost_end(trace);
    vv_lost_begin(trace, false);
    assert_true(vv_lost_has_page());
    snprintf(path, sizeof path, "%s/" VV_LOST_FILE, output);
    assert_int_equal(truncate(path, 0), 0);
    vv_lost_end(trace);
    assert_false(vv_lost_has_page());
    vv_lost_count(5);
    assert_int_equal(vv_session_homeless, 5);
}

/* The same of a page that this process made. */
static void a_page_that_was_cut_is_left_unread_at_the_end(void **state)
{
    (void)state;
    const struct vv_own_folder *trace = walk_own(output);
    char path[4200];
    vv_lost_begin(trace, true);
    snprintf(path, sizeof path, "%s/" VV_LOST_FILE, output);
    assert_int_equal(truncate(path, 0), 0);
    vv_lost_end(trace);
    assert_false(vv_lost_has_page());
}

static void *count(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
        vv_lost_count(1);
    }
    return NULL;
}

/* Under ThreadSanitizer, too. Some counts meet the moment in which a page is left; none is counted
 * twice. */
static void another_thread_counts_as_sessions_begin_and_end(void **state)
{
    (void)state;
    const struct vv_own_folder *trace = walk_own(output);
    uint64_t counted = 0;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, count, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        vv_lost_begin(trace, true);
        vv_lost_end(trace);
        counted += read_page().records;
        vv_own_remove(trace, VV_LOST_FILE);
    }
    vv_lost_begin(trace, true);
    while (read_page().records == 0)
        sched_yield();
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    pthread_join(other, NULL);
    counted += read_page().records + vv_session_homeless;
    assert_true(counted > 0 && counted <= made);
    vv_lost_end(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_page_has_the_count_after_the_end, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_page_without_a_count_is_removed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_next_page_begins_with_zero, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_page_of_another_is_left_unread_at_the_end,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_page_that_was_cut_is_left_unread_at_the_end,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(another_thread_counts_as_sessions_begin_and_end,
                                        make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What threads read of their counters. Hardware counters are tested as far as this machine has
 * them. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system/perf_counter.h"
#include "record/counters/counters.h"

#define PAGES 64u
#define TIMES 16 /* more pages than it takes to make a thread, under a sanitizer too */

static char why[200];
static struct varve_error error;

static int choose(void **state)
{
    (void)state;
    assert_int_equal(vv_counters_choose("PipeUtilization", why, sizeof why, &error), VARVE_OK);
    return 0;
}

static void touch_pages(void)
{
    volatile char *pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    (void)madvise((void *)(uintptr_t)pages, PAGES * 4096, MADV_NOHUGEPAGE);
    for (unsigned i = 0; i < PAGES; i++)
        pages[i * 4096] = 1;
    munmap((void *)(uintptr_t)pages, PAGES * 4096);
}

static void without_a_group_nothing_is_counted(void **state)
{
    (void)state;
    uint64_t values[VV_COUNTERS_MAX];
    uint32_t choice;
    assert_int_equal(vv_counters_choose(NULL, why, sizeof why, &error), VARVE_OK);
    assert_int_equal(vv_counter_count, 0);
    assert_int_equal(vv_counters_read(values, &choice), 0);
    assert_int_equal(vv_counters_choose("", why, sizeof why, &error), VARVE_OK);
    assert_int_equal(vv_counter_count, 0);
}

static void an_unknown_group_changes_nothing(void **state)
{
    (void)state;
    uint32_t count = vv_counter_count;
    assert_int_equal(vv_counters_choose("Pipe", why, sizeof why, &error), VARVE_INVALID);
    assert_int_equal(vv_counter_count, count);
}

/* 64 fresh pages, 20 ms of work, one sleep; errno stays. */
static void they_count_what_the_thread_does(void **state)
{
    (void)state;
    uint64_t before[VV_COUNTERS_MAX], after[VV_COUNTERS_MAX];
    uint32_t choice, again;
    struct timespec begin, now, nap = { 0, 2000000 };
    errno = E2BIG;
    assert_in_range(vv_counters_read(before, &choice), VV_SOFTWARE_COUNTERS, VV_COUNTERS_MAX);
    assert_int_equal(errno, E2BIG);
    touch_pages();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 20000000);
    nanosleep(&nap, NULL);
    assert_int_equal(vv_counters_read(after, &again), vv_counter_count);
    assert_int_equal(again, choice);
    assert_true(after[0] - before[0] >= 20000000);
    assert_true(after[1] - before[1] >= PAGES);
    assert_true(after[2] >= before[2]);
    assert_true(after[3] - before[3] >= 1);
    for (uint32_t i = VV_SOFTWARE_COUNTERS; i < vv_counter_count; i++)
        assert_true(after[i] == VV_COUNT_UNKNOWN || before[i] == VV_COUNT_UNKNOWN ||
                    after[i] > before[i]);
}

static void *work_elsewhere(void *argument)
{
    uint64_t values[VV_COUNTERS_MAX];
    uint32_t choice;
    for (int i = 0; i < TIMES; i++)
        touch_pages();
    *(uint32_t *)argument = vv_counters_read(values, &choice);
    vv_counters_leave();
    return NULL;
}

static void another_threads_work_does_not_count(void **state)
{
    (void)state;
    uint64_t before[VV_COUNTERS_MAX], after[VV_COUNTERS_MAX];
    uint32_t choice, read = 0;
    pthread_t thread;
    /* libc's own first thread takes pages, too */
    assert_int_equal(pthread_create(&thread, NULL, work_elsewhere, &read), 0);
    pthread_join(thread, NULL);
    (void)vv_counters_read(before, &choice);
    assert_int_equal(pthread_create(&thread, NULL, work_elsewhere, &read), 0);
    pthread_join(thread, NULL);
    (void)vv_counters_read(after, &choice);
    assert_int_equal(read, vv_counter_count);
    assert_true(after[1] - before[1] < TIMES * PAGES);
}

/* A mapping of the parent's is not there in a child. */
static void a_child_reads_its_own(void **state)
{
    (void)state;
    uint64_t values[VV_COUNTERS_MAX];
    uint32_t choice, count = vv_counters_read(values, &choice);
    int status;
    pid_t child = fork();
    if (child == 0) {
        vv_counters_forked();
        _exit(vv_counters_read(values, &choice) == count ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void each_choice_has_a_number_and_names(void **state)
{
    (void)state;
    uint64_t values[VV_COUNTERS_MAX];
    uint32_t first, second, named;
    (void)vv_counters_read(values, &first);
    assert_int_equal(vv_counters_choose("L2Cache", why, sizeof why, &error), VARVE_OK);
    uint32_t count = vv_counters_read(values, &second);
    assert_int_not_equal(first, second);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = vv_counter_name(i, &named);
        assert_int_equal(named, second);
        assert_true(i >= VV_SOFTWARE_COUNTERS || strcmp(name, vv_software_counters[i]) == 0);
    }
    /* what is not there is said, by name */
    assert_true((count < VV_COUNTERS_MAX - 1) == (strstr(why, "cache_references") != NULL) ||
                strstr(why, "cache_misses") != NULL || strstr(why, "cycles") != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_group_nothing_is_counted),
        cmocka_unit_test_setup(an_unknown_group_changes_nothing, choose),
        cmocka_unit_test_setup(they_count_what_the_thread_does, choose),
        cmocka_unit_test_setup(another_threads_work_does_not_count, choose),
        cmocka_unit_test_setup(a_child_reads_its_own, choose),
        cmocka_unit_test_setup(each_choice_has_a_number_and_names, choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

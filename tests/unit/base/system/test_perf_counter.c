/* SPDX-License-Identifier: Apache-2.0 */
/* What the page of a counter says, on pages made here; and that opening one leaves nothing open. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/system/perf_counter.h"

static struct perf_event_mmap_page page;
static uint64_t counter;  /* what the processor's counter 4 says                                 */
static int interruptions; /* so often the kernel changes the page while it is read               */

static uint64_t made_counter(uint32_t index)
{
    assert_int_equal(index, 4);
    if (interruptions > 0) {
        interruptions--;
        page.lock += 2;
        page.offset += 1000;
    }
    return counter;
}

static void make_page(uint64_t offset, uint32_t index, uint16_t bits)
{
    memset(&page, 0, sizeof page);
    page.offset = (int64_t)offset;
    page.index = index;
    page.pmc_width = bits;
    page.cap_user_rdpmc = 1;
}

static void a_count_is_the_offset_and_the_counter(void **state)
{
    (void)state;
    static const struct { uint64_t offset; uint16_t bits; uint64_t counter, count; } cases[] = {
        { 0, 48, 0, 0 }, { 100, 48, 23, 123 },
        /* the counter's highest bit is its sign */
        { 1000, 48, (UINT64_C(1) << 48) - 1, 999 },
        { UINT64_C(1) << 47, 48, UINT64_C(1) << 47, 0 },
        /* bits above the counter do not count */
        { 5, 40, UINT64_C(0xff) << 40 | 7, 12 }, { 5, 64, 7, 12 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_page(cases[i].offset, 5, cases[i].bits);
        counter = cases[i].counter;
        assert_int_equal(vv_perf_counter_read(&page, made_counter), cases[i].count);
    }
}

static void what_the_kernel_does_not_count_is_not_known(void **state)
{
    (void)state;
    make_page(77, 0, 48);
    assert_true(vv_perf_counter_read(&page, made_counter) == VV_COUNT_UNKNOWN);
}

/* Offset and counter belong together. */
static void a_page_that_changes_is_read_again(void **state)
{
    (void)state;
    make_page(0, 5, 48);
    counter = 1;
    interruptions = 3;
    assert_int_equal(vv_perf_counter_read(&page, made_counter), 3001);
}

static size_t open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* Whatever this machine can count. */
static void an_open_counter_has_no_descriptor(void **state)
{
    (void)state;
    struct perf_event_mmap_page *opened;
    size_t before = open_descriptors();
    int failure = vv_perf_counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, &opened);
    assert_int_equal(open_descriptors(), before);
    assert_true((failure == 0) == (opened != NULL));
    if (opened == NULL) {
        assert_string_not_equal(vv_perf_counter_reason(failure), "");
        return;
    }
    uint64_t first = vv_perf_counter_read(opened, vv_counter_instruction);
    assert_true(vv_perf_counter_read(opened, vv_counter_instruction) > first);
    vv_perf_counter_close(opened);
}

/* A software event can be opened everywhere, but not read without the kernel. */
static void a_counter_that_needs_the_kernel_is_refused(void **state)
{
    (void)state;
    struct perf_event_mmap_page *opened = &page;
    int failure = vv_perf_counter_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, &opened);
    assert_null(opened);
    assert_int_not_equal(failure, 0);
    assert_string_equal(vv_perf_counter_reason(EACCES),
                        "programs may not read it (kernel.perf_event_paranoid, rdpmc)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_is_the_offset_and_the_counter),
        cmocka_unit_test(what_the_kernel_does_not_count_is_not_known),
        cmocka_unit_test(a_page_that_changes_is_read_again),
        cmocka_unit_test(an_open_counter_has_no_descriptor),
        cmocka_unit_test(a_counter_that_needs_the_kernel_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is there is copied; memory that is not is no fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/process/peek.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/* Two pages of which only the first is readable, filled with bytes that differ. */
static uint8_t *half_readable(void)
{
    uint8_t *pages =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    for (size_t i = 0; i < PAGE; i++)
        pages[i] = (uint8_t)(i * 7 + i / 256);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
    return pages;
}

static void what_is_there_is_copied(void **state)
{
    uint8_t copy[512];
    uint8_t *pages = half_readable();
    (void)state;
    assert_true(vv_peek(pages + 100, copy, sizeof copy));
    assert_memory_equal(copy, pages + 100, sizeof copy);
    assert_true(vv_peek(pages + PAGE - sizeof copy, copy, sizeof copy));
    munmap(pages, 2 * PAGE);
}

static void what_is_not_is_no_fault(void **state)
{
    uint8_t copy[512];
    uint8_t *pages = half_readable();
    const void *const nowhere[] = { NULL, (const void *)1, (const void *)(uintptr_t)-4096,
                                    pages + PAGE,
                                    pages + PAGE - 1, (const void *)UINT64_C(0x8000000000000000) };
    (void)state;
    errno = 4711;
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        assert_false(vv_peek(nowhere[i], copy, sizeof copy));
    assert_int_equal(errno, 4711);
    munmap(pages, 2 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_is_copied),
        cmocka_unit_test(what_is_not_is_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* failing_allocation.c — makes one allocation of examples/train fail: number FAIL_AT (1, 2, …).
 *
 * Linked by test_out_of_memory.py in place of aligned_alloc and calloc (ld's --wrap), for the
 * example's own sources alone. Two threads allocate, so which allocation a number means may differ
 * from run to run. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool fails_now(void)
{
    static atomic_long allocations;
    const char *fail_at = getenv("FAIL_AT");
    return fail_at != NULL && atomic_fetch_add(&allocations, 1) + 1 == atol(fail_at);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

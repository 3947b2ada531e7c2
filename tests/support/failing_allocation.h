/* SPDX-License-Identifier: Apache-2.0 */
/* failing_allocation.h — the n-th allocation fails. For programs called test_faults…, of which the
 * build wraps malloc, calloc and realloc. Include once, after stdlib.h. */
#ifndef VARVE_TESTS_FAILING_ALLOCATION_H
#define VARVE_TESTS_FAILING_ALLOCATION_H

static _Atomic long allocations_left = -1; /* before one fails; below 0: none does, or it has    */
static _Atomic long allocation_count;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static int fails_now(void)
{
    allocation_count++;
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails_now() ? NULL : __real_realloc(memory, bytes);
}

#endif

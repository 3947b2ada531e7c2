/* SPDX-License-Identifier: Apache-2.0 */
/* test_heap.c — cli/line/heap.c: what analyses of a large model take comes in large pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "cli/line/heap.h"

/* Sanitizers have a heap of their own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#define BLOCK_BYTES ((size_t)3 << 20)
#define BLOCKS 20u
#define PAGE_BYTES 4096u

static long faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

/* Whoever asks has large pages: not under qemu, nor where memory is in pieces. */
static bool are_large_pages_given(void)
{
    const size_t bytes = BLOCKS * BLOCK_BYTES;
    char *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(room != MAP_FAILED);
    bool is_asked = madvise(room, bytes, MADV_HUGEPAGE) == 0;
    long before = faults();
    memset(room, 1, bytes);
    long taken = faults() - before;
    munmap(room, bytes);
    return is_asked && taken < (long)(bytes / PAGE_BYTES / 10);
}

/* How many faults it takes to write all of some blocks. */
static long faults_of_blocks(void)
{
    void *blocks[BLOCKS];
    long before = faults();
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    long taken = faults() - before;
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return taken;
}

static void room_is_made_in_large_pages_and_kept(void **state)
{
    (void)state;
    const long small_pages = BLOCKS * BLOCK_BYTES / PAGE_BYTES;
    if (!are_large_pages_given())
        skip();
    vv_heap_keep();
    vv_heap_make_room(1000000);
    assert_in_range(faults_of_blocks(), 1, small_pages / 10);
    assert_in_range(faults_of_blocks(), 0, 10);
}

#else

static void room_is_made_in_large_pages_and_kept(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(room_is_made_in_large_pages_and_kept) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

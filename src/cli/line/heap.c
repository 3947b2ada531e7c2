/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/line/heap.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>

#include "base/large_pages.h"

#define MAPPED_BYTES_MIN (4 << 20) /* such a block gets large pages by itself: large_pages.h      */
#define MAPPED_COUNT_MAX 65536     /* glibc's own                                                 */
#define SLICES_MIN 500000u /* with fewer, large pages would be a large part of the memory        */
#define SLICES_MAX 5000000u
#define SLICE_BYTES 100u

void vv_heap_keep(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 4 << 20);
#endif
}

/* What is freed stays in the heap, and with it the wish for large pages. It must be one block:
 * where a block ends, malloc writes, and what it writes to then gets small pages. */
void vv_heap_make_room(uint64_t slices)
{
#ifdef __GLIBC__
    if (slices < SLICES_MIN)
        return;
    mallopt(M_MMAP_MAX, 0); /* not a mapping of its own, but a part of the heap */
    free(vv_large_pages_alloc((slices < SLICES_MAX ? slices : SLICES_MAX) * SLICE_BYTES));
    mallopt(M_MMAP_MAX, MAPPED_COUNT_MAX);
#else
    (void)slices;
#endif
}

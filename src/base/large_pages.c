/* SPDX-License-Identifier: Apache-2.0 */
#include "base/large_pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* In a smaller block, the unused rest of the last large page would be a large part of it. */
#define BLOCK_BYTES_MIN ((size_t)4 << 20)
#define PAGE_BYTES ((uintptr_t)4096)

/* The advice begins at the page with malloc's own header: advice for only a part of a mapping
 * splits the mapping, and malloc could then no longer grow it in place. */
void vv_large_pages_wish(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = (uintptr_t)block & ~(PAGE_BYTES - 1);
    if (bytes >= BLOCK_BYTES_MIN)
        madvise((void *)first, bytes + ((uintptr_t)block - first), MADV_HUGEPAGE);
#else
    (void)block;
    (void)bytes;
#endif
}

void *vv_large_pages_alloc(size_t bytes)
{
    void *block = malloc(bytes);
    if (block != NULL)
        vv_large_pages_wish(block, bytes);
    return block;
}

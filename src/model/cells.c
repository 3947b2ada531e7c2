/* SPDX-License-Identifier: Apache-2.0 */
/* cells.c — small columns lie on the heap, large ones in mappings. table.c calls these functions.
 *
 * A mapping is one page, whose end holds the head, and then the cells, which begin at a multiple of
 * a huge page. For blank cells of 0xFF there is one memory file of such bytes, which is mapped
 * privately many times: a page that is written becomes the column's own. If the file cannot be
 * made, the bytes are written. */
#include "model/cells.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_BYTES VV_CELLS_PAGE_BYTES
#define LARGE_BYTES HUGE_BYTES       /* from this size on, huge pages waste little */
#define ZEROS_BYTES ((size_t)262144) /* from this size on, zeros are mapped and not written */
#define PAGE_BYTES ((size_t)65536)   /* at least the page size of any machine */
#define HEAD_BYTES ((size_t)64)

struct head {
    size_t bytes; /* size of the cells: as asked for, or whole pages if mapped */
    bool is_mapped;
};

static struct head *head_of(void *cells)
{
    return (struct head *)((char *)cells - HEAD_BYTES);
}

/* ---- the file of 0xFF ---- */

static pthread_once_t ones_once = PTHREAD_ONCE_INIT;
static int ones_file = -1;

static void make_ones(void)
{
    ones_file = memfd_create("varve-blank", MFD_CLOEXEC);
    if (ones_file < 0)
        return;
    void *ones = MAP_FAILED;
    if (ftruncate(ones_file, (off_t)HUGE_BYTES) == 0)
        ones = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ones_file, 0);
    if (ones == MAP_FAILED) {
        close(ones_file);
        ones_file = -1;
        return;
    }
    memset(ones, 0xFF, HUGE_BYTES);
    munmap(ones, HUGE_BYTES);
}

/* Turns zeroed cells into blank cells of 0xFF; `bytes` are whole huge pages. */
static void fill_with_ones(char *cells, size_t bytes)
{
    pthread_once(&ones_once, make_ones);
    for (size_t at = 0; at < bytes; at += HUGE_BYTES)
        if (ones_file < 0 || mmap(cells + at, HUGE_BYTES, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_FIXED, ones_file, 0) == MAP_FAILED)
            memset(cells + at, 0xFF, HUGE_BYTES);
}

/* ---- mapped ---- */

/* Maps `bytes` of zeros, whole pages; NULL if there is no room. */
static char *map(size_t bytes)
{
    size_t wanted = HUGE_BYTES + PAGE_BYTES + bytes;
    char *first = mmap(NULL, wanted, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (first == MAP_FAILED)
        return NULL;
    size_t skipped = (size_t)-(uintptr_t)(first + PAGE_BYTES) % HUGE_BYTES;
    char *cells = first + skipped + PAGE_BYTES;
    if (skipped > 0)
        munmap(first, skipped);
    munmap(cells + bytes, HUGE_BYTES - skipped);
    if (bytes >= LARGE_BYTES)
        madvise(cells, bytes, MADV_HUGEPAGE);
    *head_of(cells) = (struct head){ bytes, true };
    return cells;
}

static void unmap(char *cells)
{
    munmap(cells - PAGE_BYTES, PAGE_BYTES + head_of(cells)->bytes);
}

/* Moves pages, not bytes, while the system has room for one more mapping. Afterwards `from` is
 * unmapped page by page: another thread may map its own memory there meanwhile, so a later unmap of
 * the whole would hit that. */
static void move(char *to, char *from, unsigned char blank)
{
    /* the steps in which the cells were mapped */
    size_t bytes = head_of(from)->bytes, step = blank == 0 ? bytes : HUGE_BYTES;
    for (size_t at = 0; at < bytes; at += step) {
        if (mremap(from + at, step, step, MREMAP_MAYMOVE | MREMAP_FIXED, to + at) != MAP_FAILED)
            continue;
        memcpy(to + at, from + at, step);
        munmap(from + at, step);
    }
    munmap(from - PAGE_BYTES, PAGE_BYTES);
}

static void *grow_mapped(char *former, size_t bytes, unsigned char blank)
{
    size_t page = bytes < LARGE_BYTES ? PAGE_BYTES : HUGE_BYTES;
    size_t whole = (bytes + page - 1) / page * page;
    size_t former_bytes = former == NULL ? 0 : head_of(former)->bytes;
    bool was_mapped = former != NULL && head_of(former)->is_mapped;
    /* Cells from the heap are all written, so they get pages of their own. */
    size_t used = (former_bytes + page - 1) / page * page;
    char *cells = map(whole);
    if (cells == NULL)
        return NULL;
    if (was_mapped)
        move(cells, former, blank);
    else
        memset(cells + former_bytes, blank, blank == 0 ? 0 : used - former_bytes);
    if (blank != 0)
        fill_with_ones(cells + used, whole - used);
    if (former != NULL && !was_mapped) {
        memcpy(cells, former, former_bytes);
        vv_cells_free(former);
    }
    return cells;
}

/* ---- both ---- */

static void *grow_on_heap(char *former, size_t bytes, unsigned char blank)
{
    size_t former_bytes = former == NULL ? 0 : head_of(former)->bytes;
    struct head *head = realloc(former == NULL ? NULL : head_of(former), HEAD_BYTES + bytes);
    if (head == NULL)
        return NULL;
    char *cells = (char *)head + HEAD_BYTES;
    *head = (struct head){ bytes, false };
    memset(cells + former_bytes, blank, bytes - former_bytes);
    return cells;
}

void *vv_cells_grow(void *cells, size_t bytes, unsigned char blank)
{
    if (cells != NULL && bytes <= head_of(cells)->bytes)
        return cells;
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bool is_small = bytes < (blank == 0 ? ZEROS_BYTES : LARGE_BYTES);
    return is_small ? grow_on_heap(cells, bytes, blank) : grow_mapped(cells, bytes, blank);
}

void vv_cells_free(void *cells)
{
    if (cells == NULL)
        return;
    if (head_of(cells)->is_mapped)
        unmap(cells);
    else
        free(head_of(cells));
}

void vv_cells_fill(void *cells, size_t first, size_t limit)
{
    const struct head *head = head_of(cells);
    if (!head->is_mapped || head->bytes < LARGE_BYTES)
        return;
    for (size_t at = (first + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
         at < limit && at < head->bytes; at += HUGE_BYTES) {
        char *page = (char *)cells + at;
        if (mmap(page, HUGE_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            return;
        madvise(page, HUGE_BYTES, MADV_HUGEPAGE);
        memset(page, 0xFF, HUGE_BYTES);
    }
}

bool vv_links_are_dense(const uint32_t *links, uint64_t count)
{
    uint64_t filled = 0;
    for (uint64_t i = 0; i < count; i++)
        filled += links[i] != UINT32_MAX;
    return filled > count / 64;
}

void vv_cells_back(void *cells, size_t first, size_t limit)
{
    const struct head *head = head_of(cells);
    if (!head->is_mapped || head->bytes < LARGE_BYTES)
        return;
    if (limit > head->bytes)
        limit = head->bytes;
#ifdef MADV_POPULATE_WRITE
    if (first < limit) /* if the kernel does not know it, the first write gets the memory */
        (void)madvise((char *)cells + first, limit - first, MADV_POPULATE_WRITE);
#endif
}

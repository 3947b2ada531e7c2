/* SPDX-License-Identifier: Apache-2.0 */
#include "base/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"

static bool is_page(const void *page)
{
    return (uintptr_t)page % VV_PAGE_BYTES == 0 && sysconf(_SC_PAGESIZE) == (long)VV_PAGE_BYTES;
}

/* The bare system call: ThreadSanitizer takes mmap for a write to the whole page, which would be a race with
 * threads that read it. The kernel exchanges the mapping under its own lock: a reader sees either. */
static int map_over(void *page, int flags, int file)
{
    long mapped = syscall(SYS_mmap, page, (size_t)VV_PAGE_BYTES, PROT_READ | PROT_WRITE,
                          flags | MAP_FIXED, file, 0L);
    return mapped == -1 ? errno : 0;
}

int vv_page_share(void *page, const char *path, const void *content)
{
    if (!is_page(page))
        return ENOTSUP;
    int failure = vv_os_remove(path);
    if (failure != 0)
        return failure;
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return errno;
    /* Written, not only sized: the blocks are there, so no later store can fault for want of space. */
    failure = vv_os_write_at(path, content, VV_PAGE_BYTES, 0);
    if (failure == 0)
        failure = map_over(page, MAP_SHARED, file);
    close(file);
    if (failure != 0)
        vv_os_remove(path);
    return failure;
}

/* The copy is made elsewhere and moved into place, so that no reader sees a page of zeros. */
int vv_page_unshare(void *page)
{
    if (!is_page(page))
        return ENOTSUP;
    void *copy = mmap(NULL, VV_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return errno;
    memcpy(copy, page, VV_PAGE_BYTES);
    long moved = syscall(SYS_mremap, copy, (size_t)VV_PAGE_BYTES, (size_t)VV_PAGE_BYTES,
                         MREMAP_MAYMOVE | MREMAP_FIXED, page);
    if (moved != -1)
        return 0;
    int failure = errno;
    munmap(copy, VV_PAGE_BYTES);
    return failure;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/shared_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/descriptor.h"
#include "base/system/os.h"

static bool is_page(const void *page)
{
    return (uintptr_t)page % VV_PAGE_BYTES == 0 && sysconf(_SC_PAGESIZE) == (long)VV_PAGE_BYTES;
}

/* Uses the bare system call: ThreadSanitizer takes mmap for a write to the whole page, a race with
 * the threads that read it. The kernel replaces the mapping under its own lock, so a reader sees
 * the old page or the new one. */
static int map_over(void *page, int flags, int file)
{
    long mapped = syscall(SYS_mmap, page, (size_t)VV_PAGE_BYTES, PROT_READ | PROT_WRITE,
                          flags | MAP_FIXED, file, 0L);
    return mapped == -1 ? errno : 0;
}

int vv_page_share(void *page, int file)
{
    return is_page(page) ? map_over(page, MAP_SHARED, file) : ENOTSUP;
}

static bool is_own(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_size == (off_t)VV_PAGE_BYTES && status.st_uid == geteuid() &&
           status.st_nlink == 1 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Moves the page at `from` over `page`; on failure, unmaps `from`. */
static int move_over(void *page, void *from)
{
    long moved = syscall(SYS_mremap, from, (size_t)VV_PAGE_BYTES, (size_t)VV_PAGE_BYTES,
                         MREMAP_MAYMOVE | MREMAP_FIXED, page);
    if (moved != -1)
        return 0;
    int failure = errno;
    munmap(from, VV_PAGE_BYTES);
    return failure;
}

/* The file is mapped elsewhere first: it is tested, and gets its block if it has a hole, before any
 * thread stores into it. */
int vv_page_join(void *page, const char *path, const void *head, size_t head_bytes)
{
    if (!is_page(page))
        return ENOTSUP;
    int file = vv_descriptor_open(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (file < 0)
        return errno;
    void *seen = MAP_FAILED;
    int failure = is_own(file) ? 0 : EBADMSG;
    if (failure == 0) {
        seen = mmap(NULL, VV_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        failure = seen == MAP_FAILED ? errno : vv_os_back_memory(seen, VV_PAGE_BYTES);
    }
    close(file);
    if (failure == 0 && memcmp(seen, head, head_bytes) != 0)
        failure = EBADMSG;
    if (failure == 0)
        return move_over(page, seen);
    if (seen != MAP_FAILED)
        munmap(seen, VV_PAGE_BYTES);
    return failure;
}

/* The copy is made elsewhere and then moved over `page`, so that no reader sees zeros. */
int vv_page_unshare(void *page)
{
    if (!is_page(page))
        return ENOTSUP;
    void *copy =
        mmap(NULL, VV_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return errno;
    memcpy(copy, page, VV_PAGE_BYTES);
    return move_over(page, copy);
}

int vv_page_clear_in_children(void *page)
{
    if (!is_page(page))
        return ENOTSUP;
    int failure = map_over(page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    return failure != 0 || madvise(page, VV_PAGE_BYTES, MADV_WIPEONFORK) == 0 ? failure : errno;
}

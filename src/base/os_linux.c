/* SPDX-License-Identifier: Apache-2.0 */
/* os_linux.c — the only file of libvarve that speaks to Linux in particular. */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define PAGE_BYTES 4096u

#define BIT_OF(number) (UINT64_C(1) << ((number)-1))
/* Blocked, a fault would kill. */
#define NEVER_BLOCKED                                                                                  \
    (BIT_OF(SIGSEGV) | BIT_OF(SIGBUS) | BIT_OF(SIGFPE) | BIT_OF(SIGILL) | BIT_OF(SIGTRAP) | BIT_OF(SIGSYS))

/* The kernel's own set is 8 bytes, libc's 128. */
void vv_os_signals_block(uint64_t *out_former)
{
    const uint64_t blocked = ~NEVER_BLOCKED;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &blocked, out_former, sizeof blocked);
}

void vv_os_signals_restore(uint64_t former)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &former, NULL, sizeof former);
}

void vv_os_await_cancellation(void)
{
    close(-1); /* a cancellation point: libc leaves it once the handler has run */
}

uint64_t vv_os_tid(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

bool vv_os_is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

void *vv_os_reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* On success *out_file is open if it is asked for. */
static int create(const char *path, uint64_t bytes, int *out_file)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
        return errno;
    int failure = ftruncate(file, (off_t)bytes) != 0 ? errno : 0;
    if (failure == 0 && out_file != NULL)
        *out_file = file;
    else
        close(file);
    if (failure != 0)
        unlink(path);
    return failure;
}

int vv_os_create(const char *path, uint64_t bytes)
{
    return create(path, bytes, NULL);
}

int vv_os_create_mapped(const char *path, uint64_t bytes, uint8_t **out_map)
{
    int file = -1;
    int failure = create(path, bytes, &file);
    if (failure != 0)
        return failure;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        failure = errno;
    close(file);
    if (failure != 0) {
        unlink(path);
        return failure;
    }
    madvise(map, bytes, MADV_RANDOM); /* no reading ahead in a hole: it would zero megabytes */
    *out_map = map;
    return 0;
}

void vv_os_unmap(void *map, uint64_t bytes)
{
    munmap(map, bytes);
}

/* The bare system call: ThreadSanitizer takes mmap for a write to all of it. */
int vv_os_replace_by_memory(void *map, uint64_t bytes)
{
    long mapped = syscall(SYS_mmap, map, (size_t)bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0L);
    return mapped == -1 ? errno : 0;
}

/* Written zeros get real blocks (or ENOSPC) on every file system, and pages in the cache that one memset
 * has filled: half the price of letting the first store fault each page in. */
static int write_zeros(const char *path, uint64_t offset, uint64_t bytes)
{
    static char zeros[128 << 10]; /* a window; not constant, so that it is no part of the file */
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return errno;
    int failure = 0;
    for (uint64_t done = 0; done < bytes && failure == 0;) {
        size_t piece = bytes - done < sizeof zeros ? (size_t)(bytes - done) : sizeof zeros;
        ssize_t written = pwrite(file, zeros, piece, (off_t)(offset + done));
        if (written > 0)
            done += (uint64_t)written;
        else if (written == 0)
            failure = ENOSPC;
        else if (errno != EINTR)
            failure = errno;
    }
    close(file);
    return failure;
}

int vv_os_back(const char *path, uint8_t *map, uint64_t offset, uint64_t bytes)
{
    int failure = write_zeros(path, offset, bytes);
    return failure != 0 ? failure : vv_os_back_memory(map + offset, bytes);
}

int vv_os_back_memory(uint8_t *memory, uint64_t bytes)
{
    if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno != EINVAL) /* EFAULT, EHWPOISON, ENOMEM: the pages are not to be had */
        return errno;
    for (uint64_t done = 0; done < bytes; done += PAGE_BYTES) /* an older kernel: touch each page */
        *(volatile uint8_t *)(memory + done) = 0;
    return 0;
}

int vv_os_punch(const char *path, uint64_t offset, uint64_t bytes)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return errno;
    int failure = 0;
    if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                  (off_t)bytes) != 0)
        failure = errno;
    close(file);
    return failure;
}

void vv_os_forget(uint8_t *map, uint64_t bytes)
{
    madvise(map, bytes, MADV_DONTNEED);
}

uint64_t vv_os_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

static int write_at(const char *path, int flags, const void *data, size_t bytes, uint64_t offset)
{
    if (offset + bytes > vv_os_file_limit())
        return EFBIG; /* trying it would raise SIGXFSZ */
    int file = open(path, O_WRONLY | O_CLOEXEC | flags, 0644);
    if (file < 0)
        return errno;
    int failure = 0;
    const char *from = data;
    while (bytes > 0 && failure == 0) {
        ssize_t written = pwrite(file, from, bytes, (off_t)offset);
        if (written > 0) {
            from += written;
            bytes -= (size_t)written;
            offset += (uint64_t)written;
        } else if (written == 0) {
            failure = ENOSPC;
        } else if (errno != EINTR) {
            failure = errno;
        }
    }
    if (close(file) != 0 && failure == 0 && errno != EINTR)
        failure = errno;
    return failure;
}

int vv_os_write_at(const char *path, const void *data, size_t bytes, uint64_t offset)
{
    return write_at(path, O_CREAT, data, bytes, offset);
}

int vv_os_overwrite_at(const char *path, const void *data, size_t bytes, uint64_t offset)
{
    return write_at(path, 0, data, bytes, offset);
}

int vv_os_replace(const char *temporary, const char *path)
{
    return rename(temporary, path) == 0 ? 0 : errno;
}

int vv_os_remove(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT ? 0 : errno;
}

int vv_os_remove_folder(const char *path)
{
    return rmdir(path) == 0 ? 0 : errno;
}

int vv_os_make_folder(const char *path)
{
    return mkdir(path, 0755) == 0 ? 0 : errno;
}

int vv_os_thread_name(uint64_t tid, char out_name[16])
{
    char path[64];
    if (tid == vv_os_tid()) /* by far the cheaper way */
        return prctl(PR_GET_NAME, out_name) == 0 ? 0 : errno;
    snprintf(path, sizeof path, "/proc/self/task/%llu/comm", (unsigned long long)tid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno;
    ssize_t length = read(file, out_name, 15);
    int failure = length < 0 ? errno : 0;
    close(file);
    if (failure != 0)
        return failure;
    if (length > 0 && out_name[length - 1] == '\n')
        length--;
    out_name[length] = '\0';
    return 0;
}

int vv_os_program(char *out_path, size_t capacity)
{
    ssize_t length = readlink("/proc/self/exe", out_path, capacity - 1);
    if (length < 0)
        return errno;
    out_path[length] = '\0';
    return 0;
}

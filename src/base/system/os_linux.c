/* SPDX-License-Identifier: Apache-2.0 */
/* os_linux.c — os.h for Linux. */
#include "base/system/os.h"

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
#include <time.h>
#include <unistd.h>

#include "base/system/descriptor.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define PAGE_BYTES 4096u

#define BIT_OF(number) (UINT64_C(1) << ((number)-1))
/* If one of these is blocked and a fault raises it, the kernel kills the process. */
#define NEVER_BLOCKED                                                                              \
    (BIT_OF(SIGSEGV) | BIT_OF(SIGBUS) | BIT_OF(SIGFPE) | BIT_OF(SIGILL) | BIT_OF(SIGTRAP) |        \
     BIT_OF(SIGSYS))

/* Uses the system call: the kernel's signal set has 8 bytes, libc's has 128. */
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
    close(-1); /* a cancellation point: libc leaves it after the handler has run */
}

uint64_t vv_os_tid(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

bool vv_os_is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* After mlockall(MCL_FUTURE), the kernel fills a new mapping at once, unless nobody may touch it.
 * So the mapping begins without access, is unlocked, and is then opened; the kernel fills no page
 * then. */
static int map_unlocked(size_t bytes, int flags, int file, void **out_map)
{
    void *map = mmap(NULL, bytes, PROT_NONE, flags, file, 0);
    if (map == MAP_FAILED)
        return errno;
    munlock(map, bytes);
    if (mprotect(map, bytes, PROT_READ | PROT_WRITE) != 0) {
        int failure = errno;
        munmap(map, bytes);
        return failure;
    }
    *out_map = map;
    return 0;
}

void *vv_os_reserve(size_t bytes)
{
    void *memory;
    return map_unlocked(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, &memory) == 0
               ? memory
               : NULL;
}

int vv_os_map_file(int file, uint64_t bytes, uint8_t **out_map)
{
    void *map;
    int failure = map_unlocked(bytes, MAP_SHARED, file, &map);
    if (failure != 0)
        return failure;
    madvise(map, bytes, MADV_RANDOM); /* no reading ahead in a hole: it would zero megabytes */
    *out_map = map;
    return 0;
}

void vv_os_unmap(void *map, uint64_t bytes)
{
    munmap(map, bytes);
}

/* Uses the bare system call, because ThreadSanitizer takes mmap for a write to the whole
 * mapping. */
int vv_os_replace_by_memory(void *map, uint64_t bytes)
{
    long mapped = syscall(SYS_mmap, map, (size_t)bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0L);
    return mapped == -1 ? errno : 0;
}

int vv_os_populate(uint8_t *map, uint64_t bytes)
{
    if (madvise(map, bytes, MADV_POPULATE_WRITE) == 0)
        return 0;
    return errno == EFAULT ? ENOSPC : errno; /* in this case a store would raise SIGBUS */
}

int vv_os_back_memory(uint8_t *memory, uint64_t bytes)
{
    int failure = vv_os_populate(memory, bytes);
    if (failure != EINVAL)
        return failure;
    for (uint64_t done = 0; done < bytes; done += PAGE_BYTES) /* older kernel: write each page */
        *(volatile uint8_t *)(memory + done) = 0;
    return 0;
}

int vv_os_punch(uint8_t *map, uint64_t bytes)
{
    return madvise(map, bytes, MADV_REMOVE) == 0 ? 0 : errno;
}

void vv_os_forget(uint8_t *map, uint64_t bytes)
{
    madvise(map, bytes, MADV_DONTNEED);
}

uint64_t vv_os_address_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

uint64_t vv_os_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

int vv_os_thread_name(uint64_t tid, char out_name[16])
{
    char path[64];
    if (tid == vv_os_tid()) /* much cheaper than a file in /proc */
        return prctl(PR_GET_NAME, out_name) == 0 ? 0 : errno;
    snprintf(path, sizeof path, "/proc/self/task/%llu/comm", (unsigned long long)tid);
    int file = vv_descriptor_open(AT_FDCWD, path, O_RDONLY, 0);
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

/* The kernel's number of a thread's CPU clock; clock_getcpuclockid makes such numbers of
 * processes. */
uint64_t vv_os_cpu_ns(uint64_t tid)
{
    enum { CLOCK_OF_THREAD = 4, CLOCK_OF_SCHEDULER = 2, SHIFT = 3 };
    clockid_t clock = tid == 0 ? CLOCK_PROCESS_CPUTIME_ID
                               : (clockid_t)(~(unsigned)tid << SHIFT | CLOCK_OF_THREAD |
                                             CLOCK_OF_SCHEDULER);
    struct timespec now;
    int saved_errno = errno;
    uint64_t ns = clock_gettime(clock, &now) == 0
                      ? (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec
                      : 0;
    errno = saved_errno;
    return ns;
}

uint64_t vv_os_thread_count(void)
{
    enum { SELF_AND_PARENT = 2 }; /* links of a folder that are no folders in it */
    struct stat tasks;
    int saved_errno = errno;
    uint64_t count = stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > SELF_AND_PARENT
                         ? (uint64_t)tasks.st_nlink - SELF_AND_PARENT
                         : 0;
    errno = saved_errno;
    return count;
}

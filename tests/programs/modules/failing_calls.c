/* SPDX-License-Identifier: Apache-2.0 */
/* failing_calls.c — preloaded, makes system calls of libvarve fail, and of nobody else.
 *
 * FAILING_CALL=NAME:FIRST:COUNT:ERRNO — of the calls of NAME from libvarve.so, number FIRST (from
 * 0) and the COUNT - 1 after it fail with that errno (memory functions return NULL). At the end of
 *    the process the number
 * of calls of NAME is written to the file FAILING_CALL_SEEN. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[32];
static long first, count, seen;
static int failure;

#define NEXT(function) ((__typeof__(&(function)))(uintptr_t)dlsym(RTLD_NEXT, #function))
#define CALLER __builtin_return_address(0)
#define EXPORTED __attribute__((visibility("default")))

static bool fails(const char *function, const void *caller)
{
    Dl_info info;
    if (strcmp(function, name) != 0 || dladdr(caller, &info) == 0 ||
        strstr(info.dli_fname, "libvarve") == NULL)
        return false;
    long number = __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
    if (number < first || number >= first + count)
        return false;
    errno = failure;
    return true;
}

__attribute__((constructor(101))) static void on_load(void)
{
    const char *told = getenv("FAILING_CALL");
    if (told != NULL && sscanf(told, "%31[^:]:%ld:%ld:%d", name, &first, &count, &failure) != 4)
        abort();
}

__attribute__((destructor)) static void on_unload(void)
{
    const char *path = getenv("FAILING_CALL_SEEN");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%ld\n", seen);
        fclose(file);
    }
}

EXPORTED void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (fails("mmap", CALLER))
        return MAP_FAILED;
    return NEXT(mmap)(address, bytes, protection, flags, file, offset);
}

EXPORTED int madvise(void *address, size_t bytes, int advice)
{
    return fails("madvise", CALLER) ? -1 : NEXT(madvise)(address, bytes, advice);
}

EXPORTED int mprotect(void *address, size_t bytes, int protection)
{
    return fails("mprotect", CALLER) ? -1 : NEXT(mprotect)(address, bytes, protection);
}

EXPORTED int openat(int at, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
    va_end(more);
    return fails("openat", CALLER) ? -1 : NEXT(openat)(at, path, flags, mode);
}

EXPORTED ssize_t pwrite(int file, const void *data, size_t bytes, off_t offset)
{
    return fails("pwrite", CALLER) ? -1 : NEXT(pwrite)(file, data, bytes, offset);
}

EXPORTED int ftruncate(int file, off_t bytes)
{
    return fails("ftruncate", CALLER) ? -1 : NEXT(ftruncate)(file, bytes);
}

EXPORTED int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails("renameat", CALLER) ? -1 : NEXT(renameat)(from_folder, from, to_folder, to);
}

EXPORTED int mkdirat(int folder, const char *path, mode_t mode)
{
    return fails("mkdirat", CALLER) ? -1 : NEXT(mkdirat)(folder, path, mode);
}

EXPORTED int unlinkat(int folder, const char *path, int flags)
{
    return fails("unlinkat", CALLER) ? -1 : NEXT(unlinkat)(folder, path, flags);
}

EXPORTED int fstat(int file, struct stat *status)
{
    return fails("fstat", CALLER) ? -1 : NEXT(fstat)(file, status);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* memory_file.h — bytes in memory that have a path, for readers of files. One file of each process
 * and translation unit, written anew each time: making another costs a fuzz target more than many
 * an import. */
#ifndef VARVE_TESTS_MEMORY_FILE_H
#define VARVE_TESTS_MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Holds exactly these bytes until the next call. */
static inline const char *memory_file(const void *data, size_t size)
{
    static char path[32];
    static int file = -1;
    static size_t former_bytes;
    if (file < 0) {
        file = memfd_create("trace", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (file < 0 || pwrite(file, data, size, 0) != (ssize_t)size ||
        (size < former_bytes && ftruncate(file, (off_t)size) != 0))
        abort();
    former_bytes = size;
    return path;
}

/* That are to read it, where its format allows several: those, too, cost more than a small import,
 * so one length of 16 has them. */
static inline unsigned memory_file_threads(size_t size)
{
    return size % 16 == 0 ? 3 : 1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/lost_page.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/descriptor.h"
#include "base/system/folder.h"
#include "ctf/stream_file.h"

static int path_of(const char *trace, char out_path[PATH_MAX])
{
    int length = snprintf(out_path, PATH_MAX, "%s/" VV_LOST_FILE, trace);
    return length > 0 && length < PATH_MAX ? 0 : ENAMETOOLONG;
}

void vv_lost_page_init(struct vv_lost_page *page)
{
    *page = (struct vv_lost_page){ .magic = htole64(VV_LOST_MAGIC),
                                   .version = htole32(VV_LOST_VERSION) };
}

/* The page is written, not only sized: so it has its block, and no later store can fault because
 * the disk is full. */
int vv_lost_page_make(int folder, mode_t mode)
{
    union { struct vv_lost_page page; uint8_t bytes[VV_LOST_BYTES]; } content = { .bytes = { 0 } };
    int file, failure = vv_folder_create(folder, VV_LOST_FILE, mode, &file);
    if (failure != 0)
        return failure;
    vv_lost_page_init(&content.page);
    failure = vv_folder_write(file, content.bytes, sizeof content, 0);
    close(file);
    if (failure != 0)
        unlinkat(folder, VV_LOST_FILE, 0);
    return failure;
}

/* Does not block, whatever kind of file is there. */
static int open_page(int at, const char *name, struct stat *out_status)
{
    int file = vv_descriptor_open(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (file >= 0 && fstat(file, out_status) != 0) {
        close(file);
        file = -1;
    }
    return file;
}

/* Reads the page. A file that is empty or begins with zeros is being made, or its maker was killed;
 * nobody can have counted in it. Only what is used is read: stacks may be small. */
static bool read_page(int file, const struct stat *status, struct vv_lost *out_lost,
                      bool *out_is_written)
{
    static const struct vv_lost_page zeros;
    struct vv_lost_page page;
    *out_is_written = false;
    if (S_ISREG(status->st_mode) && status->st_size == 0)
        return true;
    if (!S_ISREG(status->st_mode) || status->st_size != VV_LOST_BYTES ||
        pread(file, &page, sizeof page, 0) != (ssize_t)sizeof page)
        return false;
    if (memcmp(&page, &zeros, sizeof page) == 0)
        return true;
    if (le64toh(page.magic) != VV_LOST_MAGIC || le32toh(page.version) != VV_LOST_VERSION ||
        le64toh(page.records) > VV_LOST_RECORDS_MAX)
        return false;
    uint32_t os_errno = le32toh(page.os_errno);
    out_lost->records = le64toh(page.records);
    out_lost->processes = le64toh(page.processes);
    out_lost->os_errno = os_errno < 4096 ? (int)os_errno : 0;
    *out_is_written = true;
    return true;
}

void vv_lost_page_read(const char *trace, struct vv_lost *out_lost)
{
    struct stat status;
    char path[PATH_MAX];
    bool is_written;
    *out_lost = (struct vv_lost){ 0 };
    if (path_of(trace, path) != 0)
        return;
    int file = open_page(AT_FDCWD, path, &status);
    if (file < 0) {
        out_lost->is_damaged = errno != ENOENT && errno != ENOTDIR;
        return;
    }
    out_lost->is_damaged = !read_page(file, &status, out_lost, &is_written);
    close(file);
}

static bool is_done(int at, const char *name)
{
    struct stat status;
    struct vv_lost lost = { 0 };
    bool is_written;
    int file = open_page(at, name, &status);
    if (file < 0)
        return false;
    /* test this before reading: then nobody can still count */
    bool is_free = S_ISREG(status.st_mode) && vv_stream_file_use(file) == VV_STREAM_FREE;
    bool is_empty =
        is_free && read_page(file, &status, &lost, &is_written) && is_written && lost.records == 0;
    close(file);
    return is_empty;
}

bool vv_lost_page_is_done(const char *trace)
{
    char path[PATH_MAX];
    return path_of(trace, path) == 0 && is_done(AT_FDCWD, path);
}

void vv_lost_page_drop(int folder)
{
    if (is_done(folder, VV_LOST_FILE))
        unlinkat(folder, VV_LOST_FILE, 0);
}

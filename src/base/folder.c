/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c — Linux: directories are read by getdents64, since opendir allocates. */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

#define DEPTH_MAX 3
#define LIST_BYTES 2048u /* on the stack, once a depth */

/* ---- names ---- */

void vv_folder_list_init(struct vv_folder_list *list, int folder, void *buffer, size_t capacity)
{
    *list = (struct vv_folder_list){ .folder = folder, .buffer = buffer, .capacity = capacity };
    if (lseek(folder, 0, SEEK_SET) < 0)
        list->failure = errno;
}

static bool is_self(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

const char *vv_folder_list_next(struct vv_folder_list *list)
{
    while (list->failure == 0) {
        if (list->at >= list->end) {
            ssize_t bytes = getdents64(list->folder, list->buffer, list->capacity);
            if (bytes < 0)
                list->failure = errno;
            if (bytes <= 0)
                return NULL;
            list->at = 0;
            list->end = (size_t)bytes;
        }
        const struct dirent64 *entry = (const void *)(list->buffer + list->at);
        list->at += entry->d_reclen;
        if (!is_self(entry->d_name))
            return entry->d_name;
    }
    return NULL;
}

/* ---- folders ---- */

int vv_folder_open(int at, const char *name, int *out_folder)
{
    int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno;
    *out_folder = folder;
    return 0;
}

int vv_folder_make(int at, const char *name, int *out_folder)
{
    if (mkdirat(at, name, 0777) != 0)
        return errno;
    int failure = vv_folder_open(at, name, out_folder);
    if (failure != 0)
        unlinkat(at, name, AT_REMOVEDIR);
    return failure;
}

bool vv_folder_has(int at, const char *name)
{
    struct stat status;
    return fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static int remove_folder(int at, const char *name, int depth);

/* Some file systems skip names when others are removed during a listing: begin again until none is left. */
static int remove_content(int folder, int depth)
{
    _Alignas(8) char buffer[LIST_BYTES];
    int failure = 0;
    bool is_empty;
    do {
        struct vv_folder_list list;
        vv_folder_list_init(&list, folder, buffer, sizeof buffer);
        is_empty = true;
        for (const char *name; failure == 0 && (name = vv_folder_list_next(&list)) != NULL;) {
            is_empty = false;
            if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
                continue;
            failure = errno == EISDIR || errno == EPERM ? remove_folder(folder, name, depth + 1) : errno;
        }
        if (failure == 0)
            failure = list.failure;
    } while (failure == 0 && !is_empty);
    return failure;
}

static int remove_folder(int at, const char *name, int depth)
{
    if (depth >= DEPTH_MAX)
        return ENOTEMPTY;
    int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0)
        return errno == ENOENT ? 0 : errno;
    int failure = remove_content(folder, depth);
    close(folder);
    if (failure == 0 && unlinkat(at, name, AT_REMOVEDIR) != 0)
        failure = errno;
    return failure;
}

int vv_folder_remove(int at, const char *name)
{
    return remove_folder(at, name, 0);
}

/* ---- files ---- */

int vv_folder_create(int at, const char *name, int *out_file)
{
    int file = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0)
        return errno;
    *out_file = file;
    return 0;
}

int vv_folder_write(int file, const void *data, size_t bytes, uint64_t offset)
{
    if (offset + bytes > vv_os_file_limit())
        return EFBIG;
    for (const char *from = data; bytes > 0;) {
        ssize_t written = pwrite(file, from, bytes, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        from += written;
        bytes -= (size_t)written;
        offset += (uint64_t)written;
    }
    return 0;
}

static int copy_all(int from, int to, void *buffer, size_t capacity)
{
    for (uint64_t offset = 0;;) {
        ssize_t bytes = pread(from, buffer, capacity, (off_t)offset);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes <= 0)
            return bytes < 0 ? errno : 0;
        int failure = vv_folder_write(to, buffer, (size_t)bytes, offset);
        if (failure != 0)
            return failure;
        offset += (uint64_t)bytes;
    }
}

int vv_folder_copy(int from, int to, const char *name, void *buffer, size_t capacity)
{
    int out = -1, in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (in < 0)
        return errno;
    int failure = vv_folder_create(to, name, &out);
    if (failure == 0) {
        failure = copy_all(in, out, buffer, capacity);
        if (close(out) != 0 && failure == 0)
            failure = errno;
    }
    close(in);
    return failure;
}

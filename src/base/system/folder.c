/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c — folder.h for Linux. Directories are read with getdents64, because opendir
 * allocates. */
#include "base/system/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/descriptor.h"
#include "base/system/os.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* Linux 6.6 */
#endif

#define ROUNDS_MAX 16    /* listings of a folder that is filled while it is emptied               */
#define LIST_BYTES 2048u /* on the stack, once for each level */

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
    int folder = vv_descriptor_open(at, name, O_RDONLY | O_DIRECTORY, 0);
    if (folder < 0)
        return errno;
    *out_folder = folder;
    return 0;
}

int vv_folder_open_below(int at, const char *name, int *out_folder)
{
    int folder = vv_descriptor_open(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (folder < 0)
        return errno;
    *out_folder = folder;
    return 0;
}

/* The descriptor has O_PATH, which few system calls accept; hence the two ways. */
static int restore_owner(int folder)
{
    struct stat status;
    char link[64];
    if (fstat(folder, &status) != 0)
        return errno;
    mode_t mode = status.st_mode & 07777;
    if ((mode & S_IRWXU) == S_IRWXU || status.st_uid != geteuid())
        return 0;
    if (syscall(SYS_fchmodat2, folder, "", mode | S_IRWXU, AT_EMPTY_PATH) == 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    return chmod(link, mode | S_IRWXU) == 0 ? 0 : errno;
}

int vv_folder_open_made(int at, const char *name, int *out_folder)
{
    int made = vv_descriptor_look(at, name, O_DIRECTORY | O_NOFOLLOW);
    int failure = made < 0 ? errno : restore_owner(made);
    if (failure == 0)
        failure = vv_folder_open_below(made, ".", out_folder);
    if (made >= 0)
        close(made);
    return failure;
}

int vv_folder_make(int at, const char *name, mode_t mode, int *out_folder)
{
    if (mkdirat(at, name, mode) != 0)
        return errno;
    int failure = vv_folder_open_made(at, name, out_folder);
    if (failure != 0)
        unlinkat(at, name, AT_REMOVEDIR);
    return failure;
}

bool vv_folder_has(int at, const char *name)
{
    struct stat status;
    return fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static int remove_folder(int at, const char *name, int depth_left);

/* Some file systems skip names if other names are removed during the listing. So the folder is
 * listed again until it is empty. */
static int remove_content(int folder, int depth_left)
{
    _Alignas(8) char buffer[LIST_BYTES];
    int failure = 0;
    bool is_empty = false;
    for (int round = 0; round < ROUNDS_MAX && failure == 0 && !is_empty; round++) {
        struct vv_folder_list list;
        vv_folder_list_init(&list, folder, buffer, sizeof buffer);
        is_empty = true;
        for (const char *name; failure == 0 && (name = vv_folder_list_next(&list)) != NULL;) {
            is_empty = false;
            if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
                continue;
            failure = errno == EISDIR || errno == EPERM
                          ? remove_folder(folder, name, depth_left - 1)
                          : errno;
        }
        if (failure == 0)
            failure = list.failure;
    }
    return failure;
}

static int remove_folder(int at, const char *name, int depth_left)
{
    int folder = -1;
    if (depth_left <= 0)
        return ENOTEMPTY;
    int failure = vv_folder_open_below(at, name, &folder);
    if (failure != 0)
        return failure == ENOENT ? 0 : failure;
    failure = remove_content(folder, depth_left);
    close(folder);
    if (failure == 0 && unlinkat(at, name, AT_REMOVEDIR) != 0)
        failure = errno;
    return failure;
}

int vv_folder_remove(int at, const char *name, int depth_max)
{
    return remove_folder(at, name, depth_max);
}

/* ---- files ---- */

/* Opens the folder that holds `name`, relative to `at`; -1 on failure. */
static int open_parent(int at, const char *name)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(name, '/');
    size_t length = slash != NULL ? (size_t)(slash + 1 - name) : 0;
    if (length >= sizeof parent - 1)
        return -1;
    memcpy(parent, name, length);
    memcpy(parent + length, ".", sizeof ".");
    return vv_descriptor_open(at, parent, O_PATH | O_DIRECTORY, 0);
}

static bool is_trusted(uid_t user)
{
    return user == 0 || user == geteuid();
}

bool vv_folder_is_safe(int at, const char *name)
{
    struct stat folder;
    int parent = open_parent(at, name);
    if (parent < 0)
        return false;
    bool safe = fstat(parent, &folder) == 0 && is_trusted(folder.st_uid) &&
                ((folder.st_mode & S_IWOTH) == 0 || (folder.st_mode & S_ISVTX) != 0);
    close(parent);
    return safe;
}

bool vv_folder_may_follow(int at, const char *name)
{
    struct stat link;
    if (fstatat(at, name, &link, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(link.st_mode))
        return true;
    return is_trusted(link.st_uid) && vv_folder_is_safe(at, name);
}

static int open_plain(int at, const char *name, int flags, int *out_file)
{
    struct stat status;
    int file = vv_descriptor_open(at, name, flags | O_NONBLOCK | O_NOCTTY, 0);
    if (file < 0)
        return errno == ENXIO ? EINVAL : errno; /* a socket, or a FIFO opened for writing */
    int failure = fstat(file, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : EINVAL;
    if (failure == 0)
        *out_file = file;
    else
        close(file);
    return failure;
}

int vv_folder_open_file(int at, const char *name, int flags, int *out_file)
{
    int failure = open_plain(at, name, flags | O_NOFOLLOW, out_file);
    return failure == ELOOP && vv_folder_may_follow(at, name)
               ? open_plain(at, name, flags, out_file)
               : failure;
}

int vv_folder_read(int at, const char *name, void *buffer, size_t capacity, size_t *out_bytes)
{
    int file, failure = vv_folder_open_file(at, name, O_RDONLY, &file);
    size_t done = 0;
    if (failure != 0)
        return failure;
    while (done < capacity) {
        ssize_t got = pread(file, (char *)buffer + done, capacity - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            failure = errno;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    close(file);
    *out_bytes = done;
    return failure;
}

int vv_folder_create(int at, const char *name, mode_t mode, int *out_file)
{
    struct stat status;
    const mode_t own = S_IRUSR | S_IWUSR;
    int file = vv_descriptor_open(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (file < 0)
        return errno;
    if (fstat(file, &status) == 0 && (status.st_mode & own) != own)
        fchmod(file, (status.st_mode & 07777) | own);
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

/* Copies up to the limit, even if the file grows meanwhile. */
static int copy_all(int from, int to, uint64_t limit_bytes, void *buffer, size_t capacity)
{
    for (uint64_t offset = 0;;) {
        uint64_t left = limit_bytes - offset;
        ssize_t bytes =
            pread(from, buffer, left < capacity ? (size_t)left : capacity, (off_t)offset);
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

int vv_folder_copy(int from, int to, const char *name, uint64_t limit_bytes, void *buffer,
                   size_t capacity)
{
    struct stat status;
    int out = -1, in, failure = open_plain(from, name, O_RDONLY | O_NOFOLLOW, &in);
    if (failure != 0)
        return failure;
    if (fstat(in, &status) != 0)
        failure = errno;
    else if ((uint64_t)status.st_size > limit_bytes)
        failure = EFBIG;
    else
        failure = vv_folder_create(to, name, VV_FILE_PRIVATE, &out);
    if (out >= 0) {
        failure = copy_all(in, out, limit_bytes, buffer, capacity);
        if (close(out) != 0 && failure == 0)
            failure = errno;
    }
    close(in);
    return failure;
}

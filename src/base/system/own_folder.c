/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/own_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/system/descriptor.h"
#include "base/system/folder.h"
#include "base/system/os.h"
#include "base/system/shared_page.h"

#define LOOK_FLAGS (O_NOFOLLOW | O_DIRECTORY)
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

static struct vv_file_id id_of(const struct stat *status)
{
    return (struct vv_file_id){ status->st_dev, status->st_ino };
}

static bool is_same(const struct vv_file_id *one, const struct vv_file_id *other)
{
    return one->device == other->device && one->inode == other->inode;
}

static int fail(int descriptor, int failure)
{
    if (descriptor >= 0)
        close(descriptor);
    return failure;
}

/* *out_folder can be looked through, not read. */
static int look_into(const struct vv_own_folder *folder, int *out_folder)
{
    struct stat status;
    int opened = vv_descriptor_look(AT_FDCWD, folder->path, LOOK_FLAGS);
    if (opened < 0)
        return errno;
    if (fstat(opened, &status) != 0)
        return fail(opened, errno);
    struct vv_file_id id = id_of(&status);
    if (!is_same(&id, &folder->id))
        return fail(opened, ESTALE);
    *out_folder = opened;
    return 0;
}

/* ---- folders ---- */

void vv_own_folder_copy(struct vv_own_folder *to, const struct vv_own_folder *from)
{
    to->id = from->id;
    to->is_shared = from->is_shared;
    memcpy(to->path, from->path, strlen(from->path) + 1);
}

static int make(int at, const char *name, bool is_shared, struct vv_file_id *out_id)
{
    struct stat status;
    int folder, failure = vv_folder_make(at, name, is_shared ? VV_FOLDER_SHARED : VV_FOLDER_PRIVATE, &folder);
    if (failure != 0)
        return failure;
    if (fstat(folder, &status) != 0) {
        failure = errno;
        unlinkat(at, name, AT_REMOVEDIR);
        return fail(folder, failure);
    }
    *out_id = id_of(&status);
    return fail(folder, 0);
}

int vv_own_folder_make_at(const char *path, bool is_shared)
{
    struct vv_file_id id;
    return make(AT_FDCWD, path, is_shared, &id);
}

/* What a new file there is like: servers may give all files to one user, and some file systems have no modes. */
static bool look_at_new_file(int folder, struct stat *out_status)
{
    static const char name[] = ".owner";
    int file = vv_descriptor_open_in(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (file < 0)
        return false;
    bool is_known = fstat(file, out_status) == 0;
    unlinkat(folder, name, 0);
    close(file);
    return is_known;
}

static const char *objection(int folder, const struct stat *status)
{
    struct stat new_file;
    bool is_ours = status->st_uid == geteuid(), is_for_others = (status->st_mode & OTHERS_WRITE) != 0;
    if (is_ours && !is_for_others)
        return NULL;
    bool is_known = look_at_new_file(folder, &new_file);
    if (!is_ours && (!is_known || new_file.st_uid != status->st_uid))
        return "it belongs to another user, who could exchange what is recorded";
    if (is_for_others && (!is_known || (status->st_mode & OTHERS_WRITE & ~new_file.st_mode) != 0))
        return "other users may write into it, and could exchange what is recorded";
    return NULL;
}

int vv_own_folder_know(const char *path, bool is_shared, struct vv_own_folder *out, const char **out_objection)
{
    struct stat status;
    size_t length = strlen(path);
    const char *against;
    if (length >= sizeof out->path)
        return ENAMETOOLONG;
    memmove(out->path, path, length + 1);
    out->id = (struct vv_file_id){ 0, 0 };
    out->is_shared = is_shared;
    int folder = vv_descriptor_look(AT_FDCWD, path, LOOK_FLAGS);
    if (folder < 0)
        return errno;
    if (fstat(folder, &status) != 0)
        return fail(folder, errno);
    against = objection(folder, &status);
    if (out_objection != NULL)
        *out_objection = against;
    if (against != NULL)
        return fail(folder, EPERM);
    out->id = id_of(&status);
    return fail(folder, 0);
}

int vv_own_folder_make(const struct vv_own_folder *parent, const char *name, struct vv_own_folder *out)
{
    int at;
    struct vv_file_id id;
    int length = snprintf(out->path, sizeof out->path, "%s/%s", parent->path, name);
    if (length < 0 || (size_t)length >= sizeof out->path)
        return ENAMETOOLONG;
    int failure = look_into(parent, &at);
    if (failure != 0)
        return failure;
    failure = make(at, name, parent->is_shared, &id);
    if (failure == 0) {
        out->id = id;
        out->is_shared = parent->is_shared;
    }
    return fail(at, failure);
}

int vv_own_folder_remove(const struct vv_own_folder *parent, const char *name)
{
    int at, failure = look_into(parent, &at);
    return failure != 0 ? failure : fail(at, unlinkat(at, name, AT_REMOVEDIR) == 0 ? 0 : errno);
}

/* ---- files ---- */

static int create_empty(int at, const char *name, bool is_shared, int *out_file, struct vv_file_id *out_id)
{
    struct stat status;
    int file = vv_descriptor_open_in(at, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, is_shared ? VV_FILE_SHARED : VV_FILE_PRIVATE);
    if (file < 0)
        return errno;
    int failure = fstat(file, &status) != 0 ? errno : 0;
    const mode_t mine = S_IRUSR | S_IWUSR, mode = status.st_mode & 07777;
    if (failure == 0 && (mode & mine) != mine && fchmod(file, mode | mine) != 0)
        failure = errno;
    if (failure != 0) {
        unlinkat(at, name, 0);
        return fail(file, failure);
    }
    *out_id = id_of(&status);
    *out_file = file;
    return 0;
}

int vv_own_create(const struct vv_own_folder *folder, const char *name, uint64_t bytes, uint8_t **out_map,
                  struct vv_file_id *out_id)
{
    int at, file, failure = look_into(folder, &at);
    if (failure != 0)
        return failure;
    failure = create_empty(at, name, folder->is_shared, &file, out_id);
    if (failure != 0)
        return fail(at, failure);
    if (ftruncate(file, (off_t)bytes) != 0)
        failure = errno;
    if (failure == 0 && out_map != NULL)
        failure = vv_os_map_file(file, bytes, out_map);
    if (failure != 0)
        unlinkat(at, name, 0);
    close(file);
    return fail(at, failure);
}

struct content {
    const char *data;
    size_t data_bytes; /* they are repeated up to                                                */
    uint64_t bytes;
};

static int write_all(int file, const struct content *content, uint64_t offset)
{
    for (uint64_t done = 0; done < content->bytes;) {
        uint64_t at = done % content->data_bytes, piece = content->data_bytes - at, left = content->bytes - done;
        if (piece > left)
            piece = left;
        ssize_t written = pwrite(file, content->data + at, (size_t)piece, (off_t)(offset + done));
        if (written > 0)
            done += (uint64_t)written;
        else if (written == 0)
            return ENOSPC;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

int vv_own_share_page(const struct vv_own_folder *folder, const char *name, void *page, const void *content)
{
    const struct content page_content = { content, VV_PAGE_BYTES, VV_PAGE_BYTES };
    struct vv_file_id id;
    int at, file = -1, failure = look_into(folder, &at);
    if (failure != 0)
        return failure;
    unlinkat(at, name, 0);
    failure = create_empty(at, name, false, &file, &id);
    if (failure != 0)
        return fail(at, failure);
    /* Written, not only sized: the blocks are there, so no later store can fault for want of space. */
    failure = VV_PAGE_BYTES > vv_os_file_limit() ? EFBIG
                                                 : write_all(file, &page_content, 0);
    if (failure == 0)
        failure = vv_page_share(page, file);
    if (failure != 0)
        unlinkat(at, name, 0);
    close(file);
    return fail(at, failure);
}

static int open_known(const struct vv_own_folder *folder, const char *name, const struct vv_file_id *id,
                      int *out_file)
{
    struct stat status;
    int at, failure = look_into(folder, &at);
    if (failure != 0)
        return failure;
    int file = vv_descriptor_open_in(at, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    failure = file < 0 || fstat(file, &status) != 0 ? errno : 0;
    close(at);
    if (failure != 0)
        return fail(file, failure);
    struct vv_file_id found = id_of(&status);
    if (!is_same(&found, id))
        return fail(file, ESTALE);
    *out_file = file;
    return 0;
}

static int write_known(const struct vv_own_folder *folder, const char *name, const struct vv_file_id *id,
                       const struct content *content, uint64_t offset)
{
    int file;
    if (offset + content->bytes > vv_os_file_limit())
        return EFBIG; /* trying it would raise SIGXFSZ */
    int failure = open_known(folder, name, id, &file);
    if (failure != 0)
        return failure;
    failure = write_all(file, content, offset);
    if (close(file) != 0 && failure == 0 && errno != EINTR)
        failure = errno;
    return failure;
}

int vv_own_write(const struct vv_own_folder *folder, const char *name, const struct vv_file_id *id,
                 const void *data, size_t bytes, uint64_t offset)
{
    const struct content content = { data, bytes, bytes };
    return write_known(folder, name, id, &content, offset);
}

int vv_own_write_zeros(const struct vv_own_folder *folder, const char *name, const struct vv_file_id *id,
                       uint64_t offset, uint64_t bytes)
{
    static char zeros[128 << 10]; /* a window; not constant, so that it is no part of the library's file */
    const struct content content = { zeros, sizeof zeros, bytes };
    return write_known(folder, name, id, &content, offset);
}

int vv_own_rename(const struct vv_own_folder *folder, const char *from, const char *to)
{
    int at, failure = look_into(folder, &at);
    return failure != 0 ? failure : fail(at, renameat(at, from, at, to) == 0 ? 0 : errno);
}

int vv_own_remove(const struct vv_own_folder *folder, const char *name)
{
    int at, failure = look_into(folder, &at);
    if (failure != 0)
        return failure == ENOENT ? 0 : failure;
    return fail(at, unlinkat(at, name, 0) == 0 || errno == ENOENT ? 0 : errno);
}

int vv_own_space(const struct vv_own_folder *folder, uint64_t *out_free_bytes, uint64_t *out_total_bytes)
{
    struct statfs space;
    int at, failure = look_into(folder, &at);
    if (failure != 0)
        return failure;
    if (fstatfs(at, &space) != 0)
        return fail(at, errno);
    *out_free_bytes = (uint64_t)space.f_bavail * (uint64_t)space.f_bsize;
    *out_total_bytes = (uint64_t)space.f_blocks * (uint64_t)space.f_bsize;
    return fail(at, 0);
}

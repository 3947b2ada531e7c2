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
#define ATTEMPTS 8

static struct vv_file_id id_of(const struct stat *status)
{
    return (struct vv_file_id){ status->st_dev, status->st_ino };
}

static bool is_same(const struct vv_file_id *one, const struct vv_file_id *other)
{
    return one->device == other->device && one->inode == other->inode;
}

/* Does the descriptor still belong to that file? Another thread may have closed the number, and
 * opened another file under it. */
static bool is_still(int descriptor, const struct vv_file_id *id)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return errno != EBADF;
    struct vv_file_id found = id_of(&status);
    return is_same(&found, id);
}

static int close_own(int descriptor, const struct vv_file_id *id)
{
    if (!is_still(descriptor, id))
        return EBADF;
    return close(descriptor) == 0 || errno == EINTR ? 0 : errno;
}

static int look_at(int descriptor, struct stat *out_status)
{
    int failure = fstat(descriptor, out_status) == 0 ? 0 : errno;
    if (failure != 0 && failure != EBADF)
        close(descriptor);
    return failure;
}

/* ---- each operation opens the folder again ---- */

/* Works in the folder `at`, by names below it. If it is repeated, it must handle what the first
 * attempt left behind. */
typedef int operation(int at, void *argument);

static int attempt(const struct vv_own_folder *folder, operation *operate, void *argument)
{
    struct stat status;
    int at = vv_descriptor_look(AT_FDCWD, folder->path, LOOK_FLAGS),
        failure = at < 0 ? errno : look_at(at, &status);
    if (failure != 0)
        return failure;
    struct vv_file_id id = id_of(&status);
    failure = is_same(&id, &folder->id) ? operate(at, argument) : ESTALE;
    close_own(at, &id);
    return failure;
}

/* A thread of the program may close all descriptors (close_range), also ours; then the operation is
 * repeated. */
static int operate_in(const struct vv_own_folder *folder, operation *operate, void *argument)
{
    int failure = EBADF;
    for (int i = 0; i < ATTEMPTS && failure == EBADF; i++)
        failure = attempt(folder, operate, argument);
    return failure;
}

/* ---- folders ---- */

void vv_own_folder_copy(struct vv_own_folder *to, const struct vv_own_folder *from)
{
    to->id = from->id;
    to->is_shared = from->is_shared;
    memcpy(to->path, from->path, strlen(from->path) + 1);
}

struct new_folder {
    const char *name;
    bool is_shared;
    bool is_left; /* left behind by an earlier attempt                                          */
    struct vv_file_id id;
};

static int make(int at, void *argument)
{
    struct new_folder *folder = argument;
    struct stat status;
    int made;
    if (folder->is_left)
        unlinkat(at, folder->name, AT_REMOVEDIR);
    folder->is_left = false;
    if (mkdirat(at, folder->name, folder->is_shared ? VV_FOLDER_SHARED : VV_FOLDER_PRIVATE) != 0)
        return errno;
    int failure = vv_folder_open_made(at, folder->name, &made);
    if (failure == 0)
        failure = look_at(made, &status);
    if (failure != 0) {
        folder->is_left = unlinkat(at, folder->name, AT_REMOVEDIR) != 0;
        return failure;
    }
    folder->id = id_of(&status);
    close_own(made, &folder->id);
    return 0;
}

int vv_own_folder_make_at(const char *path, bool is_shared)
{
    struct new_folder folder = { .name = path, .is_shared = is_shared };
    int failure = EBADF;
    for (int i = 0; i < ATTEMPTS && failure == EBADF; i++)
        failure = make(AT_FDCWD, &folder);
    return failure;
}

/* Makes a file to see which owner and mode new files get in this folder: a server may give all
 * files to one user, and some file systems have no modes. */
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
    bool is_ours = status->st_uid == geteuid(),
         is_for_others = (status->st_mode & OTHERS_WRITE) != 0;
    if (is_ours && !is_for_others)
        return NULL;
    bool is_known = look_at_new_file(folder, &new_file);
    if (!is_ours && (!is_known || new_file.st_uid != status->st_uid))
        return "it belongs to another user, who could exchange what is recorded";
    if (is_for_others && (!is_known || (status->st_mode & OTHERS_WRITE & ~new_file.st_mode) != 0))
        return "other users may write into it, and could exchange what is recorded";
    return NULL;
}

static int know(struct vv_own_folder *out, const char **out_objection)
{
    struct stat status;
    int folder = vv_descriptor_look(AT_FDCWD, out->path, LOOK_FLAGS),
        failure = folder < 0 ? errno : look_at(folder, &status);
    if (failure != 0)
        return failure;
    struct vv_file_id id = id_of(&status);
    *out_objection = objection(folder, &status);
    failure = close_own(folder, &id);
    if (failure == 0 && *out_objection != NULL)
        failure = EPERM;
    if (failure == 0)
        out->id = id;
    return failure;
}

int vv_own_folder_know(const char *path, bool is_shared, struct vv_own_folder *out,
                       const char **out_objection)
{
    size_t length = strlen(path);
    const char *against = NULL;
    int failure = EBADF;
    if (length >= sizeof out->path)
        return ENAMETOOLONG;
    memmove(out->path, path, length + 1);
    out->id = (struct vv_file_id){ 0, 0 };
    out->is_shared = is_shared;
    for (int i = 0; i < ATTEMPTS && failure == EBADF; i++)
        failure = know(out, &against);
    if (out_objection != NULL)
        *out_objection = against;
    return failure;
}

int vv_own_folder_make(const struct vv_own_folder *parent, const char *name,
                       struct vv_own_folder *out)
{
    struct new_folder folder = { .name = name, .is_shared = parent->is_shared };
    int length = snprintf(out->path, sizeof out->path, "%s/%s", parent->path, name);
    if (length < 0 || (size_t)length >= sizeof out->path)
        return ENAMETOOLONG;
    int failure = operate_in(parent, make, &folder);
    if (failure == 0) {
        out->id = folder.id;
        out->is_shared = parent->is_shared;
    }
    return failure;
}

static int remove_folder(int at, void *argument)
{
    const char *const *name = argument;
    return unlinkat(at, *name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

int vv_own_folder_remove(const struct vv_own_folder *parent, const char *name)
{
    return operate_in(parent, remove_folder, &name);
}

/* ---- files ---- */

struct new_file {
    const char *name;
    bool is_shared;
    bool is_left; /* left behind by an earlier attempt, or to be replaced                       */
    struct vv_file_id id;
    uint64_t bytes;
    uint8_t **out_map;
    void *page;
    const void *content;
};

/* Removes the file if it cannot be used. */
static int finish(int at, struct new_file *new, int failure)
{
    if (failure != 0)
        new->is_left = unlinkat(at, new->name, 0) != 0;
    return failure;
}

static int create_empty(int at, struct new_file *new, int *out_file)
{
    struct stat status;
    if (new->is_left)
        unlinkat(at, new->name, 0);
    new->is_left = false;
    int file = vv_descriptor_open_in(at, new->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
                                     new->is_shared ? VV_FILE_SHARED : VV_FILE_PRIVATE);
    int failure = file < 0 ? errno : look_at(file, &status);
    if (file < 0)
        return failure;
    if (failure != 0)
        return finish(at, new, failure);
    const mode_t mine = S_IRUSR | S_IWUSR, mode = status.st_mode & 07777;
    new->id = id_of(&status);
    if ((mode & mine) != mine && fchmod(file, mode | mine) != 0)
        failure = errno;
    if (failure != 0)
        close_own(file, &new->id);
    *out_file = file;
    return finish(at, new, failure);
}

static int create(int at, void *argument)
{
    struct new_file *new = argument;
    int file, failure = create_empty(at, new, &file);
    if (failure != 0)
        return failure;
    if (ftruncate(file, (off_t)new->bytes) != 0)
        failure = errno;
    if (failure == 0 && new->out_map != NULL)
        failure = vv_os_map_file(file, new->bytes, new->out_map);
    close_own(file, &new->id);
    return finish(at, new, failure);
}

int vv_own_create(const struct vv_own_folder *folder, const char *name, uint64_t bytes,
                  uint8_t **out_map, struct vv_file_id *out_id)
{
    struct new_file new = { .name = name, .is_shared = folder->is_shared, .bytes = bytes,
                            .out_map = out_map };
    int failure = operate_in(folder, create, &new);
    if (failure == 0)
        *out_id = new.id;
    return failure;
}

struct content {
    const char *data;
    size_t data_bytes; /* the data is repeated until `bytes` are written                         */
    uint64_t bytes;
};

static int write_all(int file, const struct content *content, uint64_t offset)
{
    for (uint64_t done = 0; done < content->bytes;) {
        uint64_t at = done % content->data_bytes, piece = content->data_bytes - at,
                 left = content->bytes - done;
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

static int create_page(int at, void *argument)
{
    struct new_file *new = argument;
    const struct content content = { new->content, VV_PAGE_BYTES, VV_PAGE_BYTES };
    int file, failure = create_empty(at, new, &file);
    if (failure != 0)
        return failure;
    /* The page is written, not only sized: so the file has its block, and no later store can fault
     * because the disk is full. */
    failure = VV_PAGE_BYTES > vv_os_file_limit() ? EFBIG : write_all(file, &content, 0);
    if (failure == 0)
        failure = vv_page_share(new->page, file);
    close_own(file, &new->id);
    return finish(at, new, failure);
}

int vv_own_share_page(const struct vv_own_folder *folder, const char *name, void *page,
                      const void *content)
{
    struct new_file new = { .name = name, .is_left = true, .page = page, .content = content };
    return operate_in(folder, create_page, &new);
}

struct known_file {
    const char *name;
    const struct vv_file_id *id;
    const struct content *content;
    uint64_t offset;
};

static int write_known(int at, void *argument)
{
    const struct known_file *known = argument;
    struct stat status;
    int file =
        vv_descriptor_open_in(at, known->name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    int failure = file < 0 ? errno : look_at(file, &status);
    if (failure != 0)
        return failure;
    struct vv_file_id found = id_of(&status);
    failure = is_same(&found, known->id) ? write_all(file, known->content, known->offset) : ESTALE;
    int other_failure = close_own(file, &found);
    return failure != 0 ? failure : other_failure;
}

static int write_content(const struct vv_own_folder *folder, const char *name,
                         const struct vv_file_id *id, const struct content *content,
                         uint64_t offset)
{
    struct known_file known = { name, id, content, offset };
    if (offset + content->bytes > vv_os_file_limit())
        return EFBIG; /* the attempt would raise SIGXFSZ */
    return operate_in(folder, write_known, &known);
}

int vv_own_write(const struct vv_own_folder *folder, const char *name, const struct vv_file_id *id,
                 const void *data, size_t bytes, uint64_t offset)
{
    const struct content content = { data, bytes, bytes };
    return write_content(folder, name, id, &content, offset);
}

int vv_own_write_zeros(const struct vv_own_folder *folder, const char *name,
                       const struct vv_file_id *id, uint64_t offset, uint64_t bytes)
{
    /* As large as a window. Not const, so that it takes no space in the library's file. */
    static char zeros[128 << 10];
    const struct content content = { zeros, sizeof zeros, bytes };
    return write_content(folder, name, id, &content, offset);
}

struct reading {
    const char *name;
    char *data;
    size_t bytes, read_bytes;
    uint64_t offset;
};

static int read_file(int at, void *argument)
{
    struct reading *reading = argument;
    struct stat status;
    int file =
        vv_descriptor_open_in(at, reading->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    int failure = file < 0 ? errno : look_at(file, &status);
    if (failure != 0)
        return failure;
    struct vv_file_id found = id_of(&status);
    reading->read_bytes = 0;
    while (failure == 0 && reading->read_bytes < reading->bytes) {
        ssize_t count = pread(file, reading->data + reading->read_bytes,
                              reading->bytes - reading->read_bytes,
                              (off_t)(reading->offset + reading->read_bytes));
        if (count == 0)
            break;
        if (count > 0)
            reading->read_bytes += (size_t)count;
        else if (errno != EINTR)
            failure = errno;
    }
    int other_failure = close_own(file, &found);
    return failure != 0 ? failure : other_failure;
}

int vv_own_read(const struct vv_own_folder *folder, const char *name, void *data, size_t bytes,
                uint64_t offset, size_t *out_bytes)
{
    struct reading reading = { name, data, bytes, 0, offset };
    int failure = operate_in(folder, read_file, &reading);
    *out_bytes = reading.read_bytes;
    return failure;
}

static int rename_file(int at, void *argument)
{
    const char *const *names = argument;
    return renameat(at, names[0], at, names[1]) == 0 ? 0 : errno;
}

int vv_own_rename(const struct vv_own_folder *folder, const char *from, const char *to)
{
    const char *names[] = { from, to };
    return operate_in(folder, rename_file, names);
}

static int remove_file(int at, void *argument)
{
    const char *const *name = argument;
    return unlinkat(at, *name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

int vv_own_remove(const struct vv_own_folder *folder, const char *name)
{
    int failure = operate_in(folder, remove_file, &name);
    return failure == ENOENT ? 0 : failure;
}

static int look_at_space(int at, void *argument)
{
    return fstatfs(at, argument) == 0 ? 0 : errno;
}

int vv_own_space(const struct vv_own_folder *folder, uint64_t *out_free_bytes,
                 uint64_t *out_total_bytes)
{
    struct statfs space;
    int failure = operate_in(folder, look_at_space, &space);
    if (failure != 0)
        return failure;
    *out_free_bytes = (uint64_t)space.f_bavail * (uint64_t)space.f_bsize;
    *out_total_bytes = (uint64_t)space.f_blocks * (uint64_t)space.f_bsize;
    return 0;
}

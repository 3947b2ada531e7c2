/* SPDX-License-Identifier: Apache-2.0 */
#include "import/archive/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "import/archive/tar.h"

#define PIECE_BYTES (32u << 10)
#define MEMBERS_MAX 20000u
#define DEPTH_MAX (VV_HOLDING_DEPTH - 3)
/* gzip makes at most 1,032 bytes of one. Zeros are not written, so they cost time alone. */
#define READ_GROWTH_MAX 1032

/* ---- the folder ---- */

enum varve_code vv_holding_make(struct vv_holding *out_holding, struct varve_error *error)
{
    const char *place = getenv("TMPDIR");
    struct vv_holding holding = { NULL, -1 };
    if (place == NULL || place[0] != '/')
        place = "/tmp";
    if (asprintf(&holding.path, "%s/varve.XXXXXX", place) < 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of a folder");
    if (mkdtemp(holding.path) == NULL ||
        (holding.folder = open(holding.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) <
            0) {
        int failure = errno;
        free(holding.path);
        return vv_fail_errno(error, failure,
                             "cannot make a folder in '%s', where archives and streams are put "
                             "while they are read (TMPDIR names another place)",
                             place);
    }
    *out_holding = holding;
    return VARVE_OK;
}

void vv_holding_remove(struct vv_holding *holding)
{
    if (holding->path == NULL)
        return;
    (void)!vv_folder_remove(AT_FDCWD, holding->path, VV_HOLDING_DEPTH);
    close(holding->folder);
    free(holding->path);
    *holding = (struct vv_holding){ NULL, -1 };
}

/* A quarter of what is free stays free. */
static uint64_t room_of(int folder)
{
    struct statvfs disk;
    if (fstatvfs(folder, &disk) != 0)
        return UINT64_MAX;
    return (uint64_t)disk.f_bavail * disk.f_frsize / 4 * 3;
}

/* ---- a stream ---- */

static enum varve_code copy(int from, int to, uint64_t room_bytes, const char *shown,
                            struct varve_error *error)
{
    char buffer[PIECE_BYTES];
    for (uint64_t offset = 0;;) {
        ssize_t got = read(from, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vv_fail_errno(error, errno, "cannot read '%s'", shown);
        if (got == 0)
            return VARVE_OK;
        if ((uint64_t)got > room_bytes - offset)
            VV_FAIL_SAID(error, VARVE_LIMIT,
                         "'%s' gives more than the %llu bytes that there is room for in the folder "
                         "of temporary files: set TMPDIR to a larger one, or save it in a file",
                         shown, (unsigned long long)room_bytes);
        int failure = vv_folder_write(to, buffer, (size_t)got, offset);
        if (failure != 0)
            return vv_fail_errno(error, failure,
                                 "cannot keep '%s' in a temporary file (TMPDIR names another "
                                 "place)", shown);
        offset += (uint64_t)got;
    }
}

enum varve_code vv_hold_stream(const struct vv_holding *holding, int descriptor, const char *shown,
                               const char *name, struct varve_error *error)
{
    int file, failure = vv_folder_create(holding->folder, name, VV_FILE_PRIVATE, &file);
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot keep '%s' in a temporary file", shown);
    enum varve_code code = copy(descriptor, file, room_of(holding->folder), shown, error);
    close(file);
    return code;
}

/* ---- an archive ---- */

struct unpacking {
    struct vv_tar tar;
    const char *shown;
    int folder;          /* of all members                                                       */
    uint64_t room_bytes; /* that may still be written                                            */
};

static enum varve_code fail_write(const char *shown, int os_errno, struct varve_error *error)
{
    return vv_fail_errno(error, os_errno,
                         "cannot unpack '%s' into the folder of temporary files (TMPDIR names "
                         "another place)", shown);
}

static enum varve_code refuse(const struct unpacking *unpacking, const char *what,
                              struct varve_error *error)
{
    VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                 "'%s' is not unpacked: its member '%.80s' %s. Unpack what you trust yourself, and "
                 "name the folder:  tar -xf",
                 unpacking->shown, unpacking->tar.member.path, what);
}

static enum varve_code refuse_size(const struct unpacking *unpacking, struct varve_error *error)
{
    VV_FAIL_SAID(error, VARVE_LIMIT,
                 "'%s' unpacks to more than any trace of its size does, or than the folder of "
                 "temporary files has room for. If you trust it, unpack it yourself, and name the "
                 "folder:  tar -xf",
                 unpacking->shown);
}

/* Opens the folder of the member's file, or the member's own, and makes it where it is missing. The
 * file's name is left in *out_name, which is empty for a folder. */
static enum varve_code open_place(const struct unpacking *unpacking, char *path, int *out_folder,
                                  const char **out_name, struct varve_error *error)
{
    bool is_folder = unpacking->tar.member.kind == VV_TAR_FOLDER;
    int folder = dup(unpacking->folder), depth = 0, failure = folder < 0 ? errno : 0;
    char *rest = path;
    *out_name = "";
    for (char *name; failure == 0 && (name = strsep(&rest, "/")) != NULL;) {
        int below = -1;
        if (name[0] == '\0' || strcmp(name, ".") == 0)
            continue;
        if (rest != NULL && rest[strspn(rest, "/")] == '\0')
            rest = NULL;
        if (rest == NULL && !is_folder) {
            *out_name = name;
            break;
        }
        failure = vv_folder_make(folder, name, VV_FOLDER_PRIVATE, &below);
        if (failure == EEXIST)
            failure = vv_folder_open_below(folder, name, &below);
        if (failure == 0) {
            close(folder);
            folder = below;
        }
        if (failure == 0 && ++depth > DEPTH_MAX)
            failure = ENAMETOOLONG;
    }
    if (failure != 0 && folder >= 0)
        close(folder);
    if (failure == ENAMETOOLONG || failure == ENOTDIR || failure == ELOOP)
        return refuse(unpacking, "has a name that no folder can hold", error);
    if (failure != 0)
        return fail_write(unpacking->shown, failure, error);
    *out_folder = folder;
    return VARVE_OK;
}

static bool leaves(const char *path)
{
    if (path[0] == '/')
        return true;
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

static bool are_zeros(const char *bytes, size_t count)
{
    return count > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Holes stay holes. */
static enum varve_code write_content(struct unpacking *unpacking, int file,
                                     struct varve_error *error)
{
    char buffer[PIECE_BYTES];
    uint64_t offset = 0;
    size_t got = 1;
    int failure = 0;
    enum varve_code code = VARVE_OK;
    while (code == VARVE_OK && failure == 0) {
        code = vv_tar_read(&unpacking->tar, buffer, sizeof buffer, &got, error);
        if (code != VARVE_OK || got == 0)
            break;
        if (!are_zeros(buffer, got)) {
            if (got > unpacking->room_bytes)
                return refuse_size(unpacking, error);
            unpacking->room_bytes -= got;
            failure = vv_folder_write(file, buffer, got, offset);
        }
        offset += got;
    }
    if (failure == 0 && ftruncate(file, (off_t)offset) != 0)
        failure = errno;
    if (failure != 0)
        return fail_write(unpacking->shown, failure, error);
    return code;
}

static enum varve_code unpack_file(struct unpacking *unpacking, int folder, const char *name,
                                   struct varve_error *error)
{
    const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
                                       { .tv_sec = unpacking->tar.member.time_s } };
    int file, failure = vv_folder_create(folder, name, VV_FILE_PRIVATE, &file);
    if (failure == EEXIST && unlinkat(folder, name, 0) == 0) /* a later one of the same name */
        failure = vv_folder_create(folder, name, VV_FILE_PRIVATE, &file);
    if (failure == EEXIST || failure == ENAMETOOLONG)
        return refuse(unpacking, "has a name that no folder can hold", error);
    if (failure != 0)
        return fail_write(unpacking->shown, failure, error);
    enum varve_code code = write_content(unpacking, file, error);
    (void)!futimens(file, times);
    close(file);
    return code;
}

static enum varve_code unpack_member(struct unpacking *unpacking, struct varve_error *error)
{
    static const char *const refusals[] = {
        [VV_TAR_LINK] = "is a link", [VV_TAR_SPECIAL] = "is a device or a pipe",
        [VV_TAR_SPARSE] = "is a sparse file, packed by tar --sparse",
    };
    const struct vv_tar_member *member = &unpacking->tar.member;
    char path[VV_TAR_PATH_BYTES_MAX];
    const char *name;
    int folder = -1;
    if (member->kind == VV_TAR_OTHER)
        return VARVE_OK;
    if (member->kind != VV_TAR_FILE && member->kind != VV_TAR_FOLDER)
        return refuse(unpacking, refusals[member->kind], error);
    if (leaves(member->path))
        return refuse(unpacking, "leaves the folder", error);
    memcpy(path, member->path, sizeof path);
    VV_TRY(open_place(unpacking, path, &folder, &name, error));
    enum varve_code code = VARVE_OK;
    bool is_apple_double = strncmp(name, "._", 2) == 0; /* what macOS adds to each file */
    if (name[0] != '\0' && !is_apple_double)
        code = unpack_file(unpacking, folder, name, error);
    close(folder);
    return code;
}

static enum varve_code unpack_members(struct unpacking *unpacking, struct varve_error *error)
{
    bool has = true;
    for (unsigned members = 0; has; members++) {
        VV_TRY(vv_tar_next(&unpacking->tar, &has, error));
        if (members == MEMBERS_MAX && has)
            VV_FAIL_SAID(error, VARVE_LIMIT,
                         "'%s' has more than %u members, of which '%.80s' is the next. If you "
                         "trust it, unpack it yourself, and name the folder:  tar -xf",
                         unpacking->shown, MEMBERS_MAX, unpacking->tar.member.path);
        if (has)
            VV_TRY(unpack_member(unpacking, error));
    }
    return VARVE_OK;
}

static uint64_t times_or_most(uint64_t bytes, uint64_t times)
{
    return bytes > (UINT64_MAX - VV_SOURCE_GROWN_BYTES_MIN) / times
               ? UINT64_MAX
               : VV_SOURCE_GROWN_BYTES_MIN + bytes * times;
}

enum varve_code vv_unpack(const struct vv_holding *holding, struct vv_source *source,
                          const char *shown, const char *name, bool *out_is_cut,
                          struct varve_error *error)
{
    uint64_t disk_bytes = vv_source_disk_bytes(source), room_bytes = room_of(holding->folder);
    uint64_t written = times_or_most(disk_bytes, VV_SOURCE_GROWTH_MAX);
    struct unpacking unpacking = { .shown = shown,
                                   .room_bytes = written < room_bytes ? written : room_bytes };
    int failure = vv_folder_make(holding->folder, name, VV_FOLDER_PRIVATE, &unpacking.folder);
    if (failure != 0)
        return fail_write(shown, failure, error);
    vv_tar_init(&unpacking.tar, source, times_or_most(disk_bytes, READ_GROWTH_MAX));
    vv_source_read_ahead(source);
    enum varve_code code = unpack_members(&unpacking, error);
    close(unpacking.folder);
    *out_is_cut = code == VARVE_TRUNCATED;
    if (code == VARVE_TRUNCATED)
        return VARVE_OK;
    return vv_source_place(source, code, error);
}

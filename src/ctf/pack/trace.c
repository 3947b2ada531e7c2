/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/pack/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/pack/read.h"
#include "ctf/pack/write.h"
#include "ctf/stream_file.h"

#define PATH_BYTES 4096
#define CHUNK_BYTES 65536u

struct copy {
    const struct vv_pack_job *job;
    size_t prefix;              /* length of the trace's path                                    */
    struct vv_packer packer;
    struct vv_pack_counts counts;
    char path[PATH_BYTES];      /* the copy of the current entry                                 */
};

/* ---- is it finished? ---- */

/* If the file system cannot tell whether a file is in use, a running process counts as its
 * writer. */
static enum varve_code refuse_writer(const char *path, const char *folder_name, int file,
                                     struct varve_error *error)
{
    long pid = vv_stream_folder_pid(folder_name);
    enum vv_stream_use use = vv_stream_file_use(file);
    if (use == VV_STREAM_IN_USE)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "'%s' is open in another process: only a finished trace is packed. Try again when "
                "the program, or what reads the trace, has ended", path);
    if (use == VV_STREAM_UNKNOWN && pid > 0 && vv_stream_writer_runs(pid))
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "'%s' belongs to process %ld, which still runs: only a finished trace is packed. "
                "Try again when it has ended", path, pid);
    return VARVE_OK;
}

/* *out_packed: is the stream packed? Refuses a stream that is being written. */
static enum varve_code examine(const FTSENT *entry, bool *out_packed, struct varve_error *error)
{
    char magic[sizeof VV_PACK_MAGIC - 1];
    int file = open(entry->fts_accpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", entry->fts_path);
    enum varve_code code = refuse_writer(entry->fts_path, entry->fts_parent->fts_name, file, error);
    *out_packed = pread(file, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                  vv_packed_begins(magic);
    close(file);
    return code;
}

/* ---- one entry ---- */

static enum varve_code copy_bytes(int from, int to, const FTSENT *entry, const char *path,
                                  struct varve_error *error)
{
    char chunk[CHUNK_BYTES];
    for (;;) {
        ssize_t got = read(from, chunk, sizeof chunk);
        if (got == 0)
            return VARVE_OK;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vv_fail_errno(error, errno, "cannot read '%s'", entry->fts_path);
        for (ssize_t done = 0, wrote; done < got; done += wrote > 0 ? wrote : 0) {
            wrote = write(to, chunk + done, (size_t)(got - done));
            if (wrote < 0 && errno != EINTR)
                return vv_fail_errno(error, errno, "cannot write '%s'", path);
        }
    }
}

static enum varve_code copy_file(const FTSENT *entry, const char *path, struct varve_error *error)
{
    enum varve_code code;
    int from = open(entry->fts_accpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), to = -1;
    if (from < 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", entry->fts_path);
    to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        code = vv_fail_errno(error, errno, "cannot make '%s'", path);
    else
        code = copy_bytes(from, to, entry, path, error);
    if (to >= 0)
        close(to);
    close(from);
    return code;
}

static enum varve_code convert(struct copy *copy, const FTSENT *entry, struct varve_error *error)
{
    bool unpack = copy->job->unpack;
    const char *plain = unpack ? copy->path : entry->fts_path;
    const char *packed = unpack ? entry->fts_path : copy->path;
    uint64_t records = 0, bytes = 0;
    struct stat status;
    if (unpack)
        VV_TRY(vv_unpack_stream(&copy->packer, packed, plain, error));
    else
        VV_TRY(vv_pack_stream(&copy->packer, plain, packed, error));
    VV_TRY(vv_pack_compare(&copy->packer, plain, packed, &records, &bytes, error));
    if (stat(packed, &status) != 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", packed);
    copy->counts.streams++;
    copy->counts.records += records;
    copy->counts.plain_bytes += bytes;
    copy->counts.packed_bytes += (uint64_t)status.st_size;
    return VARVE_OK;
}

/* The copy gets the owner, mode and times of the original, so the trace does not look newer. Only
 * root can change owners; for other users the owner is right already. */
static enum varve_code take_over(const FTSENT *entry, const char *path, struct varve_error *error)
{
    const struct stat *status = entry->fts_statp;
    const struct timespec times[2] = { status->st_atim, status->st_mtim };
    if (lchown(path, status->st_uid, status->st_gid) != 0 && errno != EPERM)
        return vv_fail_errno(error, errno, "cannot set the owner of '%s'", path);
    if (chmod(path, status->st_mode & 07777) != 0 || utimensat(AT_FDCWD, path, times, 0) != 0)
        return vv_fail_errno(error, errno, "cannot set the mode and times of '%s'", path);
    return VARVE_OK;
}

static enum varve_code visit_file(struct copy *copy, const FTSENT *entry, struct varve_error *error)
{
    bool is_packed = copy->job->unpack;
    bool is_stream = vv_stream_file_is(entry->fts_name);
    if (is_stream)
        VV_TRY(examine(entry, &is_packed, error));
    if (is_stream && !is_packed && (uint64_t)entry->fts_statp->st_size > VV_STREAM_FILE_BYTES_MAX)
        return vv_pack_fail_size(entry->fts_path, (uint64_t)entry->fts_statp->st_size, error);
    if (is_stream && is_packed == copy->job->unpack)
        VV_TRY(convert(copy, entry, error));
    else
        VV_TRY(copy_file(entry, copy->path, error));
    return take_over(entry, copy->path, error);
}

static enum varve_code visit(struct copy *copy, const FTSENT *entry, struct varve_error *error)
{
    int length = snprintf(copy->path, sizeof copy->path, "%s%s", copy->job->folder,
                          entry->fts_path + copy->prefix);
    if (length < 0 || (size_t)length >= sizeof copy->path)
        VV_FAIL(error, VARVE_LIMIT, "the path '%s' is too long", entry->fts_path);
    switch (entry->fts_info) {
    case FTS_D:
        if (entry->fts_level > 0 && mkdir(copy->path, 0700) != 0)
            return vv_fail_errno(error, errno, "cannot make the folder '%s'", copy->path);
        return VARVE_OK;
    case FTS_DP:
        return take_over(entry, copy->path, error);
    case FTS_F:
        return visit_file(copy, entry, error);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return vv_fail_errno(error, entry->fts_errno, "cannot read '%s'", entry->fts_path);
    default:
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "'%s' is neither file nor folder: take it out of the trace", entry->fts_path);
    }
}

/* ---- the whole trace ---- */

static enum varve_code visit_all(struct copy *copy, FTS *tree, struct varve_error *error)
{
    FTSENT *entry;
    errno = 0;
    while ((entry = fts_read(tree)) != NULL) {
        if (entry->fts_level > 0 && entry->fts_name[0] == '.') /* not part of the trace (§1) */
            fts_set(tree, entry, FTS_SKIP);
        else
            VV_TRY(visit(copy, entry, error));
        errno = 0;
    }
    return errno == 0 ? VARVE_OK
                      : vv_fail_errno(error, errno, "cannot read '%s'", copy->job->trace);
}

static enum varve_code write_through(const char *folder, struct varve_error *error)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum varve_code code = VARVE_OK;
    if (file < 0 || syncfs(file) != 0)
        code = vv_fail_errno(error, errno, "cannot write '%s'", folder);
    if (file >= 0)
        close(file);
    return code;
}

enum varve_code vv_pack_trace(const struct vv_pack_job *job, struct vv_pack_counts *out_counts,
                              struct varve_error *error)
{
    char *const roots[] = { (char *)job->trace, NULL };
    struct copy copy = { .job = job, .prefix = strlen(job->trace),
                         .packer = { .stop = job->stop } };
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (tree == NULL)
        return vv_fail_errno(error, errno, "cannot read '%s'", job->trace);
    enum varve_code code = visit_all(&copy, tree, error);
    fts_close(tree);
    vv_packer_deinit(&copy.packer);
    if (code == VARVE_OK)
        code = write_through(job->folder, error);
    if (code == VARVE_OK)
        *out_counts = copy.counts;
    return code;
}

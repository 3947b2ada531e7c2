/* SPDX-License-Identifier: Apache-2.0 */
/* write.c — writes a model as a cache file. The file gets its name when it is complete and on disk.
 * Until then it has no name, so that an unfinished file never stays, however the program ends. If
 * the file system cannot do that, it has a hidden name until then. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "base/system/unnamed_file.h"
#include "cache/cache.h"
#include "cache/folder.h"
#include "cache/layout.h"

struct writing {
    int file;
    const char *path;
    char *temporary; /* its hidden name until it is complete, or NULL                           */
    uint64_t offset;
    struct vv_cache_head head;
};

static enum varve_code put(struct writing *writing, const void *data, uint64_t bytes,
                           struct varve_error *error)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t wrote = pwrite(writing->file, at, bytes, (off_t)writing->offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return vv_fail_errno(error, wrote < 0 ? errno : EIO, "cannot write '%s'",
                                 writing->path);
        at += wrote;
        bytes -= (uint64_t)wrote;
        writing->offset += (uint64_t)wrote;
    }
    return VARVE_OK;
}

static void align(struct writing *writing)
{
    writing->offset = (writing->offset + VV_CACHE_ALIGN - 1) / VV_CACHE_ALIGN * VV_CACHE_ALIGN;
}

static enum varve_code put_block(struct writing *writing, const void *data, uint64_t bytes,
                                 struct vv_cache_block *out_block, struct varve_error *error)
{
    align(writing);
    *out_block =
        (struct vv_cache_block){ writing->offset, bytes, vv_cache_checksum(data, bytes, 0) };
    return put(writing, data, bytes, error);
}

static enum varve_code put_tables(struct writing *writing, const struct vv_model *model,
                                  struct varve_error *error)
{
    size_t at = 0;
    for (size_t t = 0; t < VV_TABLE_COUNT; t++) {
        const struct vv_model_table *row = &vv_model_tables[t];
        const char *table = (const char *)model + row->table_offset;
        uint64_t rows = ((const struct vv_table *)table)->count;
        writing->head.rows[t] = rows;
        for (size_t i = 0; i < row->column_count; i++, at++) {
            const void *cells;
            memcpy(&cells, table + row->columns[i].pointer_offset, sizeof cells);
            if (at >= VV_CACHE_COLUMNS_MAX)
                VV_FAIL(error, VARVE_INTERNAL, "more columns than a cache has room for");
            VV_TRY(put_block(writing, cells, rows * row->columns[i].width_bytes,
                             &writing->head.columns[at], error));
        }
    }
    return VARVE_OK;
}

/* Writes the texts one after the other, each with its NUL, as one block with one checksum. */
static enum varve_code put_strings(struct writing *writing, const struct vv_intern *strings,
                                   struct varve_error *error)
{
    uint64_t bytes = 0, at = 0;
    for (uint32_t id = 0; id < strings->count; id++)
        bytes += (uint64_t)strings->lengths[id] + 1;
    char *text = malloc(bytes);
    if (text == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a cache");
    for (uint32_t id = 0; id < strings->count; id++) {
        memcpy(text + at, strings->strings[id], (size_t)strings->lengths[id] + 1);
        at += (uint64_t)strings->lengths[id] + 1;
    }
    writing->head.string_count = strings->count;
    writing->head.hash_key = strings->key;
    enum varve_code code = put_block(writing, text, bytes, &writing->head.text, error);
    free(text);
    VV_TRY(code);
    VV_TRY(put_block(writing, strings->lengths, strings->count * sizeof(uint32_t),
                     &writing->head.lengths, error));
    return put_block(writing, strings->hashes, strings->count * sizeof(uint32_t),
                     &writing->head.hashes, error);
}

static enum varve_code put_head(struct writing *writing, const struct vv_cache *cache,
                                const struct vv_model *model, struct varve_error *error)
{
    struct vv_cache_head *head = &writing->head;
    const size_t summed = offsetof(struct vv_cache_head, file_bytes);
    memcpy(head->magic, VV_CACHE_MAGIC, sizeof head->magic);
    head->file_bytes = writing->offset;
    head->shape = vv_cache_shape();
    head->program = vv_cache_program();
    head->source = cache->source;
    memcpy(&head->run, &model->run, sizeof head->run);
    memcpy(&head->health, &model->health, sizeof head->health);
    head->checksum = vv_cache_checksum((const char *)head + summed, sizeof *head - summed, 0);
    writing->offset = 0;
    return put(writing, head, sizeof *head, error);
}

static enum varve_code write_file(struct writing *writing, const struct vv_cache *cache,
                                  const struct vv_model *model, struct varve_error *error)
{
    uint64_t source, bytes;
    writing->offset = sizeof writing->head;
    VV_TRY(put_tables(writing, model, error));
    VV_TRY(put_strings(writing, &model->strings, error));
    VV_TRY(put_head(writing, cache, model, error));
    if (!vv_cache_fingerprint(cache->paths, cache->path_count, &source, &bytes) ||
        source != cache->source)
        VV_FAIL(error, VARVE_STATE, "'%s' has changed while it was read", cache->paths[0]);
    if (fsync(writing->file) != 0)
        return vv_fail_errno(error, errno, "cannot write '%s'", writing->path);
    return VARVE_OK;
}

/* ---- the name ---- */

/* Opens a file without a name in the folder of `path`; -1 if the system cannot do that. */
static int open_unnamed(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash + 1 - path));
    int file = folder != NULL ? vv_unnamed_open(AT_FDCWD, folder, 0600) : -1;
    free(folder);
    return file;
}

/* Makes "folder/.name.PID" from "folder/name". */
static char *name_temporary(const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL ? 0 : (int)(slash + 1 - path);
    char *name;
    return asprintf(&name, "%.*s.%s.%ld", folder, path, path + folder, (long)getpid()) < 0 ? NULL
                                                                                           : name;
}

static enum varve_code open_file(struct writing *writing, vv_cache_watch *watch,
                                 struct varve_error *error)
{
    writing->file = open_unnamed(writing->path);
    if (writing->file >= 0)
        return VARVE_OK;
    writing->temporary = name_temporary(writing->path);
    if (writing->temporary == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a cache");
    if (watch != NULL)
        watch(writing->temporary);
    unlink(writing->temporary); /* from a killed process that had this number */
    writing->file = open(writing->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return writing->file >= 0 ? VARVE_OK
                              : vv_fail_errno(error, errno, "cannot write '%s'", writing->path);
}

/* Removes a former cache first, since a link does not replace a file. A reader between these two
 * steps finds no cache and reads the source. */
static bool put_in_place(const struct writing *writing)
{
    int failure;
    if (writing->temporary != NULL)
        return rename(writing->temporary, writing->path) == 0;
    while ((failure = vv_unnamed_name(writing->file, AT_FDCWD, writing->path)) == EEXIST)
        if (unlink(writing->path) != 0)
            return false;
    errno = failure;
    return failure == 0;
}

/* ---- the whole file ---- */

static enum varve_code write_to(const char *path, const struct vv_cache *cache,
                                const struct vv_model *model, vv_cache_watch *watch,
                                struct varve_error *error)
{
    struct writing *writing = calloc(1, sizeof *writing);
    if (writing == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a cache");
    writing->path = path;
    enum varve_code code = open_file(writing, watch, error);
    if (code == VARVE_OK)
        code = write_file(writing, cache, model, error);
    if (code == VARVE_OK && !put_in_place(writing))
        code = vv_fail_errno(error, errno, "cannot write '%s'", path);
    if (writing->file >= 0)
        close(writing->file);
    if (code != VARVE_OK && writing->temporary != NULL)
        unlink(writing->temporary);
    if (watch != NULL)
        watch(NULL);
    free(writing->temporary);
    free(writing);
    return code;
}

/* False for another user's file of that name: it is left alone. */
static bool may_write(const char *path)
{
    struct stat status;
    return lstat(path, &status) != 0 ? errno == ENOENT
                                     : S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

enum varve_code vv_cache_keep(const struct vv_cache *cache, const struct vv_model *model,
                              vv_cache_watch *watch, struct varve_error *error)
{
    enum varve_code code = VARVE_PERMISSION;
    if (cache->beside != NULL && vv_folder_is_safe(AT_FDCWD, cache->beside) &&
        may_write(cache->beside))
        code = write_to(cache->beside, cache, model, watch, error);
    else
        (void)vv_fail(error, code, "cannot write beside '%s'", cache->paths[0]);
    bool is_refused = code == VARVE_PERMISSION || code == VARVE_IO;
    if (!is_refused || cache->apart == NULL || !may_write(cache->apart))
        return code;
    if (!vv_cache_make_folders(cache->apart))
        VV_FAIL(error, VARVE_PERMISSION, "nor is there a folder for caches that is yours alone: %s",
                cache->apart);
    return write_to(cache->apart, cache, model, watch, error);
}

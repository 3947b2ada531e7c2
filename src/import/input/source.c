/* SPDX-License-Identifier: Apache-2.0 */
#include "import/input/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read_ahead.h"
#include "decompress/decompress.h"
#include "decompress/place.h"

#define PIECE_BYTES (256u << 10)

struct vv_source {
    const char *path;
    int descriptor;
    uint64_t disk_bytes, read_bytes; /* of the file; bytes read in order so far                 */
    atomic_uint_fast64_t done_bytes; /* bytes read in order or at places                        */
    atomic_bool is_telling;          /* a thread is calling progress                            */
    vv_progress *progress;
    void *progress_context;
    enum vv_compression compression;
    struct vv_decompressor decompressor;
    unsigned char *room;             /* buffer of PIECE_BYTES                                   */
    struct vv_compressed piece;      /* bytes of the compressed file                            */
    struct vv_told_place told;
    bool is_line_told;
    struct vv_ahead *ahead;          /* thread that decompresses ahead; or NULL                 */
    char *head;                      /* first bytes; they are returned first                    */
    size_t head_at, head_bytes;
};

/* ---- bytes on disk ---- */

enum varve_code vv_source_read_at(const struct vv_source *source, uint64_t offset, void *buffer,
                                  size_t bytes, size_t *out_bytes, struct varve_error *error)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(source->descriptor, (char *)buffer + done, bytes - done,
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vv_fail_errno(error, errno, "cannot read '%s'", source->path);
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *out_bytes = done;
    return VARVE_OK;
}

static enum varve_code read_disk(struct vv_source *source, void *buffer, size_t bytes,
                                 size_t *out_bytes, struct varve_error *error)
{
    VV_TRY(vv_source_read_at(source, source->read_bytes, buffer, bytes, out_bytes, error));
    source->read_bytes += *out_bytes;
    vv_source_add(source, *out_bytes);
    return VARVE_OK;
}

/* The piece has length 0 at the end of the file. */
static enum varve_code fill_piece(struct vv_source *source, struct varve_error *error)
{
    if (source->piece.at < source->piece.length)
        return VARVE_OK;
    source->piece.at = 0;
    return read_disk(source, source->room, PIECE_BYTES, &source->piece.length, error);
}

/* ---- decompression ---- */

static const char *compression_name(const struct vv_source *source)
{
    return source->compression == VV_COMPRESSION_GZIP ? "gzip" : "zstd";
}

/* Writes the message for the decompressor's code. */
static enum varve_code fail_to_decompress(const struct vv_source *source, enum varve_code code,
                                          struct varve_error *error)
{
    uint64_t offset = source->read_bytes - (source->piece.length - source->piece.at);
    switch (code) {
    case VARVE_NO_MEMORY:
        VV_FAIL(error, code, "no memory to decompress '%s'", source->path);
    case VARVE_LIMIT:
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "'%s': the zstd data at byte %llu was compressed with a window of more than "
                     "128 MiB: unpack it first:  zstd -d --long=31",
                     source->path, (unsigned long long)offset);
    default:
        return vv_fail_at(error, VARVE_CORRUPT, offset, "'%s': the %s data is damaged",
                          source->path, compression_name(source));
    }
}

static enum varve_code read_compressed(struct vv_source *source, void *buffer, size_t bytes,
                                       size_t *out_bytes, struct varve_error *error)
{
    *out_bytes = 0;
    while (*out_bytes == 0) {
        VV_TRY(fill_piece(source, error));
        bool has_ended = source->piece.length == 0;
        if (has_ended && !source->decompressor.is_open)
            return VARVE_OK;
        enum varve_code code = vv_decompress_some(&source->decompressor, &source->piece, buffer,
                                                  bytes, out_bytes);
        if (code != VARVE_OK)
            return fail_to_decompress(source, code, error);
        if (has_ended && *out_bytes == 0 && source->decompressor.is_open)
            return vv_fail_at(error, VARVE_TRUNCATED, source->read_bytes,
                              "'%s': the %s data ends too early", source->path,
                              compression_name(source));
    }
    return VARVE_OK;
}

static enum varve_code read_on(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                               struct varve_error *error)
{
    struct vv_source *source = context;
    return vv_source_is_plain(source) ? read_disk(source, buffer, bytes, out_bytes, error)
                                      : read_compressed(source, buffer, bytes, out_bytes, error);
}

/* Bytes that texts do not have are among the first ones of other formats. */
static bool is_text(const struct vv_source *source)
{
    for (size_t i = 0; i < source->head_bytes; i++)
        if ((unsigned char)source->head[i] < '\t')
            return false;
    return true;
}

/* Editors count lines. */
static void tell_line(struct vv_source *source, struct varve_error *error)
{
    char piece[4096];
    uint64_t at = 0, line = 1, begin = 0;
    size_t bytes = 1;
    while (at < error->offset && bytes > 0) {
        size_t wanted = error->offset - at < sizeof piece ? (size_t)(error->offset - at)
                                                          : sizeof piece;
        if (vv_source_read_at(source, at, piece, wanted, &bytes, NULL) != VARVE_OK)
            return;
        for (const char *c = piece; (c = memchr(c, '\n', (size_t)(piece + bytes - c))) != NULL;) {
            line++;
            begin = at + (uint64_t)(++c - piece);
        }
        at += bytes;
    }
    const char *slash = strrchr(source->path, '/');
    source->is_line_told = true;
    vv_error_add(error, " (%s:%llu:%llu)", slash != NULL ? slash + 1 : source->path,
                 (unsigned long long)line, (unsigned long long)(at - begin + 1));
}

enum varve_code vv_source_place(struct vv_source *source, enum varve_code code,
                                struct varve_error *error)
{
    if (source == NULL || code == VARVE_OK || error == NULL)
        return code;
    if (!vv_source_is_plain(source))
        return vv_place_inside(&source->told, code, error);
    if (error->offset != VARVE_ERROR_NO_OFFSET && is_text(source) && !source->is_line_told)
        tell_line(source, error);
    return code;
}

enum varve_code vv_source_read(struct vv_source *source, void *buffer, size_t bytes,
                               size_t *out_bytes, struct varve_error *error)
{
    size_t rest = source->head_bytes - source->head_at;
    if (rest == 0 && source->ahead != NULL)
        return vv_place_told(&source->told,
                             vv_ahead_read(source->ahead, buffer, bytes, out_bytes, error), error);
    if (rest == 0)
        return vv_place_told(&source->told, read_on(source, buffer, bytes, out_bytes, error),
                             error);
    *out_bytes = rest < bytes ? rest : bytes;
    memcpy(buffer, source->head + source->head_at, *out_bytes);
    source->head_at += *out_bytes;
    return VARVE_OK;
}

void vv_source_read_ahead(struct vv_source *source)
{
    if (!vv_source_is_plain(source) && source->ahead == NULL)
        source->ahead = vv_ahead_start(read_on, source);
}

/* ---- opening ---- */

static enum varve_code find_compression(struct vv_source *source, struct varve_error *error)
{
    unsigned char magic[VV_COMPRESSION_MAGIC_BYTES] = { 0 };
    size_t bytes;
    VV_TRY(vv_source_read_at(source, 0, magic, sizeof magic, &bytes, error));
    source->compression = vv_compression_of(magic);
    return VARVE_OK;
}

static enum varve_code prepare(struct vv_source *source, struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    source->head = malloc(VV_SOURCE_HEAD_BYTES);
    if (!vv_source_is_plain(source)) {
        source->piece.data = source->room = malloc(PIECE_BYTES);
        code = vv_decompressor_init(&source->decompressor, source->compression);
    }
    if (code == VARVE_UNSUPPORTED)
        VV_FAIL(error, code, "'%s' is compressed by %s, and this varve was built without it",
                source->path, compression_name(source));
    bool has_room = vv_source_is_plain(source) || source->room != NULL;
    if (code != VARVE_OK || source->head == NULL || !has_room)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", source->path);
    return VARVE_OK;
}

/* A file that is cut within its first bytes still has a head. The next read reports the cut. */
static enum varve_code read_head(struct vv_source *source, struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    size_t got = 1;
    while (code == VARVE_OK && got > 0 && source->head_bytes < VV_SOURCE_HEAD_BYTES) {
        code = read_on(source, source->head + source->head_bytes,
                       VV_SOURCE_HEAD_BYTES - source->head_bytes, &got, error);
        if (code == VARVE_OK)
            source->head_bytes += got;
    }
    return source->head_bytes > 0 ? VARVE_OK : code;
}

static enum varve_code open_plain(const char *path, struct vv_source *source,
                                  struct varve_error *error)
{
    struct stat status;
    source->path = path;
    /* O_NONBLOCK: open must not wait for the writer of a FIFO. */
    source->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_socket = source->descriptor < 0 && errno == ENXIO;
    if (!is_socket && (source->descriptor < 0 || fstat(source->descriptor, &status) != 0))
        return vv_fail_errno(error, errno, "cannot read '%s'", path);
    if (is_socket || !S_ISREG(status.st_mode))
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "'%s' is neither a file nor a folder: save the trace in a file first", path);
    source->disk_bytes = (uint64_t)status.st_size;
    return VARVE_OK;
}

enum varve_code vv_source_open(const char *path, struct vv_source **out_source,
                               struct varve_error *error)
{
    struct vv_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", path);
    enum varve_code code = open_plain(path, source, error);
    if (code == VARVE_OK)
        code = find_compression(source, error);
    if (code == VARVE_OK)
        code = prepare(source, error);
    if (code == VARVE_OK)
        code = read_head(source, error);
    if (code != VARVE_OK) {
        vv_source_close(source);
        return code;
    }
    *out_source = source;
    return VARVE_OK;
}

void vv_source_close(struct vv_source *source)
{
    if (source == NULL)
        return;
    vv_ahead_stop(source->ahead);
    if (source->descriptor >= 0)
        close(source->descriptor);
    vv_decompressor_deinit(&source->decompressor);
    free(source->room);
    free(source->head);
    free(source);
}

void vv_source_watch(struct vv_source *source, vv_progress *progress, void *context)
{
    source->progress = progress;
    source->progress_context = context;
}

void vv_source_add(struct vv_source *source, uint64_t bytes)
{
    atomic_fetch_add(&source->done_bytes, bytes);
    if (source->progress == NULL || atomic_exchange(&source->is_telling, true))
        return;
    uint64_t done = atomic_load(&source->done_bytes);
    source->progress(source->progress_context,
                     done < source->disk_bytes ? done : source->disk_bytes, source->disk_bytes);
    atomic_store(&source->is_telling, false);
}

void vv_source_report(struct vv_source *source, uint64_t done_bytes)
{
    if (source->progress != NULL)
        source->progress(source->progress_context, done_bytes, source->disk_bytes);
}

const char *vv_source_path(const struct vv_source *source)
{
    return source->path;
}

uint64_t vv_source_disk_bytes(const struct vv_source *source)
{
    return source->disk_bytes;
}

enum varve_code vv_source_may_hold(const struct vv_source *source, uint64_t bytes,
                                   uint64_t max_memory_bytes, struct varve_error *error)
{
    if (max_memory_bytes != 0 && bytes > max_memory_bytes)
        return vv_with_next(error, VV_NEXT_MORE_MEMORY,
                            vv_fail(error, VARVE_LIMIT,
                                    "'%s' takes more memory than the %llu bytes allowed; "
                                    "--max-memory allows more",
                                    source->path, (unsigned long long)max_memory_bytes));
    if (!vv_source_is_plain(source) && bytes > VV_SOURCE_GROWN_BYTES_MIN &&
        bytes / VV_SOURCE_GROWTH_MAX > source->disk_bytes)
        VV_FAIL(
            error, VARVE_LIMIT,
            "'%s' is more than %d times as large when decompressed; decompress it to a file first",
            source->path, VV_SOURCE_GROWTH_MAX);
    return VARVE_OK;
}

bool vv_source_is_plain(const struct vv_source *source)
{
    return source->compression == VV_COMPRESSION_NONE;
}

const char *vv_source_head(const struct vv_source *source, size_t *out_bytes)
{
    *out_bytes = source->head_bytes;
    return source->head;
}

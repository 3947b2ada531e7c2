/* SPDX-License-Identifier: Apache-2.0 */
#include "import/input/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef VV_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef VV_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include "base/read_ahead.h"

#define PIECE_BYTES (256u << 10)

enum packing { PLAIN, GZIP, ZSTD };

struct vv_source {
    const char *path;
    int descriptor;
    enum packing packing;
    uint64_t disk_bytes, read_bytes; /* of the file; read in order so far                       */
    atomic_uint_fast64_t done_bytes; /* in order or at places                                   */
    atomic_bool is_telling;          /* somebody calls progress                                 */
    vv_progress *progress;
    void *progress_context;
    unsigned char *piece;            /* of the compressed file                                  */
    size_t piece_at, piece_bytes;
#ifdef VV_HAVE_ZLIB
    z_stream zlib;
#endif
    bool member_is_open;             /* a gzip member has begun and not ended                   */
    void *zstd;                      /* ZSTD_DStream                                            */
    size_t frame_rest;               /* 0: a zstd frame has just ended                          */
    struct vv_ahead *ahead;          /* decompresses, from there on; NULL                       */
    char *head;                      /* first bytes, given out first                            */
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

static enum varve_code fill_piece(struct vv_source *source, struct varve_error *error)
{
    if (source->piece_at < source->piece_bytes)
        return VARVE_OK;
    source->piece_at = 0;
    return read_disk(source, source->piece, PIECE_BYTES, &source->piece_bytes, error);
}

/* ---- decompression ---- */

static enum varve_code damaged(const struct vv_source *source, const char *what,
                               struct varve_error *error)
{
    uint64_t offset = source->read_bytes - (source->piece_bytes - source->piece_at);
    return vv_fail_at(error, VARVE_CORRUPT, offset, "'%s': the %s data is damaged", source->path, what);
}

static enum varve_code cut(const struct vv_source *source, const char *what, struct varve_error *error)
{
    return vv_fail_at(error, VARVE_TRUNCATED, source->read_bytes, "'%s': the %s data ends too early",
                      source->path, what);
}

#ifdef VV_HAVE_ZLIB
/* Several members may follow each other, and zeros the last, as on tapes. */
static enum varve_code read_gzip(struct vv_source *source, void *buffer, size_t bytes,
                                 size_t *out_bytes, struct varve_error *error)
{
    z_stream *zlib = &source->zlib;
    zlib->next_out = buffer;
    zlib->avail_out = (uInt)(bytes < UINT32_MAX ? bytes : UINT32_MAX);
    uInt room = zlib->avail_out;
    while (zlib->avail_out == room) {
        VV_TRY(fill_piece(source, error));
        size_t rest = source->piece_bytes - source->piece_at;
        if (rest == 0 && source->member_is_open)
            return cut(source, "gzip", error);
        if (rest == 0)
            break;
        if (!source->member_is_open && source->piece[source->piece_at] == 0) {
            source->piece_at++;
            continue;
        }
        if (!source->member_is_open && source->piece[source->piece_at] != 0x1f)
            return damaged(source, "gzip", error);
        source->member_is_open = true;
        zlib->next_in = source->piece + source->piece_at;
        zlib->avail_in = (uInt)rest;
        int status = inflate(zlib, Z_NO_FLUSH);
        source->piece_at = source->piece_bytes - zlib->avail_in;
        if (status == Z_STREAM_END) {
            source->member_is_open = false;
            inflateReset(zlib);
        } else if (status == Z_MEM_ERROR) {
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory to decompress '%s'", source->path);
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            return damaged(source, "gzip", error);
        }
    }
    *out_bytes = room - zlib->avail_out;
    return VARVE_OK;
}
#endif

#ifdef VV_HAVE_ZSTD
static enum varve_code read_zstd(struct vv_source *source, void *buffer, size_t bytes,
                                 size_t *out_bytes, struct varve_error *error)
{
    ZSTD_outBuffer out = { buffer, bytes, 0 };
    while (out.pos == 0) {
        VV_TRY(fill_piece(source, error));
        if (source->piece_at == source->piece_bytes) {
            if (source->frame_rest != 0)
                return cut(source, "zstd", error);
            break;
        }
        ZSTD_inBuffer in = { source->piece, source->piece_bytes, source->piece_at };
        source->frame_rest = ZSTD_decompressStream(source->zstd, &out, &in);
        source->piece_at = in.pos;
        if (ZSTD_getErrorCode(source->frame_rest) == ZSTD_error_frameParameter_windowTooLarge)
            VV_FAIL_SAID(error, VARVE_UNSUPPORTED, "'%s' was compressed with a window of more than 128 MiB: unpack it "
                         "first:  zstd -d --long=31", source->path);
        if (ZSTD_isError(source->frame_rest))
            return damaged(source, "zstd", error);
    }
    *out_bytes = out.pos;
    return VARVE_OK;
}
#endif

static enum varve_code read_on(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                               struct varve_error *error)
{
    struct vv_source *source = context;
#ifdef VV_HAVE_ZLIB
    if (source->packing == GZIP)
        return read_gzip(source, buffer, bytes, out_bytes, error);
#endif
#ifdef VV_HAVE_ZSTD
    if (source->packing == ZSTD)
        return read_zstd(source, buffer, bytes, out_bytes, error);
#endif
    return read_disk(source, buffer, bytes, out_bytes, error);
}

enum varve_code vv_source_read(struct vv_source *source, void *buffer, size_t bytes,
                               size_t *out_bytes, struct varve_error *error)
{
    size_t rest = source->head_bytes - source->head_at;
    if (rest == 0 && source->ahead != NULL)
        return vv_ahead_read(source->ahead, buffer, bytes, out_bytes, error);
    if (rest == 0)
        return read_on(source, buffer, bytes, out_bytes, error);
    *out_bytes = rest < bytes ? rest : bytes;
    memcpy(buffer, source->head + source->head_at, *out_bytes);
    source->head_at += *out_bytes;
    return VARVE_OK;
}

void vv_source_read_ahead(struct vv_source *source)
{
    if (source->packing != PLAIN && source->ahead == NULL)
        source->ahead = vv_ahead_start(read_on, source);
}

/* ---- opening ---- */

static enum varve_code find_packing(struct vv_source *source, struct varve_error *error)
{
    static const unsigned char gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
    static const unsigned char skipped[] = { 0x2a, 0x4d, 0x18 }; /* after 0x50 … 0x5f: pzstd begins so */
    unsigned char magic[4] = { 0 };
    size_t bytes;
    VV_TRY(vv_source_read_at(source, 0, magic, sizeof magic, &bytes, error));
    if (memcmp(magic, gzip, sizeof gzip) == 0)
        source->packing = GZIP;
    else if (memcmp(magic, zstd, sizeof zstd) == 0 ||
             (magic[0] >> 4 == 5 && memcmp(magic + 1, skipped, sizeof skipped) == 0))
        source->packing = ZSTD;
    return VARVE_OK;
}

__attribute__((unused)) static enum varve_code not_built(const struct vv_source *source, const char *what,
                                 struct varve_error *error)
{
    VV_FAIL(error, VARVE_UNSUPPORTED, "'%s' is compressed by %s, and this varve was built without it",
            source->path, what);
}

static enum varve_code prepare(struct vv_source *source, struct varve_error *error)
{
    source->head = malloc(VV_SOURCE_HEAD_BYTES);
    source->piece = source->packing != PLAIN ? malloc(PIECE_BYTES) : NULL;
    bool is_ready = source->head != NULL && (source->packing == PLAIN || source->piece != NULL);
    if (source->packing == GZIP) {
#ifdef VV_HAVE_ZLIB
        is_ready = is_ready && inflateInit2(&source->zlib, 16 + MAX_WBITS) == Z_OK;
#else
        return not_built(source, "gzip", error);
#endif
    }
    if (source->packing == ZSTD) {
#ifdef VV_HAVE_ZSTD
        source->zstd = ZSTD_createDStream();
        is_ready = is_ready && source->zstd != NULL;
#else
        return not_built(source, "zstd", error);
#endif
    }
    if (!is_ready)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", source->path);
    return VARVE_OK;
}

/* A file cut within its first bytes still has a head; reading on will say that it is cut. */
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

static enum varve_code open_plain(const char *path, struct vv_source *source, struct varve_error *error)
{
    struct stat status;
    source->path = path;
    /* O_NONBLOCK: a FIFO without a writer must not hold us. */
    source->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (source->descriptor < 0 || fstat(source->descriptor, &status) != 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", path);
    if (!S_ISREG(status.st_mode))
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
        code = find_packing(source, error);
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
#ifdef VV_HAVE_ZLIB
    if (source->packing == GZIP)
        inflateEnd(&source->zlib); /* harmless if it was not begun */
#endif
#ifdef VV_HAVE_ZSTD
    ZSTD_freeDStream(source->zstd);
#endif
    free(source->piece);
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
    source->progress(source->progress_context, done < source->disk_bytes ? done : source->disk_bytes,
                     source->disk_bytes);
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

enum varve_code vv_source_may_hold(const struct vv_source *source, uint64_t bytes, uint64_t max_memory_bytes,
                                   struct varve_error *error)
{
    if (max_memory_bytes != 0 && bytes > max_memory_bytes)
        return vv_with_next(error, VV_NEXT_MORE_MEMORY,
                            vv_fail(error, VARVE_LIMIT, "'%s' takes more memory than the %llu bytes allowed; "
                                    "--max-memory allows more", source->path, (unsigned long long)max_memory_bytes));
    if (!vv_source_is_plain(source) && bytes > VV_SOURCE_GROWN_BYTES_MIN && bytes / VV_SOURCE_GROWTH_MAX > source->disk_bytes)
        VV_FAIL(error, VARVE_LIMIT, "'%s' is more than %d times as large when decompressed; decompress it to a file first",
                source->path, VV_SOURCE_GROWTH_MAX);
    return VARVE_OK;
}

bool vv_source_is_plain(const struct vv_source *source)
{
    return source->packing == PLAIN;
}

const char *vv_source_head(const struct vv_source *source, size_t *out_bytes)
{
    *out_bytes = source->head_bytes;
    return source->head;
}

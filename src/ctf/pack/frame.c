/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/pack/frame.h"

#include "base/array.h"

size_t vv_pack_frame_limit(size_t plain_bytes)
{
    return 2 * plain_bytes + 1024;
}

#ifdef VV_HAVE_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

#define LEVEL 6

void vv_pack_codec_deinit(struct vv_pack_codec *codec)
{
    if (codec == NULL)
        return;
    ZSTD_freeCCtx(codec->compressor);
    vv_decompressor_deinit(&codec->expander);
    *codec = (struct vv_pack_codec){ 0 };
}

static enum varve_code make_compressor(struct vv_pack_codec *codec, struct varve_error *error)
{
    if (codec->compressor != NULL)
        return VARVE_OK;
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    if (compressor == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to compress");
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
    codec->compressor = compressor;
    return VARVE_OK;
}

/* Compresses the bytes up to `end`; `directive` says what zstd does after them. */
static enum varve_code feed(ZSTD_CCtx *compressor, ZSTD_inBuffer *in, size_t end,
                            ZSTD_EndDirective directive, struct vv_pack_bytes *out,
                            struct varve_error *error)
{
    in->size = end;
    for (;;) {
        VV_TRY(vv_array_reserve(&out->data, &out->capacity, out->count + (end - in->pos) / 2 + 256,
                                1, error));
        ZSTD_outBuffer to = { out->data, out->capacity, out->count };
        size_t left = ZSTD_compressStream2(compressor, &to, in, directive);
        out->count = to.pos;
        if (ZSTD_isError(left))
            VV_FAIL(error,
                    ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? VARVE_NO_MEMORY
                                                                            : VARVE_INTERNAL,
                    "cannot compress: %s", ZSTD_getErrorName(left));
        if (left == 0)
            return VARVE_OK;
    }
}

enum varve_code vv_pack_frame_write(struct vv_pack_codec *codec, const struct vv_pack_bytes *column,
                                    const size_t *cuts, size_t cut_count, struct vv_pack_bytes *out,
                                    struct varve_error *error)
{
    VV_TRY(make_compressor(codec, error));
    ZSTD_inBuffer in = { column->data, 0, 0 };
    ZSTD_CCtx_reset(codec->compressor, ZSTD_reset_session_only);
    ZSTD_CCtx_setPledgedSrcSize(codec->compressor, column->count);
    for (size_t i = 0; i < cut_count; i++) /* a flush ends zstd's block, and so its statistics */
        VV_TRY(feed(codec->compressor, &in, cuts[i], ZSTD_e_flush, out, error));
    return feed(codec->compressor, &in, column->count, ZSTD_e_end, out, error);
}

enum varve_code vv_pack_frame_read(struct vv_pack_codec *codec, const uint8_t *frame, size_t bytes,
                                   size_t limit_bytes, struct vv_pack_bytes *out,
                                   struct varve_error *error)
{
    const struct vv_compressed input = { frame, bytes, 0 };
    size_t got;
    if (codec->expander.state == NULL &&
        vv_decompressor_init(&codec->expander, VV_COMPRESSION_ZSTD) != VARVE_OK)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to decompress");
    uint64_t length = vv_decompressed_bytes(frame, bytes);
    if (length == UINT64_MAX)
        VV_FAIL(error, VARVE_CORRUPT, "the block holds no zstd frame that tells its length");
    if (length > limit_bytes)
        VV_FAIL(error, VARVE_CORRUPT, "the block claims %llu bytes where at most %zu make sense",
                (unsigned long long)length, limit_bytes);
    out->count = 0;
    VV_TRY(vv_array_reserve(&out->data, &out->capacity, (size_t)length + 1, 1, error));
    VV_TRY_NOTE(vv_decompress_frame(&codec->expander, &input, out->data, (size_t)length, &got,
                                    error),
                error, "the block does not decompress");
    if (got != length)
        VV_FAIL(error, VARVE_CORRUPT, "the block holds %zu bytes where it claims %llu", got,
                (unsigned long long)length);
    out->count = got;
    return VARVE_OK;
}

#else

void vv_pack_codec_deinit(struct vv_pack_codec *codec)
{
    (void)codec;
}

static enum varve_code refuse(struct varve_error *error)
{
    VV_FAIL(error, VARVE_UNSUPPORTED,
            "this varve was built without zstd, which packed traces need: install libzstd-dev and "
            "build varve again");
}

enum varve_code vv_pack_frame_write(struct vv_pack_codec *codec, const struct vv_pack_bytes *column,
                                    const size_t *cuts, size_t cut_count, struct vv_pack_bytes *out,
                                    struct varve_error *error)
{
    (void)codec, (void)column, (void)cuts, (void)cut_count, (void)out;
    return refuse(error);
}

enum varve_code vv_pack_frame_read(struct vv_pack_codec *codec, const uint8_t *frame, size_t bytes,
                                   size_t limit_bytes, struct vv_pack_bytes *out,
                                   struct varve_error *error)
{
    (void)codec, (void)frame, (void)bytes, (void)limit_bytes, (void)out;
    return refuse(error);
}

#endif

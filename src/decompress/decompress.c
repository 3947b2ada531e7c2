/* SPDX-License-Identifier: Apache-2.0 */
#include "decompress/decompress.h"

#include <stdlib.h>
#include <string.h>
#ifdef VV_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef VV_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include "decompress/isal.h"

#define PIECE_BYTES 4096u /* least room for the next piece of output                            */

enum vv_compression vv_compression_of(const unsigned char magic[VV_COMPRESSION_MAGIC_BYTES])
{
    static const unsigned char gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
    /* after 0x50 … 0x5f: a skippable frame. Files of pzstd begin with one */
    static const unsigned char skipped[] = { 0x2a, 0x4d, 0x18 };
    if (memcmp(magic, gzip, sizeof gzip) == 0)
        return VV_COMPRESSION_GZIP;
    bool is_zstd = memcmp(magic, zstd, sizeof zstd) == 0 ||
                   (magic[0] >> 4 == 5 && memcmp(magic + 1, skipped, sizeof skipped) == 0);
    return is_zstd ? VV_COMPRESSION_ZSTD : VV_COMPRESSION_NONE;
}

/* ---- zlib, and ISA-L for gzip ---- */

#ifdef VV_HAVE_ZLIB
static bool is_isal(enum vv_compression compression)
{
#ifdef VV_HAVE_ISAL
    return compression == VV_COMPRESSION_GZIP;
#else
    (void)compression;
    return false;
#endif
}

static enum varve_code begin_zlib(struct vv_decompressor *decompressor)
{
    bool is_gzip = decompressor->compression == VV_COMPRESSION_GZIP;
    if (is_isal(decompressor->compression))
        return vv_isal_begin(decompressor);
    z_stream *zlib = calloc(1, sizeof *zlib);
    int status = zlib == NULL ? Z_MEM_ERROR
                              : inflateInit2(zlib, is_gzip ? 16 + MAX_WBITS : 32 + MAX_WBITS);
    if (status != Z_OK) {
        free(zlib);
        return status == Z_MEM_ERROR ? VARVE_NO_MEMORY : VARVE_CORRUPT;
    }
    decompressor->state = zlib;
    return VARVE_OK;
}

static void end_zlib(struct vv_decompressor *decompressor)
{
    if (is_isal(decompressor->compression)) {
        vv_isal_end(decompressor);
        return;
    }
    inflateEnd(decompressor->state);
    free(decompressor->state);
}

static enum varve_code step_zlib(struct vv_decompressor *decompressor, struct vv_compressed *input,
                                 void *out, size_t capacity, size_t *out_bytes)
{
    z_stream *zlib = decompressor->state;
    bool is_gzip = decompressor->compression == VV_COMPRESSION_GZIP;
    while (is_gzip && !decompressor->is_open && input->at < input->length &&
           input->data[input->at] == 0)
        input->at++;
    if (input->at == input->length && !decompressor->is_open)
        return VARVE_OK;
    if (is_gzip && !decompressor->is_open && input->data[input->at] != 0x1f)
        return VARVE_CORRUPT;
    if (is_isal(decompressor->compression))
        return vv_isal_step(decompressor, input, out, capacity, out_bytes);
    size_t rest = input->length - input->at;
    decompressor->is_open = true;
    zlib->next_in = (unsigned char *)(uintptr_t)(input->data + input->at);
    zlib->avail_in = (uInt)(rest < UINT32_MAX ? rest : UINT32_MAX);
    zlib->next_out = out;
    zlib->avail_out = (uInt)(capacity < UINT32_MAX ? capacity : UINT32_MAX);
    int status = inflate(zlib, Z_NO_FLUSH);
    input->at = (size_t)(zlib->next_in - input->data);
    *out_bytes = (size_t)(zlib->next_out - (unsigned char *)out);
    if (status == Z_STREAM_END) {
        decompressor->is_open = false;
        inflateReset(zlib);
        return VARVE_OK;
    }
    if (status == Z_MEM_ERROR)
        return VARVE_NO_MEMORY;
    return status == Z_OK || status == Z_BUF_ERROR ? VARVE_OK : VARVE_CORRUPT;
}
#endif

/* ---- zstd ---- */

#ifdef VV_HAVE_ZSTD
static enum varve_code code_of_zstd(size_t status)
{
    switch (ZSTD_getErrorCode(status)) {
    case ZSTD_error_memory_allocation:
        return VARVE_NO_MEMORY;
    case ZSTD_error_frameParameter_windowTooLarge:
        return VARVE_LIMIT;
    default:
        return VARVE_CORRUPT;
    }
}

static enum varve_code step_zstd(struct vv_decompressor *decompressor, struct vv_compressed *input,
                                 void *out, size_t capacity, size_t *out_bytes)
{
    ZSTD_outBuffer to = { out, capacity, 0 };
    ZSTD_inBuffer from = { input->data, input->length, input->at };
    size_t left = ZSTD_decompressStream(decompressor->state, &to, &from);
    input->at = from.pos;
    *out_bytes = to.pos;
    decompressor->is_open = left != 0;
    return ZSTD_isError(left) ? code_of_zstd(left) : VARVE_OK;
}
#endif

/* ---- a piece at a time ---- */

enum varve_code vv_decompressor_init(struct vv_decompressor *decompressor,
                                     enum vv_compression compression)
{
    *decompressor = (struct vv_decompressor){ .compression = compression };
#ifdef VV_HAVE_ZLIB
    if (compression == VV_COMPRESSION_GZIP || compression == VV_COMPRESSION_ZLIB)
        return begin_zlib(decompressor);
#endif
#ifdef VV_HAVE_ZSTD
    if (compression == VV_COMPRESSION_ZSTD) {
        decompressor->state = ZSTD_createDCtx();
        return decompressor->state != NULL ? VARVE_OK : VARVE_NO_MEMORY;
    }
#endif
    return VARVE_UNSUPPORTED;
}

void vv_decompressor_deinit(struct vv_decompressor *decompressor)
{
    if (decompressor->state == NULL)
        return;
#ifdef VV_HAVE_ZLIB
    if (decompressor->compression != VV_COMPRESSION_ZSTD)
        end_zlib(decompressor);
#endif
#ifdef VV_HAVE_ZSTD
    if (decompressor->compression == VV_COMPRESSION_ZSTD)
        ZSTD_freeDCtx(decompressor->state);
#endif
    *decompressor = (struct vv_decompressor){ 0 };
}

enum varve_code vv_decompress_some(struct vv_decompressor *decompressor,
                                   struct vv_compressed *input, void *out, size_t capacity,
                                   size_t *out_bytes)
{
    *out_bytes = 0;
#ifdef VV_HAVE_ZLIB
    if (decompressor->compression != VV_COMPRESSION_ZSTD)
        return step_zlib(decompressor, input, out, capacity, out_bytes);
#endif
#ifdef VV_HAVE_ZSTD
    if (decompressor->compression == VV_COMPRESSION_ZSTD)
        return step_zstd(decompressor, input, out, capacity, out_bytes);
#endif
    (void)decompressor, (void)input, (void)out, (void)capacity;
    return VARVE_UNSUPPORTED;
}

/* ---- a whole stream, in memory ---- */

/* The stream must end within `data`, and within the limit. */
static enum varve_code read_stream(struct vv_decompressor *decompressor,
                                   struct vv_compressed *input, vv_decompressed *out)
{
    do {
        size_t got;
        if (input->at == input->length || out->count >= VV_DECOMPRESSED_BYTES_MAX)
            return VARVE_CORRUPT;
        VV_TRY(vv_array_reserve(&out->items, &out->capacity, out->count + PIECE_BYTES, 1, NULL));
        VV_TRY(vv_decompress_some(decompressor, input, out->items + out->count,
                                  out->capacity - out->count, &got));
        out->count += got;
    } while (decompressor->is_open);
    return VARVE_OK;
}

enum varve_code vv_decompress_zlib(const unsigned char *data, uint64_t bytes, vv_decompressed *out)
{
    struct vv_decompressor decompressor;
    struct vv_compressed input = { data, (size_t)bytes, 0 };
    out->count = 0;
    enum varve_code code = vv_decompressor_init(&decompressor, VV_COMPRESSION_ZLIB);
    if (code == VARVE_OK)
        code = read_stream(&decompressor, &input, out);
    vv_decompressor_deinit(&decompressor);
    return code == VARVE_UNSUPPORTED ? VARVE_CORRUPT : code;
}

uint64_t vv_decompressed_bytes(const unsigned char *frame, size_t bytes)
{
#ifdef VV_HAVE_ZSTD
    unsigned long long length = ZSTD_getFrameContentSize(frame, bytes);
    if (length != ZSTD_CONTENTSIZE_ERROR && length != ZSTD_CONTENTSIZE_UNKNOWN)
        return length;
#endif
    (void)frame, (void)bytes;
    return UINT64_MAX;
}

enum varve_code vv_decompress_frame(struct vv_decompressor *decompressor,
                                    const struct vv_compressed *frame, void *out, size_t capacity,
                                    size_t *out_bytes, struct varve_error *error)
{
#ifdef VV_HAVE_ZSTD
    *out_bytes = ZSTD_decompressDCtx(decompressor->state, out, capacity, frame->data,
                                     frame->length);
    if (!ZSTD_isError(*out_bytes))
        return VARVE_OK;
    enum varve_code code = code_of_zstd(*out_bytes);
    VV_FAIL(error, code == VARVE_NO_MEMORY ? code : VARVE_CORRUPT, "%s",
            ZSTD_getErrorName(*out_bytes));
#else
    (void)decompressor, (void)frame, (void)out, (void)capacity, (void)out_bytes;
    VV_FAIL(error, VARVE_UNSUPPORTED, "built without zstd");
#endif
}

enum varve_code vv_decompress_zstd(const unsigned char *data, uint64_t bytes, vv_decompressed *out)
{
    struct vv_decompressor decompressor;
    const struct vv_compressed frame = { data, (size_t)bytes, 0 };
    uint64_t size = vv_decompressed_bytes(data, (size_t)bytes);
    out->count = 0;
    if (size > VV_DECOMPRESSED_BYTES_MAX)
        return VARVE_CORRUPT;
    VV_TRY(vv_array_reserve(&out->items, &out->capacity, (size_t)size + 1, 1, NULL));
    VV_TRY(vv_decompressor_init(&decompressor, VV_COMPRESSION_ZSTD));
    enum varve_code code = vv_decompress_frame(&decompressor, &frame, out->items, (size_t)size + 1,
                                               &out->count, NULL);
    vv_decompressor_deinit(&decompressor);
    if (code != VARVE_OK)
        out->count = 0;
    return code;
}

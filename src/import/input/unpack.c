/* SPDX-License-Identifier: Apache-2.0 */
#include "import/input/unpack.h"

#ifdef VV_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef VV_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#define PIECE_BYTES 4096u /* at least so much room for what comes                                   */

enum varve_code vv_unpack_zlib(const unsigned char *data, uint64_t bytes, vv_unpacked *out)
{
    out->count = 0;
#ifdef VV_HAVE_ZLIB
    z_stream zlib = { .next_in = (unsigned char *)(uintptr_t)data, .avail_in = (uInt)bytes };
    enum varve_code code = VARVE_OK;
    int status = bytes > UINT32_MAX ? Z_DATA_ERROR : inflateInit2(&zlib, 32 + MAX_WBITS);
    if (status != Z_OK)
        return status == Z_MEM_ERROR ? VARVE_NO_MEMORY : VARVE_CORRUPT;
    while (code == VARVE_OK && status == Z_OK && out->count < VV_UNPACKED_BYTES_MAX) {
        code = vv_array_reserve(&out->items, &out->capacity, out->count + PIECE_BYTES, 1, NULL);
        if (code != VARVE_OK)
            break;
        zlib.next_out = out->items + out->count;
        zlib.avail_out = (uInt)(out->capacity - out->count);
        status = inflate(&zlib, Z_NO_FLUSH);
        out->count = zlib.total_out;
    }
    inflateEnd(&zlib);
    if (code == VARVE_OK && status != Z_STREAM_END)
        code = status == Z_MEM_ERROR ? VARVE_NO_MEMORY : VARVE_CORRUPT;
    return code;
#else
    (void)data;
    (void)bytes;
    return VARVE_CORRUPT;
#endif
}

enum varve_code vv_unpack_zstd(const unsigned char *data, uint64_t bytes, vv_unpacked *out)
{
    out->count = 0;
#ifdef VV_HAVE_ZSTD
    unsigned long long size = ZSTD_getFrameContentSize(data, bytes);
    if (size > VV_UNPACKED_BYTES_MAX)
        return VARVE_CORRUPT;
    if (vv_array_reserve(&out->items, &out->capacity, (size_t)size + 1, 1, NULL) != VARVE_OK)
        return VARVE_NO_MEMORY;
    size_t got = ZSTD_decompress(out->items, (size_t)size + 1, data, bytes);
    if (ZSTD_isError(got))
        return ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation ? VARVE_NO_MEMORY : VARVE_CORRUPT;
    out->count = got;
    return VARVE_OK;
#else
    (void)data;
    (void)bytes;
    return VARVE_CORRUPT;
#endif
}

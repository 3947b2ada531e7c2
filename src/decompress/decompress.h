/* SPDX-License-Identifier: Apache-2.0 */
/* decompress.h — decompresses gzip, zlib and zstd; nothing else does. A build may lack either
 * library.
 *
 *     import/input/source.c    a compressed file, in order           vv_decompress_some
 *     import/perfetto, xspace  compressed bytes within a file        vv_decompress_zlib, _zstd
 *     ctf/pack/frame.c         a column of a packed trace            vv_decompress_frame
 *
 * A failure is a code: VARVE_CORRUPT, VARVE_NO_MEMORY, or VARVE_UNSUPPORTED (this build lacks the
 * library). The caller writes the message, because the caller knows what is read.
 * Thread-compatible. */
#ifndef VV_DECOMPRESS_DECOMPRESS_H
#define VV_DECOMPRESS_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

enum vv_compression { VV_COMPRESSION_NONE, VV_COMPRESSION_GZIP, VV_COMPRESSION_ZLIB,
                      VV_COMPRESSION_ZSTD };

#define VV_COMPRESSION_MAGIC_BYTES 4u
/* The compression of a file that begins with these bytes. Never zlib, because zlib has no magic
 * number. */
enum vv_compression vv_compression_of(const unsigned char magic[VV_COMPRESSION_MAGIC_BYTES]);

/* ---- in order, a piece at a time ---- */

struct vv_decompressor {
    enum vv_compression compression;
    void *state;  /* the library's state; NULL: not initialised                                 */
    bool is_open; /* a member or frame has begun and not ended: the input must not end here     */
};

/* Compressed bytes; those before `at` have been used. */
struct vv_compressed {
    const unsigned char *data;
    size_t length, at;
};

/* VV_COMPRESSION_ZLIB reads one stream of zlib or gzip. GZIP reads several members, and zeros after
 * the last, as on tapes. ZSTD reads several frames. */
enum varve_code vv_decompressor_init(struct vv_decompressor *decompressor,
                                     enum vv_compression compression);
void vv_decompressor_deinit(struct vv_decompressor *decompressor); /* idempotent; may be zeroed */

/* Does one step. *out_bytes may be 0 although more can follow; then input->at has moved. Libraries
 * keep some input: at the end of the input, call it without any until is_open is false or nothing
 * comes.
 * VARVE_LIMIT: the window of a zstd frame is larger than 128 MiB. */
enum varve_code vv_decompress_some(struct vv_decompressor *decompressor,
                                   struct vv_compressed *input, void *out, size_t capacity,
                                   size_t *out_bytes);

/* ---- whole, in memory ---- */

#define VV_DECOMPRESSED_BYTES_MAX (UINT64_C(64) << 20)

typedef VV_ARRAY_OF(unsigned char) vv_decompressed; /* may be zeroed, which is empty; its memory is
                                                       used again */

/* Decompress one stream of zlib or gzip, and one frame of zstd. VARVE_CORRUPT also: the result is
 * longer than VV_DECOMPRESSED_BYTES_MAX, or this build lacks the library. */
enum varve_code vv_decompress_zlib(const unsigned char *data, uint64_t bytes, vv_decompressed *out);
enum varve_code vv_decompress_zstd(const unsigned char *data, uint64_t bytes, vv_decompressed *out);

/* The decompressed size that the zstd frame states; UINT64_MAX: it states none, or is no frame. */
uint64_t vv_decompressed_bytes(const unsigned char *frame, size_t bytes);

/* Decompresses one zstd frame. The decompressor is one for zstd; its memory is used again. The
 * error has the library's message. */
enum varve_code vv_decompress_frame(struct vv_decompressor *decompressor,
                                    const struct vv_compressed *frame, void *out, size_t capacity,
                                    size_t *out_bytes, struct varve_error *error);

#endif

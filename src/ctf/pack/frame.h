/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h — a column of a packed stream as a zstd frame with length and checksum (doc/format.md
 * §10). Nothing else compresses: in a build without zstd, every function here except deinit fails
 * with VARVE_UNSUPPORTED. Thread-compatible. */
#ifndef VV_CTF_PACK_FRAME_H
#define VV_CTF_PACK_FRAME_H

#include "ctf/pack/block.h"
#include "decompress/decompress.h"

/* Zero-initialise before the first use. */
struct vv_pack_codec {
    void *compressor; /* zstd's context; NULL until first needed                                */
    struct vv_decompressor expander;
};
void vv_pack_codec_deinit(struct vv_pack_codec *codec); /* NULL-safe, idempotent */

/* The most bytes that a frame of `plain_bytes` may have. A longer frame is not read. */
size_t vv_pack_frame_limit(size_t plain_bytes);

/* Appends the column's frame to *out. The statistics of the column's bytes change at the places
 * cuts[0..cut_count), which are in ascending order. */
enum varve_code vv_pack_frame_write(struct vv_pack_codec *codec, const struct vv_pack_bytes *column,
                                    const size_t *cuts, size_t cut_count, struct vv_pack_bytes *out,
                                    struct varve_error *error);

/* Replaces *out by the content of the frame. VARVE_CORRUPT if this is more than `limit_bytes`, or
 * the checksum is wrong; the message says what is wrong with "the block". */
enum varve_code vv_pack_frame_read(struct vv_pack_codec *codec, const uint8_t *frame, size_t bytes,
                                   size_t limit_bytes, struct vv_pack_bytes *out,
                                   struct varve_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h — a column of a packed stream as a zstd frame with length and checksum (doc/format.md §10).
 * Called by the packed reader and writer. Nothing else knows zstd: built without it, every function here
 * but deinit fails with VARVE_UNSUPPORTED. Thread-compatible. */
#ifndef VV_CTF_PACK_FRAME_H
#define VV_CTF_PACK_FRAME_H

#include "ctf/pack/block.h"

/* Zero-initialise before the first use. */
struct vv_pack_codec {
    void *compressor, *expander; /* zstd's contexts; NULL until first needed                      */
};
void vv_pack_codec_deinit(struct vv_pack_codec *codec); /* NULL-safe, idempotent */

/* Bytes that a frame of `plain_bytes` may have at most: what is longer is not read. */
size_t vv_pack_frame_limit(size_t plain_bytes);

/* Appends the column's frame to *out. cuts[0..cut_count), in ascending order, are where the statistics of
 * its bytes change. */
enum varve_code vv_pack_frame_write(struct vv_pack_codec *codec, const struct vv_pack_bytes *column,
                                    const size_t *cuts, size_t cut_count, struct vv_pack_bytes *out,
                                    struct varve_error *error);

/* Replaces *out by what the frame holds. VARVE_CORRUPT if that is more than `limit_bytes`, or fails its
 * checksum; the message says what is wrong with "the block". */
enum varve_code vv_pack_frame_read(struct vv_pack_codec *codec, const uint8_t *frame, size_t bytes,
                                   size_t limit_bytes, struct vv_pack_bytes *out,
                                   struct varve_error *error);

#endif

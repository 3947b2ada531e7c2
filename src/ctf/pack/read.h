/* SPDX-License-Identifier: Apache-2.0 */
/* read.h — a packed stream file (doc/format.md §10), read as if it were the plain one.
 *
 * One block is in memory at a time, at most about 40 MB with its columns, however large the file is. Offsets
 * in errors are those of the packed file.
 * Thread-compatible. */
#ifndef VV_CTF_PACK_READ_H
#define VV_CTF_PACK_READ_H

#include "ctf/pack/block.h"

#define VV_PACK_MAGIC "VARVEPK1"

struct vv_pack_file_header {
    char magic[8];        /* VV_PACK_MAGIC, without its NUL */
    uint64_t plain_bytes; /* of the stream file */
};
struct vv_pack_block_header {
    uint32_t frame_bytes[VV_PACK_COLUMNS]; /* the frames follow, in order; 0 = an empty column */
};

struct vv_packed;

/* *out_packed is NULL if the file does not begin as a packed stream does; it belongs to the caller.
 * `descriptor` and `path` are borrowed until close. */
enum varve_code vv_packed_open(int descriptor, const char *path, struct vv_packed **out_packed,
                               struct varve_error *error);
void vv_packed_close(struct vv_packed *packed); /* NULL-safe */

uint64_t vv_packed_plain_bytes(const struct vv_packed *packed);
/* Records in the blocks read so far; a block that is read again counts again. */
uint64_t vv_packed_record_count(const struct vv_packed *packed);

/* Reads `bytes` plain bytes at `offset`; fewer only where the plain file ends. Forward is fast, and so are
 * packet headers alone. */
enum varve_code vv_packed_read(struct vv_packed *packed, uint64_t offset, void *buffer, size_t bytes,
                               size_t *out_bytes, struct varve_error *error);

#endif

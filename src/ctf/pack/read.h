/* SPDX-License-Identifier: Apache-2.0 */
/* read.h — reads a packed stream file (doc/format.md §10) as if it were the plain one.
 *
 * Only one block is in memory at a time: at most about 40 MB with its columns, however large the
 * file is. Offsets in errors are those in the packed file. Thread-compatible. */
#ifndef VV_CTF_PACK_READ_H
#define VV_CTF_PACK_READ_H

#include "ctf/pack/block.h"

#define VV_PACK_MAGIC "VARVEPK2"
#define VV_PACK_FIRST_MAGIC "VARVEPK1" /* is read, and not written any more */

struct vv_pack_file_header {
    char magic[8];        /* VV_PACK_MAGIC, without its NUL */
    uint64_t plain_bytes; /* size of the plain stream file */
};
struct vv_pack_block_header {
    uint32_t frame_bytes[VV_PACK_COLUMNS]; /* the frames follow, in this order; 0 = empty column */
}; /* in the first layout only VV_PACK_FIRST_COLUMNS of them */

/* Does a file that begins with these 8 bytes begin like a packed stream? */
bool vv_packed_begins(const char magic[8]);

struct vv_packed;

/* *out_packed is NULL if the file does not begin like a packed stream; the caller closes it.
 * `descriptor` and `path` are borrowed until close. */
enum varve_code vv_packed_open(int descriptor, const char *path, struct vv_packed **out_packed,
                               struct varve_error *error);
void vv_packed_close(struct vv_packed *packed); /* NULL-safe */

uint64_t vv_packed_plain_bytes(const struct vv_packed *packed);
/* Number of records in the blocks read so far; a block that is read again is counted again. */
uint64_t vv_packed_record_count(const struct vv_packed *packed);

/* Reads `bytes` plain bytes at `offset`; fewer only at the end of the plain file. Reading forward
 * is fast, and so is reading packet headers only. */
enum varve_code vv_packed_read(struct vv_packed *packed, uint64_t offset, void *buffer,
                               size_t bytes, size_t *out_bytes, struct varve_error *error);

/* Of a reader of the plain bytes that has failed: the sentence says that its place is one of them
 * (decompress/place.h). NULL-safe. */
enum varve_code vv_packed_place(struct vv_packed *packed, enum varve_code code,
                                struct varve_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* write.h — one stream file packed, unpacked, and the two compared (doc/format.md §10).
 * Files are made, never replaced; one that could not be finished is left to the caller.
 *
 * Invariant: whatever a file holds, packing and unpacking give back its bytes, save those between a packet's
 * records and its end, which become zero. Memory is bounded by the block. Thread-compatible. */
#ifndef VV_CTF_PACK_WRITE_H
#define VV_CTF_PACK_WRITE_H

#include <signal.h>

#include "ctf/pack/frame.h"

/* Memory that many files use in turn. Zero-initialise before the first use. */
struct vv_packer {
    const volatile sig_atomic_t *stop; /* NULL, or: once it is not 0, work ends with VARVE_STATE */
    struct vv_pack_block block;
    struct vv_pack_codec codec;
    struct vv_pack_bytes frames;
};
void vv_packer_deinit(struct vv_packer *packer); /* NULL-safe, idempotent */

enum varve_code vv_pack_stream(struct vv_packer *packer, const char *plain_path,
                               const char *packed_path, struct varve_error *error);
enum varve_code vv_unpack_stream(const struct vv_packer *packer, const char *packed_path,
                                 const char *plain_path, struct varve_error *error);

/* What is said of a stream of so many bytes (VV_STREAM_FILE_BYTES_MAX): VARVE_LIMIT. */
enum varve_code vv_pack_fail_size(const char *path, uint64_t bytes, struct varve_error *error);

/* Are all headers and records of the plain file in the packed one, at their places? VARVE_INTERNAL says
 * where they differ. *out_records and *out_bytes (headers and records) are of what was compared. */
enum varve_code vv_pack_compare(const struct vv_packer *packer, const char *plain_path,
                                const char *packed_path, uint64_t *out_records, uint64_t *out_bytes,
                                struct varve_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* write.h — packs or unpacks one stream file, and compares the two (doc/format.md §10). Files are
 * made, never replaced. The caller removes a file that was not completed.
 *
 * Invariant: whatever a file contains, packing and unpacking give back its bytes, except those
 * between the last record of a packet and the packet's end, which become zero. The block limits the
 * memory. Thread-compatible. */
#ifndef VV_CTF_PACK_WRITE_H
#define VV_CTF_PACK_WRITE_H

#include <signal.h>

#include "ctf/pack/frame.h"

/* Memory that many files use one after the other. Zero-initialise it before the first use. */
struct vv_packer {
    const volatile sig_atomic_t *stop; /* NULL; or a flag that ends the work with VARVE_STATE */
    struct vv_pack_block block;
    struct vv_pack_codec codec;
    struct vv_pack_bytes frames;
};
void vv_packer_deinit(struct vv_packer *packer); /* NULL-safe, idempotent */

enum varve_code vv_pack_stream(struct vv_packer *packer, const char *plain_path,
                               const char *packed_path, struct varve_error *error);
enum varve_code vv_unpack_stream(const struct vv_packer *packer, const char *packed_path,
                                 const char *plain_path, struct varve_error *error);

/* Fails with VARVE_LIMIT, for a stream of more than VV_STREAM_FILE_BYTES_MAX bytes. */
enum varve_code vv_pack_fail_size(const char *path, uint64_t bytes, struct varve_error *error);

/* Compares all headers and records of the plain file with those in the packed one. VARVE_INTERNAL:
 * the message says where they differ. *out_records and *out_bytes count what was compared (headers
 * and records). */
enum varve_code vv_pack_compare(const struct vv_packer *packer, const char *plain_path,
                                const char *packed_path, uint64_t *out_records, uint64_t *out_bytes,
                                struct varve_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* isal.h — decompresses gzip by ISA-L, in less than half of zlib's time. Only decompress.c uses it,
 * in builds that have the library. Thread-compatible. */
#ifndef VV_DECOMPRESS_ISAL_H
#define VV_DECOMPRESS_ISAL_H

#include "decompress/decompress.h"

/* The functions are those of decompress.h, for VV_COMPRESSION_GZIP. */
enum varve_code vv_isal_begin(struct vv_decompressor *decompressor);
void vv_isal_end(struct vv_decompressor *decompressor);
/* `input` is at a member, or within one. */
enum varve_code vv_isal_step(struct vv_decompressor *decompressor, struct vv_compressed *input,
                             void *out, size_t capacity, size_t *out_bytes);

#endif

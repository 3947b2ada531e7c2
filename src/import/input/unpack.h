/* SPDX-License-Identifier: Apache-2.0 */
/* unpack.h — what lies compressed in memory, as a whole. Compressed files are read piece by piece: source.h. */
#ifndef VV_IMPORT_INPUT_UNPACK_H
#define VV_IMPORT_INPUT_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

#define VV_UNPACKED_BYTES_MAX (UINT64_C(64) << 20)

typedef VV_ARRAY_OF(unsigned char) vv_unpacked; /* zeroed: empty; its memory is used again       */

/* zlib's or gzip's, and zstd's one frame. VARVE_CORRUPT: it is damaged or none, longer than VV_UNPACKED_BYTES_MAX, or this
 * build cannot read it. VARVE_NO_MEMORY. The caller, who knows what it is, has the words. */
enum varve_code vv_unpack_zlib(const unsigned char *data, uint64_t bytes, vv_unpacked *out);
enum varve_code vv_unpack_zstd(const unsigned char *data, uint64_t bytes, vv_unpacked *out);

#endif

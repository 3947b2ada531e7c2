/* SPDX-License-Identifier: Apache-2.0 */
/* place.h — says in a message whether a byte offset counts bytes of the file or decompressed bytes.
 *
 * Readers count the bytes that they read. A source that decompresses for them counts bytes of the
 * file: it passes its own failures to vv_place_told, and those of readers to vv_place_inside. */
#ifndef VV_DECOMPRESS_PLACE_H
#define VV_DECOMPRESS_PLACE_H

#include "base/error.h"

/* Zeroed: nothing has failed. */
struct vv_told_place {
    enum varve_code code; /* of the last failure whose message is complete                      */
    uint64_t offset;
};

/* The failure's offset, if it has one, counts bytes of the file: its message stays. Returns
 * `code`. */
enum varve_code vv_place_told(struct vv_told_place *told, enum varve_code code,
                              const struct varve_error *error);
/* Adds " of what it decompresses to" to the message, which must end with the offset. A failure that
 * was passed to vv_place_told last stays as it is. Returns `code`; idempotent. */
enum varve_code vv_place_inside(struct vv_told_place *told, enum varve_code code,
                                struct varve_error *error);

#endif

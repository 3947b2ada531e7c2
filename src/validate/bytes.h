/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h — what only the bytes of a JSON text say: control characters inside strings, wrong UTF-8, and
 * `"rank": 3` with the blank that one reader looks for. Bytes are passed on as they are. Thread-compatible. */
#ifndef VV_VALIDATE_BYTES_H
#define VV_VALIDATE_BYTES_H

#include "base/text/json.h"

struct vv_check_bytes {
    vv_json_source *source;
    void *context;
    uint64_t offset;
    bool in_string, is_escaped;
    /* UTF-8: bytes of the sequence still to come, and the least and largest that the next may be. */
    unsigned rest, least, largest;
    size_t rank_at;               /* bytes of the pattern that match so far                       */
    bool has_rank;
    uint64_t control_count, control_offset, utf8_count, utf8_offset;
};

/* `bytes` as a vv_json_source. */
enum varve_code vv_check_bytes_read(void *bytes, void *buffer, size_t capacity, size_t *out_bytes,
                                    struct varve_error *error);

#endif

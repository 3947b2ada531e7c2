/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h — checks that need the bytes of a JSON text: control characters inside strings, invalid
 * UTF-8, and `"rank": 3` with the blank that one reader looks for. The bytes are passed on
 * unchanged. Thread-compatible. */
#ifndef VV_VALIDATE_BYTES_H
#define VV_VALIDATE_BYTES_H

#include "base/text/json.h"

struct vv_check_bytes {
    vv_json_source *source;
    void *context;
    uint64_t offset;
    bool in_string, is_escaped;
    /* In UTF-8: bytes still missing in the sequence, and the least and largest value of the
     * next. */
    unsigned rest, least, largest;
    size_t rank_at;               /* how many bytes of the pattern match so far                   */
    bool has_rank;
    uint64_t control_count, control_offset, utf8_count, utf8_offset;
};

/* A vv_json_source; its context is `bytes`. */
enum varve_code vv_check_bytes_read(void *bytes, void *buffer, size_t capacity, size_t *out_bytes,
                                    struct varve_error *error);

#endif

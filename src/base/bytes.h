/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h — a span of input bytes, and checked little-endian reads from it. Thread-safe.
 *
 * Every read returns whether it is inside the span: offset + width <= length, without overflow. */
#ifndef VV_BASE_BYTES_H
#define VV_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vv_bytes {
    const unsigned char *data; /* borrowed; length bytes                                        */
    size_t length;
};

static inline bool vv_bytes_has(struct vv_bytes bytes, size_t offset, size_t width)
{
    return offset <= bytes.length && width <= bytes.length - offset;
}

VV_MUST_USE static inline bool vv_bytes_u8(struct vv_bytes bytes, size_t offset, uint8_t *out_value)
{
    if (!vv_bytes_has(bytes, offset, 1))
        return false;
    *out_value = bytes.data[offset];
    return true;
}

VV_MUST_USE static inline bool vv_bytes_u16(struct vv_bytes bytes, size_t offset,
                                            uint16_t *out_value)
{
    if (!vv_bytes_has(bytes, offset, 2))
        return false;
    memcpy(out_value, bytes.data + offset, 2);
    *out_value = le16toh(*out_value);
    return true;
}

VV_MUST_USE static inline bool vv_bytes_u32(struct vv_bytes bytes, size_t offset,
                                            uint32_t *out_value)
{
    if (!vv_bytes_has(bytes, offset, 4))
        return false;
    memcpy(out_value, bytes.data + offset, 4);
    *out_value = le32toh(*out_value);
    return true;
}

VV_MUST_USE static inline bool vv_bytes_u64(struct vv_bytes bytes, size_t offset,
                                            uint64_t *out_value)
{
    if (!vv_bytes_has(bytes, offset, 8))
        return false;
    memcpy(out_value, bytes.data + offset, 8);
    *out_value = le64toh(*out_value);
    return true;
}

#endif

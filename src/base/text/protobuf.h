/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf.h — a pull walker over the protocol buffers wire format, in memory. Thread-compatible.
 *
 *     vv_protobuf_init(&message, data, length, offset);
 *     while (vv_protobuf_next(&message))           number and wire say which field; read its value
 *         …
 *     VV_TRY(vv_protobuf_end(&message, error));    VARVE_OK unless the bytes were damaged
 *
 * Nothing is copied. Groups (wire types 3 and 4) and field number 0 are damage. Use
 * vv_protobuf_enter for a message inside a message. Every error has the offset in the input. */
#ifndef VV_BASE_TEXT_PROTOBUF_H
#define VV_BASE_TEXT_PROTOBUF_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#if defined(__x86_64__)
#include "base/text/protobuf_x86_64.h"
#endif

enum vv_wire { VV_WIRE_VARINT = 0, VV_WIRE_FIXED64 = 1, VV_WIRE_BYTES = 2, VV_WIRE_FIXED32 = 5 };

#define VV_PROTOBUF_NUMBER_MAX ((UINT32_C(1) << 29) - 1)
#define VV_PROTOBUF_TEXT_BYTES_MAX (UINT64_C(64) << 20)
#define VV_PROTOBUF_HEAD_BYTES_MAX 20u /* tag and length of a field                             */

struct vv_protobuf {
    uint32_t number;           /* field number of the field just read                           */
    enum vv_wire wire;
    uint64_t value;            /* of a varint or fixed field; the length of a bytes field       */
    const unsigned char *data; /* content of a bytes field; borrowed from the message           */

    /* private */
    const unsigned char *start, *cursor, *limit;
    uint64_t start_offset;     /* offset of `start` in the input                                */
    const char *damage;        /* what is wrong with the bytes; NULL: nothing                   */
};

/* `data` has `length` bytes, which lie at `offset` of the input; borrowed. */
static inline void vv_protobuf_init(struct vv_protobuf *message, const void *data, size_t length,
                                    uint64_t offset)
{
    *message = (struct vv_protobuf){ .start = data, .cursor = data, .start_offset = offset };
    message->limit = message->start + length;
}

/* The offset in the input of `at`, which points into the message. */
static inline uint64_t vv_protobuf_offset(const struct vv_protobuf *message,
                                          const unsigned char *at)
{
    return message->start_offset + (uint64_t)(at - message->start);
}

/* Begins the message that the bytes field just read holds. */
static inline void vv_protobuf_enter(const struct vv_protobuf *outer, struct vv_protobuf *out_inner)
{
    vv_protobuf_init(out_inner, outer->data, (size_t)outer->value,
                     vv_protobuf_offset(outer, outer->data));
}

/* Packs the wanted ones of the lowest 7 bits of each byte together. `wanted` has all 7 bits of some
 * first bytes. */
static inline uint64_t vv_protobuf_gather(uint64_t bytes, uint64_t wanted)
{
#if defined(__x86_64__)
    if (vv_protobuf_pext_is_quick)
        return vv_protobuf_pext(bytes, wanted);
#endif
    uint64_t bits = bytes & wanted;
    bits = (bits & UINT64_C(0x007f007f007f007f)) | (bits & UINT64_C(0x7f007f007f007f00)) >> 1;
    bits = (bits & UINT64_C(0x00003fff00003fff)) | (bits & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (bits & UINT64_C(0x0fffffff)) | (bits & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Reads up to 8 bytes at once. */
static inline bool vv_protobuf_varint(const unsigned char **cursor, const unsigned char *limit,
                                      uint64_t *out_value)
{
    const unsigned char *at = *cursor;
    if (at < limit && *at < 0x80) {
        *out_value = *at;
        *cursor = at + 1;
        return true;
    }
    if (limit - at >= 8) {
        uint64_t bytes;
        memcpy(&bytes, at, 8);
        bytes = le64toh(bytes);
        uint64_t last = ~bytes & UINT64_C(0x8080808080808080);
        if (last != 0) {
            *out_value =
                vv_protobuf_gather(bytes, (last ^ (last - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f));
            *cursor = at + __builtin_ctzll(last) / 8 + 1;
            return true;
        }
    }
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && at < limit; shift += 7) {
        uint64_t byte = *at++;
        value |= (byte & 0x7f) << shift % 64;
        if (byte < 0x80) {
            *out_value = value;
            *cursor = at;
            return true;
        }
    }
    return false;
}

/* Reads a field that is neither a varint nor bytes, or finds the damage. */
bool vv_protobuf_next_odd(struct vv_protobuf *message, const unsigned char *at, uint64_t tag);
/* Sets the damage and returns false. */
bool vv_protobuf_damaged(struct vv_protobuf *message, const unsigned char *at, const char *damage);

/* Reads the next field. False at the end of the message, and if it is damaged. */
static inline bool vv_protobuf_next(struct vv_protobuf *message)
{
    const unsigned char *at = message->cursor;
    uint64_t tag;
    if (at == message->limit)
        return false;
    if (!vv_protobuf_varint(&message->cursor, message->limit, &tag))
        return vv_protobuf_damaged(message, at, "a field's tag has no end");
    message->number = (uint32_t)(tag >> 3);
    message->wire = (enum vv_wire)(tag & 7);
    if ((tag & 5) != 0 || tag < 8 || tag >> 3 > VV_PROTOBUF_NUMBER_MAX)
        return vv_protobuf_next_odd(message, at, tag);
    at = message->cursor;
    if (!vv_protobuf_varint(&message->cursor, message->limit, &message->value))
        return vv_protobuf_damaged(message, at, "a number has no end");
    if (message->wire == VV_WIRE_VARINT)
        return true;
    if (message->value > (uint64_t)(message->limit - message->cursor))
        return vv_protobuf_damaged(message, at, "a field is longer than the message around it");
    message->data = message->cursor;
    message->cursor += message->value;
    return true;
}

/* VARVE_CORRUPT with the offset if the message was damaged. */
enum varve_code vv_protobuf_end(const struct vv_protobuf *message, struct varve_error *error);

enum varve_code vv_protobuf_unexpected(const struct vv_protobuf *message, enum vv_wire wire,
                                       const char *what, struct varve_error *error);

/* Does the field just read have this wire type? If not, VARVE_CORRUPT; `what` names the field. */
static inline enum varve_code vv_protobuf_expect(const struct vv_protobuf *message,
                                                 enum vv_wire wire, const char *what,
                                                 struct varve_error *error)
{
    return message->wire == wire ? VARVE_OK : vv_protobuf_unexpected(message, wire, what, error);
}

/* Checks that the field just read is text: bytes of valid UTF-8. VARVE_CORRUPT with the offset of
 * the first invalid byte. VARVE_LIMIT: more than VV_PROTOBUF_TEXT_BYTES_MAX bytes. */
enum varve_code vv_protobuf_expect_text(const struct vv_protobuf *message, const char *what,
                                        struct varve_error *error);

/* The double with the bits of a fixed64 field. */
static inline double vv_protobuf_real(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Gives the next number of a repeated varint field, packed or not. `*at` must be NULL at the begin
 * of each field. */
bool vv_protobuf_repeated(struct vv_protobuf *message, const unsigned char **at,
                          uint64_t *out_value);

#endif

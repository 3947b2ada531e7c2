/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/protobuf.h"

#include "base/utf8.h"

#if defined(__x86_64__)
bool vv_protobuf_pext_is_quick;

__attribute__((constructor)) static void ask_processor(void)
{
    vv_protobuf_pext_is_quick = vv_protobuf_ask_pext();
}
#endif

bool vv_protobuf_damaged(struct vv_protobuf *message, const unsigned char *at, const char *damage)
{
    message->cursor = at;
    message->damage = damage;
    return false;
}

static bool read_fixed(struct vv_protobuf *message, size_t width)
{
    const unsigned char *at = message->cursor;
    unsigned char bytes[8] = { 0 };
    if ((size_t)(message->limit - at) < width)
        return vv_protobuf_damaged(message, at, "a fixed number has no end");
    memcpy(bytes, at, width);
    memcpy(&message->value, bytes, sizeof bytes);
    message->value = le64toh(message->value);
    message->cursor = at + width;
    return true;
}

bool vv_protobuf_next_odd(struct vv_protobuf *message, const unsigned char *at, uint64_t tag)
{
    if (tag < 8 || tag >> 3 > VV_PROTOBUF_NUMBER_MAX)
        return vv_protobuf_damaged(message, at, "no field has this number");
    switch (tag & 7) {
    case VV_WIRE_FIXED64:
        return read_fixed(message, 8);
    case VV_WIRE_FIXED32:
        return read_fixed(message, 4);
    default:
        return vv_protobuf_damaged(message, at, "no field has this wire type");
    }
}

enum varve_code vv_protobuf_end(const struct vv_protobuf *message, struct varve_error *error)
{
    if (message->damage == NULL)
        return VARVE_OK;
    return vv_fail_at(error, VARVE_CORRUPT, vv_protobuf_offset(message, message->cursor), "%s",
                      message->damage);
}

enum varve_code vv_protobuf_unexpected(const struct vv_protobuf *message, enum vv_wire wire,
                                       const char *what, struct varve_error *error)
{
    return vv_fail_at(error, VARVE_CORRUPT, vv_protobuf_offset(message, message->cursor),
                      "%s has wire type %d instead of %d; the field ends", what,
                      (int)message->wire, (int)wire);
}

enum varve_code vv_protobuf_expect_text(const struct vv_protobuf *message, const char *what,
                                        struct varve_error *error)
{
    VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, what, error));
    if (message->value > VV_PROTOBUF_TEXT_BYTES_MAX)
        return vv_fail_at(error, VARVE_LIMIT, vv_protobuf_offset(message, message->data),
                          "%s of %llu bytes", what, (unsigned long long)message->value);
    size_t valid = vv_utf8_valid((const char *)message->data, (size_t)message->value);
    if (valid == message->value)
        return VARVE_OK;
    return vv_fail_at(error, VARVE_CORRUPT, vv_protobuf_offset(message, message->data + valid),
                      "%s is not UTF-8", what);
}

bool vv_protobuf_repeated(struct vv_protobuf *message, const unsigned char **at,
                          uint64_t *out_value)
{
    if (message->wire != VV_WIRE_BYTES) {
        *out_value = message->value;
        bool is_first = *at == NULL;
        *at = message->cursor;
        return is_first;
    }
    const unsigned char *limit = message->data + message->value;
    if (*at == NULL)
        *at = message->data;
    if (*at >= limit)
        return false;
    if (!vv_protobuf_varint(at, limit, out_value))
        return vv_protobuf_damaged(message, *at, "a packed number has no end");
    return true;
}

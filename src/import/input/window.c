/* SPDX-License-Identifier: Apache-2.0 */
#include "import/input/window.h"

#include <stdlib.h>

#include "base/array.h"

#define FIRST_BYTES 512u
#define AHEAD_BYTES_MAX (256u << 10)

/* Decompresses the whole file. After a failure, the bytes read so far stay. */
static enum varve_code read_all(struct vv_window *window, struct vv_source *source,
                                uint64_t limit_bytes, struct varve_error *error)
{
    size_t got = 1;
    while (got > 0) {
        VV_TRY(vv_source_may_hold(source, window->length, limit_bytes, error));
        VV_TRY(vv_array_reserve(&window->bytes, &window->capacity, window->length + AHEAD_BYTES_MAX,
                                1, error));
        VV_TRY(vv_source_read(source, window->bytes + window->length,
                              window->capacity - window->length, &got, error));
        window->length += got;
    }
    return VARVE_OK;
}

enum varve_code vv_window_open(struct vv_window *window, struct vv_source *source,
                               uint64_t limit_bytes, struct varve_error *error)
{
    *window = (struct vv_window){ .ahead_bytes = FIRST_BYTES };
    if (vv_source_is_plain(source)) {
        window->source = source;
        window->size_bytes = vv_source_disk_bytes(source);
        return VARVE_OK;
    }
    enum varve_code code = read_all(window, source, limit_bytes, error);
    window->size_bytes = window->length;
    window->is_cut = code == VARVE_TRUNCATED && window->length > 0;
    return window->is_cut ? VARVE_OK : code;
}

void vv_window_take(struct vv_window *window, void *bytes, size_t length)
{
    *window = (struct vv_window){ .bytes = bytes, .capacity = length, .length = length };
    window->size_bytes = length;
}

void vv_window_close(struct vv_window *window)
{
    free(window->bytes);
    *window = (struct vv_window){ 0 };
}

/* Moves the bytes that the window already holds of the requested place to its front. */
static enum varve_code move_to(struct vv_window *window, uint64_t offset, size_t bytes,
                               struct varve_error *error)
{
    size_t kept = 0, got;
    VV_TRY(vv_array_reserve(&window->bytes, &window->capacity, bytes, 1, error));
    if (offset >= window->offset && offset - window->offset < window->length) {
        kept = window->length - (size_t)(offset - window->offset);
        memmove(window->bytes, window->bytes + (offset - window->offset), kept);
    }
    window->offset = offset;
    window->length = kept;
    if (kept < bytes) {
        VV_TRY(vv_source_read_at(window->source, offset + kept, window->bytes + kept, bytes - kept,
                                 &got, error));
        window->length += got;
        if (got < bytes - kept && offset + window->length < window->size_bytes)
            window->size_bytes = offset + window->length;
    }
    return VARVE_OK;
}

enum varve_code vv_window_at(struct vv_window *window, uint64_t offset, uint64_t wanted,
                             struct vv_bytes *out_bytes, struct varve_error *error)
{
    uint64_t left = offset < window->size_bytes ? window->size_bytes - offset : 0;
    if (wanted > VV_WINDOW_PIECE_BYTES_MAX)
        return vv_fail_at(error, VARVE_LIMIT, offset, "one record of %llu bytes",
                          (unsigned long long)wanted);
    if (wanted > left)
        wanted = left;
    bool is_inside = offset >= window->offset && offset - window->offset <= window->length;
    if (window->source != NULL &&
        (!is_inside || window->length - (size_t)(offset - window->offset) < wanted)) {
        size_t ahead = is_inside ? window->ahead_bytes * 2 : FIRST_BYTES;
        window->ahead_bytes = ahead > AHEAD_BYTES_MAX ? AHEAD_BYTES_MAX : ahead;
        size_t bytes = wanted > window->ahead_bytes ? (size_t)wanted : window->ahead_bytes;
        VV_TRY(move_to(window, offset, bytes < left ? bytes : (size_t)left, error));
    }
    if (left == 0 || offset - window->offset > window->length) {
        *out_bytes = (struct vv_bytes){ window->bytes, 0 };
        return VARVE_OK;
    }
    *out_bytes = (struct vv_bytes){ window->bytes + (offset - window->offset),
                                    window->length - (size_t)(offset - window->offset) };
    return VARVE_OK;
}

/* Reads a tag, and the length or number after it. If they are incomplete because the file ends, the
 * field is cut. */
enum varve_code vv_window_field(struct vv_window *window, uint64_t offset, uint64_t limit,
                                struct vv_window_field *out_field, struct varve_error *error)
{
    struct vv_bytes bytes;
    uint64_t room = limit - offset;
    VV_TRY(vv_window_at(window, offset,
                        room < VV_PROTOBUF_HEAD_BYTES_MAX ? room : VV_PROTOBUF_HEAD_BYTES_MAX,
                        &bytes, error));
    if (bytes.length > room)
        bytes.length = (size_t)room;
    const unsigned char *at = bytes.data, *end = bytes.data + bytes.length;
    bool is_short = bytes.length < room && bytes.length < VV_PROTOBUF_HEAD_BYTES_MAX;
    uint64_t tag = 0, value = 0;
    *out_field = (struct vv_window_field){ .is_cut = true };
    if (!vv_protobuf_varint(&at, end, &tag))
        return is_short ? VARVE_OK
                        : vv_fail_at(error, VARVE_CORRUPT, offset, "a field's tag has no end");
    uint64_t number = tag >> 3;
    if (number == 0 || number > VV_PROTOBUF_NUMBER_MAX)
        return vv_fail_at(error, VARVE_CORRUPT, offset, "no field has the number %llu",
                          (unsigned long long)number);
    enum vv_wire wire = (enum vv_wire)(tag & 7);
    uint64_t width = wire == VV_WIRE_FIXED64 ? 8 : wire == VV_WIRE_FIXED32 ? 4 : 0;
    if (width == 0 && wire != VV_WIRE_VARINT && wire != VV_WIRE_BYTES)
        return vv_fail_at(error, VARVE_CORRUPT, offset, "no field has the wire type %d", (int)wire);
    if (width == 0 && !vv_protobuf_varint(&at, end, &value))
        return is_short ? VARVE_OK
                        : vv_fail_at(error, VARVE_CORRUPT, offset, "a field's number has no end");
    uint64_t data = offset + (uint64_t)(at - bytes.data),
             size = wire == VV_WIRE_BYTES ? value : width;
    if (size > limit - data)
        return vv_fail_at(error, VARVE_CORRUPT, offset,
                          "a field is longer than the message around it");
    *out_field = (struct vv_window_field){ (uint32_t)number, wire, value, data, data + size,
                                           data + size > window->size_bytes };
    if (width == 0 || out_field->is_cut)
        return VARVE_OK;
    memcpy(&out_field->value, at, width);
    out_field->value = width == 8 ? le64toh(out_field->value) : (uint32_t)out_field->value;
    return VARVE_OK;
}

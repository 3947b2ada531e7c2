/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf_bytes.h — protobuf messages written field by field, for unit tests of readers. Include
 * after cmocka.h. */
#ifndef VARVE_TESTS_PROTOBUF_BYTES_H
#define VARVE_TESTS_PROTOBUF_BYTES_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/importer.h"

struct proto {
    unsigned char *data;
    size_t count, capacity;
};

static inline void proto_put(struct proto *proto, const void *bytes, size_t count)
{
    if (proto->count + count > proto->capacity) {
        proto->capacity = 2 * (proto->count + count);
        proto->data = realloc(proto->data, proto->capacity);
        assert_non_null(proto->data);
    }
    if (count > 0)
        memcpy(proto->data + proto->count, bytes, count);
    proto->count += count;
}

static inline void proto_varint(struct proto *proto, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        proto_put(proto, &(unsigned char){ (unsigned char)(value | 0x80) }, 1);
    proto_put(proto, &(unsigned char){ (unsigned char)value }, 1);
}

static inline void proto_number(struct proto *proto, uint32_t number, uint64_t value)
{
    proto_varint(proto, (uint64_t)number << 3);
    proto_varint(proto, value);
}

static inline void proto_bytes(struct proto *proto, uint32_t number, const void *bytes,
                               size_t count)
{
    proto_varint(proto, (uint64_t)number << 3 | 2);
    proto_varint(proto, count);
    proto_put(proto, bytes, count);
}

static inline void proto_text(struct proto *proto, uint32_t number, const char *text)
{
    proto_bytes(proto, number, text, strlen(text));
}

/* `inner` becomes field `number` of `proto` and is freed. */
static inline void proto_message(struct proto *proto, uint32_t number, struct proto *inner)
{
    proto_bytes(proto, number, inner->data, inner->count);
    free(inner->data);
    *inner = (struct proto){ 0 };
}

/* Imports the bytes as a file that lies in memory. */
static inline enum varve_code proto_import(const struct proto *proto, struct vv_model **out_model,
                                           struct varve_error *error)
{
    char path[64];
    int file = memfd_create("proto", MFD_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(write(file, proto->data, proto->count), proto->count);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    enum varve_code code = vv_import(path, out_model, error);
    close(file);
    return code;
}

#endif

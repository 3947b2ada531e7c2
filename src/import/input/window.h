/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — a file of nested messages, read a piece at a time and in any order. A window holds the
 * requested bytes and some that follow them. It is for formats whose later parts must be read
 * before earlier ones (xspace.c).
 *
 * A plain file is read with pread into the window. The window grows while reading goes on in order,
 * and shrinks at a jump, so passing over a message costs only its first bytes. A compressed file is
 * held whole. Thread-compatible. */
#ifndef VV_IMPORT_INPUT_WINDOW_H
#define VV_IMPORT_INPUT_WINDOW_H

#include "base/bytes.h"
#include "base/text/protobuf.h"
#include "import/input/source.h"

#define VV_WINDOW_PIECE_BYTES_MAX (UINT64_C(256) << 20) /* most bytes in one request              */

struct vv_window {
    struct vv_source *source; /* borrowed; NULL: `bytes` holds the whole file                   */
    unsigned char *bytes;
    size_t capacity;
    size_t length;            /* bytes in the window, which are in the file at `offset`         */
    uint64_t offset;
    size_t ahead_bytes;       /* bytes to read ahead the next time                              */
    uint64_t size_bytes;      /* of the whole file; less if the file turns out shorter          */
    bool is_cut;              /* a compressed file ended too early                              */
};

/* VARVE_LIMIT: a compressed file is larger than `limit_bytes` when decompressed (0 = no limit). */
enum varve_code vv_window_open(struct vv_window *window, struct vv_source *source,
                               uint64_t limit_bytes, struct varve_error *error);
/* Takes over `bytes`, which malloc returned. */
void vv_window_take(struct vv_window *window, void *bytes, size_t length);
void vv_window_close(struct vv_window *window); /* idempotent */

/* Returns at least `wanted` bytes at `offset`; fewer only at the end of the file. The bytes are
 * borrowed until the next call. */
enum varve_code vv_window_at(struct vv_window *window, uint64_t offset, uint64_t wanted,
                             struct vv_bytes *out_bytes, struct varve_error *error);

/* A field of a protobuf message. The field may be too large to read whole: only its head is
 * read. */
struct vv_window_field {
    uint32_t number;
    enum vv_wire wire;
    uint64_t value;                    /* as in struct vv_protobuf                              */
    uint64_t data_offset, next_offset; /* offset of its bytes, and of the next field            */
    bool is_cut;                       /* the file ends before the field does                   */
};

/* Reads the field at `offset` of a message that ends at `limit`. VARVE_CORRUPT if the field does
 * not fit in the message. */
enum varve_code vv_window_field(struct vv_window *window, uint64_t offset, uint64_t limit,
                                struct vv_window_field *out_field, struct varve_error *error);

#endif
